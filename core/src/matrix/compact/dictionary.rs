//! The distinct values of a matrix, found quickly or given up early.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::matrix::Scalar;
use crate::parallel::*;

/// Most values of a dictionary: what 16 bits tell apart.
pub const MOST_VALUES: usize = 1 << 16;

/// Values looked at before all of them, evenly spaced: more than are needed to see that values are
/// mostly distinct.
const SAMPLE: usize = MOST_VALUES + MOST_VALUES / 2;
/// Values that one worker looks at before it is asked whether another has found too many.
const CHUNK: usize = 1 << 16;

/// Distinct values in ascending order of their bits, and where each is found among them.
#[derive(Clone, Debug)]
pub struct Dictionary<T> {
    values: Vec<T>,
    index: Index,
}

/// Numbers of values by their hash: open addressing, at most half full.
#[derive(Clone, Debug)]
struct Index {
    /// The number of a value plus 1; 0 where there is none. A power of two of them.
    slots: Vec<u32>,
}

impl Index {
    fn with_room(values: usize) -> Self {
        Self { slots: vec![0; (2 * values).next_power_of_two().max(64)] }
    }

    /// Where a value with these bits would be looked for first.
    #[inline(always)]
    fn first(&self, bits: u128) -> usize {
        // Fibonacci hashing, the upper half brought down first: integers differ there alone.
        let folded = (bits ^ bits >> 64) as u64;
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }

    /// The number of a value among `values`, or the free slot where it belongs.
    #[inline(always)]
    fn find<T: Scalar>(&self, values: &[T], value: T) -> Result<u32, usize> {
        let (bits, mask) = (value.bits(), self.slots.len() - 1);
        let mut at = self.first(bits);
        loop {
            match self.slots[at].checked_sub(1) {
                None => return Err(at),
                Some(number) if values[number as usize].bits() == bits => return Ok(number),
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    /// All of `values`, which are distinct.
    fn of<T: Scalar>(values: &[T]) -> Self {
        let mut index = Self::with_room(values.len());
        for (number, &value) in values.iter().enumerate() {
            if let Err(free) = index.find(values, value) {
                index.slots[free] = number as u32 + 1;
            }
        }
        index
    }
}

/// Values seen so far.
struct Seen<T> {
    values: Vec<T>,
    index: Index,
    last: u128,
}

impl<T: Scalar> Seen<T> {
    fn none() -> Self {
        Self { values: Vec::new(), index: Index::with_room(32), last: 0 }
    }

    /// Adds those that are new; false once there are more than a dictionary holds.
    fn add(&mut self, values: impl Iterator<Item = T>) -> bool {
        for value in values {
            // Neighbours are often equal.
            if value.bits() == self.last && !self.values.is_empty() {
                continue;
            }
            self.last = value.bits();
            if let Err(free) = self.index.find(&self.values, value) {
                if self.values.len() == MOST_VALUES {
                    return false;
                }
                self.values.push(value);
                self.index.slots[free] = self.values.len() as u32;
                if 2 * self.values.len() > self.index.slots.len() {
                    self.index = Index::of(&self.values);
                }
            }
        }
        true
    }
}

impl<T: Scalar> Dictionary<T> {
    /// The distinct values among `values`; none when there are more than [`MOST_VALUES`]. Values are
    /// told apart by their bits.
    pub fn of(values: &[T]) -> Option<Self> {
        // Evenly spaced values first: matrices of mostly distinct ones are given up at once.
        let stride = values.len() / SAMPLE;
        if stride > 1 && !Seen::none().add(values.iter().copied().step_by(stride)) {
            return None;
        }
        let too_many = AtomicBool::new(false);
        let share = values.len().div_ceil(4 * current_num_threads()).max(CHUNK);
        let seen = values.par_chunks(share).map(|share| {
            let mut seen = Seen::none();
            for chunk in share.chunks(CHUNK) {
                if too_many.load(Ordering::Relaxed) {
                    break;
                }
                if !seen.add(chunk.iter().copied()) {
                    too_many.store(true, Ordering::Relaxed);
                }
            }
            seen
        });
        let seen = seen.reduce(Seen::none, |mut a, b| {
            if !a.add(b.values.into_iter()) {
                too_many.store(true, Ordering::Relaxed);
            }
            a
        });
        (!too_many.into_inner()).then(|| Self::sorted(seen.values))
    }

    /// Distinct values in any order.
    fn sorted(mut values: Vec<T>) -> Self {
        values.sort_unstable_by_key(|value| value.bits());
        let index = Index::of(&values);
        Self { values, index }
    }

    /// The values, ascending by their bits.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Number of distinct values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// There is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of a value among them; none for a value that is not one of them.
    #[inline]
    pub fn number(&self, value: T) -> Option<u32> {
        self.index.find(&self.values, value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart_by_their_bits() {
        let nan = |payload: u64| f64::from_bits(f64::NAN.to_bits() | payload);
        let values = [0.0, -0.0, nan(1), nan(2), 0.0, nan(1), f64::INFINITY, 1e-320];
        let found = Dictionary::of(&values).unwrap();
        assert_eq!(found.len(), 6);
        for value in values {
            let number = found.number(value).unwrap() as usize;
            assert_eq!(found.values()[number].to_bits(), value.to_bits());
        }
        assert_eq!(found.number(1.0), None);
        assert!(Dictionary::<f64>::of(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_dictionary_holds_what_16_bits_tell_apart_and_no_more() {
        // Integers, which differ in their upper bits alone, each several times in scattered order.
        let many = |distinct: u64| -> Vec<f64> {
            (0..400_000u64).map(|k| (k * 7919 % distinct) as f64).collect()
        };
        let full = Dictionary::of(&many(65_536)).unwrap();
        assert_eq!(full.len(), 65_536);
        assert!(full.values().windows(2).all(|w| w[0].to_bits() < w[1].to_bits()));
        assert!(Dictionary::of(&many(65_537)).is_none());
        // Too many only in the last quarter, which evenly spaced values need not show.
        let mut late = vec![1.0; 300_000];
        late.extend((0..65_536).map(|k| 2.0 + f64::from(k)));
        assert!(Dictionary::of(&late).is_none());
        late.pop();
        assert_eq!(Dictionary::of(&late).unwrap().len(), 65_536);
    }
}
