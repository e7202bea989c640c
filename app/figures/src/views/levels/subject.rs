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
use crate::views::view::selected;
use crate::waves::Waves;

/// A matrix and its picture.
pub struct Subject {
    pub key: String,
    pub name: String,
    pub(super) picture: Arc<Picture>,
    /// The grid that it comes from.
    pub grid: Option<Grid>,
}

impl Subject {
    /// The subject that the state names, or a sentence why there is nothing to show.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        let own = |name: String, key: String, grid, a: &dyn Fn() -> Csr<f64>| {
            let picture = || Picture::of(&LoadedValues::Real(Arc::new(a())));
            let picture = model.own_picture(key.clone(), picture)?;
            Ok(Self { key, name, picture, grid })
        };
        match (state.levels.of, state.layouts.small.matrix()) {
            (LevelsOf::Grid(grid), _) => {
                let name = format!("{0} × {0} points, {1}-point stencil", grid.side, grid.points());
                let key = format!("levels {}", state.levels.of.text());
                own(name, key, Some(grid), &|| matrix(grid))
            }
            (LevelsOf::Small, Some(a)) => {
                let name = match state.layouts.small {
                    Small::Example(_) => "Example from Layouts",
                    _ => "Small matrix",
                };
                let key = format!("small {}", state.layouts.small.text());
                own(name.into(), key, None, &|| a.clone())
            }
            _ => {
                let record = selected(model, state).ok_or("No matrix passes the filters.")?;
                let (name, key) = (display_name(record), matrix_key(record));
                let picture = model.picture(&key);
                let picture = picture.map_err(|why| format!("Cannot show {name}: {why}."))?;
                Ok(Self { key, name, picture, grid: None })
            }
        }
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
    pub(super) fn provenance(model: &Model, state: &ViewState) -> Provenance {
        let of_bundle = |record: &MatrixRecord| record_provenance(model, record);
        let is_selected = state.levels.of == LevelsOf::Selected;
        let record = selected(model, state).filter(|_| is_selected);
        record.map_or_else(Provenance::default, of_bundle)
    }
}

/// The matrix of a grid.
fn matrix(grid: Grid) -> Csr<f64> {
    meshes::matrix(if grid.diagonal { Mesh::Nine } else { Mesh::Five }, grid.side)
}
