//! Subjects by kernels: the winner's rate, and the others' shares of it as numbers and colours.

use ecolor::Color32;
use emath::{Rect, pos2, vec2};

use super::bars::unit;
use super::baseline::is_vendors;
use super::board::{Board, Rival, Row};
use super::drawn::{Drawn, ROW, outline, put};
use super::headline;
use super::places::{CELL, Column, Places, RATIO, clause, columns, versus};
use super::rows::{lines, title_of_folded};
use crate::figure::{Anchor, Figure, Hit, area, elided, strong_width, text_width};
use crate::model::significant;
use crate::state::{RankBy, Theme, ViewState};
use crate::theme::{BODY, Ink, SMALL, SPACE, blend, text_on};

/// What the figure shows.
pub(super) fn title(by: RankBy) -> &'static str {
    match by {
        RankBy::Rate => {
            "The fastest kernel on each matrix, and the share of its rate that the others reach"
        }
        RankBy::Energy => {
            "The kernel with the least energy on each matrix, and this energy over that of the others"
        }
    }
}

/// The series of the hit that shows or hides the folded rows.
pub const FOLD: &str = "launch-bound";

/// Height of a row with one line, on a small projector.
const LOW: f32 = 28.0;
/// Height of the line above the folded rows.
const FOLD_LINE: f32 = 40.0;

