//! The check of the skyline operator: a certificate that a set of indices is the skyline of a point set, and
//! comparisons of other results with it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::dominators::Dominators;
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Verdict};

/// Proves that a set of indices is the skyline: each other point names a skyline point that dominates it, and
/// no skyline point dominates another.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    identity: String,
    indices: Vec<u32>,
    /// For each point a skyline point that dominates it; a skyline point names itself.
    dominators: Vec<u32>,
}

/// Points that a thread takes at a time.
const CHUNK: usize = 1 << 10;

impl Certificate {
    /// Builds the certificate from the ascending indices of the skyline points. Fails with the reason if they
    /// are not the skyline, and early when `cancelled` is set.
    pub fn of(
        points: PointsView<'_>,
        indices: &[u32],
        cancelled: &AtomicBool,
    ) -> Result<Self, String> {
        let is_kept = kept(points.len(), indices)?;
        let tree = Dominators::new(points, indices);
        let mut dominators: Vec<u32> = (0..points.len()).map(|i| i as u32).collect();
        let look = |i: usize, dominator: &mut u32| match (is_kept[i], tree.of(points.point(i))) {
            (true, None) => None,
            (false, Some(by)) => {
                *dominator = by;
                None
            }
            (true, Some(by)) => {
                Some(format!("point {i} is in the result but dominated by point {by}"))
            }
            (false, None) => Some(format!(
                "point {i} is missing from the result although no point in it dominates it"
            )),
        };
        let faults: Vec<Option<String>> = dominators
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, dominators)| {
                let mut of_chunk = (chunk * CHUNK..).zip(dominators);
                let look = |(i, dominator)| match cancelled.load(Ordering::Relaxed) {
                    true => Some("the check was cancelled".to_owned()),
                    false => look(i, dominator),
                };
                of_chunk.find_map(look)
            })
            .collect();
        match faults.into_iter().flatten().next().or_else(|| fault(points, &is_kept, &dominators)) {
            Some(fault) => Err(fault),
            None => Ok(Self { identity: points.identity(), indices: indices.to_vec(), dominators }),
        }
    }

    /// The identity of the points.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The indices of the skyline points, ascending.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// For each point a skyline point that dominates it; a skyline point names itself.
    pub fn dominators(&self) -> &[u32] {
        &self.dominators
    }

    /// A skyline point that dominates point `i`; none if `i` is itself a skyline point. Panics if there is no
    /// such point.
    pub fn dominator(&self, i: u32) -> Option<u32> {
        Some(self.dominators[i as usize]).filter(|&by| by != i)
    }

    /// Checks that a result has the same points.
    pub fn check(&self, found: &[u32]) -> Check {
        same_set(&self.indices, found)
    }
}

/// Which of `points` points are in the set; fails if the indices are not ascending or out of range.
fn kept(points: usize, indices: &[u32]) -> Result<Vec<bool>, String> {
    if let Some([a, b]) = indices.array_windows().find(|[a, b]| a >= b) {
        return Err(format!("the indices are not ascending: {a} comes before {b}"));
    }
    let mut is_kept = vec![false; points];
    for &i in indices {
        let kept = is_kept.get_mut(i as usize);
        *kept.ok_or_else(|| format!("index {i} is out of range: there are {points} points"))? =
            true;
    }
    Ok(is_kept)
}

/// The first point outside the set whose dominator is not in the set or does not dominate it, by the bare
/// definition.
fn fault(points: PointsView<'_>, is_kept: &[bool], dominators: &[u32]) -> Option<String> {
    let wrong = |i: usize| {
        let by = dominators[i] as usize;
        let is_dominated = is_kept[by] && dominates(points.point(by), points.point(i));
        !(is_kept[i] || is_dominated)
    };
    let i = (0..points.len()).into_par_iter().position_first(wrong)?;
    let by = dominators[i];
    Some(format!("point {i} names point {by}, which does not dominate it or is not in the result"))
}

