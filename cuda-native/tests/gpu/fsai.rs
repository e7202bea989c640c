//! Factorised inverses set up on a GPU: compared with the CPU's, and checked for the properties
//! that any must have.

use std::collections::BTreeMap;

use sparsescope_core::fsai::{
    Fsai, FsaiError, FsaiParameters, Held, Merging, PatternRule, check_backward_errors,
};
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_cuda::{Device, DeviceFsai, FsaiSetUpError, GatheredBy};

use super::*;

pub(super) fn made(spec: &str) -> Csr {
    let spec = GeneratorSpec::parse(spec).unwrap();
    generate(&spec, MemoryLimit::unlimited(), &AtomicBool::new(false)).unwrap()
}

/// A symmetric matrix with these nonzeros below the diagonal, which dominates them by one percent.
fn dominant(n: usize, below: impl IntoIterator<Item = (usize, usize, f64)>) -> Csr {
    let mut entries = BTreeMap::new();
    let mut weights = vec![1e-3; n];
    for (i, j, v) in below {
        entries.insert((i.max(j), i.min(j)), v);
    }
    let mut all = Vec::new();
    for (&(i, j), &v) in &entries {
        weights[i] += v.abs();
        weights[j] += v.abs();
        all.extend([(i, j, v), (j, i, v)]);
    }
    all.extend(weights.iter().enumerate().map(|(i, w)| (i, i, 1.01 * w)));
    Csr::from_triplets(n, n, &all).unwrap()
}

