//! Values stored plainly or as codes of a dictionary.

use super::dictionary::{Dictionary, MOST_VALUES};
use super::values::ValueCoding;
use crate::matrix::{FormatError, Scalar};
use crate::memory::zeroed;
use crate::parallel::*;

/// Values of slots, bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Coded<T> {
    /// Plain values.
    Plain(Vec<T>),
    /// One 8-bit code per slot.
    Byte {
        /// Index into `table`.
        codes: Vec<u8>,
        /// The distinct values, ascending by their bits.
        table: Vec<T>,
    },
    /// One 16-bit code per slot.
    Short {
        /// Index into `table`.
        codes: Vec<u16>,
        /// The distinct values, ascending by their bits.
        table: Vec<T>,
    },
}

/// How to store the values of a matrix, determined before storing them.
#[derive(Clone, Debug)]
pub enum Code<T> {
    /// Plain values.
    Plain,
    /// With 8-bit codes.
    Byte(Dictionary<T>),
    /// With 16-bit codes.
    Short(Dictionary<T>),
}

/// Maximum number of values that 8-bit codes can distinguish.
const MOST_BYTE: usize = 1 << 8;

impl<T: Scalar> Code<T> {
    /// Chooses how to store `slots` slots with the values of `values`. Fails, with the number of
    /// distinct values, when the requested codes are too narrow.
    pub fn choose(values: &[T], slots: u64, coding: ValueCoding) -> Result<Self, FormatError> {
        let narrow = |found: Option<usize>, most: usize| {
            let many = match found {
                Some(found) => found.to_string(),
                None => format!("at least {}", MOST_VALUES + 1),
            };
            let entries = values.len();
            FormatError::Invariant(format!(
                "the {entries} nonzeros have {many} distinct values, more than the {most} of a dictionary with {}-bit codes",
                most.ilog2()
            ))
        };
        if coding == ValueCoding::Plain {
            return Ok(Self::Plain);
        }
        let found = Dictionary::of(values);
        match (coding, found) {
            (ValueCoding::Byte, Some(found)) if found.len() <= MOST_BYTE => Ok(Self::Byte(found)),
            (ValueCoding::Byte, found) => Err(narrow(found.map(|found| found.len()), MOST_BYTE)),
            (ValueCoding::Short, Some(found)) => Ok(Self::Short(found)),
            (ValueCoding::Short, None) => Err(narrow(None, MOST_VALUES)),
            (_, None) => Ok(Self::Plain),
            (_, Some(found)) => {
                let coded = match found.len() <= MOST_BYTE {
                    true => Self::Byte(found),
                    false => Self::Short(found),
                };
                let smaller = coded.bytes(slots) < Self::Plain.bytes(slots);
                Ok(if smaller { coded } else { Self::Plain })
            }
        }
    }

    /// Bytes of the codes or values of this many slots, and of the dictionary.
    pub fn bytes(&self, slots: u64) -> u128 {
        let (each, table) = match self {
            Self::Plain => (T::BYTES, 0),
            Self::Byte(dictionary) => (1, dictionary.len()),
            Self::Short(dictionary) => (2, dictionary.len()),
        };
        u128::from(slots) * each as u128 + table as u128 * T::BYTES as u128
    }

    /// Stores the values of the slots of `pieces`, all of which were among those the choice was made
    /// from. Slots that no piece sets hold 0 or the first value of the dictionary.
    pub(super) fn store(&self, pieces: &impl Pieces<T>) -> Coded<T> {
        let number = |dictionary: &Dictionary<T>, value: T| {
            dictionary.number(value).expect("the dictionary holds every value") // invariant
        };
        match self {
            Self::Plain => Coded::Plain(gathered(pieces, T::ZERO, |value| value)),
            Self::Byte(dictionary) => Coded::Byte {
                codes: gathered(pieces, 0, |value| number(dictionary, value) as u8),
                table: dictionary.values().to_vec(),
            },
            Self::Short(dictionary) => Coded::Short {
                codes: gathered(pieces, 0, |value| number(dictionary, value) as u16),
                table: dictionary.values().to_vec(),
            },
        }
    }
}

/// Slots in pieces, and the value of each slot.
pub(super) trait Pieces<T>: Sync {
    /// First slot of each piece, and the number of slots.
    fn bounds(&self) -> &[u64];
    /// Calls `put` with each filled place in a piece and its value.
    fn each(&self, piece: usize, put: impl FnMut(usize, T));
}

/// The slots of all pieces, filled in parallel.
fn gathered<T: Scalar, U: Copy + Send + Sync>(
    pieces: &impl Pieces<T>,
    blank: U,
    stored: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let bounds = pieces.bounds();
    let mut all = zeroed(blank, bounds.last().map_or(0, |&end| end as usize));
    in_pieces(&mut all, bounds.iter().copied())
        .into_par_iter()
        .enumerate()
        .for_each(|(p, piece)| pieces.each(p, |at, value| piece[at] = stored(value)));
    all
}

