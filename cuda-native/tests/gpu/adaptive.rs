//! `cuda/csr/adaptive`: its largest tiles, segments, and blocks that keep a part of x in shared
//! memory; and each form of `cuda/csr/lanes`.

use sparsescope_core::kernel::WindowShape;
use sparsescope_core::matrix::Number;

use super::*;

#[test]
fn long_rows_of_the_largest_tiles_pass_the_gate() {
    let backend = gpu!();
    let length = |i: usize| match i {
        500 => 50_000,
        _ if i.is_multiple_of(97) => 33 + i / 10,
        _ => 9,
    };
    let row = |i: usize| (0..length(i)).map(move |k| (i, k, (k % 13) as f64 - 5.5));
    let entries: Vec<_> = (0..5000).flat_map(row).collect();
    let problem = problem(Csr::from_triplets(5000, 50_000, &entries).unwrap());
    let adaptive = |case: &Case| case.0.id == "cuda/csr/adaptive";
    for case in ours(&backend).into_iter().filter(adaptive) {
        let configuration = configured(case, 32);
        let mut prepared = ready(&backend, &configuration, &problem).unwrap();
        assert_eq!(prepared.costs().launches[0].function, "csr_adaptive_512x4");
        let first = output(&mut prepared).unwrap();
        assert_eq!(output(&mut prepared).unwrap(), first, "{:?}", case.2);
        let check = problem.check(&configuration, &first);
        assert_eq!(check.verdict, Verdict::Pass, "{:?}: {:?}", case.2, check.reason);
    }
}

#[test]
fn uneven_rows_summed_in_segments_pass_the_gate() {
    let backend = gpu!();
    // Rows in parts, over several warps and within a thread; tiles that begin with empty rows, have
    // nothing else, or have as many as fit.
    let length = |i: usize| match i {
        700 => 4000,
        1200 => 900,
        1500..3500 | 4950.. => 0,
        _ if i.is_multiple_of(9) => 0,
        _ => 1 + i * i % 11,
    };
    let row = |i: usize| (0..length(i)).map(move |k| (i, (i + k) % 5000, (k % 13) as f64 - 5.5));
    let entries: Vec<_> = (0..5000).flat_map(row).collect();
    let problem = problem(Csr::from_triplets(5000, 5000, &entries).unwrap());
    let adaptive = |case: &Case| case.0.id == "cuda/csr/adaptive";
    for case in ours(&backend).into_iter().filter(adaptive) {
        for scale in ["1", "-0.5:2"] {
            let what = format!("{:?} {scale}", case.2);
            let mut configuration = configured(case, 32);
            configuration.parameters = configuration.parameters.with(SCALE.id(), scale);
            let mut prepared = ready(&backend, &configuration, &problem).unwrap();
            assert_eq!(prepared.costs().launches[0].function, "csr_adaptive_256x6", "{what}");
            let first = output(&mut prepared).unwrap();
            for _ in 0..5 {
                assert_eq!(output(&mut prepared).unwrap(), first, "{what}");
            }
            let check = problem.check(&configuration, &first);
            assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        }
    }
}

#[test]
fn rows_pass_the_gate_with_any_number_of_lanes() {
    let backend = gpu!();
    let lanes = |case: &Case| case.0.id == "cuda/csr/lanes";
    for (mean, shape) in [(2, "2x4"), (8, "4x4"), (20, "8x6"), (50, "16x6"), (100, "32x6")] {
        let problem = problem(matrix(400, (0..701).map(|i| mean / 2 + i % (mean + 1))));
        for case in ours(&backend).into_iter().filter(lanes) {
            let configuration = configured(case, 32);
            let mut prepared = ready(&backend, &configuration, &problem).unwrap();
            assert_eq!(prepared.costs().launches[0].function, format!("csr_lanes_{shape}"));
            let first = output(&mut prepared).unwrap();
            assert_eq!(output(&mut prepared).unwrap(), first, "{shape} {:?}", case.2);
            let check = problem.check(&configuration, &first);
            assert_eq!(check.verdict, Verdict::Pass, "{shape} {:?}: {:?}", case.2, check.reason);
        }
    }
}

