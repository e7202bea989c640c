//! The data for the picture of a matrix's structure: counts at every zoom, row lengths, and the
//! matrix itself if available.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::{Band, Csr, Reordering, Scalar, permuted};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pace::Pace;
use sparsescope_core::spy::{Detail, Level, Pyramid, RowProfile};

use crate::model::value;
use crate::waves::Waves;

/// Maximum rows of a window in which cells finer than the pyramid's are counted.
const DETAIL_ROWS: usize = 1 << 20;

/// Up to this many nonzeros a matrix is reordered, or its levels are computed, on the UI thread.
const AT_ONCE: u64 = 200_000;

/// Distribution of the counts of a level's nonempty cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Count of the fullest cell.
    pub max: u64,
    /// Quantiles of the counts of nonempty cells, at 0/15, 1/15, … 15/15.
    pub quantiles: [f32; 16],
}

/// Counts and row lengths of a matrix.
#[derive(Debug)]
pub struct Picture {
    /// Counts at every zoom.
    pub pyramid: Pyramid,
    /// Row lengths.
    pub profile: RowProfile,
    /// The matrix, if available.
    pub values: Option<LoadedValues>,
    /// The recipe from which the matrix was generated again, as its bundle has no values.
    pub recipe: Option<String>,
    spreads: Vec<OnceLock<Spread>>,
    band: OnceLock<Band>,
    renumbered: OnceLock<Result<Arc<Picture>, String>>,
    is_being_renumbered: AtomicBool,
    waves: OnceLock<Result<Waves, String>>,
    are_waves_sought: AtomicBool,
    detail: Mutex<Option<Arc<Detail>>>,
}

/// The cells to draw.
#[derive(Clone, Debug)]
pub enum Cells<'a> {
    /// A level of the pyramid, with its index.
    Level(usize, &'a Level),
    /// A window of finer cells.
    Detail(Arc<Detail>),
}

impl Picture {
    /// The picture of an available matrix.
    pub fn of(values: &LoadedValues) -> Self {
        let (pyramid, profile) = match values {
            LoadedValues::Real(a) => (Pyramid::of(a), RowProfile::of(a)),
            LoadedValues::Complex(a) => (Pyramid::of(a), RowProfile::of(a)),
        };
        Self::new(pyramid, profile, Some(values.clone()))
    }

    /// The same as an async function with yield points, so that the caller can do other work in
    /// between.
    pub async fn in_steps(values: &LoadedValues) -> Self {
        let (pyramid, profile) = match values {
            LoadedValues::Real(a) => (Pyramid::at(a, Pace::InSteps).await, RowProfile::of(a)),
            LoadedValues::Complex(a) => (Pyramid::at(a, Pace::InSteps).await, RowProfile::of(a)),
        };
        Self::new(pyramid, profile, Some(values.clone()))
    }

