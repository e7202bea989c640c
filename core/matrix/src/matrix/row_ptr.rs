//! Row pointers and other offset arrays: 32-bit while every offset fits in a signed 32-bit integer
//! (vendor libraries have signed 32-bit indices), 64-bit above.

use crate::memory::room_for;

/// An integer type for offsets into `col`/`val`.
pub trait Offset: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// Bytes of one stored offset.
    const BYTES: usize;
    /// As an index into an array in memory.
    fn index(self) -> usize;
    /// From an array index that fits according to [`OffsetWidth::of`].
    fn from_index(index: usize) -> Self;
}

impl Offset for u32 {
    const BYTES: usize = 4;
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn index(self) -> usize {
        self as usize
    }
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn from_index(index: usize) -> Self {
        debug_assert!(index as u64 <= NARROW_MAX);
        index as u32
    }
}

impl Offset for u64 {
    const BYTES: usize = 8;
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn index(self) -> usize {
        // An offset never exceeds the length of an array in memory, which is a usize.
        self as usize
    }
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn from_index(index: usize) -> Self {
        index as u64
    }
}

/// Largest offset kept in 32 bits: 2³¹ − 1.
pub const NARROW_MAX: u64 = i32::MAX as u64;

/// Width of the integers in an offset array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetWidth {
    /// `u32`, for a last offset up to 2³¹ − 1.
    Narrow,
    /// `u64`.
    Wide,
}

impl OffsetWidth {
    /// The width in which an array with last offset `last` is stored.
    pub fn of(last: u64) -> Self {
        if last <= NARROW_MAX { Self::Narrow } else { Self::Wide }
    }

    /// Bytes of one offset.
    pub fn bytes(self) -> usize {
        match self {
            Self::Narrow => 4,
            Self::Wide => 8,
        }
    }
}

/// An offset array: `len() - 1` segments, the k-th at `get(k)..get(k + 1)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPtr {
    /// 32-bit offsets.
    Narrow(Vec<u32>),
    /// 64-bit offsets.
    Wide(Vec<u64>),
}

impl RowPtr {
    /// From ascending offsets, in the narrowest width that holds the last one.
    pub fn from_offsets(offsets: Vec<u64>) -> Self {
        match OffsetWidth::of(offsets.last().copied().unwrap_or(0)) {
            OffsetWidth::Narrow => Self::Narrow(offsets.into_iter().map(|o| o as u32).collect()),
            OffsetWidth::Wide => Self::Wide(offsets),
        }
    }

    /// Exclusive prefix sum of segment lengths (`lengths.len() + 1` offsets).
    pub fn from_lengths(lengths: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let total: u64 = lengths.clone().map(|l| l as u64).sum();
        fn scan<O: Offset>(lengths: impl ExactSizeIterator<Item = usize>) -> Vec<O> {
            let mut offsets = room_for(lengths.len() + 1);
            let mut sum = 0usize;
            offsets.push(O::from_index(0));
            offsets.extend(lengths.map(|l| {
                sum += l;
                O::from_index(sum)
            }));
            offsets
        }
        match OffsetWidth::of(total) {
            OffsetWidth::Narrow => Self::Narrow(scan(lengths)),
            OffsetWidth::Wide => Self::Wide(scan(lengths)),
        }
    }

    /// Number of offsets (segments + 1).
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(p) => p.len(),
            Self::Wide(p) => p.len(),
        }
    }

    /// Whether there is no offset; never true in a validated format.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Offset `k`. Panics when out of range.
    #[inline]
    pub fn get(&self, k: usize) -> usize {
        match self {
            Self::Narrow(p) => p[k].index(),
            Self::Wide(p) => p[k].index(),
        }
    }

    /// Segment `k` as a range. Panics when out of range.
    #[inline]
    pub fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.get(k)..self.get(k + 1)
    }

    /// The segment that contains `offset`, which is below the last. Empty segments contain no
    /// offset.
    pub fn segment_at(&self, offset: usize) -> usize {
        fn at<O: Offset>(offsets: &[O], offset: usize) -> usize {
            offsets.partition_point(|begin| begin.index() <= offset) - 1
        }
        match self {
            Self::Narrow(p) => at(p, offset),
            Self::Wide(p) => at(p, offset),
        }
    }

    /// Width of one offset.
    pub fn width(&self) -> OffsetWidth {
        match self {
            Self::Narrow(_) => OffsetWidth::Narrow,
            Self::Wide(_) => OffsetWidth::Wide,
        }
    }

    /// Bytes of the whole array.
    pub fn bytes(&self) -> u64 {
        self.len() as u64 * self.width().bytes() as u64
    }

    /// All offsets as `u64`, whatever the stored width.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.len()).map(|k| self.get(k) as u64)
    }

    /// Splits all segments, in order, into ranges of about this many elements, each of at least one
    /// segment.
    pub(crate) fn pieces(&self, elements: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let segments = self.len() - 1;
        let mut first = 0;
        std::iter::from_fn(move || {
            let target = (first < segments).then(|| self.get(first).saturating_add(elements))?;
            let within = self.partition_point(|offset| offset <= target);
            let piece = first..within.saturating_sub(1).clamp(first + 1, segments);
            first = piece.end;
            Some(piece)
        })
    }

    /// Number of leading offsets for which `pred` holds, by bisection; `pred` must not hold again
    /// after the first offset for which it fails. Work is split by nonzeros this way.
    pub fn partition_point(&self, pred: impl Fn(usize) -> bool) -> usize {
        match self {
            Self::Narrow(p) => p.partition_point(|&o| pred(o.index())),
            Self::Wide(p) => p.partition_point(|&o| pred(o.index())),
        }
    }
}

/// Runs `$body` with `$p` bound to the typed slice (`&[u32]` or `&[u64]`) behind a [`RowPtr`],
/// so that a kernel generic over [`Offset`] is compiled once for each width.
#[macro_export]
macro_rules! with_offsets {
    ($row_ptr:expr, |$p:ident| $body:expr) => {
        match $row_ptr {
            $crate::matrix::RowPtr::Narrow(v) => {
                let $p: &[u32] = v;
                $body
            }
            $crate::matrix::RowPtr::Wide(v) => {
                let $p: &[u64] = v;
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_turn_wide_exactly_at_two_to_the_31() {
        assert_eq!(OffsetWidth::of((1 << 31) - 1), OffsetWidth::Narrow);
        assert_eq!(OffsetWidth::of(1 << 31), OffsetWidth::Wide);
        let wide = RowPtr::from_offsets(vec![0, 1 << 31]);
        assert_eq!(wide.width(), OffsetWidth::Wide);
        assert_eq!(wide.bytes(), 16);
    }

    #[test]
    fn lengths_become_their_prefix_sum() {
        let p = RowPtr::from_lengths([2usize, 0, 3].into_iter());
        assert_eq!(p, RowPtr::Narrow(vec![0, 2, 2, 5]));
        assert_eq!(p.range(2), 2..5);
    }
}
