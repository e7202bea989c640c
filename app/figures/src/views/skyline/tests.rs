//! Descriptions of points, against brute force.

use sparsescope_core::generate::{PointsSpec, generate_points};
use sparsescope_core::matrix::Points;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::skyline::{dominates, serial};

use crate::model::Model;
use crate::state::ViewState;
use crate::views::skyline::VIEW;

#[test]
fn points_of_a_recipe_are_kept_as_brute_force_keeps_them() {
    for recipe in [
        "points-anticorrelated?n=300&d=3",
        "points-correlated?n=400&d=2&seed=5",
        "points-sphere?n=200&d=4",
    ] {
        let spec = PointsSpec::parse(recipe).unwrap();
        let points = generate_points(&spec, MemoryLimit::unlimited(), &false.into()).unwrap();
        let of = |i: usize| points.view().point(i);
        let is_kept = |i: usize| (0..points.len()).all(|j| !dominates(of(j), of(i)));
        let expected = (0..points.len()).filter(|i| is_kept(*i)).count();
        let state =
            ViewState::from_fragment(&format!("v1;view=skyline;points-of={recipe}")).unwrap();
        let number =
            |asked: &str| crate::views::skyline::number(asked, &Model::default(), &state).unwrap();
        assert_eq!(number("kept"), expected.to_string(), "{recipe}");
        assert_eq!(number("dominated"), (points.len() - expected).to_string());
        let table = (VIEW.table)(&Model::default(), &state);
        for line in &table[1..] {
            let i: usize = line[2].parse().unwrap();
            assert_eq!(line[7] == "kept", is_kept(i));
            if let Ok(by) = line[8].parse::<usize>() {
                assert!(dominates(of(by), of(i)) && is_kept(by), "{by} over {i}");
            }
        }
        // The serial kernel on the drawn values, which are in single precision.
        let single = points.coordinates().iter().map(|value| f64::from(*value as f32)).collect();
        let single = Points::new(points.dimensions(), single).unwrap();
        let found = serial(single.view(), MemoryLimit::unlimited(), &|| false).unwrap().unwrap();
        let digits: String = number("comparisons").chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, found.comparisons.to_string(), "{recipe}");
    }
}
