//! The matrix whose levels are shown: the selected one, the small one of the layouts, or a grid's.

use std::sync::Arc;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::MatrixRecord;

use crate::figure::Provenance;
use crate::meshes;
use crate::model::{Model, display_name, matrix_key};
use crate::picture::Picture;
use crate::state::{Grid, LevelsOf, Mesh, Small, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::{made_again, none_shown, selected};
use crate::waves::Waves;

/// The grid shown if nothing of the selection has levels.
pub const USUAL: Grid = Grid { diagonal: false, side: 8 };

/// A matrix and its picture.
pub struct Subject {
    pub key: String,
    pub name: String,
    pub(super) picture: Arc<Picture>,
    /// The grid that it comes from.
    pub grid: Option<Grid>,
    /// What is said above it.
    pub note: Option<String>,
}

impl Subject {
    /// The subject that the state names, or a sentence why there is nothing to show.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        match (state.levels.of, state.layouts.small.matrix()) {
            (LevelsOf::Grid(grid), _) => Self::of_grid(model, grid),
            (LevelsOf::Small, Some(a)) => {
                let name = match state.layouts.small {
                    Small::Example(_) => "Example from Layouts",
                    _ => "Small matrix",
                };
                let key = format!("small {}", state.layouts.small.text());
                let picture = || Picture::of(&LoadedValues::Real(Arc::new(a)));
                let picture = model.own_picture(key.clone(), picture)?;
                Ok(Self { key, name: name.into(), picture, grid: None, note: None })
            }
            _ => Self::selected(model, state),
        }
    }

    /// The subject that the state names; if that is the selected matrix and it has no levels, a grid with a
    /// note that says so. With `wait` they are computed immediately.
    pub fn shown(model: &Model, state: &ViewState, wait: bool) -> Result<Self, String> {
        let found = Self::of(model, state).and_then(|subject| {
            let why = subject.waves(wait).err().filter(|why| !why.is_empty());
            why.map_or(Ok(subject), Err)
        });
        match found {
            Err(why) if state.levels.of == LevelsOf::Selected => {
                let note = Some(format!("{why} This is a grid of 8 × 8 instead."));
                Ok(Self { note, ..Self::of_grid(model, USUAL)? })
            }
            found => found,
        }
    }

    fn of_grid(model: &Model, grid: Grid) -> Result<Self, String> {
        let name = format!("{0} × {0} points, {1}-point stencil", grid.side, grid.points());
        let key = format!("levels {}", LevelsOf::Grid(grid).text());
        let picture = || Picture::of(&LoadedValues::Real(Arc::new(matrix(grid))));
        let picture = model.own_picture(key.clone(), picture)?;
        Ok(Self { key, name, picture, grid: Some(grid), note: None })
    }

    fn selected(model: &Model, state: &ViewState) -> Result<Self, String> {
        let record = selected(model, state).ok_or_else(|| none_shown(model, "matrix"))?;
        let (name, key) = (display_name(record), matrix_key(record));
        let picture = model.picture(&key);
        if !picture.as_ref().is_ok_and(|picture| picture.has_waves())
            && let Some(made) = model.made(record)
        {
            let picture = made.map_err(|why| format!("No levels for {name}: {why}."))?;
            let note = Some(made_again(&name));
            return Ok(Self { key: format!("{key}-made"), name, picture, grid: None, note });
        }
        let picture = picture.map_err(|why| format!("Cannot show {name}: {why}."))?;
        Ok(Self { key, name, picture, grid: None, note: None })
    }

    /// Its levels, or a sentence why there are none; an empty sentence while they are being
    /// computed. With `wait` they are computed immediately.
    pub fn waves(&self, wait: bool) -> Result<&Waves, String> {
        let (rows, cols) = (self.picture.pyramid.rows(), self.picture.pyramid.cols());
        let name = &self.name;
        if rows != cols {
            return Err(format!(
                "{name} has no levels: it has {rows} rows and {cols} columns, expected a square matrix."
            ));
        }
        if rows == 0 {
            return Err(format!("{name} has no rows."));
        }
        let waves = match wait {
            true => self.picture.waves(),
            false => self.picture.waves_soon().ok_or_else(String::new)?,
        };
        let waves = waves.as_ref().map_err(|why| format!("No levels for {name}: {why}."))?;
        match waves.rows() == rows {
            true => Ok(waves),
            false => Err(format!(
                "No levels for {name}: the levels in its bundle are for {} rows.",
                waves.rows()
            )),
        }
    }

    /// The source of the numbers.
    pub(super) fn provenance(&self, model: &Model, state: &ViewState) -> Provenance {
        let of_bundle = |record: &MatrixRecord| record_provenance(model, record);
        let is_selected = state.levels.of == LevelsOf::Selected && self.grid.is_none();
        let record = selected(model, state).filter(|_| is_selected);
        record.map_or_else(Provenance::default, of_bundle)
    }
}

/// Returns whether the selected matrix is to be shown and has no levels.
pub(super) fn is_empty(model: &Model, state: &ViewState) -> bool {
    let has_levels = |record: &MatrixRecord| {
        record.statistics.rows == record.statistics.cols
            && (model.has_values(record) || model.depth(&matrix_key(record)).is_some())
    };
    state.levels.of == LevelsOf::Selected && !selected(model, state).is_some_and(has_levels)
}

/// The matrix of a grid.
fn matrix(grid: Grid) -> Csr<f64> {
    meshes::matrix(if grid.diagonal { Mesh::Nine } else { Mesh::Five }, grid.side)
}
