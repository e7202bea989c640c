//! Sampling of device executions: repeated as they are, or one at a time if an execution changes
//! what it reads.

use sparsescope_core::experiment::{Temperature, WARM_BY_ITSELF_S};

/// Samples shorter than this are measured over several executions: events are accurate to half a
/// microsecond.
const SHORTEST_SAMPLE_S: f64 = 500e-6;

/// Maximum executions per sample.
const MOST_REPETITIONS: f64 = 1000.0;

/// What a sampler needs.
pub(crate) trait Execution {
    /// The error type.
    type Error;

    /// Whether an execution changes what it reads, so that it must be reset before it can be
    /// repeated.
    fn is_in_place(&self) -> bool;

    /// Undoes the changes of in-place executions. Never timed.
    fn reset(&mut self) -> Result<(), Self::Error>;

    /// Fills the result with a value that no execution computes; does nothing in place, where the
    /// reset restores the previous contents.
    fn spoil(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Evicts everything from the caches.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// Seconds of this many executions in a row.
    fn time(&mut self, executions: u32) -> Result<f64, Self::Error>;

    /// Executes this many times, in place after a reset each, and waits for the end.
    fn repeat(&mut self, executions: u32) -> Result<(), Self::Error> {
        mean(self, executions).map(|_| ())
    }
}

/// Samples, each the seconds of one execution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples {
    pub(crate) seconds: Vec<f64>,
    /// Executions per sample.
    pub(crate) repetitions: u32,
}

/// `n` samples at a temperature of the caches; fewer once `stop` returns true. `once` is the time of one
/// execution, if known.
pub(crate) fn sampled<E: Execution>(
    execution: &mut E,
    temperature: Temperature,
    n: usize,
    once: Option<f64>,
    stop: &dyn Fn() -> bool,
) -> Result<Samples, E::Error> {
    match temperature {
        Temperature::Hot => hot(execution, n, once, stop),
        Temperature::Cold => cold(execution, n, once, stop),
    }
}

/// `n` samples with warm caches, as left by the previous execution or, in place, by the reset;
/// fewer once `stop` returns true. `once` is the time of one execution, if known.
fn hot<E: Execution>(
    execution: &mut E,
    n: usize,
    once: Option<f64>,
    stop: &dyn Fn() -> bool,
) -> Result<Samples, E::Error> {
    let once = match once.filter(|&once| once > WARM_BY_ITSELF_S) {
        Some(once) => once,
        None => {
            // Untimed first: it may have to load the kernel.
            mean(execution, 1)?;
            mean(execution, 1)?
        }
    };
    let repetitions = (SHORTEST_SAMPLE_S / once.max(1e-7)).ceil().clamp(1.0, MOST_REPETITIONS);
    let repetitions = repetitions as u32;
    // The timed executions must compute the result again, whatever the warm-up left.
    execution.spoil()?;
    let seconds = collect(n, stop, || mean(execution, repetitions))?;
    Ok(Samples { seconds, repetitions })
}

/// Mean seconds of this many executions in a row, or, in place, each after a reset.
fn mean<E: Execution + ?Sized>(execution: &mut E, executions: u32) -> Result<f64, E::Error> {
    if !execution.is_in_place() {
        return Ok(execution.time(executions)? / f64::from(executions));
    }
    let mut total = 0.0;
    for _ in 0..executions {
        execution.reset()?;
        total += execution.time(1)?;
    }
    Ok(total / f64::from(executions))
}

/// `n` samples of one execution each, with the caches flushed before; fewer once `stop` returns
/// true.
fn cold<E: Execution>(
    execution: &mut E,
    n: usize,
    once: Option<f64>,
    stop: &dyn Fn() -> bool,
) -> Result<Samples, E::Error> {
    if once.is_none_or(|once| once <= WARM_BY_ITSELF_S) {
        // Loads the kernel, which happens on the first launch.
        flushed(execution)?;
    }
    execution.spoil()?;
    let seconds = collect(n, stop, || flushed(execution))?;
    Ok(Samples { seconds, repetitions: 1 })
}

/// Seconds of one execution with cold caches.
fn flushed<E: Execution>(execution: &mut E) -> Result<f64, E::Error> {
    execution.reset()?;
    execution.flush()?;
    execution.time(1)
}

