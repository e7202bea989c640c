//! The small matrix that is drawn slot by slot: an example, a part of the selected matrix, or one
//! drawn by hand.

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;

use crate::model::{Model, display_name};
use crate::picture::Picture;
use crate::state::layouts::MOST;
use crate::state::{Example, LayoutsState, Pattern, Small, ViewState};
use crate::views::view::{none_shown, selected};

/// A matrix of at most [`MOST`] rows and columns.
pub struct Subject {
    pub a: Csr<f64>,
    pub title: String,
    /// Its first row and column in the matrix of which it is a part.
    pub from: (usize, usize),
    /// Size of the matrix of which it is a part, if that is larger.
    pub part_of: Option<(usize, usize)>,
}

impl Subject {
    /// The subject that the state names, or a sentence why it cannot be shown.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        let small = &state.layouts.small;
        let Some(a) = small.matrix() else { return Self::selected(model, state) };
        let title = match small {
            Small::Example(example) => title(*example),
            _ => "Drawn by hand, values 1, 2, … row by row",
        };
        Ok(Self { a, title: title.into(), from: (0, 0), part_of: None })
    }

    fn selected(model: &Model, state: &ViewState) -> Result<Self, String> {
        let record = selected(model, state).ok_or_else(|| none_shown(model, "matrix"))?;
        let name = display_name(record);
        let picture = model.whole(record);
        let picture = picture.map_err(|why| format!("Cannot show {name}: {why}."))?;
        let (rows, cols) = (picture.pyramid.rows(), picture.pyramid.cols());
        let (row, col) = origin(&state.layouts, rows, cols);
        let (height, width) = (MOST.min(rows - row), MOST.min(cols - col));
        let entries = window(&picture, row..row + height, col..col + width).ok_or_else(|| {
            format!("The individual nonzeros of {name} are not available: its bundle has only counts. Open the matrix file.")
        })?;
        let a = Csr::from_triplets(height, width, &entries)
            .map_err(|error| format!("Cannot show {name}: {error}."))?;
        let more = (rows, cols) != (height, width);
        Ok(Self { a, title: name, from: (row, col), part_of: more.then_some((rows, cols)) })
    }

    /// Its pattern, for further drawing.
    pub fn pattern(&self) -> Pattern {
        let rows = 0..self.a.rows();
        let entries = rows.flat_map(|i| self.a.row(i).0.iter().map(move |&j| (i, j as usize)));
        Pattern::of(self.a.rows(), self.a.cols(), entries)
    }
}

/// Name of an example.
pub fn title(example: Example) -> &'static str {
    match example {
        Example::Five => "5 × 5 example from the CSR reports",
        Example::Four => "4 × 4 example from the FSAI thesis",
        Example::Eight => "8 × 8 example from the lessons",
    }
}

/// First row and column of a part, clamped to the matrix.
fn origin(state: &LayoutsState, rows: usize, cols: usize) -> (usize, usize) {
    let inside = |first: u32, n: usize| (first as usize).min(n.saturating_sub(MOST));
    (inside(state.from.0, rows), inside(state.from.1, cols))
}

/// The nonzeros in a part of a matrix, numbered from its corner; their values are ones if the
/// bundle has none. `None` if single nonzeros are not known.
fn window(
    picture: &Picture,
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
) -> Option<Vec<(usize, usize, f64)>> {
    fn cut<T: sparsescope_core::matrix::Scalar>(
        a: &Csr<T>,
        rows: &std::ops::Range<usize>,
        cols: &std::ops::Range<usize>,
        real: impl Fn(T) -> f64,
    ) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::new();
        for i in rows.clone() {
            let (col, val) = a.row(i);
            let inside = col.iter().zip(val).filter(|(j, _)| cols.contains(&(**j as usize)));
            entries
                .extend(inside.map(|(j, v)| (i - rows.start, *j as usize - cols.start, real(*v))));
        }
        entries
    }
    match &picture.values {
        Some(LoadedValues::Real(a)) => Some(cut(a, &rows, &cols, |v| v)),
        Some(LoadedValues::Complex(a)) => Some(cut(a, &rows, &cols, |v| v.re)),
        None => {
            let level = picture.pyramid.levels().first().filter(|level| level.shift() == 0)?;
            let mut line = vec![0; cols.len()];
            let mut entries = Vec::new();
            for i in rows.clone() {
                level.line(i, cols.start, &mut line);
                let filled = line.iter().enumerate().filter(|(_, count)| **count > 0);
                entries.extend(filled.map(|(j, _)| (i - rows.start, j, 1.0)));
            }
            Some(entries)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_lies_inside_whatever_is_asked_for() {
        let at = |from, rows, cols| {
            origin(&LayoutsState { from, ..LayoutsState::default() }, rows, cols)
        };
        assert_eq!(at((5, 900), 100, 100), (5, 84));
        assert_eq!(at((5, 5), 3, 16), (0, 0));
    }
}
