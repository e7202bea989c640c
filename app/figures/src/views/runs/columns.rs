//! The columns of the table of runs.

use std::cmp::Ordering;

use sparsescope_core::record::{Figures, Predicted};

use crate::model::{Model, RunOf, count, joules, seconds, significant, small};

/// The content of a cell, for sorting and display.
pub enum Cell {
    Text(String),
    Number(Option<f64>, fn(f64) -> String),
}

pub struct Column {
    pub id: &'static str,
    pub title: &'static str,
    pub width: f32,
    pub explain: &'static str,
    /// Aligned at decimal points.
    pub number: bool,
    pub cell: fn(&RunOf<'_>) -> Cell,
}

pub const COLUMNS: [Column; 27] = [
    Column {
        id: "matrix",
        title: "Matrix",
        width: 165.0,
        explain: "Matrix or other input of the run",
        number: false,
        cell: |run| Cell::Text(run.name()),
    },
    Column {
        id: "kernel",
        title: "Kernel",
        width: 180.0,
        explain: "Kernel id: device or vendor, format, mapping",
        number: false,
        cell: |run| Cell::Text(run.run.kernel.clone()),
    },
    Column {
        id: "runs_kernel",
        title: "Chosen kernel",
        width: 150.0,
        explain: "The kernel that an auto kernel chose",
        number: false,
        cell: |run| {
            let choice = run.run.costs.choice.as_ref();
            Cell::Text(choice.map_or_else(String::new, |choice| choice.words()))
        },
    },
    Column {
        id: "bundle",
        title: "Bundle",
        width: 110.0,
        explain: "Bundle that holds the run",
        number: false,
        cell: |run| Cell::Text(run.bundle.label().into()),
    },
    Column {
        id: "method",
        title: "Preconditioner",
        width: 130.0,
        explain: "Preconditioner of the solver",
        number: false,
        cell: |run| Cell::Text(run.solved().map_or_else(String::new, |_| run.method())),
    },
    Column {
        id: "setting",
        title: "Setting",
        width: 110.0,
        explain: "Threads, threads per block, format parameters, precision unless f64",
        number: false,
        cell: |run| Cell::Text(run.setting_beside_method()),
    },
    Column {
        id: "caches",
        title: "Caches",
        width: 76.0,
        explain: "Warm: as left by the previous execution; flushed: before each sample",
        number: false,
        cell: |run| Cell::Text(if run.run.hot { "warm" } else { "flushed" }.into()),
    },
    Column {
        id: "threads",
        title: "Threads",
        width: 76.0,
        explain: "Threads requested",
        number: true,
        cell: |run| Cell::Number(Some(f64::from(run.run.threads)), |value| value.to_string()),
    },
    Column {
        id: "gflops",
        title: "GFLOPS",
        width: 80.0,
        explain: "Rate of the operation, from the median time",
        number: true,
        cell: |run| Cell::Number(run.rate(), significant),
    },
    Column {
        id: "gbs",
        title: "GB/s",
        width: 68.0,
        explain: "Minimum bytes moved per second / 10⁹",
        number: true,
        cell: |run| Cell::Number(run.gbs(), significant),
    },
    Column {
        id: "predicted_gbs",
        title: "Moved GB/s",
        width: 100.0,
        explain: "Bytes predicted to be moved per second / 10⁹, from the median time",
        number: true,
        cell: |run| {
            let median = run.run.figures.as_ref().map(|figures| figures.median_s);
            let rate = median.zip(run.predicted_bytes()).map(|(s, bytes)| bytes / s / 1e9);
            Cell::Number(rate, significant)
        },
    },
    Column {
        id: "pct_useful",
        title: "% useful",
        width: 82.0,
        explain: "Bytes requested, as a percentage of the bytes predicted to be moved",
        number: true,
        cell: |run| {
            let share = predicted(run).and_then(Predicted::efficiency);
            Cell::Number(share.map(|share| share * 100.0), significant)
        },
    },
    Column {
        id: "load_sectors",
        title: "Sectors",
        width: 80.0,
        explain: "Predicted 32-byte sectors requested by loads, including cache hits",
        number: true,
        cell: |run| {
            let sectors = predicted(run).and_then(|predicted| predicted.load_sectors);
            Cell::Number(sectors.map(|sectors| sectors as f64), |value| count(value as u64))
        },
    },
    Column {
        id: "pct_copy",
        title: "% of copy",
        width: 76.0,
        explain: "GB/s as a percentage of the copy bandwidth with the same number of threads",
        number: true,
        cell: |run| Cell::Number(run.pct_copy(), significant),
    },
    Column {
        id: "iterations",
        title: "Iterations",
        width: 88.0,
        explain: "Solver iterations",
        number: true,
        cell: |run| {
            let iterations = run.solved().map(|solve| solve.iterations as f64);
            Cell::Number(iterations, |value| value.to_string())
        },
    },
    Column {
        id: "set_up_s",
        title: "Setup",
        width: 84.0,
        explain: "One-time cost of the preconditioner and of converting A into its format",
        number: true,
        cell: |run| Cell::Number(run.set_up_s(), seconds),
    },
    Column {
        id: "true_residual",
        title: "True residual",
        width: 108.0,
        explain: "Norm of b − Ax over the norm of b, computed from the solution",
        number: true,
        cell: |run| Cell::Number(run.solved().and_then(|solve| solve.true_residual), small),
    },
    Column {
        id: "condition",
        title: "κ ≥",
        width: 76.0,
        explain: "Estimated condition number of the preconditioned matrix: largest over smallest Ritz value",
        number: true,
        cell: |run| {
            let spectrum = run.solved().and_then(|solve| solve.spectrum);
            Cell::Number(spectrum.map(|spectrum| spectrum.condition), significant)
        },
    },
    Column {
        id: "density",
        title: "nnz G/A",
        width: 76.0,
        explain: "Nonzeros of the factor G per nonzero of A",
        number: true,
        cell: |run| Cell::Number(run.density(), significant),
    },
    Column {
        id: "speedup",
        title: "Speed-up",
        width: 84.0,
        explain: "Median time of the serial reference over this median",
        number: true,
        cell: |run| figure(run, |figures| figures.speedup, significant),
    },
    Column {
        id: "median_s",
        title: "Median",
        width: 84.0,
        explain: "Median time of one execution",
        number: true,
        cell: |run| figure(run, |figures| Some(figures.median_s), seconds),
    },
    Column {
        id: "joules",
        title: "Energy",
        width: 84.0,
        explain: "Measured energy of one execution, idle power included",
        number: true,
        cell: |run| Cell::Number(run.run.energy.as_ref().map(|energy| energy.joules), joules),
    },
    Column {
        id: "gflops_per_watt",
        title: "GFLOPS/W",
        width: 88.0,
        explain: "Floating-point operations per joule / 10⁹",
        number: true,
        cell: |run| Cell::Number(run.run.gflops_per_watt(), significant),
    },
    Column {
        id: "check",
        title: "Check",
        width: 96.0,
        explain: "Result of the check against the reference, or of the solve; imported: from another program, not checked by Sparsescope",
        number: false,
        cell: |run| Cell::Text(ended(run).into()),
    },
    Column {
        id: "worst",
        title: "Worst row",
        width: 92.0,
        explain: "Largest error of a row relative to its bound; up to 1 passes",
        number: true,
        cell: |run| Cell::Number(run.run.check.worst, significant),
    },
    Column {
        id: "rel_err",
        title: "Error",
        width: 92.0,
        explain: "Relative error: norm of the difference from the reference over the norm of the reference",
        number: true,
        cell: |run| Cell::Number(run.run.check.rel_err, small),
    },
    Column {
        id: "s_paper",
        title: "s",
        width: 76.0,
        explain: "s of the CSR/HLL report by Martorelli and Cortese: sum of the differences of at least 1e-10 from the reference, divided by the number of rows",
        number: true,
        cell: |run| Cell::Number(run.run.check.s_paper, small),
    },
];

/// Columns in the order in which they leave a narrow table, the last one first; others leave before
/// these.
const IMPORTANCE: [&str; 15] = [
    "matrix",
    "kernel",
    "gflops",
    "median_s",
    "check",
    "joules",
    "method",
    "setting",
    "speedup",
    "pct_copy",
    "bundle",
    "runs_kernel",
    "gbs",
    "iterations",
    "set_up_s",
];

/// The columns that fit side by side into this width, given the smallest width of each: the most
/// important ones, at least one, in their order.
pub fn fitting(
    columns: &[&'static Column],
    room: f32,
    least: impl Fn(&Column) -> f32,
) -> Vec<&'static Column> {
    let place = |column: &Column| {
        IMPORTANCE.iter().position(|id| *id == column.id).unwrap_or(IMPORTANCE.len())
    };
    let mut shown = columns.to_vec();
    while shown.len() > 1 && shown.iter().map(|column| least(column)).sum::<f32>() > room {
        // Of equals `max_by_key` returns the last.
        let last = shown.iter().enumerate().max_by_key(|(_, column)| place(column));
        let Some((last, _)) = last else { break };
        shown.remove(last);
    }
    shown
}

/// Columns that are shown by default.
const USUAL: [&str; 21] = [
    "matrix",
    "kernel",
    "runs_kernel",
    "method",
    "bundle",
    "setting",
    "caches",
    "gflops",
    "gbs",
    "pct_copy",
    "iterations",
    "set_up_s",
    "true_residual",
    "condition",
    "density",
    "speedup",
    "median_s",
    "joules",
    "gflops_per_watt",
    "check",
    "rel_err",
];

/// Columns that are omitted by default if they are empty for all runs.
const SOME: [&str; 12] = [
    "method",
    "setting",
    "gbs",
    "pct_copy",
    "rel_err",
    "iterations",
    "set_up_s",
    "true_residual",
    "condition",
    "density",
    "joules",
    "gflops_per_watt",
];

fn predicted<'a>(run: &RunOf<'a>) -> Option<&'a Predicted> {
    run.run.costs.predicted.as_ref()
}