    /// The picture in a bundle's files of a matrix, or a sentence why there is none.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        if !files.contains_key("spy.json") {
            return Err("the bundle has no picture of this matrix".into());
        }
        let (pyramid, profile) =
            sparsescope_core::spy::from_files(files).map_err(|error| error.to_string())?;
        Ok(Self::new(pyramid, profile, None))
    }

    fn new(pyramid: Pyramid, profile: RowProfile, values: Option<LoadedValues>) -> Self {
        let spreads = pyramid.levels().iter().map(|_| OnceLock::new()).collect();
        Self {
            pyramid,
            profile,
            values,
            recipe: None,
            spreads,
            band: OnceLock::new(),
            renumbered: OnceLock::new(),
            is_being_renumbered: AtomicBool::new(false),
            waves: OnceLock::new(),
            are_waves_sought: AtomicBool::new(false),
            detail: Mutex::new(None),
        }
    }

    /// The picture of the matrix in reverse Cuthill–McKee order, or a sentence why there is none;
    /// computed on first use.
    pub(crate) fn renumbered(&self) -> &Result<Arc<Self>, String> {
        self.renumbered.get_or_init(|| {
            let values = self
                .values
                .as_ref()
                .ok_or("The bundle has only cell counts; open the matrix file to reorder it.")?;
            let renumbered = match values {
                LoadedValues::Real(a) => LoadedValues::Real(reverse_cuthill_mckee(a)?),
                LoadedValues::Complex(a) => LoadedValues::Complex(reverse_cuthill_mckee(a)?),
            };
            let recipe = self.recipe.clone();
            Ok(Arc::new(Self { recipe, ..Self::of(&renumbered) }))
        })
    }

    /// The same without blocking: if it takes long, a thread computes it, and `None` is returned
    /// until it is done.
    pub(crate) fn renumbered_soon(self: &Arc<Self>) -> Option<&Result<Arc<Self>, String>> {
        let is_begun = &self.is_being_renumbered;
        self.soon(is_begun, &self.renumbered, |picture| {
            picture.renumbered();
        })
    }

    /// The levels and colours of the rows, or why there are none; computed on first use unless a
    /// bundle has them.
    pub(crate) fn waves(&self) -> &Result<Waves, String> {
        self.waves.get_or_init(|| match &self.values {
            Some(values) => Waves::of(values),
            None => Err("its bundle does not contain them; open the matrix file".into()),
        })
    }

    /// The same without blocking, like [`renumbered_soon`](Self::renumbered_soon).
    pub(crate) fn waves_soon(self: &Arc<Self>) -> Option<&Result<Waves, String>> {
        self.soon(&self.are_waves_sought, &self.waves, |picture| {
            picture.waves();
        })
    }

    /// Returns whether levels and colours are known or can be computed.
    pub(crate) fn has_waves(&self) -> bool {
        self.values.is_some() || self.waves.get().is_some_and(Result::is_ok)
    }

    /// Takes the levels and colours from a bundle's files of the matrix, if present.
    pub(crate) fn take_waves(&self, files: &BTreeMap<String, Vec<u8>>) {
        if let Some(found) = Waves::from_files(files) {
            let _ = self.waves.set(found); // a value already set is equally good
        }
    }

    /// Sets `found` to the result of `find`; if that takes long, a thread does it, once.
    fn soon<'a, T>(
        self: &'a Arc<Self>,
        is_begun: &AtomicBool,
        found: &'a OnceLock<T>,
        find: fn(&Self),
    ) -> Option<&'a T> {
        let is_small = self.pyramid.entries() < AT_ONCE;
        if cfg!(target_family = "wasm") || self.values.is_none() || is_small {
            find(self);
        } else if !is_begun.swap(true, Ordering::Relaxed) {
            let picture = Arc::clone(self);
            let work = move || find(&picture);
            if std::thread::Builder::new().name("picture".into()).spawn(work).is_err() {
                find(self);
            }
        }
        found.get()
    }

    /// Bandwidth and profile, if the matrix is available.
    pub(crate) fn band(&self) -> Option<Band> {
        let values = self.values.as_ref()?;
        let band = || match values {
            LoadedValues::Real(a) => Band::of(a),
            LoadedValues::Complex(a) => Band::of(a),
        };
        Some(*self.band.get_or_init(band))
    }

    /// The coarsest level with at least `cells` cells along its longer edge; the finest if none has.
    pub(crate) fn coarse(&self, cells: usize) -> Option<&Level> {
        let levels = self.pyramid.levels();
        let has_enough = |level: &&Level| level.rows().max(level.cols()) >= cells;
        levels.iter().rev().find(has_enough).or_else(|| levels.first())
    }

    /// Cells of 2^shift rows and columns are the finest if only the pyramid is available; `None` if
    /// the matrix is.
    pub(crate) fn finest(&self) -> Option<u32> {
        let finest = self.pyramid.levels().first().map_or(0, |level| level.shift());
        self.values.is_none().then_some(finest)
    }

    /// The finest cells that are at least one pixel in size, at `per_pixel` rows or columns (the
    /// larger) per pixel; `rows` and `cols` are in view.
    pub(crate) fn cells(
        &self,
        per_pixel: f64,
        rows: &Range<usize>,
        cols: &Range<usize>,
    ) -> Option<Cells<'_>> {
        // Rounding must not select cells slightly smaller than a pixel, which could fall between
        // pixels.
        let wanted = (per_pixel * (1.0 - 1e-9)).log2().ceil().max(0.0) as u32;
        let finest = self.pyramid.levels().first()?.shift();
        if wanted < finest
            && let Some(values) = &self.values
            && rows.len() <= DETAIL_ROWS
        {
            return Some(Cells::Detail(self.count(values, wanted, rows, cols)));
        }
        let number = (wanted.max(finest) - finest) as usize;
        let number = number.min(self.pyramid.levels().len() - 1);
        Some(Cells::Level(number, self.pyramid.levels().get(number)?))
    }

    /// Counts cells of 2^shift rows and columns in a window; the last window is cached.
    fn count(
        &self,
        values: &LoadedValues,
        shift: u32,
        rows: &Range<usize>,
        cols: &Range<usize>,
    ) -> Arc<Detail> {
        let cells = |span: &Range<usize>| span.start >> shift..((span.end - 1) >> shift) + 1;
        let (rows, cols) = (cells(rows), cells(cols));
        let mut last = self.detail.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(detail) = last.as_ref()
            && detail.shift() == shift
            && (detail.rows(), detail.cols()) == (rows.clone(), cols.clone())
        {
            return detail.clone();
        }
        let detail = Arc::new(match values {
            LoadedValues::Real(a) => Detail::of(a, shift, rows, cols),
            LoadedValues::Complex(a) => Detail::of(a, shift, rows, cols),
        });
        *last = Some(detail.clone());
        detail
    }

    /// The distribution of the counts of the cells to draw.
    pub(crate) fn spread(&self, cells: &Cells<'_>) -> Spread {
        match cells {
            Cells::Level(number, level) => {
                let counts = || Spread::of(level.cells().map(|(_, _, count)| count));
                self.spreads.get(*number).map_or_else(counts, |spread| *spread.get_or_init(counts))
            }
            Cells::Detail(detail) => {
                Spread::of(detail.rows().flat_map(|r| detail.line(r)).copied())
            }
        }
    }

    /// The formatted value of the nonzero (i, j), if the matrix is available and has it; real and
    /// imaginary part for a complex one.
    pub fn value(&self, i: usize, j: usize) -> Option<Vec<String>> {
        fn find<T: Copy>((col, val): (&[u32], &[T]), j: usize) -> Option<T> {
            let place = col.binary_search(&u32::try_from(j).ok()?).ok()?;
            val.get(place).copied()
        }
        if i >= self.pyramid.rows() {
            return None;
        }
        match self.values.as_ref()? {
            LoadedValues::Real(a) => Some(vec![value(find(a.row(i), j)?)]),
            LoadedValues::Complex(a) => {
                let of = find(a.row(i), j)?;
                Some(parts(of.re, of.im))
            }
        }
    }
}

