//! System limits: special files, memory, threads, signals.

use std::os::unix::fs::FileTypeExt;
use std::process::Command;

use sparsescope_core::record::Verdict;
use sparsescope_tests::{Program, Ran};

use crate::common::{open, program, signal};

const DIAGONAL: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3\n";

#[test]
fn devices_pipes_and_links_are_never_replaced() {
    let p = program();
    p.write("a.mtx", DIAGONAL);
    p.write("target", "old");
    std::os::unix::fs::symlink(p.path("target"), p.path("link")).unwrap();
    assert!(Command::new("mkfifo").arg(p.path("pipe")).status().unwrap().success());
    let commands: [&[&str]; 4] = [
        &["spmv", "a.mtx", "--force", "-o"],
        &["generate", "diagonal?m=4", "--force", "-o"],
        &["bench", "a.mtx", "--runs", "1", "--force", "-o"],
        &["bench", "a.mtx", "--runs", "1", "--force", "-o", "b.zip", "--csv"],
    ];
    for command in commands {
        for (name, kind) in
            [("pipe", "pipe"), ("link", "symbolic link"), ("/dev/null", "device"), (".", "folder")]
        {
            let error = p.fail(1, &[command, &[name]].concat());
            let start =
                format!("error: cannot write {name}: expected a regular file or a new name");
            assert!(error.starts_with(&start) && error.contains(kind), "{error}");
        }
    }
    assert!(p.path("pipe").symlink_metadata().unwrap().file_type().is_fifo());
    assert!(p.path("link").is_symlink());
    assert_eq!(std::fs::read_to_string(p.path("target")).unwrap(), "old");
    assert_eq!(p.files(), ["a.mtx", "link", "pipe", "target"]);
}

#[test]
fn text_is_written_to_standard_output_and_a_bundle_is_not() {
    let p = program();
    p.write("a.mtx", DIAGONAL);
    p.write("x.txt", "5\n7\n");
    p.succeed(&["generate", "diagonal?m=4", "-o", "made.mtx"]);
    let made = std::fs::read_to_string(p.path("made.mtx")).unwrap();
    for name in ["-", "/dev/stdout"] {
        assert_eq!(p.succeed(&["generate", "diagonal?m=4", "-o", name]), made);
        let y = p.succeed(&["spmv", "a.mtx", "--x", "x.txt", "-o", name]);
        // y = (2 * 5, 3 * 7).
        let values: Vec<f64> = y.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(values, [10.0, 21.0], "{y}");
        // Then messages go to standard error, and only the result to the pipe.
        let ran = p.run(&["symgs", "a.mtx", "-o", name]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with("%%MatrixMarket matrix array real"), "{}", ran.out);
        assert!(ran.err.contains("residual"), "{}", ran.err);
        let error = p.fail(2, &["symgs", "a.mtx", "--json", "-o", name]);
        assert!(error.contains("cannot both go to standard output"), "{error}");
        let error = p.fail(2, &["bench", "a.mtx", "--runs", "1", "-o", name]);
        assert!(error.contains("a bundle cannot go to standard output"), "{error}");
    }
    assert_eq!(p.files(), ["a.mtx", "made.mtx", "x.txt"]);
}

#[test]
fn vectors_of_a_file_that_declares_a_million_columns_ask_for_memory() {
    let p = program();
    let header = "%%MatrixMarket matrix coordinate real general\n";
    p.write("wide.mtx", format!("{header}1 1000000 1\n1 1 2\n"));
    let kernel = ["--runs", "1", "--kernels", "cpu/csr/serial", "-q", "-o", "b.zip"];
    p.succeed(&[&["bench", "wide.mtx", "--memory-limit", "1M"], &kernel[..]].concat());
    let bundle = open(&p, "b.zip");
    let check = &bundle.runs.first().unwrap().check;
    let reason = check.reason.clone().unwrap_or_default();
    assert_eq!(check.verdict, Verdict::Refused, "{reason}");
    // Two vectors of a million elements of eight bytes, three of one.
    let bytes = 2 * 8_000_000 + 3 * 8;
    assert!(reason.contains(&format!("needs {bytes} bytes (16.0 MB)")), "{reason}");
    assert!(reason.ends_with("more than the memory limit of 1000000 bytes (1.0 MB)"), "{reason}");
}

