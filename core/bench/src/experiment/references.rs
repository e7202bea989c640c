//! Times of the reference kernel, to which those of other kernels are compared.

use std::collections::{BTreeMap, HashMap};

use super::configuration::{Configuration, Key};
use sparsescope_matrix::order;
use sparsescope_model::kernel::{DeviceKind, reference};
use sparsescope_record::{MOST_AMOUNT, Operation, Run};

/// The runs of an operation's reference on one subject, by configuration.
pub(super) struct References {
    kernel: &'static str,
    taken: BTreeMap<Key, Taken>,
}

/// Times in seconds.
#[derive(Clone, Copy)]
struct Taken {
    median_s: f64,
    /// Conversion and plan; those of the reference have to be paid in any case.
    cost_s: f64,
}

impl Taken {
    /// `None` for a run without figures, or whose times cannot be compared with others.
    fn by(run: &Run) -> Option<Self> {
        if !run.ranks() {
            return None;
        }
        let cost_s = run.costs.conversion_s + run.costs.plan_s;
        Some(Self { median_s: run.figures.as_ref()?.median_s, cost_s })
    }
}

impl References {
    /// The references among runs measured earlier.
    pub(super) fn among(measured: &[Run], operation: Operation) -> Self {
        let kernel = reference(operation).id;
        let of_reference = measured.iter().filter(|run| run.kernel == kernel);
        let taken = of_reference.filter_map(|run| Some((Key::of(run), Taken::by(run)?)));
        Self { kernel, taken: order::map(taken) }
    }

    /// Writes a run's gain over the reference into it; a run of the reference itself is stored first. A run
    /// without figures stays unchanged.
    pub(super) fn compare(&mut self, configuration: &Configuration, run: &mut Run) {
        let Some(of_run) = Taken::by(run) else { return };
        if run.kernel == self.kernel {
            self.taken.insert(configuration.key(), of_run);
        }
        let Some(serial) = self.taken.get(&configuration.reference_key()) else { return };
        set_gain(run, of_run, *serial);
    }
}

/// Writes the gain over the reference's `serial` into a run that took `of_run`.
fn set_gain(run: &mut Run, of_run: Taken, serial: Taken) {
    let Some(figures) = run.figures.as_mut() else { return };
    let is_cpu = run.backend == DeviceKind::Cpu.as_str();
    figures.set_serial(serial.median_s, is_cpu.then_some(run.threads));
    let gain = serial.median_s - figures.median_s;
    let cost = (of_run.cost_s - serial.cost_s).max(0.0);
    let executions = (gain > 0.0).then(|| (cost / gain).ceil());
    run.costs.break_even = executions.filter(|executions| *executions <= MOST_AMOUNT);
}

/// Computes missing speed-ups of runs whose reference was measured into another bundle, from the reference's
/// run on the same subject among `runs`. That run counts only if `is_alike` says that measurements in the two
/// environments, given by id, are comparable.
pub fn relate(runs: &mut [Run], is_alike: impl Fn(&str, &str) -> bool) {
    let mut taken: HashMap<(String, Key), (String, Taken)> = HashMap::new();
    for run in runs.iter() {
        let is_reference =
            Operation::of(&run.operation).is_some_and(|of| reference(of).id == run.kernel);
        if let (true, Some(of_run)) = (is_reference, Taken::by(run)) {
            let key = (run.matrix.clone(), Key::of(run));
            taken.insert(key, (run.environment.clone(), of_run));
        }
    }
    for run in runs.iter_mut() {
        let Some(operation) = Operation::of(&run.operation) else { continue };
        let lacks = run.figures.as_ref().is_some_and(|figures| figures.speedup.is_none());
        let (true, Some(of_run)) = (lacks, Taken::by(run)) else { continue };
        let key = (run.matrix.clone(), Key::of(run).of_reference(operation));
        if let Some((environment, serial)) = taken.get(&key)
            && is_alike(environment, &run.environment)
        {
            set_gain(run, of_run, *serial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_record::{Check, Figures, Verdict};

    #[test]
    fn a_solve_that_rounding_limits_is_no_reference_and_gains_nothing_over_one() {
        let solved = |kernel: &str, seconds: f64, limited_by_rounding: bool| Run {
            operation: "solve".into(),
            kernel: kernel.into(),
            precision: "f64".into(),
            backend: "cpu".into(),
            threads: 1,
            hot: true,
            check: Check { verdict: Verdict::Pass, limited_by_rounding, ..Check::default() },
            figures: Figures::from_samples(&[seconds; 3], 0.0, 0),
            ..Run::default()
        };
        let serial = reference(Operation::Solve).id;
        let gains = |limited: [bool; 2]| {
            let [of_serial, of_other] = limited;
            let mut runs =
                [solved(serial, 4.0, of_serial), solved("cpu/pcg/threads", 1.0, of_other)];
            relate(&mut runs, |_, _| true);
            let figures = runs[1].figures.as_ref().unwrap();
            (figures.speedup, runs[1].costs.break_even)
        };
        assert_eq!(gains([false, false]), (Some(4.0), Some(0.0)));
        assert_eq!([gains([true, false]), gains([false, true])], [(None, None); 2]);
    }
}
