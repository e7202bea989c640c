//! The columns of the heat map, and their horizontal places.

use super::baseline::{Against, is_vendors};
use super::board::{Board, Row};
use super::rows::lines;
use crate::figure::{strong_width, text_width};
use crate::state::ViewState;
use crate::theme::{BODY, SMALL, SPACE};

/// Side of the picture of a matrix.
pub(super) const THUMB: f32 = 40.0;

/// Kernel names longer than this take two lines; in narrow figures, whose head is higher.
const LONG: [f32; 2] = [96.0, 72.0];
/// Narrower figures leave out why the winner wins, and then the ratio to the baseline and the bundle.
const NARROW: [f32; 2] = [700.0, 520.0];
/// It is also left out if fewer cells fit beside it, unless there are fewer kernels.
const BESIDE: usize = 4;
/// Width of a cell.
pub(super) const CELL: f32 = 44.0;
/// Wider figures say what limits the winner, too.
const WIDE: f32 = 1200.0;
/// Maximum width of why the winner wins; in wide figures.
const REASON: [f32; 2] = [220.0, 270.0];

/// Width of the ratio to the baseline, at least and at most.
pub(super) const RATIO: [f32; 2] = [56.0, 100.0];

/// A kernel's column.
pub(super) struct Column<'b> {
    pub(super) kernel: &'b str,
    /// Its name, in one or two lines.
    pub(super) name: Vec<String>,
    /// On the rows that are shown.
    wins: usize,
    /// Sum of its shares there.
    sum: f64,
}

impl<'b> Column<'b> {
    fn of(board: &'b Board, rows: &[&'b Row], kernel: &'b str, width: f32) -> Self {
        let rival = |row: &'b Row| Some((row, row.runs.iter().find(|r| r.kernel == kernel)?));
        let rivals: Vec<_> = rows.iter().copied().filter_map(rival).collect();
        Self {
            kernel,
            name: in_lines(board.short(kernel), width),
            wins: rivals.iter().filter(|(row, rival)| rival.run == row.credited).count(),
            sum: rivals.iter().map(|(_, rival)| rival.share).sum(),
        }
    }
}

/// The columns: the vendors' best and the one that wins the first row, which are visible however few fit;
/// then those that win on the rows that are shown by their wins there, the others by their mean share, the
/// other vendors' last.
pub(super) fn columns<'b>(board: &'b Board, state: &ViewState, width: f32) -> Vec<Column<'b>> {
    let rows: Vec<&Row> = lines(board, state).into_iter().flatten().collect();
    let mut columns: Vec<Column<'_>> =
        board.kernels.iter().map(|kernel| Column::of(board, &rows, kernel, width)).collect();
    sparsescope_core::order::sort_by(&mut columns, |a, b| {
        let vendors = is_vendors(a.kernel).cmp(&is_vendors(b.kernel));
        vendors.then(b.wins.cmp(&a.wins)).then(b.sum.total_cmp(&a.sum))
    });
    let has_won = |column: &Column<'_>| {
        let row = rows.first()?;
        row.runs.iter().find(|run| run.run == row.credited && run.kernel == column.kernel)
    };
    if let Some(first) = columns.iter().position(|column| has_won(column).is_some()) {
        let first = columns.remove(first);
        columns.insert(0, first);
    }
    if let Some(best) = columns.iter().position(|column| is_vendors(column.kernel)) {
        let best = columns.remove(best);
        columns.insert(0, best);
    }
    columns
}

/// A name in one line, or in two if it is long, broken after the sign nearest its middle.
fn in_lines(name: &str, width: f32) -> Vec<String> {
    let [usual, narrow] = LONG;
    let long = if width < NARROW[0] { narrow } else { usual };
    if text_width(name, SMALL) <= long {
        return vec![name.to_owned()];
    }
    let breaks = name.char_indices().filter(|(_, letter)| ['/', '-', ' '].contains(letter));
    let middle = breaks.map(|(at, _)| at + 1).min_by_key(|at| at.abs_diff(name.len() / 2));
    let parts = middle.and_then(|at| name.split_at_checked(at));
    parts.map_or_else(|| vec![name.to_owned()], |(one, two)| vec![one.into(), two.into()])
}

/// Horizontal places.
pub(super) struct Places {
    pub(super) name: [f32; 2],
    /// The winner, and why it wins.
    pub(super) winner: Option<[f32; 2]>,
    /// Right end of the ratio to the baseline.
    pub(super) ratio: Option<f32>,
    /// The winner's bundle.
    pub(super) bundle: Option<[f32; 2]>,
    /// Left end of the cells.
    pub(super) cells: f32,
}

impl Places {
    pub(super) fn of(board: &Board, width: f32) -> Self {
        let [no_reason, _] = NARROW;
        let all = Self::with(board, width, true);
        let cells = CELL * board.kernels.len().min(BESIDE) as f32;
        let fits = width >= no_reason && all.cells + cells <= width;
        if fits { all } else { Self::with(board, width, false) }
    }

    /// With or without why the winner wins.
    fn with(board: &Board, width: f32, has_reason: bool) -> Self {
        let [_, no_more] = NARROW;
        let widest = |of: &dyn Fn(&Row) -> f32, least: f32, most: f32| {
            board.rows.iter().map(of).fold(least, f32::max).min(most)
        };
        let most = if has_reason { 176.0 } else { 120.0 };
        let names = widest(&|row| strong_width(board.name_of(row), BODY), 96.0, most);
        let mut x = SPACE + THUMB + SPACE;
        let name = [x, x + names];
        x = name[1];
        let winner = has_reason.then(|| {
            let [usual, wide] = REASON;
            let most = if width >= WIDE { wide } else { usual };
            let of = |row: &Row| {
                let (title, clause) = (board.short_title(&row.title), clause(row, width));
                strong_width(&title, BODY).max(text_width(&clause, SMALL))
            };
            let from = x + 2.0 * SPACE;
            [from, from + widest(&of, 96.0, most)]
        });
        x = winner.map_or(x, |[_, to]| to);
        let has_ratio = board.rows.iter().any(|row| row.gain.is_some());
        let ratio = (has_ratio && width >= no_more).then(|| {
            let of = |row: &Row| text_width(&versus(board, row), SMALL);
            x + SPACE + widest(&of, RATIO[0], RATIO[1])
        });
        x = ratio.unwrap_or(x);
        let has_bundle = board.bundles && width >= no_more;
        let bundle = has_bundle.then_some([x + 2.0 * SPACE, x + 2.0 * SPACE + 88.0]);
        x = bundle.map_or(x, |[_, to]| to);
        Self { name, winner, ratio, bundle, cells: x + 1.5 * SPACE }
    }
}

/// What a row's ratio is to.
pub(super) fn versus(board: &Board, row: &Row) -> String {
    let short = board.against.short();
    match &board.against {
        Against::Vendor(_) if is_vendors(&row.kernel) => format!("others / {short}"),
        _ => short.to_owned(),
    }
}

/// Why the winner wins, as far as there is room.
pub(super) fn clause(row: &Row, width: f32) -> String {
    let [usual, wide] = REASON;
    let room = if width >= WIDE { wide } else { usual };
    let reason = row.clause.reason.as_str();
    let whole = match width >= WIDE || reason.is_empty() {
        true => row.clause.text(),
        false => reason.to_owned(),
    };
    let short = row.clause.short_reason();
    let last = short.rsplit(": ").next().unwrap_or(short);
    let mut all = [whole.as_str(), reason, short].into_iter();
    all.find(|text| text_width(text, SMALL) <= room).unwrap_or(last).to_owned()
}
