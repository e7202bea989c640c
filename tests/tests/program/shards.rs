//! A plan in parts: each measured by its own process, merged, and compared with what one process measures.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{MatrixRecord, Shard};
use sparsescope_tests::{Program, Ran, Reply, Server};

use crate::common::{open, program};

/// Four matrices, one of them more than half of the total, and kernels with and without threads.
const SWEEP: [&str; 14] = [
    "bench",
    "gen:poisson2d?n=20",
    "gen:stencil27?n=12",
    "gen:dense-row?m=60",
    "gen:road?m=900",
    "--kernels",
    "cpu/csr/{serial,rows,nnz},cpu/coo/serial,cpu/hll/{serial,hacks}",
    "--runs",
    "2",
    "--warmup",
    "1",
    "--threads",
    "1,2",
    "-q",
];

fn part<'a>(shard: &'a str, output: &'a str) -> Vec<&'a str> {
    [&SWEEP[..], &["--shard", shard, "-o", output]].concat()
}

/// Runs all parts at the same time, each into `K.zip`.
fn run_parts(p: &Program, of: u32) {
    let start = |k: u32| -> Child {
        let (shard, output) = (format!("{k}/{of}"), format!("{k}.zip"));
        let mut command = p.command(&part(&shard, &output));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let parts: Vec<Child> = (1..=of).map(start).collect();
    for mut part in parts {
        assert!(part.wait().unwrap().success());
    }
}

/// The records of a bundle's matrices, except how long they took to read.
fn matrices(bundle: &Bundle) -> Vec<MatrixRecord> {
    let untimed = |record: &MatrixRecord| MatrixRecord { read_seconds: 0.0, ..record.clone() };
    bundle.matrices.iter().map(|folder| untimed(&folder.record)).collect()
}

/// Every run as text: its configuration and the result of its check.
fn runs(bundle: &Bundle) -> Vec<String> {
    let words = |run| {
        let key = bundle.key(run).unwrap();
        format!("{key:?} {:?} {:?} {}", run.check, run.params, run.samples.len())
    };
    bundle.runs.iter().map(words).collect()
}

/// Everything but times is equal.
fn is_the_whole(merged: &Bundle, whole: &Bundle) {
    assert_eq!(runs(merged), runs(whole));
    assert_eq!(matrices(merged), matrices(whole));
    assert_eq!((&merged.plan, merged.shard, merged.complete), (&whole.plan, None, true));
    for (merged, whole) in merged.matrices.iter().zip(&whole.matrices) {
        assert_eq!(merged.files, whole.files);
    }
    for run in &merged.runs {
        assert!(run.figures.as_ref().unwrap().speedup.is_some(), "{}", run.kernel);
    }
}

#[test]
fn four_processes_measure_what_one_does() {
    let p = program();
    p.succeed(&[&SWEEP[..], &["-o", "whole.zip"]].concat());
    let whole = open(&p, "whole.zip");
    run_parts(&p, 4);
    let mut seen = BTreeSet::new();
    for k in 1..=4 {
        let part = open(&p, &format!("{k}.zip"));
        assert_eq!((part.shard, part.complete), (Some(Shard { part: k, of: 4 }), true));
        assert_eq!(part.plan, whole.plan, "the plan of a part is that of the whole");
        assert!(!part.runs.is_empty() && part.runs.len() < whole.runs.len());
        assert!(part.runs.iter().all(|run| seen.insert(format!("{:?}", part.key(run).unwrap()))));
    }
    assert_eq!(seen.len(), whole.runs.len());
    // In any order.
    let ran = p.run(&["merge", "3.zip", "1.zip", "4.zip", "2.zip", "-o", "merged.zip"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("missing") && !ran.err.contains("incomplete"), "{}", ran.err);
    is_the_whole(&open(&p, "merged.zip"), &whole);
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("1.zip")).unwrap());
    sparsescope_tests::follow_the_schema(&texts);
}

