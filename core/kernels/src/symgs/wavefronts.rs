//! How a sweep advances over a matrix: the width of every level and colour, and the rows in them, at the
//! resolution of a picture. A bundle stores it in two files: `levels.json` is the header, `levels.bin` the
//! data.
//!
//! `levels.bin` is a sequence of unsigned LEB128 integers: the widths of the levels of the ascending sweep,
//! of the descending sweep, and of the colours; the critical paths of the two sweeps; then for each of the
//! three the level or colour at every place: of its row, or for several rows the minimum, the median minus
//! the minimum, and the maximum minus the median. Each sequence is stored as differences between consecutive
//! numbers, run-length encoded: the difference d as 2d or −2d − 1, then the number of repetitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::levels::{Direction, Levels};
use super::{Coloring, OperandError, RowGroups};
use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::packed::{self, put, take};

/// Maximum number of places in a picture.
const MOST_PLACES: usize = 1 << 20;

/// Maximum number of levels stored in files: a sweep with more of them is a chain.
const MOST_LEVELS: usize = 1 << 22;

const HEADER: &str = "levels.json";
const CONTENT: &str = "levels.bin";

/// The levels of both sweeps and the colours of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wavefronts {
    /// Rows of the matrix.
    pub rows: usize,
    /// A place covers 2^shift rows.
    pub shift: u32,
    /// Levels of the ascending sweep.
    pub forward: Wavefront,
    /// Levels of the descending sweep.
    pub backward: Wavefront,
    /// Colours of A + Aᵀ, first fit.
    pub colors: Wavefront,
}

/// The levels of one sweep, or the colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wavefront {
    /// Rows of each level.
    pub widths: Vec<u32>,
    /// One row per level, each except the first waiting for the previous one; empty for colours.
    pub path: Vec<u32>,
    /// Minimum, median and maximum level of the rows of each place.
    pub places: Vec<[u32; 3]>,
}

/// Why the levels in a bundle cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WavefrontsError {
    /// One of the two files is missing.
    #[error("the picture of the dependency levels has no file {0}")]
    Missing(&'static str),
    /// `levels.json` is malformed.
    #[error("invalid levels.json: {0}")]
    Header(String),
    /// `levels.bin` does not match `levels.json`.
    #[error("levels.bin does not match levels.json: {0}")]
    Content(&'static str),
}

/// `levels.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    rows: u64,
    shift: u32,
    forward_levels: u64,
    backward_levels: u64,
    colors: u64,
}

/// Groups of rows with a critical path through them.
struct Found {
    groups: RowGroups,
    path: Vec<u32>,
}

/// The groups of a matrix, at any resolution.
struct AllFound {
    rows: usize,
    found: [Found; 3],
}