/// Splits an array into the pieces whose bounds are `bounds`.
pub(super) fn in_pieces<U>(
    mut all: &mut [U],
    bounds: impl Iterator<Item = u64> + Clone,
) -> Vec<&mut [U]> {
    let lengths = bounds.clone().zip(bounds.skip(1)).map(|(from, to)| (to - from) as usize);
    lengths
        .map(|length| {
            let (piece, rest) = std::mem::take(&mut all).split_at_mut(length);
            all = rest;
            piece
        })
        .collect()
}

impl<T: Scalar> Coded<T> {
    /// Number of slots.
    pub fn len(&self) -> usize {
        match self {
            Self::Plain(values) => values.len(),
            Self::Byte { codes, .. } => codes.len(),
            Self::Short { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a slot. Panics when there is no such slot.
    #[inline]
    pub fn get(&self, slot: usize) -> T {
        match self {
            Self::Plain(values) => values[slot],
            Self::Byte { codes, table } => table[codes[slot] as usize],
            Self::Short { codes, table } => table[codes[slot] as usize],
        }
    }

    /// `plain`, `8` or `16`: the number of bits per code.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Plain(_) => ValueCoding::Plain.as_str(),
            Self::Byte { .. } => ValueCoding::Byte.as_str(),
            Self::Short { .. } => ValueCoding::Short.as_str(),
        }
    }

    /// Number of distinct values, if there is a dictionary.
    pub fn distinct(&self) -> Option<usize> {
        match self {
            Self::Plain(_) => None,
            Self::Byte { table, .. } | Self::Short { table, .. } => Some(table.len()),
        }
    }

    /// Bytes of codes and dictionary, or of the values.
    pub fn bytes(&self) -> u64 {
        let each = match self {
            Self::Plain(_) => T::BYTES,
            Self::Byte { .. } => 1,
            Self::Short { .. } => 2,
        };
        (self.len() * each + self.distinct().unwrap_or(0) * T::BYTES) as u64
    }

    /// Whether a slot holds what an empty slot stores: 0, or code 0.
    pub(super) fn is_blank(&self, slot: usize) -> bool {
        match self {
            Self::Plain(values) => values[slot].bits() == T::ZERO.bits(),
            Self::Byte { codes, .. } => codes[slot] == 0,
            Self::Short { codes, .. } => codes[slot] == 0,
        }
    }

    /// Checks that the codes index the dictionary and that its values ascend by their bits.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        let (table, most, within) = match self {
            Self::Plain(_) => return Ok(()),
            Self::Byte { codes, table } => {
                (table, MOST_BYTE, codes.par_iter().all(|&code| (code as usize) < table.len()))
            }
            Self::Short { codes, table } => {
                (table, MOST_VALUES, codes.par_iter().all(|&code| (code as usize) < table.len()))
            }
        };
        if table.len() > most || !table.windows(2).all(|w| w[0].bits() < w[1].bits()) {
            return Err(FormatError::Invariant(
                "the values of a dictionary are unsorted or too many".to_owned(),
            ));
        }
        match within {
            true => Ok(()),
            false => {
                Err(FormatError::Invariant("a code is out of range for its dictionary".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_codes_are_chosen_where_they_are_smaller() {
        let cycle =
            |distinct: u32| -> Vec<f64> { (0..200_000).map(|k| f64::from(k % distinct)).collect() };
        let chosen =
            |distinct: u32| match Code::choose(&cycle(distinct), 200_000, ValueCoding::Auto)
                .unwrap()
            {
                Code::Plain => "plain",
                Code::Byte(_) => "8",
                Code::Short(_) => "16",
            };
        assert_eq!(chosen(1), "8");
        assert_eq!(chosen(256), "8");
        assert_eq!(chosen(257), "16");
        assert_eq!(chosen(65_536), "16");
        assert_eq!(chosen(65_537), "plain");
        // All values distinct: codes and dictionary take more than the values alone.
        let few: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(matches!(Code::choose(&few, 100, ValueCoding::Auto), Ok(Code::Plain)));
        assert!(matches!(Code::choose(&few, 100, ValueCoding::Byte), Ok(Code::Byte(_))));
    }

    #[test]
    fn codes_that_are_too_narrow_are_refused_with_the_number_of_values() {
        let values: Vec<f64> = (0..300).map(f64::from).collect();
        let error = Code::choose(&values, 300, ValueCoding::Byte).unwrap_err().to_string();
        let expected = "the 300 nonzeros have 300 distinct values, more than the 256 of a dictionary with 8-bit codes";
        assert_eq!(error, expected);
        let values: Vec<f64> = (0..70_000).map(f64::from).collect();
        let error = Code::choose(&values, 70_000, ValueCoding::Short).unwrap_err().to_string();
        assert!(error.contains("at least 65537 distinct values"), "{error}");
        assert!(error.ends_with("65536 of a dictionary with 16-bit codes"), "{error}");
    }
}