#[test]
fn merge_says_which_part_is_missing_and_resume_measures_it() {
    let p = program();
    p.succeed(&[&SWEEP[..], &["-o", "whole.zip"]].concat());
    let whole = open(&p, "whole.zip");
    run_parts(&p, 4);
    let absent = open(&p, "3.zip").runs.len();
    let ran = p.run(&["merge", "1.zip", "2.zip", "4.zip", "-o", "some.zip"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let line = ran.err.lines().find(|line| line.starts_with("missing:")).unwrap();
    assert!(line.contains(&format!("part 3 of 4, {absent} run")), "{line}");
    assert!(line.contains("bench with --shard 3/4"), "{line}");
    let some = open(&p, "some.zip");
    assert_eq!((some.complete, some.shard, &some.plan), (false, None, &whole.plan));
    // Either the part is measured where it was planned, or the rest is measured here.
    p.succeed(&["merge", "some.zip", "3.zip", "-o", "later.zip"]);
    is_the_whole(&open(&p, "later.zip"), &whole);
    p.succeed(&["bench", "--resume", "some.zip", "-q"]);
    is_the_whole(&open(&p, "some.zip"), &whole);
}

#[test]
fn a_part_that_was_interrupted_is_continued_as_that_part() {
    let p = program();
    p.succeed(&part("2/3", "2.zip"));
    let before = open(&p, "2.zip");
    let mut cut = before.clone();
    cut.complete = false;
    cut.runs.truncate(before.runs.len() / 2);
    cut.save(&p.path("2.zip"), true).unwrap();
    let lost = before.runs.len() - cut.runs.len();
    p.succeed(&part("1/3", "1.zip"));
    let ran = p.run(&["merge", "1.zip", "2.zip", "-o", "all.zip"]);
    assert!(ran.err.contains(&format!("missing: {lost} run")), "{}", ran.err);
    assert!(ran.err.contains("of part 2 of 3, which is incomplete"), "{}", ran.err);
    assert!(ran.err.contains("missing: part 3 of 3"), "{}", ran.err);

    let error = p.fail(2, &["bench", "--resume", "2.zip", "--shard", "2/3"]);
    assert!(error.contains("--shard"), "{error}");
    p.succeed(&["bench", "--resume", "2.zip", "-q"]);
    let after = open(&p, "2.zip");
    assert_eq!(runs(&after), runs(&before));
    assert_eq!((after.shard, after.complete), (before.shard, true));
    assert_eq!(after.plan, before.plan);
}

#[test]
fn only_a_parts_own_files_have_to_be_named_again() {
    let p = program();
    for (name, n) in [("a", 12), ("b", 11), ("c", 10)] {
        let (spec, path) = (format!("poisson2d?n={n}"), format!("{name}.mtx"));
        p.succeed(&["generate", &spec, "-o", &path]);
    }
    let kernels = ["--kernels", "cpu/csr/serial", "--runs", "1", "-q", "--shard", "2/3"];
    let args = [&["bench", "a.mtx", "b.mtx", "c.mtx", "-o", "2.zip"], &kernels[..]].concat();
    p.succeed(&args);
    let mut cut = open(&p, "2.zip");
    assert_eq!((cut.matrices.len(), cut.matrices[0].record.name.as_str()), (1, "b"));
    cut.complete = false;
    cut.runs.clear();
    cut.save(&p.path("2.zip"), true).unwrap();
    let error = p.fail(2, &["bench", "--resume", "2.zip"]);
    assert!(error.ends_with("pass the files of these matrices again: b"), "{error}");
    let error = p.fail(2, &["bench", "--resume", "2.zip", "--suite", "mini"]);
    assert!(error.contains("come from the bundle"), "{error}");
    p.write("list.txt", "a.mtx\nb.mtx\nc.mtx\n");
    p.succeed(&["bench", "--resume", "2.zip", "--suite", "list.txt", "-q"]);
    let after = open(&p, "2.zip");
    assert_eq!((after.runs.len(), after.matrices.len(), after.complete), (1, 1, true));
}

#[test]
fn the_plan_of_a_part_is_that_part_and_nothing_runs() {
    let p = program();
    let plan = |shard: &str| p.succeed(&[&SWEEP[..], &["--plan", "--shard", shard]].concat());
    let whole = p.succeed(&[&SWEEP[..], &["--plan"]].concat());
    let runs = |text: &str| -> usize {
        let line = text.lines().find(|line| line.contains(" of 2 samples")).unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    };
    let parts = ["1/4", "2/4", "3/4", "4/4"].map(plan);
    assert!(parts[1].starts_with("Part 2 of 4, "), "{}", parts[1]);
    assert_eq!(parts.iter().map(|part| runs(part)).sum::<usize>(), runs(&whole));
    let cut =
        parts.iter().filter(|part| part.contains(&format!(" of {} runs: cpu/", runs(&whole) / 4)));
    assert!(cut.count() >= 2, "the large matrix is cut: {parts:?}");
    assert_eq!(p.files(), [""; 0]);
}

#[test]
fn more_parts_than_runs_leave_an_empty_bundle() {
    let p = program();
    let few = ["bench", "gen:diagonal?m=9", "--kernels", "cpu/csr/serial", "--runs", "1"];
    let ran = p.run(&[&few[..], &["--shard", "2/2", "-o", "2.zip"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("part 2 of 2 has nothing to run"), "{}", ran.err);
    let empty = open(&p, "2.zip");
    assert_eq!((empty.runs.len(), empty.matrices.len(), empty.complete), (0, 0, true));
    p.succeed(&[&few[..], &["--shard", "1/2", "-o", "1.zip", "-q"]].concat());
    p.succeed(&["merge", "1.zip", "2.zip", "-o", "all.zip"]);
    assert_eq!((open(&p, "all.zip").runs.len(), open(&p, "all.zip").complete), (1, true));
}

#[test]
fn the_part_comes_from_what_started_the_process_and_names_the_bundle() {
    let p = program();
    let with = |variables: &[(&str, &str)]| {
        let mut command = p.command(&[&SWEEP[..], &["--shard", "auto"]].concat());
        for name in std::env::vars().map(|(name, _)| name) {
            if name.starts_with("SLURM_") || name.starts_with("OMPI_") {
                command.env_remove(name);
            }
        }
        Ran::of(command.envs(variables.iter().copied()).output().unwrap())
    };
    let array = |id| {
        [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
        ]
    };
    assert_eq!(with(&array("3")).code, Some(0));
    let files = p.files();
    assert!(files.len() == 1 && files[0].ends_with("-part-4-of-4.zip"), "{files:?}");
    assert_eq!(open(&p, &files[0]).shard, Some(Shard { part: 4, of: 4 }));
    // If each rank has its own part, ranks share no matrix, whether the build has MPI or not.
    let ran = with(&[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let files = p.files();
    let of_rank = files.iter().find(|name| name.ends_with("-part-2-of-4.zip")).unwrap();
    assert_eq!(open(&p, of_rank).shard, Some(Shard { part: 2, of: 4 }));
    for (variables, sentence) in [
        (&[][..], "needs SLURM_ARRAY_TASK_ID"),
        (&array("4")[..], "not evenly spaced"),
        (&[("SLURM_PROCID", "2"), ("SLURM_NTASKS", "2")], "expected less than SLURM_NTASKS"),
    ] {
        let ran = with(variables);
        assert!(ran.code == Some(2) && ran.err.contains(sentence), "{}", ran.err);
    }
    for bad in ["0/4", "5/4", "1/0", "x", "1"] {
        assert_eq!(p.run(&part(bad, "x.zip")).code, Some(2), "{bad}");
    }
    assert_eq!(p.files(), files);
}

#[test]
fn parts_of_other_plans_are_joined_with_a_warning() {
    let p = program();
    p.succeed(&part("1/2", "1.zip"));
    let other = [&part("2/2", "2.zip")[..], &["--seed", "7"]].concat();
    p.succeed(&other);
    let ran = p.run(&["merge", "1.zip", "2.zip", "-o", "all.zip"]);
    assert!(ran.code == Some(0) && ran.err.contains("not parts of one plan"), "{}", ran.err);
    let all = open(&p, "all.zip");
    assert_eq!((all.complete, all.plan.is_some(), all.shard), (false, false, None));
}

/// The collection has one archive, which takes a while.
#[cfg(target_os = "linux")]
#[test]
fn a_list_names_matrices_of_every_kind_and_processes_fetch_each_once() {
    let p = program();
    p.succeed(&["generate", "random?m=3000&row=9", "-o", "served.mtx.gz"]);
    p.succeed(&["generate", "poisson2d?n=9", "-o", "own.mtx"]);
    let served = std::fs::read(p.path("served.mtx.gz")).unwrap();
    let server = Server::start(move |asked, _| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        match asked.path.as_str() {
            "/MM/Gleich/thing.tar.gz" => Reply::whole(&served),
            _ => Reply::status(404),
        }
    });
    p.write(
        "list.txt",
        "# a sweep\nown.mtx\ngen:diagonal?m=50\n\nsuite:cage4\nGleich/thing # fetched\n",
    );
    let command = |output: &str, more: &[&str]| {
        let args = ["bench", "--suite", "list.txt", "--kernels", "cpu/csr/serial", "--runs", "1"];
        let mut command = p.command(&[&args[..], &["-o", output], more].concat());
        command.env("XDG_CACHE_HOME", p.path("cache")).env_remove("SPARSESCOPE_MATRICES");
        command.env("SPARSESCOPE_COLLECTION", server.address());
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let parts = [("1.zip", "1/2"), ("2.zip", "2/2"), ("all.zip", "1/1")];
    let children =
        parts.map(|(output, shard)| command(output, &["--shard", shard]).spawn().unwrap());
    for child in children {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let asked: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(asked, ["/MM/Gleich/thing.tar.gz"]);
    let cache = std::fs::read_dir(p.path("cache/sparsescope/matrices")).unwrap();
    let mut cached: Vec<String> =
        cache.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    cached.sort();
    assert_eq!(cached, ["thing.tar.gz", "thing.tar.gz.sha256"]);
    let all = open(&p, "all.zip");
    let names: Vec<&str> = all.matrices.iter().map(|m| m.record.name.as_str()).collect();
    assert_eq!(names, ["own", "diagonal?m=50", "cage4", "thing"]);
    let error = p.fail(1, &["merge", "1.zip", "all.zip", "-o", "none.zip"]);
    assert!(error.contains("differ between the bundles"), "{error}");
    p.succeed(&["merge", "1.zip", "2.zip", "-o", "merged.zip"]);
    assert_eq!(matrices(&open(&p, "merged.zip")), matrices(&all));

    p.write("list.txt", "Gleich/none\n");
    let ran = Ran::of(command("x.zip", &[]).output().unwrap());
    assert!(ran.code == Some(1) && ran.err.contains("cannot fetch Gleich/none"), "{}", ran.err);
    p.write("list.txt", "gen:diagonal?m=5\ngen:nothing?m=5\n");
    let ran = Ran::of(command("x.zip", &[]).output().unwrap());
    assert!(ran.code == Some(2) && ran.err.contains("line 2 of the list list.txt"), "{}", ran.err);
    p.write("list.txt", "# none\n");
    let ran = Ran::of(command("x.zip", &[]).output().unwrap());
    assert!(ran.code == Some(2) && ran.err.contains("is empty"), "{}", ran.err);
    let error = p.fail(2, &["bench", "--suite", "no-list.txt"]);
    assert!(error.contains("no suite and no list file `no-list.txt`"), "{error}");
}