/// The parts of a complex value, with signs.
fn parts(re: f64, im: f64) -> Vec<String> {
    let im = value(im);
    let sign = if im.starts_with('-') { "" } else { "+" };
    vec![value(re), format!("{sign}{im}i")]
}

fn reverse_cuthill_mckee<T: Scalar>(a: &Csr<T>) -> Result<Arc<Csr<T>>, String> {
    let limit = MemoryLimit::of_machine();
    let order = Reordering::Rcm.order(a, limit).map_err(|error| error.to_string())?;
    permuted(a, &order, limit).map(Arc::new).map_err(|error| error.to_string())
}

impl Spread {
    fn of(counts: impl Iterator<Item = u64>) -> Self {
        let mut times = BTreeMap::<u64, u64>::new();
        for count in counts.filter(|count| *count > 0) {
            *times.entry(count).or_default() += 1;
        }
        let filled: u64 = times.values().sum();
        let mut passed = 0;
        let mut upto = times.iter().map(|(count, times)| {
            passed += times;
            (*count, passed)
        });
        let mut current = upto.next().unwrap_or((1, 0));
        let quantiles = std::array::from_fn(|k| {
            while current.1 * 15 < filled * k as u64 {
                let Some(next) = upto.next() else { break };
                current = next;
            }
            current.0 as f32
        });
        Self { max: times.keys().next_back().copied().unwrap_or(1), quantiles }
    }
}

