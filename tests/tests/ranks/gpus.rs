//! Ranks with one GPU each.

use super::*;

/// Runs on this many ranks with one GPU each, as far as the machine has them.
fn run_on_gpus(program: &Program, ranks: usize, args: &[&str]) -> Ran {
    Ran::of(program.ranks(ranks, args).env_remove("SPARSESCOPE_GPU").output().unwrap())
}

/// The numbers of ranks for which each finds a GPU, or why not even two do.
fn ranks_with_gpus(program: &Program) -> Result<Vec<usize>, String> {
    let product = ["spmv", "gen:poisson2d?n=9", "--kernel", "nccl/csr/halo-overlap"];
    let args = [&product[..], &["-o", "y.mtx", "--force"]].concat();
    let mut found = Vec::new();
    for ranks in [2, 4] {
        match run_on_gpus(program, ranks, &args) {
            ran if ran.code == Some(0) => found.push(ranks),
            ran if found.is_empty() => return Err(ran.err),
            _ => {}
        }
    }
    Ok(found)
}

#[test]
fn ranks_with_a_gpu_each_compute_the_products_and_solutions_of_one_process() {
    let program = program!();
    let counts = match ranks_with_gpus(&program) {
        Ok(counts) => counts,
        Err(why) => skip!(Need::Nccl, "{why}"),
    };
    let read = |name: &str| std::fs::read(program.path(name)).unwrap();
    for matrix in OF_INTEGERS.iter().chain(&OF_REALS) {
        program.succeed(&["spmv", matrix, "-o", "one.mtx", "--force"]);
        for kernel in ["nccl/csr/halo-overlap", "nccl/hll/halo-overlap"] {
            for &ranks in &counts {
                let compared = ["--expect", "one.mtx", "--tol", "1e-12", "-o", "y.mtx", "--force"];
                let args = [&["spmv", matrix, "--kernel", kernel], &compared[..]].concat();
                let ran = run_on_gpus(&program, ranks, &args);
                let what = format!("{matrix}, {kernel}, {ranks} ranks");
                assert_eq!(ran.code, Some(0), "{what}: {}", ran.err);
                let is_exact = OF_INTEGERS.contains(matrix);
                assert!(!is_exact || read("y.mtx") == read("one.mtx"), "{what}");
            }
        }
    }
    for matrix in ["gen:fem-hex?n=6&dof=3", "gen:poisson2d?n=30", "gen:stencil27?n=1"] {
        for with in [["--precond", "none"], ["--precond", "jacobi"]] {
            let one = ["solve", matrix, with[0], with[1], "--kernel", "cpu/pcg/serial", "--json"];
            let one = solved(&Ran::of(program.command(&one).output().unwrap()));
            for &ranks in &counts {
                let kernel = ["--kernel", "nccl/pcg/halo-overlap", "--json"];
                let args = [&["solve", matrix], &with[..], &kernel].concat();
                let several = solved(&run_on_gpus(&program, ranks, &args));
                let [a, b] = [&one, &several].map(|of| of["iterations"].as_u64().unwrap());
                assert!(a.abs_diff(b) <= 1 + a / 100, "{matrix}, {with:?}, {ranks}: {a}, {b}");
            }
        }
    }
    let most = counts.last().copied().unwrap_or_default();
    for (operation, kernels) in [("spmv", 2), ("solve", 1)] {
        let asked = ["--operation", operation, "--backend", "cuda", "--runs", "5", "-q"];
        let asked = [&asked[..], if operation == "solve" { &["--precond", "jacobi"] } else { &[] }];
        let asked = asked.concat();
        let args = [&["bench", "gen:stencil27?n=20"], &asked[..], &["-o", "b.zip", "--force"]];
        let ran = run_on_gpus(&program, most, &args.concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
        assert_eq!(bundle.runs.len(), kernels);
        for run in &bundle.runs {
            assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
            assert_eq!((run.samples.len(), &run.params["ranks"]), (5, &most.to_string()));
            let shared = run.distributed.as_ref().unwrap();
            assert_eq!((shared.transport.as_str(), shared.ranks.len()), ("nccl", most));
            assert!(bundle.environments[0].gpus.iter().any(|gpu| gpu.model == run.device));
        }
    }
    // More ranks than any machine has GPUs.
    let args =
        [&["spmv", "gen:poisson2d?n=9", "--kernel", "nccl/csr/halo-overlap"], &["-o", "y.mtx"][..]]
            .concat();
    let ran = run_on_gpus(&program, 17, &args);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
}
