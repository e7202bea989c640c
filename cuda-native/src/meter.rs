//! The mean power of a GPU over a window of time: from the energy that it counts, or from its power.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sparsescope_core::record::Energy;

use crate::nvml::Nvml;

/// Length of a window: four are longer than 5 s, even without the part of an update at each end.
pub(crate) const WINDOW_S: f64 = 1.5;

/// Between two readings.
const BETWEEN_READINGS: Duration = Duration::from_millis(1);

/// Time before the idle GPU is measured.
const SETTLE: Duration = Duration::from_millis(1500);

/// The reason if readings cease.
pub(crate) const GONE: &str = "the GPU stopped reporting its energy";

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// The energy that the GPU counts, in millijoules.
    Counter,
    /// Its power, in milliwatts.
    Power,
}

impl Method {
    fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Power => "power",
        }
    }

    fn read(self, nvml: &Nvml) -> Option<u64> {
        match self {
            Self::Counter => nvml.millijoules(),
            Self::Power => nvml.milliwatts().map(u64::from),
        }
    }
}

/// How the energy of a GPU is read, and its power while idle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meter {
    method: Method,
    idle_watts: f64,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Since the start.
    seconds: f64,
    /// Millijoules or milliwatts.
    value: u64,
}

/// A stretch of time in which the GPU did nothing but execute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    /// From the first execution to the end of the last.
    pub(crate) seconds: f64,
    pub(crate) executions: u64,
    pub(crate) readings: Vec<Reading>,
}

impl Meter {
    /// Measures a GPU of this name while it is idle; fails with the reason if its energy cannot be
    /// read.
    pub(crate) fn of(name: &str, nvml: Option<&Nvml>) -> Result<Self, String> {
        let nvml = nvml.ok_or("NVML, which reads the energy of a GPU, was not found")?;
        if name.contains(" MIG ") {
            return Err("the energy of a part of a GPU (MIG) cannot be read".to_owned());
        }
        let methods = [Method::Counter, Method::Power];
        let method = methods.into_iter().find(|method| method.read(nvml).is_some());
        let method = method.ok_or("this GPU reports neither its energy nor its power")?;
        thread::sleep(SETTLE);
        let wait = || thread::sleep(Duration::from_secs_f64(WINDOW_S));
        let (readings, ()) = read_during(&|| method.read(nvml), wait);
        let (idle_watts, _) = mean_watts(method, &readings.ok_or(GONE)?)?;
        Ok(Self { method, idle_watts })
    }

    /// What it reads, now.
    pub(crate) fn read(&self, nvml: &Nvml) -> Option<u64> {
        self.method.read(nvml)
    }

    /// Seconds of work before a window: power may be a mean over the last second.
    pub(crate) fn lead_s(&self) -> f64 {
        match self.method {
            Method::Counter => 0.3,
            Method::Power => 1.2,
        }
    }

    /// The energy of an execution from windows; `restores` as in the record. Fails with the reason
    /// if the readings of a window do not suffice.
    pub(crate) fn energy(&self, windows: &[Window], restores: bool) -> Result<Energy, String> {
        let (mut each, mut joules, mut seconds) = (Vec::new(), 0.0, 0.0);
        for window in windows {
            let (watts, known) = mean_watts(self.method, &window.readings)?;
            each.push(watts * window.seconds / window.executions as f64);
            joules += watts * known;
            seconds += known;
        }
        let energy = Energy {
            joules: 0.0,
            windows: each,
            method: self.method.as_str().to_owned(),
            watts: joules / seconds,
            idle_watts: self.idle_watts,
            seconds,
            restores,
        };
        let mean = energy.mean().ok_or(GONE)?;
        Ok(Energy { joules: mean, ..energy })
    }
}

/// Readings during `work`; `None` if one failed.
pub(crate) fn read_during<T>(
    read: &(dyn Fn() -> Option<u64> + Sync),
    work: impl FnOnce() -> T,
) -> (Option<Vec<Reading>>, T) {
    let (start, is_over) = (Instant::now(), AtomicBool::new(false));
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut readings = Vec::new();
            loop {
                let value = read()?;
                readings.push(Reading { seconds: start.elapsed().as_secs_f64(), value });
                thread::sleep(BETWEEN_READINGS);
                if is_over.load(Ordering::Relaxed) {
                    return Some(readings);
                }
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        (reader.join().ok().flatten(), done)
    })
}

