//! A small bundle for tests, with every optional field set in one place and absent in another.

use sparsescope_record::{
    Bandwidth, Better, Build, Cache, Check, Choice, Costs, Cpu, Distributed, Energy, Environment,
    Figures, Gpu, History, KernelSource, LaunchCost, Link, MatrixRecord, Metric, Noise, Operation,
    PairTraffic, Phase, Predicted, Producer, RankShare, Reordered, Rounding, Run, Series,
    SetUpSizes, Shard, Solve, Source, Spectrum, SubjectRecord, Tried, Until, Verdict, Work,
    matrix_id,
};
use std::collections::BTreeMap;

use super::*;
use sparsescope_kernels::skyline::PointsPicture;
use sparsescope_matrix::matrix::examples::five_by_five;
use sparsescope_matrix::matrix::{FormatSize, Points, RowLengths, Statistics, identity, sha256};

/// Two matrices (one a stand-in), two machines, and runs that pass, fail, are refused and are
/// unsupported.
pub(crate) fn bundle() -> Bundle {
    let five = matrix("five", Source::Real, 10);
    let mut cant = matrix("cant", Source::StandIn, 4_007_383);
    cant.record.generator = Some("fem-hex?n=20&dof=3&seed=1".into());
    cant.files.insert("spy/0_0.bin".into(), vec![0, 159, 146, 150, 255]);
    let (on_five, on_cant) = (five.record.id.clone(), cant.record.id.clone());

    let mut serial = passed(&on_five, "cpu/csr/serial", &[2e-6, 1.5e-6, 2.5e-6], 10, 184);
    let figures = serial.figures.as_mut().unwrap();
    figures.set_copy(10e9);
    figures.set_serial(2e-6, Some(1));
    let mut nnz = passed(&on_five, "cpu/csr/nnz", &[1e-6, 1e-6], 10, 184);
    nnz.threads = 4;
    nnz.parts = Some(3);
    nnz.costs.break_even = Some(12.0);
    nnz.costs.launch_s = Some(2e-6);
    nnz.costs.graph_s = Some(1.5e-6);
    let (line_bytes, imbalance) = (Some(512), Some(1.25));
    nnz.costs.predicted = Some(Predicted { line_bytes, imbalance, ..Predicted::default() });
    nnz.figures.as_mut().unwrap().set_serial(2e-6, Some(4));
    let mut cuda = passed(&on_cant, "cuda/hll/warp-per-row", &[1e-4, 3e-4], 4_007_383, 1 << 25);
    cuda.origin = vec!["paper:000".into(), "ours".into()];
    cuda.backend = "cuda".into();
    cuda.device = "Some GPU, 80 GB".into();
    cuda.environment = "b".into();
    cuda.block = Some(128);
    cuda.costs.predicted = Some(Predicted {
        load_sectors: Some(2_000_000),
        store_sectors: Some(20_000),
        useful_bytes: Some(48_000_000),
        idle_share: Some(0.125),
        ..Predicted::default()
    });
    cuda.check.by = Some("another program".into());
    cuda.hot = false;
    cuda.precision = "f32".into();
    cuda.check.rounding = Some(Rounding { max: 2e-8, norm: 1e-8, bound: 4e-7 });
    cuda.params = BTreeMap::from([("sigma".into(), "1".into()), ("hack_size".into(), "32".into())]);
    let ell = without_timing(
        &on_cant,
        "cpu/ell/rows",
        Verdict::Refused,
        "ELLPACK needs 160123000000 bytes (160.1 GB), more than the memory limit",
    );
    let mut wrong = without_timing(&on_five, "cpu/coo/atomic", Verdict::Fail, "row 3 differs");
    wrong.check.row = Some(3);
    wrong.check.worst = Some(17.5);
    let vendor = without_timing(
        &on_five,
        "vendor/cusparse/csr-alg1",
        Verdict::Unsupported,
        "no NVIDIA driver",
    );

    Bundle {
        producer: Producer {
            name: "sparsescope".into(),
            version: "0.1.0".into(),
            revision: Some("0123abc".into()),
        },
        created: "2026-01-31T12:00:00Z".into(),
        label: Some("the \"big\" machine".into()),
        complete: true,
        shard: Some(Shard { part: 2, of: 3 }),
        plan: Some(serde_json::json!({ "operation": "spmv", "runs": 6, "time_limit": null })),
        environments: vec![full_environment("a"), bare_environment("b")],
        matrices: vec![five, cant],
        subjects: Vec::new(),
        runs: vec![serial, nnz, cuda, ell, wrong, vendor],
        others: BTreeMap::from([("solvers/cg.json".into(), b"{}\n".to_vec())]),
    }
}

