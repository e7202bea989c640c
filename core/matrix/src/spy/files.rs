//! The pyramid and the profile as files of a bundle: `spy.json` is the header, `spy.bin` the data.
//!
//! `spy.bin` is a sequence of unsigned LEB128 integers. First come the filled cells of one level,
//! row by row: the number of empty cells since the previous filled one (in the order r·columns +
//! c), then the count. Then come the bins of the profile: shortest row, longest minus shortest,
//! nonzeros. Coarser levels are summed when the file is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pyramid::Level;
use super::{LengthBin, Pyramid, RowProfile};
use crate::packed::{self, put};

/// `spy.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpyHeader {
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of the matrix.
    pub cols: u64,
    /// Nonzeros of the matrix.
    pub entries: u64,
    /// A cell of the stored level covers 2^shift rows and columns.
    pub shift: u32,
    /// Filled cells.
    pub cells: u64,
    /// Bins of the row-length profile, each of 2^profile_shift rows.
    pub profile_bins: u64,
    /// A bin covers 2^profile_shift rows.
    pub profile_shift: u32,
}

/// Why the structure picture in a bundle cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpyError {
    /// One of the two files is missing.
    #[error("the structure picture has no file {0}")]
    Missing(&'static str),
    /// `spy.json` is malformed.
    #[error("invalid spy.json: {0}")]
    Header(String),
    /// `spy.bin` does not match `spy.json`.
    #[error("spy.bin does not match spy.json: {0}")]
    Content(&'static str),
}

const HEADER: &str = "spy.json";
const CONTENT: &str = "spy.bin";

/// The two files, with the finest level that stays within `budget` bytes once deflated, and within
/// the compression ratio that readers of bundles accept (the coarsest one if none does). No files
/// for a budget of 0.
pub fn to_files(pyramid: &Pyramid, profile: &RowProfile, budget: u64) -> BTreeMap<String, Vec<u8>> {
    if budget == 0 {
        return BTreeMap::new();
    }
    let mut chosen = None;
    for level in pyramid.levels() {
        let content = encode(level, profile);
        let fits = packed::fits(&content, budget);
        chosen = Some((level, content));
        if fits {
            break;
        }
    }
    let Some((level, content)) = chosen else { return BTreeMap::new() };
    let header = SpyHeader {
        rows: pyramid.rows() as u64,
        cols: pyramid.cols() as u64,
        entries: pyramid.entries(),
        shift: level.shift(),
        cells: level.cells().count() as u64,
        profile_bins: profile.bins.len() as u64,
        profile_shift: profile.shift,
    };
    let header = serde_json::to_vec_pretty(&header).expect("integers are JSON"); // invariant
    BTreeMap::from([(HEADER.to_owned(), header), (CONTENT.to_owned(), content)])
}

/// Reads what [`to_files`] wrote. The files are untrusted: everything in them is checked, and sizes
/// before allocating.
pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<(Pyramid, RowProfile), SpyError> {
    let (header, rows, cols) = header_of(files)?;
    let wrong = |what: &str| Err(SpyError::Header(what.to_owned()));
    if header.profile_shift != RowProfile::shift_for(rows)
        || header.profile_bins != rows.div_ceil(1 << header.profile_shift) as u64
    {
        return wrong("the bins of the profile do not cover the rows");
    }
    let mut bytes = file(files, CONTENT)?;
    let level = decode_level(&mut bytes, &header, rows, cols, 0)?;
    let profile = decode_profile(&mut bytes, &header)?;
    if !bytes.is_empty() {
        return Err(SpyError::Content("it has extra bytes at the end"));
    }
    Ok((Pyramid::from_finest(rows, cols, level), profile))
}

/// The coarsest level with at least `cells` cells (2 or more) along its longer edge, of the files that
/// [`to_files`] wrote; the stored level if that has fewer. Neither the levels between nor the profile are
/// read. The files are untrusted, as in [`from_files`].
pub fn coarse_from_files(
    files: &BTreeMap<String, Vec<u8>>,
    cells: usize,
) -> Result<Level, SpyError> {
    let (header, rows, cols) = header_of(files)?;
    let (longest, cells) = (rows.max(cols) as u64, cells.max(2) as u64);
    let is_enough = |coarser: &u32| longest.div_ceil(1 << (header.shift + coarser)) >= cells;
    let coarser = (1..=32 - header.shift).take_while(is_enough).last().unwrap_or(0);
    decode_level(&mut file(files, CONTENT)?, &header, rows, cols, coarser)
}

fn file<'a>(
    files: &'a BTreeMap<String, Vec<u8>>,
    name: &'static str,
) -> Result<&'a [u8], SpyError> {
    files.get(name).map(Vec::as_slice).ok_or(SpyError::Missing(name))
}

