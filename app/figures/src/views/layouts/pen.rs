//! How cells are shown: their colours, texts and frames.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Rect, pos2};

use super::cells::{Owner, Spot};
use super::sizes::Sizes;
use super::threads::Parts;
use super::walk::{Machine, Walk};
use crate::figure::{Anchor, Figure, Shape, elided, text_width};
use crate::theme::Ink;

/// Colours of rows, or of threads: the "light" scheme of Paul Tol (SRON/EPS/TN/09-002), made for
/// cells with text, and safe for all kinds of colour vision; without its grey, which is used for
/// padding.
const ROWS: [Color32; 8] = [
    Color32::from_rgb(0x77, 0xAA, 0xDD),
    Color32::from_rgb(0xEE, 0xDD, 0x88),
    Color32::from_rgb(0x44, 0xBB, 0x99),
    Color32::from_rgb(0xEE, 0x88, 0x66),
    Color32::from_rgb(0xBB, 0xCC, 0x33),
    Color32::from_rgb(0xFF, 0xAA, 0xBB),
    Color32::from_rgb(0x99, 0xDD, 0xFF),
    Color32::from_rgb(0xAA, 0xAA, 0x00),
];

/// The colour of a row; repeats after eight.
pub(super) fn row_color(row: usize) -> Color32 {
    ROWS.get(row % ROWS.len()).copied().unwrap_or(Color32::GRAY)
}

/// How cells are shown: colours, the highlighted nonzero, and the kernel whose threads own them.
#[derive(Clone)]
pub(super) struct Pen {
    pub(super) ink: Ink,
    pub(super) pick: Option<(usize, usize)>,
    pub(super) walk: Option<Arc<Walk>>,
    pub(super) sizes: Sizes,
}

impl Pen {
    /// A row's colour, light enough for text.
    fn row(&self, row: usize) -> Color32 {
        let strength = if self.ink.paper.r() > 127 { 0.75 } else { 0.4 };
        self.ink.paper.lerp_to_gamma(row_color(row), strength)
    }

    /// Colour of the kernel's current accesses.
    pub(super) fn accent(&self) -> Color32 {
        self.ink.text.lerp_to_gamma(Color32::from_rgb(213, 94, 0), 0.75)
    }

    /// Returns whether cells are owned by CPU threads.
    pub(super) fn has_parts(&self) -> bool {
        self.parts().is_some()
    }

    fn parts(&self) -> Option<&Parts> {
        match &self.walk.as_ref()?.machine {
            Machine::Threads(threads) => Some(&threads.parts),
            Machine::Grid(_) => None,
        }
    }

    /// The index that determines a cell's colour: its thread, or its row.
    fn hue(&self, owner: Owner) -> Option<usize> {
        match self.parts() {
            Some(parts) => parts.of(owner),
            None => owner.row(),
        }
    }

    fn fill(&self, owner: Owner) -> Color32 {
        let colored = matches!(owner, Owner::Entry(..) | Owner::Row(_) | Owner::Rows(..));
        match self.hue(owner).filter(|_| colored) {
            Some(hue) => self.row(hue),
            None if matches!(owner, Owner::Padding(_)) => self.ink.grid,
            None => self.ink.paper,
        }
    }

    /// The thread whose part starts with this cell, if it differs from `before`.
    pub(super) fn part(&self, owner: Owner, before: &mut Option<usize>) -> Option<usize> {
        let thread = self.parts()?.of(owner)?;
        (before.replace(thread) != Some(thread)).then_some(thread)
    }

    /// One cell.
    pub(super) fn cell(&self, figure: &mut Figure, rect: Rect, text: &str, owner: Owner) {
        figure.rect(rect, self.fill(owner));
        if let Owner::Padding(row) = owner {
            // Hatched, in the colour of the row that it pads.
            let hue = self.hue(owner).unwrap_or(row);
            let color = self.ink.text.lerp_to_gamma(row_color(hue), 0.6);
            for k in 1..4_u8 {
                let x = rect.left() + rect.width() * f32::from(k) / 4.0;
                let aside = (rect.width() / 6.0).min(5.0);
                let (low, high) =
                    (pos2(x - aside, rect.bottom() - 2.0), pos2(x + aside, rect.top() + 2.0));
                figure.line(low, high, 1.0, color);
            }
        }
        outline(figure, rect, 1.0, self.ink.grid);
        if !text.is_empty() && !matches!(owner, Owner::Padding(_) | Owner::Outside) {
            let weak = matches!(owner, Owner::Free);
            let color = if weak { self.ink.weak } else { self.ink.text };
            let (size, text) = self.fitting(text, rect.width() - 3.0);
            figure.text(rect.center(), Anchor::Middle, size, color, &text);
        }
    }

    /// A text with the font size at which it fits; elided if that would be illegible.
    fn fitting(&self, text: &str, width: f32) -> (f32, String) {
        let Sizes { text: usual, least, .. } = self.sizes;
        let size = usual * (width / text_width(text, usual)).min(1.0);
        match size >= least {
            true => (size, text.to_owned()),
            false => (least, elided(text, width, least)),
        }
    }

    /// The frames around the highlighted cells, on top of everything else.
    pub(super) fn lights(&self, figure: &mut Figure, spots: &[Spot]) {
        let Some(pick) = self.pick else { return };
        for spot in spots.iter().filter(|spot| spot.owner.concerns(pick)) {
            let exact = matches!(spot.owner, Owner::Entry(..));
            let width = if exact { 3.0 } else { 2.0 };
            outline(figure, spot.rect.shrink(width * 0.5), width, self.ink.text);
        }
    }
}

pub(super) fn outline(figure: &mut Figure, rect: Rect, width: f32, color: Color32) {
    let points = vec![
        rect.left_top(),
        rect.right_top(),
        rect.right_bottom(),
        rect.left_bottom(),
        rect.left_top(),
    ];
    figure.shapes.push(Shape::Line { points, width, color });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Theme;

    #[test]
    fn eight_rows_after_one_another_have_colours_that_differ() {
        for theme in [Theme::Light, Theme::Dark, Theme::Projector] {
            let ink = theme.ink();
            let pen = Pen { ink, pick: None, walk: None, sizes: Sizes::usual(7.0) };
            let colors: Vec<[u8; 4]> =
                (0..8).map(|row| pen.fill(Owner::Row(row)).to_array()).collect();
            for (k, one) in colors.iter().enumerate() {
                for other in colors.iter().take(k).chain([&ink.grid.to_array()]) {
                    let apart: u32 =
                        one.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
                    assert!(apart >= 36, "{theme:?}, row {k}: {one:?} and {other:?}");
                }
            }
            assert_eq!(pen.fill(Owner::Row(8)), pen.fill(Owner::Row(0)));
        }
    }
}
