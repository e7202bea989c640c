//! How the models of kernels tell of the loads and stores of a warp.

use super::array::{Array, element_bytes};
use super::request::{Direction, Lanes, Request};
use super::step::Sink;
use crate::kernel::LANES;
use crate::matrix::{AnyFormat, Scalar};

/// What the warps of a product on a matrix ask for.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a, T>(pub(super) &'a AnyFormat<T>);

impl<T: Scalar> Asking<'_, T> {
    /// A load that no lane takes part in yet.
    pub(super) fn load(self, array: Array) -> Request {
        Request::new(array, Direction::Load, element_bytes(self.0, array))
    }

    /// A store that no lane takes part in yet.
    pub(super) fn store(self, array: Array) -> Request {
        Request::new(array, Direction::Store, element_bytes(self.0, array))
    }

    /// The lanes of `active` load the same element, if there is any.
    pub(super) fn same(self, array: Array, active: u32, index: u64, sink: &mut impl Sink) {
        if active != 0 {
            sink.request(&self.load(array).same(active, index));
        }
    }
}

/// Tells of a request of the lanes that `index` gives an element for, if there is any.
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

/// Tells of a request of the lanes of a mask.
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

/// The mask of the first lanes, of which there are `lanes`, or all of a warp where that is more.
pub(super) fn first_lanes(lanes: u64) -> u32 {
    match lanes {
        LANES.. => u32::MAX,
        lanes => (1 << lanes) - 1,
    }
}
