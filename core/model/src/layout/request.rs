//! The memory request of one load or store of a warp.

use std::ops::Range;

use super::array::Array;
use crate::kernel::LANES;
use sparsescope_record::SECTOR;

/// Bytes per cache line of a GPU: four sectors.
pub const LINE: u64 = 128;

/// Whether a request reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From memory to registers.
    Load,
    /// From registers to memory.
    Store,
}

/// One load or store instruction of a warp: one element of an array, or a few adjacent ones, for
/// each active lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The array.
    pub array: Array,
    /// Load or store.
    pub direction: Direction,
    /// Bytes per element.
    pub element_bytes: u32,
    /// Adjacent elements that each lane requests.
    pub together: u32,
    /// Bit l is set if lane l is active.
    pub active: u32,
    /// Index for each lane, in units of the elements requested together.
    index: [u64; LANES as usize],
    /// All active lanes request the same element.
    same: bool,
}

impl Request {
    /// No lane is active yet.
    pub(super) fn new(array: Array, direction: Direction, element_bytes: u32) -> Self {
        let (index, same) = ([0; LANES as usize], false);
        Self { array, direction, element_bytes, together: 1, active: 0, index, same }
    }

    /// Each lane requests `together` elements, which form a group; lanes then get group numbers as
    /// indices.
    pub(super) fn of(self, together: u32) -> Self {
        Self { together, ..self }
    }

    /// The lanes of `active` request the same element.
    pub(super) fn same(mut self, active: u32, index: u64) -> Self {
        (self.active, self.index, self.same) = (active, [index; LANES as usize], true);
        self
    }

    /// Deactivates all lanes.
    pub(super) fn clear(&mut self) {
        (self.active, self.same) = (0, false);
    }

    /// Lane `lane < 32` requests element `index`.
    #[inline]
    pub(super) fn set(&mut self, lane: usize, index: u64) {
        self.active |= 1 << lane;
        self.index[lane] = index;
    }

    /// The element that a lane requests, the first if there are several; `None` for an idle lane.
    pub fn element(&self, lane: usize) -> Option<u64> {
        let is_active = lane < LANES as usize && self.active >> lane & 1 == 1;
        is_active.then(|| self.index[lane] * u64::from(self.together))
    }

    /// All elements that a lane requests; `None` for an idle lane.
    pub fn elements(&self, lane: usize) -> Range<u64> {
        self.element(lane).map_or(0..0, |first| first..first + u64::from(self.together))
    }

    /// Bytes that a lane requests.
    pub fn width(&self) -> u64 {
        u64::from(self.element_bytes) * u64::from(self.together)
    }

    /// Offset in bytes, from the array's first byte, of what a lane requests; `None` for an idle
    /// lane. The array's own address is its [`ArrayInfo::base`](super::ArrayInfo::base).
    pub fn offset(&self, lane: usize) -> Option<u64> {
        self.element(lane).map(|index| index * u64::from(self.element_bytes))
    }

    /// The sectors touched, numbered from the array's first byte, ascending, without duplicates.
    pub fn sectors(&self) -> Vec<u64> {
        self.distinct(SECTOR)
    }

    /// The cache lines touched, numbered from the array's first byte, ascending, without
    /// duplicates.
    pub fn lines(&self) -> Vec<u64> {
        self.distinct(LINE)
    }

    fn distinct(&self, bytes: u64) -> Vec<u64> {
        let mut all: Vec<u64> =
            (0..LANES as usize).filter_map(|l| self.offset(l)).map(|o| o / bytes).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The memory traffic of the request. What a lane requests never straddles two sectors: arrays
    /// are aligned and lanes request 1, 2, 4, 8 or 16 bytes.
    pub fn counts(&self) -> Counts {
        let lanes = u64::from(self.active.count_ones());
        if lanes == 0 {
            return Counts::default();
        }
        let width = self.width();
        let idle_lanes = LANES - lanes;
        // Adjacent lanes mostly request ascending addresses: only gathers need sorting.
        let ascending = match self.same {
            true => Some([1; 3]),
            false => distinct(width, Lanes(self.active).map(|lane| self.index[lane])),
        };
        let [elements, sectors, lines] = ascending.unwrap_or_else(|| {
            let mut sorted = [u64::MAX; LANES as usize];
            for (to, lane) in sorted.iter_mut().zip(Lanes(self.active)) {
                *to = self.index[lane];
            }
            let sorted = &mut sorted[..lanes as usize];
            sorted.sort_unstable();
            distinct(width, sorted.iter().copied()).unwrap_or_default()
        });
        let (useful_bytes, asked_bytes) = (elements * width, lanes * width);
        Counts { requests: 1, sectors, lines, useful_bytes, asked_bytes, idle_lanes }
    }
}

/// The lanes in a mask, ascending.
pub(super) struct Lanes(pub(super) u32);

impl Iterator for Lanes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let lane = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}

