//! Pictures of point sets, and their files.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::picture::{BOUNDS, Bounds, CELLS};
use super::*;
use crate::gate::Certificate;
use sparsescope_matrix::generate::{PointsSpec, generate_points};
use sparsescope_matrix::matrix::Points;
use sparsescope_matrix::packed::{SMALL, deflated_len};

type Files = BTreeMap<String, Vec<u8>>;

fn generated(spec: &str) -> Points {
    let spec = PointsSpec::parse(spec).unwrap();
    generate_points(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
}

/// A dominator of each point.
fn dominators(points: &Points) -> Vec<u32> {
    let found = fast(points.view(), MemoryLimit::unlimited(), &|| false).unwrap().unwrap();
    let certificate = Certificate::of(points.view(), &found.indices, &false.into()).unwrap();
    certificate.dominators().to_vec()
}

fn picture(points: &Points) -> PointsPicture {
    PointsPicture::of(points.view(), &dominators(points))
}

fn read(files: &Files) -> PointsPicture {
    PointsPicture::from_files(files).unwrap().unwrap()
}

fn content(files: &Files) -> Vec<u8> {
    (0..).map_while(|k| files.get(&format!("points.{k}.bin"))).flatten().copied().collect()
}

/// Checks what holds for any picture.
fn holds(picture: &PointsPicture, points: &Points) {
    assert_eq!(picture.points as usize, points.len());
    assert_eq!(picture.dimensions as usize, points.dimensions());
    assert!(picture.indices.is_sorted_by(|a, b| a < b));
    assert_eq!(picture.dominators.len(), picture.indices.len());
    let point = |place: usize| points.view().point(picture.indices[place] as usize);
    for place in 0..picture.indices.len() {
        for (axis, &value) in picture.axes.iter().zip(point(place)) {
            assert_eq!(axis.values[place], (value as f32).clamp(-f32::MAX, f32::MAX));
            assert!((axis.least..=axis.greatest).contains(&axis.values[place]));
        }
        match picture.dominator(place) {
            None => assert!(picture.is_kept(place)),
            Some(by) => {
                assert!(picture.is_kept(by) && !picture.is_kept(place));
                assert!(dominates(point(by), point(place)));
            }
        }
    }
    for density in &picture.densities {
        assert_eq!(density.counts.iter().sum::<u32>() as usize, points.len());
    }
}

#[test]
fn a_small_set_is_shown_whole_with_who_dominates_whom() {
    let coordinates = [0.0, 3.0, 0.0, 2.0, 1.0, 2.0, 0.0, 3.0, 2.0, -0.0, 2.0, -1.0];
    let points = Points::new(2, coordinates.to_vec()).unwrap();
    let picture = picture(&points);
    holds(&picture, &points);
    assert!(picture.is_whole() && picture.densities.is_empty() && picture.density(0, 1).is_none());
    assert_eq!((picture.kept, picture.kept_shown(), picture.clamped), (4, 4, 0));
    assert_eq!(picture.axes[0].values, [0.0, 0.0, 1.0, 0.0, 2.0, 2.0]);
    assert_eq!((picture.axes[1].least, picture.axes[1].greatest), (-1.0, 3.0));
    assert_eq!(
        (picture.dominator(5), picture.dominator(4), picture.dominator(6)),
        (Some(4), None, None)
    );
    assert!(!picture.is_kept(6));
    let files = picture.to_files(1);
    assert_eq!(files.len(), 2);
    assert_eq!(read(&files), picture);
    assert!(picture.to_files(0).is_empty());
    assert_eq!(PointsPicture::from_files(&Files::new()), Ok(None));
    let none = self::picture(&Points::new(3, vec![]).unwrap());
    assert_eq!((none.axes.len(), none.is_whole()), (3, true));
    assert_eq!(read(&none.to_files(1)), none);
}

#[test]
fn all_is_shown_up_to_the_bounds_and_one_point_or_coordinate_more_is_not() {
    for (n, d, axes, whole) in [
        (BOUNDS.whole, 8, 8, true),
        (BOUNDS.whole, 9, 8, true),
        (BOUNDS.whole + 1, 7, 7, false),
        (BOUNDS.whole + 1, 1, 1, false),
        (800, 1000, 1000, true),
        (801, 1000, 8, true),
    ] {
        let points = Points::new(d, (0..n * d).map(|k| (k % 997) as f64).collect()).unwrap();
        // Any of the skyline points will do.
        let by = (0..n as u32).map(|i| if i < 50_000 { i } else { i % 50_000 });
        let picture = PointsPicture::of(points.view(), &by.collect::<Vec<_>>());
        assert_eq!((picture.axes.len(), picture.is_whole()), (axes, whole), "{n} × {d}");
        let pairs = if whole { 0 } else { axes * (axes - 1) / 2 };
        assert_eq!(picture.densities.len(), pairs);
        let shown = if whole { n } else { 50_000 + BOUNDS.dropped };
        assert_eq!(picture.indices.len(), shown);
    }
}

#[test]
fn of_a_large_set_the_skyline_a_sample_and_densities_are_shown() {
    let points = generated("points-independent?n=120000&d=5");
    let picture = picture(&points);
    holds(&picture, &points);
    assert_eq!(picture.kept_shown(), picture.kept as usize);
    assert_eq!(picture.indices.len(), picture.kept as usize + 20_000);
    assert_eq!((picture.densities.len(), picture.densities[0].cells), (10, CELLS));
    // A column of cells counts the points that lie in it, and so does a row.
    let density = picture.density(1, 4).unwrap();
    let (along, up) = (&picture.axes[1], &picture.axes[4]);
    let [column, row] = [17, 200];
    let lines = || density.counts.chunks(CELLS);
    let in_column: u32 = lines().map(|line| line[column]).sum();
    let in_row: u32 = lines().nth(row).unwrap().iter().sum();
    for (k, span, found) in
        [(1, along.span(column, CELLS), in_column), (4, up.span(row, CELLS), in_row)]
    {
        let inside = |p: &&[f64]| span.contains(&(p[k] as f32));
        let count = points.coordinates().chunks(5).filter(inside).count();
        // Except for a point on an edge.
        assert!(count > 300 && count.abs_diff(found as usize) <= 1, "{count} {found}");
    }
    assert_eq!(along.cell(along.greatest, CELLS), CELLS - 1);
    assert_eq!(along.cell(along.least, CELLS), 0);
    // The sample is uniform over the whole set: 5000 expected, with a standard deviation of 57.
    let early = picture.indices.iter().filter(|i| **i < 30_000).count();
    assert!((4700..5900).contains(&early), "{early}");
    assert_eq!(self::picture(&points), picture, "drawn in the same way");
    assert_eq!((picture.density(4, 1), picture.density(1, 5)), (None, None));
}

#[test]
fn of_a_large_skyline_a_sample_is_shown_with_all_that_dominate_a_point_shown() {
    let points = generated("points-anticorrelated?n=4000&d=4");
    let bounds = Bounds { whole: 3000, kept: 200, dropped: 150, ..BOUNDS };
    let picture = PointsPicture::within(points.view(), &dominators(&points), &bounds);
    holds(&picture, &points);
    assert!(picture.kept > 200);
    assert_eq!((picture.kept_shown(), picture.indices.len()), (200, 350));
    assert_eq!(read(&picture.to_files(u64::MAX)), picture);
    // First no point is dominated, then all but one.
    let line =
        |up: f64| Points::new(2, (0..90).flat_map(|i| [f64::from(i), up * f64::from(i)]).collect());
    let bounds = Bounds { whole: 50, kept: 20, dropped: 10, ..BOUNDS };
    for (up, shown) in [(-1.0, 20), (1.0, 11)] {
        let points = line(up).unwrap();
        let picture = PointsPicture::within(points.view(), &dominators(&points), &bounds);
        holds(&picture, &points);
        assert_eq!(picture.indices.len(), shown);
        assert_eq!(read(&picture.to_files(u64::MAX)), picture);
    }
}

#[test]
fn coordinates_beyond_f32_are_drawn_at_its_ends_and_counted() {
    let (inf, none) = (f64::INFINITY, f64::NEG_INFINITY);
    let points =
        Points::new(2, vec![1e300, -1e300, inf, none, 1e-300, f64::from(f32::MAX)]).unwrap();
    let picture = picture(&points);
    assert_eq!(picture.clamped, 4);
    assert_eq!(picture.axes[0].values, [f32::MAX, f32::MAX, 0.0]);
    assert_eq!(picture.axes[1].values, [-f32::MAX, -f32::MAX, f32::MAX]);
    assert_eq!(read(&picture.to_files(1)), picture);
    let axis = &picture.axes[1];
    assert_eq!((axis.cell(0.0, 256), axis.span(0, 1)), (128, -f32::MAX..f32::MAX));
}

#[test]
fn densities_become_coarser_until_they_fit_and_are_the_same_points() {
    let points = generated("points-independent?n=3000&d=3");
    let bounds = Bounds { whole: 100, dropped: 60, ..BOUNDS };
    let whole = PointsPicture::within(points.view(), &dominators(&points), &bounds);
    let fine = read(&whole.to_files(u64::MAX));
    assert_eq!(fine, whole);
    let mut cells = Vec::new();
    for budget in [100_000, 10_000, 3000, 500, 1] {
        let coarse = read(&whole.to_files(budget));
        cells.push(coarse.densities[0].cells);
        let mut density = whole.density(0, 2).cloned();
        while density.as_ref().is_some_and(|density| density.cells > cells[cells.len() - 1]) {
            density = density.and_then(|density| density.coarser());
        }
        assert_eq!(coarse.density(0, 2), density.as_ref());
        assert_eq!((&coarse.axes, &coarse.indices), (&whole.axes, &whole.indices));
    }
    assert!(cells.is_sorted_by(|a, b| a >= b) && cells[0] == CELLS, "{cells:?}");
    assert!(cells[2] < CELLS && cells[2] > 1 && cells[4] == 1, "{cells:?}");
}

#[test]
fn whatever_the_points_their_files_are_within_what_readers_of_bundles_accept() {
    let n = BOUNDS.whole;
    // Identical points: they compress to almost nothing.
    let points = Points::new(8, vec![1.0; 8 * n]).unwrap();
    let picture = picture(&points);
    let files = picture.to_files(1 << 17);
    assert!(files.values().all(|file| file.len() <= SMALL));
    assert_eq!(files.len(), 5);
    assert!(files.values().map(|file| deflated_len(file)).sum::<u64>() < 20_000);
    assert_eq!(read(&files), picture);
}

/// A set with a sample and densities.
static FILES: LazyLock<Files> = LazyLock::new(|| {
    let points = generated("points-independent?n=900&d=3");
    let bounds = Bounds { whole: 100, kept: 50, dropped: 60, ..BOUNDS };
    PointsPicture::within(points.view(), &dominators(&points), &bounds).to_files(2000)
});

#[test]
fn files_that_are_cut_or_contradict_themselves_are_refused() {
    let all = content(&FILES);
    for len in 0..all.len() {
        let mut cut = FILES.clone();
        cut.insert("points.0.bin".to_owned(), all[..len].to_vec());
        let error = PointsPicture::from_files(&cut).unwrap_err();
        assert!(matches!(error, PointsPictureError::Content(_)), "{len}: {error}");
    }
    let mut longer = FILES.clone();
    longer.insert("points.1.bin".to_owned(), vec![0]);
    assert!(PointsPicture::from_files(&longer).is_err());
    let header: serde_json::Value = serde_json::from_slice(&FILES["points.json"]).unwrap();
    let huge = u64::MAX;
    let small = u64::from(u32::MAX);
    for (field, values) in [
        ("points", &[huge, small, 0, 1, 899, 901][..]),
        ("dimensions", &[huge, 0, 2]),
        ("kept", &[huge, 0, 901, 1]),
        ("shown", &[huge, 901, 109, 111, 0]),
        ("kept_shown", &[huge, 49, 51, 0]),
        ("axes", &[huge, 0, 2, 4]),
        ("clamped", &[huge, 2701]),
        ("density_cells", &[huge, 512, 3, 0, 1]),
    ] {
        for &value in values {
            let mut wrong = header.clone();
            wrong[field] = value.into();
            let mut files = FILES.clone();
            files.insert("points.json".to_owned(), serde_json::to_vec(&wrong).unwrap());
            assert!(PointsPicture::from_files(&files).is_err(), "{field} = {value}");
        }
    }
    for (name, missing) in [("points.json", "points.json"), ("points.0.bin", "points.0.bin")] {
        let mut files = FILES.clone();
        files.remove(name);
        let error = PointsPicture::from_files(&files).unwrap_err();
        assert_eq!(error, PointsPictureError::Missing(missing));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_points_they_come_back(
        d in 1usize..12,
        values in prop::collection::vec(
            prop_oneof![
                6 => (-3i8..4).prop_map(f64::from),
                2 => prop::sample::select(
                    &[-0.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324][..]
                ),
                2 => -1.0..1.0f64,
            ],
            0..600,
        ),
        whole in 0usize..80,
        kept in 5usize..30,
        coordinates in 0usize..600,
        budget in 1u64..2000,
    ) {
        let points = Points::new(d, values[..values.len() / d * d].to_vec()).unwrap();
        // With densities there are at most eight axes.
        let whole = if d > 8 { 600 } else { whole };
        let bounds = Bounds { whole, kept, dropped: 5, coordinates, ..BOUNDS };
        let picture = PointsPicture::within(points.view(), &dominators(&points), &bounds);
        holds(&picture, &points);
        let back = read(&picture.to_files(budget));
        holds(&back, &points);
        let densities = picture.densities.clone();
        prop_assert_eq!(back.densities.len(), densities.len());
        prop_assert_eq!(PointsPicture { densities, ..back }, picture);
    }

    #[test]
    fn changed_bytes_never_panic(at in 0usize..100_000, with in any::<u8>(), in_header: bool) {
        let mut files = FILES.clone();
        let name = if in_header { "points.json" } else { "points.0.bin" };
        let content = files.get_mut(name).unwrap();
        let at = at % content.len();
        content[at] = with;
        if let Ok(Some(picture)) = PointsPicture::from_files(&files) {
            let shown = 0..picture.indices.len();
            let is_known = |by: usize| shown.contains(&by) && picture.is_kept(by);
            let are_known = shown.clone().all(|p| picture.dominator(p).is_none_or(is_known));
            prop_assert!(are_known);
            prop_assert_eq!(picture.axes.len(), 3);
        }
    }
}
