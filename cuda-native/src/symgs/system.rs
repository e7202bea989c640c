//! Inputs and outputs of the launchers of symmetric Gauss–Seidel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{History, Series};
use sparsescope_core::symgs::{Mode, ZeroStart};

use crate::arrays::{Offsets, Slots};
use crate::buffer::Buffer;
use crate::cusparse::Cusparse;
use crate::device::Device;
use crate::guarded::Written;
use crate::launch::{Bound, Step};
use crate::value::DeviceReal;

/// A·x = b on a device, with A in CSR and a full diagonal.
pub(crate) struct Operands<'a, T> {
    pub(crate) device: &'a Device,
    pub(crate) a: &'a Csr<T>,
    pub(crate) memory: MemoryLimit,
    pub(crate) library: Option<Rc<Cusparse>>,
    pub(crate) operator: Operator<'a, T>,
    pub(crate) offsets: &'a Offsets,
    pub(crate) slots: &'a Slots<T>,
    /// One element per row each.
    pub(crate) b: &'a Buffer<T>,
    pub(crate) x: &'a Buffer<T>,
}

/// The same with the offsets in their width, and the number of rows as kernels count them.
pub(crate) struct System<'a, T, O> {
    pub(super) operands: &'a Operands<'a, T>,
    pub(super) row_ptr: &'a Buffer<O>,
    pub(super) rows: u32,
}

impl<'a, T, O> Deref for System<'a, T, O> {
    type Target = Operands<'a, T>;

    fn deref(&self) -> &Operands<'a, T> {
        self.operands
    }
}

/// What is computed into x.
#[derive(Clone, Copy)]
pub(crate) enum Operator<'a, T> {
    /// Sweeps applied to x.
    Sweeps(Iteration<'a, T>),
    /// M⁻¹·b; the previous x is not read.
    ZeroStart(ZeroStart),
}

/// Sweeps in a mode; x starts as `start`.
#[derive(Clone, Copy)]
pub(crate) struct Iteration<'a, T> {
    pub(crate) mode: Mode,
    pub(crate) start: &'a Buffer<T>,
}

/// One of the two sweeps: the vectors it reads and those it writes.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'a, T> {
    pub(super) backward: u32,
    pub(super) rhs: &'a Buffer<T>,
    /// Read by sweeps that do not start from zero.
    pub(super) old: &'a Buffer<T>,
    /// Written by the first one of the exact form from zero.
    pub(super) sums: &'a Buffer<T>,
    pub(super) new: &'a Buffer<T>,
}

impl<T> Operator<'_, T> {
    /// The two sweeps, with `other` as the vector between them: x into it, then back. From zero it
    /// holds the start of the second one.
    pub(super) fn there_and_back<'a>(
        &self,
        b: &'a Buffer<T>,
        x: &'a Buffer<T>,
        other: &'a Buffer<T>,
    ) -> [Vectors<'a, T>; 2] {
        let vectors = |backward, rhs, old, new| Vectors { backward, rhs, old, sums: other, new };
        match self {
            Self::Sweeps(iteration) => match iteration.mode {
                Mode::Smoother => [vectors(0, x, x, other), vectors(1, other, other, x)],
                Mode::Standard => [vectors(0, b, x, other), vectors(1, b, other, x)],
            },
            Self::ZeroStart(form) => {
                let first = match form {
                    ZeroStart::Exact => x,
                    ZeroStart::Half => other,
                };
                [vectors(0, b, b, first), vectors(1, other, other, x)]
            }
        }
    }

    /// The kernels' code for it.
    pub(super) fn form(&self) -> u32 {
        match self {
            Self::Sweeps(Iteration { mode: Mode::Standard, .. }) => 0,
            Self::Sweeps(Iteration { mode: Mode::Smoother, .. }) => 1,
            Self::ZeroStart(ZeroStart::Exact) => 2,
            Self::ZeroStart(ZeroStart::Half) => 3,
        }
    }
}

/// What the passes of one symmetric sweep did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Passes {
    /// Blocks launched by each pass.
    pub(super) launched: Vec<f64>,
    /// Number of them that had work.
    pub(super) with_work: Vec<f64>,
}

impl Passes {
    /// As stored in a run. The host waits for the device once per pass.
    pub(crate) fn history(&self) -> History {
        let series = |name: &str, values: &[f64]| {
            let (name, values, step) = (name.to_owned(), values.to_vec(), Some("pass".to_owned()));
            Series { name, values, every: 1, step }
        };
        let launched = series("blocks launched", &self.launched);
        let with_work = series("blocks with work", &self.with_work);
        History { step: "pass".to_owned(), series: vec![launched, with_work] }
    }
}

/// Sweeps bound to a system.
pub(crate) struct Sweeps {
    pub(crate) bound: Bound,
    /// Seconds of dependency analysis, of laying out rows, and of permuting b and x into row order
    /// and back.
    pub(crate) plan_s: f64,
    pub(crate) conversion_s: f64,
    pub(crate) permute_s: Option<f64>,
    /// Bytes of the matrix if it is not read in CSR.
    pub(crate) matrix_bytes: Option<u64>,
    /// Parameters chosen for the matrix.
    pub(crate) params: BTreeMap<String, String>,
    /// The groups that the rows form.
    pub(crate) groups: Option<Groups>,
    /// What the passes of the last symmetric sweep did, for kernels that make passes.
    pub(crate) passes: Option<Rc<RefCell<Passes>>>,
    /// x between the two halves of the last symmetric sweep, for kernels that add the terms of a
    /// row in another order than the serial loops.
    pub(crate) between: Option<Box<dyn Written>>,
}

impl Sweeps {
    /// Sweeps that need no plan.
    pub(super) fn of(bound: Bound) -> Self {
        let (plan_s, conversion_s, permute_s, matrix_bytes) = Default::default();
        let (params, groups, passes, between) = Default::default();
        Self {
            bound,
            plan_s,
            conversion_s,
            permute_s,
            matrix_bytes,
            params,
            groups,
            passes,
            between,
        }
    }

    /// The same with a chosen parameter.
    pub(super) fn chosen(mut self, what: &str, choice: &str) -> Self {
        self.params.insert(what.to_owned(), choice.to_owned());
        self
    }
}

impl<T: DeviceReal> Operands<'_, T> {
    /// Undoes the changes of sweeps.
    pub(super) fn reset(&self) -> Vec<Step> {
        match &self.operator {
            Operator::Sweeps(iteration) => vec![Step::copy(self.x, iteration.start)],
            Operator::ZeroStart(_) => Vec::new(),
        }
    }
}
