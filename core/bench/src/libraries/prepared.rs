//! A library's kernel on one matrix: what it is given, and what is checked besides its result.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::area::{Area, Places};
use super::computed::Computed;
use super::library::KernelLibrary;
use super::operands::Operands;
use super::process::Process;
use crate::experiment::solving::{Asked, ToldSetUp};
use crate::experiment::{
    Executed, Finished, KernelError, LastOutput, Metered, Output, PrepareError, Prepared, Sampled,
    SetUp, Solution, Temperature, Ticket, WARM_BY_ITSELF_S, Watch, repetitions,
};
use sparsescope_kernels::pcg::{Magnitude, Recurrence};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{Applied, DeviceKind};
use sparsescope_record::Costs;

/// Where the shared file takes no disk space.
const IN_MEMORY: &str = "/dev/shm";
/// Warm-up before each sample of executions shorter than this, as for the kernels of this program.
const WARM_UP_S: f64 = 2e-3;
/// By how much the library's process and this one may disagree about the time of a command: a share of it, and
/// the time of the exchange. On a busy machine an exchange may take longer: only the last attempt counts, and the
/// pauses before attempts grow, from this one to 64 times as long.
const DISAGREEMENT: f64 = 0.05;
const EXCHANGE_S: f64 = 0.02;
const ATTEMPTS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(10);
/// What they may disagree by besides the share, where the two are the events of a GPU and the process using it.
const LAUNCH_S: f64 = 1e-3;
/// Samples on a GPU that are shorter than this are measured over several executions, at most this many: as for the
/// CUDA kernels of this program.
const SHORTEST_ON_GPU_S: f64 = 500e-6;
const MOST_ON_GPU: f64 = 1000.0;
/// Most executions for warming up on a GPU: a stream takes about 1000 launches ahead.
const MOST_WARM_ON_GPU: u32 = 500;

/// A kernel of a library, in its process.
pub(super) struct LibraryPrepared<'p> {
    library: &'p KernelLibrary,
    operands: Operands<'p>,
    threads: u32,
    places: Places,
    running: Option<Running>,
    /// Why it could not be prepared, if that is the library's fault.
    failure: Option<String>,
    costs: Costs,
    repetitions: u32,
    once: Option<f64>,
    /// The iterations of the last solve, and whether the library reports that it converged.
    solved: (u64, bool),
    /// The result that was checked first, and what differs most from it in the samples since.
    first: Vec<f64>,
    furthest: Computed,
    /// The factor of x in the last execution, 1 or −1: every execution gets another x, so that a result kept
    /// from an earlier one is wrong.
    sign: f64,
}

struct Running {
    process: Process,
    area: Area,
    /// Deleted after the process ends, where a file in use cannot be.
    _file: Option<NamedTempFile>,
}

/// The times of a command in seconds, and what it reported.
struct Ran {
    /// Of one timed execution.
    seconds: f64,
    /// Of all executions, as the library's process measured it.
    all: f64,
    /// Of the command, as this process measured it.
    passed: f64,
    /// Of all executions in the stream of a GPU, and what passed until the GPU had nothing to do.
    on_gpu: Option<[f64; 2]>,
    /// Of a solve: its iterations, and whether it converged.
    solved: (u64, bool),
}

impl Ran {
    /// Which times disagree, in a sentence.
    fn disagreement(&self) -> Option<String> {
        let &Self { all, passed, on_gpu, .. } = self;
        let is_short = |measured: f64, passed: f64, besides: f64| {
            passed - measured > DISAGREEMENT * passed + besides
        };
        if is_short(all, passed, EXCHANGE_S) {
            return Some(format!("its process measured {all:.3} s while {passed:.3} s passed"));
        }
        let [stream, passed] = on_gpu.filter(|[stream, all]| is_short(*stream, *all, LAUNCH_S))?;
        Some(format!("its work in the stream took {stream:.4} s while {passed:.4} s passed"))
    }
}

