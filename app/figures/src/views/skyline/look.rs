//! The look of each point: on the skyline or dominated, or what an algorithm knows so far.

use ecolor::Color32;
use sparsescope_core::skyline::PointsPicture;

use super::walk::{Known, Walk};
use crate::figure::Mark;
use crate::state::{SkylineState, Theme};
use crate::theme::{Ink, series};

/// The look of a point; later variants are drawn on top of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Hidden,
    Dropped,
    /// Not decided yet, or hidden.
    Waiting,
    Kept,
    /// Being processed.
    Now,
}

impl Look {
    /// The looks that are drawn, in order.
    pub(super) const DRAWN: [Self; 4] = [Self::Dropped, Self::Waiting, Self::Kept, Self::Now];

    /// Its shape, its radius relative to that of a dominated point, and whether it is filled.
    pub(super) fn form(self) -> (Mark, f32, bool) {
        match self {
            Self::Hidden | Self::Dropped => (Mark::Circle, 1.0, true),
            Self::Waiting => (Mark::Circle, 1.25, false),
            Self::Kept => (Mark::Diamond, 1.7, true),
            Self::Now => (Mark::Square, 2.2, true),
        }
    }
}

/// The looks of all points shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    pub of: Vec<Look>,
    /// Indices of the points with which the current one is compared.
    pub(super) compared: Vec<usize>,
    /// Number of points that are not hidden.
    pub(super) drawn: usize,
    /// All points from this index on are hidden.
    pub(super) end: usize,
    /// The looks that occur, in drawing order.
    pub(super) drawn_as: Vec<Look>,
}

impl Looks {
    /// The looks of all points, or of those that an algorithm has processed so far.
    pub(super) fn new(picture: &PointsPicture, walk: Option<&Walk>, state: &SkylineState) -> Self {
        let dropped = if state.dropped { Look::Dropped } else { Look::Hidden };
        let all = 0..picture.indices.len();
        let Some((walk, step)) = walk.zip(state.step) else {
            let of = |place| match picture.is_kept(place) {
                _ if state.alike => Look::Waiting,
                true => Look::Kept,
                false => dropped,
            };
            return Self::of(all.map(of).collect(), Vec::new());
        };
        let step = step as usize;
        let now = walk.step(step).map(|step| step.point);
        let of = |place| match walk.known(place, step) {
            _ if place >= walk.count() => Look::Hidden,
            _ if now == Some(place) => Look::Now,
            Known::Nothing => Look::Waiting,
            Known::Kept => Look::Kept,
            Known::Dropped => dropped,
        };
        Self::of(all.map(of).collect(), walk.compared(step))
    }

    pub(super) fn at(&self, place: usize) -> Look {
        self.of.get(place).copied().unwrap_or(Look::Hidden)
    }

    fn of(of: Vec<Look>, compared: Vec<usize>) -> Self {
        let is_drawn = |look: &Look| *look != Look::Hidden;
        let drawn = of.iter().filter(|look| is_drawn(look)).count();
        let end = of.iter().rposition(is_drawn).map_or(0, |last| last + 1);
        let drawn_as = Look::DRAWN.into_iter().filter(|look| of.contains(look)).collect();
        Self { of, compared, drawn, end, drawn_as }
    }
}

/// Colours.
#[derive(Clone, Copy)]
pub struct Inks {
    pub ink: Ink,
    pub(super) kept: Color32,
    pub(super) now: Color32,
}

impl Inks {
    pub(super) fn new(theme: Theme) -> Self {
        let kept = if theme == Theme::Dark { series(5) } else { series(0) };
        Self { ink: theme.ink(), kept, now: series(3) }
    }

    pub(super) fn of(&self, look: Look) -> Color32 {
        match look {
            Look::Hidden => Color32::TRANSPARENT,
            Look::Dropped => self.ink.paper.lerp_to_gamma(self.ink.weak, 0.62),
            Look::Waiting => self.ink.weak,
            Look::Kept => self.kept,
            Look::Now => self.now,
        }
    }

    /// The colour of a cell with this fraction of the fullest cell's points, on a logarithmic
    /// scale.
    pub(super) fn density(&self, share: f32) -> Color32 {
        self.ink.paper.lerp_to_gamma(self.ink.weak, 0.06 + 0.3 * share)
    }
}
