//! What the launchers of symmetric Gauss–Seidel are given, and what they give.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use sparsescope_core::experiment::{Groups, SymgsSide};
use sparsescope_core::matrix::Offset;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{History, Series};
use sparsescope_core::symgs::Mode;

use crate::arguments::Element;
use crate::buffer::Buffer;
use crate::cusparse::Cusparse;
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Step};
use crate::upload::{Offsets, Slots};
use crate::value::DeviceReal;

/// A·x = b on a device, A in CSR with offsets of one width.
pub(crate) struct System<'a, T, O> {
    pub(crate) device: &'a Device,
    pub(crate) side: &'a SymgsSide<T>,
    pub(crate) memory: MemoryLimit,
    pub(crate) library: Option<Rc<Cusparse>>,
    pub(crate) mode: Mode,
    pub(crate) row_ptr: &'a Buffer<O>,
    /// The same, whichever their width.
    pub(crate) offsets: &'a Offsets,
    pub(crate) slots: &'a Slots<T>,
    /// b, x before the first sweep, and x; an element a row.
    pub(crate) b: &'a Buffer<T>,
    pub(crate) start: &'a Buffer<T>,
    pub(crate) x: &'a Buffer<T>,
    pub(crate) rows: u32,
}

/// One of the two sweeps: from which vectors it reads, and into which it writes.
#[derive(Clone, Copy)]
pub(super) struct Vectors<'a, T> {
    pub(super) backward: u32,
    pub(super) rhs: &'a Buffer<T>,
    pub(super) old: &'a Buffer<T>,
    pub(super) new: &'a Buffer<T>,
}

/// The two sweeps, first x into `other`, then back.
pub(super) fn there_and_back<'a, T>(
    mode: Mode,
    b: &'a Buffer<T>,
    x: &'a Buffer<T>,
    other: &'a Buffer<T>,
) -> [Vectors<'a, T>; 2] {
    [(0, x, other), (1, other, x)].map(|(backward, old, new)| {
        let rhs = match mode {
            Mode::Smoother => old,
            Mode::Standard => b,
        };
        Vectors { backward, rhs, old, new }
    })
}

/// What kernels are given for a mode.
pub(super) fn smoother(mode: Mode) -> u32 {
    u32::from(mode == Mode::Smoother)
}

/// What the passes of one symmetric sweep did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Passes {
    /// Blocks that each pass launched.
    pub(super) launched: Vec<f64>,
    /// Those of them that had work.
    pub(super) with_work: Vec<f64>,
}

impl Passes {
    /// As a run keeps them. The host waits for the device once a pass.
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
    /// Seconds of finding what depends on what, of laying rows out, and of bringing b and x into the
    /// order of the rows and back.
    pub(crate) plan_s: f64,
    pub(crate) conversion_s: f64,
    pub(crate) permute_s: Option<f64>,
    /// Bytes of the matrix where it is not read in CSR.
    pub(crate) matrix_bytes: Option<u64>,
    /// Choices that were made for the matrix.
    pub(crate) params: BTreeMap<String, String>,
    /// What the rows were found to fall into.
    pub(crate) groups: Option<Groups>,
    /// What the passes of the last symmetric sweep did, for kernels that make any.
    pub(crate) passes: Option<Rc<RefCell<Passes>>>,
}

impl Sweeps {
    /// Sweeps that need no plan.
    pub(super) fn of(bound: Bound) -> Self {
        let (plan_s, conversion_s, permute_s, matrix_bytes) = Default::default();
        let (params, groups, passes) = Default::default();
        Self { bound, plan_s, conversion_s, permute_s, matrix_bytes, params, groups, passes }
    }

    /// The same with a choice that was made.
    pub(super) fn chosen(mut self, what: &str, choice: &str) -> Self {
        self.params.insert(what.to_owned(), choice.to_owned());
        self
    }
}

impl<T: DeviceReal, O: Offset + Element> System<'_, T, O> {
    /// Puts x back.
    pub(super) fn restore(&self) -> Vec<Step> {
        vec![Step::copy(self.x, self.start)]
    }
}

/// The rows as kernels count them: their last number stands for none.
pub(crate) fn row_count(rows: usize) -> Result<u32, DeviceError> {
    let (found, most) = (rows as u64, u64::from(u32::MAX) - 1);
    let rows = u32::try_from(found).ok().filter(|&rows| u64::from(rows) <= most);
    rows.ok_or(DeviceError::TooLarge { what: "the number of rows", found, most })
}
