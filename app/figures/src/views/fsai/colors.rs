//! The look of nonzeros from A to G: the colour and size of their squares.

use ecolor::Color32;

use crate::set_up::{Cell, Part};
use crate::state::{Stage, Theme};
use crate::theme::{Ink, blend, series};

/// How a nonzero is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) color: Color32,
    /// Fraction of its cell left free on each side, if cells are large.
    pub(super) inset: f32,
    /// Draw only its outline.
    pub(super) hollow: bool,
    /// Drawing order if several share a pixel: the highest is visible.
    pub(super) rank: u8,
}

/// Meaning of the colours.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    pub(super) ink: Ink,
    dark: bool,
}

impl Colors {
    pub(super) fn new(theme: Theme) -> Self {
        Self { ink: theme.ink(), dark: theme == Theme::Dark }
    }

    /// Nonzeros of the gathered system.
    pub(super) fn gathered(&self) -> Color32 {
        Color32::from_rgb(213, 94, 0)
    }

    /// Colour of a part.
    pub(super) fn part(&self, part: Part) -> Color32 {
        let kept = if self.dark { series(5) } else { series(0) };
        match part {
            Part::Left => blend(self.ink.paper, self.ink.weak, 0.5),
            Part::Filtered => blend(self.ink.paper, kept, 0.38),
            Part::Kept => kept,
            Part::Second => series(1),
            Part::Third => series(2),
            Part::Merged => series(4),
        }
    }

    /// The look of a nonzero at a stage of the setup; `None` if it is not drawn.
    pub(super) fn look(&self, cell: &Cell, stage: Stage) -> Option<Look> {
        let part = match (stage, cell.part) {
            (Stage::Matrix, _) => cell.in_a.then_some(Part::Kept)?,
            (Stage::Filtered, Part::Left) => Part::Left,
            (Stage::Filtered, _) => (cell.in_a && cell.in_filtered).then_some(Part::Kept)?,
            (Stage::Pattern, Part::Merged) => match (cell.in_a, cell.in_filtered) {
                (true, true) => Part::Filtered,
                (true, false) => Part::Left,
                (false, _) => return None,
            },
            (_, part) => part,
        };
        let inset = match part {
            Part::Filtered | Part::Kept => 0.0,
            Part::Second => 0.12,
            Part::Third | Part::Merged => 0.22,
            Part::Left => 0.3,
        };
        let hollow = stage == Stage::Factor && cell.dropped;
        Some(Look { color: self.part(part), inset, hollow, rank: part as u8 * 2 + 1 })
    }

    /// Faded colour of nonzeros next to those in focus.
    pub(super) fn dimmed(&self, color: Color32) -> Color32 {
        blend(color, self.ink.paper, 0.66)
    }

    /// Colour of a value of a dense system: the hue shows the sign, the saturation the magnitude
    /// relative to `most`.
    pub(super) fn value(&self, value: f64, most: f64) -> Color32 {
        if value == 0.0 {
            return self.ink.paper;
        }
        let color = if value > 0.0 { self.part(Part::Kept) } else { self.gathered() };
        let share = (value.abs() / most.max(f64::MIN_POSITIVE)).sqrt().min(1.0) as f32;
        blend(self.ink.paper, color, 0.12 + 0.88 * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(c: Color32) -> f32 {
        f32::from(c.r()) * 0.3 + f32::from(c.g()) * 0.6 + f32::from(c.b()) * 0.1
    }

    #[test]
    fn every_part_stands_out_from_the_paper_in_every_theme() {
        let parts =
            [Part::Left, Part::Filtered, Part::Kept, Part::Second, Part::Third, Part::Merged];
        for theme in Theme::ALL {
            let colors = Colors::new(theme);
            let paper = lightness(colors.ink.paper);
            for part in parts {
                let of = lightness(colors.part(part));
                assert!((of - paper).abs() > 40.0, "{theme:?} {part:?}: {of} on {paper}");
            }
        }
    }
}