/// The sample bundle with a subject other than a matrix, and a run on it of an operation that this
/// program does not know.
pub(crate) fn with_points() -> Bundle {
    let mut on_points = passed("cloud-9d1f7a55", "cpu/sorting/serial", &[4e-6, 2e-6], 10, 0);
    on_points.operation = "sorting".into();
    on_points.work = Some(Work { iterations: 3, comparisons: 33, ..Work::default() });
    let (name, unit, value, better) = ("time".into(), "ns".into(), 3000.0, Better::Less);
    on_points.metric = Some(Metric { name, unit, value, better });
    on_points.asked = BTreeMap::from([("window".into(), "8".into())]);
    on_points.cut_short = true;
    on_points.costs.clock_s = Some(2e-8);
    let (upload_s, allocate_s, download_s) = (Some(1e-3), Some(2e-3), Some(3e-4));
    let launch = LaunchCost {
        function: "sort".into(),
        registers: 32,
        shared_bytes: 1024,
        local_bytes: 0,
        blocks_per_sm: 16,
        occupancy: 1.0,
    };
    let (launches, retaken, throttled) = (vec![launch], Some(2), Some(1));
    on_points.costs = Costs {
        permute_s: Some(4e-5),
        upload_s,
        allocate_s,
        download_s,
        launches,
        retaken,
        throttled,
        ..on_points.costs
    };

    let mut bundle = bundle();
    let [first, second, third, fourth, ..] = &mut bundle.runs[..] else { unreachable!() };
    first.until = Some(Until { asked: 0.01, reached: Some(0.005), met: true, at_most_s: 10.0 });
    second.until = Some(Until { asked: 0.01, reached: None, met: false, at_most_s: 10.0 });
    let mut told = history(&[1.0, 0.5, 1e-300]);
    let (name, step) = ("blocks with work".to_owned(), Some("pass".to_owned()));
    told.series.push(Series { name, values: vec![5.0, 3.0], every: 1, step });
    second.history = Some(told);
    second.solve = Some(solve());
    second.check.limited_by_rounding = true;
    second.check.reason = Some("the relative residual is 2e-9".into());
    fourth.check.undecided = true;
    second.costs.choice = Some(choice());
    second.distributed = Some(distributed());
    third.source = Some(kernel_source(TEXT));
    third.energy = Some(energy());
    second.no_energy = Some("energy is measured only for CUDA kernels on one GPU".into());
    bundle.others.insert(kernel_source(TEXT).entry(), TEXT.into());
    let levels = br#"{"rows":5,"shift":0,"forward_levels":3,"backward_levels":3,"colors":2}"#;
    for folder in bundle.matrices.iter_mut().take(1) {
        folder.files.insert("levels.json".into(), levels.to_vec());
        folder.files.insert("levels.bin".into(), vec![0, 1]);
    }
    let mut cloud = cloud();
    let line = (0..9).flat_map(|k| [f64::from(k), f64::from(k)]).collect();
    let line = Points::new(2, line).unwrap();
    cloud.files.extend(PointsPicture::of(line.view(), &[8; 9]).to_files(1));
    bundle.subjects.push(cloud);
    bundle.runs.push(on_points);
    bundle
}

/// The source of a user kernel.
pub(crate) const TEXT: &str = "// sparsescope kernel\n";

/// A user kernel with this source.
pub(crate) fn kernel_source(text: &str) -> KernelSource {
    KernelSource {
        file: "my.cu".into(),
        sha256: sha256(text.as_bytes()),
        family: "hll".into(),
        mapping: "warp-per-row".into(),
    }
}

/// The bundle with its GPU runs by a user kernel with this source, which it contains.
pub(crate) fn with_user_kernel(text: &str) -> Bundle {
    let mut bundle = bundle();
    let source = kernel_source(text);
    for run in bundle.runs.iter_mut().filter(|run| run.backend == "cuda") {
        (run.kernel, run.origin) = ("user/my/sum".into(), vec!["user".into()]);
        run.source = Some(source.clone());
    }
    bundle.others.insert(source.entry(), text.into());
    bundle
}

