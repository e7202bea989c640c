//! Bundles of earlier versions stay readable.
//!
//! `golden/bundle-1.0.zip` was written by version 0.1.0 with
//! `bench 'gen:poisson2d?n=6' 'gen:dense-row?m=20' --runs 4 --warmup 1 --threads 1,2 --cold
//! --hack-size 8 --label golden`, `golden/bundle-1.1.zip` on an NVIDIA H200 with `--reorder rcm
//! --block-sizes 32,64` besides, `golden/bundle-1.2.zip` with `bench 'gen:diagonal?m=64'
//! 'gen:dense-row?m=20' 'gen:poisson2d?n=100' 'gen:random?m=20000&row=8'
//! 'gen:powerlaw?m=10000&nnz=60000&max=2000' --backend cpu --runs 4 --warmup 1 --threads 1,2 --cold
//! --hack-size 8 --spy-bytes 0 --label golden`, `golden/bundle-1.3.zip` by a build with one more
//! operation, merged from `bench --operation increment --runs 4 --warmup 1 --threads 1,2 --cold` and
//! `bench 'gen:poisson2d?n=6' --kernels 'cpu/{csr,hll}/*' --hack-size 8,32 --sigma 1,16 --runs 4
//! --warmup 1 --threads 1,2`, `golden/bundle-1.4.zip` with `bench 'gen:stencil27?n=6'
//! 'gen:random?m=60&row=3&dominant=1' 'gen:kmer?m=3000' 'gen:powerlaw?m=100&nnz=400&max=20'
//! --operation symgs --mode standard,smoother --precision f64,f32 --backend cpu --runs 4 --warmup 1
//! --threads 1,2 --spy-bytes 1KiB --label golden`, `golden/bundle-1.5.zip` on an NVIDIA H200 with `bench
//! hotels.csv 'gen:points-anticorrelated?n=300&d=3' 'gen:points-correlated?n=101000&d=2' --operation
//! skyline --backend cpu,cuda --block-sizes 32,64 --counting device,host --runs 4 --warmup 1 --threads 1,2
//! --spy-bytes 2KiB --label golden`, `golden/bundle-1.6.zip` with `bench 'gen:poisson2d?n=12'
//! 'gen:fem-hex?n=4&dof=3&dominant=1' --operation solve --precond none,jacobi,symgs,fsai --pattern
//! recursive,adaptive --max-iter 3,1000 --backend cpu --runs 4 --threads 1,2 --label golden`,
//! `golden/bundle-1.7.zip` with `bench 'gen:spd-batch?n=7&count=30&bad=10' 'gen:spd-batch?n=20&count=9'
//! --operation batched-dense --backend cpu --rhs last-unit,random --runs 4 --warmup 1 --threads 1,2 --label
//! golden`, `golden/bundle-1.8.zip` with `bench 'gen:stencil7?n=6' 'gen:powerlaw?m=400&nnz=1600&max=60'
//! --kernels 'cpu/csr/serial,cpu/spmv/auto,cpu/*/compact,vendor/mkl/*' --compact on,off --backend cpu --runs 4
//! --warmup 1 --threads 1,2 --spy-bytes 1KiB --label golden` beside oneMKL 2026.2, `golden/bundle-1.9.zip` on an
//! NVIDIA H200 with `bench 'gen:stencil7?n=6' 'gen:powerlaw?m=400&nnz=1600&max=60' --kernels
//! 'cpu/csr/serial,cuda/csr/warp-shuffle,cuda/spmv/auto' --kernel-file docs/examples/my-csr.cu --backend cpu,cuda
//! --block-sizes 64 --precision f64,f32 --runs 4 --warmup 1 --threads 1 --spy-bytes 1KiB --label golden`,
//! `golden/bundle-1.10.zip` on two NVIDIA H100 with `bench 'gen:stencil7?n=6' 'gen:random?m=60&row=3' --gpus 1,2
//! --kernels 'nccl/*/*' --runs 4 --warmup 1 --spy-bytes 1KiB --label golden`, `golden/bundle-1.11.zip` with `bench
//! limited.mtx singular.mtx --operation solve --b ones --precond none,jacobi --kernels cpu/pcg/serial --runs 4 --warmup
//! 1 --threads 1 --label golden`: limited.mtx is the Laplacian of a path of 40 nodes with 1e-9 added to its first
//! element, singular.mtx that of 2 nodes with 1e-14 added to its last. These two come from an NVIDIA H100:
//! `golden/bundle-1.13-energy.zip` from `bench 'gen:stencil7?n=6' 'gen:stencil27?n=60' --kernels
//! 'cpu/csr/serial,cuda/csr/warp-shuffle' --backend cpu,cuda --energy --block-sizes 64 --runs 4 --warmup 1 --threads 1
//! --spy-bytes 1KiB --label golden`, `golden/bundle-1.13.zip` from `bench 'gen:stencil7?n=6'
//! 'gen:powerlaw?m=400&nnz=1600&max=60' --kernels 'cpu/csr/serial,cuda/csr/*,cuda/spmv/auto' --backend cpu,cuda
//! --block-sizes 64 --precision f64,f32,f32:f64,bf16:f32,f16:f32 --runs 4 --warmup 1 --threads 1 --spy-bytes 1KiB
//! --label golden`. `golden/bundle-1.13-spmm.zip` was written with `bench 'gen:stencil7?n=4'
//! 'gen:lp?m=40&n=90&nnz=300&max=30' --operation spmm --kernels 'cpu/spmm/*' --vectors 1,8 --precision f64,f32
//! --backend cpu --runs 4 --warmup 1 --threads 1 --spy-bytes 1KiB --label golden`, `golden/bundle-1.13-transposed.zip`
//! with the same matrices and settings, but `--kernels 'cpu/csr/serial,cpu/hll/serial,cpu/spmv/auto' --op n,t --scale
//! 2,0.5:1` in place of operation, kernels and vectors. They are never regenerated: a new schema version adds a file
//! beside them.

