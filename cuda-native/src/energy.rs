//! The energy of an execution: the GPU repeats it for seconds, while its energy is read.
//! docs/energy.md describes the method.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use sparsescope_core::experiment::{Temperature, Watch};
use sparsescope_core::record::Energy;

use crate::machine::Machine;
use crate::meter::{GONE, WINDOW_S, Window, read_during};
use crate::sampling::Execution;

/// Windows per kernel.
const WINDOWS: u32 = 4;

/// Pause before each window, a quarter of the time between two updates of an H100: it samples its
/// power only for a quarter of the time, and work that repeats itself in step with it is then
/// sampled at another point.
const SHIFT: Duration = Duration::from_millis(25);

/// Executions enqueued together take this long: short enough for stopping, long compared with
/// waiting for the last.
const BATCH_S: f64 = 0.05;

/// Maximum executions enqueued together.
const MOST_EXECUTIONS: u32 = 1 << 20;

/// Executes batch after batch for at least this long and at least once; returns the seconds that it
/// took and the executions, `None` once `watch` is cancelled. `batch` is the number of executions
/// that take about [`BATCH_S`], found on the way.
fn busy<E: Execution>(
    execution: &mut E,
    least_s: f64,
    batch: &mut u32,
    watch: &Watch<'_>,
) -> Result<Option<(f64, u64)>, E::Error> {
    let (start, mut executions) = (Instant::now(), 0);
    loop {
        if watch.is_cancelled() {
            return Ok(None);
        }
        let began = start.elapsed().as_secs_f64();
        execution.repeat(*batch)?;
        executions += u64::from(*batch);
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= least_s {
            return Ok(Some((seconds, executions)));
        }
        if seconds - began < 0.5 * BATCH_S {
            *batch = batch.saturating_mul(2).min(MOST_EXECUTIONS);
        }
    }
}

/// Measures the energy of an execution on a machine's GPU; `None` if it is cancelled. Fails with the
/// reason if it cannot be measured.
pub(crate) fn energy<E: Execution<Error: Display>>(
    machine: Option<&Machine>,
    execution: &mut E,
    temperature: Temperature,
    watch: &Watch<'_>,
) -> Result<Option<Energy>, String> {
    let machine = machine.ok_or("energy is measured on one GPU only")?;
    if temperature == Temperature::Cold {
        return Err("energy is measured with warm caches only: flushing takes energy".to_owned());
    }
    let meter = machine.meter()?;
    let nvml = machine.nvml().ok_or(GONE)?;
    match nvml.processes().unwrap_or_default().saturating_sub(1) {
        0 => {}
        1 => return Err("another process uses the GPU, and its energy would count".to_owned()),
        n => return Err(format!("{n} other processes use the GPU, and their energy would count")),
    }
    let failed = |error: E::Error| match watch.is_cancelled() {
        true => Ok(None),
        false => Err(error.to_string()),
    };
    if let Err(error) = execution.spoil() {
        return failed(error);
    }
    let (mut windows, mut batch) = (Vec::new(), 1);
    for _ in 0..WINDOWS {
        thread::sleep(SHIFT);
        match busy(execution, meter.lead_s(), &mut batch, watch) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(error) => return failed(error),
        }
        let read = || meter.read(nvml);
        let (readings, done) = read_during(&read, || busy(execution, WINDOW_S, &mut batch, watch));
        let (seconds, executions) = match done {
            Ok(Some(done)) => done,
            Ok(None) => return Ok(None),
            Err(error) => return failed(error),
        };
        windows.push(Window { seconds, executions, readings: readings.ok_or(GONE)? });
    }
    meter.energy(&windows, execution.is_in_place()).map(Some)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Takes a millisecond per execution, and is cancelled after this many.
    struct Slow<'c> {
        executions: u32,
        cancel_after: u32,
        cancel: &'c AtomicBool,
    }

    impl Execution for Slow<'_> {
        type Error = Infallible;
        fn is_in_place(&self) -> bool {
            true
        }
        fn reset(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
        fn flush(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
        fn time(&mut self, executions: u32) -> Result<f64, Infallible> {
            thread::sleep(Duration::from_millis(1) * executions);
            self.executions += executions;
            self.cancel.store(self.executions >= self.cancel_after, Ordering::Relaxed);
            Ok(1e-3 * f64::from(executions))
        }
    }

    #[test]
    fn batches_grow_until_they_take_long_and_every_execution_counts() {
        let cancel = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&cancel);
        let mut slow = Slow { executions: 0, cancel_after: u32::MAX, cancel: &cancel };
        let mut batch = 1;
        let (seconds, executions) = busy(&mut slow, 0.2, &mut batch, &watch).unwrap().unwrap();
        assert!(seconds >= 0.2 && executions == u64::from(slow.executions), "{seconds} s");
        // A sleep may take longer than it should, but never less.
        assert!((2..=64).contains(&batch), "{batch}");
    }

    #[test]
    fn stopping_ends_it_after_a_batch_and_what_has_no_gpu_of_its_own_is_refused() {
        let cancel = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&cancel);
        let mut slow = Slow { executions: 0, cancel_after: 3, cancel: &cancel };
        let refused = energy(None, &mut slow, Temperature::Hot, &watch);
        assert_eq!(refused, Err("energy is measured on one GPU only".to_owned()));
        assert_eq!(busy(&mut slow, 1e3, &mut 1, &watch), Ok(None));
        assert_eq!(slow.executions, 3);
    }
}
