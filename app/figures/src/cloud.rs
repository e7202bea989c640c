//! A point set to draw: from a bundle, from a recipe, or a few points from a link.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::generate::{PointsSpec, generate_points};
use sparsescope_core::io::points::Column;
use sparsescope_core::matrix::{Points, PointsView};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::skyline::{PointsPicture, dominates, serial};

use crate::state::Recipe;

/// Maximum number of points generated here, and of coordinates: the serial kernel handles them
/// instantly.
const MOST: u64 = 10_000;
const MOST_COORDINATES: u64 = 100_000;

/// The picture of a point set, or a clause that says why there is none.
pub(crate) type CloudOrWhy = Result<Arc<Cloud>, String>;

/// A point set to draw.
#[derive(Debug)]
pub struct Cloud {
    /// The points, larger coordinates being better.
    pub picture: PointsPicture,
    /// How many of the points shown are on the skyline.
    pub(crate) kept_shown: usize,
    /// What each dimension is; empty if that is unknown.
    pub(crate) columns: Vec<Column>,
}

impl Cloud {
    fn new(picture: PointsPicture) -> Self {
        Self::of_columns(picture, Vec::new())
    }

    /// Points whose dimensions are these columns. The coordinates of a column are negated if smaller is better.
    pub fn of_columns(picture: PointsPicture, columns: Vec<Column>) -> Self {
        Self { kept_shown: picture.kept_shown(), picture, columns }
    }

    /// The names of all columns; empty if they are unknown.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(name).collect();
        names.join(", ")
    }

    /// The title of a dimension, and which values are better if its column is known.
    pub(crate) fn title(&self, axis: usize) -> String {
        match self.columns.get(axis) {
            None => format!("dimension {axis}"),
            Some(column) => {
                let better = if column.minimized { "smaller" } else { "larger" };
                format!("{}: {better} is better", name(column))
            }
        }
    }

    /// Whether the coordinates of a dimension are negated.
    pub(crate) fn is_negated(&self, axis: usize) -> bool {
        self.columns.get(axis).is_some_and(|column| column.minimized)
    }

    /// The picture that a bundle holds of a set, or a clause that says why there is none.
    pub(crate) fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        match PointsPicture::from_files(files) {
            Ok(Some(picture)) => Ok(Self::new(picture)),
            Ok(None) => {
                let why = "its bundle has no picture of them: it was written by a version before \
                           1.5, or interrupted before a result was certified";
                Err(why.into())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Generates the points of a recipe.
    pub(crate) fn made(recipe: &Recipe) -> Result<Self, String> {
        let text = recipe.text();
        if recipe.n > MOST || recipe.n.saturating_mul(recipe.d) > MOST_COORDINATES {
            return Err(format!(
                "{text} is too large to generate here (limits: {MOST} points, {MOST_COORDINATES} \
                 coordinates): measure it with `sparsescope bench --operation skyline 'gen:{text}'` \
                 and open the bundle"
            ));
        }
        let spec = PointsSpec::parse(&text).map_err(|error| error.to_string())?;
        let points = generate_points(&spec, MemoryLimit::of_machine(), &AtomicBool::new(false));
        Self::of(points.map_err(|error| error.to_string())?.view())
    }

    /// A few points, all with the same number of coordinates.
    pub(crate) fn few(points: &[Vec<f32>]) -> Result<Self, String> {
        let wide = points.first().map_or(1, Vec::len);
        let coordinates = points.iter().flatten().map(|value| f64::from(*value)).collect();
        let points = Points::new(wide, coordinates).map_err(|error| error.to_string())?;
        Self::of(points.view())
    }

    fn of(points: PointsView<'_>) -> Result<Self, String> {
        let found = serial(points, MemoryLimit::of_machine(), &|| false);
        let found = found.map_err(|error| error.to_string())?.unwrap_or_default();
        let mut kept = found.indices.iter().copied().peekable();
        let by = |i: u32| {
            let point = points.point(i as usize);
            found.indices.iter().copied().find(|&k| dominates(points.point(k as usize), point))
        };
        let dominators: Option<Vec<u32>> = (0..points.len() as u32)
            .map(|i| if kept.next_if_eq(&i).is_some() { Some(i) } else { by(i) })
            .collect();
        let dominators = dominators.ok_or("no skyline point dominates a dropped point")?;
        Ok(Self::new(PointsPicture::of(points, &dominators)))
    }
}

fn name(column: &Column) -> String {
    column.name.clone().unwrap_or_else(|| format!("column {}", column.number))
}
