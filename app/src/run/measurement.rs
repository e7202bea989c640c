//! A measurement in a child process: starts it, follows it, stops it, and loses no results.
//!
//! The child writes progress as JSON lines on standard error, and every finished run into the journal beside
//! its bundle. However it ends, its results become a bundle: written by the child, or from its journal.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sparsescope_core::bundle::{Bundle, BundleError, Follower, Journal, Limits, journal_path};

use crate::cli::Told;

/// Minimum interval between readings of the journal.
const BETWEEN_READS: Duration = Duration::from_millis(500);
/// How long a child may take to write its bundle when the window closes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of lines of standard error that are kept, and of bytes per line.
const MOST_LINES: usize = 200;
const MOST_LINE_BYTES: u64 = 4096;

/// What is new since the last call.
#[derive(Debug, Default)]
pub struct News {
    /// The results so far, if there are more than before.
    pub so_far: Option<Bundle>,
    /// How it ended, once it has.
    pub ending: Option<Ending>,
}

/// How a measurement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The bundle, complete or not; none if nothing was measured.
    pub bundle: Option<PathBuf>,
    /// Why it is incomplete, or what is wrong with it.
    pub failure: Option<String>,
    /// It was stopped on request.
    pub stopped: bool,
}

/// A child process that measures. Dropping it stops the child and waits for it.
#[derive(Debug)]
pub struct Measurement {
    child: Child,
    output: PathBuf,
    journal: PathBuf,
    started: Instant,
    told: Told,
    runs_done: usize,
    /// Lines other than progress.
    said: Vec<String>,
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
    /// When the journal was last read.
    read: Instant,
    /// The journal's reader, while idle.
    follower: Option<Box<Follower>>,
    /// Returns the reader together with what it read, if anything was new.
    reading: Option<Receiver<(Box<Follower>, Option<Bundle>)>>,
    stops: u32,
    ended: bool,
}

