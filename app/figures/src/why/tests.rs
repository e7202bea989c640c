//! One sentence for each dominant cause, and the sentences of the examples.

use std::collections::BTreeMap;

use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::matrix::{Csr, FormatSize, RowLengths, Statistics};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{
    Check, Costs, Cpu, Environment, Figures, Gpu, History, KernelSource, MatrixRecord, Noise,
    Operation, Phase, Predicted, Producer, Run, Series, SetUpSizes, Solve, Source, Verdict, Work,
};
use sparsescope_core::symgs::Wavefronts;

use crate::model::Model;
use crate::state::Filter;

/// A run of 10 MB in 1 ms, so 10 GB/s, on a machine that copies 40 GB/s: a quarter of it. 100 000
/// rows of 8 nonzeros on average, none longer than 20.
pub(crate) fn run(kernel: &str) -> (Run, Statistics, Environment) {
    let on_gpu = kernel.starts_with("cuda/");
    let device = if on_gpu { "GPU" } else { "CPU" };
    let statistics = Statistics {
        rows: 100_000,
        cols: 100_000,
        nnz: 800_000,
        row: RowLengths { max: 20, mean: 8.0, ..RowLengths::default() },
        ..Statistics::default()
    };
    let environment = Environment {
        id: "here".into(),
        cpu: Cpu { governor: Some("powersave".into()), ..Cpu::default() },
        gpus: vec![Gpu { model: "GPU".into(), details: BTreeMap::new(), copy: Some(40e9) }],
        noise: Noise { load_before: Some(3.1), ..Noise::default() },
        ..Environment::default()
    };
    let run = Run {
        matrix: "m".into(),
        operation: "spmv".into(),
        kernel: kernel.into(),
        origin: vec!["ours".into()],
        backend: if on_gpu { "cuda" } else { "cpu" }.into(),
        device: device.into(),
        environment: "here".into(),
        threads: if on_gpu { 1 } else { 4 },
        block: on_gpu.then_some(128),
        hot: true,
        precision: "f64".into(),
        params: BTreeMap::new(),
        check: Check { verdict: Verdict::Pass, ..Check::default() },
        samples: vec![1e-3; 3],
        repetitions: 1,
        warmup: 0,
        costs: Costs { minimal_bytes: 10_000_000, format_bytes: 12_000_000, ..Costs::default() },
        figures: None,
        ..Run::default()
    };
    (run, statistics, environment)
}

/// A model of these runs, with figures generated if missing.
pub(crate) fn model(runs: Vec<Run>, statistics: Statistics, environment: Environment) -> Model {
    model_with(runs, statistics, environment, BTreeMap::new())
}

/// The same with these files in the matrix's folder.
pub(crate) fn model_with(
    runs: Vec<Run>,
    statistics: Statistics,
    environment: Environment,
    files: BTreeMap<String, Vec<u8>>,
) -> Model {
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, String::new());
    for mut run in runs {
        if run.check.verdict == Verdict::Pass && run.figures.is_none() {
            let flops = 2.0 * statistics.nnz as f64;
            run.figures = Figures::from_samples(&run.samples, flops, run.costs.minimal_bytes);
            run.figures.as_mut().unwrap().set_copy(40e9);
        }
        if let Some(figures) = &run.figures {
            let work = Work { flops: 2 * statistics.nnz, ..Work::default() };
            run.metric = Some(Operation::Spmv.metric(&work, figures.median_s));
        }
        bundle.runs.push(run);
    }
    let record = MatrixRecord {
        id: "m".into(),
        name: "m".into(),
        source: Source::Real,
        generator: None,
        reordered: None,
        sha256: "ab".repeat(32),
        field: "real".into(),
        symmetry: "general".into(),
        read_seconds: 1.0,
        statistics,
    };
    bundle.matrices.push(MatrixFolder { record, files });
    bundle.environments.push(environment);
    let mut model = Model::default();
    model.show_unfinished("b.zip", bundle);
    model
}

