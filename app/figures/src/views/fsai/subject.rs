//! The matrix whose preconditioner is set up: the selected one, the small one of the layouts, or
//! the matrix of a mesh.

use std::sync::Arc;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;

use crate::figure::Provenance;
use crate::meshes;
use crate::model::{Model, display_name, matrix_key};
use crate::picture::Picture;
use crate::set_up::{Asked, Soon};
use crate::state::{FsaiOf, Mesh, MeshOf, Small, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::selected;

/// A matrix and its setup.
pub struct Subject {
    pub key: String,
    pub name: String,
    pub a: Arc<Csr<f64>>,
    pub asked: Asked,
    pub set_up: Arc<Soon>,
}

impl Subject {
    /// The subject that the state names, or a sentence why there is nothing to show.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        let own = |key: String, make: &dyn Fn() -> Csr<f64>| {
            model.own_picture(key, || Picture::of(&LoadedValues::Real(Arc::new(make()))))
        };
        let small = state.layouts.small.matrix();
        let (key, name, picture) = match (state.fsai.of, small) {
            (FsaiOf::Mesh(mesh), _) => {
                let key = format!("mesh {}", state.fsai.of.text());
                (key.clone(), name_of(mesh), own(key, &|| meshes::matrix(mesh.mesh, mesh.side))?)
            }
            (FsaiOf::Small, Some(a)) => {
                let name = match state.layouts.small {
                    Small::Example(_) => "Example from Layouts",
                    _ => "Small matrix",
                };
                let key = format!("small {}", state.layouts.small.text());
                (key.clone(), name.into(), own(key, &|| a.clone())?)
            }
            _ => {
                let record = selected(model, state)
                    .ok_or("No matrix passes the filters: generate one under Matrix.")?;
                let (name, key) = (display_name(record), matrix_key(record));
                let picture = model.picture(&key);
                let picture = picture.map_err(|why| format!("Cannot show {name}: {why}."))?;
                (key, name, picture)
            }
        };
        let a = match &picture.values {
            Some(LoadedValues::Real(a)) => a.clone(),
            Some(LoadedValues::Complex(_)) => {
                return Err(format!("No setup for {name}: it is complex, expected a real matrix."));
            }
            None => {
                return Err(format!(
                    "No setup for {name}: its bundle has only counts per cell. Open the matrix file, or generate a matrix under Matrix."
                ));
            }
        };
        let asked = Asked::of(&state.fsai);
        let set_up = model.set_up(&key, asked);
        Ok(Self { key, name, a, asked, set_up })
    }

    /// The source of the numbers.
    pub(super) fn provenance(model: &Model, state: &ViewState) -> Provenance {
        let record = selected(model, state).filter(|_| state.fsai.of == FsaiOf::Selected);
        record.map_or_else(Provenance::default, |record| record_provenance(model, record))
    }
}

/// Display name of a mesh.
fn name_of(MeshOf { mesh, side }: MeshOf) -> String {
    let points = match mesh {
        Mesh::Seven => format!("{side} × {side} × {side}"),
        _ => format!("{side} × {side}"),
    };
    let how = match mesh {
        Mesh::Five => "5-point Laplacian",
        Mesh::Nine => "9-point Laplacian",
        Mesh::Seven => "7-point Laplacian",
        Mesh::Weak => "anisotropic",
        Mesh::Jump => "two materials",
    };
    format!("{points}, {how}")
}