impl Measurement {
    /// Starts `executable` with arguments that make it write the bundle `output`.
    pub fn start(
        executable: &Path,
        arguments: &[impl AsRef<OsStr>],
        output: &Path,
    ) -> std::io::Result<Self> {
        let mut child = Command::new(executable)
            .args(arguments)
            .args(["--progress", "json", "--no-report"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let (sender, lines) = channel();
        let reader = child.stderr.take().map(|stderr| {
            std::thread::spawn(move || {
                let mut stderr = BufReader::new(stderr);
                while let Some(line) = next_line(&mut stderr) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            })
        });
        let now = Instant::now();
        Ok(Self {
            child,
            output: output.to_owned(),
            follower: Some(Box::new(Follower::new(&journal_path(output), Limits::default()))),
            journal: journal_path(output),
            started: now,
            told: Told::default(),
            runs_done: 0,
            said: Vec::new(),
            lines,
            reader,
            read: now,
            reading: None,
            stops: 0,
            ended: false,
        })
    }

    /// The latest progress.
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// The number of finished runs in the journal so far.
    pub fn runs_done(&self) -> usize {
        self.runs_done
    }

    /// The bundle that it writes.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The estimated time left at this pace; none while that is unknown.
    pub fn left(&self) -> Option<Duration> {
        let share = self.told.share;
        let left = (share > 0.02).then(|| self.elapsed().as_secs_f64() * (1.0 / share - 1.0))?;
        Duration::try_from_secs_f64(left).ok()
    }

    /// Whether it was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stops > 0
    }

    /// Asks the child to stop and write what it has. A second call ends it at once; its results then come from
    /// the journal.
    pub fn stop(&mut self) {
        self.stops += 1;
        if !self.ended {
            interrupt(&mut self.child);
        }
    }

    /// Returns what is new. Takes no time while nothing is; another thread reads the journal.
    pub fn look(&mut self) -> std::io::Result<News> {
        if self.ended {
            return Ok(News::default());
        }
        self.take_lines();
        if let Some(status) = self.child.try_wait()? {
            self.ended = true;
            // Its standard error ends when it does.
            if let Some(reader) = self.reader.take() {
                let _ = reader.join(); // A reader that panicked has passed on all it can.
            }
            self.take_lines();
            return Ok(News { so_far: None, ending: Some(self.ending(status)) });
        }
        Ok(News { so_far: self.read_journal(), ending: None })
    }

    fn take_lines(&mut self) {
        for line in self.lines.try_iter() {
            match serde_json::from_str(&line) {
                Ok(told) => self.told = told,
                Err(_) if self.said.len() < MOST_LINES => self.said.push(line),
                Err(_) => {}
            }
        }
    }

    /// The bundle so far, if a reading of the journal has finished and found something new; starts another
    /// reading after a while.
    fn read_journal(&mut self) -> Option<Bundle> {
        let mut so_far = None;
        if let Some(reading) = &self.reading {
            match reading.try_recv() {
                Ok((follower, read)) => (self.follower, so_far) = (Some(follower), read),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {}
            }
            self.reading = None;
        }
        if let Some(bundle) = &so_far {
            self.runs_done = bundle.runs.len();
        }
        if self.read.elapsed() >= BETWEEN_READS
            && let Some(mut follower) = self.follower.take()
        {
            self.read = Instant::now();
            let (sender, receiver) = channel();
            std::thread::spawn(move || {
                // A journal that cannot be read now is read again next time.
                let is_new = follower.read().unwrap_or(false);
                let bundle = follower.bundle().filter(|_| is_new).cloned();
                // If this fails, nobody is waiting any more.
                sender.send((follower, bundle)).ok();
            });
            self.reading = Some(receiver);
        }
        so_far.filter(|bundle| !(bundle.matrices.is_empty() && bundle.subjects.is_empty()))
    }

    fn ending(&mut self, status: ExitStatus) -> Ending {
        let mut failure = match status.code() {
            Some(0) => None,
            Some(3) => Some("some runs failed their check; see their reasons".into()),
            _ if self.stops > 0 => None,
            _ => Some(self.why(status)),
        };
        let bundle = if self.output.is_file() {
            Some(self.output.clone())
        } else {
            match save_journal(&self.journal, &self.output) {
                Ok(saved) => saved.then(|| self.output.clone()),
                Err(error) => {
                    let journal = self.journal.display();
                    failure = Some(format!("{error}; the runs are saved in {journal}"));
                    None
                }
            }
        };
        if let Some(bundle) = &bundle {
            let runs = Bundle::open(bundle, &Limits::default()).map(|bundle| bundle.runs.len());
            self.runs_done = runs.unwrap_or(self.runs_done);
        }
        Ending { bundle, failure, stopped: self.stops > 0 }
    }

    /// Why the child failed, in its own words if it has any.
    fn why(&self, status: ExitStatus) -> String {
        let said = self.said.iter().rev().find_map(|line| line.strip_prefix("error: "));
        match (said, status.code()) {
            (Some(said), _) => said.to_owned(),
            (None, Some(code)) => format!("the bench process exited with code {code}"),
            (None, None) => format!("the bench process was killed ({status})"),
        }
    }
}

impl Drop for Measurement {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if self.stops == 0 {
            interrupt(&mut self.child);
        }
        let patient = Instant::now();
        while patient.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                _ => return,
            }
        }
        // The journal keeps the results.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line without its line end, truncated if too long; none after the last.
fn next_line(stderr: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = stderr.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line).ok()?;
    (read > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Writes the bundle from a journal and removes the journal. Returns false if there is no journal or it is
/// empty.
fn save_journal(journal: &Path, output: &Path) -> Result<bool, BundleError> {
    if !journal.is_file() {
        return Ok(false);
    }
    let bundle = Journal::recover(journal, &Limits::default())?;
    if bundle.runs.is_empty() {
        return Ok(false);
    }
    bundle.save(output, false)?;
    // The bundle holds everything; a leftover journal does no harm.
    let _ = std::fs::remove_file(journal);
    Ok(true)
}

/// Sends Ctrl-C to the child, which has not been waited for yet.
#[cfg(unix)]
fn interrupt(child: &mut Child) {
    let Ok(pid) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: `kill` reads two numbers. The process is our child and not waited for (`try_wait`
    // has not returned its status, and nobody else holds it), so the number is still its own.
    unsafe {
        libc::kill(pid, libc::SIGINT);
    }
}

/// A process without a console cannot receive Ctrl-C; the journal keeps the results.
#[cfg(not(unix))]
fn interrupt(child: &mut Child) {
    let _ = child.kill();
}