#[test]
fn long_rows_whose_blocks_keep_a_part_of_x_pass_the_gate() {
    let backend = gpu!();
    // More columns than a block keeps of x in f32; every 50th row has no nonzero or one.
    let length = |i: usize| if i.is_multiple_of(50) { i / 50 % 2 } else { 8000 };
    let row = |i: usize| {
        (0..length(i)).map(move |k| (i, (i * 7 + k * 5) % 40_000, (k % 13) as f64 - 5.5))
    };
    let entries: Vec<_> = (0..600).flat_map(row).collect();
    let problem = problem(Csr::from_triplets(600, 40_000, &entries).unwrap());
    let shared_bytes = backend.device().properties().shared_per_block as usize;
    let has_windows = shared_bytes >= WindowShape::ALL[0].bytes;
    let adaptive = |case: &Case| case.0.id == "cuda/csr/adaptive";
    for case in ours(&backend).into_iter().filter(adaptive) {
        for scale in ["1", "-0.5:2"] {
            let what = format!("{:?} {scale}", case.2);
            let mut configuration = configured(case, 32);
            configuration.parameters = configuration.parameters.with(SCALE.id(), scale);
            let mut prepared = ready(&backend, &configuration, &problem).unwrap();
            let function = prepared.costs().launches[0].function.clone();
            let is_by_windows = function.starts_with("csr_adaptive_windows");
            assert_eq!(is_by_windows, has_windows, "{what}: {function}");
            let first = output(&mut prepared).unwrap();
            for _ in 0..5 {
                assert_eq!(output(&mut prepared).unwrap(), first, "{what}");
            }
            let check = problem.check(&configuration, &first);
            assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        }
    }
}

#[test]
fn rectangles_whose_blocks_keep_the_part_of_x_of_their_rows_pass_the_gate() {
    let backend = gpu!();
    let shared_bytes = backend.device().properties().shared_per_block as usize;
    let has_bands = shared_bytes >= WindowShape::ALL[0].bytes;
    let adaptive = |case: &Case| case.0.id == "cuda/csr/adaptive";
    // Empty rows, rows longer than a tile, and columns that many rows share; in short rows and in longer ones.
    for (rows, each) in [(90_000, 12), (14_000, 80)] {
        let length = |i: usize| match i % 100 {
            7 => 0,
            50 => each * 12,
            more => each + more % 3,
        };
        let row = |i: usize| {
            let shared = (i % 5 == 2).then_some((i, 199_999 - i % 10, 1.5));
            (0..length(i)).map(move |k| (i, 2 * i + 3 * k, (k % 13) as f64 - 5.5)).chain(shared)
        };
        let entries: Vec<_> = (0..rows).flat_map(row).collect();
        let a = Csr::from_triplets(rows, 200_000, &entries).unwrap();
        let items = if each < 32 { 4 } else { 8 };
        let tile = 32 * items;
        let in_tiles: usize = (0..rows).map(|i| a.row_len(i)).filter(|&len| len <= tile).sum();
        let nnz = a.nnz() as u64;
        let problem = problem(a);
        for case in ours(&backend).into_iter().filter(adaptive) {
            for (scale, vectors) in [("1", 1), ("-0.5:2", 2)] {
                let what = format!("{rows} rows {:?} {scale}", case.2);
                // A with its offsets; x, y and, with beta, the y before. Columns in tiles have 16 bits.
                let [value, element] = [case.2.values(), case.2.vectors()].map(Number::bytes);
                let plain = (value + 4) * nnz + 4 * (rows as u64 + 1);
                let plain = plain + element * (200_000 + vectors * rows as u64);
                let moved = plain - if has_bands { 2 * in_tiles as u64 } else { 0 };
                let mut configuration = configured(case, 32);
                configuration.parameters = configuration.parameters.with(SCALE.id(), scale);
                let mut prepared = ready(&backend, &configuration, &problem).unwrap();
                assert_eq!(prepared.costs().minimal_bytes, moved, "{what}");
                let function = prepared.costs().launches[0].function.clone();
                let is_by_bands = function == format!("csr_adaptive_bands_1024x{items}");
                assert_eq!(is_by_bands, has_bands, "{what}: {function}");
                let first = output(&mut prepared).unwrap();
                for _ in 0..5 {
                    assert_eq!(output(&mut prepared).unwrap(), first, "{what}");
                }
                let check = problem.check(&configuration, &first);
                assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
            }
        }
    }
}

#[test]
fn a_kernel_still_runs_after_another_launch_of_it_took_less_shared_memory() {
    let backend = gpu!();
    let adaptive = |&(kernel, _, precision): &Case| {
        kernel.id == "cuda/csr/adaptive" && precision == Precision::F64
    };
    let configuration = configured(ours(&backend).into_iter().find(adaptive).unwrap(), 32);
    let problems = [2, 1].map(|step| {
        let row = |i: usize| (0..12).map(move |k| (i, step * i + k, 1.5));
        let entries: Vec<_> = (0..90_000).flat_map(row).collect();
        problem(Csr::from_triplets(90_000, 200_000, &entries).unwrap())
    });
    let mut prepared: Vec<_> =
        problems.iter().map(|problem| ready(&backend, &configuration, problem).unwrap()).collect();
    for (problem, prepared) in problems.iter().zip(&mut prepared) {
        let check = problem.check(&configuration, &output(prepared).unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
    }
}
