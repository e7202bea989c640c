//! What happens on the last rank only, and what the others do then.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::*;

/// Longest time that ranks may take to end.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs a bench of this many ranks to its end, the last of which has further arguments.
fn with_last(program: &Program, ranks: usize, args: &[&str], further: &[&str]) -> Ran {
    let args = [&["bench"], args, &["-q", "--threads", "1", "--force", "-o", "b.zip"]].concat();
    let mut command = program.ranks_but_last(ranks, &args, &[&args[..], further].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + LONGEST;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            let ran = Ran::of(child.wait_with_output().unwrap());
            panic!("{ranks} ranks hang: {}", ran.err);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_time_limit_of_one_rank_stops_all_and_keeps_the_samples() {
    let program = program!();
    for ranks in [2, 4] {
        let args = ["gen:stencil27?n=40", "--kernels", "mpi/csr/halo", "--runs", "100000"];
        let ran = with_last(&program, ranks, &args, &["--time-limit", "12s"]);
        assert_eq!(errors(&ran), [""; 0], "{}", ran.err);
        let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
        assert_eq!((bundle.complete, bundle.runs.len()), (false, 1));
        let run = &bundle.runs[0];
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        assert!(run.cut_short && !run.samples.is_empty());
    }
}

#[test]
fn what_one_rank_has_no_memory_for_is_told_by_its_number() {
    let program = program!();
    let ran = with_last(&program, 3, &["gen:stencil7?n=30"], &["--memory-limit", "10KiB"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let error = errors(&ran)[0];
    assert!(error.contains("rank 2: ") && error.contains("limit of 10240 bytes"), "{}", ran.err);
}

#[test]
fn ranks_measure_with_cold_caches_and_until_medians_are_known() {
    let program = program!();
    let with = ["--kernels", "mpi/*/halo-overlap", "--cold", "--until", "20%", "--at-most", "2s"];
    let args = [&["gen:stencil27?n=12"], &with[..]].concat();
    let ran = with_last(&program, 2, &args, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert!(bundle.complete);
    let hot = bundle.runs.iter().filter(|run| run.hot).count();
    assert_eq!((hot, bundle.runs.len()), (2, 4));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        assert!(run.until.is_some() && !run.cut_short && !run.samples.is_empty());
        assert!(run.hot || run.repetitions == 1);
    }
    let mut plan = program.ranks(2, &["bench", "gen:stencil27?n=12", "--cold", "--plan"]);
    let ran = Ran::of(plan.output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.matches("hot and cold").count(), 1, "{}", ran.out);
}
