//! Systems that several ranks solve.

use super::*;

/// Preconditioners, and the nonzeros of G in one process: the rows are the same whichever rank computes them.
const PRECONDITIONERS: [&[&str]; 5] = [
    &["--precond", "none"],
    &["--precond", "jacobi", "--b", "ones"],
    &["--power", "1", "--x0", "precond"],
    &["--power", "2", "--format", "hll", "--b", "range:3"],
    &["--pattern", "power", "--power", "2", "--prefilter", "1e-4", "--postfilter", "1e-3"],
];

#[test]
fn solves_of_any_number_of_ranks_take_the_iterations_of_one_process() {
    let program = program!();
    // The last has fewer rows than ranks.
    for matrix in ["gen:fem-hex?n=6&dof=3", "gen:poisson2d?n=30", "gen:stencil27?n=1"] {
        for (k, with) in PRECONDITIONERS.into_iter().enumerate() {
            let kernel = ["--kernel", "cpu/pcg/serial", "--json", "-o", "one.mtx", "--force"];
            let one = [&["solve", matrix], with, &kernel].concat();
            let one = solved(&Ran::of(program.command(&one).output().unwrap()));
            let iterations = one["iterations"].as_u64().unwrap();
            let ranks = [1, 2, 3, 4, 7];
            for ranks in [ranks[k], ranks[(k + 2) % 5]] {
                let x = ["--json", "-o", "x.mtx", "--force"];
                let several = run(&program, ranks, &[&["solve", matrix], with, &x].concat());
                let what = format!("{matrix}, {with:?}, {ranks} ranks");
                let several = solved(&several);
                let found = several["iterations"].as_u64().unwrap();
                // As between backends: 1 below 100, else 1 %.
                assert!(found.abs_diff(iterations) <= 1 + iterations / 100, "{what}: {found}");
                for same in ["nnz", "nnz_g", "sizes", "tolerance"] {
                    assert_eq!(one[same], several[same], "{what}: {same}");
                }
                let [a, b] = [&one, &several].map(|of| of["b_norm"].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-14 * a, "{what}: {a} {b}");
                let (read, x) = (|name| numbers(&program, name), "x.mtx");
                let largest = read("one.mtx").into_iter().map(f64::abs).fold(0.0, f64::max);
                for (a, b) in read("one.mtx").into_iter().zip(read(x)) {
                    assert!((a - b).abs() < 1e-6 * largest, "{what}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn iterations_with_fewer_reductions_solve_the_system_too() {
    let program = program!();
    // More than 50 iterations, after which pipelined CG recomputes its vectors.
    for (with, ranks) in [(&["--precond", "none"][..], 3), (&["--power", "2"], 2)] {
        let classic = [&["solve", "gen:poisson2d?n=60", "--json"], with].concat();
        let one = solved(&run(&program, ranks, &classic));
        let iterations = one["iterations"].as_u64().unwrap();
        for cg in ["single", "pipelined"] {
            let other = solved(&run(&program, ranks, &[&classic[..], &["--cg", cg]].concat()));
            assert_eq!(other["params"]["cg"], cg);
            let found = other["iterations"].as_u64().unwrap();
            assert!(
                found > 50 && found.abs_diff(iterations) <= 2 + iterations / 20,
                "{cg}: {found}"
            );
            // The true residual, not that of the recurrence.
            assert!(other["true_residual"].as_f64().unwrap() <= 1.1e-10 + 1e-12, "{cg}: {other}");
            assert_eq!(other["check"]["verdict"], "pass");
        }
    }
    let refused = Ran::of(
        program.command(&["solve", "gen:poisson2d?n=9", "--cg", "single"]).output().unwrap(),
    );
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused.err.contains("--cg applies only to solves on several ranks"),
        "{}",
        refused.err
    );
}

#[test]
fn solves_are_measured_with_what_an_iteration_sends_and_sums() {
    let program = program!();
    let solve = ["bench", "gen:stencil27?n=8", "--operation", "solve", "--precond", "jacobi,fsai"];
    let with =
        ["--power", "1", "--cg", "classic,pipelined", "--runs", "3", "-q", "-v", "-o", "b.zip"];
    let ran = run(&program, 3, &[&solve[..], &with].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    assert!(words.join(" ").contains("messages per iteration"), "{}", ran.out);
    let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((bundle.complete, bundle.runs.len()), (true, 4));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        let (shared, solve) = (run.distributed.as_ref().unwrap(), run.solve.as_ref().unwrap());
        let has_factor = run.params["precond"] == "fsai";
        let is_classic = run.params["cg"] == "classic";
        assert_eq!(shared.reductions, Some(if is_classic { 2 } else { 1 }));
        // A cube in three slabs: planes of 64 from each neighbour for A; those before it for G, and those after it
        // for its transpose.
        assert_eq!(shared.pairs.len(), 4);
        let planes = if has_factor { 2 } else { 1 };
        assert_eq!(shared.messages(), 4 * planes);
        let halos: u64 = shared.ranks.iter().map(|rank| 8 * rank.halo).sum();
        assert_eq!(shared.bytes(), halos * planes);
        assert_eq!(solve.sizes.is_some(), has_factor);
        assert!(solve.iterations > 3 && run.history.is_some() && run.work.is_some());
        assert_eq!(run.samples.len(), 3);
    }
}

#[test]
fn a_solve_that_is_stopped_in_a_later_sample_keeps_those_before_it() {
    let program = program!();
    let solve = ["bench", "gen:poisson2d?n=60", "--operation", "solve", "--precond", "none"];
    let with = ["--runs", "100000", "--threads", "1", "--time-limit", "8s", "-q", "-o", "b.zip"];
    let ran = run(&program, 2, &[&solve[..], &with].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((bundle.complete, bundle.runs.len()), (false, 1));
    let stopped = &bundle.runs[0];
    assert_eq!(stopped.check.verdict, Verdict::Pass, "{:?}", stopped.check.reason);
    assert!(stopped.cut_short && (1..100_000).contains(&stopped.samples.len()));
}

#[test]
fn what_cannot_be_solved_is_told_by_the_row_that_one_process_names() {
    let program = program!();
    let head = "%%MatrixMarket matrix coordinate real general\n8 8 ";
    let diagonal: String = (1..=8).map(|i| format!("{i} {i} 2\n")).collect();
    let beside: String = (1..8).map(|i| format!("{i} {} -1\n{} {i} -1\n", i + 1, i + 1)).collect();
    let ends = diagonal.replace("1 1 2", "1 1 1").replace("8 8 2", "8 8 1");
    let cases = [
        // The Laplacian of a path: no single rank sees that its rows add up to zero.
        (format!("{head}22\n{ends}{beside}"), "b = A·1 is zero up to rounding"),
        // The pair is split over two ranks.
        (format!("{head}10\n{diagonal}1 8 1\n8 1 1.5\n"), "row 0 (0-based) has 1 in column 7"),
        (
            format!("{head}9\n{diagonal}7 2 1\n"),
            "row 6 (0-based) has 1 in column 1 while row 1 has 0",
        ),
        (format!("{head}8\n{}", diagonal.replace("6 6 2", "6 6 -2")), "row 5 (0-based) has -2"),
        (
            format!("{head}7\n{}", diagonal.replace("4 4 2\n", "")),
            "row 3 (0-based) has no diagonal nonzero",
        ),
        (
            format!("{head}10\n{diagonal}2 7 3\n7 2 3\n"),
            "not positive definite on the pattern of row 6 (0-based, 2 columns)",
        ),
    ];
    for (text, sentence) in cases {
        program.write("a.mtx", &text);
        let ran = run(&program, 3, &["solve", "a.mtx", "--power", "1"]);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{sentence}: {}", ran.err);
        assert!(errors(&ran)[0].contains(sentence), "{sentence}: {}", ran.err);
    }
}
