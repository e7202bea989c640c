//! The matrix that the levels are of: the selected one, the small one of the layouts, or a grid's.

use std::sync::Arc;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::MatrixRecord;

use crate::figure::Provenance;
use crate::model::{Model, display_name, matrix_key};
use crate::picture::Picture;
use crate::state::{Grid, LevelsOf, Small, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::selected;
use crate::waves::Waves;

/// A matrix and its picture.
pub(super) struct Subject {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) picture: Arc<Picture>,
    /// The grid that it is of.
    pub(super) grid: Option<Grid>,
}

impl Subject {
    /// What the state asks for, or a sentence why there is nothing to see.
    pub(super) fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        let own = |name: String, key: String, grid, a: &dyn Fn() -> Csr<f64>| {
            let picture = || Picture::of(&LoadedValues::Real(Arc::new(a())));
            let picture = model.own_picture(key.clone(), picture)?;
            Ok(Self { key, name, picture, grid })
        };
        match (state.levels.of, state.layouts.small.matrix()) {
            (LevelsOf::Grid(grid), _) => {
                let name = format!("{0} × {0} points, {1}-point stencil", grid.side, grid.points());
                let key = format!("levels {grid:?}");
                own(name, key, Some(grid), &|| matrix(grid))
            }
            (LevelsOf::Small, Some(a)) => {
                let name = match state.layouts.small {
                    Small::Example(_) => "Example of the layouts",
                    _ => "Small matrix",
                };
                let key = format!("levels {:?}", state.layouts.small);
                own(name.into(), key, None, &|| a.clone())
            }
            _ => {
                let record = selected(model, state).ok_or("No matrix passes the filters.")?;
                let (name, key) = (display_name(record), matrix_key(record));
                let picture = model.picture(&key);
                let picture = picture.map_err(|why| format!("No picture of {name}: {why}."))?;
                Ok(Self { key, name, picture, grid: None })
            }
        }
    }

    /// Its levels, or a sentence why there are none; an empty one while they are sought. With `wait`
    /// they are found now.
    pub(super) fn waves(&self, wait: bool) -> Result<&Waves, String> {
        let (rows, cols) = (self.picture.pyramid.rows(), self.picture.pyramid.cols());
        let name = &self.name;
        if rows != cols {
            return Err(format!(
                "{name} has no levels: it has {rows} rows and {cols} columns, and a sweep needs as many of both."
            ));
        }
        if rows == 0 {
            return Err(format!("{name} has no rows."));
        }
        let waves = match wait {
            true => self.picture.waves(),
            false => self.picture.waves_soon().ok_or_else(String::new)?,
        };
        let waves = waves.as_ref().map_err(|why| format!("No levels of {name}: {why}."))?;
        match waves.rows() == rows {
            true => Ok(waves),
            false => {
                Err(format!("No levels of {name}: its bundle's are of {} rows.", waves.rows()))
            }
        }
    }

    /// Where what is drawn comes from.
    pub(super) fn provenance(model: &Model, state: &ViewState) -> Provenance {
        let of_bundle = |record: &MatrixRecord| record_provenance(model, record);
        let is_selected = state.levels.of == LevelsOf::Selected;
        let record = selected(model, state).filter(|_| is_selected);
        record.map_or_else(Provenance::default, of_bundle)
    }
}

/// The matrix of a grid: each point's row has an entry for the point and one for each neighbour.
fn matrix(grid: Grid) -> Csr<f64> {
    let side = grid.side as usize;
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(side);
    let mut entries = Vec::new();
    for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
        for (v, u) in near(y).flat_map(|v| near(x).map(move |u| (v, u))) {
            if grid.diagonal || v == y || u == x {
                let value = if (v, u) == (y, x) { grid.points() as f64 - 1.0 } else { -1.0 };
                entries.push((y * side + x, v * side + u, value));
            }
        }
    }
    Csr::from_triplets(side * side, side * side, &entries)
        .expect("points and their neighbours lie in the grid") // invariant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_grid_are_joined_with_their_neighbours() {
        let five = matrix(Grid { diagonal: false, side: 3 });
        assert_eq!(five.row(4), (&[1, 3, 4, 5, 7][..], &[-1.0, -1.0, 4.0, -1.0, -1.0][..]));
        assert_eq!(five.row(0).0, [0, 1, 3]);
        let nine = matrix(Grid { diagonal: true, side: 3 });
        assert_eq!(nine.row(4).0, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(nine.row(8).0, [4, 5, 7, 8]);
        assert_eq!(matrix(Grid { diagonal: false, side: 1 }).nnz(), 1);
    }
}
