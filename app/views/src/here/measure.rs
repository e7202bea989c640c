//! A measurement from the matrix to the bundle, step by step beside drawing.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::experiment::{
    Alone, Backend, Configuration, Interruptions, Problem, Runner, SerialBackend, Settings,
    SpmmProblem, SpmvProblem, Step, table_position,
};
use sparsescope_core::kernel::DeviceKind;
use sparsescope_core::measure::{DEFAULT_SEED, environment};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Environment, Operation, Precision, Run, Verdict};
use sparsescope_core::spy;
use sparsescope_figures::model::{display_name, matrix_key};
use sparsescope_wgpu::WgpuBackend;

use super::host::Host;
use super::matrix::{Ready, ready, unless_cancelled};
use super::wanted::{Subject, Wanted};
use super::work::{Measured, Outcome, Teller, Work};

/// Memory limit for the matrix and its formats.
const MOST_BYTES: u64 = 512 << 20;

/// Size of the structure's picture in the bundle: small enough to leave space for a link.
const PICTURE_BYTES: u64 = 4 << 10;

/// The error of a run whose device was lost: such runs are repeated.
const LOST: &str = "the device was lost";

/// Measures, and records in `work` how it ended.
pub(super) async fn measure(host: Rc<dyn Host>, wanted: Wanted, subject: Subject, work: Arc<Work>) {
    let outcome = match measured(&*host, &wanted, subject, &work).await {
        Ok(Some(measured)) => Outcome::Measured(measured),
        Ok(None) => {
            Outcome::Nothing("The measurement was stopped before its first run.".to_owned())
        }
        Err(why) => Outcome::Nothing(format!("Nothing was measured: {why}.")),
    };
    work.end(outcome);
}

/// The bundle; nothing if cancelled before there were any results, or a sentence why there is none.
async fn measured(
    host: &dyn Host,
    wanted: &Wanted,
    subject: Subject,
    work: &Arc<Work>,
) -> Result<Option<Measured>, String> {
    let limit = MemoryLimit::bytes(MOST_BYTES);
    let Some(matrix) = ready(host, work, subject, limit).await? else { return Ok(None) };
    let serial = SerialBackend::new(
        format!("WebAssembly, one thread ({})", host.browser()),
        work.interruptions.clone(),
    );
    let mut machine = environment(Vec::new());
    serial.model().clone_into(&mut machine.cpu.model);
    machine.cpu.logical = 1;
    machine.os = host.browser();
    let mut gpu = None;
    if wanted.needs_gpu() {
        work.tell("opening the GPU");
        let Some(opened) = unless_cancelled(work, gpu_of(host, &work.interruptions)).await else {
            return Ok(None);
        };
        let (opened, described) = opened?;
        machine.gpus.push(described);
        gpu = Some(opened);
    }
    let Ready { a, record, picture } = matrix;
    SpmvProblem::check_vectors(&a, limit).map_err(|error| error.to_string())?;
    let problem: Box<dyn Problem> = match wanted.operation {
        Operation::Spmm => Box::new(SpmmProblem::drawn(a, DEFAULT_SEED)),
        _ => Box::new(SpmvProblem::drawn(a, DEFAULT_SEED)),
    };
    host.turn().await;
    let settings = settings(wanted);
    let mut backends: Vec<(DeviceKind, &dyn Backend)> = vec![(DeviceKind::Cpu, &serial)];
    backends.extend(gpu.iter().map(|gpu| (DeviceKind::Wgpu, gpu as &dyn Backend)));
    let runner = Runner {
        backends,
        settings: &settings,
        environment: &machine,
        memory: Some(limit),
        cancel: &work.cancel,
        agreement: &Alone,
    };
    let mut configurations = wanted.configurations();
    let mut runs: Vec<Run> = Vec::new();
    let mut was_lost = false;
    loop {
        let ended = run(host, &runner, &record.id, &*problem, &configurations, &runs, work).await;
        runs.extend(work.take_runs());
        let again: Vec<Configuration> = configurations
            .iter()
            .filter(|one| runs.iter().any(|run| lost(run, one)))
            .cloned()
            .collect();
        if !ended || was_lost || again.is_empty() {
            break;
        }
        // Once; the first kernel to be prepared opens the device again.
        was_lost = true;
        runs.retain(|run| !again.iter().any(|one| lost(run, one)));
        configurations = again;
    }
    if runs.is_empty() {
        return Ok(None);
    }
    let place = |run: &Run| (table_position(&run.kernel), run.precision.clone());
    sparsescope_core::order::sort_by(&mut runs, |a, b| place(a).cmp(&place(b)));
    let with_times = runs.iter().filter(|run| run.figures.is_some()).count();
    let counts = [with_times, runs.len() - with_times];
    let (key, name) = (matrix_key(&record), display_name(&record));
    let files = spy::to_files(&picture.pyramid, &picture.profile, PICTURE_BYTES);
    let folder = MatrixFolder { record, files };
    let now = host.now();
    let is_cut = work.is_cancelled();
    let begun = Bundle::new(host.producer(), now.clone());
    let bundle = bundle(begun, machine, folder, runs, !is_cut);
    let bytes = bundle.to_bytes().map_err(|error| error.to_string())?;
    Ok(Some(Measured {
        file: format!("sparsescope-here-{}.zip", now.replace(':', "").trim_end_matches('Z')),
        bytes: Arc::new(bytes),
        operation: wanted.operation,
        key,
        name,
        runs: counts,
        is_cut,
        was_lost,
    }))
}