impl<'p> LibraryPrepared<'p> {
    /// Fails if the arrays do not fit into `memory`.
    pub(super) fn new(
        library: &'p KernelLibrary,
        operands: Operands<'p>,
        threads: u32,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let &Operands { ref a, vectors, minimal_bytes, .. } = &operands;
        let places = Places::of([a.rows(), a.cols(), a.nnz()], vectors);
        let too_large = || PrepareError::Refused("the matrix is too large to share".to_owned());
        let places = places.ok_or_else(too_large)?;
        // The first result, that of a sample and what is kept of them, beside the arrays.
        let results = 8 * 4 * a.rows() as u128 * vectors[1].max(1) as u128;
        let needed = places.bytes as u128 + results;
        let fits = memory.check("the matrix shared with the library and its results", needed);
        fits.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let format_bytes = a.bytes();
        let costs = Costs { format_bytes, minimal_bytes, ..Costs::default() };
        let (running, failure, once) = (None, None, None);
        let (repetitions, sign, solved) = (1, -1.0, (0, false));
        Ok(Self {
            library,
            operands,
            threads,
            places,
            running,
            failure,
            costs,
            repetitions,
            once,
            solved,
            first: Vec::new(),
            furthest: Computed::default(),
            sign,
        })
    }

    /// Starts the process and prepares the library; the reply is that of `prepare`. `None` when cancelled.
    fn start(&mut self, watch: &Watch<'_>) -> Result<Option<String>, String> {
        let cannot = |error: io::Error| format!("cannot share the matrix with it: {error}");
        let file = shared_file(self.places.bytes).map_err(cannot)?;
        let area = Area::of(file.as_file(), self.places).map_err(cannot)?;
        fill(&area, &self.operands.a);
        area.set_vectors(self.operands.x.iter().copied());
        let KernelLibrary { path, program, limit, .. } = self.library;
        let mut process = Process::start(program, [path.as_path(), file.path()], *limit)?;
        if process.ready(watch.flag())?.is_none() {
            return Ok(None);
        }
        let Places { rows, cols, nonzeros, vectors: [of_x, of_y], .. } = self.places;
        let (threads, gpu) = (self.threads, self.library.gpu);
        let (sizes, (tolerance, most)) =
            (format!("{rows} {cols} {nonzeros} {of_x} {of_y}"), self.operands.goal());
        let command = format!("prepare {sizes} {threads} {gpu} {tolerance} {most}");
        let reply = process.ask(&command, "while it prepared the matrix", watch.flag())?;
        // The library has it open: nothing is left of it, however this process ends.
        let file = cfg!(windows).then_some(file);
        self.running = Some(Running { process, area, _file: file });
        Ok(reply)
    }

    fn is_on_gpu(&self) -> bool {
        self.library.kernel().device == DeviceKind::Cuda
    }

    fn failed(&self, reason: impl Into<String>) -> KernelError {
        KernelError::new(self.library.kernel().id, reason)
    }

    /// Executes it `warm` times and then `repetitions` times, with another x than the last time; returns the
    /// seconds of one of the latter. `None` when cancelled.
    fn run(
        &mut self,
        warm: u32,
        repetitions: u32,
        watch: &Watch<'_>,
    ) -> Result<Option<f64>, KernelError> {
        if let Some(failure) = &self.failure {
            return Err(self.failed(failure.clone()));
        }
        let mut attempts = 0;
        let done = loop {
            self.sign = -self.sign;
            attempts += 1;
            match self.try_run(warm, repetitions, watch) {
                Ok(Some(ran)) => match ran.disagreement() {
                    None => {
                        self.solved = ran.solved;
                        break Ok(Some(ran.seconds));
                    }
                    Some(_) if watch.is_cancelled() => break Ok(None),
                    Some(_) if attempts < ATTEMPTS => thread::sleep(PAUSE * (1 << (attempts - 1))),
                    Some(sentence) => {
                        break Err(format!(
                            "{sentence}, in each of {ATTEMPTS} attempts (is the machine busy?)"
                        ));
                    }
                },
                Ok(None) => break Ok(None),
                Err(reason) => break Err(reason),
            }
        };
        if done.is_err() {
            // Nothing more can be expected of it.
            self.running = None;
        }
        done.map_err(|reason| self.failed(reason))
    }