/// Fractions, one row per matrix, one column per kernel; empty if it did not run, the reason of the
/// verdict if it does not rank.
pub(super) fn table(board: &Board) -> Vec<Vec<String>> {
    let header = ["matrix".to_owned()].into_iter().chain(board.kernels.iter().cloned());
    let header = header.chain(board.vectors.map(|_| "k".to_owned()));
    let mut lines = vec![header.collect::<Vec<_>>()];
    for row in &board.rows {
        let cells = board.kernels.iter().map(|kernel| match cell(row, kernel) {
            Cell::Share(share, _) => share.to_string(),
            Cell::Without(why) => why.to_owned(),
            Cell::Nothing => String::new(),
        });
        let k = board.vectors.map(|k| k.to_string());
        lines.push([row.name.clone()].into_iter().chain(cells).chain(k).collect());
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

/// Grey, because a colour is a format or what is selected: from close to the background at a tenth and less to
/// that of secondary text at 1, on a logarithmic scale.
fn shade(share: f64, ink: &Ink) -> Color32 {
    blend(ink.paper, ink.weak, (1.0 + share.max(0.1).log10()) as f32 * 0.9 + 0.1)
}

/// What is drawn while the figure grows.
struct Sheet<'b> {
    drawn: Drawn,
    board: &'b Board,
    state: &'b ViewState,
    ink: Ink,
    width: f32,
    places: Places,
    columns: Vec<Column<'b>>,
    /// Whether rows have one line.
    low: bool,
}

/// The figure for this width; wider if the kernels need it.
pub fn draw(board: &Board, state: &ViewState, width: f32) -> Drawn {
    let ink = state.theme.ink();
    let (title, about) = (headline::headline(board), headline::about(board, state.best.unfolded));
    let (drawn, top) = Drawn::titled((&title, &about), &ink, width);
    let (places, columns) = (Places::of(board, width), columns(board, state, width));
    let low = state.theme == Theme::Projector && places.winner.is_none();
    let mut sheet = Sheet { drawn, board, state, ink, width, places, columns, low };
    let mut y = sheet.head(if low { top - SPACE } else { top });
    for line in lines(board, state) {
        match line {
            Some(row) => sheet.row(row, y),
            None => sheet.fold_line(y),
        }
        y += if line.is_some() { sheet.height() } else { FOLD_LINE };
    }
    let right = sheet.places.cells + CELL * sheet.columns.len() as f32 + SPACE;
    sheet.drawn.figure.size = vec2(width.max(right), y + SPACE);
    sheet.drawn
}

impl Sheet<'_> {
    fn put(&mut self, place: [f32; 2], y: f32, strong: bool, small: bool, text: &str) {
        put(&mut self.drawn.figure, &self.ink, place, y, strong, small, text);
    }

    /// Height of a row.
    fn height(&self) -> f32 {
        if self.low { LOW } else { ROW }
    }

    /// The legend and beside it the names of the kernels, which stay visible; returns the top of the
    /// rows.
    fn head(&mut self, top: f32) -> f32 {
        let first = self.drawn.figure.shapes.len();
        let names = self.columns.iter().flat_map(|column| &column.name);
        let names = names.map(|name| text_width(name, SMALL)).fold(40.0, f32::max);
        let title = match self.places.bundle {
            Some(_) => 2.0 * SPACE,
            None if self.low => SPACE,
            None => 0.0,
        };
        let bottom = self.legend(top) + title;
        let bottom = bottom.max(top + names) + SPACE;
        if let Some(place) = self.places.bundle {
            self.put(place, bottom - SPACE, false, true, "bundle");
        }
        if let Some(right) = self.places.ratio.filter(|_| self.low) {
            let (at, versus) = (pos2(right, bottom - SPACE), &self.board.versus);
            self.drawn.figure.text(at, Anchor::End, SMALL, self.ink.weak, versus);
        }
        for (place, column) in self.columns.iter().enumerate() {
            let middle = self.places.cells + CELL * (place as f32 + 0.5);
            let vendors = is_vendors(column.kernel);
            let color = if vendors { self.ink.vendor } else { self.ink.text };
            let spread = SMALL * 1.15;
            let left = middle - spread * 0.5 * (column.name.len() as f32 - 1.0);
            for (line, text) in column.name.iter().enumerate() {
                let at = pos2(left + spread * line as f32, bottom - SPACE * 0.75);
                self.drawn.figure.text_upwards(at, SMALL, color, text);
            }
        }
        let shapes = first..self.drawn.figure.shapes.len();
        self.drawn.figure.head = Some(crate::figure::Head { shapes, y: [top, bottom] });
        bottom
    }

    fn row(&mut self, row: &Row, y: f32) {
        let board = self.board;
        let size = board.size_of(row);
        let (texts, height): ([&str; 2], _) = ([board.name_of(row), &size], self.height());
        let place = (self.places.name, [y, y + height]);
        let [upper, lower] = self.drawn.start_row(self.state, &row.key, texts, place);
        let lower = (!self.low).then_some(lower);
        let mut right = self.places.name[1];
        if let (Some(place), Some(lower)) = (self.places.winner, lower) {
            self.put(place, upper, true, false, &board.short_title(&row.title));
            self.put(place, lower, false, true, &clause(row, self.width));
            right = place[1];
        }
        if let Some(right) = self.places.ratio {
            self.ratio(row, right, upper, lower);
        }
        if let Some(place) = self.places.bundle {
            self.put(place, y + height * 0.5, false, true, &row.bundle);
        }
        self.drawn.figure.hits.push(Hit {
            rect: area(SPACE, y + 1.0, right, y + height - 1.0),
            text: format!("Best on {}: {}. {}", row.name, row.title, row.why),
            matrix: row.key.clone(),
            run: Some(row.run),
            series: None,
        });
        for place in 0..self.columns.len() {
            let x = self.places.cells + CELL * place as f32;
            self.cell(row, place, area(x + 1.0, y + 1.0, x + CELL - 1.0, y + height - 1.0));
        }
    }

    /// The ratio to the baseline, and below it what that is.
    fn ratio(&mut self, row: &Row, right: f32, upper: f32, lower: Option<f32>) {
        let Some(gain) = row.gain else { return };
        let times = headline::times(gain);
        let (figure, ink) = (&mut self.drawn.figure, &self.ink);
        figure.strong(pos2(right, upper), Anchor::End, BODY, ink.text, &times);
        if let Some(lower) = lower {
            let over = elided(&versus(self.board, row), RATIO[1], SMALL);
            figure.text(pos2(right, lower), Anchor::End, SMALL, ink.weak, &over);
        }
    }

    fn cell(&mut self, row: &Row, place: usize, rect: Rect) {
        let Some(column) = self.columns.get(place) else { return };
        let (ink, figure) = (self.ink, &mut self.drawn.figure);
        let hit =
            |text: String, run| Hit { rect, text, matrix: row.key.clone(), run, series: None };
        match cell(row, column.kernel) {
            Cell::Share(share, rival) => {
                let fill = shade(share, &ink);
                if rival.run == row.credited {
                    winner(figure, rect, fill, rival, ink);
                } else {
                    figure.rect(rect, fill);
                    let text = match share {
                        weak if weak < 0.005 => "<0.01".to_owned(),
                        share => format!("{share:.2}"),
                    };
                    let color = text_on(fill);
                    figure.text(rect.center(), Anchor::Middle, SMALL, color, &text);
                }
                if self.state.run == Some(rival.run) {
                    outline(figure, rect, ink.text);
                }
                figure.hits.push(hit(rival.words.clone(), Some(rival.run)));
            }
            Cell::Without(why) => {
                hatch(figure, rect, ink.grid);
                let text = format!("{} on {}: not ranked, {why}", column.kernel, row.name);
                figure.hits.push(hit(text, None));
            }
            Cell::Nothing => {}
        }
    }

    /// The title of the folded rows; a click shows or hides them.
    fn fold_line(&mut self, y: f32) {
        let text = title_of_folded(self.board, self.state);
        let shown = elided(&text, self.width - 2.0 * SPACE, BODY);
        let (figure, middle) = (&mut self.drawn.figure, y + FOLD_LINE * 0.5);
        figure.text(pos2(SPACE, middle), Anchor::Start, BODY, self.ink.accent, &shown);
        let right = SPACE + text_width(&shown, BODY);
        figure.hits.push(Hit {
            rect: area(SPACE, middle - BODY, right, middle + BODY),
            text,
            matrix: String::new(),
            run: None,
            series: Some(FOLD.into()),
        });
    }

    /// The legend of the cells, left of the names of the kernels; returns its bottom.
    fn legend(&mut self, top: f32) -> f32 {
        let (figure, ink) = (&mut self.drawn.figure, self.ink);
        let shares =
            [0.1, 0.25, 0.5, 0.75, 1.0].map(|share| (Sample::Share(share), share.to_string()));
        let share = match self.board.ranking.by {
            RankBy::Rate => "Share of the best rate",
            RankBy::Energy => "Least energy over its own",
        };
        let mut items = vec![(Sample::None, share.to_owned())];
        items.extend(shares);
        items.push((Sample::Best, format!("the winner, in {}", unit(self.board))));
        items.push((Sample::Without, "not ranked".to_owned()));
        let right = self.places.cells - SPACE;
        let (mut x, mut y) = (SPACE, top + SPACE);
        for (sample, text) in items {
            let before = if matches!(sample, Sample::None) { 0.0 } else { 3.5 * SPACE };
            let text = elided(&text, right - SPACE - before, SMALL);
            let width = before + text_width(&text, SMALL);
            if x > SPACE && x + width > right {
                (x, y) = (SPACE, y + 2.5 * SPACE);
            }
            let place = area(x, y - SPACE, x + 3.0 * SPACE, y + SPACE);
            match sample {
                Sample::Share(share) => figure.rect(place, shade(share, &ink)),
                Sample::Best => outline(figure, place, ink.winner),
                Sample::Without => hatch(figure, place, ink.grid),
                Sample::None => {}
            }
            figure.text(pos2(x + before, y), Anchor::Start, SMALL, ink.weak, &text);
            x += width + 1.5 * SPACE;
        }
        y + SPACE
    }
}

/// What the legend explains.
enum Sample {
    None,
    Share(f64),
    Best,
    Without,
}

/// The winner's cell: its rate, outlined.
fn winner(figure: &mut Figure, rect: Rect, fill: Color32, rival: &Rival, ink: Ink) {
    figure.rect(rect, fill);
    outline(figure, rect, ink.winner);
    let text = significant(rival.rate);
    let fits = strong_width(&text, BODY) <= rect.width() - 4.0;
    let size = if fits { BODY } else { SMALL };
    figure.strong(rect.center(), Anchor::Middle, size, text_on(fill), &text);
}

fn hatch(figure: &mut Figure, rect: Rect, color: Color32) {
    for k in 0..4 {
        let x = rect.left() + rect.width() * k as f32 / 4.0;
        let (from, to) = (pos2(x, rect.bottom()), pos2(x + rect.width() / 4.0, rect.top()));
        figure.line(from, to, 1.0, color);
    }
}