/// Whether this is the run of a configuration that lost its device.
fn lost(run: &Run, one: &Configuration) -> bool {
    let reason = run.check.reason.as_deref().unwrap_or_default();
    run.check.verdict != Verdict::Pass
        && reason.contains(LOST)
        && run.kernel == one.kernel.id
        && run.precision == one.precision.as_str()
}

async fn gpu_of(
    host: &dyn Host,
    interruptions: &Interruptions,
) -> Result<(WgpuBackend, sparsescope_core::record::Gpu), String> {
    let opened = host.open_gpu(interruptions.clone()).await;
    let gpu = opened.map_err(|why| why.trim_end_matches('.').to_owned())?;
    let described = gpu.described().await;
    Ok((gpu, described))
}

/// Runs every step, each after input and drawing have had their turn and while the page is visible; returns
/// whether it finished by itself.
async fn run(
    host: &dyn Host,
    runner: &Runner<'_>,
    subject: &str,
    problem: &dyn Problem,
    configurations: &[Configuration],
    measured: &[Run],
    work: &Arc<Work>,
) -> bool {
    let mut teller = Teller(Arc::clone(work));
    let mut steps = runner.begin(subject, problem, configurations, measured, &mut teller);
    loop {
        if host.is_hidden() && !work.is_cancelled() {
            host.seen().await;
        }
        let step = poll_fn(|context| {
            work.wakes(context.waker());
            match work.is_given_up() {
                true => Poll::Ready(None),
                false => steps.poll_step(context).map(Some),
            }
        });
        match step.await {
            None => return false,
            Some(Step::Finished(_)) => return true,
            Some(Step::Working | Step::Waiting) => host.turn().await,
        }
    }
}

fn settings(wanted: &Wanted) -> Settings {
    Settings {
        runs: wanted.samples,
        until: None,
        warmup: 1,
        threads: vec![1],
        blocks: Vec::new(),
        cold: false,
        energy: false,
        seed: DEFAULT_SEED,
        precisions: vec![Precision::F64, Precision::F32],
        parameters: Default::default(),
    }
}

fn bundle(
    mut bundle: Bundle,
    machine: Environment,
    folder: MatrixFolder,
    runs: Vec<Run>,
    is_complete: bool,
) -> Bundle {
    let gpu = machine.gpus.first().map(|gpu| gpu.model.as_str());
    let measured = display_name(&folder.record);
    bundle.label = Some(format!("{measured} here: {}", gpu.unwrap_or(&machine.cpu.model)));
    bundle.environments.push(machine);
    bundle.matrices.push(folder);
    bundle.runs = runs;
    bundle.complete = is_complete;
    bundle
}