    fn try_run(
        &mut self,
        warm: u32,
        repetitions: u32,
        watch: &Watch<'_>,
    ) -> Result<Option<Ran>, String> {
        let Some(Running { process, area, .. }) = &mut self.running else {
            return Err("its process has ended".to_owned());
        };
        let sign = self.sign;
        let given = || self.operands.x.iter().map(move |x| x * sign);
        area.set_vectors(given());
        let start = Instant::now();
        let command = format!("run {warm} {repetitions}");
        let reply = process.ask(&command, "while it computed", watch.flag())?;
        let passed = start.elapsed().as_secs_f64();
        let Some(reply) = reply else { return Ok(None) };
        let numbers: Vec<f64> = reply.split(' ').map_while(|word| word.parse().ok()).collect();
        let &[seconds, all, iterations, converged, ref of_gpu @ ..] = &numbers[..] else {
            return Err(format!("its process replied `{reply}`"));
        };
        let [input, result] = self.operands.names();
        if !area.is_guarded() {
            return Err(format!("it wrote outside {result}"));
        }
        if area.x().zip(given()).any(|(now, given)| now.to_bits() != given.to_bits()) {
            return Err(format!("it changed {input}"));
        }
        let (_, most) = self.operands.goal();
        let solved = (iterations as u64, converged != 0.0);
        if solved.0 > most {
            return Err(format!("it reports {iterations} iterations, expected at most {most}"));
        }
        Ok(Some(Ran { seconds, all, passed, on_gpu: of_gpu.try_into().ok(), solved }))
    }

    /// The result of the last execution, for the x of the problem.
    fn computed(&self) -> Result<Computed, KernelError> {
        let ended = || self.failed("its process has ended");
        let running = self.running.as_ref().ok_or_else(ended)?;
        let y = running.area.result().into_iter().map(|y| y * self.sign).collect();
        Ok(Computed { y, solved: self.solved })
    }

    fn output_of(&self, computed: Computed) -> Output {
        match &self.operands.asked {
            Some(asked) => Output::Solution(Box::new(self.solution(asked, computed))),
            None => Output::Vector(computed.y),
        }
    }

    /// A solution, and what is known of it: the library reports no residuals, and its preconditioner is unknown.
    fn solution(&self, asked: &Asked<'_>, computed: Computed) -> Solution {
        let Computed { y: x, solved: (iterations, converged) } = computed;
        let (b, scale) = (asked.b(), asked.scale());
        let recurrence = Recurrence {
            x: x.into_iter().map(|x| scale.there(x)).collect(),
            iterations: iterations as usize,
            converged,
            cancelled: false,
            tol: self.operands.goal().0,
            norm_b: Magnitude::of(b.iter().copied()).norm(),
            history: vec![f64::NAN],
            seconds: 0.0,
            alphas: Vec::new(),
            betas: Vec::new(),
        };
        let told = ToldSetUp::new(Applied::None, &[], None, self.costs.plan_s);
        let solution = told.solution(asked, &recurrence.checked(&self.operands.a, &b));
        Solution { residuals: Vec::new(), ..solution }
    }
}

/// A new file of this size, in memory if the system has a place for that.
fn shared_file(bytes: usize) -> io::Result<NamedTempFile> {
    file_in(Path::new(IN_MEMORY), bytes).or_else(|_| file_in(&std::env::temp_dir(), bytes))
}

