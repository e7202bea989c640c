//! A row's dense system: the part gathered from A, its solution, and the row of G.

use emath::{Pos2, Rect, Vec2, pos2, vec2};

use super::colors::Colors;
use crate::figure::{Anchor, Figure, area, text_width};
use crate::model::value;
use crate::set_up::Gathered;
use crate::state::Theme;
use crate::theme::text_on;
use crate::views::spy::{TYPE, index, outline};

/// Maximum rows of a system whose numbers are written.
pub(super) const WRITTEN: usize = 8;
const LEFT: f32 = 2.0;
const TOP: f32 = 48.0;
/// Space between the system, its solution and the right-hand side, for an operator sign.
const SIGN: f32 = 20.0;
/// Space between the system and the row of G, for text.
const BETWEEN: f32 = 36.0;
/// Minimum size.
pub const LEAST_SIZE: Vec2 = vec2(160.0, 220.0);

/// The layout of the system.
pub struct Dense {
    pub figure: Figure,
    /// Areas of A[P,P], and of the row of G.
    system: Rect,
    factor: Rect,
}

impl Dense {
    pub fn new(
        of: &Gathered,
        pointed: Option<(u32, u32)>,
        (colors, theme): (&Colors, Theme),
        size: Vec2,
    ) -> Self {
        let (m, ink) = (of.p.len(), colors.ink);
        let mut figure = Figure::new(size, ink.paper);
        let row = index(of.row as usize);
        let many = if m == 1 { "1 position".to_owned() } else { format!("{} positions", index(m)) };
        let title = [format!("Row {row}: pattern P of {many}"), format!("Row {row}: P of {many}")];
        figure.text(pos2(LEFT, 12.0), Anchor::Start, TYPE, ink.text, fitting(&title, size.x));
        let meaning = [
            "A[P,P] · g = e; blue: positive, orange: negative",
            "Blue: positive, orange: negative",
            "Blue > 0, orange < 0",
        ];
        figure.text(pos2(LEFT, 30.0), Anchor::Start, TYPE, ink.weak, fitting(&meaning, size.x));
        let written = m <= WRITTEN;
        let names = of.p.last().map_or(0.0, |last| text_width(&last.to_string(), TYPE)) + 8.0;
        let count = m as f32;
        let wide = size.x - LEFT - names - 2.0 * SIGN - 4.0;
        let high = size.y - TOP - 20.0 - BETWEEN - 30.0;
        // The solution and the right-hand side are one column each, of a readable width.
        let cell = match written {
            true => {
                vec2((wide / (count + 2.0)).min(62.0), (high / (count + 1.0)).clamp(16.0, 30.0))
            }
            false => {
                let most = ((wide - 24.0) / count).min(high / (count + 1.0));
                Vec2::splat(most.clamp(1.0, 26.0))
            }
        };
        let column = if written { cell.x } else { cell.x.max(12.0) };
        let corner = pos2(LEFT + names, TOP + 20.0);
        let system = Rect::from_min_size(corner, cell * count);
        let least = theme.least_type().max(9.0);
        let draw = Draw { colors, least, written };
        let most = of.system.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (number, value) in of.system.iter().enumerate() {
            let at = Rect::from_min_size(
                corner + vec2((number % m) as f32, (number / m) as f32) * cell,
                cell,
            );
            draw.value(&mut figure, at, Some(*value), most);
        }
        // Numbers of rows and columns.
        if cell.y >= 12.0 {
            for (k, j) in of.p.iter().enumerate() {
                let (k, name) = (k as f32 + 0.5, j.to_string());
                let at = pos2(corner.x - 4.0, corner.y + cell.y * k);
                figure.text(at, Anchor::End, TYPE.min(cell.y), ink.weak, &name);
                if text_width(&name, TYPE) < cell.x - 3.0 {
                    let at = pos2(corner.x + cell.x * k, corner.y - 9.0);
                    figure.text(at, Anchor::Middle, TYPE, ink.weak, &name);
                }
            }
        }
        let below = pos2(corner.x, system.max.y);
        let mut x = system.max.x;
        let head = |figure: &mut Figure, x: f32, text: &str| {
            let at = pos2(x + column * 0.5, corner.y - 9.0);
            figure.text(at, Anchor::Middle, TYPE, ink.text, text);
        };
        let middle = system.center().y;
        let sign = |figure: &mut Figure, x: f32, text: &str| {
            figure.text(pos2(x + SIGN * 0.5, middle), Anchor::Middle, TYPE, ink.text, text);
        };
        sign(&mut figure, x, "×");
        x += SIGN;
        head(&mut figure, x, "g");
        let largest = of.solution.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (k, value) in of.solution.iter().enumerate() {
            let at =
                Rect::from_min_size(pos2(x, corner.y + cell.y * k as f32), vec2(column, cell.y));
            draw.value(&mut figure, at, Some(*value), largest);
        }
        outline(&mut figure, area(x, corner.y, x + column, below.y), ink.weak);
        x += column;
        sign(&mut figure, x, "=");
        x += SIGN;
        head(&mut figure, x, "e");
        for k in 0..m {
            let at =
                Rect::from_min_size(pos2(x, corner.y + cell.y * k as f32), vec2(column, cell.y));
            draw.value(&mut figure, at, Some(if k + 1 == m { 1.0 } else { 0.0 }), 1.0);
        }
        outline(&mut figure, area(x, corner.y, x + column, below.y), ink.weak);
        outline(&mut figure, system, ink.weak);
        let factor =
            Rect::from_min_size(below + vec2(0.0, BETWEEN), vec2(system.width(), cell.y.max(12.0)));
        let dropped = of.factor.iter().filter(|value| value.is_none()).count();
        let words = match dropped {
            0 => [
                format!("Row {row} of G: g divided by the square root of its last element"),
                format!("Row {row} of G: g scaled"),
            ],
            _ => [
                format!("Row {row} of G, scaled; {} dropped by the postfilter", index(dropped)),
                format!("Row {row} of G: {} dropped", index(dropped)),
            ],
        };
        let at = pos2(LEFT, factor.min.y - 12.0);
        figure.text(at, Anchor::Start, TYPE, ink.text, fitting(&words, size.x));
        let largest = of.factor.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (k, value) in of.factor.iter().enumerate() {
            let at = pos2(factor.min.x + cell.x * k as f32, factor.min.y);
            let at = Rect::from_min_size(at, vec2(cell.x, factor.height()));
            draw.value(&mut figure, at, *value, largest);
        }
        outline(&mut figure, factor, ink.weak);
        let mut dense = Self { figure, system, factor };
        if let Some(at) = pointed.and_then(|at| dense.square(of, at)) {
            for (grown, color) in [(0.0, ink.text), (1.0, ink.text), (2.0, ink.paper)] {
                outline(&mut dense.figure, at.expand(grown), color);
            }
        }
        dense.figure.size.y = dense.factor.max.y + 14.0;
        dense
    }