use std::collections::BTreeSet;

use sparsescope_core::bundle::{Bundle, Limits, SubjectFolder};
use sparsescope_core::dense::Flagged;
use sparsescope_core::kernel::all_kernels;
use sparsescope_core::record::{Better, RankShare, Run, Source, Verdict};
use sparsescope_core::skyline::PointsPicture;
use sparsescope_core::symgs::Wavefronts;

mod of_all;
mod products;
mod schema_1_13;

const GOLDEN: &[u8] = include_bytes!("../../golden/bundle-1.0.zip");

const GOLDEN_1_1: &[u8] = include_bytes!("../../golden/bundle-1.1.zip");

const GOLDEN_1_2: &[u8] = include_bytes!("../../golden/bundle-1.2.zip");

const GOLDEN_1_3: &[u8] = include_bytes!("../../golden/bundle-1.3.zip");

const GOLDEN_1_4: &[u8] = include_bytes!("../../golden/bundle-1.4.zip");

const GOLDEN_1_5: &[u8] = include_bytes!("../../golden/bundle-1.5.zip");

const GOLDEN_1_6: &[u8] = include_bytes!("../../golden/bundle-1.6.zip");

const GOLDEN_1_7: &[u8] = include_bytes!("../../golden/bundle-1.7.zip");

const GOLDEN_1_8: &[u8] = include_bytes!("../../golden/bundle-1.8.zip");

const GOLDEN_1_9: &[u8] = include_bytes!("../../golden/bundle-1.9.zip");

const GOLDEN_1_10: &[u8] = include_bytes!("../../golden/bundle-1.10.zip");

const GOLDEN_1_11: &[u8] = include_bytes!("../../golden/bundle-1.11.zip");

const GOLDEN_1_13_ENERGY: &[u8] = include_bytes!("../../golden/bundle-1.13-energy.zip");

const GOLDEN_1_13: &[u8] = include_bytes!("../../golden/bundle-1.13.zip");

const GOLDEN_1_13_SPMM: &[u8] = include_bytes!("../../golden/bundle-1.13-spmm.zip");

const GOLDEN_1_13_TRANSPOSED: &[u8] = include_bytes!("../../golden/bundle-1.13-transposed.zip");

fn golden() -> Bundle {
    Bundle::read(GOLDEN, &Limits::default()).unwrap()
}

