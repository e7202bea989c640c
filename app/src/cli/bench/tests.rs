//! A kernel that computes wrong results, through the whole of `bench`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, CpuBackend, Executed, LastOutput, Output, PrepareError,
    Prepared, Problem, Sampled, Temperature, Ticket, Watch,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Costs, Verdict};

use super::run_with;
use crate::cli::Outcome;
use crate::cli::args::{Cli, Command};
use crate::cli::interrupt::Interrupt;

/// The CPU backend, but row 4 of `cpu/csr/nnz` is wrong.
struct Wrong {
    cpu: CpuBackend,
    spoil: fn(f64) -> f64,
}

struct WrongPrepared<'p> {
    right: Box<dyn Prepared + 'p>,
    spoil: Option<fn(f64) -> f64>,
}

impl Backend for Wrong {
    fn model(&self) -> &str {
        self.cpu.model()
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.cpu.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let right = self.cpu.prepare(configuration, problem, memory)?;
        let spoil = (configuration.kernel.id == "cpu/csr/nnz").then_some(self.spoil);
        Ok(Box::new(WrongPrepared { right, spoil }))
    }
}

impl Prepared for WrongPrepared<'_> {
    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        self.right.sample(n, temperature, watch)
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.right.last_output()
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            let Some(Output::Vector(mut y)) = self.right.output(watch).wait()? else {
                panic!("no vector")
            };
            if let Some(spoil) = self.spoil {
                y[4] = spoil(y[4]);
            }
            Ok(Some(Output::Vector(y)))
        })
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
    fn params(&self) -> BTreeMap<String, String> {
        self.right.params()
    }
}

#[test]
fn a_wrong_kernel_ends_in_exit_code_3_and_leaves_no_timing() {
    let spoils: [fn(f64) -> f64; 2] = [|y| y * (1.0 + 1e-6), |_| f64::NAN];
    for spoil in spoils {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.zip");
        let args = ["sparsescope", "bench", "gen:diagonal?m=9", "--runs", "2", "--threads", "2"];
        let output = ["-q", "-o", path.to_str().unwrap(), "--kernels", "cpu/csr/*"];
        let cli = Cli::parse_from(args.iter().chain(&output));
        let Some(Command::Bench(args)) = cli.command else { panic!("bench was asked for") };
        let wrong = Wrong { cpu: CpuBackend::new(), spoil };
        let outcome = run_with(&args, &Interrupt::never(), true, &wrong).unwrap();
        assert_eq!(outcome, Outcome::CheckFailed);
        assert_eq!(u8::from(outcome), 3);

        let bundle = Bundle::open(&path, &Limits::default()).unwrap();
        for run in &bundle.runs {
            let wrong = run.kernel == "cpu/csr/nnz";
            let expected = if wrong { Verdict::Fail } else { Verdict::Pass };
            assert_eq!(run.check.verdict, expected, "{}", run.kernel);
            assert_eq!(run.samples.is_empty() && run.figures.is_none(), wrong, "{}", run.kernel);
        }
        let failed = bundle.runs.iter().find(|r| r.check.verdict == Verdict::Fail).unwrap();
        assert_eq!(failed.check.row, Some(4));
        let told = super::summary::closing(&bundle, false, None);
        assert!(told.starts_with("WRONG RESULT: 1 x cpu/csr/nnz on diagonal?m=9: "), "{told}");
        let report = std::fs::read_to_string(path.with_extension("html")).unwrap();
        assert!(report.contains("1 failed"), "the report names it");
    }
}

/// The CPU backend, but the time limit is reached when it prepares a kernel.
struct Late<'i> {
    cpu: CpuBackend,
    stop: &'i AtomicBool,
}

impl Backend for Late<'_> {
    fn model(&self) -> &str {
        self.cpu.model()
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.cpu.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        self.stop.store(true, Ordering::Relaxed);
        self.cpu.prepare(configuration, problem, memory)
    }
}

#[test]
fn a_time_limit_before_the_first_run_is_an_error_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.zip");
    let args = ["sparsescope", "bench", "gen:diagonal?m=9", "--runs", "2", "--threads", "1"];
    let output = ["-q", "-o", path.to_str().unwrap(), "--kernels", "cpu/csr/serial"];
    let cli = Cli::parse_from(args.iter().chain(&output));
    let Some(Command::Bench(args)) = cli.command else { panic!("bench was asked for") };
    let interrupt = Interrupt::never();
    let late = Late { cpu: CpuBackend::new(), stop: interrupt.flag() };
    let error = run_with(&args, &interrupt, true, &late).unwrap_err();
    assert_eq!(error.to_string(), "the time limit was reached before the first run");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_caller_in_this_process_gets_the_exit_code_or_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.zip");
    let measured = |args: &[&str], stop: bool| {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        crate::cli::measure(&args, Arc::new(AtomicBool::new(stop)))
    };
    let bench = ["sparsescope", "bench", "gen:diagonal?m=9", "--runs", "2", "--threads", "1"];
    let output = ["-q", "--no-report", "--no-summary", "-o", path.to_str().unwrap()];
    let kernels = ["--kernels", "cpu/csr/serial"];
    let all: Vec<&str> = bench.into_iter().chain(output).chain(kernels).collect();
    assert_eq!(measured(&all, false), Ok(0));
    let bundle = Bundle::open(&path, &Limits::default()).unwrap();
    assert!(bundle.complete && bundle.runs.len() == 1);
    let exists = measured(&all, false).unwrap_err();
    assert!(exists.ends_with("already exists; use --force to overwrite it"), "{exists}");
    let other = measured(&["sparsescope", "info", "gen:diagonal?m=9"], false);
    assert_eq!(other, Err("expected the arguments of `bench`".to_owned()));
    let unknown = measured(&["sparsescope", "bench", "--nothing"], false).unwrap_err();
    assert!(unknown.contains("unexpected argument '--nothing'"), "{unknown}");
}
