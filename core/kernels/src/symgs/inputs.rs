//! The default starting vectors of sweeps: the same for a seed on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Returns n numbers from 0.01 to 1, from ChaCha8's stream 0: x before the first sweep. None is zero or tiny,
/// so that a smoother, which has no right-hand side, has something to smooth.
pub fn starting_vector(n: usize, seed: u64) -> Vec<f64> {
    uniform(n, seed, 0).map(|u| 0.01 + 0.99 * u).collect()
}

/// Returns n numbers from −1 to 1, from ChaCha8's stream 1: b.
pub fn right_hand_side(n: usize, seed: u64) -> Vec<f64> {
    uniform(n, seed, 1).map(|u| 2.0 * u - 1.0).collect()
}

/// The upper 24 bits of one word per element, as a number from 0 to 1 − 2⁻²⁴.
fn uniform(n: usize, seed: u64, stream: u64) -> impl Iterator<Item = f64> {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    random.set_stream(stream);
    (0..n).map(move |_| f64::from(random.next_u32() >> 8) / f64::from(1 << 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_chacha8() {
        // Words of ChaCha (Bernstein, 2008) with 8 rounds, key 42 in little-endian bytes, 64-bit counter 0
        // and 64-bit stream 0 or 1, computed by an independent program in another language.
        const X: [u32; 3] = [0x198fa887, 0x59273471, 0x3be8a23d];
        const B: [u32; 3] = [0xe84698be, 0xc6e08c69, 0x9ba18e72];
        let u = |word: u32| f64::from(word >> 8) * 2f64.powi(-24);
        assert_eq!(starting_vector(17, 42)[..2], [0.01 + 0.99 * u(X[0]), 0.01 + 0.99 * u(X[1])]);
        assert_eq!(starting_vector(17, 42)[16], 0.01 + 0.99 * u(X[2]));
        assert_eq!(right_hand_side(17, 42)[..2], [2.0 * u(B[0]) - 1.0, 2.0 * u(B[1]) - 1.0]);
        assert_eq!(right_hand_side(17, 42)[16], 2.0 * u(B[2]) - 1.0);
    }

    #[test]
    fn numbers_fill_their_ranges_and_a_shorter_vector_is_a_prefix() {
        let x = starting_vector(100_000, 7);
        let b = right_hand_side(100_000, 7);
        assert!(x.iter().all(|x| (0.01..1.0).contains(x)) && b.iter().all(|b| b.abs() <= 1.0));
        // Five standard deviations of the mean of 100 000 uniform numbers.
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        assert!((mean(&x) - 0.505).abs() < 5.0 * 0.99 / 12f64.sqrt() / 1e5f64.sqrt());
        assert!(mean(&b).abs() < 5.0 * 2.0 / 12f64.sqrt() / 1e5f64.sqrt());
        assert_eq!(right_hand_side(10, 7), b[..10]);
        assert_ne!(starting_vector(10, 8), x[..10]);
    }
}