/// The same in this folder. It is written, not only extended: a write to mapped memory for which there is no
/// space would end this process.
fn file_in(folder: &Path, bytes: usize) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("sparsescope-").tempfile_in(folder)?;
    io::copy(&mut io::repeat(0).take(bytes as u64), file.as_file_mut())?;
    file.as_file_mut().flush()?;
    Ok(file)
}

/// Writes a matrix into the shared memory.
fn fill(area: &Area, a: &Csr) {
    let row_ptr = (0..=a.rows()).map(|row| a.row_ptr().get(row) as u64);
    area.set_matrix(row_ptr, a.col().iter().copied(), a.val().iter().copied());
}

impl Prepared for LibraryPrepared<'_> {
    /// What the library refuses is refused; what goes wrong fails the run, with its first result.
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::at_once(|| match self.start(watch) {
            Ok(Some(seconds)) => {
                self.costs.plan_s = seconds.parse().unwrap_or_default();
                Ok(Finished::Done)
            }
            Ok(None) => Ok(Finished::Cancelled),
            Err(reason) => match reason.strip_prefix("refused ") {
                Some(sentence) => Err(PrepareError::Refused(sentence.to_owned())),
                None => {
                    self.failure = Some(reason);
                    Ok(Finished::Done)
                }
            },
        })
    }

    fn sample<'t>(&'t mut self, n: usize, _: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::at_once(|| {
            let once = self.once.unwrap_or_default();
            let warm = match once > WARM_BY_ITSELF_S {
                true => 0,
                false => (WARM_UP_S / once.max(1e-9)).ceil() as u32,
            };
            let (warm, repetitions) = match self.is_on_gpu() {
                true => {
                    let repetitions = (SHORTEST_ON_GPU_S / once.max(1e-9)).ceil();
                    (warm.min(MOST_WARM_ON_GPU), repetitions.clamp(1.0, MOST_ON_GPU) as u32)
                }
                false => (warm, repetitions(once)),
            };
            self.repetitions = self.repetitions.max(repetitions);
            let mut samples = Vec::with_capacity(n);
            let is_solution = self.operands.asked.is_some();
            while samples.len() < n {
                let Some(seconds) = self.run(warm, repetitions, watch)? else { break };
                samples.push(seconds);
                let computed = self.computed()?;
                self.furthest.keep_furthest(computed, &self.first, is_solution);
            }
            Ok(samples)
        })
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            // The first execution on a GPU may have to load the kernel.
            let warm = u32::from(self.is_on_gpu());
            let Some(seconds) = self.run(warm, 1, watch)? else { return Ok(None) };
            self.once = Some(seconds);
            let computed = self.computed()?;
            (self.first, self.furthest) = (computed.y.clone(), computed.clone());
            Ok(Some(self.output_of(computed)))
        })
    }

    /// What differs most from the first result in any sample.
    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| Ok(self.output_of(self.furthest.clone())))
    }

    fn energy<'t>(&'t mut self, _: Temperature, _: &'t Watch<'_>) -> Metered<'t> {
        Ticket::ready(Err("energy is not measured for kernel libraries".to_owned()))
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.operands.params.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_too_short_is_reported_with_the_other() {
        let ran = |all, passed, on_gpu| {
            Ran { seconds: 1.0, all, passed, on_gpu, solved: (0, true) }.disagreement()
        };
        // 5 % and 20 ms of what passed.
        assert_eq!(ran(1.0, 1.07, None), None);
        let sentence = "its process measured 1.000 s while 1.080 s passed";
        assert_eq!(ran(1.0, 1.08, None).as_deref(), Some(sentence));
        // 5 % and 1 ms.
        assert_eq!(ran(1.0, 1.0, Some([0.1, 0.106])), None);
        let sentence = "its work in the stream took 0.1000 s while 0.1070 s passed";
        assert_eq!(ran(1.0, 1.0, Some([0.1, 0.107])).as_deref(), Some(sentence));
    }
}
