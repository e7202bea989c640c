//! The setup of a factorised sparse approximate inverse of a matrix, recorded for pictures: the
//! intermediate patterns, the merged rows, and the factor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sparsescope_core::dense::{Factored, Packed};
use sparsescope_core::fsai::{
    Fsai, FsaiError, FsaiParameters, Merging, Pattern, PatternRule, dense_system, pattern_of,
    prefiltered,
};
use sparsescope_core::matrix::{Csr, Statistics};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::check_spd;

use crate::model::count;
use crate::state::{FsaiState, PatternWord};
use crate::trial::Trials;

#[cfg(test)]
pub(crate) mod brute;

/// Maximum number of rows, of nonzeros of a pattern, and of multiplications in all dense systems,
/// for a picture.
const MOST_ROWS: usize = 20_000;
const MOST_ENTRIES: usize = 1 << 20;
const MOST_WORK: f64 = 3e8;
/// Maximum number of nonzeros visited to compute a power of a pattern.
const MOST_REACH: usize = 3 << 24;

/// The setup parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    pub(crate) rule: PatternWord,
    pub(crate) power: u32,
    pub(crate) prefilter: f64,
    pub(crate) postfilter: f64,
    pub(crate) merge: Option<f64>,
}

impl Asked {
    /// The same for the core: without a postfilter, up to a power.
    fn parameters(&self, power: u32) -> FsaiParameters {
        let pattern = match self.rule {
            PatternWord::Recursive => PatternRule::Recursive { power },
            PatternWord::Power => PatternRule::Power { power },
            PatternWord::Adaptive => PatternRule::adaptive(),
        };
        let merge = self.merge.map(Merging::new);
        FsaiParameters { pattern, prefilter: self.prefilter, merge, ..FsaiParameters::default() }
    }

    pub(crate) fn of(state: &FsaiState) -> Self {
        let FsaiState { rule, power, prefilter, postfilter, merge, .. } = *state;
        Self { rule, power, prefilter, postfilter, merge }
    }
}

/// The stage at which a position enters the pattern, from A to G.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// In A; removed by the prefilter.
    Left,
    /// In Ã, but not in the pattern: above the diagonal, or not selected.
    Filtered,
    /// In Ã and in the pattern.
    Kept,
    /// In the pattern but not in Ã: from its second power, or selected.
    Second,
    /// From its third power.
    Third,
    /// Added by merging.
    Merged,
}

/// A nonzero of A, of the pattern, or of G.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) col: u32,
    pub(crate) part: Part,
    /// In A.
    pub(crate) in_a: bool,
    /// In Ã.
    pub(crate) in_filtered: bool,
    /// The postfilter drops it.
    pub(crate) dropped: bool,
}

/// The dense systems of a setup.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Systems {
    pub(crate) count: usize,
    pub(crate) largest: usize,
    /// Sum of the cubes of their sizes.
    pub(crate) work: f64,
}

impl Systems {
    fn of(set_up: &Fsai) -> Self {
        let report = set_up.report();
        Self {
            count: report.systems as usize,
            largest: report.largest as usize,
            work: 3.0 * report.flops,
        }
    }
}

/// Numbers of nonzeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) matrix: usize,
    pub(crate) filtered: usize,
    pub(crate) pattern: usize,
    /// In G before the postfilter.
    pub(crate) before: usize,
    pub(crate) factor: usize,
    /// By part, in the order of [`Part`].
    pub(crate) parts: [usize; 6],
}

impl Counts {
    /// Nonzeros of a part.
    pub(crate) fn of(&self, part: Part) -> usize {
        self.parts.get(part as usize).copied().unwrap_or(0)
    }
}

/// A setup to draw.
#[derive(Debug)]
pub struct SetUp {
    pub(crate) a: Arc<Csr<f64>>,
    pub(crate) asked: Asked,
    /// G.
    pub(crate) g: Arc<Csr>,
    row_ptr: Vec<usize>,
    cells: Vec<Cell>,
    /// The group of each row; a group of its own if nothing is merged.
    pub(crate) groups: Vec<u32>,
    pub(crate) counts: Counts,
    /// Systems without merging, and with it.
    pub(crate) alone: Systems,
    pub(crate) merged: Systems,
    trials: OnceLock<Option<Trials>>,
}

/// One row's dense system.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// Its number.
    pub row: u32,
    /// Its pattern P, ascending; the row itself is the last.
    pub(crate) p: Vec<u32>,
    /// A[P,P], row by row.
    pub(crate) system: Vec<f64>,
    /// The solution of A[P,P] g = e.
    pub(crate) solution: Vec<f64>,
    /// The row of G; `None` where the postfilter drops a value.
    pub(crate) factor: Vec<Option<f64>>,
}

