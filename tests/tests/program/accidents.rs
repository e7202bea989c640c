//! Accidents and tight limits: `bench` is killed, the disk is full, memory is limited. No results are lost.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sparsescope_core::bundle::{Bundle, Journal, Limits, journal_path};
use sparsescope_core::record::{Run, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::{Killed, Program, Ran};

use crate::common::{open, program};

/// Three matrices of the default suite, quickly.
const BENCH: [&str; 13] = [
    "bench",
    "suite:banded",
    "suite:web",
    "suite:diagonal",
    "--runs",
    "2",
    "--warmup",
    "0",
    "--threads",
    "1",
    "--kernels",
    "cpu/csr/{serial,rows,nnz,merge}",
    "-q",
];

/// How often a bench is killed; `SPARSESCOPE_KILLS` asks for more.
const KILLS: u32 = 2;

/// Starts a command and kills it after `delay` (SIGKILL), unless it ends before.
fn killed_after(delay: Duration, mut command: Command) {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = Killed(child.unwrap());
    let start = Instant::now();
    while start.elapsed() < delay && child.0.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A random duration below `most`.
fn random(most: Duration) -> Duration {
    let share = RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64;
    most.mul_f64(share)
}

/// The samples of every run, by matrix and kernel.
fn samples(bundle: &Bundle) -> BTreeMap<(String, String), Vec<f64>> {
    let of = |run: &Run| ((run.matrix.clone(), run.kernel.clone()), run.samples.clone());
    bundle.runs.iter().map(of).collect()
}

/// What is left after an accident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// Nothing was measured yet.
    Nothing,
    /// A journal, with or without finished runs.
    Journal,
    /// The finished bundle, and the journal not yet removed.
    BundleAndJournal,
    /// The finished bundle alone.
    Bundle,
}

/// What the bench at `output` left, which must be valid and hold every run with a complete line.
fn left(output: &Path) -> (Left, Option<Bundle>) {
    let finished = output.exists().then(|| Bundle::open(output, &Limits::default()).unwrap());
    let journal = journal_path(output);
    let journaled = journal.exists().then(|| {
        let bundle = Journal::recover(&journal, &Limits::default()).unwrap();
        let text = std::fs::read(&journal).unwrap();
        let lines = text.split_inclusive(|b| *b == b'\n');
        let whole = lines.filter(|l| l.starts_with(b"{\"run\":") && l.ends_with(b"\n")).count();
        assert!(bundle.runs.len() >= whole, "{} of {whole} runs", bundle.runs.len());
        bundle
    });
    for bundle in finished.iter().chain(&journaled) {
        let good = |run: &Run| run.check.verdict == Verdict::Pass && run.samples.len() == 2;
        assert!(bundle.runs.iter().all(good));
    }
    match (finished, journaled) {
        (None, None) => (Left::Nothing, None),
        (None, Some(bundle)) => (Left::Journal, Some(bundle)),
        (Some(bundle), Some(journaled)) => {
            assert_eq!(samples(&bundle), samples(&journaled));
            (Left::BundleAndJournal, Some(bundle))
        }
        (Some(bundle), None) => (Left::Bundle, Some(bundle)),
    }
}

/// Continues the bench of `before` at `name`: it completes and contains every earlier run.
fn continues(p: &Program, name: &str, before: &Bundle, runs: usize) {
    p.succeed(&["bench", "--resume", name, "-q"]);
    let after = open(p, name);
    assert!(after.complete && !journal_path(&p.path(name)).exists());
    assert_eq!(after.runs.len(), runs);
    let kept = samples(&after);
    for (run, samples) in samples(before) {
        assert_eq!(kept.get(&run), Some(&samples), "{run:?}");
    }
}

#[test]
fn a_bench_that_is_killed_at_any_moment_leaves_a_valid_bundle_or_one_to_continue() {
    let asked = std::env::var("SPARSESCOPE_KILLS").ok().map(|n| n.parse::<u32>().unwrap());
    let kills = asked.unwrap_or(KILLS);
    let p = program();
    let whole = Instant::now();
    p.succeed(&[&BENCH[..], &["-o", "whole.zip"]].concat());
    let (whole, expected) = (whole.elapsed(), left(&p.path("whole.zip")).1.unwrap().runs.len());
    let mut outcomes: BTreeMap<Left, u32> = BTreeMap::new();
    let mut in_resume = 0;
    for _ in 0..kills {
        let _ = std::fs::remove_file(p.path("b.zip"));
        let moment = random(whole);
        killed_after(moment, p.command(&[&BENCH[..], &["-o", "b.zip"]].concat()));
        let (left_there, bundle) = left(&p.path("b.zip"));
        *outcomes.entry(left_there).or_default() += 1;
        let Some(bundle) = bundle.filter(|bundle| !bundle.complete) else {
            let _ = std::fs::remove_file(journal_path(&p.path("b.zip")));
            continue;
        };
        // The continued bench is killed as well.
        killed_after(random(whole / 2), p.command(&["bench", "--resume", "b.zip", "-q"]));
        let (left_there, again) = left(&p.path("b.zip"));
        assert!(left_there != Left::Nothing, "killed after {moment:?}: the journal is gone");
        let kept = samples(again.as_ref().unwrap());
        assert!(samples(&bundle).iter().all(|(run, samples)| kept.get(run) == Some(samples)));
        in_resume += 1;
        match again.unwrap() {
            done if left_there == Left::Bundle => assert_eq!(done.runs.len(), expected),
            begun => continues(&p, "b.zip", &begun, expected),
        }
    }
    if asked.is_some() {
        eprintln!("{kills} kills within {whole:?}: {outcomes:?}; {in_resume} killed again");
    }
}

/// A file system of a few bytes, until it is dropped.
struct SmallDisk<'p>(&'p Path);

