//! The thesis's method: the CPU gathers the dense systems in batches, and the device solves them.

use std::ops::Range;

use sparsescope_core::fsai::packed_systems;
use sparsescope_core::matrix::Offset;

use super::classes::packed;
use super::error::FsaiSetUpError;
use super::factor::DeviceFactor;
use super::matrix::Matrix;
use super::phases::Phases;
use super::queue::Queue;
use super::request::Request;
use super::solver::{Dense, Solver};
use super::systems::Systems;
use crate::arguments::Element;
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::setup::Setup;

/// Maximum numbers per batch, unless one system has more.
const BATCH: u64 = 32 << 20;

/// What the CPU gathers from: the start and number of each system's columns, all columns, and the
/// systems in order.
struct OnHost {
    begin: Vec<u32>,
    len: Vec<u32>,
    col: Vec<u32>,
    order: Vec<u32>,
}

impl OnHost {
    fn of(setup: &Setup<'_>, systems: &Systems, queue: &Queue) -> Result<Self, DeviceError> {
        let device = setup.device();
        Ok(Self {
            begin: systems.begin.to_host(device)?,
            len: systems.len.to_host(device)?,
            col: systems.col.to_host(device)?,
            order: queue.order.to_host(device)?,
        })
    }

    /// The columns of the system at a place in the order.
    fn columns(&self, place: u32) -> &[u32] {
        let number = |of: &[u32], k: u32| of.get(k as usize).copied().unwrap_or(0) as usize;
        let system = number(&self.order, place) as u32;
        let begin = number(&self.begin, system);
        self.col.get(begin..begin + number(&self.len, system)).unwrap_or_default()
    }

    /// Numbers of its packed triangle.
    fn numbers(&self, place: u32) -> u64 {
        packed(self.columns(place).len() as u64)
    }
}

/// G, or `None` when cancelled.
pub(super) fn solved<O: Offset + Element>(
    phases: &mut Phases<'_>,
    request: &Request<'_>,
    a: &Matrix<'_, O>,
    systems: &Systems,
    queue: &Queue,
) -> Result<Option<DeviceFactor>, FsaiSetUpError> {
    let device = phases.device();
    let setup = Setup::new(device);
    let host = phases.on_host("transfer", || OnHost::of(&setup, systems, queue))?;
    let solver = Solver::new(&setup, a, systems, queue)?;
    for class in 0..=queue.classes.len() {
        for range in batches(queue.class(class), BATCH, |place| host.numbers(place)) {
            if (request.cancelled)() {
                return Ok(None);
            }
            let (ptr, triangles) = phases.on_host("gather", || gathered(request, &host, &range))?;
            let dense = phases.on_host("transfer", || {
                let what = "gathered systems";
                let ptr = Buffer::of(device, what, &ptr)?;
                Ok::<_, DeviceError>(Dense {
                    ptr,
                    triangles: Buffer::of(device, what, &triangles)?,
                })
            })?;
            phases.on_host("values", || {
                solver.solve(class, range, Some(&dense))?;
                device.synchronize()
            })?;
        }
    }
    solver.finished().map(Some)
}

/// Where each of these systems begins, and their packed triangles.
fn gathered(
    request: &Request<'_>,
    host: &OnHost,
    range: &Range<u32>,
) -> Result<(Vec<u64>, Vec<f64>), FsaiSetUpError> {
    let mut ptr = Vec::with_capacity(range.len());
    let mut numbers = 0;
    for place in range.clone() {
        ptr.push(numbers);
        numbers += host.numbers(place);
    }
    let memory = request.limit.check("gathered systems", 8 * u128::from(numbers));
    memory.map_err(sparsescope_core::fsai::FsaiError::from)?;
    let mut triangles = vec![0.0; numbers as usize];
    let mut rest = triangles.as_mut_slice();
    let mut parts = Vec::with_capacity(range.len());
    for place in range.clone() {
        let (own, after) = rest.split_at_mut(host.numbers(place) as usize);
        rest = after;
        parts.push((host.columns(place), own));
    }
    packed_systems(request.a, request.parameters.shift, parts);
    Ok((ptr, triangles))
}

/// Splits a range of places into parts, each a single place or several with at most `most` numbers
/// in total.
fn batches(range: Range<u32>, most: u64, numbers: impl Fn(u32) -> u64) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = Vec::new();
    let mut sum = 0;
    for place in range {
        let own = numbers(place);
        match all.last_mut() {
            Some(last) if sum + own <= most => {
                last.end = place + 1;
                sum += own;
            }
            _ => {
                all.push(place..place + 1);
                sum = own;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_and_have_every_system_once() {
        assert_eq!(batches(3..3, 10, |_| 1), []);
        assert_eq!(batches(0..7, 3, |_| 1), [0..3, 3..6, 6..7]);
        // A system larger than a batch gets its own.
        assert_eq!(
            batches(2..6, 10, |place| [0, 0, 4, 30, 5, 5][place as usize]),
            [2..3, 3..4, 4..6]
        );
    }
}
