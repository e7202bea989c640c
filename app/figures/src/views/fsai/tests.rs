//! The setup against its definitions, and its description.

use std::sync::Arc;

use super::VIEW;
use super::subject::Subject;
use crate::meshes;
use crate::model::Model;
use crate::model::made::with_recipe;
use crate::set_up::brute;
use crate::set_up::{Asked, Part, SetUp};
use crate::state::{FsaiState, Mesh, PatternWord, ViewState};
use crate::why;

/// The number that a lesson shows for this state.
fn number(asked: &str, state: &str) -> f64 {
    let state = ViewState::from_fragment(&format!("v1;view=preconditioner;{state}")).unwrap();
    let told = crate::views::facts::number(asked, &Model::default(), &state).unwrap();
    told.replace('\u{202f}', "").parse().unwrap()
}

#[test]
fn every_pattern_group_and_row_is_what_the_definitions_say() {
    for (mesh, side) in [(Mesh::Five, 7), (Mesh::Nine, 6), (Mesh::Seven, 4), (Mesh::Weak, 6)] {
        let a = Arc::new(meshes::matrix(mesh, side));
        for (power, with_all_paths, delta, tau, merge) in [
            (1, false, 0.0, 0.0, None),
            (2, false, 0.0, 0.02, None),
            (3, true, 0.0, 0.0, None),
            (3, false, 0.01, 0.001, Some(1.05)),
            (2, true, 0.0, 0.0, Some(1.3)),
        ] {
            let what = format!("{mesh:?} {power} {with_all_paths} {delta} {tau} {merge:?}");
            let rule = if with_all_paths { PatternWord::Power } else { PatternWord::Recursive };
            let asked = Asked { rule, power, prefilter: delta, postfilter: tau, merge };
            let found = SetUp::new(a.clone(), asked).unwrap();
            let kept = brute::kept(&a, delta);
            let pattern = brute::power(&kept, power, with_all_paths);
            let entries = |rows: &brute::Rows| rows.iter().map(Vec::len).sum::<usize>();
            assert_eq!(found.counts.filtered, entries(&kept), "{what}");
            assert_eq!(found.counts.pattern, entries(&pattern), "{what}");
            let cubes = |sizes: &mut dyn Iterator<Item = usize>| -> f64 {
                sizes.map(|m| (m as f64).powi(3)).sum()
            };
            let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
            assert!(near(found.alone.work, cubes(&mut pattern.iter().map(Vec::len))), "{what}");
            let groups = match merge {
                Some(alpha) => brute::groups(&pattern, alpha),
                None => (0..).zip(&pattern).map(|(i, row)| (vec![i], row.clone())).collect(),
            };
            assert_eq!(found.merged.count, groups.len(), "{what}");
            let sizes = &mut groups.iter().map(|(_, union)| union.len());
            assert!(near(found.merged.work, cubes(sizes)), "{what}");
            let mut dropped = 0;
            for (members, union) in &groups {
                for &i in members {
                    let group = found.groups[members[0] as usize];
                    assert_eq!(found.groups[i as usize], group, "{what}");
                    let p: Vec<u32> = union.iter().copied().filter(|&j| j <= i).collect();
                    let (before, after) = brute::factor_row(&a, &p, tau);
                    dropped += before.len() - after.len();
                    let gathered = found.gathered(i).unwrap();
                    assert_eq!(gathered.p, p, "{what} row {i}");
                    assert_eq!(gathered.system, brute::gathered(&a, &p), "{what} row {i}");
                    for (one, other) in gathered.solution.iter().zip(brute::solution(&a, &p)) {
                        assert!((one - other).abs() < 1e-12, "{what} row {i}");
                    }
                    let row: Vec<f64> = gathered.factor.iter().copied().flatten().collect();
                    assert_eq!(row.len(), after.len(), "{what} row {i}");
                    for (one, (_, other)) in row.iter().zip(after) {
                        assert!((one - other).abs() < 1e-12, "{what} row {i}: {one} {other}");
                    }
                    for cell in found.row(i as usize) {
                        let in_pattern = pattern[i as usize].contains(&cell.col);
                        let has = brute::entry(&a, i as usize, cell.col as usize) != 0.0;
                        assert_eq!(cell.in_a, has, "{what}");
                        let added = [Part::Second, Part::Third].contains(&cell.part);
                        assert_eq!(in_pattern, added || cell.part == Part::Kept, "{what}");
                        assert!(!(added && kept[i as usize].contains(&cell.col)), "{what}");
                        let of_group = p.contains(&cell.col) && !in_pattern;
                        assert_eq!(cell.part == Part::Merged, of_group, "{what}");
                    }
                }
            }
            assert_eq!(found.counts.before - found.counts.factor, dropped, "{what}");
            let parts: usize = found.counts.parts.iter().sum();
            assert_eq!(parts, (0..a.rows()).map(|i| found.row(i).len()).sum::<usize>(), "{what}");
        }
    }
}

