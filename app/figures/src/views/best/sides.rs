//! What is compared side by side: bundles, parts of a sweep as one.

use std::collections::BTreeMap;

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

/// What the bundles with runs are called, by series: those that nobody named by their machines, or
/// by their files if another bundle has the same machine.
pub(super) fn names(model: &Model) -> BTreeMap<usize, String> {
    let timed = model.bundles().iter().filter(|open| !open.bundle.runs.is_empty());
    let all: Vec<(&OpenBundle, Option<&str>)> = timed.map(|open| (open, open.machine())).collect();
    let name = |(open, machine): &(&OpenBundle, Option<&str>)| {
        let differs = all.len() > 1 && all.iter().filter(|(_, of)| of == machine).count() == 1;
        let machine = machine.filter(|_| differs && open.is_named_by_file());
        (open.series, machine.unwrap_or(open.label()).to_owned())
    };
    sparsescope_core::order::map(all.iter().map(name))
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
    let names = names(model);
    sides.into_iter().map(|(_, parts)| Side::of(&parts, &names)).collect()
}

/// Each of these bundles by itself.
pub(super) fn bundles(model: &Model, with: impl Fn(usize) -> bool) -> Vec<Side> {
    let names = names(model);
    let bundles = model.bundles().iter().filter(|open| with(open.series));
    bundles.map(|open| Side::of(&[open], &names)).collect()
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
    fn of(parts: &[&OpenBundle], names: &BTreeMap<usize, String>) -> Self {
        let first = parts.first().and_then(|open| names.get(&open.series));
        let first = first.map_or("", String::as_str);
        let name = match parts.len() {
            0 | 1 => first.to_owned(),
            all => format!("{first} and {} more", all - 1),
        };
        Self { name, series: parts.iter().map(|open| open.series).collect() }
    }
}
