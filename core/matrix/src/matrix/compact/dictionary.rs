//! Finds the distinct values of a matrix, giving up early when there are too many.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::matrix::Scalar;
use crate::parallel::*;

/// Maximum number of values of a dictionary: what 16 bits can distinguish.
pub const MOST_VALUES: usize = 1 << 16;

/// Evenly spaced values that are tried first: enough to see that values are mostly distinct.
const SAMPLE: usize = MOST_VALUES + MOST_VALUES / 2;
/// Values that one worker processes before it checks whether another has found too many.
const CHUNK: usize = 1 << 16;

/// Distinct values in ascending order of their bits, and an index to find each.
#[derive(Clone, Debug)]
pub struct Dictionary<T> {
    values: Vec<T>,
    index: Index,
}

/// Indices of values by hash: open addressing, at most half full.
#[derive(Clone, Debug)]
struct Index {
    /// The index of a value plus 1; 0 in a free slot. The length is a power of two.
    slots: Vec<u32>,
}

impl Index {
    fn with_room(values: usize) -> Self {
        Self { slots: vec![0; (2 * values).next_power_of_two().max(64)] }
    }

    /// The slot where the search for a value with these bits starts.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn first(&self, bits: u128) -> usize {
        // Fibonacci hashing. The upper half is folded in first: integers differ only there.
        let folded = (bits ^ bits >> 64) as u64;
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }

    /// The index of a value among `values`, or the free slot where it belongs.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
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

    /// An index of all of `values`, which are distinct.
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

    /// Adds the new ones; returns false once there are more than a dictionary holds.
    fn add(&mut self, values: impl Iterator<Item = T>) -> bool {
        for value in values {
            // Adjacent values are often equal.
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
    /// Returns the distinct values among `values`, or `None` when there are more than
    /// [`MOST_VALUES`]. Values are compared by their bits.
    pub fn of(values: &[T]) -> Option<Self> {
        // Evenly spaced values first: this gives up at once on matrices with mostly distinct values.
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

    /// A dictionary of distinct values in any order.
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

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The index of a value, or `None` if it is not in the dictionary.
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
        // Integers, which differ only in their upper bits, each several times in scattered order.
        let many = |distinct: u64| -> Vec<f64> {
            (0..400_000u64).map(|k| (k * 7919 % distinct) as f64).collect()
        };
        let full = Dictionary::of(&many(65_536)).unwrap();
        assert_eq!(full.len(), 65_536);
        assert!(full.values().windows(2).all(|w| w[0].to_bits() < w[1].to_bits()));
        assert!(Dictionary::of(&many(65_537)).is_none());
        // Too many only in the last quarter, which the evenly spaced values may miss.
        let mut late = vec![1.0; 300_000];
        late.extend((0..65_536).map(|k| 2.0 + f64::from(k)));
        assert!(Dictionary::of(&late).is_none());
        late.pop();
        assert_eq!(Dictionary::of(&late).unwrap().len(), 65_536);
    }
}
