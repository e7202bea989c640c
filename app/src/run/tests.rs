//! The request's command line, and the panel with a child that only pretends to measure.

use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant};

use sparsescope_core::bundle::journal_path;
#[cfg(unix)]
use sparsescope_core::bundle::{Bundle, Journal, Limits};
use sparsescope_core::record::GpuAbsence;

use super::request::command_line;
use super::*;

#[cfg(unix)]
const EXAMPLE: &[u8] = include_bytes!("../../example/cpu.zip");

fn request() -> Request {
    Request { folder: "/results".into(), ..Request::default() }
}

fn line(request: &Request) -> String {
    command_line(&request.arguments(Path::new("/results/a.zip")).unwrap())
}

#[test]
fn the_command_says_only_what_is_not_usual() {
    let mut request = request();
    assert_eq!(line(&request), "sparsescope bench --suite mini --runs 20 -o /results/a.zip");
    request.add("gen:stencil27?n=40&seed=1").unwrap();
    request.threads = " 1, 4 ".into();
    request.runs = 50;
    request.cold = true;
    request.precisions = Precisions::Both;
    let quote = if cfg!(windows) { '"' } else { '\'' };
    assert_eq!(
        line(&request),
        format!(
            "sparsescope bench {quote}gen:stencil27?n=40&seed=1{quote} --threads 1,4 --precision f64,f32 --runs 50 \
             -o /results/a.zip --cold"
        )
    );
}

#[test]
fn kernels_are_named_by_whole_families_or_one_by_one_and_a_pattern_rules() {
    let mut request = request();
    request.kernels.retain(|id| id.starts_with("cpu/csr/") || *id == "cpu/hll/guided");
    let text = line(&request);
    let quote = if cfg!(windows) { '"' } else { '\'' };
    assert!(text.contains(&format!("--kernels {quote}cpu/csr/*,cpu/hll/guided{quote}")), "{text}");
    request.pattern = "cpu/*/serial".into();
    assert!(line(&request).contains("cpu/*/serial") && !line(&request).contains("guided"));
    assert!(request.selected().unwrap().contains("cpu/coo/serial"));
    request.pattern = "gpu/*".into();
    let error = request.arguments(Path::new("a.zip")).unwrap_err();
    assert!(error.contains("`gpu/*`"), "{error}");
}

#[test]
fn kernels_of_a_gpu_are_offered_where_there_is_one() {
    let absent = Request { no_gpu: Some(GpuAbsence::NoDevice), ..request() };
    let of_cpu = |family: &&str| family.starts_with("cpu/") || *family == "vendor/mkl";
    assert!(absent.families().iter().all(of_cpu));
    let pattern = Request { pattern: "cuda/csr/*".into(), ..absent };
    assert!(pattern.selected().unwrap_err().contains("no cpu spmv kernel matches `cuda/csr/*`"));

    let mut here = Request { no_gpu: None, ..pattern };
    assert_eq!(here.selected().unwrap().len(), 7);
    assert!(here.families().contains(&"vendor/cusparse"));
    here.blocks = "64, 256".into();
    assert!(line(&here).contains("--kernels 'cuda/csr/*' --block-sizes 64,256 --runs 20"));
    here.blocks = "100".into();
    let error = here.arguments(Path::new("a.zip")).unwrap_err();
    assert_eq!(error, "Threads per block: expected multiples of 32 up to 1024, found `100`.");
}

#[test]
fn what_cannot_be_run_is_said() {
    let reason = |change: fn(&mut Request)| {
        let mut request = request();
        change(&mut request);
        request.arguments(Path::new("a.zip")).unwrap_err()
    };
    assert_eq!(reason(|request| request.suite = None), "Choose a suite or add a matrix.");
    assert_eq!(reason(|request| request.kernels.clear()), "Choose a kernel.");
    let threads = reason(|request| request.threads = "2,many".into());
    assert_eq!(threads, "Threads: expected numbers from 1 to 4096, found `many`.");
    let mut request = request();
    assert!(request.add("gen:nothing?n=3").unwrap_err().contains("nothing"));
    assert_eq!(request.add("/no/such.mtx").unwrap_err(), "there is no file `/no/such.mtx`");
    assert!(request.matrices.is_empty());
}

#[test]
fn an_output_is_never_a_file_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { folder: folder.path().into(), ..Request::default() };
    let first = request.output();
    std::fs::write(&first, "").unwrap();
    std::fs::write(journal_path(&request.output()), "").unwrap();
    let third = request.output();
    assert!(third != first && !third.exists() && !journal_path(&third).exists());
}

