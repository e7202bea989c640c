//! How large cells and type are, and how arrays are arranged.

use emath::{Vec2, vec2};

use super::cells::Strip;
use crate::figure::text_width;
use crate::state::Theme;

/// How much room a board takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Everything is so many times as large.
    pub(super) scale: f32,
    pub(super) form: Form,
}

/// How arrays and what is said of them are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each array in lines of its own.
    Roomy,
    /// Arrays in lines one after the other, what is said of them beside the matrix.
    Lines,
    /// The same with room for tags only where there are some, which moves arrays from step to step.
    Tight,
}

impl Fit {
    /// The usual, for files and where the board may be scrolled.
    pub const USUAL: Self = Self { scale: 1.0, form: Form::Roomy };

    /// From the roomiest on, to draw the first that can be seen whole. On a projector no type becomes
    /// smaller than the theme's least.
    pub fn all(theme: Theme) -> Vec<Self> {
        let of = |form: Form| move |scale: &f32| Self { scale: *scale, form };
        let mut all: Vec<Self> = [1.4, 1.2, 1.1, 1.0].iter().map(of(Form::Roomy)).collect();
        all.extend([1.6, 1.45, 1.3, 1.2, 1.1, 1.0, 0.934].iter().map(of(Form::Lines)));
        all.extend([1.0, 0.934].iter().map(of(Form::Tight)));
        if theme != Theme::Projector {
            all.extend([0.86, 0.78, 0.7, 0.62].iter().map(of(Form::Lines)));
        }
        all
    }
}

/// Sizes of what is drawn, in points before they are scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    /// Sides of an array's cell.
    pub(super) cell: Vec2,
    /// Sides of a cell of the matrix.
    pub(super) dense: Vec2,
    /// Least room for an array's name.
    pub(super) names: f32,
    /// Height of the type of texts and values, and of indices and tags.
    pub(super) text: f32,
    pub(super) small: f32,
    /// No type is smaller.
    pub(super) least: f32,
    /// Between arrays.
    pub(super) gap: f32,
    pub(super) form: Form,
}

impl Sizes {
    /// Whether arrays stand in lines one after the other.
    pub(super) fn is_dense(&self) -> bool {
        self.form != Form::Roomy
    }

    /// Cells wide enough for most numbers.
    pub(super) fn usual(least: f32) -> Self {
        let cell = vec2(30.0, 24.0);
        let (text, small) = (13.0_f32.max(least), 10.0_f32.max(least));
        Self { cell, dense: cell, names: 76.0, text, small, least, gap: 8.0, form: Form::Roomy }
    }

    /// Cells as wide as the longest of these arrays' values and of these values of the matrix.
    pub(super) fn in_lines<'a>(
        least: f32,
        form: Form,
        strips: impl Iterator<Item = &'a Strip>,
        values: &[String],
    ) -> Self {
        let small = 10.0_f32.max(least);
        let room = |text: &str| text_width(text, small) + 4.0;
        let cells = strips.flat_map(|strip| &strip.cells);
        let widest = cells.map(|cell| room(&cell.text)).fold(15.0, f32::max);
        let height = if form == Form::Tight { small + 4.0 } else { small + 5.0 };
        let dense = values.iter().map(|value| room(value)).fold(15.0, f32::max);
        Self {
            cell: vec2(widest.min(34.0), height),
            dense: vec2(dense.min(34.0), height),
            names: 0.0,
            text: small,
            small,
            least: small.min(least.max(7.0)),
            gap: 2.0,
            form,
        }
    }
}