/// The header, and the rows and columns in it.
fn header_of(files: &BTreeMap<String, Vec<u8>>) -> Result<(SpyHeader, usize, usize), SpyError> {
    let header: SpyHeader = serde_json::from_slice(file(files, HEADER)?)
        .map_err(|error| SpyError::Header(error.to_string()))?;
    let wrong = |what: &str| Err(SpyError::Header(what.to_owned()));
    let size = |n: u64| usize::try_from(n).ok().filter(|_| n <= u64::from(u32::MAX));
    let (Some(rows), Some(cols)) = (size(header.rows), size(header.cols)) else {
        return wrong("the matrix has more than 4294967295 rows or columns");
    };
    if !(Pyramid::base_shift(rows, cols)..=32).contains(&header.shift) {
        return wrong("the level is out of range");
    }
    Ok((header, rows, cols))
}

fn encode(level: &Level, profile: &RowProfile) -> Vec<u8> {
    let mut cells: Vec<(u64, u64)> = level
        .cells()
        .map(|(row, col, count)| (row as u64 * level.cols() as u64 + col as u64, count))
        .collect();
    cells.sort_unstable();
    let mut out = Vec::new();
    let mut next = 0;
    for (place, count) in cells {
        put(&mut out, place - next);
        put(&mut out, count);
        next = place + 1;
    }
    for bin in &profile.bins {
        put(&mut out, bin.min);
        put(&mut out, bin.max - bin.min);
        put(&mut out, bin.entries);
    }
    out
}

/// Reads the stored level, and sums it up to cells 2^coarser times as large along each edge.
fn decode_level(
    bytes: &mut &[u8],
    header: &SpyHeader,
    rows: usize,
    cols: usize,
    coarser: u32,
) -> Result<Level, SpyError> {
    let stored = Level::empty(rows, cols, header.shift);
    let width = stored.cols() as u64;
    let places = stored.rows() as u64 * width;
    let mut level = match coarser {
        0 => stored,
        _ => Level::empty(rows, cols, header.shift + coarser),
    };
    let (mut next, mut entries) = (0u64, 0u64);
    for _ in 0..header.cells {
        let place = next.checked_add(number(bytes)?).filter(|&place| place < places);
        let place = place.ok_or(SpyError::Content("a cell is outside the matrix"))?;
        let count = number(bytes)?;
        let sum = entries.checked_add(count).filter(|&sum| count > 0 && sum <= header.entries);
        entries = sum.ok_or(SpyError::Content("the counts do not add up to the nonzeros"))?;
        let cell = |place: u64| (place >> coarser) as usize;
        level.add(cell(place / width), cell(place % width), count);
        next = place + 1;
    }
    if entries != header.entries {
        return Err(SpyError::Content("the counts do not add up to the nonzeros"));
    }
    Ok(level)
}

fn decode_profile(bytes: &mut &[u8], header: &SpyHeader) -> Result<RowProfile, SpyError> {
    let mut bins = Vec::new();
    let mut total = 0u64;
    for _ in 0..header.profile_bins {
        let (min, spread, entries) = (number(bytes)?, number(bytes)?, number(bytes)?);
        let max = min.checked_add(spread).filter(|&max| max <= header.cols);
        let max = max.ok_or(SpyError::Content("a row is longer than the matrix is wide"))?;
        total = total.saturating_add(entries);
        bins.push(LengthBin { min, max, entries });
    }
    if total != header.entries {
        return Err(SpyError::Content("the row lengths do not add up to the nonzeros"));
    }
    Ok(RowProfile { shift: header.profile_shift, bins })
}