#[test]
fn a_bundle_of_schema_1_0_still_means_what_it_meant() {
    let bundle = golden();
    assert_eq!((bundle.label.as_deref(), bundle.complete), (Some("golden"), true));
    assert_eq!(bundle.created, "2026-11-21T05:41:53Z");
    let sizes: Vec<_> = bundle
        .matrices
        .iter()
        .map(|m| (m.record.name.as_str(), m.record.statistics.rows, m.record.statistics.nnz))
        .collect();
    // 5n² − 4n nonzeros; 3m − 2 with the middle row's 3 replaced by m.
    assert_eq!(sizes, [("poisson2d?n=6", 36, 156), ("dense-row?m=20", 20, 75)]);
    assert!(bundle.matrices.iter().all(|m| m.record.source == Source::Generated));
    assert!(bundle.matrices.iter().all(|m| m.files.contains_key("matrix.mtx")));
    // Five serial kernels once and six parallel ones with two thread counts, hot and cold, on two matrices.
    assert_eq!(bundle.runs.len(), (5 + 6 * 2) * 2 * 2);
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4));
        let hack_size = run.kernel.starts_with("cpu/hll/").then_some("8");
        assert_eq!(run.params.get("hack_size").map(String::as_str), hack_size);
        assert_eq!((run.backend.as_str(), run.precision.as_str()), ("cpu", "f64"));
        let mut sorted = run.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let figures = run.figures.as_ref().unwrap();
        assert_eq!(figures.median_s, f64::midpoint(sorted[1], sorted[2]));
    }
    let machine = bundle.environment(&bundle.runs[0].environment).unwrap();
    assert_eq!((machine.cpu.model.as_str(), machine.cpu.logical), ("AMD EPYC", 2));
    assert_eq!(machine.bandwidth.len(), 2);
}

#[test]
fn a_bundle_of_schema_1_1_tells_of_numbers_anew_and_of_a_gpu() {
    let bundle = Bundle::read(GOLDEN_1_1, &Limits::default()).unwrap();
    let names: Vec<&str> = bundle.matrices.iter().map(|m| m.record.name.as_str()).collect();
    assert_eq!(names, ["poisson2d?n=6-rcm", "dense-row?m=20-rcm"]);
    for matrix in &bundle.matrices {
        let reordered = matrix.record.reordered.as_ref().unwrap();
        assert_eq!(reordered.by, "rcm");
    }
    // The grid's rows in natural order: neighbours are one line of six apart.
    let grid = bundle.matrices[0].record.reordered.as_ref().unwrap();
    assert_eq!((grid.lower_bandwidth, grid.upper_bandwidth), (6, 6));

    let machine = bundle.environment(&bundle.runs[0].environment).unwrap();
    let gpu = &machine.gpus[0];
    assert_eq!(gpu.model, "NVIDIA H200");
    assert_eq!(gpu.details["compute_capability"], "9.0");
    // 13 kernels with two block sizes and 4 of the vendor, hot and cold, on two matrices.
    let on_gpu: Vec<_> = bundle.runs.iter().filter(|run| run.backend == "cuda").collect();
    assert_eq!(on_gpu.len(), (13 * 2 + 4) * 2 * 2);
    for run in on_gpu {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        assert_eq!(run.block.is_some(), run.kernel.starts_with("cuda/"));
        // So short that launch latency matters, which is measured with hot caches.
        assert_eq!(run.costs.launch_s.is_some() && run.costs.graph_s.is_some(), run.hot);
        let launched = run.figures.as_ref().unwrap().median_s;
        assert!(run.costs.graph_s.is_none_or(|graph| graph < launched * 1.5), "{}", run.kernel);
    }
}

#[test]
fn a_bundle_of_schema_1_2_tells_what_was_predicted() {
    let bundle = Bundle::read(GOLDEN_1_2, &Limits::default()).unwrap();
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (5, 210));
    let of = |matrix: &str, kernel: &str, threads: u32| {
        let found = |run: &&Run| {
            run.matrix.starts_with(matrix) && run.kernel == kernel && run.threads == threads
        };
        let runs: Vec<&Run> = bundle.runs.iter().filter(found).collect();
        let [hot, cold] = runs.as_slice() else { panic!("{} runs", runs.len()) };
        assert_eq!(hot.costs.predicted, cold.costs.predicted);
        hot.costs.predicted.clone().unwrap()
    };
    // 65 row pointers and 64 columns of 4 bytes, 64 values, x and y of 8: 33 lines of 64 bytes. Both of two
    // threads read the line with row_ptr[32].
    let serial = of("diagonal", "cpu/csr/serial", 1);
    assert_eq!((serial.line_bytes, serial.imbalance), (Some(33 * 64), Some(1.0)));
    assert_eq!(of("diagonal", "cpu/csr/rows", 2).moved_bytes(), Some(34 * 64));
    // Of 75 nonzeros, the half with the dense row, the eleventh, has 20 + 8·3 + 2.
    assert_eq!(of("dense-row", "cpu/csr/rows", 2).imbalance, Some(46.0 * 2.0 / 75.0));
    let has_none = |run: &&Run| run.costs.predicted.is_none();
    for run in bundle.runs.iter().filter(has_none) {
        let modelled = !["cpu/bsr/", "cpu/dia/"].iter().any(|f| run.kernel.starts_with(f))
            && !run.kernel.ends_with("/compact");
        assert!(!modelled || run.check.verdict != Verdict::Pass, "{}", run.kernel);
    }
    // Older versions predicted nothing.
    for old in [GOLDEN, GOLDEN_1_1] {
        assert!(Bundle::read(old, &Limits::default()).unwrap().runs.iter().all(|r| has_none(&r)));
    }
}