/// A pseudorandom number in −1 to 1.
fn chance(i: usize, j: usize) -> f64 {
    let mut z = ((i as u64) << 32 | j as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Rows and columns scaled by powers of ten from −20 to 20.
fn badly_scaled(a: &Csr) -> Csr {
    let scale = |i: usize| 10f64.powi((i as i32 * 7) % 41 - 20);
    let row = |i: usize| {
        let (col, val) = a.row(i);
        let entries = col.iter().zip(val);
        entries.map(move |(&c, &v)| (i, c as usize, v * (scale(i) * scale(c as usize))))
    };
    let all: Vec<_> = (0..a.rows()).flat_map(row).collect();
    Csr::from_triplets(a.rows(), a.cols(), &all).unwrap()
}

/// Matrices, named by what is unusual about them.
fn matrices() -> Vec<(&'static str, Csr)> {
    let band = |n: usize, width: usize| {
        (0..n).flat_map(move |i| (i.saturating_sub(width)..i).map(move |j| (i, j, chance(i, j))))
    };
    let dense = (0..210).flat_map(|i| (0..i).map(move |j| (i, j, chance(i, j))));
    let far = (0..900).flat_map(|i| (0..i % 7).map(move |k| (i, (i * 31 + k * 97) % 900, 0.5)));
    let hex = made("fem-hex?n=5&dof=3");
    vec![
        ("one row", dominant(1, [])),
        ("diagonal only", dominant(1003, [])),
        ("Laplacian in 2D", made("poisson2d?n=33")),
        ("Laplacian in 3D", made("stencil7?n=9")),
        ("27 points", made("stencil27?n=8")),
        ("three unknowns a node", hex.clone()),
        ("badly scaled", badly_scaled(&hex)),
        ("random band", dominant(700, band(700, 40))),
        ("rows of every length up to 210", dominant(210, dense)),
        ("scattered", dominant(900, far.filter(|(i, j, _)| i != j))),
    ]
}

fn recursive(power: u32) -> FsaiParameters {
    FsaiParameters { pattern: PatternRule::Recursive { power }, ..FsaiParameters::default() }
}

fn set_up(device: &Device, a: &Csr, how: &FsaiParameters, by: GatheredBy) -> (DeviceFsai, Csr) {
    let limit = MemoryLimit::unlimited();
    let made = DeviceFsai::set_up(device, a, how, by, limit, &|| false);
    let made = made.unwrap_or_else(|error| panic!("{how:?}: {error}")).unwrap();
    let g = made.g(device).unwrap();
    (made, g)
}

fn bits(g: &Csr) -> (Vec<u32>, Vec<u64>) {
    (g.col().to_vec(), g.val().iter().map(|v| v.to_bits()).collect())
}

/// Fails unless the device gives the CPU's result.
fn agree(device: &Device, name: &str, a: &Csr, parameters: &FsaiParameters) {
    let what = format!("{name} with {parameters:?}");
    let limit = MemoryLimit::unlimited();
    let host = Fsai::set_up(a, parameters, limit, &|| false).unwrap().unwrap();
    let (made, g) = set_up(device, a, parameters, GatheredBy::Device);
    assert_eq!(g.row_ptr(), host.g().row_ptr(), "{what}");
    assert!(g.col() == host.g().col(), "{what}");
    let held = if parameters.postfilter > 0.0 { Held::Not } else { Held::Entries };
    if parameters.shift == 0.0 {
        check_backward_errors(a, &g, held).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    assert!(made.gt(device).unwrap() == g.transpose(), "{what}");
    let (found, expected) = (made.report(), host.report());
    let sizes = |of: &sparsescope_core::fsai::SetUp| {
        let entries = [of.entries_prefiltered, of.entries_pattern, of.entries_before_filter];
        (entries, of.entries, of.systems, of.largest, of.gathered)
    };
    assert_eq!(sizes(found), sizes(expected), "{what}");
    assert!((found.flops - expected.flops).abs() <= 1e-12 * expected.flops, "{what}");
    let (again, split) = (GatheredBy::Device, GatheredBy::Processor);
    for by in [again, split] {
        assert!(bits(&set_up(device, a, parameters, by).1) == bits(&g), "{what} {by:?}");
    }
}

#[test]
fn inverses_are_the_processors_in_pattern_and_within_rounding() {
    let backend = gpu!();
    for (name, a) in matrices() {
        for power in [1, 2, 3] {
            agree(backend.device(), name, &a, &recursive(power));
            let pattern = PatternRule::Power { power };
            agree(backend.device(), name, &a, &FsaiParameters { pattern, ..recursive(1) });
        }
    }
}

#[test]
fn filters_shifts_and_patterns_of_the_host_give_the_processors_inverses() {
    let backend = gpu!();
    for (name, a) in matrices() {
        for parameters in [
            FsaiParameters { postfilter: 1.7e-3, ..recursive(2) },
            FsaiParameters { prefilter: 1.3e-3, postfilter: 0.0171, ..recursive(1) },
            FsaiParameters { prefilter: 1.3e-3, ..recursive(2) },
            FsaiParameters { shift: 0.25, postfilter: 1.7e-3, ..recursive(1) },
            FsaiParameters { pattern: PatternRule::adaptive(), ..recursive(1) },
            FsaiParameters { pattern: PatternRule::Given(Arc::new(a.clone())), ..recursive(1) },
        ] {
            agree(backend.device(), name, &a, &parameters);
        }
    }
}

#[test]
fn rows_are_merged_as_the_processor_merges_them() {
    let backend = gpu!();
    for (name, a) in matrices() {
        for power in [1, 2] {
            for (alpha, block) in [(1.0, Some(8192)), (1.1, Some(100)), (1.5, None)] {
                let merge = Some(Merging { alpha, block });
                agree(backend.device(), name, &a, &FsaiParameters { merge, ..recursive(power) });
                let postfilter = 1.7e-3;
                let parameters = FsaiParameters { merge, postfilter, ..recursive(power) };
                agree(backend.device(), name, &a, &parameters);
            }
        }
    }
}

#[test]
fn rows_that_fit_no_table_and_no_shared_memory_are_set_up_too() {
    let backend = gpu!();
    let device = backend.device();
    let n = 2300;
    let a = dominant(n, (0..n - 1).map(|j| (n - 1, j, chance(n, j))));
    for power in [1, 2] {
        let (_, g) = set_up(device, &a, &recursive(power), GatheredBy::Device);
        assert_eq!((g.nnz(), g.row_len(n - 1)), (2 * n - 1, n));
        check_backward_errors(&a, &g, Held::Entries).unwrap();
    }
    // Every row reaches all earlier rows in two steps.
    let a = dominant(400, (1..400).map(|j| (j, 0, chance(400, j))));
    agree(device, "an arrow upward", &a, &recursive(2));
}

#[test]
fn the_first_row_whose_system_is_not_positive_definite_is_named() {
    let backend = gpu!();
    let mut lower: Vec<_> = (0..9).map(|i| (i, i, 1.0)).collect();
    lower.extend([(5, 4, 2.0), (8, 7, 3.0), (6, 5, 0.1)]);
    lower.extend([(4, 5, 2.0), (7, 8, 3.0), (5, 6, 0.1)]);
    let a = Csr::from_triplets(9, 9, &lower).unwrap();
    let missing = Csr::from_triplets(2, 2, &[(0, 0, 1.0)]).unwrap();
    let tried = |a: &Csr, parameters: &FsaiParameters, by| {
        let limit = MemoryLimit::unlimited();
        DeviceFsai::set_up(backend.device(), a, parameters, by, limit, &|| false).unwrap_err()
    };
    for by in GatheredBy::ALL {
        for merge in [None, Some(Merging::new(1.0)), Some(Merging::new(1.3))] {
            for power in [1, 2] {
                let parameters = FsaiParameters { merge, ..recursive(power) };
                let error = tried(&a, &parameters, by);
                let FsaiSetUpError::Fsai(FsaiError::NotPositiveDefinite { row, .. }) = error else {
                    panic!("{error}")
                };
                assert_eq!(row, 5, "{parameters:?}");
            }
        }
        let error = tried(&missing, &recursive(1), by);
        assert_eq!(error, FsaiError::NotPositiveDefinite { row: 1, size: 1 }.into());
    }
    let wide = Csr::from_triplets(1, 2, &[(0, 0, 1.0)]).unwrap();
    let error = tried(&wide, &recursive(1), GatheredBy::Device);
    assert_eq!(error, FsaiError::NotSquare { rows: 1, cols: 2 }.into());
    // Large systems, in registers of a block and in global memory.
    for n in [40, 150, 230] {
        let below = (0..n).flat_map(|i| (0..i).map(move |j| (i, j, chance(i, j))));
        let a = dominant(n, below);
        let spoilt: Vec<_> = (0..n)
            .flat_map(|i| {
                let (col, val) = a.row(i);
                let sign = move |c: u32| if c as usize == i && i == n - 3 { -1.0 } else { 1.0 };
                col.iter().zip(val).map(move |(&c, &v)| (i, c as usize, v * sign(c)))
            })
            .collect();
        let a = Csr::from_triplets(n, n, &spoilt).unwrap();
        let error = tried(&a, &recursive(1), GatheredBy::Device);
        let expected = FsaiError::NotPositiveDefinite { row: n - 3, size: n - 2 };
        assert_eq!(error, expected.into());
    }
}

#[test]
fn phases_are_told_and_a_wish_to_stop_is_heeded() {
    let backend = gpu!();
    let a = made("fem-hex?n=5&dof=3");
    let merge = Some(Merging::new(1.0));
    let parameters = FsaiParameters { merge, postfilter: 1e-3, ..recursive(2) };
    let names = |by| {
        let (made, _) = set_up(backend.device(), &a, &parameters, by);
        assert!(made.report().phases.iter().all(|phase| phase.seconds >= 0.0));
        assert_eq!(made.bytes(), 2 * (4 * 376 + 12 * made.report().entries));
        made.report().phases.iter().map(|phase| phase.name).collect::<Vec<_>>()
    };
    let device = ["prefilter", "pattern", "group", "values", "postfilter", "transpose", "allocate"];
    assert_eq!(names(GatheredBy::Device), device);
    let split: std::collections::BTreeSet<_> = names(GatheredBy::Processor).into_iter().collect();
    assert!(device.iter().chain(&["gather", "transfer"]).all(|name| split.contains(name)));
    let limit = MemoryLimit::unlimited();
    for by in GatheredBy::ALL {
        let stopped = DeviceFsai::set_up(backend.device(), &a, &parameters, by, limit, &|| true);
        assert!(stopped.unwrap().is_none());
    }
    let empty = Csr::from_triplets(0, 0, &[] as &[(usize, usize, f64)]).unwrap();
    assert_eq!(set_up(backend.device(), &empty, &recursive(2), GatheredBy::Device).1.rows(), 0);
}

/// Run by name, with `--ignored` and `--nocapture`, in a release build: prints the phase times on a
/// mesh of about a million rows.
#[test]
#[ignore = "it measures"]
fn phases_of_a_million_rows() {
    let backend = gpu!();
    let a = made("fem-hex?n=67&dof=3");
    eprintln!("{} rows, {} entries", a.rows(), a.nnz());
    let merge = Some(Merging::new(1.0));
    for (name, parameters) in [
        ("k = 1", recursive(1)),
        ("k = 2", recursive(2)),
        ("k = 2, merged", FsaiParameters { merge, ..recursive(2) }),
        ("k = 2, filtered", FsaiParameters { postfilter: 1e-3, ..recursive(2) }),
    ] {
        for _ in 0..3 {
            let limit = MemoryLimit::unlimited();
            let by = GatheredBy::Device;
            let made = DeviceFsai::set_up(backend.device(), &a, &parameters, by, limit, &|| false);
            let made = made.unwrap().unwrap();
            let report = made.report();
            let mean = report.gathered as f64 / report.systems as f64;
            eprint!("{name}: {:.1} ms, root mean m² {:.1}:", report.seconds() * 1e3, mean.sqrt());
            for phase in &report.phases {
                eprint!(" {} {:.2}", phase.name, phase.seconds * 1e3);
            }
            eprintln!();
        }
    }
}
