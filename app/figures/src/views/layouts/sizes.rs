//! Sizes of cells and fonts, and the arrangement of arrays.

use emath::{Vec2, vec2};

use super::cells::Strip;
use crate::figure::text_width;
use crate::state::Theme;

/// How compactly a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Scale of everything.
    pub(super) scale: f32,
    pub(super) form: Form,
}

/// Arrangement of arrays and their descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each array in lines of its own.
    Roomy,
    /// Several arrays per line, descriptions next to the matrix.
    Lines,
    /// The same with space for tags only where there are some, so that arrays move between steps.
    Tight,
}

impl Fit {
    /// The default, for files and scrollable boards.
    pub const USUAL: Self = Self { scale: 1.0, form: Form::Roomy };

    /// From the roomiest to the tightest: the first one that fits is used. On a projector no font
    /// is smaller than the theme's minimum.
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

/// Sizes in points, before scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    /// Size of an array's cell.
    pub(super) cell: Vec2,
    /// Size of a cell of the matrix.
    pub(super) dense: Vec2,
    /// Minimum width of an array's name.
    pub(super) names: f32,
    /// Font sizes of texts and values, and of indices and tags.
    pub(super) text: f32,
    pub(super) small: f32,
    /// Minimum font size.
    pub(super) least: f32,
    /// Space between arrays.
    pub(super) gap: f32,
    pub(super) form: Form,
}

impl Sizes {
    /// Returns whether several arrays share a line.
    pub(super) fn is_dense(&self) -> bool {
        self.form != Form::Roomy
    }

    /// Cells wide enough for most numbers.
    pub(super) fn usual(least: f32) -> Self {
        let cell = vec2(30.0, 24.0);
        let (text, small) = (13.0_f32.max(least), 10.0_f32.max(least));
        Self { cell, dense: cell, names: 76.0, text, small, least, gap: 8.0, form: Form::Roomy }
    }

    /// Cells as wide as the longest of these arrays' values and of the matrix's values.
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