#[test]
fn a_bundle_of_schema_1_3_tells_of_a_sweep_and_of_an_operation_that_nobody_knows() {
    let bundle = Bundle::read(GOLDEN_1_3, &Limits::default()).unwrap();
    assert_eq!((bundle.matrices.len(), bundle.subjects.len()), (1, 2));
    let of =
        |kernel: &str| bundle.runs.iter().filter(|run| run.kernel == kernel).collect::<Vec<_>>();
    // Two hack sizes, sorted and not; CSR has neither.
    let asked: BTreeSet<String> = of("cpu/hll/serial")
        .iter()
        .map(|run| run.asked.iter().map(|(name, value)| format!("{name}={value} ")).collect())
        .collect();
    let expected = ["", "hack_size=8 ", "hack_size=8 sigma=16 ", "sigma=16 "];
    assert!(asked.iter().eq(expected), "{asked:?}");
    assert_eq!((of("cpu/csr/serial").len(), of("cpu/hll/serial").len()), (1, 4));
    let increments = of("cpu/increment/serial");
    assert_eq!(increments.len(), 4);
    for run in increments {
        let subject = bundle.subject(&run.matrix).unwrap();
        assert!(subject.matrix().is_none() && subject.name().starts_with("vector?n="));
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4));
        let metric = run.metric.as_ref().unwrap();
        assert_eq!((metric.unit.as_str(), metric.better), ("ns", Better::Less));
    }
}

#[test]
fn a_bundle_of_schema_1_4_tells_how_sweeps_advance_and_converge() {
    let bundle = Bundle::read(GOLDEN_1_4, &Limits::default()).unwrap();
    assert_eq!(bundle.matrices.len(), 4);
    // Serial once and two kernels with two thread counts, in two modes and precisions.
    assert_eq!(bundle.runs.len(), 4 * (1 + 2 * 2) * 2 * 2);
    let runs = |name: &'static str| bundle.runs.iter().filter(move |r| r.matrix.starts_with(name));
    for run in runs("powerlaw") {
        let reason = run.check.reason.as_deref().unwrap();
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Refused, 0));
        assert!(reason.contains("divides by the diagonal, and row "), "{reason}");
    }
    for run in runs("stencil27").chain(runs("random")).chain(runs("kmer")) {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        assert_eq!(run.costs.permute_s.is_some(), run.kernel != "cpu/symgs/serial");
        // Only a sweep that solves for b has a residual.
        let history = run.history.as_ref();
        assert_eq!(history.is_some(), run.params["mode"] == "standard");
        let Some(history) = history else { continue };
        let [series] = &history.series[..] else { panic!("{} series", history.series.len()) };
        let (step, name) = (history.step.as_str(), series.name.as_str());
        assert_eq!((step, name, series.step.as_deref()), ("sweep", "relative residual", None));
        assert!(series.values.is_sorted_by(|before, after| after <= before || *after < 1e-6));
        // A row of a k-mer graph only depends on earlier rows: one sweep solves.
        let is_solved = *series.values.last().unwrap() < 1e-6;
        assert!(is_solved || !run.matrix.starts_with("kmer"), "{:?}", series.values);
    }
    let fronts = |name: &str| {
        let matrix = bundle.matrices.iter().find(|m| m.record.name.starts_with(name)).unwrap();
        Wavefronts::from_files(&matrix.files).unwrap().unwrap()
    };
    let grid = fronts("stencil27");
    assert_eq!(grid.all().map(|front| front.widths.len()), [7 * 5 + 1, 7 * 5 + 1, 8]);
    assert_eq!((grid.rows, grid.shift, grid.forward.path.last()), (216, 0, Some(&215)));
    let graph = fronts("kmer");
    assert!(graph.shift > 0 && graph.backward.widths == [3000] && graph.colors.widths.len() == 2);
}