/// The result of its check; for a solve that passed it or gave up, how the solve ended.
fn ended<'a>(run: &RunOf<'a>) -> &'a str {
    match run.solved() {
        Some(solve) if run.figures().is_some() || !solve.converged => &solve.ended,
        _ => run.verdict(),
    }
}

fn figure(run: &RunOf<'_>, pick: fn(&Figures) -> Option<f64>, text: fn(f64) -> String) -> Cell {
    Cell::Number(run.run.figures.as_ref().and_then(pick), text)
}

/// A number as text, split before its decimal point, or after its last digit if it has none.
pub fn at_point(text: &str) -> (&str, &str) {
    let starts = |place: &usize| text.get(..*place).is_some_and(|head| head.contains(is_digit));
    let ends = text.char_indices().find(|(place, letter)| starts(place) && !is_digit(*letter));
    text.split_at(ends.map_or(text.len(), |(place, _)| place))
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

impl Cell {
    /// The text displayed; a dash for an empty cell.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(Some(value), text) => text(*value),
            Self::Number(None, _) => "–".into(),
        }
    }

    /// Empty cells come first.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one, _), Self::Number(other, _)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
        .unwrap_or(Ordering::Equal)
    }
}

/// The selected columns; by default those with information: not the bundle if there is only one, the
/// chosen kernel only if most runs have one, and no columns that are empty for all runs.
pub fn columns(model: &Model, runs: &[RunOf<'_>], chosen: &str) -> Vec<&'static Column> {
    let named = |column: &&Column| chosen.split(',').any(|id| id == column.id);
    let found: Vec<&Column> = COLUMNS.iter().filter(named).collect();
    if !found.is_empty() {
        return found;
    }
    let several = model.bundles().len() > 1;
    let any = |column: &Column| {
        runs.iter().any(|run| match (column.cell)(run) {
            Cell::Text(text) => !text.is_empty(),
            Cell::Number(value, _) => value.is_some(),
        })
    };
    let choosing = || runs.iter().filter(|run| run.run.costs.choice.is_some()).count();
    let worth = |column: &&Column| match column.id {
        "bundle" => several,
        "caches" => runs.iter().any(|run| !run.run.hot),
        // The names of kernels need the space more than a column that is mostly empty.
        "runs_kernel" => 2 * choosing() > runs.len(),
        // The rate of a solve is its time.
        "median_s" => runs.iter().any(|run| run.solved().is_none()),
        id => USUAL.contains(&id) && (!SOME.contains(&id) || any(column)),
    };
    COLUMNS.iter().filter(worth).collect()
}