impl SetUp {
    /// The setup for a matrix, or a clause that says why there is none.
    pub(crate) fn new(a: Arc<Csr<f64>>, asked: Asked) -> Result<Self, String> {
        check(&a)?;
        let found = found(&a, asked).map_err(|error| error.to_string())?;
        let Found { kept, powers, alone, before, after } = found.ok_or_else(too_much)?;
        let before = before.as_ref().unwrap_or(&alone);
        let g = Arc::clone(after.as_ref().unwrap_or(before).g());
        let mut counts = Counts {
            matrix: a.nnz(),
            filtered: kept.entries(),
            pattern: alone.g().nnz(),
            before: before.g().nnz(),
            factor: g.nnz(),
            parts: [0; 6],
        };
        let (mut row_ptr, mut cells) = (vec![0], Vec::new());
        for i in 0..a.rows() {
            let powers: Vec<&[u32]> = powers.iter().map(|pattern| pattern.row(i)).collect();
            cells.extend(row_cells(
                a.row(i).0,
                kept.row(i),
                &powers,
                before.g().row(i).0,
                g.row(i).0,
            ));
            row_ptr.push(cells.len());
        }
        for cell in &cells {
            if let Some(count) = counts.parts.get_mut(cell.part as usize) {
                *count += 1;
            }
        }
        let (groups, merged) = (before.systems_of_rows(), Systems::of(before));
        let alone = Systems::of(&alone);
        Ok(Self {
            a,
            asked,
            g,
            row_ptr,
            cells,
            groups,
            counts,
            alone,
            merged,
            trials: OnceLock::new(),
        })
    }

    /// How well G works, tried on first use; `None` if that would take too long.
    pub(crate) fn trials(&self) -> Option<&Trials> {
        self.trials.get_or_init(|| Trials::new(&self.a, &self.g)).as_ref()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.a.rows()
    }

    /// The nonzeros of a row, ascending.
    pub(crate) fn row(&self, i: usize) -> &[Cell] {
        let end = self.row_ptr.get(i + 1).copied().unwrap_or(0);
        let start = self.row_ptr.get(i).copied().unwrap_or(end);
        self.cells.get(start..end).unwrap_or_default()
    }

    /// A nonzero, if there is one.
    pub(crate) fn cell(&self, i: usize, j: u32) -> Option<&Cell> {
        let row = self.row(i);
        row.binary_search_by_key(&j, |cell| cell.col).ok().and_then(|place| row.get(place))
    }

    /// The system of a row.
    pub(crate) fn gathered(&self, i: u32) -> Option<Gathered> {
        let in_pattern = |cell: &&Cell| cell.part >= Part::Kept;
        let p: Vec<u32> = self.row(i as usize).iter().filter(in_pattern).map(|c| c.col).collect();
        if p.last() != Some(&i) {
            return None;
        }
        let system = dense_system(&self.a, &p);
        let solution = last_of_inverse(&system, p.len())?;
        let (col, val) = self.g.row(i as usize);
        let of = |j: &u32| col.binary_search(j).ok().and_then(|place| val.get(place).copied());
        let factor = p.iter().map(of).collect();
        Some(Gathered { row: i, p, system, solution, factor })
    }
}

/// The last column of the inverse of a row-major m × m matrix; `None` if it is not positive
/// definite.
fn last_of_inverse(system: &[f64], m: usize) -> Option<Vec<f64>> {
    let mut packed = Packed::new();
    packed.clear(m);
    for (i, row) in system.chunks(m).enumerate() {
        for (j, &value) in row.iter().enumerate().take(i + 1) {
            *packed.row_mut(i).get_mut(Packed::column(j))? = value;
        }
    }
    if packed.factor(&|| false) != Factored::Whole {
        return None;
    }
    let normalised = packed.normalised_row(m.checked_sub(1)?);
    let last = normalised.last().copied()?;
    Some(normalised.iter().map(|value| value * last).collect())
}

/// The core's results for a picture.
struct Found {
    kept: Pattern,
    powers: Vec<Pattern>,
    /// Without merging and without a postfilter.
    alone: Fsai,
    /// With merging.
    before: Option<Fsai>,
    /// With the postfilter.
    after: Option<Fsai>,
}

/// Computes everything that is drawn; `None` if it would take too long.
fn found(a: &Csr<f64>, asked: Asked) -> Result<Option<Found>, FsaiError> {
    let (limit, never) = (MemoryLimit::of_machine(), || false);
    let Some(kept) = prefiltered(a, asked.prefilter, limit, &never)? else { return Ok(None) };
    let mut powers: Vec<Pattern> = Vec::new();
    let most = if asked.rule == PatternWord::Adaptive { 1 } else { asked.power };
    for power in 1..=most {
        // The number of nonzeros that the next power visits, which bounds its size.
        let lengths = |row: &[u32]| row.iter().map(|&j| kept.row(j as usize).len()).sum::<usize>();
        let reach: usize =
            powers.last().map_or(0, |last| (0..a.rows()).map(|i| lengths(last.row(i))).sum());
        if reach > MOST_REACH {
            return Ok(None);
        }
        let Some(pattern) = pattern_of(a, &asked.parameters(power), limit, &never)? else {
            return Ok(None);
        };
        let cube = |i: usize| (pattern.row(i).len() as f64).powi(3);
        if pattern.entries() > MOST_ENTRIES || (0..a.rows()).map(cube).sum::<f64>() > MOST_WORK {
            return Ok(None);
        }
        powers.push(pattern);
    }
    let set_up = |parameters: &FsaiParameters| Fsai::set_up(a, parameters, limit, &never);
    let merged = asked.parameters(asked.power);
    let Some(alone) = set_up(&FsaiParameters { merge: None, ..merged.clone() })? else {
        return Ok(None);
    };
    let before = if asked.merge.is_some() { set_up(&merged)? } else { None };
    let filtered = FsaiParameters { postfilter: asked.postfilter, ..merged };
    let after = if asked.postfilter > 0.0 { set_up(&filtered)? } else { None };
    Ok(Some(Found { kept, powers, alone, before, after }))
}

