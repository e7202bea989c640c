//! Sizes of cells and fonts, and the arrangement of arrays.

use emath::{Vec2, vec2};

use super::cells::Strip;
use crate::figure::text_width;
use crate::state::Theme;

/// Size of the smallest letters before scaling, unless the theme asks for larger ones.
const SMALLEST: f32 = 10.0;

/// How compactly a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Scale of everything.
    pub(super) scale: f32,
    pub(super) form: Form,
    /// Minimum font size after scaling, besides the theme's.
    pub(super) least: f32,
}

/// Minimum font size on a phone.
const OF_PHONE: f32 = 12.0;

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
    pub const USUAL: Self = Self { scale: 1.0, form: Form::Roomy, least: 0.0 };

    /// From the largest values to the smallest: the first one that fits is used. On a projector no font is
    /// smaller than the theme's minimum, on a phone none is smaller than 12 points.
    pub fn all(theme: Theme, phone: bool) -> Vec<Self> {
        use Form::{Lines, Roomy, Tight};
        let mut all: Vec<(Form, f32)> =
            vec![(Roomy, 1.4), (Lines, 1.6), (Roomy, 1.2), (Lines, 1.45), (Roomy, 1.1)];
        all.extend([(Roomy, 1.0), (Lines, 1.3), (Lines, 1.2), (Lines, 1.1), (Lines, 1.0)]);
        all.extend([(Lines, 0.934), (Tight, 1.0), (Tight, 0.934)]);
        if theme != Theme::Projector {
            all.extend([0.86, 0.78, 0.7, 0.62].map(|scale| (Lines, scale)));
        }
        if phone {
            all.retain(|(_, scale)| scale * SMALLEST >= OF_PHONE);
        }
        let least = if phone { OF_PHONE } else { 0.0 };
        all.into_iter().map(|(form, scale)| Self { scale, form, least }).collect()
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
        let (text, small) = (13.0_f32.max(least), SMALLEST.max(least));
        Self { cell, dense: cell, names: 76.0, text, small, least, gap: 8.0, form: Form::Roomy }
    }

    /// Cells as wide as the longest of these arrays' values and of the matrix's values.
    pub(super) fn in_lines<'a>(
        least: f32,
        form: Form,
        strips: impl Iterator<Item = &'a Strip>,
        values: &[String],
    ) -> Self {
        let small = SMALLEST.max(least);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_phone_no_value_is_smaller_than_12_points_and_elsewhere_the_largest_come_first() {
        for theme in Theme::ALL {
            let values = |fit: &Fit| match fit.form {
                Form::Roomy => Sizes::usual(0.0).text * fit.scale,
                form => Sizes::in_lines(0.0, form, [].iter(), &[]).text * fit.scale,
            };
            let phone = Fit::all(theme, true);
            assert!(phone.len() > 2 && phone.iter().all(|fit| values(fit) >= 12.0), "{theme:?}");
            let all = Fit::all(theme, false);
            let in_order: Vec<f32> =
                all.iter().filter(|fit| fit.form != Form::Tight).map(values).collect();
            assert!(in_order.is_sorted_by(|one, next| one >= next), "{in_order:?}");
        }
    }
}
