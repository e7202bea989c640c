//! Tests of the point generators.

use super::distribution::{anticorrelated, correlated};
use super::*;
use crate::generate::random::RowRandom;
use crate::generate::suite_entry;
use crate::matrix::Points;
use crate::memory::MemoryLimit;

fn make(spec: &str) -> Points {
    let spec = PointsSpec::parse(spec).unwrap();
    generate_points(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
}

fn error(spec: &str) -> String {
    PointsSpec::parse(spec).unwrap_err().to_string()
}

#[test]
fn points_are_those_that_the_formulas_give_in_another_language() {
    // ChaCha8 (the seed as the key's first 64 bits, the point's index as the stream, 53 of each 64-bit
    // word's bits) and the formulas in Python, hashed with hashlib: D = 5 and N = 100 as u64, then the
    // coordinates.
    for (kind, digest) in [
        ("independent", "a7636805d84c8887c1aa348e850134e59470f864a678565d2d6adc05fb19700f"),
        ("correlated", "004a39d1abb85bf597766333fbda948a3700fa8833b72fe94e2415c4c1df1c89"),
        ("anticorrelated", "757a7d5d9843d300f73b995940904c4de6e5131c9ececcd1fe643df57bfce921"),
    ] {
        assert_eq!(make(&format!("points-{kind}?n=100&d=5&seed=7")).identity(), digest, "{kind}");
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_same_points_come_out_for_any_number_of_threads_and_the_seed_decides() {
    for kind in points_kinds() {
        let spec = format!("{}?n=5000&d=3", kind.name);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| make(&spec))
        };
        let points = with(1);
        assert_eq!(points, with(3), "{spec}");
        assert_ne!(points, make(&format!("{spec}&seed=43")), "{spec}");
        // A larger set begins with the points of a smaller one.
        let fewer = make(&spec.replace("5000", "70"));
        assert_eq!(points.coordinates()[..210], *fewer.coordinates(), "{spec}");
    }
}

/// Correlation of two coordinates over all points.
fn correlation(points: &Points, j: usize, k: usize) -> f64 {
    let column = |k: usize| points.coordinates().iter().skip(k).step_by(points.dimensions());
    let mean = |k: usize| column(k).sum::<f64>() / points.len() as f64;
    let (of_j, of_k) = (mean(j), mean(k));
    let (mut both, mut squares) = (0.0, [0.0, 0.0]);
    for (x, y) in column(j).zip(column(k)) {
        both += (x - of_j) * (y - of_k);
        squares[0] += (x - of_j).powi(2);
        squares[1] += (y - of_k).powi(2);
    }
    both / (squares[0] * squares[1]).sqrt()
}

/// Mean correlation of coordinates at this distance in the ring of all coordinates.
fn at_distance(points: &Points, distance: usize) -> f64 {
    let d = points.dimensions();
    (0..d).map(|k| correlation(points, k, (k + distance) % d)).sum::<f64>() / d as f64
}

#[test]
fn coordinates_are_correlated_as_their_kinds_say() {
    // From 400 000 correlated and 350 000 anti-correlated points drawn with NumPy by the same formulas.
    for (kind, expected) in [
        ("independent", [0.0, 0.0, 0.0, 0.0]),
        ("correlated", [0.268, 0.512, 0.512, 0.512]),
        ("anticorrelated", [-0.279, -0.082, -0.015, 0.002]),
        ("sphere", [0.0, 0.0, 0.0, 0.0]),
    ] {
        let points = make(&format!("points-{kind}?n=100000&d=8"));
        for (distance, expected) in (1..).zip(expected) {
            let found = at_distance(&points, distance);
            assert!((found - expected).abs() < 0.01, "{kind}, {distance} apart: {found}");
        }
    }
}

/// The fraction of drawn points that stay inside.
fn acceptance(draw: super::distribution::Draw, d: usize) -> f64 {
    let mut point = vec![0.0; d];
    let tries = 800_000 / d;
    let inside = (0..tries).filter(|&i| draw(&mut RowRandom::new(42, i), &mut point));
    inside.count() as f64 / tries as f64
}

#[test]
fn of_anticorrelated_points_of_eight_dimensions_more_than_one_in_six_stays_inside() {
    // The probability that a walk around the ring stays inside: the trace of the eighth power of its
    // kernel (on 801 nodes, with NumPy), over the positions of points on the diagonal. The error is
    // about 0.0012.
    let share = acceptance(anticorrelated, 8);
    assert!((share - 0.1753).abs() < 0.006, "{share}");
    assert!(acceptance(correlated, 8) > 0.99);
    // Otherwise the largest recipe would not finish.
    assert!(acceptance(anticorrelated, 32) > 0.0001 && acceptance(correlated, 1000) > 0.5);
}

#[test]
fn points_lie_in_the_unit_cube_or_on_the_unit_sphere() {
    for d in [1, 2, 3, 7, 20] {
        for kind in ["independent", "correlated", "anticorrelated"] {
            let points = make(&format!("points-{kind}?n=3000&d={d}"));
            assert!(points.coordinates().iter().all(|x| (0.0..=1.0).contains(x)), "{kind} {d}");
            let mean = points.coordinates().iter().sum::<f64>() / (3000 * d) as f64;
            assert!((mean - 0.5).abs() < 0.02, "{kind} {d}: {mean}");
        }
        let sphere = make(&format!("points-sphere?n=3000&d={d}"));
        for point in sphere.coordinates().chunks(d) {
            let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((length - 1.0).abs() < 1e-15 * (2 + d) as f64, "{point:?}");
        }
        // Each coordinate has mean 0 and mean square 1/D.
        let squares = |k: usize| sphere.coordinates().iter().skip(k).step_by(d).map(|x| x * x);
        for k in 0..d {
            let (mean, expected) = (squares(k).sum::<f64>() / 3000.0, 1.0 / d as f64);
            assert!((mean / expected - 1.0).abs() < 0.15, "{mean} in {k} of {d}");
        }
        let mean = sphere.coordinates().iter().sum::<f64>() / (3000 * d) as f64;
        assert!(mean.abs() < 0.06, "{d}: {mean}");
    }
}

#[test]
fn the_sphere_is_uniform_and_not_denser_towards_the_corners_of_the_cube() {
    // Archimedes: on a sphere in three dimensions each coordinate is uniform in (-1, 1).
    let points = make("points-sphere?n=60000&d=3");
    for k in 0..3 {
        let column = points.coordinates().iter().skip(k).step_by(3);
        let mut bins = [0f64; 10];
        column.for_each(|x| bins[((x + 1.0) * 5.0).min(9.0) as usize] += 1.0);
        // Nine degrees of freedom: above 33.7 once in ten thousand sets.
        let squared: f64 = bins.iter().map(|found| (found - 6000.0).powi(2) / 6000.0).sum();
        assert!(squared < 33.7, "{k}: {bins:?}");
    }
}

#[test]
fn recipes_read_back_and_say_what_is_wrong_with_them() {
    let spec = PointsSpec::parse("gen:points-sphere?d=3&n=1k&seed=42").unwrap();
    assert_eq!(spec.to_string(), "gen:points-sphere?n=1000&d=3");
    let extent = spec.extent();
    assert_eq!((extent.points, extent.dimensions, extent.estimated), (1000, 3, false));
    assert!(make("points-correlated?n=0&d=1000").is_empty());
    assert_eq!(
        error("points-spheer?n=1&d=1"),
        "unknown generator `points-spheer` (did you mean `points-sphere`?), expected one of: \
         points-independent, points-correlated, points-anticorrelated, points-sphere"
    );
    assert_eq!(
        error("points-sphere?n=5"),
        "points-sphere needs the key `d` (coordinates per point), as in points-sphere?n=...&d=..."
    );
    assert_eq!(error("points-sphere?n=5&d=0"), "d is `0`, expected an integer from 1 to 1000");
    assert_eq!(
        error("points-anticorrelated?n=5&d=33"),
        "d is `33`, expected an integer from 1 to 32"
    );
}

#[test]
fn what_does_not_fit_is_refused_and_a_wish_to_stop_is_heeded() {
    let spec = PointsSpec::parse("points-sphere?n=4G&d=1000").unwrap();
    let error = generate_points(&spec, MemoryLimit::bytes(1 << 40), &false.into()).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "gen:points-sphere?n=4000000000&d=1000 needs 32000000000000 bytes (32000.0 GB)"
        ),
        "{error}"
    );
    let spec = PointsSpec::parse("points-sphere?n=4k&d=3").unwrap();
    let stopped = generate_points(&spec, MemoryLimit::unlimited(), &true.into()).unwrap_err();
    assert!(stopped.is_cancelled());
}

#[test]
fn suites_have_recipes_that_are_understood_and_names_of_their_own() {
    let mut names: Vec<&str> = Vec::new();
    for entry in points_suites().iter().flat_map(|suite| suite.entries) {
        let extent = entry.extent().unwrap();
        // The serial kernel compares every pair.
        let is_small = matches!(entry.recipe, PointsRecipe::Rbox { .. }) || extent.points <= 20_000;
        assert!(is_small && extent.dimensions > 1, "{entry:?}");
        assert!(suite_entry(entry.name).is_none(), "{entry:?}");
        assert_eq!(points_suite_entry(entry.name).unwrap().recipe, entry.recipe, "{entry:?}");
        names.push(entry.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 18);
    assert!(points_suite("rbox").is_some() && points_suite("mini").is_none());
}