impl Wavefronts {
    /// Computes the wavefronts of a square matrix, with one place per row up to 2^20 rows. Fails before
    /// allocating if that needs more than `limit`.
    pub fn of<T: Real>(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, OperandError> {
        let found = AllFound::of(a, limit)?;
        Ok(found.at(found.finest()))
    }

    /// The files of a bundle for a square matrix, at the finest resolution whose places stay within `budget`
    /// bytes once deflated (one place if none does). No files for a budget of 0, or if a sweep has more than
    /// 2^22 levels. Fails before allocating if computing them needs more than `limit`.
    pub fn files_of<T: Real>(
        a: &Csr<T>,
        budget: u64,
        limit: MemoryLimit,
    ) -> Result<BTreeMap<String, Vec<u8>>, OperandError> {
        if budget == 0 {
            return Ok(BTreeMap::new());
        }
        let found = AllFound::of(a, limit)?;
        if found.found.iter().any(|found| found.groups.len() > MOST_LEVELS) {
            return Ok(BTreeMap::new());
        }
        let mut shift = found.finest();
        loop {
            let fronts = found.at(shift);
            let mut places = Vec::new();
            fronts.encode_places(&mut places);
            if packed::fits(&places, budget) || fronts.forward.places.len() <= 1 {
                return Ok(fronts.files(&places));
            }
            shift += 1;
        }
    }

    fn files(&self, places: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let [forward_levels, backward_levels, colors] =
            self.all().map(|front| front.widths.len() as u64);
        let rows = self.rows as u64;
        let header = Header { rows, shift: self.shift, forward_levels, backward_levels, colors };
        let mut content = Vec::new();
        self.all().iter().for_each(|front| encode(&mut content, front.widths.iter().copied()));
        for front in [&self.forward, &self.backward] {
            encode(&mut content, front.path.iter().copied());
        }
        content.extend(places);
        let header = serde_json::to_vec_pretty(&header).expect("integers are JSON"); // invariant
        BTreeMap::from([(HEADER.to_owned(), header), (CONTENT.to_owned(), content)])
    }

    fn encode_places(&self, out: &mut Vec<u8>) {
        for front in self.all() {
            let places = front.places.iter();
            encode(out, places.clone().map(|&[least, _, _]| least));
            if self.shift > 0 {
                encode(out, places.clone().map(|&[least, median, _]| median - least));
                encode(out, places.map(|&[_, median, greatest]| greatest - median));
            }
        }
    }

    /// Reads what [`files_of`](Self::files_of) wrote; `None` if both files are absent. The files are
    /// untrusted: everything in them is checked, and sizes before allocating.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<Option<Self>, WavefrontsError> {
        let (header, mut bytes) = match (files.get(HEADER), files.get(CONTENT)) {
            (None, None) => return Ok(None),
            (None, _) => return Err(WavefrontsError::Missing(HEADER)),
            (_, None) => return Err(WavefrontsError::Missing(CONTENT)),
            (Some(header), Some(content)) => (header, content.as_slice()),
        };
        let header: Header = serde_json::from_slice(header)
            .map_err(|error| WavefrontsError::Header(error.to_string()))?;
        let wrong = |what: &str| Err(WavefrontsError::Header(what.to_owned()));
        let size = |n: u64| usize::try_from(n).ok().filter(|_| n <= u64::from(u32::MAX));
        let Some(rows) = size(header.rows) else {
            return wrong("the matrix is too large");
        };
        let places = match header.shift {
            shift @ 0..=32 => header.rows.div_ceil(1 << shift) as usize,
            _ => return wrong("a bin represents more rows than a matrix can have"),
        };
        if places > MOST_PLACES {
            return wrong("more bins than a picture may have");
        }
        let levels = [header.forward_levels, header.backward_levels, header.colors];
        if levels.iter().any(|&levels| levels > header.rows || levels > MOST_LEVELS as u64) {
            return wrong("more levels than rows, or than a file may have");
        }
        let levels = levels.map(|levels| levels as usize);
        let bytes = &mut bytes;
        let mut fronts = [Wavefront::default(), Wavefront::default(), Wavefront::default()];
        for (front, levels) in fronts.iter_mut().zip(levels) {
            front.widths = decode(bytes, levels, header.rows)?;
            let sum: u64 = front.widths.iter().map(|&width| u64::from(width)).sum();
            if sum != header.rows || front.widths.contains(&0) {
                return Err(WavefrontsError::Content("the widths do not add up to the rows"));
            }
        }
        for (front, levels) in fronts.iter_mut().zip(levels).take(2) {
            front.path = decode(bytes, levels, header.rows.saturating_sub(1))?;
        }
        for (front, levels) in fronts.iter_mut().zip(levels) {
            let most = (levels as u64).saturating_sub(1);
            let least = decode(bytes, places, most)?;
            let (mut median, mut greatest) = (least.clone(), least.clone());
            if header.shift > 0 {
                raise(&mut median, &decode(bytes, places, most)?, most)?;
                greatest.clone_from(&median);
                raise(&mut greatest, &decode(bytes, places, most)?, most)?;
            }
            let both = least.into_iter().zip(median).zip(greatest);
            front.places = both.map(|((a, b), c)| [a, b, c]).collect();
        }
        if !bytes.is_empty() {
            return Err(WavefrontsError::Content("unexpected data at the end"));
        }
        let [forward, backward, colors] = fronts;
        Ok(Some(Self { rows, shift: header.shift, forward, backward, colors }))
    }

