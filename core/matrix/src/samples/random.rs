//! Random numbers for resampling, permutations and the tests of both.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

/// Uniform in (0, 1].
pub(super) fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (f64::from(random.next_u32()) + 1.0) / (f64::from(u32::MAX) + 1.0)
}

/// Standard normal, by Box and Muller's method.
pub(super) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * libm::log(uniform(random))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * uniform(random))
}

/// A number below `n`: a fixed-point product, uniform up to a bias of n / 2³².
pub(super) fn below(n: usize, random: &mut ChaCha8Rng) -> usize {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as usize
}