/// Mean power in watts over these readings, and the seconds that it is the mean of. Fails with the
/// reason if they do not suffice.
fn mean_watts(method: Method, readings: &[Reading]) -> Result<(f64, f64), String> {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Err(GONE.to_owned());
    };
    let pairs = readings.iter().zip(readings.iter().skip(1));
    let (joules, seconds) = match method {
        Method::Counter => {
            // Between updates the counter stands still: only the energy between two is known.
            let updates: Vec<Reading> = pairs
                .filter(|(before, after)| before.value != after.value)
                .map(|(before, after)| {
                    let seconds = f64::midpoint(before.seconds, after.seconds);
                    Reading { seconds, value: after.value }
                })
                .collect();
            let (Some(from), Some(to)) = (updates.first(), updates.last()) else {
                return Err("the GPU's energy counter stands still".to_owned());
            };
            let millijoules = to.value.checked_sub(from.value);
            let millijoules = millijoules.ok_or("the GPU's energy counter started again")?;
            (millijoules as f64 * 1e-3, to.seconds - from.seconds)
        }
        Method::Power => {
            let joules = pairs.map(|(before, after)| {
                let watts = 0.5e-3 * (before.value as f64 + after.value as f64);
                watts * (after.seconds - before.seconds)
            });
            (joules.sum::<f64>(), last.seconds - first.seconds)
        }
    };
    if seconds < (0.5 * (last.seconds - first.seconds)).max(0.1) {
        return Err("the GPU's energy is reported too rarely".to_owned());
    }
    Ok((joules / seconds, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u32 = 1500;

    /// Readings every millisecond of a GPU with this power in each millisecond, whose counter is
    /// updated every 100 ms, for the first time after `phase` ms.
    fn counted(watts: impl Fn(u32) -> f64, phase: u32) -> Vec<Reading> {
        let (mut joules, mut shown, mut next) = (50.0_f64, 50.0_f64, phase);
        let readings = (0..MS).map(|ms| {
            if ms == next {
                (shown, next) = (joules, next + 100);
            }
            joules += watts(ms) * 1e-3;
            Reading { seconds: f64::from(ms) * 1e-3, value: (shown * 1e3).round() as u64 }
        });
        readings.collect()
    }

    fn near(found: f64, expected: f64, share: f64) -> bool {
        (found / expected - 1.0).abs() <= share
    }

    #[test]
    fn a_counter_that_is_updated_every_100_ms_gives_the_mean_power_at_any_phase() {
        for phase in [1, 13, 50, 99] {
            let (watts, seconds) = mean_watts(Method::Counter, &counted(|_| 400.0, phase)).unwrap();
            assert!(near(watts, 400.0, 1e-5), "{watts} W at {phase} ms");
            assert!(near(seconds, 1.4, 1e-9), "{seconds} s at {phase} ms: whole updates only");
        }
        // Taking the ends of the readings for those of the updates loses 50 ms at each end.
        let readings = counted(|_| 400.0, 50);
        let whole = (readings.last().unwrap().value - readings[0].value) as f64 * 1e-3;
        assert!(!near(whole / 1.499, 400.0, 0.02), "the test can fail");
    }

    #[test]
    fn power_that_varies_is_averaged_over_time() {
        // Half of each update.
        let varying = |ms: u32| if (ms / 50).is_multiple_of(2) { 300.0 } else { 500.0 };
        let (watts, _) = mean_watts(Method::Counter, &counted(varying, 50)).unwrap();
        assert!(near(watts, 400.0, 1e-5), "{watts} W");
        // 200 W for 0.3 s, then 400 W for 0.1 s, read at uneven times.
        let readings = [(0.0, 200), (0.3, 200), (0.3, 400), (0.4, 400)];
        let readings = readings.map(|(seconds, watts)| Reading { seconds, value: watts * 1000 });
        let (watts, seconds) = mean_watts(Method::Power, &readings).unwrap();
        assert!(near(watts, 250.0, 1e-9) && near(seconds, 0.4, 1e-9), "{watts} W, {seconds} s");
    }

    #[test]
    fn readings_that_do_not_suffice_are_refused_with_the_reason() {
        let refused = |method, readings: &[Reading]| mean_watts(method, readings).unwrap_err();
        let still = counted(|_| 0.0, 50);
        assert!(refused(Method::Counter, &still).contains("stands still"));
        // Two updates that are close to each other say nothing of the rest.
        let mut rare = still;
        rare.iter_mut().skip(1000).for_each(|reading| reading.value += 7);
        rare.iter_mut().skip(1100).for_each(|reading| reading.value += 7);
        assert!(refused(Method::Counter, &rare).contains("too rarely"));
        let mut again = counted(|_| 400.0, 50);
        again.iter_mut().skip(800).for_each(|reading| reading.value = 3);
        assert!(refused(Method::Counter, &again).contains("started again"));
        let short = [0.0, 0.05].map(|seconds| Reading { seconds, value: 100_000 });
        assert!(refused(Method::Power, &short).contains("too rarely"));
        assert_eq!(refused(Method::Power, &[]), GONE);
    }

    #[test]
    fn windows_give_joules_per_execution_and_their_spread() {
        let meter = Meter { method: Method::Counter, idle_watts: 70.0 };
        let window = |watts: f64| {
            let readings = counted(|_| watts, 30);
            Window { seconds: 1.5, executions: 1000, readings }
        };
        // 400 W for 1.5 s are 600 J.
        let windows = [400.0, 380.0, 420.0, 400.0].map(window);
        let energy = meter.energy(&windows, false).unwrap();
        assert!(near(energy.joules, 0.6, 1e-5), "{energy:?}");
        assert!(near(energy.watts, 400.0, 1e-5), "{energy:?}");
        assert!(near(energy.spread(), 0.05, 1e-3), "{energy:?}");
        assert!(near(energy.seconds, 4.0 * 1.4, 1e-9), "{energy:?}");
        assert_eq!((energy.method.as_str(), energy.idle_watts), ("counter", 70.0));
        assert_eq!(meter.energy(&[], false), Err(GONE.to_owned()));
        let all = [window(400.0), window(0.0)];
        assert!(meter.energy(&all, false).is_err(), "no window is left out");
    }

    #[test]
    fn readings_are_taken_while_the_work_runs_and_end_with_it() {
        let (readings, ()) = read_during(&|| Some(5), || thread::sleep(Duration::from_millis(50)));
        let readings = readings.unwrap();
        assert!(readings.len() > 1 && readings.iter().all(|one| one.value == 5));
        assert!(readings.is_sorted_by(|a, b| a.seconds <= b.seconds));
        assert_eq!(read_during(&|| None, || 7), (None, 7));
    }
}