/// Polls until `done` returns a value; a child that hangs fails the test.
#[cfg(unix)]
fn until<T>(mut done: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(result) = done() {
            return result;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
fn shell(script: &str, output: &Path) -> Measurement {
    Measurement::start(Path::new("/bin/sh"), &["-c", script, "fake"], output).unwrap()
}

#[cfg(unix)]
fn ending(measurement: &mut Measurement) -> Ending {
    until(|| measurement.look().unwrap().ending)
}

/// The example, measured up to its `runs`-th run.
#[cfg(unix)]
fn example(runs: usize) -> Bundle {
    let mut bundle = Bundle::read(EXAMPLE, &Limits::default()).unwrap();
    bundle.runs.truncate(runs);
    bundle.complete = false;
    bundle
}

#[cfg(unix)]
#[test]
fn progress_is_followed_and_a_failure_is_told_as_the_child_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo '{"share":0.5,"what":"road: cpu/csr/nnz","runs":8}' >&2
        echo 'warning: hot' >&2; echo 'error: no memory for it' >&2; exit 1"#;
    let mut measurement = shell(script, &folder.path().join("a.zip"));
    let ending = ending(&mut measurement);
    let told = Told { share: 0.5, what: "road: cpu/csr/nnz".into(), runs: 8 };
    assert_eq!(measurement.told(), &told);
    assert!(measurement.left().is_some());
    let failure = Some("no memory for it".into());
    assert_eq!(ending, Ending { bundle: None, failure, stopped: false });
}

#[cfg(unix)]
#[test]
fn a_child_that_is_killed_leaves_its_runs_as_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("a.zip");
    drop(Journal::create(&output, &example(7), false).unwrap());
    let mut measurement = shell("kill -9 $$", &output);
    let ending = ending(&mut measurement);
    assert_eq!(ending.bundle.as_deref(), Some(output.as_path()));
    assert!(ending.failure.unwrap().contains("was killed"));
    let saved = Bundle::open(&output, &Limits::default()).unwrap();
    assert_eq!(saved, example(7));
    assert_eq!(measurement.runs_done(), 7);
    assert!(!journal_path(&output).exists());
}

#[cfg(unix)]
#[test]
fn a_journal_that_cannot_be_read_stays_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("a.zip");
    std::fs::write(journal_path(&output), "{\n{\n").unwrap();
    let ending = ending(&mut shell("exit 1", &output));
    assert_eq!(ending.bundle, None);
    assert!(ending.failure.unwrap().contains("a.zip.partial.jsonl"));
    assert!(journal_path(&output).exists());
}

#[cfg(unix)]
#[test]
fn dropping_a_measurement_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let script = format!("echo $$ > {}; exec sleep 600", pid_file.display());
    let measurement = shell(&script, &folder.path().join("a.zip"));
    let pid: libc::pid_t = until(|| std::fs::read_to_string(&pid_file).ok()?.trim().parse().ok());
    drop(measurement);
    // SAFETY: signal 0 only checks whether the process exists.
    assert_eq!(unsafe { libc::kill(pid, 0) }, -1, "the child is gone and waited for");
}

#[cfg(unix)]
#[path = "../../views/src/shell/nameless.rs"]
mod nameless;

#[cfg(unix)]
mod panel {
    use std::path::PathBuf;

    use egui::vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;
    use sparsescope_figures::state::ViewState;
    use sparsescope_views::shell::App;

    use super::*;

    type Window = (RunPanel, App);