fn collect<E>(
    n: usize,
    stop: &dyn Fn() -> bool,
    mut sample: impl FnMut() -> Result<f64, E>,
) -> Result<Vec<f64>, E> {
    let mut samples = Vec::with_capacity(n);
    while samples.len() < n && !stop() {
        samples.push(sample()?);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    /// Takes a fixed time per execution, ten times as long with cold caches, and records the calls.
    struct Noted {
        in_place: bool,
        seconds: f64,
        is_reset: bool,
        is_cold: bool,
        dirty: u32,
        executions: Vec<u32>,
        /// Number of executions before each spoiling.
        spoilt_after: Vec<usize>,
    }

    impl Noted {
        fn new(in_place: bool, seconds: f64) -> Self {
            let (is_reset, is_cold, dirty, executions, spoilt_after) = Default::default();
            Self { in_place, seconds, is_reset, is_cold, dirty, executions, spoilt_after }
        }
    }

    impl Execution for Noted {
        type Error = Infallible;
        fn is_in_place(&self) -> bool {
            self.in_place
        }
        fn reset(&mut self) -> Result<(), Infallible> {
            (self.is_reset, self.is_cold) = (true, false);
            Ok(())
        }
        fn spoil(&mut self) -> Result<(), Infallible> {
            self.spoilt_after.push(self.executions.len());
            Ok(())
        }
        fn flush(&mut self) -> Result<(), Infallible> {
            self.is_cold = true;
            Ok(())
        }
        fn time(&mut self, executions: u32) -> Result<f64, Infallible> {
            if !std::mem::take(&mut self.is_reset) || executions > 1 {
                self.dirty += 1;
            }
            self.executions.push(executions);
            let factor = if std::mem::take(&mut self.is_cold) { 10.0 } else { 1.0 };
            Ok(f64::from(executions) * factor * self.seconds)
        }
    }

    fn never() -> bool {
        false
    }

    #[test]
    fn short_executions_are_timed_in_groups_of_half_a_millisecond() {
        let mut noted = Noted::new(false, 1e-5);
        let samples = hot(&mut noted, 3, None, &never).unwrap();
        assert_eq!((samples.seconds, samples.repetitions), (vec![1e-5; 3], 50));
        assert_eq!(noted.executions, [1, 1, 50, 50, 50]);
        assert_eq!(hot(&mut Noted::new(false, 1e-12), 1, None, &never).unwrap().repetitions, 1000);
    }

    #[test]
    fn an_execution_in_place_is_timed_apart_and_never_without_a_reset() {
        let mut noted = Noted::new(true, 1e-4);
        let samples = hot(&mut noted, 2, None, &never).unwrap();
        assert_eq!((samples.seconds.len(), samples.repetitions), (2, 5));
        assert!(samples.seconds.iter().all(|s| (s - 1e-4).abs() < 1e-12), "{samples:?}");
        assert_eq!((noted.executions, noted.dirty), (vec![1; 12], 0));

        let mut noted = Noted::new(true, 1e-4);
        cold(&mut noted, 4, None, &never).unwrap();
        assert_eq!((noted.executions, noted.dirty), (vec![1; 5], 0));
    }

    #[test]
    fn cold_samples_are_single_executions_after_a_flush_that_no_reset_follows() {
        for in_place in [false, true] {
            let samples = cold(&mut Noted::new(in_place, 1e-5), 2, None, &never).unwrap();
            assert_eq!(samples, Samples { seconds: vec![1e-4; 2], repetitions: 1 });
        }
    }

    #[test]
    fn what_takes_longer_than_a_second_is_sampled_without_one_before() {
        for sample in [hot, cold] {
            let mut noted = Noted::new(false, 2.0);
            sample(&mut noted, 1, Some(2.0), &never).unwrap();
            assert_eq!(noted.executions, [1]);
        }
    }

    #[test]
    fn the_result_is_spoilt_after_the_warm_up_and_before_the_first_sample() {
        let spoilt_after = |sample: fn(&mut Noted) -> Result<Samples, Infallible>| {
            let mut noted = Noted::new(false, 2e-3);
            sample(&mut noted).unwrap();
            assert_eq!(noted.executions.len(), noted.spoilt_after[0] + 3);
            noted.spoilt_after
        };
        assert_eq!(spoilt_after(|noted| hot(noted, 3, None, &never)), [2]);
        assert_eq!(spoilt_after(|noted| cold(noted, 3, None, &never)), [1]);
        assert_eq!(spoilt_after(|noted| hot(noted, 3, Some(2.0), &never)), [0]);
        assert_eq!(spoilt_after(|noted| cold(noted, 3, Some(2.0), &never)), [0]);
    }

    #[test]
    fn stopping_ends_the_sampling() {
        let looks = Cell::new(0);
        let after_two = || looks.replace(looks.get() + 1) >= 2;
        let samples = hot(&mut Noted::new(false, 1e-3), 9, None, &after_two).unwrap();
        assert_eq!(samples.seconds.len(), 2);
    }
}
