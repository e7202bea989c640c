//! What runs of the reference kernel took, to which those of other kernels are compared.

use std::collections::BTreeMap;

use super::configuration::{Configuration, Key};
use crate::kernel::{DeviceKind, reference};
use crate::record::{MOST_AMOUNT, Operation, Run};

/// The runs of an operation's reference on one subject, by their configuration.
pub(super) struct References {
    kernel: &'static str,
    taken: BTreeMap<Key, Taken>,
}

/// Seconds.
#[derive(Clone, Copy)]
struct Taken {
    median_s: f64,
    /// Conversion and plan; those of the reference have to be paid in any case.
    cost_s: f64,
}

impl Taken {
    /// None of a run without figures.
    fn by(run: &Run) -> Option<Self> {
        let cost_s = run.costs.conversion_s + run.costs.plan_s;
        Some(Self { median_s: run.figures.as_ref()?.median_s, cost_s })
    }
}

impl References {
    /// Those among runs that were measured before.
    pub(super) fn among(measured: &[Run], operation: Operation) -> Self {
        let kernel = reference(operation).id;
        let of_reference = measured.iter().filter(|run| run.kernel == kernel);
        let taken = of_reference.filter_map(|run| Some((Key::of(run), Taken::by(run)?))).collect();
        Self { kernel, taken }
    }

    /// Writes into a run what it gains over the reference; one of the reference itself is kept first.
    /// Without figures it stays as it is.
    pub(super) fn compare(&mut self, configuration: &Configuration, run: &mut Run) {
        let Some(of_run) = Taken::by(run) else { return };
        if run.kernel == self.kernel {
            self.taken.insert(configuration.key(), of_run);
        }
        let Some(serial) = self.taken.get(&configuration.reference_key()) else { return };
        let Some(figures) = run.figures.as_mut() else { return };
        let is_cpu = configuration.kernel.device == DeviceKind::Cpu;
        figures.set_serial(serial.median_s, is_cpu.then_some(configuration.threads));
        let gain = serial.median_s - figures.median_s;
        let cost = (of_run.cost_s - serial.cost_s).max(0.0);
        let executions = (gain > 0.0).then(|| (cost / gain).ceil());
        run.costs.break_even = executions.filter(|executions| *executions <= MOST_AMOUNT);
    }
}
