//! The vector x used to measure SpMV, and the z of right-hand sides A·z: element j is word j of a seeded
//! stream, so that any part of it can be generated on its own.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Default seed.
pub const DEFAULT_SEED: u64 = 42;

/// n pseudo-random integers 1…5: exact in binary, and the same for a seed on every platform.
pub fn integer_vector(n: usize, seed: u64) -> Vec<f64> {
    integer_range(0..n as u64, seed)
}

/// Elements `range` of the [`integer_vector`].
pub fn integer_range(range: Range<u64>, seed: u64) -> Vec<f64> {
    let mut random = stream(seed);
    random.set_word_pos(range.start.into());
    range.map(|_| integer(random.next_u32())).collect()
}

/// n pseudo-random numbers from −1 to 1, multiples of 2⁻²³: the same for a seed on every platform.
pub fn uniform_vector(n: usize, seed: u64) -> Vec<f64> {
    let mut random = uniform_stream(seed);
    (0..n).map(|_| uniform(random.next_u32())).collect()
}

/// Random access to the [`integer_vector`] of a seed.
#[derive(Clone, Debug)]
pub struct IntegerVector(Kept);

/// Random access to the [`uniform_vector`] of a seed.
#[derive(Clone, Debug)]
pub struct UniformVector(Kept);

/// Random access to the words of a stream, with a cache of recently used blocks.
#[derive(Clone, Debug)]
struct Kept {
    random: ChaCha8Rng,
    /// Direct-mapped by block number: each slot has the block's number and its words.
    blocks: Vec<(u64, [u32; WORDS])>,
}

/// Words that ChaCha generates at a time.
const WORDS: usize = 64;

/// Number of cached blocks.
const BLOCKS: usize = 256;

impl IntegerVector {
    /// Opens the vector of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Kept::new(stream(seed)))
    }

    /// Element j.
    pub fn at(&mut self, j: u64) -> f64 {
        integer(self.0.at(j))
    }
}

impl UniformVector {
    /// Opens the vector of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Kept::new(uniform_stream(seed)))
    }

    /// Element j.
    pub fn at(&mut self, j: u64) -> f64 {
        uniform(self.0.at(j))
    }
}

impl Kept {
    fn new(random: ChaCha8Rng) -> Self {
        Self { random, blocks: vec![(u64::MAX, [0; WORDS]); BLOCKS] }
    }

    /// Word j.
    fn at(&mut self, j: u64) -> u32 {
        let block = j / WORDS as u64;
        let Self { random, blocks } = self;
        let (known, words) = &mut blocks[block as usize % BLOCKS];
        if *known != block {
            random.set_word_pos(u128::from(block) * WORDS as u128);
            words.iter_mut().for_each(|word| *word = random.next_u32());
            *known = block;
        }
        words[j as usize % WORDS]
    }
}

/// Stream 0 of a seed.
fn stream(seed: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Stream 2 of a seed.
fn uniform_stream(seed: u64) -> ChaCha8Rng {
    let mut random = stream(seed);
    random.set_stream(2);
    random
}

/// A word as an integer 1…5.
fn integer(word: u32) -> f64 {
    f64::from(1 + ((u64::from(word) * 5) >> 32) as u8)
}

/// The upper 24 bits of a word as a number from −1 to 1.
fn uniform(word: u32) -> f64 {
    f64::from(word >> 8) / f64::from(1 << 23) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_holds_all_integers_from_1_to_5_about_equally_often() {
        let x = integer_vector(50_000, DEFAULT_SEED);
        for digit in 1..=5 {
            let count = x.iter().filter(|&&v| v == f64::from(digit)).count();
            // Within five standard deviations of 10 000.
            assert!((9_550..=10_450).contains(&count), "{digit}: {count}");
        }
    }

    #[test]
    fn the_seed_decides_and_a_shorter_x_is_a_prefix() {
        assert_eq!(integer_vector(10, 7), integer_vector(100, 7)[..10]);
        assert_ne!(integer_vector(100, 7), integer_vector(100, 8));
    }

    #[test]
    fn parts_and_single_elements_are_those_of_the_whole() {
        let x = integer_vector(40_000, 7);
        for range in [0..1, 63..65, 1000..1129, 39_990..40_000] {
            let part = integer_range(range.start as u64..range.end as u64, 7);
            assert_eq!(part, x[range]);
        }
        let mut element = IntegerVector::new(7);
        // Far away, near again, and in slots of other blocks.
        let (mut other, z) = (UniformVector::new(7), uniform_vector(40_000, 7));
        for j in (0..40_000).step_by(17).chain((0..40_000).rev().step_by(4001)).chain(5..90) {
            assert_eq!((element.at(j as u64), other.at(j as u64)), (x[j], z[j]), "element {j}");
        }
    }

    #[test]
    fn z_fills_its_range_and_the_seed_decides() {
        let z = uniform_vector(100_000, 7);
        assert!(z.iter().all(|z| (-1.0..1.0).contains(z)));
        // Five standard deviations of the mean and of the mean square, 2/√12 and 2/√45, of uniform numbers.
        let mean = |of: fn(f64) -> f64| z.iter().map(|&z| of(z)).sum::<f64>() / 1e5;
        assert!(mean(|z| z).abs() < 5.0 * 2.0 / 12f64.sqrt() / 1e5f64.sqrt());
        assert!((mean(|z| z * z) - 1.0 / 3.0).abs() < 5.0 * 2.0 / 45f64.sqrt() / 1e5f64.sqrt());
        assert_eq!(uniform_vector(10, 7), z[..10]);
        assert_ne!(uniform_vector(10, 8), z[..10]);
    }
}