#[test]
fn added_entries_are_told_by_the_power_that_adds_them() {
    let a = Arc::new(meshes::matrix(Mesh::Five, 6));
    let asked = Asked::of(&FsaiState { power: 3, ..FsaiState::default() });
    let found = SetUp::new(a.clone(), asked).unwrap();
    let kept = brute::kept(&a, 0.0);
    for (part, power) in [(Part::Kept, 1), (Part::Second, 2), (Part::Third, 3)] {
        let now = brute::power(&kept, power, false);
        let last = if power > 1 { brute::power(&kept, power - 1, false) } else { vec![vec![]; 36] };
        for i in 0..36 {
            let of = found.row(i).iter().filter(|cell| cell.part == part);
            let cols: Vec<u32> = of.map(|cell| cell.col).collect();
            let new = now[i].iter().filter(|j| !last[i].contains(j));
            assert_eq!(cols, new.copied().collect::<Vec<_>>(), "{part:?} {i}");
        }
    }
}

#[test]
fn the_table_and_the_figure_tell_what_is_drawn() {
    let link = "v1;view=preconditioner;fsai-of=grid5x4;fsai-power=2;fsai-row=9;fsai-tau=0.05";
    let state = ViewState::from_fragment(link).unwrap();
    let table = (VIEW.table)(&Model::default(), &state);
    let of = |part: &str| table.iter().filter(|line| line[4] == part).count();
    // 16 points, 24 couplings: as many above the diagonal as below.
    assert_eq!((of("kept"), of("not in the pattern")), (16 + 24, 24));
    let svg = (VIEW.svg.unwrap())(&Model::default(), &state);
    assert!(svg.contains("in A and the pattern: 40") && svg.contains("<image"), "the cells");
    assert!(svg.contains("Row 9: pattern P of"), "the dense system");
}

#[test]
fn the_lesson_is_right_in_words() {
    let grid = |side: u32| format!("fsai-of=grid5x{side}");
    // Condition numbers of the 5-point Laplacian are cot²(π / (2 (side + 1))); b contains the
    // extreme eigenvectors.
    for side in [8, 16, 32] {
        let theory = 1.0 / (std::f64::consts::FRAC_PI_2 / f64::from(side + 1)).tan().powi(2);
        let found = number("condition-none", &grid(side));
        assert!((found / theory - 1.0).abs() < 0.05, "{side}: {found}, theory {theory}");
    }
    let iterations = |of: &str, state: &str| number(of, state);
    let times = iterations("iterations-none", &grid(32)) / iterations("iterations-none", &grid(16));
    assert!((1.6..2.4).contains(&times), "twice the steps: {times}");
    let jump = "fsai-of=jump5x16";
    assert!(iterations("iterations-jacobi", jump) * 2.0 < iterations("iterations-none", jump));
    assert_eq!(
        iterations("iterations-jacobi", &grid(16)),
        iterations("iterations-none", &grid(16))
    );
    let weak = "fsai-of=weak5x16;fsai-delta=0.01";
    let (few, all) = (iterations("iterations", weak), number("iterations", "fsai-of=weak5x16"));
    let none = iterations("iterations-none", weak);
    assert!(none - few > 0.5 * (none - all), "most of the gain: {none}, {few}, {all}");
    let merged = "fsai-of=grid9x16;fsai-merge=1";
    assert!(number("merged-work", merged) < number("work", merged));
    assert!(number("iterations", merged) <= number("iterations", "fsai-of=grid9x16"));
    // The filter makes it pay off.
    let weak = "fsai-of=weak5x32;fsai-power=3;fsai-delta=0.01";
    let none = number("effort-none", weak);
    assert!(number("effort", weak) < 0.9 * none, "with the filter");
    assert!(number("effort", "fsai-of=weak5x32") > 1.1 * none, "without it");
    assert_eq!(number("effort-jacobi", weak), none);
}

#[test]
fn a_pattern_that_is_too_large_becomes_that_of_power_1_and_no_matrix_a_mesh() {
    let (run, mut statistics, environment) = why::tests::run("cpu/csr/nnz");
    (statistics.rows, statistics.cols, statistics.nnz) = (8000, 8000, 195_112);
    let model = why::tests::model(vec![run], statistics, environment);
    let state = ViewState::default();
    let shown = |model: &Model| {
        let subject = Subject::shown(model, &state, true).unwrap();
        (subject.name, subject.asked.power, subject.note.unwrap_or_default())
    };
    assert!((VIEW.is_empty)(&model, &state), "it has no values");
    let (name, power, note) = shown(&model);
    assert_eq!((name.as_str(), power), ("8 × 8, 5-point Laplacian", 2));
    assert!(note.contains(" m: "), "{note}");
    let model = with_recipe(model, "gen:stencil27?n=20");
    assert!(!(VIEW.is_empty)(&model, &state));
    let (name, power, note) = shown(&model);
    assert_eq!((name.as_str(), power), ("m", 1));
    let again = "m is generated here from the recipe in its bundle. ";
    assert_eq!(note, format!("{again}The pattern for k = 2 is too large to draw: this is k = 1."));
    let (none, none_state) = (Model::default(), ViewState::default());
    assert!((VIEW.is_empty)(&none, &none_state));
    assert!((VIEW.table)(&none, &none_state).len() > 64, "the mesh");
}
