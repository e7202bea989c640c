//! What computes a rank's rows elsewhere than in its processor: a device of its own, in step with those of all
//! other ranks, which pass one another what they need without the ranks' processors.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::solving::Applied;
use crate::distributed::{ExchangePlan, LocalMatrix};
use crate::memory::MemoryLimit;
use crate::pcg::{OperatorFormat, Recurrence, SolveParameters};

/// Elements of a vector, by their places in it.
pub type Elements = Arc<dyn Fn(Range<u64>) -> Vec<f64> + Send + Sync>;

/// What a rank has of a matrix, and what it sends before a product.
pub type RankRows = (LocalMatrix, ExchangePlan);

/// A device of each rank. All ranks ask theirs for the same in the same order. What an error says is known to its
/// rank alone, unless it is [`Alike`](DeviceFailure::Alike).
pub trait RankDevice: Send + Sync {
    /// What runs tell of where they were measured.
    fn model(&self) -> &str;

    /// y = A·x by a kernel of this id, x being given by the places of its elements. Waits for no other rank.
    fn product(
        &self,
        kernel: &'static str,
        rows: RankRows,
        x: Elements,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceProduct>, String>;

    /// Conjugate gradients. Waits for no other rank.
    fn solver(
        &self,
        rows: RankRows,
        system: DeviceSystem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceSolver>, String>;
}

/// What is to be solved, beside the matrix.
#[derive(Clone)]
pub struct DeviceSystem {
    /// The right-hand side.
    pub b: Elements,
    /// What a solve begins with, where that is given.
    pub start: Option<Elements>,
    /// The preconditioner: none or the diagonal's.
    pub applied: Applied,
    /// How A is multiplied.
    pub format: OperatorFormat,
    /// When to end, and what to begin with.
    pub how: Arc<SolveParameters>,
}

/// What it took to make a rank's rows ready on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceCosts {
    /// Seconds of bringing rows into the format.
    pub conversion_s: f64,
    /// Seconds of finding memory.
    pub allocate_s: f64,
    /// Seconds of copying to the device.
    pub upload_s: f64,
    /// Seconds of finding what the preconditioner applies.
    pub preconditioner_s: f64,
    /// Bytes of the arrays that a product goes through, vectors left out.
    pub bytes: u64,
}

/// Why a device did not do what all ranks were at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFailure {
    /// In a sentence that every rank has.
    Alike(String),
    /// In a sentence of this rank, which the others may be waiting for.
    Own(String),
}

/// A rank's part of a product.
pub trait DeviceProduct: Send {
    /// What making it ready took.
    fn costs(&self) -> DeviceCosts;

    /// Fills y with what no kernel gives.
    fn spoil(&mut self) -> Result<(), String>;

    /// Executes so often in a row with all other ranks; seconds of all of it, from when all have come.
    fn run(&mut self, times: u32) -> Result<f64, DeviceFailure>;

    /// Seconds of multiplying all rows and of packing the halo while nobody sends anything; all ranks are at it.
    fn apart(&mut self) -> Result<[f64; 2], DeviceFailure>;

    /// The rank's part of y in the order of the whole matrix.
    fn y(&mut self) -> Result<Vec<f64>, String>;
}

/// A rank's part of a solver.
pub trait DeviceSolver: Send {
    /// What making it ready took.
    fn costs(&self) -> DeviceCosts;

    /// Tries an iteration, with all other ranks, before anything is measured. What runs should tell of how
    /// iterations are launched, where that is not as usual.
    fn rehearse(&mut self) -> Result<Option<String>, DeviceFailure>;

    /// Solves with all other ranks; seconds, or nothing where any rank was told to stop.
    fn solve(&mut self, cancel: &AtomicBool) -> Result<Option<f64>, DeviceFailure>;

    /// What came of the last solve, x being the rank's part in the order of the whole matrix.
    fn solved(&mut self) -> Result<Recurrence, String>;
}