/// Whether p is at least as large as q in every coordinate and larger in one.
fn dominates(p: &[f64], q: &[f64]) -> bool {
    let pairs = || p.iter().zip(q);
    pairs().all(|(x, y)| x >= y) && pairs().any(|(x, y)| x > y)
}

/// Checks that `found` has the ascending indices of `expected`: in any order, each once.
pub fn same_set(expected: &[u32], found: &[u32]) -> Check {
    let mut sorted = found.to_vec();
    sorted.sort_unstable();
    let absent = |from: &[u32], i: &u32| from.binary_search(i).is_err();
    let missing: Vec<u32> = expected.iter().copied().filter(|i| absent(&sorted, i)).collect();
    let repeated: Vec<u32> =
        sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    sorted.retain(|i| absent(expected, i));
    let faults = [
        (missing, "is missing from the skyline"),
        (repeated, "is more than once in the skyline"),
        (sorted, "does not belong to the skyline"),
    ];
    let firsts = faults.iter().filter_map(|(points, what)| Some((*points.first()?, *what)));
    let Some((i, what)) = firsts.min() else {
        return Check { verdict: Verdict::Pass, ..Check::default() };
    };
    let wrong: usize = faults.iter().map(|(points, _)| points.len()).sum();
    let kept = expected.len();
    let reason = format!("point {i} {what} of {kept} points; {wrong} differ in total");
    let (reason, row) = (Some(reason), Some(u64::from(i)));
    Check { verdict: Verdict::Fail, reason, row, ..Check::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sparsescope_matrix::generate::{PointsSpec, generate_points};
    use sparsescope_matrix::matrix::Points;
    use sparsescope_matrix::memory::MemoryLimit;

    fn points(dimensions: usize, coordinates: &[f64]) -> Points {
        Points::new(dimensions, coordinates.to_vec()).unwrap()
    }

    fn generated(spec: &str) -> Points {
        let spec = PointsSpec::parse(spec).unwrap();
        generate_points(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
    }

    fn certificate(points: &Points, indices: &[u32]) -> Result<Certificate, String> {
        Certificate::of(points.view(), indices, &false.into())
    }

    fn message(points: &Points, indices: &[u32]) -> String {
        certificate(points, indices).unwrap_err()
    }

    /// The skyline by its definition.
    fn skyline(points: &Points) -> Vec<u32> {
        let all = || points.coordinates().chunks(points.dimensions());
        let is_kept = |q: &&[f64]| !all().any(|p| dominates(p, q));
        (0..).zip(all()).filter(|(_, q)| is_kept(q)).map(|(i, _)| i).collect()
    }

    /// A staircase of three, a copy of its first step, and two points below it.
    fn staircase() -> Points {
        points(2, &[0.0, 3.0, 0.0, 2.0, 1.0, 2.0, 0.0, 3.0, 2.0, -0.0, 2.0, -1.0])
    }

    #[test]
    fn the_skyline_is_certified_and_each_dropped_point_names_its_dominator() {
        let points = staircase();
        let certificate = certificate(&points, &[0, 2, 3, 4]).unwrap();
        assert_eq!(certificate.identity(), points.identity());
        let named = [0, 1, 2, 3, 4, 5].map(|i| certificate.dominator(i));
        assert!(matches!(named, [None, Some(0 | 2 | 3), None, None, None, Some(4)]), "{named:?}");
        assert_eq!(certificate.check(&[4, 3, 0, 2]).verdict, Verdict::Pass);
        assert_eq!(certificate.check(&[0, 2, 4]).row, Some(3));
    }

    #[test]
    fn one_index_too_few_or_too_many_is_no_skyline() {
        let points = staircase();
        assert_eq!(
            message(&points, &[0, 2, 3]),
            "point 4 is missing from the result although no point in it dominates it"
        );
        // A duplicate of a skyline point is also a skyline point.
        assert_eq!(
            message(&points, &[0, 2, 4]),
            "point 3 is missing from the result although no point in it dominates it"
        );
        assert_eq!(
            message(&points, &[0, 2, 3, 4, 5]),
            "point 5 is in the result but dominated by point 4"
        );
        // The point that dominates it is missing as well.
        assert_eq!(
            message(&points, &[0, 2, 3, 5]),
            "point 4 is missing from the result although no point in it dominates it"
        );
        assert_eq!(message(&points, &[0, 0, 2]), "the indices are not ascending: 0 comes before 0");
        assert_eq!(message(&points, &[2, 0]), "the indices are not ascending: 2 comes before 0");
        assert_eq!(message(&points, &[0, 6]), "index 6 is out of range: there are 6 points");
        assert!(certificate(&Points::new(1, vec![]).unwrap(), &[]).is_ok());
        assert!(certificate(&Points::new(1, vec![1.0]).unwrap(), &[]).is_err());
    }

    #[test]
    fn a_wrong_dominator_is_found_by_the_definition_alone() {
        let points = staircase();
        let is_kept = kept(6, &[0, 2, 3, 4]).unwrap();
        let fault = |dominators: [u32; 6]| fault(points.view(), &is_kept, &dominators);
        assert_eq!(fault([0, 2, 2, 3, 4, 4]), None);
        let wrong = "point 1 names point 4, which does not dominate it or is not in the result";
        assert_eq!(fault([0, 4, 2, 3, 4, 4]).as_deref(), Some(wrong));
        // Itself, and a point outside the set.
        assert!(fault([0, 1, 2, 3, 4, 4]).is_some() && fault([0, 2, 2, 3, 4, 5]).is_some());
        assert!(fault([0, 5, 2, 3, 4, 4]).is_some());
    }

    #[test]
    fn infinities_are_extremes_and_zeros_are_equal() {
        let (inf, none) = (f64::INFINITY, f64::NEG_INFINITY);
        let extremes = points(3, &[inf, none, 1.0, inf, none, 0.0, none, inf, none]);
        assert!(certificate(&extremes, &[0, 2]).is_ok());
        assert!(certificate(&extremes, &[0, 1, 2]).is_err());
        let zeros = points(2, &[0.0, -0.0, -0.0, 0.0]);
        assert!(certificate(&zeros, &[0, 1]).is_ok());
        assert!(certificate(&zeros, &[0]).is_err());
        let rounded = points(2, &[1e16, 1.0, 1e16, 0.0]);
        assert!(certificate(&rounded, &[0]).is_ok());
        assert!(certificate(&rounded, &[0, 1]).is_err());
    }

    #[test]
    fn the_first_point_that_differs_is_named_and_how_many_differ() {
        let check = same_set(&[1, 4, 7], &[7, 1, 4]);
        assert_eq!((check.verdict, check.reason, check.row), (Verdict::Pass, None, None));
        for (found, row, reason) in [
            (&[1, 7][..], 4, "point 4 is missing from the skyline of 3 points; 1 differ in total"),
            (
                &[1, 4, 5, 6, 7],
                5,
                "point 5 does not belong to the skyline of 3 points; 2 differ in total",
            ),
            (
                &[4, 1, 7, 4],
                4,
                "point 4 is more than once in the skyline of 3 points; 1 differ in total",
            ),
            (&[9, 4], 1, "point 1 is missing from the skyline of 3 points; 3 differ in total"),
        ] {
            let check = same_set(&[1, 4, 7], found);
            assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(row)), "{found:?}");
            assert_eq!(check.reason.as_deref(), Some(reason));
        }
        assert_eq!(same_set(&[], &[]).verdict, Verdict::Pass);
        assert_eq!(same_set(&[], &[0]).verdict, Verdict::Fail);
        assert_eq!(same_set(&[0], &[]).verdict, Verdict::Fail);
    }

    proptest! {
        #[test]
        fn nothing_but_the_skyline_is_certified(
            d in 1usize..6,
            values in prop::collection::vec(
                prop_oneof![
                    5 => (-2i8..3).prop_map(f64::from),
                    1 => prop::sample::select(&[-0.0, f64::INFINITY, f64::NEG_INFINITY][..]),
                    3 => -1.0..1.0f64,
                ],
                1..400,
            ),
            changed in any::<prop::sample::Index>(),
        ) {
            let whole = values.len() / d * d;
            let points = points(d, &values[..whole]);
            let mut indices = skyline(&points);
            let certificate = certificate(&points, &indices);
            prop_assert!(certificate.is_ok(), "{:?}", certificate);
            if points.is_empty() {
                return Ok(());
            }
            // One more or one less.
            let i = changed.index(points.len()) as u32;
            match indices.binary_search(&i) {
                Ok(at) => drop(indices.remove(at)),
                Err(at) => indices.insert(at, i),
            }
            prop_assert!(self::certificate(&points, &indices).is_err());
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn large_sets_are_certified_and_one_wrong_point_among_them_is_found() {
        for spec in [
            "points-anticorrelated?n=100000&d=8",
            "points-independent?n=100000&d=4",
            "points-correlated?n=100000&d=8",
            "points-sphere?n=20000&d=40",
        ] {
            let points = generated(spec);
            let view = points.view();
            let all: Vec<u32> = (0..points.len() as u32).collect();
            let tree = Dominators::new(view, &all);
            let free = |i: &u32| tree.of(view.point(*i as usize)).is_none();
            let mut indices: Vec<u32> = all.into_iter().filter(free).collect();
            // A sample of the points, by the definition.
            for i in (0..points.len()).step_by(997) {
                let is_kept = points.coordinates().chunks(points.dimensions());
                let is_kept = !is_kept.into_iter().any(|p| dominates(p, view.point(i)));
                assert_eq!(indices.binary_search(&(i as u32)).is_ok(), is_kept, "{spec}: {i}");
            }
            let certificate = certificate(&points, &indices).unwrap();
            assert_eq!(certificate.indices(), indices);
            let dropped = (0..points.len() as u32).find(|&i| certificate.dominator(i).is_some());
            let taken = indices.remove(indices.len() / 2);
            let fault = message(&points, &indices);
            assert!(
                fault.contains("is missing from the result although no point"),
                "{spec}: {fault}"
            );
            indices.push(taken);
            indices.extend(dropped);
            indices.sort_unstable();
            if dropped.is_some() {
                let fault = message(&points, &indices);
                assert!(
                    fault.contains("is in the result but dominated by point"),
                    "{spec}: {fault}"
                );
            }
        }
    }

    #[cfg(not(target_family = "wasm"))]
    #[test]
    fn the_papers_sets_have_the_skylines_that_another_program_found() {
        use sparsescope_matrix::io::{Progress, points::rbox};
        use sparsescope_test_need::{Need, has_rbox, skip};

        if !has_rbox() {
            skip!(Need::Rbox, "rbox (Qhull) is not installed");
        }
        // Sizes of skylines computed by another program.
        for (arguments, size) in [
            ("100000 W0", 26),
            ("100000 s D4", 10_352),
            ("100000 d D10", 24_892),
            ("100000 y D8", 17_458),
        ] {
            let points = rbox(arguments, MemoryLimit::unlimited(), Progress::none()).unwrap();
            let all: Vec<u32> = (0..points.len() as u32).collect();
            let tree = Dominators::new(points.view(), &all);
            let free = |i: &u32| tree.of(points.view().point(*i as usize)).is_none();
            let indices: Vec<u32> = all.into_iter().filter(free).collect();
            assert_eq!(certificate(&points, &indices).unwrap().indices().len(), size);
        }
    }

    #[test]
    fn a_wish_to_stop_is_heeded() {
        let points = staircase();
        let stopped = Certificate::of(points.view(), &[0, 2, 3, 4], &true.into());
        assert_eq!(stopped.unwrap_err(), "the check was cancelled");
    }
}
