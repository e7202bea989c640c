//! Values of slots as vectors, in every coding.

use crate::spmv::simd::Decode;
use sparsescope_matrix::matrix::{CACHE_LINE, prefetch};

/// A source of the values of slots.
pub(super) trait Lookup<L: Decode>: Copy {
    /// Bytes per slot of a value, or of its code.
    const BYTES: usize;

    /// Returns the values of `LANES` slots, starting at `slot`.
    ///
    /// # Safety
    /// The slots exist, and the CPU supports the instructions; the latter also holds for what follows.
    unsafe fn at(self, slot: usize) -> L::Vector;

    /// Returns the values of `n` slots, starting at `slot`, and 0 in the other lanes.
    ///
    /// # Safety
    /// The n slots exist, with n from 1 to `LANES`.
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector;

    /// Prefetches what slot `slot` needs; it need not exist.
    fn ask_for(self, slot: usize);

    /// Whether vector `g` of neighbouring ones begins with data that the previous vector has not prefetched.
    #[inline(always)]
    fn is_first(g: usize) -> bool {
        is_first_in_line::<L>(g, Self::BYTES)
    }
}

/// Whether vector `g` of neighbouring ones begins a cache line, where a slot has `bytes` bytes and the first
/// vector begins one.
#[inline(always)]
pub(super) fn is_first_in_line<L: Decode>(g: usize, bytes: usize) -> bool {
    (g * L::LANES * bytes).is_multiple_of(CACHE_LINE)
}

/// Uncoded values.
pub(super) struct Plain<L: Decode>(pub(super) *const L::Value);

/// 8-bit codes.
pub(super) struct Bytes<L: Decode> {
    pub(super) codes: *const u8,
    pub(super) table: *const L::Value,
}

/// 8-bit codes, all below `MOST_FEW`.
pub(super) struct Few<L: Decode> {
    pub(super) codes: *const u8,
    pub(super) table: *const L::Value,
    pub(super) few: L::Few,
}

/// 16-bit codes.
pub(super) struct Shorts<L: Decode> {
    pub(super) codes: *const u16,
    pub(super) table: *const L::Value,
}

macro_rules! copied {
    ($($name:ident),*) => {$(
        impl<L: Decode> Clone for $name<L> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<L: Decode> Copy for $name<L> {}
    )*};
}

copied!(Plain, Bytes, Few, Shorts);

impl<L: Decode> Lookup<L> for Plain<L> {
    const BYTES: usize = size_of::<L::Value>();

    #[inline(always)]
    unsafe fn at(self, slot: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { L::load(self.0.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { L::load_first(self.0.add(slot), n) }
    }

    #[inline(always)]
    fn ask_for(self, slot: usize) {
        prefetch(self.0.wrapping_add(slot));
    }
}

impl<L: Decode> Lookup<L> for Bytes<L> {
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn at(self, slot: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller, and codes are indices into the table.
        unsafe { L::of_bytes(self.table, self.codes.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: as above.
        unsafe { L::of_bytes_first(self.table, self.codes.add(slot), n) }
    }

    #[inline(always)]
    fn ask_for(self, slot: usize) {
        prefetch(self.codes.wrapping_add(slot));
    }
}

impl<L: Decode> Lookup<L> for Few<L> {
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn at(self, slot: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller, and codes are below 16.
        unsafe { L::of_few(self.few, self.codes.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller, and codes are indices into the table.
        unsafe { L::of_bytes_first(self.table, self.codes.add(slot), n) }
    }

    #[inline(always)]
    fn ask_for(self, slot: usize) {
        prefetch(self.codes.wrapping_add(slot));
    }
}

impl<L: Decode> Lookup<L> for Shorts<L> {
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn at(self, slot: usize) -> L::Vector {
        // SAFETY: guaranteed by the caller, and codes are indices into the table.
        unsafe { L::near(self.table, self.codes.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: as above.
        unsafe { L::near_first(self.table, self.codes.add(slot), n) }
    }

    #[inline(always)]
    fn ask_for(self, slot: usize) {
        prefetch(self.codes.wrapping_add(slot));
    }
}

/// Runs `$body` with `$lookup` bound to the values of `$values` in vectors of type `$lanes`.
macro_rules! with_values {
    ($values:expr, $lanes:ty, |$lookup:ident| $body:expr) => {
        match $values {
            Coded::Plain(values) => {
                let $lookup = Plain::<$lanes>(values.as_ptr());
                $body
            }
            Coded::Byte { codes, table } if table.len() <= <$lanes>::MOST_FEW => {
                let mut all = [table.first().copied().unwrap_or_default(); 16];
                all[..table.len()].copy_from_slice(table);
                let (codes, table) = (codes.as_ptr(), table.as_ptr());
                let $lookup = Few::<$lanes> { codes, table, few: <$lanes>::few(all.as_ptr()) };
                $body
            }
            Coded::Byte { codes, table } => {
                let $lookup = Bytes::<$lanes> { codes: codes.as_ptr(), table: table.as_ptr() };
                $body
            }
            Coded::Short { codes, table } => {
                let $lookup = Shorts::<$lanes> { codes: codes.as_ptr(), table: table.as_ptr() };
                $body
            }
        }
    };
}

pub(super) use with_values;
