//! The steps of algorithms, against brute force.

use proptest::prelude::*;
use sparsescope_core::matrix::Points;
use sparsescope_core::skyline::{PointsPicture, dominates};

use super::look::{Look, Looks};
use super::staircase;
use super::walk::{Known, MOST, Walk};
use crate::state::{Algorithm, SkylineState};

/// Points with many ties and duplicates, and their skyline by brute force.
fn sets() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<bool>)> {
    let points = (1..=4usize).prop_flat_map(|d| {
        let point = prop::collection::vec((0..5i8).prop_map(f64::from), d);
        prop::collection::vec(point, 1..24)
    });
    points.prop_map(|points| {
        let is_kept = |q: &Vec<f64>| points.iter().all(|p| !dominates(p, q));
        let kept = points.iter().map(is_kept).collect();
        (points, kept)
    })
}

fn picture(points: &[Vec<f64>], kept: &[bool]) -> PointsPicture {
    let by = |q: &Vec<f64>| (0..points.len()).find(|&j| kept[j] && dominates(&points[j], q));
    let dominators: Vec<u32> = points
        .iter()
        .enumerate()
        .map(|(i, q)| if kept[i] { i } else { by(q).unwrap() } as u32)
        .collect();
    let points = Points::new(points[0].len(), points.concat()).unwrap();
    PointsPicture::of(points.view(), &dominators)
}

/// The points in processing order, each with the points it is compared with.
fn expected(points: &[Vec<f64>], kept: &[bool], algorithm: Algorithm) -> Vec<(usize, Vec<usize>)> {
    let n = points.len();
    let until = |i: usize, others: Vec<usize>| {
        let end = others.iter().position(|&j| dominates(&points[j], &points[i]));
        let end = end.map_or(others.len(), |end| end + 1);
        (i, others[..end].to_vec())
    };
    let others = |i: usize| (0..n).filter(move |j| *j != i);
    match algorithm {
        Algorithm::OwnPoints => (0..n).map(|i| until(i, others(i).collect())).collect(),
        Algorithm::SharedMarks => {
            let mut marked = vec![false; n];
            let mut step = |i: usize| {
                if marked[i] {
                    return (i, Vec::new());
                }
                let with: Vec<usize> = others(i).filter(|j| !marked[*j]).collect();
                for &j in &with {
                    marked[j] |= dominates(&points[i], &points[j]);
                }
                (i, with)
            };
            (0..n).map(&mut step).collect()
        }
        Algorithm::Sorted => {
            let sum = |i: &usize| points[*i].iter().sum::<f64>();
            let mut order: Vec<usize> = (0..n).collect();
            // Points with equal sums do not dominate each other, so any order works; this is the
            // documented one.
            order.sort_by(|i, j| {
                let ties = points[*j].partial_cmp(&points[*i]).unwrap().then(i.cmp(j));
                sum(j).total_cmp(&sum(i)).then(ties)
            });
            let before = |at: usize| order[..at].iter().copied().filter(|j| kept[*j]).collect();
            order.iter().enumerate().map(|(at, i)| until(*i, before(at))).collect()
        }
    }
}

proptest! {
    #[test]
    fn every_algorithm_keeps_what_brute_force_keeps_in_as_many_comparisons((points, kept) in sets()) {
        let picture = picture(&points, &kept);
        for algorithm in Algorithm::ALL {
            let walk = Walk::new(&picture, *algorithm);
            let expected = expected(&points, &kept, *algorithm);
            prop_assert_eq!(walk.steps.len(), points.len());
            let (mut all, mut decided) = (0, 0);
            for (number, (point, with)) in expected.iter().enumerate() {
                let step = walk.step(number).unwrap();
                all += with.len() as u64;
                prop_assert_eq!((step.point, step.comparisons as usize), (*point, with.len()));
                prop_assert_eq!(&walk.compared(number), with, "{:?}", algorithm);
                prop_assert_eq!(walk.comparisons(number), all);
                let now = walk.decided(number);
                prop_assert!(now >= decided, "{:?}: {} after {}", algorithm, now, decided);
                decided = now;
            }
            prop_assert_eq!((walk.all_comparisons(), decided), (all, points.len()));
            for (place, kept) in kept.iter().enumerate() {
                let known = if *kept { Known::Kept } else { Known::Dropped };
                prop_assert_eq!(walk.known(place, points.len()), known);
                let by = walk.by(place);
                prop_assert_eq!(by.is_none(), *kept);
                prop_assert!(by.is_none_or(|by| dominates(&points[by], &points[place])));
            }
        }
    }

    #[test]
    fn the_staircase_has_the_kept_points_that_are_best_in_two_dimensions((points, kept) in sets()) {
        let picture = picture(&points, &kept);
        let looks = Looks::new(&picture, None, &SkylineState::default());
        let d = points[0].len();
        for axes in [[0, d - 1], [d - 1, 0]].into_iter().filter(|_| d > 1) {
            let two = |place: usize| axes.map(|axis| points[place][axis]);
            let of_kept = || (0..points.len()).filter(|place| kept[*place]).map(two);
            let best = |p: &[f64; 2]| of_kept().all(|q| !dominates(&q, p));
            let mut expected: Vec<[f32; 2]> =
                of_kept().filter(best).map(|p| p.map(|value| value as f32)).collect();
            expected.sort_by(|p, q| q[0].total_cmp(&p[0]));
            expected.dedup();
            prop_assert_eq!(staircase::corners(&picture, &looks, axes), expected);
        }
    }
}

#[test]
fn more_points_than_are_stepped_through_are_hidden_meanwhile() {
    let n = MOST + 100;
    let points: Vec<Vec<f64>> = (0..n).map(|k| vec![k as f64, (n - k) as f64]).collect();
    let picture = picture(&points, &vec![true; n]);
    let walk = Walk::new(&picture, Algorithm::Sorted);
    assert_eq!(walk.count(), MOST);
    let state = SkylineState { step: Some(3), algorithm: Algorithm::Sorted, ..Default::default() };
    let looks = Looks::new(&picture, Some(&walk), &state);
    assert_eq!(looks.drawn, MOST);
    assert_eq!(looks.of.iter().filter(|look| **look == Look::Now).count(), 1);
    let all = Looks::new(&picture, Some(&walk), &SkylineState::default());
    assert_eq!(all.drawn, n);
}
