//! What the panel tells during a measurement: the kernels by rate so far, and the time left.

use std::collections::BTreeMap;
use std::time::Duration;

use sparsescope_core::order;
use sparsescope_core::record::{Figures, Metric, Operation, Run, Verdict, Work};

/// The rate of each kernel at the median of its samples so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates(BTreeMap<String, Metric>);

impl Rates {
    /// Takes the samples so far of a run.
    pub(super) fn sampled(&mut self, run: &Run, work: &Work) {
        let bytes = run.costs.minimal_bytes;
        let figures = Figures::from_samples(&run.samples, work.flops as f64, bytes);
        if let (Some(figures), Some(operation)) = (figures, Operation::of(&run.operation)) {
            let metric = operation.metric(work, figures.median_s);
            self.0.insert(run.kernel_and_precision(), metric);
        }
    }

    /// Takes a finished run; one without a rate is out of the ranking.
    pub(super) fn finished(&mut self, run: &Run) {
        let passed = run.check.verdict == Verdict::Pass;
        match run.metric.as_ref().filter(|_| passed) {
            Some(metric) => self.0.insert(run.kernel_and_precision(), metric.clone()),
            None => self.0.remove(&run.kernel_and_precision()),
        };
    }

    /// The kernels with their rates, the fastest first: SpMV is compared by throughput.
    pub(super) fn ranked(&self) -> Vec<(&str, &Metric)> {
        let mut all: Vec<(&str, &Metric)> =
            self.0.iter().map(|(kernel, rate)| (kernel.as_str(), rate)).collect();
        order::sort_by(&mut all, |(_, one), (_, other)| other.value.total_cmp(&one.value));
        all
    }
}

/// The time left if the rest of the samples takes as long as those so far; unknown before the first.
pub(super) fn left(spent: Duration, done: usize, total: usize) -> Option<Duration> {
    let ahead = total.checked_sub(done).filter(|_| done > 0)?;
    Some(spent.mul_f64(ahead as f64 / done as f64))
}

/// A time left in words.
pub(super) fn words_of(left: Option<Duration>) -> String {
    match left.map(|left| left.as_secs_f64().ceil() as u64) {
        None => "estimating the time left".to_owned(),
        Some(0..5) => "a few seconds left".to_owned(),
        Some(seconds @ 5..90) => format!("about {} s left", seconds.div_ceil(5) * 5),
        Some(seconds) => format!("about {} min left", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kernel: &str, precision: &str, samples: &[f64]) -> Run {
        Run {
            operation: "spmv".to_owned(),
            kernel: kernel.to_owned(),
            precision: precision.to_owned(),
            samples: samples.to_vec(),
            ..Run::default()
        }
    }

    #[test]
    fn kernels_are_ranked_by_their_samples_so_far_and_leave_when_they_fail() {
        let work = Work { flops: 2_000_000, ..Work::default() };
        let mut rates = Rates::default();
        let serial = run("cpu/csr/serial", "f64", &[2e-3]);
        rates.sampled(&run("wgpu/csr/vector", "f32", &[4e-3]), &work);
        rates.sampled(&serial, &work);
        rates.sampled(&run("cpu/hll/serial", "f64", &[8e-3]), &work);
        let names = |rates: &Rates| -> Vec<String> {
            rates.ranked().into_iter().map(|(kernel, _)| kernel.to_owned()).collect()
        };
        assert_eq!(names(&rates), ["cpu/csr/serial", "wgpu/csr/vector (f32)", "cpu/hll/serial"]);
        rates.sampled(&run("wgpu/csr/vector", "f32", &[4e-3, 1e-3, 1e-3]), &work);
        assert_eq!(names(&rates)[0], "wgpu/csr/vector (f32)");
        let (value, unit) = (rates.ranked()[0].1.value, rates.ranked()[0].1.unit.clone());
        assert!((value - 2.0).abs() < 1e-9 && unit == "GFLOPS", "{value} {unit}");
        rates.finished(&Run { metric: None, ..serial });
        assert_eq!(names(&rates), ["wgpu/csr/vector (f32)", "cpu/hll/serial"]);
    }

    #[test]
    fn the_time_left_is_that_of_the_samples_left() {
        let second = Duration::from_secs(1);
        assert_eq!(left(9 * second, 0, 30), None);
        assert_eq!(left(10 * second, 10, 30), Some(20 * second));
        assert_eq!(left(30 * second, 30, 30), Some(Duration::ZERO));
        assert_eq!(left(second, 31, 30), None, "more than was expected");
    }

    #[test]
    fn the_time_left_is_told_roughly() {
        let words = |seconds: f64| words_of(Some(Duration::from_secs_f64(seconds)));
        assert_eq!(words(0.0), "a few seconds left");
        assert_eq!(words(4.2), "about 5 s left");
        assert_eq!(words(38.0), "about 40 s left");
        assert_eq!(words(89.0), "about 90 s left");
        assert_eq!(words(95.0), "about 2 min left");
        assert_eq!(words(600.0), "about 10 min left");
        assert_eq!(words_of(None), "estimating the time left");
    }
}
