//! A device that computes a rank's rows instead of its CPU. It runs in step with the devices of all other
//! ranks; they exchange data without the CPUs of the ranks.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_kernels::pcg::{OperatorFormat, Recurrence, SolveParameters};
use sparsescope_matrix::distributed::{ExchangePlan, LocalMatrix};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::Applied;

/// Elements of a vector, by index range.
pub type Elements = Arc<dyn Fn(Range<u64>) -> Vec<f64> + Send + Sync>;

/// A rank's part of a matrix, and what it sends before an SpMV.
pub type RankRows = (LocalMatrix, ExchangePlan);

/// The device of a rank. All ranks make the same calls in the same order. An error is known only to its own
/// rank, unless it is [`Alike`](DeviceFailure::Alike).
pub trait RankDevice: Send + Sync {
    /// Device model that runs report.
    fn model(&self) -> &str;

    /// y = A·x with the kernel of this id, with x given by index range. Does not wait for other ranks.
    fn product(
        &self,
        kernel: &'static str,
        rows: RankRows,
        x: Elements,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceProduct>, String>;

    /// Conjugate gradients. Does not wait for other ranks.
    fn solver(
        &self,
        rows: RankRows,
        system: DeviceSystem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceSolver>, String>;
}

/// The system to solve, besides the matrix.
#[derive(Clone)]
pub struct DeviceSystem {
    /// The right-hand side.
    pub b: Elements,
    /// The initial guess, if given.
    pub start: Option<Elements>,
    /// The preconditioner: none or the diagonal.
    pub applied: Applied,
    /// The format of A.
    pub format: OperatorFormat,
    /// Stopping criteria and initial values.
    pub how: Arc<SolveParameters>,
}

/// Costs of preparing a rank's rows on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceCosts {
    /// Seconds of converting rows into the format.
    pub conversion_s: f64,
    /// Seconds of allocating memory.
    pub allocate_s: f64,
    /// Seconds of copying to the device.
    pub upload_s: f64,
    /// Seconds of setting up the preconditioner.
    pub preconditioner_s: f64,
    /// Bytes of the arrays that an SpMV reads, without vectors.
    pub bytes: u64,
}

/// Why a device did not complete a collective operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFailure {
    /// A reason known to every rank.
    Alike(String),
    /// A reason known to this rank only, for which the others may be waiting.
    Own(String),
}

/// A rank's part of an SpMV.
pub trait DeviceProduct: Send {
    /// Costs of preparation.
    fn costs(&self) -> DeviceCosts;

    /// Fills y with a value that no kernel computes.
    fn spoil(&mut self) -> Result<(), String>;

    /// Executes `times` times in a row with all other ranks; returns the total seconds, from when all have
    /// arrived.
    fn run(&mut self, times: u32) -> Result<f64, DeviceFailure>;

    /// Seconds of multiplying all rows and of packing the halo without sending anything; all ranks call it
    /// together.
    fn apart(&mut self) -> Result<[f64; 2], DeviceFailure>;

    /// The rank's part of y in the row order of the whole matrix.
    fn y(&mut self) -> Result<Vec<f64>, String>;
}

/// A rank's part of a solver.
pub trait DeviceSolver: Send {
    /// Costs of preparation.
    fn costs(&self) -> DeviceCosts;

    /// Runs one untimed iteration with all other ranks. Returns a note for the runs if iterations are not
    /// launched the usual way.
    fn rehearse(&mut self) -> Result<Option<String>, DeviceFailure>;

    /// Solves with all other ranks; returns seconds, or `None` if any rank was cancelled.
    fn solve(&mut self, cancel: &AtomicBool) -> Result<Option<f64>, DeviceFailure>;

    /// Result of the last solve, with x being the rank's part in the row order of the whole matrix.
    fn solved(&mut self) -> Result<Recurrence, String>;
}