/// The sentence for a run after `change`.
fn why(kernel: &str, change: impl Fn(&mut Run, &mut Statistics, &mut Environment)) -> String {
    let (mut run, mut statistics, mut environment) = self::run(kernel);
    change(&mut run, &mut statistics, &mut environment);
    model(vec![run], statistics, environment).runs(&Filter::default())[0].why()
}

fn samples(seconds: f64) -> impl Fn(&mut Run, &mut Statistics, &mut Environment) {
    move |run, _, _| run.samples = vec![seconds; 3]
}

#[test]
fn nothing_is_claimed_that_is_not_recorded() {
    let plain = "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth.";
    assert_eq!(why("cuda/csr/thread-per-row", |_, _, _| ()), plain);
    // Governor and load do not matter if the samples are equal.
    assert_eq!(why("cpu/csr/nnz", |_, _, _| ()), plain);
    let unknown = why("cpu/csr/nnz", |run, statistics, _| {
        run.figures = Figures::from_samples(&[1e-3; 3], 2.0 * statistics.nnz as f64, 10_000_000);
    });
    assert_eq!(unknown, "Moves at least 10 MB per SpMV.");
    let refused = why("cpu/ell/rows", |run, _, _| {
        run.samples.clear();
        let reason = Some("it needs 160.1 GB".into());
        run.check = Check { verdict: Verdict::Refused, reason, ..Check::default() };
    });
    assert_eq!(refused, "No time (refused): it needs 160.1 GB.");
}

#[test]
fn the_bandwidth_and_the_caches() {
    // 10 MB in 0.25 ms are 40 GB/s, in 0.125 ms 80 GB/s, in 100 ms 0.1 GB/s.
    for (seconds, expected) in [
        (2.5e-4, "Moves at least 10 MB per SpMV at 100 % of the copy bandwidth, its limit."),
        (1.25e-4, "Moves at least 10 MB per SpMV at 200 % of the copy bandwidth, so from cache."),
        (0.1, "Moves at least 10 MB per SpMV at less than 1 % of the copy bandwidth."),
    ] {
        assert_eq!(why("cpu/csr/nnz", samples(seconds)), expected);
    }
}

#[test]
fn launching() {
    let launched = |launch: f64| {
        why("cuda/csr/thread-per-row", move |run, _, _| {
            run.samples = vec![4e-6; 3];
            run.costs.minimal_bytes = 10_000;
            run.costs.launch_s = Some(launch);
        })
    };
    // 10 kB in 4 µs are 2.5 GB/s.
    assert_eq!(launched(3e-6), "Launch-bound: an empty kernel launch takes 75 % of its 4 µs.");
    assert_eq!(
        launched(1e-6),
        "Moves at least 10 kB per SpMV at 6 % of the copy bandwidth: launch latency is 25 % of its time."
    );
    // Cold runs use the launch latency of their device.
    let cold = why("cuda/csr/thread-per-row", |run, _, environment| {
        run.samples = vec![4e-6; 3];
        run.hot = false;
        environment.gpus[0].details.insert("launch_seconds".into(), "2.4e-6".into());
    });
    assert_eq!(cold, "Launch-bound: an empty kernel launch takes 60 % of its 4 µs.");
}

#[test]
fn sectors_and_lanes() {
    // 2.8 M + 0.2 M sectors are 96 MB, of which 30 MB are useful: 31 %.
    let scattered = Predicted {
        load_sectors: Some(2_800_000),
        store_sectors: Some(200_000),
        useful_bytes: Some(30_000_000),
        idle_share: Some(0.1),
        ..Predicted::default()
    };
    let sentence = why("cuda/csr/thread-per-row", |run, _, _| {
        run.costs.predicted = Some(scattered.clone());
    });
    assert_eq!(
        sentence,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         one thread per row loads 2.80 M sectors, using 31 % of their bytes."
    );
    // One warp per row of 8 nonzeros: 24 of 32 lanes are idle, and rows end within sectors.
    let idle = Predicted {
        load_sectors: Some(600_000),
        store_sectors: Some(100_000),
        useful_bytes: Some(14_560_000),
        idle_share: Some(0.75),
        ..Predicted::default()
    };
    let sentence =
        why("cuda/csr/warp-shuffle", |run, _, _| run.costs.predicted = Some(idle.clone()));
    assert_eq!(
        sentence,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         75 % of its lanes are idle and one warp per row loads 600 k sectors, using 65 % of their bytes."
    );
    // Without a prediction, the mean row length is used.
    assert_eq!(
        why("cuda/csr/warp-shuffle", |_, _, _| ()),
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         a warp of 32 lanes has 8 nonzeros per row on average."
    );
}

