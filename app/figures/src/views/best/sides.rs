//! What is compared side by side: bundles, parts of a sweep as one.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::Environment;

use crate::model::{Model, OpenBundle};

/// The bundles of a machine and a revision of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) name: String,
    /// Their series.
    pub(crate) series: Vec<usize>,
}

/// The opened bundles with these series, parts of a sweep together.
pub(super) fn sides(model: &Model, with: impl Fn(usize) -> bool) -> Vec<Side> {
    let mut sides: Vec<(&Bundle, Vec<&OpenBundle>)> = Vec::new();
    for open in model.bundles().iter().filter(|open| with(open.series)) {
        match sides.iter_mut().find(|(first, _)| is_part(&open.bundle, first)) {
            Some((_, parts)) => parts.push(open),
            None => sides.push((&*open.bundle, vec![open])),
        }
    }
    sides.into_iter().map(|(_, parts)| Side::of(&parts)).collect()
}

/// Each of these bundles by itself.
pub(super) fn bundles(model: &Model, with: impl Fn(usize) -> bool) -> Vec<Side> {
    model.bundles().iter().filter(|open| with(open.series)).map(|open| Side::of(&[open])).collect()
}

/// Whether a bundle was measured by the same revision on the machines of another.
fn is_part(part: &Bundle, whole: &Bundle) -> bool {
    let is_there =
        |one: &Environment| whole.environments.iter().any(|other| one.is_same_machine(other));
    part.producer == whole.producer
        && !part.environments.is_empty()
        && part.environments.iter().all(is_there)
}

impl Side {
    fn of(parts: &[&OpenBundle]) -> Self {
        let first = parts.first().map_or("", |open| open.label());
        let name = match parts.len() {
            0 | 1 => first.to_owned(),
            all => format!("{first} and {} more", all - 1),
        };
        Self { name, series: parts.iter().map(|open| open.series).collect() }
    }
}
