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
    let texts = |column: usize| lines.iter().filter_map(move |line| line.get(column));
    let widest =
        |column: usize| texts(column).map(|text| text_width(text, size)).fold(0.0, f32::max) + GAP;
    let word = |column: usize| {
        let words = texts(column).flat_map(|text| text.split(' '));
        words.map(|word| text_width(word, size)).fold(0.0, f32::max) + GAP
    };
    let widths = shared(&(0..columns).map(|c| [word(c), widest(c)]).collect::<Vec<_>>(), width);
    for (number, line) in lines.iter().enumerate() {
        let (mut x, mut height) = (at.x, 0.0_f32);
        for (text, column) in line.iter().zip(&widths) {
            let taken = board.line_within(pos2(x, at.y + top), number == 0, text, column - 4.0);
            height = height.max(taken);
            x += column;
        }
        top += height;
    }
    top
}

/// The widths of columns, each at least as wide as its widest word and at most as its widest text: if
/// there is too little space, those of several words shrink first, and then all by the same factor.
fn shared(columns: &[[f32; 2]], width: f32) -> Vec<f32> {
    let sum = |of: usize| columns.iter().filter_map(|column| column.get(of)).sum::<f32>();
    let (least, most) = (sum(0), sum(1));
    let loose = ((width - least) / (most - least).max(1.0)).clamp(0.0, 1.0);
    let factor = (width / least.max(1.0)).min(1.0);
    columns.iter().map(|[word, text]| (word + (text - word) * loose) * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn columns_of_several_words_shrink_before_words_do() {
        let columns = [[40.0, 40.0], [30.0, 60.0]];
        assert_eq!(shared(&columns, 200.0), [40.0, 60.0]);
        assert_eq!(shared(&columns, 85.0), [40.0, 45.0]);
        assert_eq!(shared(&columns, 35.0), [20.0, 15.0]);
    }
}