/// The program in a shell that sets a limit first.
#[cfg(target_os = "linux")]
fn limited(p: &Program, limit: &str, args: &[&str]) -> Ran {
    let inner = p.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]).arg(inner.get_program());
    command.args(inner.get_args()).current_dir(p.folder()).env("SPARSESCOPE_GPU", "off");
    // Address space that threads reserve but do not use.
    command.env("MALLOC_ARENA_MAX", "1").env("RAYON_NUM_THREADS", "2");
    Ran::of(command.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_address_space_is_one_of_the_machine() {
    let p = program();
    let header = "%%MatrixMarket matrix coordinate real general\n";
    p.write("wide.mtx", format!("{header}1 700000000 0\n"));
    p.write("tall.mtx", format!("{header}700000000 1 0\n"));
    for args in [
        &["spmv", "wide.mtx", "-o", "y.txt"][..],
        &["info", "tall.mtx"],
        &["generate", "diagonal?m=700000000", "-o", "a.mtx"],
    ] {
        let ran = limited(&p, "ulimit -v 3000000", args);
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.err);
        let errors: Vec<&str> = ran.err.lines().filter(|l| l.starts_with("error:")).collect();
        assert_eq!(errors.len(), 1, "{args:?}: {}", ran.err);
        assert!(errors[0].contains("more than the memory limit of"), "{args:?}: {}", ran.err);
    }
    assert_eq!(p.files(), ["tall.mtx", "wide.mtx"]);
}

#[test]
fn commands_work_where_the_system_gives_no_threads() {
    let p = program();
    p.write("a.mtx", DIAGONAL);
    let without = |args: &[&str]| {
        // No system has enough address space for a stack of this size.
        let mut command = p.command(args);
        command.env("RUST_MIN_STACK", (1u64 << 50).to_string());
        Ran::of(command.output().unwrap())
    };
    for args in [
        &["info", "gen:poisson2d?n=40"][..],
        &["info", "a.mtx"],
        &["generate", "diagonal?m=4", "-o", "made.mtx", "--force"],
        &["kernels"],
    ] {
        let ran = without(args);
        assert_eq!((ran.code, ran.err.contains("panicked")), (Some(0), false), "{}", ran.err);
    }
    // Work on its own threads reports it.
    let ran = without(&["spmv", "a.mtx", "-o", "y.mtx", "-q"]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 1), "{}", ran.err);
    assert!(ran.err.contains("cannot run with 1 threads: "), "{}", ran.err);
    let ran = without(&["bench", "a.mtx", "--runs", "1", "--time-limit", "9m", "-o", "b.zip"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.starts_with("error: cannot start the time limit"), "{}", ran.err);
}

#[test]
fn commands_on_bundles_end_at_once_when_they_are_told_to() {
    let p = program();
    p.succeed(&["bench", "gen:diagonal?m=4", "--runs", "1", "-q", "--no-report", "-o", "b.zip"]);
    assert!(Command::new("mkfifo").arg(p.path("pipe")).status().unwrap().success());
    for args in [
        &["compare", "b.zip", "pipe"][..],
        &["merge", "b.zip", "pipe", "-o", "merged.zip"],
        &["export", "pipe", "--csv", "b.csv"],
        &["export", "pipe", "--report", "b.html"],
        &["export", "pipe", "--svg", "b.svg"],
    ] {
        for name in ["-TERM", "-INT"] {
            let child = p.command(args).stderr(std::process::Stdio::piped()).spawn().unwrap();
            // Opens once the program reads it; the program then waits for data that never comes.
            let pipe = std::fs::OpenOptions::new().write(true).open(p.path("pipe")).unwrap();
            signal(&child, name);
            // If the program does not end, it gets the rest of the pipe after a while, and ends differently.
            let (ended, wait) = std::sync::mpsc::channel::<()>();
            let patience = std::thread::spawn(move || {
                let _ = wait.recv_timeout(std::time::Duration::from_secs(60));
                drop(pipe);
            });
            let ran = Ran::of(child.wait_with_output().unwrap());
            drop(ended);
            patience.join().unwrap();
            assert_eq!((ran.code, ran.err.as_str()), (Some(130), "interrupted\n"), "{args:?}");
        }
    }
    assert_eq!(p.files(), ["b.zip", "pipe"]);
}

#[test]
fn two_benches_never_write_one_journal() {
    let p = program();
    let long = ["bench", "gen:stencil27?n=40", "--runs", "100000", "--kernels", "cpu/csr/serial"];
    let mut first = p.command(&[&long[..], &["-q", "-o", "b.zip"]].concat()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !p.path("b.zip.partial.jsonl").exists() {
        assert!(begun.elapsed().as_secs() < 120 && first.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let other = ["bench", "gen:diagonal?m=4", "--runs", "1", "-q", "--force", "-o", "b.zip"];
    for args in [&other[..], &["bench", "--resume", "b.zip", "-q"]] {
        let error = p.fail(1, args);
        let sentence = "b.zip.partial.jsonl is in use: another `sparsescope bench` is writing it";
        assert_eq!(error, format!("error: {sentence}"));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    p.succeed(&other);
    assert_eq!(p.files(), ["b.html", "b.zip"]);
}

#[test]
fn a_file_without_an_end_is_no_bundle() {
    let p = program();
    for args in [
        &["export", "/dev/zero", "--svg", "a.svg"][..],
        &["export", "/dev/zero", "--report", "a.html"],
        &["compare", "/dev/zero", "/dev/zero"],
    ] {
        assert!(p.fail(1, args).starts_with("error: cannot open /dev/zero: "), "{args:?}");
    }
    assert!(p.files().is_empty());
}