#[test]
fn a_bundle_of_schema_1_5_tells_of_points_and_who_dominates_them() {
    let bundle = Bundle::read(GOLDEN_1_5, &Limits::default()).unwrap();
    assert_eq!((bundle.matrices.len(), bundle.subjects.len()), (0, 3));
    // Serial once, three more CPU kernels with two thread counts; the paper's five on the GPU with two block
    // sizes, counting on the device or the host, and the fast one.
    assert_eq!(bundle.runs.len(), 3 * (1 + 3 * 2 + 5 * 2 * 2 + 1));
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        let metric = run.metric.as_ref().unwrap();
        assert_eq!((metric.unit.as_str(), metric.better), ("ms", Better::Less));
        assert!(run.work.unwrap().comparisons > 0);
        let launches = &run.costs.launches;
        assert_eq!(!launches.is_empty(), run.backend == "cuda", "{}", run.kernel);
        // Their own point is in local memory, which holds at least 8 coordinates.
        let is_local = run.kernel.ends_with("-local");
        assert_eq!(launches.iter().any(|l| l.local_bytes >= 64), is_local, "{}", run.kernel);
    }
    let picture = |name: &str| {
        let of = |s: &&SubjectFolder| s.record.name.starts_with(name);
        let subject = bundle.subjects.iter().find(of).unwrap();
        assert!(subject.record.read_seconds.unwrap() > 0.0);
        PointsPicture::from_files(&subject.files).unwrap().unwrap()
    };
    let hotels = picture("hotels");
    assert!(hotels.is_whole() && hotels.densities.is_empty());
    // Of seven, two are dominated: (4, 5) and (8, -1).
    let kept: Vec<bool> = (0..7).map(|place| hotels.is_kept(place)).collect();
    assert_eq!(kept, [true, true, true, false, true, true, false]);
    assert_eq!((picture("points-anti").kept, picture("points-anti").axes.len()), (102, 3));
    let large = picture("points-corr");
    assert_eq!((large.points, large.kept, large.indices.len()), (101_000, 1, 20_001));
    let density = large.density(0, 1).unwrap();
    assert_eq!((density.cells, density.counts.iter().sum::<u32>()), (32, 101_000));
}

#[test]
fn a_bundle_of_schema_1_6_tells_how_solves_ended_and_what_was_set_up() {
    let bundle = Bundle::read(GOLDEN_1_6, &Limits::default()).unwrap();
    assert_eq!(bundle.matrices.len(), 2);
    // Serial once and with two thread counts: three preconditioners, and one with two patterns, each with two
    // iteration limits.
    assert_eq!(bundle.runs.len(), 2 * (1 + 2) * (3 + 2) * 2);
    for run in &bundle.runs {
        let (solve, history) = (run.solve.as_ref().unwrap(), run.history.as_ref().unwrap());
        let [residuals, ritz] = &history.series[..] else { panic!("{}", history.series.len()) };
        assert_eq!(residuals.values.len() as u64, solve.iterations + 1);
        assert_eq!((residuals.values[0], residuals.step.as_deref()), (1.0, None));
        assert_eq!((ritz.name.as_str(), ritz.step.as_deref()), ("Ritz value", Some("value")));
        let spectrum = solve.spectrum.unwrap();
        assert_eq!(
            (ritz.values.first(), ritz.values.last()),
            (Some(&spectrum.smallest), Some(&spectrum.largest))
        );
        assert_eq!((solve.tolerance, solve.spectrum.unwrap().steps), (1e-10, solve.iterations));
        let is_fsai = run.params["precond"] == "fsai";
        assert_eq!((solve.sizes.is_some(), run.params.contains_key("pattern")), (is_fsai, is_fsai));
        // Only FSAI computes a pattern and the values on it.
        let phases: Vec<&str> = solve.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(["pattern", "values"].iter().all(|phase| phases.contains(phase)), is_fsai);
        let ended = (run.check.verdict, solve.converged, run.samples.len());
        match run.params["max_iter"] == "3" {
            true => assert_eq!((ended, solve.iterations), ((Verdict::Fail, false, 0), 3)),
            false => assert_eq!(ended, (Verdict::Pass, true, 4)),
        }
    }
    // The iteration count does not depend on the threads, and is lower with a better preconditioner.
    let iterations = |matrix: &str, precond: &str| {
        let of = |run: &&Run| {
            let is_it = run.params["precond"] == precond && run.params["max_iter"] != "3";
            is_it && run.matrix.starts_with(matrix) && !run.asked.contains_key("pattern")
        };
        let all: BTreeSet<u64> = bundle
            .runs
            .iter()
            .filter(of)
            .map(|run| run.solve.as_ref().unwrap().iterations)
            .collect();
        assert_eq!(all.len(), 1, "{matrix} {precond}: {all:?}");
        all.into_iter().next().unwrap()
    };
    for matrix in ["poisson2d", "fem-hex"] {
        assert!(iterations(matrix, "fsai") < iterations(matrix, "jacobi"));
        assert!(iterations(matrix, "jacobi") <= iterations(matrix, "none"));
    }
}

