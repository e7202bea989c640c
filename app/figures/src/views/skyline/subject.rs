//! The points shown: those of the selected set, of a recipe, or a few points.

use std::sync::Arc;

use sparsescope_core::record::Subject as Record;

use super::look::Looks;
use super::walk::Walk;
use crate::cloud::Cloud;
use crate::figure::Provenance;
use crate::model::{Model, subject_key, subject_name};
use crate::state::{PointsOf, Recipe, ViewState};
use crate::views::provenance::subject_provenance;
use crate::views::view::{none_shown, subject};

/// A point set and its picture.
#[derive(Clone)]
pub struct Subject {
    pub key: String,
    pub name: String,
    pub cloud: Arc<Cloud>,
    /// The horizontal and the vertical dimension.
    pub axes: [usize; 2],
    /// What is said above it.
    pub note: Option<String>,
}

impl Subject {
    /// The subject that the state names, or a sentence why there is nothing to show.
    pub fn of(model: &Model, state: &ViewState) -> Result<Self, String> {
        Self::named(model, state, &state.skyline.of)
    }

    /// The subject that the state names; if that is the selected one and it has no points, generated points
    /// with a note that says so.
    pub fn shown(model: &Model, state: &ViewState) -> Result<Self, String> {
        match Self::of(model, state) {
            Err(why) if state.skyline.of == PointsOf::Selected => {
                let usual = PointsOf::Made(Recipe::default());
                let note = Some(format!("{why} These are generated points instead."));
                Ok(Self { note, ..Self::named(model, state, &usual)? })
            }
            found => found,
        }
    }

    fn named(model: &Model, state: &ViewState, of: &PointsOf) -> Result<Self, String> {
        let own = |name: String, make: &dyn Fn() -> Result<Cloud, String>| {
            let key = format!("points {}", of.text());
            let cloud = model.own_cloud(key.clone(), make);
            Ok((key, name, cloud.map_err(|why| format!("No points: {why}."))?))
        };
        let found: Result<_, String> = match of {
            PointsOf::Made(recipe) => own(recipe.text(), &|| Cloud::made(recipe)),
            PointsOf::Few(points) => own("Points".into(), &|| Cloud::few(points)),
            PointsOf::Selected => {
                let record = subject(model, state).ok_or_else(|| none_shown(model, "point set"))?;
                let (name, key) = (subject_name(record), subject_key(record));
                if record.matrix().is_some() {
                    return Err(format!(
                        "{name} is a matrix: select a point set, or generate one under Points."
                    ));
                }
                let cloud = model.cloud(&key);
                let cloud =
                    cloud.map_err(|why| format!("Cannot show the points of {name}: {why}."))?;
                Ok((key, name, cloud))
            }
        };
        let (key, name, cloud) = found?;
        let axes = axes(&name, &cloud, state)?;
        Ok(Self { key, name, cloud, axes, note: None })
    }

    /// The source of the numbers.
    pub(super) fn provenance(&self, model: &Model, state: &ViewState) -> Provenance {
        let is_selected = state.skyline.of == PointsOf::Selected && self.note.is_none();
        match subject(model, state).filter(|_| is_selected) {
            Some(Record::Other(record)) => subject_provenance(model, record),
            _ => Provenance::default(),
        }
    }

    /// The algorithm that is stepped through, computed immediately.
    pub fn walk(&self, state: &ViewState) -> Walk {
        Walk::new(&self.cloud.picture, state.skyline.algorithm)
    }

    /// The look of each point, computed immediately.
    pub fn looks(&self, walk: Option<&Walk>, state: &ViewState) -> Looks {
        Looks::new(&self.cloud.picture, walk, &state.skyline)
    }

    /// Index of the selected point among those shown.
    pub(super) fn selected(&self, state: &ViewState) -> Option<usize> {
        self.cloud.picture.indices.binary_search(&state.skyline.point?).ok()
    }
}

/// Returns whether the selected points are to be shown and no point set is selected.
pub(super) fn is_empty(model: &Model, state: &ViewState) -> bool {
    let is_set = |of: Record<'_>| matches!(of, Record::Other(record) if record.kind == "points");
    state.skyline.of == PointsOf::Selected && !subject(model, state).is_some_and(is_set)
}

/// The dimensions that the state names; with a single dimension, that one twice.
fn axes(name: &str, cloud: &Cloud, state: &ViewState) -> Result<[usize; 2], String> {
    let picture = &cloud.picture;
    if picture.points == 0 {
        return Err(format!("{name} has no points."));
    }
    let count = picture.axes.len();
    let [x, y] = state.skyline.axes.map(|axis| axis as usize);
    if [x, y] == [0, 1] && count == 1 {
        return Ok([0, 0]);
    }
    match [x, y].into_iter().find(|axis| *axis >= count) {
        None => Ok([x, y]),
        Some(axis) => Err(format!(
            "{name} has no picture of dimension {axis}: choose 0 to {}.",
            count.saturating_sub(1)
        )),
    }
}