    fn window(folder: &Path, state: &str) -> Harness<'static, Window> {
        let child = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/run/fake_child.sh"));
        let mut panel = RunPanel::new(child);
        panel.open = true;
        panel.request.folder = folder.to_owned();
        let mut app = App::new();
        app.set_state(ViewState::from_fragment(state).unwrap());
        let mut harness = Harness::builder().with_size(vec2(1280.0, 800.0)).build_ui_state(
            |ui, (panel, app): &mut Window| {
                panel.ui(ui, app);
                app.ui(ui);
            },
            (panel, app),
        );
        harness.run_steps(4);
        harness
    }

    fn click(harness: &mut Harness<'_, Window>, label: &str) {
        harness.get_by_label(label).click();
        harness.run_steps(3);
    }

    fn wait_for(harness: &mut Harness<'_, Window>, done: impl Fn(&Window) -> bool) {
        until(|| {
            harness.run_steps(1);
            done(harness.state()).then_some(())
        });
        harness.run_steps(2);
    }

    fn said(harness: &Harness<'_, Window>, part: &str) {
        harness.get_by_label_contains(part);
    }

    #[test]
    fn matrices_and_kernels_are_chosen_and_the_command_follows() {
        let folder = tempfile::tempdir().unwrap();
        let mut harness = window(folder.path(), "v1");
        harness.get_by_label_contains("sparsescope bench --suite mini --runs 20 -o");
        harness.get_by_label("Matrix to add").focus();
        harness.run_steps(2);
        harness.get_by_label("Matrix to add").type_text("gen:poisson2d?n=9");
        harness.run_steps(2);
        click(&mut harness, "Add");
        assert_eq!(harness.state().0.request.matrices, ["gen:poisson2d?n=9"]);
        click(&mut harness, "cpu/csr");
        click(&mut harness, "Kernels of cpu/hll: 4 of 4");
        click(&mut harness, "cpu/hll/serial");
        let request = &harness.state().0.request;
        assert!(
            !request.kernels.contains("cpu/csr/nnz") && !request.kernels.contains("cpu/hll/serial")
        );
        said(&harness, "'cpu/coo/*,cpu/ell/*,cpu/hyb/*,");
        said(&harness, ",cpu/hll/guided");
        click(&mut harness, "Remove gen:poisson2d?n=9");
        assert!(harness.state().0.request.matrices.is_empty());
        said(&harness, "Choose a suite or add a matrix.");
        harness.state_mut().0.request.suite = Some("mini");
        harness.run_steps(2);
        click(&mut harness, "Copy command");
        click(&mut harness, "Close the run panel");
        assert!(!harness.state().0.open);
    }

    #[test]
    fn every_widget_of_the_form_has_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut harness = window(folder.path(), "v1");
        harness.state_mut().0.request.add("gen:poisson2d?n=9").unwrap();
        click(&mut harness, "Kernels of cpu/csr: 6 of 6");
        assert_eq!(nameless::nameless(harness.root()), Vec::<String>::new());
    }

    #[test]
    fn a_matrix_that_is_none_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let mut harness = window(folder.path(), "v1");
        harness.get_by_label("Matrix to add").focus();
        harness.run_steps(2);
        harness.get_by_label("Matrix to add").type_text("gen:cube?n=9");
        harness.run_steps(2);
        click(&mut harness, "Add");
        said(&harness, "cube");
        assert!(harness.state().0.request.matrices.is_empty());
    }

    #[test]
    fn results_appear_while_measuring_and_the_finished_bundle_takes_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let begun = folder.path().join("begun.zip");
        drop(Journal::create(&begun, &example(9), false).unwrap());
        std::fs::rename(journal_path(&begun), folder.path().join("journal")).unwrap();
        // The finished bundle orders its runs differently.
        let mut finished = Bundle::read(EXAMPLE, &Limits::default()).unwrap();
        finished.runs.reverse();
        finished.save(&folder.path().join("final"), false).unwrap();

        let mut harness = window(folder.path(), "v1;view=runs");
        click(&mut harness, "Start measuring");
        said(&harness, "A measurement is running.");
        wait_for(&mut harness, |(_, app)| !app.model().bundles().is_empty());
        let open = &harness.state().1.model().bundles()[0];
        assert!(open.is_unfinished());
        assert_eq!(open.bundle.runs.len(), 9);
        harness.get_by_label("9 of 170 runs");
        harness.get_by_label("road: cpu/csr/nnz");
        said(&harness, "being measured …");

        let selected = example(9).runs[4].clone();
        let (_, app) = harness.state_mut();
        let state = ViewState { run: Some(4), ..app.state().clone() };
        app.set_state(state);
        harness.run_steps(2);
        std::fs::write(folder.path().join("go"), "").unwrap();
        wait_for(&mut harness, |(panel, _)| !panel.is_measuring());
        let (_, app) = harness.state();
        let open = &app.model().bundles()[0];
        assert_eq!((app.model().bundles().len(), open.is_unfinished()), (1, false));
        assert_eq!(open.bundle.runs.len(), finished.runs.len());
        assert_eq!(open.bundle.runs[app.state().run.unwrap()], selected);
        said(&harness, &format!("Measured {} runs in 0:0", finished.runs.len()));
    }

    #[test]
    fn a_failure_is_said_and_leaves_nothing_open() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fail"), "error: the disk is full\n").unwrap();
        let mut harness = window(folder.path(), "v1");
        click(&mut harness, "Start measuring");
        wait_for(&mut harness, |(panel, _)| !panel.is_measuring());
        said(&harness, "Nothing was measured: the disk is full.");
        assert!(harness.state().1.model().bundles().is_empty());
    }

    #[test]
    fn closing_while_measuring_asks_and_waits_for_what_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        drop(Journal::create(&folder.path().join("a"), &example(3), false).unwrap());
        std::fs::rename(folder.path().join("a.partial.jsonl"), folder.path().join("journal"))
            .unwrap();
        std::fs::write(folder.path().join("final"), EXAMPLE).unwrap();
        let mut harness = window(folder.path(), "v1");
        assert!(harness.state_mut().0.may_close(), "nothing is being measured");
        click(&mut harness, "Start measuring");
        assert!(!harness.state_mut().0.may_close());
        harness.run_steps(3);
        click(&mut harness, "Keep measuring");
        assert!(harness.state().0.is_measuring() && !harness.state().0.closes());
        assert!(!harness.state_mut().0.may_close());
        harness.run_steps(3);
        click(&mut harness, "Stop and close");
        std::fs::write(folder.path().join("go"), "").unwrap();
        wait_for(&mut harness, |(panel, _)| panel.closes());
        assert!(harness.state_mut().0.may_close());
        let zips = std::fs::read_dir(folder.path()).unwrap().flatten();
        let zips = zips.filter(|file| file.path().extension().is_some_and(|end| end == "zip"));
        assert_eq!(zips.count(), 1, "what was measured is there");
    }
}