/// Distinct elements, sectors and lines among elements of `width` bytes; `None` if they do not
/// ascend.
#[inline]
fn distinct(width: u64, mut elements: impl Iterator<Item = u64>) -> Option<[u64; 3]> {
    let mut before = elements.next()? * width;
    let mut counts = [1; 3];
    for element in elements {
        let offset = element * width;
        if offset < before {
            return None;
        }
        counts[0] += u64::from(before != offset);
        counts[1] += u64::from(before / SECTOR != offset / SECTOR);
        counts[2] += u64::from(before / LINE != offset / LINE);
        before = offset;
    }
    Some(counts)
}

/// The memory traffic of one or more requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests with at least one active lane.
    pub requests: u64,
    /// Distinct sectors per request, summed: what Nsight Compute counts as sectors of loads, cache
    /// hits included.
    pub sectors: u64,
    /// Distinct cache lines per request, summed.
    pub lines: u64,
    /// Distinct bytes per request, summed: an element that several lanes request counts once.
    pub useful_bytes: u64,
    /// Bytes requested by lanes, summed: an element that several lanes request counts for each.
    pub asked_bytes: u64,
    /// Inactive lanes, summed over the requests.
    pub idle_lanes: u64,
}

impl Counts {
    /// Bytes in the sectors.
    pub fn moved_bytes(&self) -> u64 {
        self.sectors * SECTOR
    }

    /// Useful bytes as a fraction of the bytes moved, 0 to 1; absent if nothing is moved.
    pub fn efficiency(&self) -> Option<f64> {
        (self.sectors > 0).then(|| self.useful_bytes as f64 / self.moved_bytes() as f64)
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.useful_bytes += other.useful_bytes;
        self.asked_bytes += other.asked_bytes;
        self.idle_lanes += other.idle_lanes;
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bytes: u32, index: impl Fn(usize) -> Option<u64>) -> Request {
        let mut request = Request::new(Array::X, Direction::Load, bytes);
        for lane in 0..32 {
            if let Some(index) = index(lane) {
                request.set(lane, index);
            }
        }
        request
    }

    #[test]
    fn neighbours_share_sectors_and_strangers_do_not() {
        let counts = |bytes, index: fn(usize) -> Option<u64>| request(bytes, index).counts();
        // 32 adjacent values of 8 bytes: 256 bytes.
        let dense = counts(8, |l| Some(l as u64));
        assert_eq!((dense.sectors, dense.lines, dense.useful_bytes), (8, 2, 256));
        assert_eq!(dense.efficiency(), Some(1.0));
        // The same from the second element on touches one more sector and one more line.
        let shifted = counts(8, |l| Some(l as u64 + 1));
        assert_eq!((shifted.sectors, shifted.lines), (9, 3));
        // 80 bytes apart: one sector per lane, 8 of 32 bytes used.
        let apart = counts(8, |l| Some(10 * l as u64));
        assert_eq!((apart.sectors, apart.efficiency()), (32, Some(0.25)));
        // All lanes request the same element.
        let same = counts(4, |_| Some(7));
        assert_eq!((same.sectors, same.useful_bytes, same.asked_bytes), (1, 4, 128));
        // In reverse order, with idle lanes.
        let few = counts(4, |l| (l % 8 == 0).then(|| 31 - l as u64));
        assert_eq!((few.sectors, few.lines, few.idle_lanes, few.useful_bytes), (4, 1, 28, 16));
        assert_eq!(counts(4, |_| None), Counts::default());
        assert_eq!(Counts::default().efficiency(), None);
    }

    #[test]
    fn elements_that_are_asked_for_together_are_as_wide_as_all_of_them() {
        // Four adjacent elements of 2 bytes per lane: 256 bytes.
        let mut dense = Request::new(Array::Col, Direction::Load, 2).of(4);
        (0..32).for_each(|lane| dense.set(lane, lane as u64 + 4));
        let counts = dense.counts();
        assert_eq!((counts.sectors, counts.lines, counts.useful_bytes), (8, 3, 256));
        assert_eq!((dense.element(1), dense.elements(1)), (Some(20), 20..24));
        assert_eq!((dense.offset(1), dense.sectors()[0], dense.width()), (Some(40), 1, 8));
        // 16 bytes, the same for all.
        let same = Request::new(Array::Col, Direction::Load, 4).of(4).same(u32::MAX, 3);
        let counts = same.counts();
        assert_eq!((counts.sectors, counts.useful_bytes, counts.asked_bytes), (1, 16, 512));
        assert_eq!((same.sectors(), same.elements(32)), (vec![1], 0..0));
    }

    #[test]
    fn lanes_tell_what_they_ask_for() {
        let request = request(8, |l| (l == 3).then_some(20));
        assert_eq!((request.element(3), request.offset(3)), (Some(20), Some(160)));
        assert_eq!((request.offset(2), request.offset(32)), (None, None));
        assert_eq!((request.sectors(), request.lines()), (vec![5], vec![1]));
    }
}
