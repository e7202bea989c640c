//! Faults planted in a backend, to see which of the runner's checks catches them. A result that is wrong in
//! the first execution is caught before anything is timed; one that is wrong later is caught in the result of
//! the last sample, or by the execution after the samples.

mod fault;
mod subjects;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sparsescope_core::experiment::{
    Alone, Availability, Backend, Configuration, Executed, Groups, LastOutput, Observer, Output,
    PrepareError, Prepared, Problem, Runner, Sampled, SetUp, Temperature, Ticket, Watch,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, kernels};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Costs, Distributed, Environment, History, Run, Verdict};

pub use fault::{CaughtBy, Fault};
use subjects::{Subject, settings, subjects};

/// Replaces a right result by a wrong one.
type Spoil<'s> = &'s dyn Fn(Output) -> Output;

/// A backend whose results are right except for a fault.
struct Planted<'b> {
    right: &'b dyn Backend,
    fault: Fault,
    spoil: Spoil<'b>,
    executed: AtomicUsize,
    sampled: AtomicUsize,
}

struct PlantedPrepared<'p> {
    right: Box<dyn Prepared + 'p>,
    planted: &'p Planted<'p>,
}

impl Planted<'_> {
    fn executions(&self) -> usize {
        self.executed.load(Ordering::Relaxed)
    }

    fn samples(&self) -> usize {
        self.sampled.load(Ordering::Relaxed)
    }
}

impl Backend for Planted<'_> {
    fn model(&self) -> &str {
        self.right.model()
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.right.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let right = self.right.prepare(configuration, problem, memory)?;
        Ok(Box::new(PlantedPrepared { right, planted: self }))
    }
}

impl PlantedPrepared<'_> {
    fn spoilt(&self, output: Output, is_wrong: bool) -> Output {
        if is_wrong { (self.planted.spoil)(output) } else { output }
    }
}

impl Prepared for PlantedPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        self.right.set_up(watch)
    }
    fn sample<'t>(&'t mut self, n: usize, t: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        self.planted.sampled.fetch_add(1, Ordering::Relaxed);
        self.right.sample(n, t, watch)
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            let before = self.planted.executed.fetch_add(1, Ordering::Relaxed);
            let is_wrong = match self.planted.fault {
                Fault::WrongInSamples => false,
                Fault::RightOnce | Fault::WrongAfterwards => before > 0,
                _ => true,
            };
            let output = self.right.output(watch).wait()?;
            Ok(output.map(|output| self.spoilt(output, is_wrong)))
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| {
            let is_wrong = self.planted.fault != Fault::WrongAfterwards;
            let output = self.right.last_output().wait()?;
            Ok(self.spoilt(output, is_wrong))
        })
    }
    fn once(&self) -> Option<f64> {
        self.right.once()
    }
    fn groups(&self) -> Option<Groups> {
        self.right.groups()
    }
    fn repetitions(&self) -> u32 {
        self.right.repetitions()
    }
    fn parts(&self) -> Option<usize> {
        self.right.parts()
    }
    fn costs(&self) -> Costs {
        self.right.costs()
    }
    fn params(&self) -> std::collections::BTreeMap<String, String> {
        self.right.params()
    }
    fn distributed(&mut self) -> Option<Distributed> {
        self.right.distributed()
    }
    fn told(&mut self) -> Option<History> {
        self.right.told()
    }
}

/// Stores the runs.
struct Seen(Vec<Run>);

impl Observer for Seen {
    fn progress(&mut self, _: usize, _: usize, _: &str) {}
    fn finished(&mut self, run: Run) -> bool {
        self.0.push(run);
        true
    }
}

/// Plants every fault in every operation, on a kernel of each format, and in every precision. Returns a
/// Markdown table of the checks that catch them, or the faults that are not caught as they should be.
pub fn plant(backend: &dyn Backend, device: DeviceKind) -> Result<String, String> {
    let subjects = subjects();
    let mut table = String::from("| fault |");
    for subject in &subjects {
        let tried = configurations(backend, device, subject);
        let tried = tried.iter().filter(|configuration| passes(backend, subject, configuration));
        let tried: Vec<&Configuration> = tried.collect();
        let operation = subject.operation;
        if tried.is_empty() {
            return Err(format!("no kernel of {} passes", operation.as_str()));
        }
        for configuration in &tried {
            for fault in Fault::ALL {
                is_caught(backend, subject, configuration, fault)?;
            }
        }
        let _ = write!(table, " {} ({}) |", operation.as_str(), tried.len());
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(subjects.len()));
    for fault in Fault::ALL {
        let _ = write!(table, "\n| {} |", fault.words());
        for subject in &subjects {
            let cell = subject.lacks(fault).unwrap_or(fault.caught_by().words());
            let _ = write!(table, " {cell} |");
        }
    }
    Ok(table)
}