    /// The position in A, or in the row of G, at a point of the figure.
    pub fn entry(&self, of: &Gathered, at: Pos2) -> Option<(u32, u32)> {
        let count = of.p.len();
        let place = |share: f32| ((share * count as f32) as usize).min(count.saturating_sub(1));
        let name = |share: f32| of.p.get(place(share)).copied();
        let share = |rect: &Rect| (at - rect.min) / rect.size();
        if self.system.contains(at) {
            let share = share(&self.system);
            return Some((name(share.y)?, name(share.x)?));
        }
        self.factor.contains(at).then(|| name(share(&self.factor).x))?.map(|j| (of.row, j))
    }

    /// The area of a nonzero in A[P,P].
    fn square(&self, of: &Gathered, (i, j): (u32, u32)) -> Option<Rect> {
        let place = |of: &[u32], j| of.binary_search(&j).ok().map(|k| k as f32);
        let (row, col) = (place(&of.p, i)?, place(&of.p, j)?);
        let cell = self.system.size() / of.p.len() as f32;
        Some(Rect::from_min_size(self.system.min + vec2(col, row) * cell, cell))
    }
}

/// Draws values.
struct Draw<'a> {
    colors: &'a Colors,
    least: f32,
    written: bool,
}

impl Draw<'_> {
    /// A value, coloured by its magnitude relative to `most`; an empty cell for `None`.
    fn value(&self, figure: &mut Figure, at: Rect, of: Option<f64>, most: f64) {
        let ink = self.colors.ink;
        let gap = if at.height() >= 6.0 { 0.5 } else { 0.0 };
        let Some(of) = of else {
            figure.line(at.left_bottom(), at.right_top(), 1.0, ink.weak);
            return;
        };
        let color = self.colors.value(of, most);
        figure.rect(at.shrink(gap), color);
        if !self.written {
            return;
        }
        let ink = if of == 0.0 { ink.weak } else { text_on(color) };
        // As many digits as fit, rather without the zero before them than one fewer.
        for text in [short(of, 3), short(of, 2), bare(&short(of, 2)), short(of, 1)] {
            let size = (at.width() - 3.0) / text_width(&text, 1.0);
            if size >= self.least {
                figure.text(at.center(), Anchor::Middle, size.min(TYPE), ink, &text);
                return;
            }
        }
    }
}

/// The first of these texts, longest first, that fits.
fn fitting<T: AsRef<str>>(texts: &[T], room: f32) -> &str {
    let fits = |text: &&T| text_width(text.as_ref(), TYPE) <= room - 2.0 * LEFT;
    texts.iter().find(fits).or(texts.last()).map_or("", AsRef::as_ref)
}

/// A value with at most this number of decimals.
fn short(of: f64, digits: usize) -> String {
    if of != 0.0 && !(5e-4..1e4).contains(&of.abs()) {
        return value(of);
    }
    let text = format!("{of:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// The same without the zero before its decimals.
fn bare(text: &str) -> String {
    match text.split_once("0.") {
        Some((sign, digits)) if matches!(sign, "" | "−") => format!("{sign}.{digits}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (of, digits, text) in
            [(4.0, 3, "4"), (-1.0, 1, "−1"), (0.26794, 2, "0.27"), (0.5, 3, "0.5"), (0.0, 3, "0")]
        {
            assert_eq!(short(of, digits), text);
        }
        let texts = ["0.27", "−0.27", "10.27", "1", "0"].map(bare);
        assert_eq!(texts, [".27", "−.27", "10.27", "1", "0"]);
    }
}
