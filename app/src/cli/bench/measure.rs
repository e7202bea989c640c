//! Runs what this process has of a plan, subject by subject.

use std::path::Path;

use sparsescope_core::experiment::{
    Configuration, Ending, LoadedSubject, Runner, SourceError, SubjectSource,
};
use sparsescope_core::io::Progress;
use sparsescope_core::memory::MemoryLimit;

use super::end::kept;
use super::recorder::{Place, Recorder};
use super::share::Share;
use super::sweep;
use crate::cli::interrupt::Interrupt;

/// What is run, and how.
pub(super) struct Job<'j> {
    pub(super) share: &'j Share<'j>,
    pub(super) runner: Runner<'j>,
    /// The path of the bundle.
    pub(super) output: &'j Path,
    pub(super) interrupt: &'j Interrupt,
}

/// How the subjects ended.
#[derive(Default)]
pub(super) struct Tally {
    /// Subjects that could not be read.
    pub(super) unread: usize,
    /// Whether it was stopped before the last of them.
    pub(super) stopped: bool,
}

impl Job<'_> {
    /// Runs every subject that can be read, until the interrupt.
    pub(super) fn run(&self, recorder: &mut Recorder) -> anyhow::Result<Tally> {
        let mut tally = Tally::default();
        for (first, task) in self.share.tasks().enumerate() {
            if task.probed.is_err() {
                tally.unread += 1; // Reported before the first subject.
                continue;
            }
            recorder.begin(Place { first, of: self.share.len(), name: task.source.name() });
            let loaded = match self.load(task.source, recorder) {
                Ok(loaded) => loaded,
                Err(error) if error.is_cancelled() => {
                    tally.stopped = true;
                    break;
                }
                Err(error) => {
                    recorder.line(&format!("error: {error}"));
                    tally.unread += 1;
                    continue;
                }
            };
            if self.run_on(loaded, &task.configurations, recorder)? == Ending::Cancelled {
                tally.stopped = true;
                break;
            }
        }
        Ok(tally)
    }

    fn memory(&self) -> MemoryLimit {
        self.runner.memory.unwrap_or_else(MemoryLimit::of_machine)
    }

    fn load(
        &self,
        source: &SubjectSource,
        recorder: &mut Recorder,
    ) -> Result<LoadedSubject, SourceError> {
        let (reordering, memory) = (self.share.sweep.reordering, self.memory());
        let read = |progress: Progress<'_>| {
            source.load(reordering, memory, progress, self.interrupt.flag())
        };
        recorder.while_reading(sweep::file_size(source), read)
    }

    /// Runs the configurations on a subject, unless it repeats an earlier one.
    fn run_on(
        &self,
        loaded: LoadedSubject,
        configurations: &[Configuration],
        recorder: &mut Recorder,
    ) -> anyhow::Result<Ending> {
        let name = loaded.record().name().to_owned();
        if let Some(taken) = loaded.taken() {
            recorder.line(&format!("{name}: {taken}"));
        }
        for warning in loaded.warnings() {
            recorder.line(&format!("warning: {name}: {warning}"));
        }
        let Some(id) = recorder.add(&loaded).map_err(|e| kept(self.output, &e))? else {
            recorder.line(&format!("{name} repeats an earlier input; it runs once"));
            return Ok(Ending::Complete);
        };
        let (sweep, runner, measured) = (self.share.sweep, &self.runner, recorder.runs_of(&id));
        let (seed, x) = (sweep.settings.seed, sweep.x.as_deref());
        Ok(match loaded.into_problem(sweep.operation, seed, x, self.memory()) {
            Ok(problem) => {
                let ending = runner.run(&id, &*problem, configurations, &measured, recorder)?;
                let shown = recorder.show_results(&id, &*problem);
                shown.map_err(|e| kept(self.output, &e.into()))?;
                ending
            }
            Err(why) => runner.refuse(&id, configurations, &why, &measured, recorder),
        })
    }
}