#[test]
fn a_users_kernel_is_explained_by_what_its_run_records() {
    let of_user = |family: &str, mapping: &str| {
        let (mut run, mut statistics, environment) = run("cuda/csr/warp-shuffle");
        run.kernel = "user/my/f".into();
        let (family, mapping) = (family.into(), mapping.into());
        run.source =
            Some(KernelSource { file: "my.cu".into(), sha256: "0".repeat(64), family, mapping });
        let size = |format: &str| FormatSize {
            format: format.into(),
            bytes: 12_000_000,
            slots: 2_400_000,
            padding: 3.0,
            minimal_bytes: 12_000_000,
        };
        statistics.formats = vec![size("ell")];
        let model = model(vec![run], statistics, environment);
        model.runs(&Filter::everything())[0].why()
    };
    let warps = of_user("csr", "warp-per-row");
    assert!(warps.contains("a warp of 32 lanes has 8 nonzeros per row on average"), "{warps}");
    let words = "of its slots are padding";
    assert!(of_user("ell", "thread-per-row").contains(words));
    // Column-major ELLPACK kernels stop at the ends of rows; an unknown mapping explains nothing.
    let none = of_user("ell-column-major", "by-magic");
    assert!(!none.contains(words) && !none.contains("warp"), "{none}");
}

#[test]
fn rows_on_a_gpu() {
    let long = why("cuda/csr/thread-per-row", |_, statistics, _| statistics.row.max = 114_000);
    assert_eq!(
        long,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         one thread processes the longest row, 114 k nonzeros (mean 8)."
    );
    let few = why("cuda/csr/thread-per-row", |_, statistics, environment| {
        statistics.rows = 765;
        environment.gpus[0].details.insert("multiprocessors".into(), "132".into());
    });
    assert_eq!(
        few,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         765 threads cannot fill 132 multiprocessors."
    );
    let hacks = why("cuda/hll/thread-per-hack", |run, _, _| {
        run.params.insert("hack_size".into(), "32".into());
    });
    assert_eq!(
        hacks,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth: \
         one thread processes all 32 rows of a hack."
    );
}

#[test]
fn padding_is_a_cause_where_it_is_multiplied() {
    let padded = |kernel: &str, format_bytes: u64, seconds: f64| {
        why(kernel, move |run, statistics, _| {
            run.samples = vec![seconds; 3];
            run.costs.format_bytes = format_bytes;
            let format = kernel.split('/').nth(1).unwrap().to_owned();
            let (bytes, slots) = (25_600_000, 2_000_000);
            let size = FormatSize { format, bytes, slots, padding: 2.5, minimal_bytes: 0 };
            statistics.formats.push(size);
        })
    };
    let start = "Moves at least 10 MB per SpMV at";
    // 1 - 1/2.5.
    let part = "60 % of its slots are padding.";
    assert_eq!(
        padded("cuda/hll/thread-per-row", 25_600_000, 1e-3),
        format!("{start} 25 % of the copy bandwidth: {part}")
    );
    // Padding is included in the bandwidth.
    assert_eq!(
        padded("cpu/ell/rows", 25_600_000, 2.5e-4),
        format!("{start} 100 % of the copy bandwidth, its limit: {part}")
    );
    let none = format!("{start} 25 % of the copy bandwidth.");
    assert_eq!(padded("cuda/ell/column-major", 25_600_000, 1e-3), none, "stops at row_len");
    assert_eq!(padded("cuda/hll/thread-per-row", 12_000_000, 1e-3), none, "another hack size");
}

