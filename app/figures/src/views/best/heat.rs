//! Matrix by kernel, coloured by the fraction of the best rate: shows at a glance where a kernel is
//! weak.

use ecolor::Color32;
use emath::{pos2, vec2};

use super::board::{Board, Row};
use crate::figure::{Anchor, Figure, Hit, area, text_width};
use crate::model::significant;
use crate::theme::{Ink, blend};

pub(super) const TITLE: &str = "Share of the best rate on each matrix; hatched: not ranked";

const TYPE: f32 = 13.0;
/// Width and height of a cell.
const CELL: [f32; 2] = [38.0, 22.0];
/// The colour of the best.
const BEST: Color32 = Color32::from_rgb(0, 114, 178);

/// Fractions, one row per matrix, one column per kernel; empty if it did not run, the reason of the
/// verdict if it does not rank.
pub(super) fn table(board: &Board) -> Vec<Vec<String>> {
    let header = ["matrix".to_owned()].into_iter().chain(board.kernels.iter().cloned());
    let mut lines = vec![header.collect::<Vec<_>>()];
    for row in &board.rows {
        let cells = board.kernels.iter().map(|kernel| match cell(row, kernel) {
            Cell::Share(share, _) => share.to_string(),
            Cell::Without(why) => why.to_owned(),
            Cell::Nothing => String::new(),
        });
        lines.push([row.name.clone()].into_iter().chain(cells).collect());
    }
    lines
}

enum Cell<'a> {
    Share(f64, &'a super::board::Rival),
    Without(&'a str),
    Nothing,
}

fn cell<'a>(row: &'a Row, kernel: &str) -> Cell<'a> {
    if let Some(rival) = row.runs.iter().find(|rival| rival.kernel == kernel) {
        return Cell::Share(rival.share, rival);
    }
    let without = row.without.iter().find(|(of, _)| of == kernel);
    without.map_or(Cell::Nothing, |(_, why)| Cell::Without(why))
}

/// From close to the background at a tenth and less to full colour at 1, on a logarithmic scale.
fn strength(share: f64) -> f32 {
    (1.0 + share.max(0.1).log10()) as f32 * 0.9 + 0.1
}

pub fn figure(board: &Board, ink: Ink) -> Figure {
    let longest = board.rows.iter().map(|row| text_width(&row.name, TYPE)).fold(60.0, f32::max);
    let left = longest.min(240.0) + 18.0;
    let highest = board.kernels.iter().map(|id| text_width(id, TYPE)).fold(40.0, f32::max);
    let top = highest + 14.0;
    let size = vec2(
        left + CELL[0] * board.kernels.len() as f32 + 16.0,
        top + CELL[1] * board.rows.len() as f32 + 44.0,
    );
    let mut figure = Figure::new(size, ink.paper);
    for (column, kernel) in board.kernels.iter().enumerate() {
        let x = left + CELL[0] * (column as f32 + 0.5);
        figure.text_upwards(pos2(x, top - 6.0), TYPE, ink.text, kernel);
    }
    for (line, row) in board.rows.iter().enumerate() {
        let y = top + CELL[1] * line as f32;
        let name = crate::figure::elided(&row.name, left - 16.0, TYPE);
        let middle = y + CELL[1] * 0.5;
        figure.text(pos2(left - 8.0, middle), Anchor::End, TYPE, ink.text, &name);
        for (column, kernel) in board.kernels.iter().enumerate() {
            let x = left + CELL[0] * column as f32;
            let rect = area(x + 0.5, y + 0.5, x + CELL[0] - 0.5, y + CELL[1] - 0.5);
            match cell(row, kernel) {
                Cell::Share(share, rival) => {
                    let strength = strength(share);
                    figure.rect(rect, blend(ink.paper, BEST, strength));
                    let color = if strength > 0.55 { Color32::WHITE } else { ink.text };
                    let text = match share {
                        best if best >= 1.0 => "best".to_owned(),
                        weak if weak < 0.01 => "<.01".to_owned(),
                        share => format!("{share:.2}").trim_start_matches('0').to_owned(),
                    };
                    figure.text(rect.center(), Anchor::Middle, TYPE - 1.0, color, &text);
                    let (matrix, run) = (row.key.clone(), Some(rival.run));
                    let text = rival.words.clone();
                    figure.hits.push(Hit { rect, text, matrix, run, series: None });
                }
                Cell::Without(why) => {
                    hatch(&mut figure, rect, ink.weak);
                    let text = format!("{kernel} on {}: not ranked, {why}", row.name);
                    figure.hits.push(Hit {
                        rect,
                        text,
                        matrix: row.key.clone(),
                        run: None,
                        series: None,
                    });
                }
                Cell::Nothing => {}
            }
        }
    }
    legend(&mut figure, pos2(left, size.y - 22.0), ink);
    figure
}

fn hatch(figure: &mut Figure, rect: emath::Rect, color: Color32) {
    for k in 0..4 {
        let x = rect.left() + rect.width() * k as f32 / 4.0;
        let (from, to) = (pos2(x, rect.bottom()), pos2(x + rect.width() / 4.0, rect.top()));
        figure.line(from, to, 1.0, color);
    }
}

/// The legend of the colours.
fn legend(figure: &mut Figure, at: emath::Pos2, ink: Ink) {
    figure.text(at, Anchor::Start, TYPE, ink.weak, "Share of the best:");
    let mut x = at.x + 124.0;
    for share in [1.0, 0.75, 0.5, 0.25, 0.1] {
        let rect = area(x, at.y - 8.0, x + 26.0, at.y + 8.0);
        figure.rect(rect, blend(ink.paper, BEST, strength(share)));
        let label = significant(share);
        figure.text(pos2(x + 32.0, at.y), Anchor::Start, TYPE, ink.weak, &label);
        x += 72.0;
    }
    let rect = area(x, at.y - 8.0, x + 26.0, at.y + 8.0);
    hatch(figure, rect, ink.weak);
    figure.text(pos2(x + 32.0, at.y), Anchor::Start, TYPE, ink.weak, "not ranked");
}