const TOO_LARGE: &str = "its pattern is too large to draw: choose a smaller power or a larger δ";

fn too_much() -> String {
    TOO_LARGE.into()
}

/// Returns whether this is why there is no setup: its pattern is too large.
pub(crate) fn is_too_large(why: &str) -> bool {
    why == TOO_LARGE
}

/// Returns whether a matrix may have a setup, by what a bundle records of it.
pub(crate) fn may_have(of: &Statistics) -> bool {
    of.rows == of.cols
        && of.rows > 0
        && check_size(of.rows, of.nnz).is_ok()
        && of.numerical_symmetry.is_none_or(|share| share >= 1.0)
}

/// The stages of the nonzeros of a row.
fn row_cells(
    of_a: &[u32],
    kept: &[u32],
    powers: &[&[u32]],
    before: &[u32],
    g: &[u32],
) -> Vec<Cell> {
    let has = |of: &[u32], j: u32| of.binary_search(&j).is_ok();
    let mut all: Vec<u32> = of_a.iter().chain(before).copied().collect();
    all.sort_unstable();
    all.dedup();
    let cell = |col: u32| {
        let power = powers.iter().position(|power| has(power, col));
        let part = match (has(before, col), has(kept, col), power) {
            (false, false, _) => Part::Left,
            (false, true, _) => Part::Filtered,
            (true, true, Some(_)) => Part::Kept,
            (true, _, None) => Part::Merged,
            (true, false, Some(0 | 1)) => Part::Second,
            (true, false, Some(_)) => Part::Third,
        };
        let dropped = part >= Part::Kept && !has(g, col);
        Cell { col, part, in_a: has(of_a, col), in_filtered: has(kept, col), dropped }
    };
    all.into_iter().map(cell).collect()
}

/// Checks that a setup is possible and not too large.
fn check(a: &Csr<f64>) -> Result<(), String> {
    let (rows, nnz) = (a.rows(), a.nnz());
    if rows == 0 {
        return Err("it has no rows".into());
    }
    check_size(rows as u64, nnz as u64)?;
    check_spd(a).map_err(|why| why.to_string())
}

/// Checks that a setup is not too large.
pub(crate) fn check_size(rows: u64, nnz: u64) -> Result<(), String> {
    if rows > MOST_ROWS as u64 || nnz > MOST_ENTRIES as u64 {
        let [rows, nnz, most_rows, most] =
            [rows, nnz, MOST_ROWS as u64, MOST_ENTRIES as u64].map(count);
        return Err(format!(
            "it has {rows} rows and {nnz} nonzeros, more than the limit of {most_rows} rows or \
             {most} nonzeros for drawing the setup"
        ));
    }
    Ok(())
}

/// A setup that is computed once, on a thread if it takes long.
#[derive(Debug, Default)]
pub struct Soon {
    found: OnceLock<Result<SetUp, String>>,
    is_begun: AtomicBool,
}

/// Up to this many nonzeros a setup is computed on the UI thread.
const AT_ONCE: usize = 20_000;

impl Soon {
    /// The setup, or a clause that says why there is none; `None` while it is being computed. With
    /// `wait` it is computed immediately.
    pub fn get(
        self: &Arc<Self>,
        a: &Arc<Csr<f64>>,
        asked: Asked,
        wait: bool,
    ) -> Option<&Result<SetUp, String>> {
        let find = move |soon: &Self, a: &Arc<Csr<f64>>| {
            let found = soon.found.get_or_init(|| SetUp::new(a.clone(), asked));
            if let Ok(set_up) = found {
                set_up.trials(); // shown next to it
            }
        };
        if wait || cfg!(target_family = "wasm") || a.nnz() < AT_ONCE {
            find(self, a);
        } else if !self.is_begun.swap(true, Ordering::Relaxed) {
            let (soon, of) = (self.clone(), a.clone());
            let work = move || find(&soon, &of);
            if std::thread::Builder::new().name("set-up".into()).spawn(work).is_err() {
                find(self, a);
            }
        }
        self.found.get()
    }
}