#[test]
fn threads_of_a_processor() {
    let start = "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth";
    let uneven = why("cpu/csr/rows", |run, _, _| {
        let (line_bytes, imbalance) = (Some(10_500_000), Some(2.5));
        run.costs.predicted = Some(Predicted { line_bytes, imbalance, ..Predicted::default() });
    });
    assert_eq!(uneven, format!("{start}: the busiest thread has 2.50 times the mean work."));
    let scattered = why("cpu/csr/nnz", |run, _, _| {
        let (line_bytes, imbalance) = (Some(40_000_000), Some(1.01));
        run.costs.predicted = Some(Predicted { line_bytes, imbalance, ..Predicted::default() });
    });
    assert_eq!(scattered, format!("{start}: the cache lines it touches add up to 40 MB."));
    let few = why("cpu/csr/rows", |run, _, _| run.parts = Some(1));
    assert_eq!(few, format!("{start}: only 1 of 4 threads have work."));
}

#[test]
fn noise_that_was_seen() {
    // Quartiles of 0.8, 1 and 1.2 ms: 0.9 and 1.1.
    let noisy = |run: &mut Run, _: &mut Statistics, _: &mut Environment| {
        run.samples = vec![0.8e-3, 1e-3, 1.2e-3];
    };
    assert_eq!(
        why("cpu/csr/nnz", noisy),
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth; \
         noise: quartiles 22 % apart, governor powersave, load 3.10 before the first run."
    );
    let throttled = why("cuda/csr/thread-per-row", |_, _, environment| {
        let details = &mut environment.gpus[0].details;
        details.insert("throttled".into(), "software power cap".into());
        details.insert("other_processes".into(), "2".into());
    });
    assert_eq!(
        throttled,
        "Moves at least 10 MB per SpMV at 25 % of the copy bandwidth; \
         noise: clocks throttled (software power cap), other processes on the GPU: 2."
    );
}

#[test]
fn levels_that_wait_and_passes_that_find_nothing() {
    // A chain: 1000 levels forward, and as many backward.
    let below = (1..1000).map(|i| (i, i - 1, -1.0));
    let above = (1..1000).map(|i| (i - 1, i, -1.0));
    let all: Vec<_> = (0..1000).map(|i| (i, i, 2.0)).chain(below).chain(above).collect();
    let chain = Csr::from_triplets(1000, 1000, &all).unwrap();
    let files = Wavefronts::files_of(&chain, 1 << 16, MemoryLimit::unlimited()).unwrap();
    let sentence = |kernel: &str, seconds: f64, blocks: &[(&str, f64)]| {
        let (mut run, mut statistics, environment) = self::run(kernel);
        (statistics.rows, statistics.cols) = (1000, 1000);
        (run.operation, run.samples) = ("symgs".into(), vec![seconds; 3]);
        let of = |&(name, blocks): &(&str, f64)| {
            let (name, values) = (name.to_owned(), vec![blocks / 2.0; 2]);
            Series { name, values, every: 1, step: Some("pass".into()) }
        };
        let series: Vec<Series> = blocks.iter().map(of).collect();
        run.history = (!series.is_empty()).then(|| History { step: "pass".into(), series });
        let model = model_with(vec![run], statistics, environment, files.clone());
        let filter = Filter { operation: "symgs".into(), ..Filter::default() };
        model.runs(&filter)[0].why()
    };
    assert_eq!(
        sentence("cuda/symgs/sync-free", 1e-3, &[]),
        "Moves at least 10 MB per symmetric sweep at 25 % of the copy bandwidth: \
         its 2 k levels run one after the other, 500 ns each (mean width 1)."
    );
    // A level of 5 µs does more than wait.
    assert_eq!(
        sentence("cpu/symgs/levels", 1e-2, &[]),
        "Moves at least 10 MB per symmetric sweep at 2 % of the copy bandwidth."
    );
    let blocks = [("blocks launched", 4000.0), ("blocks with work", 1000.0)];
    assert_eq!(
        sentence("cuda/symgs/ready-done", 1e-3, &blocks),
        "Moves at least 10 MB per symmetric sweep at 25 % of the copy bandwidth: \
         75 % of the blocks it launched had no work."
    );
}

