//! A library's kernel on one matrix: what it is given, and what is checked besides its result.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tempfile::NamedTempFile;

use super::area::{Area, Places};
use super::library::KernelLibrary;
use super::process::Process;
use crate::experiment::{
    Executed, Finished, KernelError, LastOutput, Output, PrepareError, Prepared, Sampled, SetUp,
    SpmvSide, Temperature, Ticket, WARM_BY_ITSELF_S, Watch, repetitions,
};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Costs;

/// Where the shared file takes no disk space.
const IN_MEMORY: &str = "/dev/shm";
/// Warm-up before each sample of executions shorter than this, as for the kernels of this program.
const WARM_UP_S: f64 = 2e-3;
/// By how much the library's process and this one may disagree about the time of a command: a share of it, and
/// the time of the exchange. On a busy machine an exchange may take longer: only the last attempt counts.
const DISAGREEMENT: f64 = 0.05;
const EXCHANGE_S: f64 = 0.02;
const ATTEMPTS: u32 = 5;

/// A kernel of a library, in its process.
pub(super) struct LibraryPrepared<'p> {
    library: &'p KernelLibrary,
    side: Arc<SpmvSide<f64>>,
    threads: u32,
    places: Places,
    running: Option<Running>,
    /// Why it could not be prepared, if that is the library's fault.
    failure: Option<String>,
    costs: Costs,
    repetitions: u32,
    once: Option<f64>,
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

/// The times of a command in seconds.
struct Ran {
    /// Of one timed execution.
    seconds: f64,
    /// Of all executions, as the library's process measured it.
    all: f64,
    /// Of the command, as this process measured it.
    passed: f64,
}

impl Ran {
    fn agrees(&self) -> bool {
        self.passed - self.all <= DISAGREEMENT * self.passed + EXCHANGE_S
    }
}

impl<'p> LibraryPrepared<'p> {
    /// Fails if the arrays do not fit into `memory`.
    pub(super) fn new(
        library: &'p KernelLibrary,
        side: Arc<SpmvSide<f64>>,
        threads: u32,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let a = side.a();
        let places = Places::of(a.rows(), a.cols(), a.nnz());
        let too_large = || PrepareError::Refused("the matrix is too large to share".to_owned());
        let places = places.ok_or_else(too_large)?;
        let fits = memory.check("the matrix shared with the library", places.bytes as u128);
        fits.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let (format_bytes, minimal_bytes) = (a.bytes(), a.minimal_bytes());
        let costs = Costs { format_bytes, minimal_bytes, ..Costs::default() };
        let (running, failure, once) = (None, None, None);
        let (repetitions, sign) = (1, -1.0);
        Ok(Self {
            library,
            side,
            threads,
            places,
            running,
            failure,
            costs,
            repetitions,
            once,
            sign,
        })
    }

    /// Starts the process and prepares the library; the reply is that of `prepare`. `None` when cancelled.
    fn start(&mut self, watch: &Watch<'_>) -> Result<Option<String>, String> {
        let cannot = |error: io::Error| format!("cannot share the matrix with it: {error}");
        let file = shared_file(self.places.bytes).map_err(cannot)?;
        let area = Area::of(file.as_file(), self.places).map_err(cannot)?;
        fill(&area, self.side.a());
        area.set_vectors(self.side.x().iter().copied());
        let KernelLibrary { path, program, limit, .. } = self.library;
        let mut process = Process::start(program, [path.as_path(), file.path()], *limit)?;
        if process.ready(watch.flag())?.is_none() {
            return Ok(None);
        }
        let Places { rows, cols, nonzeros, .. } = self.places;
        let command = format!("prepare {rows} {cols} {nonzeros} {}", self.threads);
        let reply = process.ask(&command, "while it prepared the matrix", watch.flag())?;
        // The library has it open: nothing is left of it, however this process ends.
        let file = cfg!(windows).then_some(file);
        self.running = Some(Running { process, area, _file: file });
        Ok(reply)
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
                Ok(Some(ran)) if ran.agrees() => break Ok(Some(ran.seconds)),
                Ok(Some(_)) if attempts < ATTEMPTS => {}
                Ok(Some(Ran { all, passed, .. })) => {
                    let sentence = "its process measured";
                    break Err(format!("{sentence} {all:.3} s while {passed:.3} s passed"));
                }
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
        let given = || self.side.x().iter().map(move |x| x * sign);
        area.set_vectors(given());
        let start = Instant::now();
        let command = format!("run {warm} {repetitions}");
        let reply = process.ask(&command, "while it computed", watch.flag())?;
        let passed = start.elapsed().as_secs_f64();
        let Some(reply) = reply else { return Ok(None) };
        let numbers =
            reply.split_once(' ').map(|(one, all)| (one.parse::<f64>(), all.parse::<f64>()));
        let Some((Ok(seconds), Ok(all))) = numbers else {
            return Err(format!("its process replied `{reply}`"));
        };
        if !area.is_guarded() {
            return Err("it wrote outside y".to_owned());
        }
        if area.x().zip(given()).any(|(now, given)| now.to_bits() != given.to_bits()) {
            return Err("it changed x".to_owned());
        }
        Ok(Some(Ran { seconds, all, passed }))
    }

    /// The result of the last execution, for the x of the problem.
    fn result(&self) -> Result<Output, KernelError> {
        let ended = || self.failed("its process has ended");
        let running = self.running.as_ref().ok_or_else(ended)?;
        let y = running.area.result().into_iter().map(|y| y * self.sign);
        Ok(Output::Vector(y.collect()))
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
                Some(code) => {
                    let sentence = format!("sparsescope_prepare returned {code}");
                    Err(PrepareError::Refused(sentence))
                }
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
            let repetitions = repetitions(once);
            self.repetitions = self.repetitions.max(repetitions);
            let mut samples = Vec::with_capacity(n);
            while samples.len() < n {
                match self.run(warm, repetitions, watch)? {
                    Some(seconds) => samples.push(seconds),
                    None => break,
                }
            }
            Ok(samples)
        })
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            let Some(seconds) = self.run(0, 1, watch)? else { return Ok(None) };
            self.once = Some(seconds);
            self.result().map(Some)
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| self.result())
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
