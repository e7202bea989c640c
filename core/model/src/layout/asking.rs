//! How the kernel models report the loads and stores of a warp.

use super::array::{Array, element_bytes};
use super::request::{Direction, Lanes, Request};
use super::step::Sink;
use crate::kernel::LANES;
use sparsescope_matrix::matrix::{AnyFormat, Scalar};

/// Builds the requests of warps for SpMV on a matrix.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a, T>(pub(super) &'a AnyFormat<T>);

impl<T: Scalar> Asking<'_, T> {
    /// A load without active lanes.
    pub(super) fn load(self, array: Array) -> Request {
        Request::new(array, Direction::Load, element_bytes(self.0, array))
    }

    /// A store without active lanes.
    pub(super) fn store(self, array: Array) -> Request {
        Request::new(array, Direction::Store, element_bytes(self.0, array))
    }

    /// Lanes in `active` load the same element; does nothing if none is active.
    pub(super) fn same(self, array: Array, active: u32, index: u64, sink: &mut impl Sink) {
        if active != 0 {
            sink.request(&self.load(array).same(active, index));
        }
    }
}

/// Reports a request of the lanes for which `index` returns an element, if any.
pub(super) fn ask(
    mut request: Request,
    index: impl Fn(usize) -> Option<u64>,
    sink: &mut impl Sink,
) {
    for lane in 0..LANES as usize {
        if let Some(index) = index(lane) {
            request.set(lane, index);
        }
    }
    if request.active != 0 {
        sink.request(&request);
    }
}

/// Reports a request of the lanes in a mask.
pub(super) fn ask_of(
    mut request: Request,
    active: u32,
    index: impl Fn(usize) -> u64,
    sink: &mut impl Sink,
) {
    if active != 0 {
        Lanes(active).for_each(|lane| request.set(lane, index(lane)));
        sink.request(&request);
    }
}

/// The mask of the first `lanes` lanes, at most the whole warp.
pub(super) fn first_lanes(lanes: u64) -> u32 {
    match lanes {
        LANES.. => u32::MAX,
        lanes => (1 << lanes) - 1,
    }
}
