//! The vector x that products are measured with.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Seed used when none is given.
pub const DEFAULT_SEED: u64 = 42;

/// n pseudo-random integers 1…5: exact in binary, the same for a seed on every platform.
pub fn integer_vector(n: usize, seed: u64) -> Vec<f64> {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    (0..n).map(|_| f64::from(1 + ((u64::from(random.next_u32()) * 5) >> 32) as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_holds_all_integers_from_1_to_5_about_equally_often() {
        let x = integer_vector(50_000, DEFAULT_SEED);
        for digit in 1..=5 {
            let count = x.iter().filter(|&&v| v == f64::from(digit)).count();
            // Five standard deviations around 10 000.
            assert!((9_550..=10_450).contains(&count), "{digit}: {count}");
        }
    }

    #[test]
    fn the_seed_decides_and_a_shorter_x_is_a_prefix() {
        assert_eq!(integer_vector(10, 7), integer_vector(100, 7)[..10]);
        assert_ne!(integer_vector(100, 7), integer_vector(100, 8));
    }
}
