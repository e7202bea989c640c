//! The matrix whose preconditioner is set up: the selected one, the small one of the layouts, or
//! the matrix of a mesh.

use std::sync::Arc;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::MatrixRecord;

use crate::figure::Provenance;
use crate::meshes;
use crate::model::{Model, display_name, matrix_key};
use crate::picture::Picture;
use crate::set_up::{Asked, Soon, check_size, is_too_large, may_have};
use crate::state::{FsaiOf, Mesh, MeshOf, Small, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::{made_again, none_shown, selected};

/// The mesh shown if nothing of the selection has a setup.
pub const USUAL: MeshOf = MeshOf { mesh: Mesh::Five, side: 8 };

/// A matrix and its setup.
pub struct Subject {
    pub key: String,
    pub name: String,
    pub a: Arc<Csr<f64>>,
    pub asked: Asked,
    pub set_up: Arc<Soon>,
    /// The mesh that it comes from.
    mesh: Option<MeshOf>,
    /// What is said above it.
    pub note: Option<String>,
}

impl Subject {
    /// The subject that the state names, or a sentence why there is nothing to show.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        match (state.fsai.of, state.layouts.small.matrix()) {
            (FsaiOf::Mesh(mesh), _) => Self::of_mesh(model, state, mesh),
            (FsaiOf::Small, Some(a)) => {
                let name = match state.layouts.small {
                    Small::Example(_) => "Example from Layouts",
                    _ => "Small matrix",
                };
                let key = format!("small {}", state.layouts.small.text());
                let picture = || Picture::of(&LoadedValues::Real(Arc::new(a)));
                let picture = model.own_picture(key.clone(), picture)?;
                Self::new(model, state, (key, name.into()), &picture)
            }
            _ => Self::selected(model, state),
        }
    }

    /// The subject that the state names, with power 1 if its pattern is too large; if that is the selected
    /// matrix and it has no setup, a mesh with a note that says so. With `wait` the setup is computed
    /// immediately.
    pub fn shown(model: &Model, state: &ViewState, wait: bool) -> Result<Self, String> {
        let found = Self::of(model, state).and_then(|subject| match subject.refused(wait) {
            Some(why) if is_too_large(&why) && subject.asked.power > 1 => {
                subject.with_power_1(model, wait)
            }
            Some(why) => Err(subject.sentence(&why)),
            None => Ok(subject),
        });
        match found {
            Err(why) if state.fsai.of == FsaiOf::Selected => {
                let note = Some(format!("{why} This is a mesh of 8 × 8 instead."));
                Ok(Self { note, ..Self::of_mesh(model, state, USUAL)? })
            }
            found => found,
        }
    }

    /// Why it has no setup, if that is known.
    fn refused(&self, wait: bool) -> Option<String> {
        self.set_up.get(&self.a, self.asked, wait)?.as_ref().err().cloned()
    }

    fn sentence(&self, why: &str) -> String {
        format!("No setup for {}: {why}.", self.name)
    }

    /// The same with the smallest pattern.
    fn with_power_1(self, model: &Model, wait: bool) -> Result<Self, String> {
        let asked = Asked { power: 1, ..self.asked };
        let power = self.asked.power;
        let note = format!("The pattern for k = {power} is too large to draw: this is k = 1.");
        let note = self.note.iter().cloned().chain([note]).collect::<Vec<_>>().join(" ");
        let set_up = model.set_up(&self.key, asked);
        let subject = Self { asked, set_up, note: Some(note), ..self };
        match subject.refused(wait) {
            Some(why) => Err(subject.sentence(&why)),
            None => Ok(subject),
        }
    }

    fn of_mesh(model: &Model, state: &ViewState, mesh: MeshOf) -> Result<Self, String> {
        let key = format!("mesh {}", FsaiOf::Mesh(mesh).text());
        let a = || meshes::matrix(mesh.mesh, mesh.side);
        let picture = || Picture::of(&LoadedValues::Real(Arc::new(a())));
        let picture = model.own_picture(key.clone(), picture)?;
        let subject = Self::new(model, state, (key, name_of(mesh)), &picture)?;
        Ok(Self { mesh: Some(mesh), ..subject })
    }

    fn selected(model: &Model, state: &ViewState) -> Result<Self, String> {
        let record = selected(model, state)
            .ok_or_else(|| none_shown(model, "matrix") + " Generate one under Matrix.")?;
        let (name, key) = (display_name(record), matrix_key(record));
        let mut picture = model.picture(&key);
        if !picture.as_ref().is_ok_and(|picture| picture.values.is_some()) {
            let refused = |why: String| format!("No setup for {name}: {why}.");
            check_size(record.statistics.rows, record.statistics.nnz).map_err(refused)?;
            if let Some(made) = model.made(record) {
                picture = Ok(made.map_err(refused)?);
            }
        }
        let picture = picture.map_err(|why| format!("Cannot show {name}: {why}."))?;
        let note = picture.recipe.as_ref().map(|_| made_again(&name));
        Ok(Self { note, ..Self::new(model, state, (key, name), &picture)? })
    }

    fn new(
        model: &Model,
        state: &ViewState,
        (key, name): (String, String),
        picture: &Picture,
    ) -> Result<Self, String> {
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
        Ok(Self { key, name, a, asked, set_up, mesh: None, note: None })
    }

    /// The source of the numbers.
    pub(super) fn provenance(&self, model: &Model, state: &ViewState) -> Provenance {
        let is_selected = state.fsai.of == FsaiOf::Selected && self.mesh.is_none();
        let record = selected(model, state).filter(|_| is_selected);
        record.map_or_else(Provenance::default, |record| record_provenance(model, record))
    }
}

/// Returns whether the selected matrix is to be shown and has no setup, as far as its record says.
pub(super) fn is_empty(model: &Model, state: &ViewState) -> bool {
    let has_setup =
        |record: &MatrixRecord| may_have(&record.statistics) && model.has_values(record);
    state.fsai.of == FsaiOf::Selected && !selected(model, state).is_some_and(has_setup)
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
