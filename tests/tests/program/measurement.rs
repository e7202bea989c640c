//! Measuring as the window does: the real program as its child.

use std::path::Path;
use std::time::{Duration, Instant};

use sparsescope::run::{Ending, Measurement, News, Request};
use sparsescope_core::bundle::{Bundle, Limits, journal_path};
use sparsescope_core::record::Verdict;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sparsescope-under-test");

fn start(request: &Request, output: &Path) -> Measurement {
    let arguments = request.arguments(output).unwrap();
    Measurement::start(Path::new(PROGRAM), &arguments, output).unwrap()
}

/// Two small matrices, every kernel, one thread.
fn small(folder: &Path) -> Request {
    let mut request = Request { suite: None, folder: folder.into(), runs: 3, ..Request::default() };
    request.add("gen:poisson2d?n=20").unwrap();
    request.add("gen:dense-row?m=30").unwrap();
    request.kernels.retain(|id| id.starts_with("cpu/")); // also on machines with a GPU
    request.threads = "1".into();
    request
}

/// Follows until `done`; a child that hangs fails the test.
fn follow<T>(
    measurement: &mut Measurement,
    mut done: impl FnMut(&Measurement, News) -> Option<T>,
) -> T {
    let begun = Instant::now();
    loop {
        let news = measurement.look().unwrap();
        if let Some(result) = done(measurement, news) {
            return result;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn end(measurement: &mut Measurement) -> Ending {
    follow(measurement, |_, news| news.ending)
}

fn open(path: &Path) -> Bundle {
    Bundle::open(path, &Limits::default()).unwrap()
}

#[test]
fn a_job_is_measured_to_its_end_and_told_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let request = small(folder.path());
    let output = request.output();
    let mut measurement = start(&request, &output);
    let ending = end(&mut measurement);
    assert_eq!(ending, Ending { bundle: Some(output.clone()), failure: None, stopped: false });
    let bundle = open(&output);
    assert!(bundle.complete);
    // BSR and DIA are refused if they would be nearly empty.
    let refusable = |kernel: &str| ["cpu/bsr/", "cpu/dia/"].iter().any(|of| kernel.starts_with(of));
    for run in &bundle.runs {
        let refused = run.check.verdict == Verdict::Refused && refusable(&run.kernel);
        assert!(run.check.verdict == Verdict::Pass || refused, "{}", run.kernel);
    }
    let kernels = request.kernels.len();
    assert_eq!(bundle.runs.len(), 2 * kernels);
    assert_eq!(measurement.runs_done(), 2 * kernels);
    assert_eq!(measurement.told().runs, 2 * kernels);
    assert!(!measurement.told().what.is_empty());
    assert!(!journal_path(&output).exists());
}

#[test]
fn stopping_saves_what_is_measured_and_so_far_it_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = small(folder.path());
    // Long enough to be stopped while it runs.
    request.add("gen:stencil27?n=40").unwrap();
    request.runs = 1000;
    let output = request.output();
    let mut measurement = start(&request, &output);
    let shown = follow(&mut measurement, |_, news| {
        assert_eq!(news.ending, None, "too early");
        news.so_far.filter(|bundle| !bundle.runs.is_empty())
    });
    assert!(!shown.complete);
    measurement.stop();
    let ending = end(&mut measurement);
    assert_eq!(ending, Ending { bundle: Some(output.clone()), failure: None, stopped: true });
    let bundle = open(&output);
    assert!(!bundle.complete);
    assert!(bundle.runs.len() >= shown.runs.len());
    assert_eq!(bundle.runs[0], shown.runs[0]);
}

#[test]
fn stopping_at_once_takes_the_runs_from_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = small(folder.path());
    request.add("gen:stencil27?n=40").unwrap();
    request.runs = 1000;
    let output = request.output();
    let mut measurement = start(&request, &output);
    follow(&mut measurement, |_, news| news.so_far.filter(|bundle| !bundle.runs.is_empty()));
    measurement.stop();
    measurement.stop();
    assert_eq!(end(&mut measurement).bundle.as_deref(), Some(output.as_path()));
    assert!(!open(&output).runs.is_empty() && !journal_path(&output).exists());
}

#[test]
fn a_window_that_goes_leaves_the_bundle_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = small(folder.path());
    request.add("gen:stencil27?n=40").unwrap();
    request.runs = 1000;
    let output = request.output();
    let mut measurement = start(&request, &output);
    follow(&mut measurement, |_, news| news.so_far.filter(|bundle| !bundle.runs.is_empty()));
    drop(measurement);
    assert!(!open(&output).complete);
}

#[test]
fn what_the_program_says_of_a_failure_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { folder: folder.path().join("none"), ..small(folder.path()) };
    let ending = end(&mut start(&request, &request.output()));
    assert_eq!(ending.bundle, None);
    let failure = ending.failure.unwrap();
    assert!(failure.contains("sparsescope-") && !failure.starts_with("error"), "{failure}");
}
