//! The whole drawing: the matrix, and next to or below it each format's arrays or the kernels that
//! are stepped through.

use std::slice::from_ref;
use std::sync::Arc;

use emath::{Pos2, Vec2, pos2, vec2};

use super::arrays::{self, Panel};
use super::board::{Board, Flow};
use super::cells::Spot;
use super::pen::Pen;
use super::sizes::{Fit, Form, Sizes};
use super::subject::Subject;
use super::totals::totals;
use super::walk::{Kept, Machine, Walk, title};
use crate::figure::{Figure, text_width};
use crate::model::{plural, slots, value};
use crate::state::{LayoutsState, ViewState};
use crate::theme::format_color;

/// Space between the picture of the matrix and the arrays.
const MARGIN: f32 = 28.0;
/// Minimum width of the arrays next to the picture; if narrower, they go below it.
const BESIDE: f32 = 460.0;
/// The same for a kernel in a lesson.
const BESIDE_IN_LESSON: f32 = 330.0;
/// Minimum width of a kernel next to another one.
const COLUMN: f32 = 400.0;
/// The same in a lesson, where the second kernel replaces the picture of the matrix.
const COLUMN_IN_LESSON: f32 = 290.0;
/// With less space the requests are not described in text.
const WORDS: f32 = 280.0;
/// With less space the totals are not next to the picture.
const TOTALS: f32 = 170.0;
/// With less space for each, two formats or kernels are below one another.
const HALF: f32 = 150.0;
/// Width of a cell in a lesson, where arrays are short and their numbers small.
const CELL_IN_LESSON: f32 = 23.0;
/// Space between side-by-side parts if space is short.
const GUTTER: f32 = 16.0;

/// The contents for a small matrix.
pub struct Shown<'a> {
    pub(super) subject: &'a Subject,
    pub(super) layouts: &'a LayoutsState,
    /// The formats shown, if no kernel is stepped through.
    pub(super) panels: Vec<Panel>,
    /// The kernels that are stepped through.
    pub(super) walks: &'a [Kept],
}

impl<'a> Shown<'a> {
    pub fn of(subject: &'a Subject, layouts: &'a LayoutsState, walks: &'a [Kept]) -> Self {
        let panels = match walks {
            [] => arrays::panels(&Arc::new(subject.a.clone()), layouts),
            _ => Vec::new(),
        };
        Self { subject, layouts, panels, walks }
    }

    fn teaches(&self) -> bool {
        self.layouts.lesson.is_some()
    }

    /// The value of the nonzero (i, j), if there is one.
    fn value(&self, i: usize, j: usize) -> Option<String> {
        let (col, val) = self.subject.a.row(i);
        Some(value(*val.get(col.binary_search(&(j as u32)).ok()?)?))
    }

    fn sizes(&self, least: f32, fit: Fit) -> Sizes {
        if fit.form != Form::Roomy {
            let of_panels = self.panels.iter().flat_map(|panel| panel.arrays.iter());
            let of_walks = self.walks.iter().flatten().flat_map(|walk| &walk.strips);
            let strips = of_panels.flat_map(|(strips, _)| strips).chain(of_walks);
            let rows = 0..self.subject.a.rows();
            let values = rows.flat_map(|i| self.subject.a.row(i).1).map(|of| value(*of));
            return Sizes::in_lines(least, fit.form, strips, &values.collect::<Vec<_>>());
        }
        let mut sizes = Sizes::usual(least);
        if self.teaches() {
            sizes.cell.x = CELL_IN_LESSON;
        }
        sizes
    }

    /// Rows, columns and nonzeros.
    fn size_words(&self) -> String {
        let a = &self.subject.a;
        format!("{} × {}, {} nonzeros", a.rows(), a.cols(), a.nnz())
    }

    fn dense(&self, board: &mut Board, at: Pos2) -> Vec2 {
        let a = &self.subject.a;
        let value = |i: usize, j: usize| self.value(i, j);
        board.dense((a.rows(), a.cols()), self.subject.from, at, value)
    }
}

/// The figure of this width, and the areas in it that react to the pointer.
pub fn scene(shown: &Shown<'_>, state: &ViewState, width: f32, fit: Fit) -> (Figure, Vec<Spot>) {
    let ink = state.theme.ink();
    let pick = state.layouts.pick.map(|(i, j)| (i as usize, j as usize));
    let walk = shown.walks.first().and_then(|walk| walk.as_ref().ok()).cloned();
    let sizes = shown.sizes(state.theme.least_type().max(fit.least) / fit.scale, fit);
    let mut board = Board::new(Pen { ink, pick, walk, sizes }, ink.paper);
    let width = width / fit.scale;
    let size = match fit.form {
        Form::Roomy => roomy(&mut board, shown, width),
        Form::Lines | Form::Tight => in_lines(&mut board, shown, width),
    };
    board.finish(size, fit.scale)
}

