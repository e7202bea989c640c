//! The levels and colours of a matrix's rows, at two resolutions: as fine as they are known, and
//! coarser for pictures of all rows.

use std::collections::BTreeMap;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::symgs::{Wavefront, Wavefronts};

use crate::state::Order;

/// Maximum number of groups of rows visited for one picture.
const IN_A_PICTURE: usize = 1 << 17;

/// The levels and colours of a matrix's rows.
#[derive(Debug)]
pub struct Waves {
    fine: Wavefronts,
    /// For pictures of more rows than are visited for one picture.
    coarse: Option<Wavefronts>,
}

impl Waves {
    fn new(fine: Wavefronts) -> Self {
        let times = fine.forward.places.len().div_ceil(IN_A_PICTURE).max(1);
        let by = times.next_power_of_two().trailing_zeros();
        let coarse = (by > 0).then(|| Wavefronts {
            rows: fine.rows,
            shift: fine.shift + by,
            forward: coarser(&fine.forward, by),
            backward: coarser(&fine.backward, by),
            colors: coarser(&fine.colors, by),
        });
        Self { fine, coarse }
    }

    /// The levels and colours of an available matrix, or why it has none.
    pub fn of(values: &LoadedValues) -> Result<Self, String> {
        let LoadedValues::Real(a) = values else {
            return Err("it is complex, expected a real matrix".into());
        };
        let found = Wavefronts::of(a, MemoryLimit::of_machine());
        found.map(Self::new).map_err(|error| error.to_string())
    }

    /// The levels and colours that a bundle's files of a matrix contain, if any.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Option<Result<Self, String>> {
        let found = Wavefronts::from_files(files).map_err(|error| error.to_string());
        found.map(|found| found.map(Self::new)).transpose()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.fine.rows
    }

    /// Levels, critical path, and the finest groups of rows.
    pub fn wave(&self, order: Order) -> &Wavefront {
        of(&self.fine, order)
    }

    /// The groups for a picture of this many rows, each of 2^shift rows.
    pub fn seen(&self, order: Order, rows: usize) -> (u32, &Wavefront) {
        let few = rows >> self.fine.shift <= IN_A_PICTURE;
        let waves = self.coarse.as_ref().filter(|_| !few).unwrap_or(&self.fine);
        (waves.shift, of(waves, order))
    }
}

fn of(waves: &Wavefronts, order: Order) -> &Wavefront {
    match order {
        Order::Forward => &waves.forward,
        Order::Backward => &waves.backward,
        Order::Colors => &waves.colors,
    }
}

/// Minimum, median and maximum level of 2^by groups each; widths and path stay unchanged.
fn coarser(wave: &Wavefront, by: u32) -> Wavefront {
    let places = wave.places.chunks(1 << by).filter_map(span_of).collect();
    Wavefront { places, ..Wavefront::default() }
}

/// Minimum, median and maximum level of some groups; the median is that of their medians.
pub(crate) fn span_of(places: &[[u32; 3]]) -> Option<[u32; 3]> {
    if let [one] = places {
        return Some(*one);
    }
    let least = places.iter().map(|[least, ..]| *least).min()?;
    let greatest = places.iter().map(|[.., greatest]| *greatest).max()?;
    let mut medians: Vec<u32> = places.iter().map(|[_, median, _]| *median).collect();
    let middle = (medians.len() - 1) / 2;
    Some([least, *medians.select_nth_unstable(middle).1, greatest])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_many_rows_goes_through_few_places_and_a_closer_look_through_each() {
        let rows = 5 * IN_A_PICTURE / 2;
        let level = |row: usize| (row / 4 + row % 4) as u32;
        let wave = Wavefront {
            places: (0..rows).map(|row| [level(row); 3]).collect(),
            ..Wavefront::default()
        };
        let fine = Wavefronts {
            rows,
            shift: 0,
            forward: wave.clone(),
            backward: wave.clone(),
            colors: wave,
        };
        let waves = Waves::new(fine);
        let (shift, seen) = waves.seen(Order::Forward, rows);
        assert_eq!((shift, seen.places.len()), (2, rows / 4));
        for place in [0, 1, 77, rows / 4 - 1] {
            let first = place as u32;
            assert_eq!(seen.places[place], [first, first + 1, first + 3]);
        }
        let (shift, seen) = waves.seen(Order::Forward, 1000);
        assert_eq!((shift, seen.places.len()), (0, rows));
    }
}