#[test]
fn solves_are_iterations_and_a_set_up_beside_them() {
    let (mut run, statistics, environment) = self::run("cpu/pcg/threads");
    let phase = |name: &str, seconds| Phase { name: name.into(), seconds };
    run.operation = "solve".into();
    run.solve = Some(Solve {
        iterations: 10,
        setup_s: 4e-3,
        phases: vec![phase("pattern", 1e-3), phase("values", 3e-3)],
        sizes: Some(SetUpSizes { factor: 400_000, ..SetUpSizes::default() }),
        ..Solve::default()
    });
    let model = model(vec![run], statistics, environment);
    let filter = Filter { operation: "solve".into(), ..Filter::default() };
    // 4 of 5 ms are setup; of 800 000 nonzeros and twice 400 000, half are the factor's.
    assert_eq!(
        model.runs(&filter)[0].why(),
        "Takes 1 ms per solve, 10 iterations of 100 µs: its setup takes 4 ms once, 75 % of that for values \
         and the factor has 0.500 times the nonzeros of A and is applied twice."
    );
}

#[test]
fn a_preconditioner_tells_what_it_saves_of_the_iterations_of_a_plainer_one_on_the_same_system() {
    let (run, statistics, environment) = self::run("cpu/pcg/threads");
    let solve = |precond: &str, b: &str, iterations| {
        let params = [("precond", precond), ("b", b)];
        let params = params.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let ended = "converged".to_owned();
        let solve = Solve { iterations, converged: true, ended, ..Solve::default() };
        let (operation, solve) = ("solve".into(), Some(solve));
        Run { operation, params: params.into(), solve, ..run.clone() }
    };
    let runs =
        vec![solve("fsai", "a1", 10), solve("jacobi", "ones", 90), solve("jacobi", "a1", 25)];
    let model = model(runs, statistics, environment);
    let runs = model.runs(&Filter { operation: "solve".into(), ..Filter::default() });
    let words: Vec<String> = runs.iter().map(|run| run.why()).collect();
    let fsai = "Takes 1 ms per solve, 10 iterations of 100 µs: Jacobi takes 2.50 times as many iterations.";
    assert_eq!(words[0], fsai);
    assert_eq!(words[2], "Takes 1 ms per solve, 25 iterations of 40 µs.");
}

#[test]
fn the_examples_have_a_sentence_for_every_run() {
    let mut model = Model::default();
    for (name, bytes) in [
        ("h200.zip", include_bytes!("../../../example/gpu.zip").as_slice()),
        ("mini.zip", include_bytes!("../../../example/cpu.zip")),
    ] {
        model.open(name, bytes).unwrap();
    }
    let mut reasoned = 0;
    for (place, run) in model.runs(&Filter::default()).iter().enumerate() {
        let sentence = run.why();
        if place % 149 == 0 {
            let (block, hot) = (run.run.block, run.run.hot);
            println!("{} {block:?} {hot} on {}: {sentence}", run.run.kernel, run.subject.name());
        }
        assert!(sentence.ends_with('.') && sentence.len() < 300, "{sentence}");
        assert!(!sentence.contains("NaN") && !sentence.contains("inf"), "{sentence}");
        let slow = run.run.figures.as_ref().is_some_and(|f| f.pct_copy.is_some_and(|c| c < 5.0));
        reasoned += usize::from(!slow || sentence.contains(": "));
    }
    let all = model.runs(&Filter::default()).len();
    assert!(reasoned * 10 > all * 9, "{reasoned} of {all} are either fast or say why not");
}