/// The matrix with the arrays next to or below it; returns the size.
fn roomy(board: &mut Board, shown: &Shown<'_>, width: f32) -> Vec2 {
    let (lesson, mut y) = (shown.teaches(), 4.0);
    if let (true, [one, other]) = (lesson, &shown.panels[..]) {
        return pair(board, shown, [one, other], pos2(0.0, y), width);
    }
    if lesson && shown.walks.len() > 1 {
        return vec2(width, kernels(board, shown, pos2(0.0, y), width));
    }
    let text = board.sizes.text;
    let mut words = 0.0;
    if !lesson {
        words = text_width(&shown.subject.title, text + 2.0);
        y += board.line(pos2(0.0, y), text + 2.0, false, &shown.subject.title);
    }
    y += board.line(pos2(0.0, y), text, true, &shown.size_words());
    let dense = shown.dense(board, pos2(0.0, y));
    let side = dense.x.max(words);
    let least = if lesson && !shown.walks.is_empty() { BESIDE_IN_LESSON } else { BESIDE };
    let beside = width - side - MARGIN > least;
    let (left, top) = if beside { (side + MARGIN, 4.0) } else { (0.0, y + dense.y + MARGIN * 0.5) };
    let bottom = match shown.walks {
        [] => formats(board, shown, &shown.panels, pos2(left, top), width),
        _ => kernels(board, shown, pos2(left, top), width),
    };
    let least = left + board.sizes.names + 200.0;
    vec2(width.max(least), bottom.max(y + dense.y) + 8.0)
}

/// The matrix with the description of a kernel next to it, the arrays in lines below; returns the
/// size.
fn in_lines(board: &mut Board, shown: &Shown<'_>, width: f32) -> Vec2 {
    let mut y = 2.0;
    if let [one, other] = &shown.panels[..] {
        return pair(board, shown, [one, other], pos2(0.0, y), width);
    }
    if shown.walks.len() > 1 {
        return vec2(width, kernels(board, shown, pos2(0.0, y), width));
    }
    if !shown.teaches() {
        let words = format!("{}: {}", shown.subject.title, shown.size_words());
        y += board.line_within(pos2(0.0, y), true, &words, width);
    }
    let dense = shown.dense(board, pos2(0.0, y));
    let beside = pos2(dense.x + GUTTER, y);
    let below = y + dense.y + 2.0;
    let [Ok(walk)] = shown.walks else {
        let bottom = match shown.walks {
            [] => formats(board, shown, &shown.panels, pos2(0.0, below), width),
            _ => kernels(board, shown, pos2(0.0, below), width),
        };
        return vec2(width, bottom);
    };
    let (id, step, room) = (&shown.layouts.walk, shown.layouts.step, width - beside.x);
    let top = if room >= WORDS {
        let mut top = heading(board, walk, id, beside, room);
        top = words_of(board, walk, step, pos2(beside.x, top), room);
        below.max(top + totals(board, walk, step, pos2(beside.x, top), room) + 2.0)
    } else {
        let is_beside = room >= TOTALS;
        let height = if is_beside { totals(board, walk, step, beside, room) } else { 0.0 };
        let at = pos2(0.0, below.max(y + height + 2.0));
        let top = heading(board, walk, id, at, width);
        words_of(board, walk, step, pos2(0.0, top), width)
    };
    let bottom = strips(board, walk, id, step, pos2(0.0, top), width);
    let below = if room >= TOTALS {
        0.0
    } else {
        totals(board, walk, step, pos2(0.0, bottom + GUTTER * 0.5), width) + GUTTER * 0.5
    };
    vec2(width, bottom + below)
}

/// Two formats side by side, if there is space, which takes all of it; returns the size.
fn pair(
    board: &mut Board,
    shown: &Shown<'_>,
    [one, other]: [&Panel; 2],
    at: Pos2,
    width: f32,
) -> Vec2 {
    let half = width * 0.5;
    if half < HALF {
        return vec2(width, formats(board, shown, &shown.panels, at, width));
    }
    let left = formats(board, shown, from_ref(one), at, half - MARGIN * 0.5);
    let right = formats(board, shown, from_ref(other), pos2(half, at.y), width);
    vec2(width, left.max(right))
}

/// Indentation of arrays from the name above them.
fn indent(board: &Board) -> f32 {
    if board.sizes.is_dense() { 0.0 } else { 18.0 }
}

