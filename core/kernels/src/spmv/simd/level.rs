//! Which vector instructions the CPU supports, and loops compiled for each of them.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::decode::Decode;
use super::lanes::{Arrays, Lanes};
#[cfg(target_arch = "aarch64")]
use super::neon;
use sparsescope_matrix::matrix::Real;

/// The instruction set that vectors are built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// AVX-512 F, VL, BW and DQ, with AVX2 and FMA: 512 bits and masks.
    Avx512,
    /// AVX2 and FMA: 256 bits.
    Avx2,
    /// NEON: 128 bits.
    Neon,
    /// Arrays, as the compiler vectorises them.
    Portable,
}

impl Level {
    /// All levels, the widest first.
    pub const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Portable];

    /// The widest level that this CPU supports, detected once. Kernels that gather x use
    /// [`for_gathers`](Self::for_gathers).
    pub fn of_machine() -> Self {
        static FOUND: OnceLock<Level> = OnceLock::new();
        let widest = || Self::ALL.into_iter().find(|level| level.is_here());
        *FOUND.get_or_init(|| widest().unwrap_or(Self::Portable))
    }

    /// Whether this CPU supports the instructions.
    pub fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
            Self::Portable => true,
            #[allow(unreachable_patterns, reason = "every architecture has levels of others")]
            _ => false,
        }
    }

    /// `avx512`, `avx2`, `neon` or `portable`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// This level, or for too many columns the one that needs no signed 32-bit indices.
    pub(in crate::spmv) fn for_columns(self, cols: usize) -> Self {
        if cols as u64 > sparsescope_matrix::matrix::NARROW_MAX { Self::Portable } else { self }
    }

    /// Number of values of type `T` per vector.
    pub(super) fn lanes<T: Vectorised>(self) -> usize {
        struct Count;
        impl<T: Vectorised> Loop<T> for Count {
            type Output = usize;
            #[inline(always)]
            unsafe fn run<L: Lanes<Value = T>>(self) -> usize {
                L::LANES
            }
        }
        run::<T, _>(self, Count)
    }

    /// This level, or the widest below it whose vectors have at most `lanes` lanes, excluding arrays.
    pub(crate) fn of_at_most<T: Vectorised>(self, lanes: usize) -> Self {
        let from = Self::ALL.into_iter().skip_while(|&level| level != self);
        let mut here = from.filter(|&level| level.is_here() && level != Self::Portable).peekable();
        while let Some(level) = here.next() {
            if level.lanes::<T>() <= lanes || here.peek().is_none() {
                return level;
            }
        }
        Self::Portable
    }

    /// This level, or the widest below it whose vectors are filled by `rows` rows, a power of two from 4.
    pub(in crate::spmv) fn filled_by<T: Vectorised>(self, rows: usize) -> Self {
        let from = Self::ALL.into_iter().skip_while(|&level| level != self);
        let mut fitting = from.filter(|l| l.is_here() && rows.is_multiple_of(l.lanes::<T>()));
        fitting.next().unwrap_or(Self::Portable)
    }
}

/// A value type for vectors.
pub trait Vectorised: Real + sealed::Vectors {}

impl Vectorised for f64 {}
impl Vectorised for f32 {}

mod sealed {
    use super::*;

    /// The vector types of a value type at each level; sealed.
    #[allow(unnameable_types, reason = "nobody outside implements or names it")]
    #[allow(private_bounds, reason = "nor what its types are for")]
    pub trait Vectors: Real {
        #[cfg(target_arch = "x86_64")]
        type Avx512: Decode<Value = Self>;
        #[cfg(target_arch = "x86_64")]
        type Avx2: Decode<Value = Self>;
        #[cfg(target_arch = "aarch64")]
        type Neon: Decode<Value = Self>;
        type Portable: Decode<Value = Self>;
    }

    impl Vectors for f64 {
        #[cfg(target_arch = "x86_64")]
        type Avx512 = avx512::F64x8;
        #[cfg(target_arch = "x86_64")]
        type Avx2 = avx2::F64x4;
        #[cfg(target_arch = "aarch64")]
        type Neon = neon::F64x2;
        type Portable = Arrays<f64>;
    }

    impl Vectors for f32 {
        #[cfg(target_arch = "x86_64")]
        type Avx512 = avx512::F32x16;
        #[cfg(target_arch = "x86_64")]
        type Avx2 = avx2::F32x8;
        #[cfg(target_arch = "aarch64")]
        type Neon = neon::F32x4;
        type Portable = Arrays<f32>;
    }
}

/// A loop over vectors of any level.
pub(crate) trait Loop<T> {
    /// The result type.
    type Output;

    /// # Safety
    /// The CPU supports the instructions of `L`.
    ///
    /// Implementations must be `#[inline(always)]`, like everything called in their loops, so that they
    /// become part of the function that is compiled for these instructions.
    unsafe fn run<L: Decode<Value = T>>(self) -> Self::Output;
}

/// Runs a loop in the vectors of a level; panics if the CPU does not support them.
pub(crate) fn run<T: Vectorised, K: Loop<T>>(level: Level, kernel: K) -> K::Output {
    assert!(level.is_here(), "the CPU has the instructions of the level");
    match level {
        // SAFETY: the CPU supports them, as just checked.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512::<T, K>(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2::<T, K>(kernel) },
        // SAFETY: aarch64 has NEON.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { kernel.run::<T::Neon>() },
        // SAFETY: arrays need no special instructions.
        _ => unsafe { kernel.run::<T::Portable>() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi1,bmi2,popcnt")]
fn run_avx512<T: Vectorised, K: Loop<T>>(kernel: K) -> K::Output {
    // SAFETY: the instructions are those of this function.
    unsafe { kernel.run::<T::Avx512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
fn run_avx2<T: Vectorised, K: Loop<T>>(kernel: K) -> K::Output {
    // SAFETY: the instructions are those of this function.
    unsafe { kernel.run::<T::Avx2>() }
}