/// What a solver records about its iterations.
pub(crate) fn history(residuals: &[f64]) -> History {
    let name = "relative residual".to_owned();
    let series = vec![Series { name, values: residuals.to_vec(), every: 1, step: None }];
    History { step: "iteration".into(), series }
}

/// What a GPU counted.
pub(crate) fn energy() -> Energy {
    Energy {
        joules: 0.0625,
        windows: vec![0.0625, 0.046875, 0.078125, 0.0625],
        method: "counter".into(),
        watts: 312.5,
        idle_watts: 70.0,
        seconds: 5.25,
        restores: true,
    }
}

/// Two ranks, one without a halo.
pub(crate) fn distributed() -> Distributed {
    let rank = |first_row, rows, entries, halo| RankShare {
        host: Some(0),
        first_row,
        rows,
        interior_rows: rows - halo,
        entries,
        halo,
        computing_s: 1e-6,
        packing_s: 1e-7,
        waiting_s: 2e-7,
    };
    Distributed {
        transport: "mpi".into(),
        partition: "entries".into(),
        threads: 2,
        ranks: vec![rank(0, 2, 4, 1), rank(2, 3, 6, 0)],
        pairs: vec![PairTraffic { from: 1, to: 0, bytes: 8, messages: 1 }],
        plan_s: 1e-5,
        reductions: Some(2),
        reduction_s: Some(3e-6),
        links: vec![Link { from: 1, to: 0, bandwidth: 1e10, latency_s: Some(1e-6) }],
    }
}

/// What a solver records about the whole solve.
pub(crate) fn solve() -> Solve {
    Solve {
        iterations: 2,
        converged: true,
        ended: "converged".into(),
        tolerance: 1e-10,
        b_norm: 3.5,
        initial_residual: Some(1.0),
        residual: Some(1e-300),
        true_residual: Some(2e-16),
        rounding_floor: Some(4e-15),
        setup_s: 3e-3,
        phases: vec![Phase { name: "pattern".into(), seconds: 1e-3 }],
        sizes: Some(SetUpSizes {
            prefiltered: 10,
            pattern: 9,
            before_filter: 9,
            factor: 8,
            systems: 5,
            largest: 3,
        }),
        spectrum: Some(Spectrum { steps: 2, smallest: 0.5, largest: 2.0, condition: 4.0 }),
    }
}

/// What a kernel that runs another one records.
pub(crate) fn choice() -> Choice {
    let tried = |kernel: &str, least_s: Option<f64>, left_out: Option<&str>| Tried {
        kernel: kernel.into(),
        params: BTreeMap::from([("hack_size".into(), "8".into())]),
        minimal_bytes: 224,
        expected_s: least_s.map(|least| 1.25 * least),
        conversion_s: 2e-6,
        least_s,
        left_out: left_out.map(str::to_owned),
    };
    Choice {
        kernel: "cpu/hll/simd".into(),
        params: BTreeMap::from([("hack_size".into(), "8".into())]),
        why: "2.00 times as fast as cpu/csr/serial in the trial".into(),
        statistics_s: 1e-6,
        conversion_s: 4e-6,
        plan_s: 5e-7,
        trial_s: 9e-6,
        tried: vec![
            tried("cpu/hll/simd", Some(1e-7), None),
            tried("cpu/dia/rows", None, Some("the time for choosing was over")),
        ],
    }
}

/// Points for an operation that this program does not know.
fn cloud() -> SubjectFolder {
    let record = SubjectRecord {
        id: "cloud-9d1f7a55".into(),
        name: "cloud".into(),
        kind: "points".into(),
        source: Source::Generated,
        generator: Some("cloud?n=9&seed=1".into()),
        sha256: "9d1f7a55".repeat(8),
        sizes: BTreeMap::from([("points".into(), 9), ("dimensions".into(), 2)]),
        read_seconds: Some(0.00025),
    };
    let files = BTreeMap::from([("points.txt".into(), b"2\n9\n".to_vec())]);
    SubjectFolder { folder: "sorting".into(), record, files }
}

