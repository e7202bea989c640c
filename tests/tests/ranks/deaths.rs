//! What happens to the other ranks and to the journal when one rank is killed.

use std::process::Stdio;
use std::time::{Duration, Instant};

use sparsescope_core::bundle::{Journal, journal_path};

use super::*;

/// The process id of an Open MPI rank that runs in this folder.
fn process_of_rank(rank: &str, folder: &std::path::Path) -> Option<String> {
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let is_it = |process: &std::path::Path| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        let here = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder);
        here && environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.map(|entry| entry.path()).find(|process| is_it(process))?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}

/// Runs a bench on three ranks and kills one once `until` is true for the journal of `b.zip`.
fn with_a_rank_killed(program: &Program, args: &[&str], until: impl Fn(&str) -> bool) -> Ran {
    let mut command = program.ranks(3, &[args, &["-q", "-o", "b.zip"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = journal_path(&program.path("b.zip"));
    let folder = program.folder().canonicalize().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let within = |child: &mut std::process::Child, what: &str| {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        assert!(child.try_wait().unwrap().is_none(), "the ranks ended before {what}");
        std::thread::sleep(Duration::from_millis(20));
    };
    while !std::fs::read_to_string(&journal).is_ok_and(|text| until(&text)) {
        within(&mut child, "the journal was so far");
    }
    let victim = loop {
        match process_of_rank("1", &folder) {
            Some(process) => break process,
            None => within(&mut child, "rank 1 was found"),
        }
    };
    assert!(Command::new("kill").args(["-9", &victim]).status().unwrap().success());
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the other ranks hang");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("exited on signal 9"), "{}", ran.err);
    assert!(!program.path("b.zip").exists());
    ran
}

#[test]
fn a_rank_that_dies_ends_the_others_and_the_journal_stays() {
    let program = program!();
    let matrices = ["bench", "gen:stencil27?n=20", "gen:stencil27?n=24"];
    let args = [&matrices[..], &["--runs", "20000", "--threads", "1"]].concat();
    with_a_rank_killed(&program, &args, |journal| !journal.is_empty());
    let journal = journal_path(&program.path("b.zip"));
    let kept = Journal::recover(&journal, &Limits::default()).unwrap();
    assert!(!kept.complete && kept.environments.len() == 1);
}

#[test]
fn what_ranks_began_as_many_continue() {
    let program = program!();
    let matrices = ["bench", "gen:stencil27?n=9", "gen:stencil27?n=20"];
    let args = [&matrices[..], &["--runs", "1500", "--label", "two cubes"]].concat();
    // The runs of the first matrix are in the journal.
    let has_three = |journal: &str| journal.matches("\"samples\":[").count() >= 3;
    with_a_rank_killed(&program, &args, has_three);
    let journal = journal_path(&program.path("b.zip"));
    let begun = Journal::recover(&journal, &Limits::default()).unwrap();
    assert_eq!(begun.runs.len(), 3);

    for (ranks, expected) in [(1, "started with 3 ranks"), (2, "started with 3 ranks")] {
        let ran = match ranks {
            1 => program.run(&["bench", "--resume", "b.zip"]),
            ranks => run(&program, ranks, &["bench", "--resume", "b.zip"]),
        };
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{}", ran.err);
    }
    let ran = run(&program, 3, &["bench", "--resume", "b.zip", "-q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let whole = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((whole.complete, whole.runs.len(), whole.matrices.len()), (true, 6, 2));
    assert_eq!((whole.environments.len(), whole.label.as_deref()), (2, Some("two cubes")));
    for run in &whole.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
        let kept = begun
            .runs
            .iter()
            .find(|kept| (&kept.matrix, &kept.kernel) == (&run.matrix, &run.kernel));
        match kept {
            Some(kept) => assert_eq!(kept.samples, run.samples, "{}", run.kernel),
            None => assert_eq!(run.samples.len(), 1500),
        }
    }
    let ran = run(&program, 3, &["bench", "--resume", "b.zip"]);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("nothing to resume"), "{}", ran.err);
    // A missing file leaves a bundle of one process incomplete.
    let one = ["bench", "gen:diagonal?m=9", "absent.mtx", "--kernels", "cpu/csr/*", "-q"];
    program.run(&[&one[..], &["--runs", "3", "-o", "one.zip"]].concat());
    let ran = run(&program, 3, &["bench", "--resume", "one.zip", "absent.mtx"]);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("started by one process"), "{}", ran.err);
}