    /// The numbers of levels of the ascending and of the descending sweep, and of colours, from
    /// `levels.json`; `None` if it is missing or unreadable.
    pub fn counts(files: &BTreeMap<String, Vec<u8>>) -> Option<[u64; 3]> {
        let header: Header = serde_json::from_slice(files.get(HEADER)?).ok()?;
        let counts = [header.forward_levels, header.backward_levels, header.colors];
        let most = header.rows;
        counts.iter().all(|count| *count <= most).then_some(counts)
    }

    /// The wavefronts of the ascending sweep, the descending sweep and the colours.
    pub fn all(&self) -> [&Wavefront; 3] {
        [&self.forward, &self.backward, &self.colors]
    }
}

impl Wavefront {
    /// The fraction of the rows of a place that are in levels before `step`, 0 to 1; for a place of several
    /// rows, interpolated from their minimum, median and maximum level.
    pub fn done(&self, place: usize, step: usize) -> f32 {
        let Some(&[least, median, greatest]) = self.places.get(place) else { return 0.0 };
        let [least, median, after] = [least, median, greatest + 1].map(|level| level as f32);
        let step = step as f32;
        if step <= least {
            0.0
        } else if step >= after {
            1.0
        } else if step <= median {
            0.5 * (step - least) / (median - least)
        } else {
            0.5 + 0.5 * (step - median) / (after - median)
        }
    }

    /// Average rows per level: the number of workers that a sweep can use.
    pub fn mean_width(&self) -> f64 {
        let rows: u64 = self.widths.iter().map(|&width| u64::from(width)).sum();
        rows as f64 / self.widths.len().max(1) as f64
    }
}

impl AllFound {
    fn of<T: Real>(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, OperandError> {
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            return Err(OperandError::NotSquare { rows, cols });
        }
        let of = |sweep| -> Result<Found, OperandError> {
            let levels = Levels::of(a, sweep, limit)?;
            Ok(Found { path: levels.critical_path(a), groups: levels.groups().clone() })
        };
        let [forward, backward] = Direction::ALL.map(of);
        let colors = Coloring::greedy(a, limit)?.groups().clone();
        Ok(Self { rows, found: [forward?, backward?, Found { groups: colors, path: Vec::new() }] })
    }

    /// Rows per place, as a power of two, at the highest resolution of a picture.
    fn finest(&self) -> u32 {
        (0..).find(|shift| self.rows.div_ceil(1 << shift) <= MOST_PLACES).unwrap_or_default()
    }

    fn at(&self, shift: u32) -> Wavefronts {
        let [forward, backward, colors] = self.found.each_ref().map(|found| Wavefront {
            widths: found.groups.widths().collect(),
            path: found.path.clone(),
            places: places(found.groups.group_of(), shift),
        });
        Wavefronts { rows: self.rows, shift, forward, backward, colors }
    }
}

/// Minimum, median and maximum of every 2^shift numbers; the lower median if their count is even.
fn places(numbers: &[u32], shift: u32) -> Vec<[u32; 3]> {
    let mut sorted = Vec::new();
    let of = |chunk: &[u32]| {
        sorted.clear();
        sorted.extend_from_slice(chunk);
        let (below, &mut median, above) = sorted.select_nth_unstable((chunk.len() - 1) / 2);
        let least = below.iter().copied().min().unwrap_or(median);
        [least, median, above.iter().copied().max().unwrap_or(median)]
    };
    numbers.chunks(1 << shift).map(of).collect()
}

/// Appends numbers as runs of equal differences.
fn encode(out: &mut Vec<u8>, numbers: impl Iterator<Item = u32>) {
    let (mut last, mut run) = (0i64, None);
    let mut end = |run: Option<(i64, u64)>| {
        if let Some((difference, times)) = run {
            put(out, ((difference << 1) ^ (difference >> 63)) as u64);
            put(out, times);
        }
    };
    for number in numbers {
        let difference = i64::from(number) - last;
        last = i64::from(number);
        run = match run {
            Some((same, times)) if same == difference => Some((same, times + 1)),
            other => {
                end(other);
                Some((difference, 1))
            }
        };
    }
    end(run);
}