impl<'p> SmallDisk<'p> {
    fn mount(folder: &'p Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let options = format!("size={bytes}");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success()).then_some(Self(folder))
    }

    fn grow(&self, bytes: u64) {
        let options = format!("remount,size={bytes}");
        let done = Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_sentence_and_what_was_measured_can_be_continued() {
    let p = program();
    let folder = p.path("disk");
    let bench = [
        "bench",
        "gen:stencil27?n=6",
        "gen:road?m=3000",
        "gen:diagonal?m=900",
        "--runs",
        "2",
        "--warmup",
        "0",
        "--threads",
        "1",
        "--kernels",
        "cpu/csr/{serial,rows,nnz,merge}",
        "-q",
        "-o",
        "disk/b.zip",
    ];
    let (mut journals, mut wholes) = (0, 0);
    // From too little for a journal's first line to enough, in pages, the unit of this file system.
    for pages in [1, 8, 40, 512] {
        let Some(disk) = SmallDisk::mount(&folder, pages * 4096) else {
            skip!(Need::Root, "this user may not mount a tmpfs");
        };
        let ran = p.run(&bench);
        let (left_there, bundle) = left(&p.path("disk/b.zip"));
        if left_there == Left::Bundle {
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            wholes += 1;
            continue;
        }
        assert_eq!(ran.code, Some(1), "{pages} pages: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.err.contains("No space left"), "{}", ran.err);
        let names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["b.zip.partial.jsonl"]);
        let bundle = bundle.unwrap();
        assert!(ran.err.contains("the runs so far are in disk/b.zip.partial.jsonl"), "{}", ran.err);
        // Without space it fails again and loses nothing.
        let again = p.run(&["bench", "--resume", "disk/b.zip", "-q"]);
        assert_eq!(again.code, Some(1), "{}", again.err);
        assert!(again.err.contains("No space left"), "{}", again.err);
        let kept = samples(&left(&p.path("disk/b.zip")).1.unwrap());
        assert!(samples(&bundle).iter().all(|(run, samples)| kept.get(run) == Some(samples)));
        disk.grow(8 << 20);
        continues(&p, "disk/b.zip", &bundle, 3 * 4);
        journals += 1;
    }
    assert!(journals >= 2 && wholes >= 1, "{journals} {wholes}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_on_the_disk_leaves_no_part() {
    let p = program();
    let folder = p.path("disk");
    let Some(_disk) = SmallDisk::mount(&folder, 64 << 10) else {
        skip!(Need::Root, "this user may not mount a tmpfs");
    };
    p.write("disk/full", vec![1; 64 << 10]);
    let bench = ["bench", "gen:diagonal?m=9", "--runs", "1", "-q", "-o", "disk/b.zip"];
    let generate = ["generate", "random?m=20000&row=9", "-o"];
    let matrix = [&generate[..], &["disk/a.mtx"]].concat();
    let packed = [&generate[..], &["disk/a.mtx.gz"]].concat();
    for args in [&bench[..], &matrix[..], &packed[..]] {
        let error = p.fail(1, args);
        assert!(error.contains("disk/") && error.contains("No space left"), "{error}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "{args:?}");
    }
}

/// A control group of this test, until it is dropped.
#[cfg(target_os = "linux")]
struct ControlGroup(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl ControlGroup {
    /// Uses cgroup v1 or v2, whichever has the memory controller.
    fn with_memory(bytes: u64) -> Option<Self> {
        let name = format!("sparsescope-test-{}", std::process::id());
        let places =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        places.into_iter().find_map(|(root, limit)| {
            let group = Path::new(root).join(&name);
            std::fs::create_dir(&group).ok()?;
            let group = Self(group);
            let limit = group.0.join(limit);
            (limit.exists() && std::fs::write(limit, bytes.to_string()).is_ok()).then_some(group)
        })
    }
}

#[cfg(target_os = "linux")]
impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_that_a_control_group_allows_is_all_there_is() {
    let p = program();
    let Some(group) = ControlGroup::with_memory(400_000_000) else {
        skip!(Need::Root, "this user may not make a control group with a memory limit");
    };
    // Its ELLPACK format takes 588 MB.
    let bench = [
        "bench",
        "gen:dense-row?m=7000",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--kernels",
        "cpu/ell/serial",
        "-q",
        "-o",
        "b.zip",
    ];
    let program = p.command(&bench);
    let mut inside = Command::new("sh");
    inside.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group.0);
    inside.arg(program.get_program()).args(program.get_args()).current_dir(p.folder());
    let ran = Ran::of(inside.output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sentence = "needs 588028000 bytes (588.0 MB), more than the memory limit of ";
    let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" "); // long lines are wrapped
    let limit = out.split(sentence).nth(1).unwrap_or_else(|| panic!("{out}"));
    let limit: u64 = limit.split(' ').next().unwrap().parse().unwrap();
    assert!((100_000_000..=300_000_000).contains(&limit), "{limit} of three quarters of 400 MB");
}
