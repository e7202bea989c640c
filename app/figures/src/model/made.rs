//! Matrices that no bundle holds: generated again from the recipe that a bundle records, or for a view.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::MatrixRecord;

use super::{Model, PictureOrWhy, count, matrix_key};
use crate::picture::Picture;

/// Maximum nonzeros of a matrix that is generated again, so that it takes a moment.
const MOST_ENTRIES: u64 = 2_000_000;
/// The same of a matrix that is generated when asked for, which takes seconds.
const MOST_ASKED: u64 = 10_000_000;

/// The name of a matrix that is generated again.
fn made_key(record: &MatrixRecord) -> String {
    format!("made {}", matrix_key(record))
}

/// The recipe of a matrix whose rows are in the order of its generator.
fn recipe_of(record: &MatrixRecord) -> Option<&str> {
    record.generator.as_deref().filter(|_| record.reordered.is_none())
}

impl Model {
    /// The picture of a matrix that is in no bundle. A few are cached, whatever is opened.
    pub(crate) fn own_picture(&self, key: String, of: impl FnOnce() -> Picture) -> PictureOrWhy {
        self.made.get(key, |_| Ok(Arc::new(of())))
    }

    /// The picture of a matrix generated again, or a clause that says why not; `None` if it has no recipe.
    pub(crate) fn made(&self, record: &MatrixRecord) -> Option<PictureOrWhy> {
        let recipe = recipe_of(record)?;
        let (key, nnz) = (made_key(record), record.statistics.nnz);
        if nnz > MOST_ENTRIES && self.made.known(&key).is_none() {
            let [nnz, most] = [nnz, MOST_ENTRIES].map(count);
            return Some(Err(format!(
                "it has {nnz} nonzeros, more than the limit of {most} for generating it here"
            )));
        }
        Some(self.made.get(key, |_| generated(recipe, record).map(Arc::new)))
    }

    /// Returns whether [`make`](Self::make) generates a matrix that is too large to generate unasked.
    pub(crate) fn can_be_asked_for(&self, record: &MatrixRecord) -> bool {
        recipe_of(record).is_some()
            && (MOST_ENTRIES + 1..=MOST_ASKED).contains(&record.statistics.nnz)
            && self.made.known(&made_key(record)).is_none()
    }

    /// Generates a matrix of at most ten million nonzeros again, which takes seconds.
    pub fn make(&self, record: &MatrixRecord) {
        if let Some(recipe) = recipe_of(record).filter(|_| self.can_be_asked_for(record)) {
            // Its error is kept, too, and shown where the picture would be.
            let _ = self.made.get(made_key(record), |_| generated(recipe, record).map(Arc::new));
        }
    }

    /// The picture of a matrix with its values, from a bundle or generated again; otherwise the picture in the
    /// bundles.
    pub(crate) fn whole(&self, record: &MatrixRecord) -> PictureOrWhy {
        let picture = self.picture(&matrix_key(record));
        if picture.as_ref().is_ok_and(|picture| picture.values.is_some()) {
            return picture;
        }
        match self.made(record) {
            Some(Ok(made)) => Ok(made),
            _ => picture,
        }
    }

    /// Returns whether a matrix's values are in a bundle or can be generated again, without reading them.
    pub(crate) fn has_values(&self, record: &MatrixRecord) -> bool {
        let is_made = || self.made.known(&made_key(record)).is_some_and(|made| made.is_ok());
        let is_small = record.statistics.nnz <= MOST_ENTRIES;
        let can_be_made = recipe_of(record).is_some() && (is_small || is_made());
        can_be_made || self.holds(record, "matrix.mtx")
    }

    /// Returns whether a bundle has this file of a matrix, or is the matrix itself.
    pub(crate) fn holds(&self, record: &MatrixRecord, file: &str) -> bool {
        let folders = self.folders(&matrix_key(record));
        folders
            .iter()
            .any(|(open, folder)| open.picture.is_some() || folder.files.contains_key(file))
    }
}

/// Generates a matrix and checks that it is the recorded one.
fn generated(recipe: &str, record: &MatrixRecord) -> Result<Picture, String> {
    let spec = GeneratorSpec::parse(recipe).map_err(|error| error.to_string())?;
    let a = generate(&spec, MemoryLimit::of_machine(), &AtomicBool::new(false));
    let a = a.map_err(|error| error.to_string())?;
    let known = &record.statistics;
    if [a.rows(), a.cols(), a.nnz()].map(|n| n as u64) != [known.rows, known.cols, known.nnz] {
        return Err(format!("this version generates a different matrix from the recipe {recipe}"));
    }
    let mut picture = Picture::of(&LoadedValues::Real(Arc::new(a)));
    picture.recipe = Some(recipe.to_owned());
    Ok(picture)
}

/// Records this recipe for the first matrix of the first bundle.
#[cfg(test)]
pub(crate) fn with_recipe(mut model: Model, recipe: &str) -> Model {
    let bundle = Arc::make_mut(&mut model.bundles[0].bundle);
    bundle.matrices[0].record.generator = Some(recipe.into());
    model.changed();
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Filter;

    /// The example, whose bundle has pictures and recipes, but no values.
    fn example() -> Model {
        let mut model = Model::default();
        model.open("cpu.zip", include_bytes!("../../../example/cpu.zip")).unwrap();
        model
    }

    fn record<'a>(model: &'a Model, name: &str) -> &'a MatrixRecord {
        let all = model.matrices(&Filter::everything());
        all.into_iter().find(|matrix| matrix.record.name == name).unwrap().record
    }

    #[test]
    fn a_matrix_of_a_recipe_is_generated_once_and_is_the_recorded_one() {
        let model = example();
        let road = record(&model, "road");
        assert!(model.has_values(road) && !model.holds(road, "matrix.mtx"));
        assert!(model.picture(&matrix_key(road)).unwrap().values.is_none());
        let made = model.whole(road).unwrap();
        assert!(made.values.is_some() && made.recipe.as_deref() == Some("gen:road?m=300000"));
        assert_eq!(made.pyramid.entries(), road.statistics.nnz);
        assert!(Arc::ptr_eq(&made, &model.whole(road).unwrap()));
    }

    #[test]
    fn a_matrix_that_is_too_large_or_not_of_the_recipe_is_not_generated() {
        let model = example();
        let large = record(&model, "fem-3dof");
        assert!(!model.has_values(large));
        let why = model.made(large).unwrap().unwrap_err();
        assert!(why.contains("3.09 M nonzeros, more than the limit of 2 M"), "{why}");
        assert!(model.whole(large).unwrap().values.is_none());
        // Unless it is asked for.
        assert!(model.can_be_asked_for(large) && !model.can_be_asked_for(record(&model, "road")));
        model.make(large);
        assert!(model.has_values(large) && !model.can_be_asked_for(large));
        assert!(model.whole(large).unwrap().values.is_some());
        let other = MatrixRecord {
            generator: Some("gen:road?m=200".into()),
            ..record(&model, "road").clone()
        };
        assert!(model.made(&other).unwrap().unwrap_err().contains("a different matrix"));
        let none = MatrixRecord { generator: None, ..other };
        assert!(model.made(&none).is_none());
    }
}
