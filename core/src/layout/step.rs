//! One step of a warp, and who is told of steps.

use super::request::Request;
use crate::kernel::{Access, LANES};

/// What a step of a warp is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// The block's part of x is copied to shared memory.
    Fill,
    /// What is loaded before the loop: row pointers, lengths, hack offsets.
    Start,
    /// One step of the loop over slots or entries, numbered from 0.
    Loop(u64),
    /// The sum is stored.
    End,
}

/// What a lane works on in a step: the slot that it reads and the row whose sum it enters.
pub type LaneWork = Access;

/// One step of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is for.
    pub kind: StepKind,
    /// What each lane works on; absent for idle lanes, and outside loops over slots.
    pub lanes: [Option<LaneWork>; LANES as usize],
    /// The loads and stores of the warp, in order.
    pub requests: Vec<Request>,
}

/// What the model of a warp is told to.
pub(super) trait Sink {
    /// A step begins.
    fn step(&mut self, kind: StepKind);
    /// A lane works on a slot in this step.
    fn lane(&mut self, lane: usize, access: Access);
    /// The warp loads or stores in this step; at least one lane is active.
    fn request(&mut self, request: &Request);
}
