//! The point sets that charts sort by: how they were generated, and families that differ in one
//! number only.

use sparsescope_core::record::Subject;

use crate::model::{RunOf, extent, subject_key};
use crate::views::charts::plot::Data;
use crate::views::charts::recipes::family;

/// A point set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    /// How it was generated, without the number of points; the name of a set that was not
    /// generated.
    pub(super) kind: String,
    pub(super) points: u64,
    pub(super) dimensions: u64,
}

impl Set {
    pub(super) fn of(subject: Subject<'_>) -> Option<Self> {
        let [points, dimensions] = extent(subject)?;
        let Subject::Other(record) = subject else { return None };
        let kind = record.generator.as_deref().map_or_else(|| record.name.clone(), kind);
        Some(Self { kind, points, dimensions })
    }

    /// Bytes of its coordinates in double precision.
    pub(super) fn bytes(&self) -> f64 {
        8.0 * self.points as f64 * self.dimensions as f64
    }

    /// The number of all comparisons of one point with another.
    pub(super) fn pairs(&self) -> f64 {
        self.points as f64 * self.points.saturating_sub(1) as f64
    }
}

/// `gen:points-sphere?n=9&d=3` is `points-sphere`, `rbox 100000 d D200` is `rbox d`.
fn kind(generator: &str) -> String {
    if let Some(told) = generator.strip_prefix("rbox ") {
        let is_size = |word: &str| word.trim_start_matches('D').parse::<u64>().is_ok();
        let words = told.split_whitespace().filter(|word| !is_size(word));
        return words.fold("rbox".to_owned(), |kind, word| format!("{kind} {word}"));
    }
    family(generator, &["n", "d"])
}

/// Relative tolerance for equal numbers of points: recipes add a few.
pub(super) const ALIKE: f64 = 0.01;

/// Returns whether `points` is about the number wanted.
pub(super) fn alike(points: u64, wanted: f64) -> bool {
    (points as f64 - wanted).abs() <= ALIKE * wanted
}

/// What the sets of a family differ in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Varies {
    Points,
    Dimensions,
}

/// Sets of one kind that differ in one number only.
pub(super) struct Family {
    pub(super) name: String,
    first: Set,
    sets: Vec<(Set, String)>,
}

impl Varies {
    /// The number of a set that varies.
    pub(super) fn number(self, set: &Set) -> u64 {
        match self {
            Self::Points => set.points,
            Self::Dimensions => set.dimensions,
        }
    }

    fn joins(self, family: &Set, set: &Set) -> bool {
        family.kind == set.kind
            && match self {
                Self::Points => family.dimensions == set.dimensions,
                Self::Dimensions => alike(set.points, family.points as f64),
            }
    }

    fn name(self, first: &Set) -> String {
        match self {
            Self::Points => format!("{}, D = {}", first.kind, first.dimensions),
            Self::Dimensions => format!("{}, N = {}", first.kind, first.points),
        }
    }
}

impl Family {
    /// Returns whether a run is on one of its sets.
    pub(super) fn holds(&self, run: &RunOf<'_>) -> bool {
        let key = run.key();
        self.sets.iter().any(|(_, own)| *own == key)
    }
}

/// The families among the sets with runs that pass the filters, largest family first.
pub(super) fn families(data: &Data<'_>, varies: Varies) -> Vec<Family> {
    let all = data.model.others(&data.state.filter).into_iter();
    let mut sets: Vec<(Set, String)> =
        all.filter_map(|(_, subject)| Some((Set::of(subject)?, subject_key(subject)))).collect();
    let place = |set: &Set| (set.kind.clone(), set.points, set.dimensions);
    sparsescope_core::order::sort_by(&mut sets, |a, b| place(&a.0).cmp(&place(&b.0)));
    let mut families: Vec<Family> = Vec::new();
    for (set, key) in sets {
        match families.iter_mut().find(|family| varies.joins(&family.first, &set)) {
            Some(family) => family.sets.push((set, key)),
            None => {
                let (name, first) = (varies.name(&set), set.clone());
                families.push(Family { name, first, sets: vec![(set, key)] });
            }
        }
    }
    let differ = |family: &Family| {
        family.sets.iter().any(|(set, _)| varies.number(set) != varies.number(&family.first))
    };
    families.retain(differ);
    sparsescope_core::order::sort_by(&mut families, |a, b| b.sets.len().cmp(&a.sets.len()));
    families
}

fn names(data: &Data<'_>, varies: Varies) -> Vec<String> {
    families(data, varies).into_iter().map(|family| family.name).collect()
}

/// The families whose sets differ in their number of points.
pub(super) fn of_points(data: &Data<'_>) -> Vec<String> {
    names(data, Varies::Points)
}

/// The families whose sets differ in their dimensions.
pub(super) fn of_dimensions(data: &Data<'_>) -> Vec<String> {
    names(data, Varies::Dimensions)
}

/// The family that the state selects, else the largest.
pub(super) fn chosen(data: &Data<'_>, varies: Varies) -> Option<Family> {
    let chosen = data.chosen(&names(data, varies));
    families(data, varies).into_iter().find(|family| family.name == chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_of_one_kind_whatever_their_number_and_dimensions() {
        for (generator, expected) in [
            ("rbox 100000 d D200", "rbox d"),
            ("rbox 500000 d D10", "rbox d"),
            ("rbox 100000 W0", "rbox W0"),
            ("gen:points-sphere?n=9&d=3", "points-sphere"),
            ("points-sphere?n=100&d=3&seed=7", "points-sphere seed=7"),
            ("points-sphere", "points-sphere"),
        ] {
            assert_eq!(kind(generator), expected);
        }
        assert!(alike(100_400, 100_020.0) && alike(22_627, 16_000.0 * 2.0_f64.sqrt()));
        assert!(!alike(98_999, 100_000.0) && !alike(101_001, 100_000.0));
    }
}