#[test]
fn a_bundle_of_schema_1_7_tells_of_batches_and_which_systems_have_no_solution() {
    let bundle = Bundle::read(GOLDEN_1_7, &Limits::default()).unwrap();
    assert_eq!((bundle.matrices.len(), bundle.subjects.len()), (0, 2));
    // Elimination with one thread, Cholesky and the library with two thread counts; two right-hand sides.
    assert_eq!(bundle.runs.len(), 2 * 2 * (1 + 2 * 2));
    for (n, systems, flagged) in [(7, 30, vec![9, 19, 29]), (20, 9, vec![])] {
        let is_it = |folder: &&SubjectFolder| folder.record.sizes["unknowns"] == n;
        let folder = bundle.subjects.iter().find(is_it).unwrap();
        let sizes = &folder.record.sizes;
        assert_eq!((sizes["unknowns"], sizes["systems"]), (n, systems));
        assert_eq!((folder.folder.as_str(), folder.record.kind.as_str()), ("dense", "batch"));
        let solved = systems - flagged.len() as u64;
        assert_eq!(Flagged::from_files(&folder.files).unwrap().numbers, flagged);
        for run in bundle.runs.iter().filter(|run| run.matrix == folder.record.id) {
            assert_eq!(
                (run.check.verdict, run.samples.len()),
                (Verdict::Pass, 4),
                "{}",
                run.kernel
            );
            assert!(run.check.worst.unwrap() <= 1.0);
            assert_eq!(run.work.unwrap().flops, n * n * (n + 6) * solved / 3);
            let metric = run.metric.as_ref().unwrap();
            assert_eq!((metric.unit.as_str(), metric.better), ("GFLOPS", Better::More));
        }
    }
    let of = |rhs: &str| bundle.runs.iter().filter(|run| run.params["rhs"] == rhs).count();
    assert_eq!((of("last-unit"), of("random")), (10, 10));
}

#[test]
fn a_bundle_of_schema_1_8_tells_which_kernel_was_chosen_and_which_library_ran() {
    let bundle = Bundle::read(GOLDEN_1_8, &Limits::default()).unwrap();
    // The serial kernel once; with two thread counts two compact ones, `auto` with and without these, and two
    // of the library.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * (1 + 2 * (2 + 2 + 2))));
    let machine = bundle.environment(&bundle.runs[0].environment).unwrap();
    assert!(machine.libraries["oneMKL"].starts_with("2026.2"), "{:?}", machine.libraries);
    let kernels: BTreeSet<&str> = all_kernels().map(|kernel| kernel.id).collect();
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        let is_choice = run.kernel == "cpu/spmv/auto";
        assert_eq!(run.costs.choice.is_some(), is_choice, "{}", run.kernel);
        let Some(choice) = &run.costs.choice else { continue };
        assert!(kernels.contains(choice.kernel.as_str()), "{}", choice.kernel);
        assert!(choice.tried.iter().all(|one| kernels.contains(one.kernel.as_str())));
        assert_eq!(choice.tried[0].kernel, "cpu/csr/serial");
        let compact = choice.tried.iter().any(|one| one.kernel.ends_with("/compact"));
        assert_eq!(compact, run.params["compact"] == "on");
        let paid = run.costs.conversion_s + run.costs.plan_s;
        assert!((paid - choice.seconds()).abs() < 1e-12 && choice.trial_s > 0.0);
    }
    // Seven diagonals of one value each.
    let grid = |run: &&Run| run.matrix.starts_with("stencil7") && run.kernel == "cpu/spmv/auto";
    let chosen = |run: &Run| run.costs.choice.as_ref().unwrap().kernel.clone();
    let chosen: BTreeSet<String> = bundle.runs.iter().filter(grid).map(chosen).collect();
    assert_eq!(chosen, BTreeSet::from(["cpu/dia/rows".to_owned()]));
}