/// Each format's arrays, stacked; returns the bottom.
fn formats(board: &mut Board, shown: &Shown<'_>, panels: &[Panel], at: Pos2, width: f32) -> f32 {
    let (mut top, nnz) = (at.y, shown.subject.a.nnz());
    for panel in panels {
        board.swatch(pos2(at.x, top + 2.0), format_color(&panel.id));
        let words = match &panel.arrays {
            Ok((_, size)) => format!(
                "{}: {} B, {} for {} nonzeros ({} per nonzero)",
                panel.name,
                size.bytes,
                plural(size.slots, "slot"),
                nnz,
                slots(size.padding)
            ),
            Err(why) => format!("{}: {why}", panel.name),
        };
        let within = width - at.x - 18.0;
        top += board.line_within(pos2(at.x + 18.0, top), false, &words, within) + 4.0;
        let mut flow = Flow::new(pos2(at.x + indent(board), top), width);
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            board.strip(strip, &panel.name, &mut flow);
        }
        top = flow.bottom() + if board.sizes.is_dense() { 2.0 } else { 10.0 };
    }
    top
}

/// The kernels that are stepped through, one or two, side by side if there is space; returns the
/// bottom.
fn kernels(board: &mut Board, shown: &Shown<'_>, at: Pos2, width: f32) -> f32 {
    let (layouts, walks) = (shown.layouts, shown.walks);
    let ids = [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty());
    let half = (width - at.x) * 0.5;
    let least = match (board.sizes.is_dense(), shown.teaches()) {
        (true, _) => HALF,
        (false, true) => COLUMN_IN_LESSON,
        (false, false) => COLUMN,
    };
    let apart = walks.len() > 1 && half >= least;
    let mut bottom = at.y;
    for (number, (id, walk)) in ids.zip(walks).enumerate() {
        let (corner, room) = match apart {
            true => (pos2(at.x + half * number as f32, at.y), half - GUTTER * 0.5),
            false => (pos2(at.x, bottom), width - at.x),
        };
        let end = match walk {
            Ok(walk) => followed(board, walk, id, layouts.step, corner, room),
            Err(why) => corner.y + board.line_within(corner, false, &format!("{id}: {why}"), room),
        };
        bottom = bottom.max(end);
    }
    bottom
}

/// One kernel that is stepped through; returns the bottom.
fn followed(board: &mut Board, walk: &Arc<Walk>, id: &str, step: u32, at: Pos2, width: f32) -> f32 {
    let (left, right) = (at.x + indent(board), at.x + width);
    let mut top = heading(board, walk, id, at, width);
    top = words_of(board, walk, step, pos2(left, top), width - indent(board));
    top = strips(board, walk, id, step, pos2(left, top), right) + 4.0;
    top + totals(board, walk, step, pos2(left, top), right - left) + 8.0
}

/// The kernel's name and what it reads; returns the bottom.
fn heading(board: &mut Board, walk: &Arc<Walk>, id: &str, at: Pos2, width: f32) -> f32 {
    board.pen.walk = Some(walk.clone());
    board.swatch(pos2(at.x, at.y + 2.0), format_color(walk.spec.name()));
    let detail = walk.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let reads = format!("{}, reads {}{detail}", title(id), arrays::name(&walk.spec));
    at.y + board.line_within(pos2(at.x + 18.0, at.y), false, &reads, width - 18.0)
}

/// Describes the step; returns the bottom.
fn words_of(board: &mut Board, walk: &Walk, step: u32, at: Pos2, width: f32) -> f32 {
    let (mut top, moment) = (at.y, walk.moment(step));
    let lines = if width < WORDS { 1 } else { moment.words.len() };
    for (number, line) in moment.words.iter().take(lines).enumerate() {
        top += board.line_within(pos2(at.x, top), number > 0, line, width);
    }
    top + if board.sizes.is_dense() { 2.0 } else { 8.0 }
}

/// The kernel's arrays with the accesses of the step; returns the bottom.
fn strips(board: &mut Board, walk: &Walk, id: &str, step: u32, at: Pos2, right: f32) -> f32 {
    let (mut cells, mut flow, moment) = (Vec::new(), Flow::new(at, right), walk.moment(step));
    for strip in &walk.strips {
        let is_touched = moment.touches.iter().any(|touch| touch.array == strip.array);
        board.tagged = is_touched || board.sizes.form != Form::Tight || board.pen.has_parts();
        let first = board.spots.len();
        board.strip(strip, id, &mut flow);
        let drawn = strip.cells.iter().zip(board.spots.iter().skip(first));
        cells.extend(drawn.map(|(cell, spot)| (strip.array, cell, spot.rect)));
    }
    let who = if matches!(walk.machine, Machine::Threads(_)) { "T" } else { "" };
    board.step(&moment, who, &cells);
    flow.bottom()
}
