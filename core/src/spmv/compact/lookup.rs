//! Values of slots as vectors, however they are coded.

use crate::matrix::{CACHE_LINE, prefetch};
use crate::spmv::simd::Decode;

/// Where the values of slots come from.
pub(super) trait Lookup<L: Decode>: Copy {
    /// Bytes of a slot's value, or of its code.
    const BYTES: usize;

    /// Those of `LANES` slots from `slot` on.
    ///
    /// # Safety
    /// There are so many, and the processor has the instructions; so for what follows.
    unsafe fn at(self, slot: usize) -> L::Vector;

    /// Those of `n` slots from `slot` on, 0 in the other lanes.
    ///
    /// # Safety
    /// There are n, n from 1 to `LANES`.
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector;

    /// Asks for what slot `slot` needs, whether there is one or not.
    fn ask_for(self, slot: usize);

    /// Whether vector `g` of neighbouring ones begins with what the one before it has not asked for.
    #[inline(always)]
    fn is_first(g: usize) -> bool {
        is_first_in_line::<L>(g, Self::BYTES)
    }
}

/// Whether vector `g` of neighbouring ones begins a cache line, where a slot has so many bytes and the first
/// vector begins one.
#[inline(always)]
pub(super) fn is_first_in_line<L: Decode>(g: usize, bytes: usize) -> bool {
    (g * L::LANES * bytes).is_multiple_of(CACHE_LINE)
}

/// Values as they are.
pub(super) struct Plain<L: Decode>(pub(super) *const L::Value);

/// Codes of 8 bits.
pub(super) struct Bytes<L: Decode> {
    pub(super) codes: *const u8,
    pub(super) table: *const L::Value,
}

/// Codes of 8 bits, all below `MOST_FEW`.
pub(super) struct Few<L: Decode> {
    pub(super) codes: *const u8,
    pub(super) table: *const L::Value,
    pub(super) few: L::Few,
}

/// Codes of 16 bits.
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
        // SAFETY: the caller's promise.
        unsafe { L::load(self.0.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise, and codes are numbers of values of the table.
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
        // SAFETY: the caller's promise, and codes are below 16.
        unsafe { L::of_few(self.few, self.codes.add(slot)) }
    }

    #[inline(always)]
    unsafe fn first(self, slot: usize, n: usize) -> L::Vector {
        // SAFETY: the caller's promise, and codes are numbers of values of the table.
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
        // SAFETY: the caller's promise, and codes are numbers of values of the table.
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

/// Runs `$body` with `$lookup` bound to the values of `$values` in vectors of kind `$lanes`.
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