/// Takes `len` numbers, none above `most`.
fn decode(bytes: &mut &[u8], len: usize, most: u64) -> Result<Vec<u32>, WavefrontsError> {
    let mut numbers = Vec::with_capacity(len);
    let mut last = 0i64;
    while numbers.len() < len {
        let code = take(bytes).map_err(WavefrontsError::Content)?;
        let times = take(bytes).map_err(WavefrontsError::Content)?;
        let difference = (code >> 1) as i64 ^ -((code & 1) as i64);
        if times == 0 || times > (len - numbers.len()) as u64 {
            return Err(WavefrontsError::Content("a run extends past the end of its array"));
        }
        for _ in 0..times {
            let next = last.checked_add(difference).and_then(|next| u32::try_from(next).ok());
            let next = next.filter(|&next| u64::from(next) <= most);
            let next = next.ok_or(WavefrontsError::Content("a number is outside the matrix"))?;
            last = i64::from(next);
            numbers.push(next);
        }
    }
    Ok(numbers)
}

/// Adds `by` to the numbers; none of the results may exceed `most`.
fn raise(numbers: &mut [u32], by: &[u32], most: u64) -> Result<(), WavefrontsError> {
    for (number, by) in numbers.iter_mut().zip(by) {
        let sum = number.checked_add(*by).filter(|&sum| u64::from(sum) <= most);
        *number = sum.ok_or(WavefrontsError::Content("a number is outside the matrix"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::symgs::tests::unsymmetric;
    use sparsescope_matrix::generate::{GeneratorSpec, generate};

    fn made(spec: &str) -> Csr {
        let spec = GeneratorSpec::parse(spec).unwrap();
        generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
    }

    fn files(a: &Csr, budget: u64) -> BTreeMap<String, Vec<u8>> {
        Wavefronts::files_of(a, budget, MemoryLimit::unlimited()).unwrap()
    }

    fn read(files: &BTreeMap<String, Vec<u8>>) -> Wavefronts {
        Wavefronts::from_files(files).unwrap().unwrap()
    }

    #[test]
    fn a_grid_of_27_points_has_its_planes_colours_and_path() {
        let fronts = Wavefronts::of(&made("stencil27?n=5"), MemoryLimit::unlimited()).unwrap();
        assert_eq!((fronts.rows, fronts.shift), (125, 0));
        assert_eq!([29, 29, 8], fronts.all().map(|front| front.widths.len()));
        let told = Wavefronts::counts(&files(&made("stencil27?n=5"), 1 << 16));
        assert_eq!((told, Wavefronts::counts(&BTreeMap::new())), (Some([29, 29, 8]), None));
        // x + 2y + 4z: one row in each of the first two levels, two in each of the next two.
        assert_eq!(fronts.forward.widths[..4], [1, 1, 2, 2]);
        assert_eq!(fronts.forward.places[7], [4; 3]);
        assert_eq!((fronts.forward.path[0], fronts.forward.path[28]), (0, 124));
        assert_eq!((fronts.backward.path[0], fronts.backward.path[28]), (124, 0));
        assert_eq!((fronts.forward.done(7, 4), fronts.forward.done(7, 5)), (0.0, 1.0));
        assert_eq!(fronts.forward.mean_width(), 125.0 / 29.0);
        assert!(fronts.colors.path.is_empty());
    }

    #[test]
    fn files_hold_all_rows_where_they_fit_and_the_finest_that_does_elsewhere() {
        let a = made("kmer?m=3000&near=20");
        let whole = Wavefronts::of(&a, MemoryLimit::unlimited()).unwrap();
        assert_eq!(read(&files(&a, u64::MAX)), whole);
        let coarse = read(&files(&a, 500));
        assert!(coarse.shift > 0 && coarse.forward.places.len() > 1);
        assert_eq!(coarse.forward.widths, whole.forward.widths);
        assert_eq!(coarse.backward.path, whole.backward.path);
        let level_of = |place: &[u32; 3]| place[0];
        let rows = whole.forward.places[..1 << coarse.shift].iter().map(level_of);
        let mut rows: Vec<u32> = rows.collect();
        rows.sort_unstable();
        let (first, n) = (coarse.forward.places[0], rows.len());
        assert_eq!(first, [rows[0], rows[(n - 1) / 2], rows[n - 1]]);
        assert_eq!(coarse.forward.done(0, first[0] as usize), 0.0);
        assert_eq!(coarse.forward.done(0, first[1] as usize), 0.5);
        assert_eq!(coarse.forward.done(0, first[2] as usize + 1), 1.0);
        assert!(files(&a, 0).is_empty());
        assert_eq!(Wavefronts::from_files(&BTreeMap::new()), Ok(None));
    }

    #[test]
    fn what_is_the_same_everywhere_takes_next_to_nothing() {
        for (spec, levels) in
            [("diagonal?m=100000", 1), ("kmer?m=100000&near=1&p=1000000", 100_000)]
        {
            let files = files(&made(spec), 4000);
            // Two alternating colours are the longest.
            assert!(packed::deflated_len(&files[CONTENT]) < 4000, "{spec}");
            let fronts = read(&files);
            assert_eq!((fronts.shift, fronts.forward.widths.len()), (0, levels));
        }
        let none = Csr::from_triplets(0, 0, &[]).unwrap();
        assert_eq!(read(&files(&none, 1000)).forward, Wavefront::default());
        let wide = Csr::<f64>::from_triplets(2, 3, &[]).unwrap();
        assert!(Wavefronts::of(&wide, MemoryLimit::unlimited()).is_err());
    }

    #[test]
    fn files_that_are_cut_or_contradict_themselves_are_refused() {
        let files = files(&made("stencil7?n=6"), 200);
        for len in 0..files[CONTENT].len() {
            let mut cut = files.clone();
            cut.get_mut(CONTENT).unwrap().truncate(len);
            assert!(matches!(Wavefronts::from_files(&cut), Err(WavefrontsError::Content(_))));
        }
        let header: Header = serde_json::from_slice(&files[HEADER]).unwrap();
        let huge = u64::from(u32::MAX);
        for wrong in [
            Header { rows: u64::MAX, ..header.clone() },
            Header { rows: huge, shift: 0, ..header.clone() },
            Header { rows: huge, forward_levels: huge, shift: 20, ..header.clone() },
            Header { shift: 33, ..header.clone() },
            Header { rows: header.rows + 1, ..header.clone() },
            Header { colors: header.colors + 1, ..header.clone() },
            Header { backward_levels: 0, ..header.clone() },
        ] {
            let mut files = files.clone();
            files.insert(HEADER.to_owned(), serde_json::to_vec(&wrong).unwrap());
            assert!(Wavefronts::from_files(&files).is_err(), "{wrong:?}");
        }
        let alone = BTreeMap::from([(CONTENT.to_owned(), files[CONTENT].clone())]);
        assert_eq!(Wavefronts::from_files(&alone), Err(WavefrontsError::Missing(HEADER)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn whatever_the_matrix_it_comes_back(a in unsymmetric(), budget in 1u64..300) {
            let fronts = read(&files(&a, budget));
            prop_assert_eq!(fronts.rows, a.rows());
            let whole = Wavefronts::of(&a, MemoryLimit::unlimited()).unwrap();
            prop_assert_eq!(&fronts.forward.widths, &whole.forward.widths);
            if fronts.shift == 0 {
                prop_assert_eq!(fronts, whole);
            }
        }

        #[test]
        fn changed_bytes_never_panic(at in 0usize..10_000, with in any::<u8>()) {
            static FILES: std::sync::LazyLock<BTreeMap<String, Vec<u8>>> =
                std::sync::LazyLock::new(|| files(&made("random?m=800&row=4&dominant=1"), 900));
            let mut files = FILES.clone();
            let content = files.get_mut(CONTENT).unwrap();
            let at = at % content.len();
            content[at] = with;
            if let Ok(Some(fronts)) = Wavefronts::from_files(&files) {
                prop_assert!(fronts.forward.places.iter().all(|[a, b, c]| a <= b && b <= c));
            }
        }
    }
}