fn matrix(name: &str, source: Source, nnz: u64) -> MatrixFolder {
    let sha256 = identity(&five_by_five());
    let whole = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n";
    let square = source == Source::Real;
    let record = MatrixRecord {
        id: matrix_id(name, &sha256),
        name: name.into(),
        source,
        generator: None,
        reordered: square.then(|| Reordered {
            by: "rcm".into(),
            lower_bandwidth: 4,
            upper_bandwidth: 3,
            profile: 9,
        }),
        sha256,
        field: "real".into(),
        symmetry: "general".into(),
        read_seconds: 0.000125,
        statistics: Statistics {
            rows: 5,
            cols: 5,
            nnz,
            density: 0.4,
            nnz_class: "<10k".into(),
            row: RowLengths {
                min: 2,
                q1: 2,
                median: 2,
                q3: 2,
                max: 2,
                mean: 2.0,
                histogram: vec![0, 0, 5],
                ..RowLengths::default()
            },
            structural_symmetry: square.then_some(0.8),
            numerical_symmetry: square.then_some(0.2),
            formats: vec![FormatSize {
                format: "csr".into(),
                bytes: 144,
                slots: nnz,
                padding: 1.0,
                minimal_bytes: 184,
            }],
            ..Statistics::default()
        },
    };
    let files = BTreeMap::from([("matrix.mtx".into(), whole.into())]);
    MatrixFolder { record, files }
}

fn passed(matrix: &str, kernel: &str, samples: &[f64], nnz: u64, minimal_bytes: u64) -> Run {
    let figures = Figures::from_samples(samples, 2.0 * nnz as f64, minimal_bytes);
    let work = Work { flops: 2 * nnz, ..Work::default() };
    Run {
        check: Check {
            verdict: Verdict::Pass,
            worst: Some(0.25),
            s_paper: Some(0.0),
            rel_err: Some(1.5e-16),
            ..Check::default()
        },
        samples: samples.to_vec(),
        repetitions: 100,
        warmup: 3,
        costs: Costs {
            conversion_s: 0.5,
            plan_s: 0.001,
            format_bytes: 144,
            minimal_bytes,
            break_even: None,
            ..Costs::default()
        },
        work: Some(work),
        metric: figures.as_ref().map(|figures| Operation::Spmv.metric(&work, figures.median_s)),
        figures,
        ..without_timing(matrix, kernel, Verdict::Pass, "")
    }
}

fn without_timing(matrix: &str, kernel: &str, verdict: Verdict, reason: &str) -> Run {
    Run {
        matrix: matrix.into(),
        operation: "spmv".into(),
        kernel: kernel.into(),
        origin: vec!["paper:000".into()],
        backend: "cpu".into(),
        device: "Some CPU".into(),
        environment: "a".into(),
        threads: 1,
        parts: None,
        block: None,
        hot: true,
        precision: "f64".into(),
        params: BTreeMap::new(),
        check: Check {
            verdict,
            reason: (verdict != Verdict::Pass).then(|| reason.into()),
            ..Check::default()
        },
        ..Run::default()
    }
}

fn full_environment(id: &str) -> Environment {
    Environment {
        id: id.into(),
        cpu: Cpu {
            model: "Some CPU".into(),
            architecture: "x86_64".into(),
            logical: 8,
            physical: Some(4),
            simd: vec!["avx2".into(), "fma".into()],
            caches: vec![Cache { level: 1, kind: "data".into(), bytes: 32768, shared_by: Some(2) }],
            governor: Some("performance".into()),
        },
        memory_bytes: 16 << 30,
        os: "Linux 6.1".into(),
        build: Build {
            rustc: "rustc 1.95.0".into(),
            target: "x86_64-unknown-linux-gnu".into(),
            profile: "release".into(),
            flags: String::new(),
        },
        gpus: vec![Gpu {
            model: "Some GPU, 80 GB".into(),
            details: BTreeMap::from([("driver".into(), "580.1".into())]),
            copy: Some(2.5e12),
        }],
        bandwidth: vec![Bandwidth {
            threads: 4,
            array_bytes: 1 << 28,
            copy: 1e10,
            triad: 1.1e10,
            read: 1.2e10,
        }],
        threads_bound: true,
        noise: Noise { load_before: Some(0.5), load_after: Some(1.25), stolen_seconds: Some(0.0) },
        libraries: BTreeMap::from([("oneMKL".into(), "2026.2".into())]),
    }
}

fn bare_environment(id: &str) -> Environment {
    Environment { id: id.into(), ..Environment::default() }
}