#[test]
fn a_bundle_of_schema_1_9_keeps_the_source_of_a_users_kernel() {
    let bundle = Bundle::read(GOLDEN_1_9, &Limits::default()).unwrap();
    // On two matrices, in two precisions: three kernels once, the user's with the three block sizes of its
    // file.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 2 * (1 + 1 + 1 + 3)));
    let mut blocks = BTreeSet::new();
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        assert_eq!(run.source.is_some(), run.kernel == "user/my-csr/two_sums", "{}", run.kernel);
        if let Some(choice) = &run.costs.choice {
            // A kernel was predicted before any was tried, with its time.
            let (named, expected_s) = choice.named().unwrap();
            assert!(named.kernel.starts_with("cuda/") && expected_s > 1e-6, "{named:?}");
        }
        let Some(source) = &run.source else { continue };
        blocks.insert(run.block);
        assert_eq!(source.file, "my-csr.cu");
        assert_eq!((source.family.as_str(), source.mapping.as_str()), ("csr", "warp-per-row"));
        let text = bundle.source_text(source).unwrap();
        assert!(text.contains("// sparsescope kernel\n") && text.contains("two_sums("));
        // The model knows from the mapping what the warps load.
        assert!(run.costs.predicted.as_ref().unwrap().load_sectors.is_some());
        assert_eq!(run.costs.launches[0].function, "two_sums");
    }
    assert_eq!(blocks, [64, 128, 256].map(Some).into());
}

#[test]
fn a_bundle_of_schema_1_10_tells_what_each_of_several_gpus_has_sends_and_waits_for() {
    let bundle = Bundle::read(GOLDEN_1_10, &Limits::default()).unwrap();
    // Two matrices, two kernels, on one GPU and on two.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 2 * 2));
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        let shared = run.distributed.as_ref().unwrap();
        assert_eq!((shared.transport.as_str(), shared.partition.as_str()), ("nccl", "entries"));
        assert_eq!(run.params.get("ranks"), Some(&shared.ranks.len().to_string()));
        let matrix = bundle.matrices.iter().find(|m| m.record.id == run.matrix).unwrap();
        let statistics = &matrix.record.statistics;
        let sum = |of: fn(&RankShare) -> u64| shared.ranks.iter().map(of).sum::<u64>();
        assert_eq!(sum(|rank| rank.rows), statistics.rows);
        assert_eq!(sum(|rank| rank.entries), statistics.nnz);
        // Each rank receives its halo, 8 bytes per element.
        assert_eq!(shared.bytes(), 8 * sum(|rank| rank.halo));
        assert!(shared.ranks.iter().all(|rank| rank.computing_s > 0.0));
    }
}

#[test]
fn a_bundle_of_schema_1_11_tells_which_solves_rounding_limits_or_hides() {
    let bundle = Bundle::read(GOLDEN_1_11, &Limits::default()).unwrap();
    let run = |matrix: &str, precond: &str| {
        let is_it = |run: &&Run| {
            run.matrix.starts_with(matrix) && run.params.get("precond").unwrap() == precond
        };
        bundle.runs.iter().find(is_it).unwrap()
    };
    assert_eq!(bundle.runs.len(), 4);
    let met = run("limited", "none");
    assert!(met.ranks() && !met.check.limited_by_rounding);
    let limited = run("limited", "jacobi");
    assert_eq!((limited.check.verdict, limited.samples.len()), (Verdict::Pass, 4));
    assert!(limited.check.limited_by_rounding && !limited.ranks());
    for precond in ["none", "jacobi"] {
        let undecided = run("singular", precond);
        assert_eq!((undecided.check.verdict, undecided.samples.len()), (Verdict::Refused, 0));
        assert!(undecided.check.undecided && !undecided.ranks());
    }
}
