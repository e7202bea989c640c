//! The vector x that products are measured with: element j is word j of a seed's stream, so that any
//! part of it can be made on its own.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Seed used when none is given.
pub const DEFAULT_SEED: u64 = 42;

/// n pseudo-random integers 1…5: exact in binary, the same for a seed on every platform.
pub fn integer_vector(n: usize, seed: u64) -> Vec<f64> {
    integer_range(0..n as u64, seed)
}

/// Elements `range` of the same vector.
pub fn integer_range(range: Range<u64>, seed: u64) -> Vec<f64> {
    let mut random = stream(seed);
    random.set_word_pos(range.start.into());
    range.map(|_| f64::from(integer(&mut random))).collect()
}

/// Single elements of the same vector. Those asked for lately are remembered with their neighbours.
#[derive(Clone, Debug)]
pub struct IntegerVector {
    random: ChaCha8Rng,
    /// In the place of a block of words, by its number: the block and its elements.
    kept: Vec<(u64, [u8; WORDS])>,
}

/// Words that ChaCha makes at a time.
const WORDS: usize = 64;

/// Blocks that are remembered.
const BLOCKS: usize = 256;

impl IntegerVector {
    /// Of this seed.
    pub fn new(seed: u64) -> Self {
        Self { random: stream(seed), kept: vec![(u64::MAX, [0; WORDS]); BLOCKS] }
    }

    /// Element j.
    pub fn at(&mut self, j: u64) -> f64 {
        let block = j / WORDS as u64;
        let Self { random, kept } = self;
        let (known, elements) = &mut kept[block as usize % BLOCKS];
        if *known != block {
            random.set_word_pos(u128::from(block) * WORDS as u128);
            elements.iter_mut().for_each(|element| *element = integer(random));
            *known = block;
        }
        f64::from(elements[j as usize % WORDS])
    }
}

/// Stream 0 of a seed.
fn stream(seed: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// The next word as an integer 1…5.
fn integer(random: &mut ChaCha8Rng) -> u8 {
    1 + ((u64::from(random.next_u32()) * 5) >> 32) as u8
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

    #[test]
    fn parts_and_single_elements_are_those_of_the_whole() {
        let x = integer_vector(40_000, 7);
        for range in [0..1, 63..65, 1000..1129, 39_990..40_000] {
            let part = integer_range(range.start as u64..range.end as u64, 7);
            assert_eq!(part, x[range]);
        }
        let mut element = IntegerVector::new(7);
        // Far apart, near again, and in the places of others.
        for j in (0..40_000).step_by(17).chain((0..40_000).rev().step_by(4001)).chain(5..90) {
            assert_eq!(element.at(j as u64), x[j], "element {j}");
        }
    }
}
