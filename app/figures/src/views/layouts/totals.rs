//! The totals of a kernel, as a table.

use emath::{Pos2, pos2};

use super::board::Board;
use super::walk::Walk;
use crate::figure::text_width;

/// Space between columns.
const GAP: f32 = 12.0;

/// Draws the totals, at most `width` wide; returns the height.
pub(super) fn totals(board: &mut Board, walk: &Walk, step: u32, at: Pos2, width: f32) -> f32 {
    let (title, lines) = walk.totals(step);
    let mut top = board.line_within(at, false, &title, width);
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let size = board.sizes.text;
    let widest = |column: usize| {
        let texts = lines.iter().filter_map(|line| line.get(column));
        texts.map(|text| text_width(text, size)).fold(0.0, f32::max) + GAP
    };
    let widths: Vec<f32> = (0..columns).map(widest).collect();
    // If there is too little space, all columns shrink by the same factor.
    let share = (width / widths.iter().sum::<f32>().max(1.0)).min(1.0);
    for (number, line) in lines.iter().enumerate() {
        let (mut x, mut height) = (at.x, 0.0_f32);
        for (text, column) in line.iter().zip(&widths) {
            let room = column * share;
            let taken = board.line_within(pos2(x, at.y + top), number == 0, text, room - 4.0);
            height = height.max(taken);
            x += room;
        }
        top += height;
    }
    top
}
