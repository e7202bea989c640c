//! Kernels in vectors of the instructions that the CPU supports, selected once at run time: AVX-512, AVX2
//! with FMA, NEON, or arrays that the compiler vectorises. A loop is written once, over `Lanes`, and compiled
//! for each of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod csr;
mod decode;
#[cfg(target_arch = "x86_64")]
mod decode_avx512;
mod gathers;
mod hll;
mod lanes;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod ways;

pub use csr::{CsrPlan, csr};
pub(super) use decode::Decode;
pub use hll::{HllPlan, hll};
pub(crate) use lanes::Lanes;
pub(super) use lanes::MOST_LANES;
pub use level::{Level, Vectorised};
pub(crate) use level::{Loop, run};
pub use ways::Tuning;

#[cfg(test)]
mod tests;