impl Cells<'_> {
    /// log₂ of the rows and columns per cell.
    pub fn shift(&self) -> u32 {
        match self {
            Self::Level(_, level) => level.shift(),
            Self::Detail(detail) => detail.shift(),
        }
    }

    /// Nonzeros in the cells `first..first + counts.len()` of a row of cells.
    pub(crate) fn line(&self, row: usize, first: usize, counts: &mut [u64]) {
        match self {
            Self::Level(_, level) => level.line(row, first, counts),
            Self::Detail(detail) => {
                counts.fill(0);
                let line = detail.line(row);
                let skip = detail.cols().start;
                for (c, count) in counts.iter_mut().enumerate() {
                    let place = (first + c).checked_sub(skip).and_then(|place| line.get(place));
                    *count = place.copied().unwrap_or(0);
                }
            }
        }
    }

    /// Nonzeros in one cell.
    pub fn count(&self, row: usize, col: usize) -> u64 {
        let mut count = [0];
        self.line(row, col, &mut count);
        count[0]
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::Csr;

    use super::*;

    #[test]
    fn quantiles_are_counts_that_so_many_cells_do_not_exceed() {
        let spread = Spread::of([0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 9].into_iter());
        assert_eq!(spread.max, 9);
        let mut expected = [1.0; 16];
        (expected[14], expected[15]) = (5.0, 9.0);
        assert_eq!(spread.quantiles, expected);
        assert_eq!(Spread::of(std::iter::empty()).max, 1);
    }

    #[test]
    fn a_complex_value_is_its_two_parts_with_one_sign_each() {
        let texts = [(1.5, -2.0), (0.0, 3e7), (-1.0, -0.0)].map(|(re, im)| parts(re, im).concat());
        assert_eq!(texts, ["1.5-2i", "0+3.0000e7i", "-1+0i"]);
    }

    #[test]
    fn cells_are_the_finest_that_no_pixel_misses_and_finer_ones_come_from_the_matrix() {
        let t: Vec<_> = (0..9000usize).map(|i| (i, i * 7 % 9000, i as f64)).collect();
        let a = LoadedValues::Real(Arc::new(Csr::from_triplets(9000, 9000, &t).unwrap()));
        let mut picture = Picture::of(&a);
        let all = 0..9000;
        for (per_pixel, shift) in [(9.0, 4), (8.0, 3), (4.0, 2), (3.9, 2), (1.0, 0), (0.01, 0)] {
            assert_eq!(picture.cells(per_pixel, &all, &all).unwrap().shift(), shift);
        }
        let cells = picture.cells(0.5, &(10..20), &(0..9000)).unwrap();
        assert_eq!((cells.count(11, 77), cells.count(11, 78)), (1, 0));
        assert_eq!(cells.count(30, 210), 0, "outside the window");
        assert_eq!(picture.value(11, 77), Some(vec!["11".to_owned()]));
        assert_eq!((picture.value(11, 78), picture.value(9000, 0)), (None, None));
        picture.values = None;
        assert_eq!(picture.cells(0.5, &all, &all).unwrap().shift(), 2);
        assert_eq!(picture.cells(1e9, &all, &all).unwrap().shift(), 14, "one cell");
    }
}
