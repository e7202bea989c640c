//! How executions are repeated and timed, alone and in step with other ranks.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::experiment::output::Output;
use crate::experiment::team::{Member, with_ranks};
use crate::measure::{CacheSizes, cpu, pool};

/// Counts its executions, and those not preceded by a reset.
struct Counting<'c> {
    in_place: bool,
    is_reset: bool,
    runs: &'c AtomicU32,
    dirty: &'c AtomicU32,
    cancel_at: u32,
}

impl Task for Counting<'_> {
    fn is_in_place(&self) -> bool {
        self.in_place
    }
    fn reset(&mut self) {
        self.is_reset = true;
    }
    fn spoil(&mut self) {}
    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        if !std::mem::take(&mut self.is_reset) {
            self.dirty.fetch_add(1, Ordering::Relaxed);
        }
        Ok(if runs >= self.cancel_at { Finished::Cancelled } else { Finished::Done })
    }
    fn output(&self) -> Output {
        Output::Vector(Vec::new())
    }
}

fn sampled(in_place: bool, temperature: Temperature, cancel_at: u32) -> (usize, u32, u32) {
    let (runs, dirty) = (AtomicU32::new(0), AtomicU32::new(0));
    let machine = Machine::new(CacheSizes::of(&cpu()));
    let task = Counting { in_place, is_reset: false, runs: &runs, dirty: &dirty, cancel_at };
    let (costs, params) = Default::default();
    let bound = Bound { task: Box::new(task), parts: None, costs, params };
    let mut prepared =
        CpuPrepared::new("cpu/test/counting", &machine, Arc::new(pool(1).unwrap()), bound);
    let flag = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&flag);
    let output = prepared.output(&watch).wait().unwrap();
    assert_eq!(output.is_none(), cancel_at <= 1);
    let samples = prepared.sample(3, temperature, &watch).wait().unwrap();
    assert!(samples.iter().all(|s| s.is_finite()));
    assert_eq!(in_place && temperature == Temperature::Hot, prepared.costs().clock_s.is_some());
    drop(prepared);
    (samples.len(), runs.into_inner(), dirty.into_inner())
}

#[test]
fn an_execution_in_place_never_runs_without_a_reset() {
    for temperature in [Temperature::Hot, Temperature::Cold] {
        let (samples, runs, dirty) = sampled(true, temperature, u32::MAX);
        assert_eq!((samples, dirty), (3, 0));
        assert!(runs >= 4);
    }
    // The other kind is repeated without resets.
    assert!(sampled(false, Temperature::Hot, u32::MAX).2 > 0);
}

/// Takes this long, and waits for the other ranks as a kernel that exchanges a halo does.
struct InStep<'c> {
    takes: std::time::Duration,
    others: &'c Member<'c>,
    runs: &'c AtomicU32,
}

impl Task for InStep<'_> {
    fn spoil(&mut self) {}
    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.takes);
        self.others.meet("the halo");
        Ok(Finished::Done)
    }
    fn output(&self) -> Output {
        Output::Vector(Vec::new())
    }
}

#[test]
fn ranks_of_any_speed_execute_equally_often() {
    for temperature in [Temperature::Hot, Temperature::Cold] {
        let counts = with_ranks(3, |member| {
            let runs = AtomicU32::new(0);
            let takes = std::time::Duration::from_micros(if member.rank() == 1 { 700 } else { 5 });
            let machine = Machine::new(CacheSizes::of(&cpu()));
            let task = Box::new(InStep { takes, others: member, runs: &runs });
            let (costs, params) = Default::default();
            let bound = Bound { task, parts: None, costs, params };
            let pool = Arc::new(pool(1).unwrap());
            let mut prepared = CpuPrepared::new("cpu/test/in-step", &machine, pool, bound);
            let flag = AtomicBool::new(false);
            let watch = Watch::cancelled_by(&flag).agreeing(member);
            assert!(prepared.output(&watch).wait().unwrap().is_some());
            assert_eq!(prepared.sample(4, temperature, &watch).wait().unwrap().len(), 4);
            let repetitions = prepared.repetitions();
            drop(prepared);
            (repetitions, runs.into_inner())
        });
        let counts: Vec<_> = counts.into_iter().map(Result::unwrap).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    }
}

/// Computes this many times and does nothing afterwards. Takes longer than a warm-up.
struct AtFirst {
    y: f64,
    computes: u32,
}

impl Task for AtFirst {
    fn spoil(&mut self) {
        self.y = f64::NAN;
    }
    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        std::thread::sleep(std::time::Duration::from_secs_f64(2.0 * WARM_UP_S));
        if let Some(left) = self.computes.checked_sub(1) {
            (self.y, self.computes) = (1.0, left);
        }
        Ok(Finished::Done)
    }
    fn output(&self) -> Output {
        Output::Vector(vec![self.y])
    }
}

#[test]
fn an_execution_that_does_nothing_leaves_no_result_of_the_one_before() {
    // The result only, or the warm-up too, but no sample that counts.
    let all = [(Temperature::Hot, 1), (Temperature::Hot, 2), (Temperature::Cold, 1)];
    for (temperature, computes) in all {
        let machine = Machine::new(CacheSizes::of(&cpu()));
        let task = Box::new(AtFirst { y: 0.0, computes });
        let (costs, params) = Default::default();
        let bound = Bound { task, parts: None, costs, params };
        let mut prepared =
            CpuPrepared::new("cpu/test/at-first", &machine, Arc::new(pool(1).unwrap()), bound);
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let y = |output: Output| output.in_f64()[0];
        let first = prepared.output(&watch).wait().unwrap().unwrap();
        assert_eq!(y(first), 1.0);
        assert_eq!(prepared.sample(3, temperature, &watch).wait().unwrap().len(), 3);
        assert!(y(prepared.last_output().wait().unwrap()).is_nan());
        assert!(y(prepared.output(&watch).wait().unwrap().unwrap()).is_nan());
    }
}

#[test]
fn a_cancelled_execution_ends_the_sampling_and_leaves_no_sample() {
    for in_place in [false, true] {
        assert_eq!(sampled(in_place, Temperature::Cold, 1).0, 0);
        // The result, one sample, then the cancelled one.
        assert_eq!(sampled(in_place, Temperature::Cold, 3).0, 1);
        assert_eq!(sampled(in_place, Temperature::Hot, 2).0, 0);
    }
}