fn number(bytes: &mut &[u8]) -> Result<u64, SpyError> {
    packed::take(bytes).map_err(SpyError::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;
    use crate::packed::{HIGHEST_RATIO, SMALL, deflated_len};
    use proptest::prelude::*;

    fn scattered() -> Csr {
        let t: Vec<_> = (0..30_000usize).map(|k| (k * 7 % 9001, k * k % 8009, 1.0)).collect();
        Csr::from_triplets(9001, 8009, &t).unwrap()
    }

    fn files_of(a: &Csr, budget: u64) -> BTreeMap<String, Vec<u8>> {
        to_files(&Pyramid::of(a), &RowProfile::of(a), budget)
    }

    #[test]
    fn what_is_written_within_a_large_budget_comes_back_whole() {
        let empty = |m, n| Csr::from_triplets(m, n, &[]).unwrap();
        for a in [scattered(), empty(0, 0), empty(9, 0), empty(0, 5000)] {
            let read = from_files(&files_of(&a, 1 << 20)).unwrap();
            assert_eq!(read, (Pyramid::of(&a), RowProfile::of(&a)));
        }
        assert!(files_of(&scattered(), 0).is_empty());
    }

    #[test]
    fn the_finest_level_within_the_budget_is_kept_and_coarser_ones_are_the_same() {
        let a = scattered();
        let (whole, profile) = (Pyramid::of(&a), RowProfile::of(&a));
        for budget in [40_000, 20_000, 15_000] {
            let files = files_of(&a, budget);
            let (read, _) = from_files(&files).unwrap();
            assert!(deflated_len(&files[CONTENT]) <= budget);
            let skipped = whole.levels().len() - read.levels().len();
            assert_eq!(read.levels(), &whole.levels()[skipped..]);
            if skipped > 0 {
                let finer = encode(&whole.levels()[skipped - 1], &profile);
                assert!(deflated_len(&finer) > budget, "a finer level would have fitted");
            }
        }
    }

    #[test]
    fn a_regular_pattern_stays_within_the_ratio_that_readers_accept() {
        let row: Vec<u32> = (0..1500).collect();
        let t: Vec<_> =
            (0..1500usize).flat_map(|i| row.iter().map(move |&j| (i, j as usize, 1.0))).collect();
        let a = Csr::from_triplets(1500, 1500, &t).unwrap();
        let files = files_of(&a, u64::MAX);
        let content = &files[CONTENT];
        assert!(content.len() <= SMALL || content.len() as u64 <= 100 * deflated_len(content));
        let finest = encode(&Pyramid::of(&a).levels()[0], &RowProfile::of(&a));
        let ratio = finest.len() as u64 / deflated_len(&finest);
        assert!(ratio > HIGHEST_RATIO, "the case is a real one: {ratio}");
    }

    #[test]
    fn a_coarse_level_is_that_of_the_pyramid_without_the_others() {
        let files = files_of(&scattered(), 1 << 20);
        let (whole, _) = from_files(&files).unwrap();
        let longer = |level: &Level| level.rows().max(level.cols());
        for cells in [2, 40, 100, 1000] {
            let wanted = whole.levels().iter().rev().find(|level| longer(level) >= cells).unwrap();
            assert_eq!(&coarse_from_files(&files, cells).unwrap(), wanted, "{cells} cells");
        }
        let finest = coarse_from_files(&files, 1 << 20).unwrap();
        assert_eq!(&finest, &whole.levels()[0], "no level has this number of cells");
        let mut cut = files.clone();
        cut.get_mut(CONTENT).unwrap().truncate(1000);
        assert!(coarse_from_files(&cut, 40).is_err());
    }

    #[test]
    fn files_cut_anywhere_are_refused() {
        let files = files_of(&scattered(), 1 << 20);
        let content = &files[CONTENT];
        for len in (0..content.len()).step_by(997).chain([content.len() - 1]) {
            let mut cut = files.clone();
            cut.insert(CONTENT.to_owned(), content[..len].to_vec());
            assert!(matches!(from_files(&cut), Err(SpyError::Content(_))), "{len} bytes");
        }
        let mut longer = files.clone();
        longer.get_mut(CONTENT).unwrap().push(0);
        assert!(from_files(&longer).is_err());
        let missing = BTreeMap::from([(HEADER.to_owned(), files[HEADER].clone())]);
        assert_eq!(from_files(&missing), Err(SpyError::Missing(CONTENT)));
    }

    #[test]
    fn a_header_that_contradicts_itself_is_refused_before_anything_is_allocated() {
        let a = scattered();
        let files = files_of(&a, 1 << 20);
        let header: SpyHeader = serde_json::from_slice(&files[HEADER]).unwrap();
        let huge = u64::from(u32::MAX);
        for wrong in [
            SpyHeader { rows: u64::MAX, ..header.clone() },
            SpyHeader { rows: huge, cols: huge, ..header.clone() },
            SpyHeader { shift: 0, ..header.clone() },
            SpyHeader { shift: 40, ..header.clone() },
            SpyHeader { cells: u64::MAX, ..header.clone() },
            SpyHeader { entries: header.entries + 1, ..header.clone() },
            SpyHeader { profile_bins: u64::MAX, ..header.clone() },
        ] {
            let mut files = files.clone();
            files.insert(HEADER.to_owned(), serde_json::to_vec(&wrong).unwrap());
            assert!(from_files(&files).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn changed_bytes_never_panic(at in 0usize..60_000, with in any::<u8>()) {
            static FILES: std::sync::LazyLock<BTreeMap<String, Vec<u8>>> =
                std::sync::LazyLock::new(|| files_of(&scattered(), 1 << 20));
            let mut files = FILES.clone();
            let content = files.get_mut(CONTENT).unwrap();
            let at = at % content.len();
            content[at] = with;
            if let Ok((pyramid, _)) = from_files(&files) {
                prop_assert_eq!(pyramid.levels()[0].total(), pyramid.entries());
            }
        }
    }
}
