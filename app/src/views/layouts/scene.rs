//! All that is drawn: the matrix, and beside or below it each format's arrays or the kernels that
//! are followed.

use std::slice::from_ref;
use std::sync::Arc;

use egui::{Pos2, pos2, vec2};

use super::arrays::{self, Panel};
use super::board::{Board, NAMES, Pen, Spot, TYPE};
use super::subject::Subject;
use super::walk::{Kept, Machine, Walk, plural};
use crate::figure::Figure;
use crate::model::slots;
use crate::state::{LayoutsState, ViewState};
use crate::theme::format_color;

/// Between the picture of the matrix and the arrays.
const MARGIN: f32 = 28.0;
/// Least width of the arrays beside the picture; narrower, they go below it.
const BESIDE: f32 = 460.0;
/// The same for a kernel in a lesson.
const BESIDE_IN_LESSON: f32 = 330.0;
/// Least width of a kernel that is followed beside another.
const COLUMN: f32 = 400.0;
/// The same in a lesson, where the picture of the matrix makes way for the second of two.
const COLUMN_IN_LESSON: f32 = 290.0;
/// Less room for requests in words, and they are left out.
const WORDS: f32 = 320.0;
/// Width of a cell in a lesson, where arrays are short and their numbers small.
const CELL_IN_LESSON: f32 = 23.0;

/// The figure of this width, `scale` times as large, and the places in it that a pointer finds.
pub(super) fn scene(
    subject: &Subject,
    state: &ViewState,
    walks: &[Kept],
    width: f32,
    scale: f32,
) -> (Figure, Vec<Spot>) {
    let (a, ink) = (&Arc::new(subject.a.clone()), state.theme.ink());
    let pick = state.layouts.pick.map(|(i, j)| (i as usize, j as usize));
    let walk = walks.first().and_then(|walk| walk.as_ref().ok()).cloned();
    let mut board = Board::new(Pen { ink, pick, walk }, ink.paper);
    let value = |i: usize, j: usize| {
        let (col, val) = a.row(i);
        Some(val.get(col.binary_search(&(j as u32)).ok()?)?.to_string())
    };
    let mut y = 4.0;
    let lesson = state.layouts.lesson.is_some();
    let panels = if walks.is_empty() { arrays::panels(a, &state.layouts) } else { Vec::new() };
    if lesson {
        board.cell.x = CELL_IN_LESSON;
    }
    if let (true, [one, other]) = (lesson, &panels[..]) {
        let (half, nnz) = (width * 0.5, a.nnz());
        let left = formats(&mut board, nnz, from_ref(one), pos2(0.0, y), half - MARGIN * 0.5);
        let right = formats(&mut board, nnz, from_ref(other), pos2(half, y), width);
        return board.finish(vec2(width, left.max(right)), scale);
    }
    if lesson && walks.len() > 1 {
        let bottom = kernels(&mut board, &state.layouts, walks, pos2(0.0, y), width);
        return board.finish(vec2(width, bottom), scale);
    }
    if !lesson {
        y += board.line(pos2(0.0, y), TYPE + 2.0, false, &subject.title);
    }
    let entries = format!("{} × {}, {} entries", a.rows(), a.cols(), a.nnz());
    y += board.line(pos2(0.0, y), TYPE, true, &entries);
    let dense = board.dense((a.rows(), a.cols()), subject.from, pos2(0.0, y), value);
    let least = if lesson && !walks.is_empty() { BESIDE_IN_LESSON } else { BESIDE };
    let beside = width - dense.x - MARGIN > least;
    let (left, top) =
        if beside { (dense.x + MARGIN, 4.0) } else { (0.0, y + dense.y + MARGIN * 0.5) };
    let origin = pos2(left, top);
    let bottom = if walks.is_empty() {
        formats(&mut board, a.nnz(), &panels, origin, width)
    } else {
        kernels(&mut board, &state.layouts, walks, origin, width)
    };
    let least = left + NAMES + 200.0;
    board.finish(vec2(width.max(least), bottom.max(y + dense.y) + 8.0), scale)
}

/// Each format's arrays below one another; where they end.
fn formats(board: &mut Board, nnz: usize, panels: &[Panel], at: Pos2, width: f32) -> f32 {
    let mut top = at.y;
    for panel in panels {
        board.swatch(pos2(at.x, top + 2.0), format_color(&panel.id));
        let words = match &panel.arrays {
            Ok((_, size)) => format!(
                "{}: {} B, {} for {} entries ({} an entry)",
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
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            let corner = pos2(at.x + 18.0, top);
            top += board.strip(strip, &panel.name, corner, width - corner.x);
        }
        top += 10.0;
    }
    top
}

/// The kernels that are followed, one or two, side by side where there is room; where they end.
fn kernels(board: &mut Board, layouts: &LayoutsState, walks: &[Kept], at: Pos2, width: f32) -> f32 {
    let ids = [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty());
    let half = (width - at.x) * 0.5;
    let least = if layouts.lesson.is_some() { COLUMN_IN_LESSON } else { COLUMN };
    let apart = walks.len() > 1 && half >= least;
    let mut bottom = at.y;
    for (number, (id, walk)) in ids.zip(walks).enumerate() {
        let (corner, room) = match apart {
            true => (pos2(at.x + half * number as f32, at.y), half - MARGIN * 0.5),
            false => (pos2(at.x, bottom), width - at.x),
        };
        let end = match walk {
            Ok(walk) => followed(board, walk, id, layouts.step, corner, room),
            Err(why) => corner.y + board.line(corner, TYPE, false, &format!("{id}: {why}")),
        };
        bottom = bottom.max(end);
    }
    bottom
}

/// One kernel that is followed; where it ends.
fn followed(board: &mut Board, walk: &Arc<Walk>, id: &str, step: u32, at: Pos2, width: f32) -> f32 {
    let (left, mut top) = (at.x + 18.0, at.y);
    board.pen.walk = Some(walk.clone());
    board.swatch(pos2(at.x, top + 2.0), format_color(walk.spec.name()));
    let reads = format!("{id}, reads {}", arrays::name(&walk.spec));
    top += board.line_within(pos2(left, top), false, &reads, width - 18.0);
    let moment = walk.moment(step);
    let lines = if width < WORDS { 1 } else { moment.words.len() };
    for (number, line) in moment.words.iter().take(lines).enumerate() {
        top += board.line_within(pos2(left, top), number > 0, line, width - 18.0);
    }
    top += 8.0;
    let mut cells = Vec::new();
    for strip in &walk.strips {
        let first = board.spots.len();
        top += board.strip(strip, id, pos2(left, top), width - 18.0);
        let drawn = board.spots.iter().skip(first).enumerate();
        cells.extend(drawn.map(|(index, spot)| (strip.array, index as u64, spot.rect)));
    }
    let who = if matches!(walk.machine, Machine::Threads(_)) { "T" } else { "" };
    board.step(&moment, who, &cells);
    top + 4.0 + totals(board, walk, step, pos2(left, top), width - 18.0) + 14.0
}

/// What it adds up to; the height taken.
fn totals(board: &mut Board, walk: &Walk, step: u32, at: Pos2, width: f32) -> f32 {
    let (title, lines) = walk.totals(step);
    let mut top = board.line_within(at, false, &title, width);
    for (number, line) in lines.iter().enumerate() {
        let mut height = 0.0;
        for (column, text) in line.iter().enumerate() {
            let x = at.x + column as f32 * (width / line.len() as f32).min(84.0);
            let within = width / line.len() as f32 - 4.0;
            height = board.line_within(pos2(x, at.y + top), number == 0, text, within);
        }
        top += height;
    }
    top
}