/// One kernel per format where ids name it, otherwise every kernel of the operation, each in its precisions.
fn configurations(
    backend: &dyn Backend,
    device: DeviceKind,
    subject: &Subject,
) -> Vec<Configuration> {
    let mut formats = Vec::new();
    let is_here = |kernel: &&'static KernelDescriptor| {
        kernel.device == device && backend.availability(kernel) == Availability::Available
    };
    let kernels = kernels(subject.operation).iter().filter(is_here);
    let kernels: Vec<&'static KernelDescriptor> = kernels
        .filter(|kernel| {
            if subject.operation.in_ids().is_some() {
                return true;
            }
            let format = kernel.format();
            let is_new = format.is_some() && !formats.contains(&format);
            formats.push(format);
            is_new
        })
        .collect();
    Configuration::all(&kernels, &settings())
}

/// The run of a configuration with a fault, and its numbers of executions and samples.
fn run(
    right: &dyn Backend,
    subject: &Subject,
    configuration: &Configuration,
    (fault, spoil): (Fault, Spoil<'_>),
) -> Option<(Run, usize, usize)> {
    let planted = Planted {
        right,
        fault,
        spoil,
        executed: AtomicUsize::new(0),
        sampled: AtomicUsize::new(0),
    };
    let backend: &dyn Backend = &planted;
    let (settings, problem) = (settings(), subject.problem());
    let environment = Environment { id: "planted".to_owned(), ..Environment::default() };
    let runner = Runner {
        backends: vec![(configuration.kernel.device, backend)],
        settings: &settings,
        environment: &environment,
        memory: Some(MemoryLimit::unlimited()),
        cancel: &AtomicBool::new(false),
        agreement: &Alone,
    };
    let mut seen = Seen(Vec::new());
    let configurations = std::slice::from_ref(configuration);
    runner.run("planted", &*problem, configurations, &[], &mut seen).ok()?;
    Some((seen.0.pop()?, planted.executions(), planted.samples()))
}

/// Whether a configuration passes without a fault; it may refuse the subject.
fn passes(backend: &dyn Backend, subject: &Subject, configuration: &Configuration) -> bool {
    let untouched: Spoil<'_> = &|output| output;
    let ran = run(backend, subject, configuration, (Fault::Zeros, untouched));
    ran.is_some_and(|(run, ..)| run.check.verdict == Verdict::Pass && !run.samples.is_empty())
}

/// Checks that a fault is caught by the right check, and leaves no time.
fn is_caught(
    backend: &dyn Backend,
    subject: &Subject,
    configuration: &Configuration,
    fault: Fault,
) -> Result<(), String> {
    if subject.lacks(fault).is_some() {
        return Ok(());
    }
    let what = format!(
        "{} in {}: {}",
        configuration.kernel.id,
        configuration.precision.as_str(),
        fault.words()
    );
    let spoil = |right: Output| subject.spoilt(fault, configuration, right);
    let ran = run(backend, subject, configuration, (fault, &spoil));
    let (run, executions, samples) = ran.ok_or_else(|| format!("{what}: no run"))?;
    if run.check.verdict == Verdict::Pass {
        return Err(format!("{what}: not caught"));
    }
    if !run.samples.is_empty() || run.figures.is_some() {
        return Err(format!("{what}: its times are kept"));
    }
    let caught_by = match (executions, samples) {
        (_, 0) => CaughtBy::First,
        (1, _) => CaughtBy::Samples,
        _ => CaughtBy::Afterwards,
    };
    match caught_by == fault.caught_by() {
        true => Ok(()),
        false => Err(format!(
            "{what}: caught by the {} instead of the {}",
            caught_by.words(),
            fault.caught_by().words()
        )),
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::experiment::CpuBackend;

    use super::*;

    /// Prints which check catches which fault with `--nocapture`.
    #[test]
    fn every_fault_that_is_planted_on_the_cpu_is_caught() {
        match plant(&CpuBackend::new(), DeviceKind::Cpu) {
            Ok(table) => println!("{table}"),
            Err(missed) => panic!("{missed}"),
        }
    }
}
