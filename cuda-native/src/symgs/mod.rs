//! Launchers of symmetric Gauss–Seidel: for each kernel, the device steps of a forward and a
//! backward sweep.

mod colored;
mod levels;
mod nodes;
mod plan;
mod preconditioner;
mod ready;
mod slices;
mod sync_free;
mod system;
mod vendor;

use std::marker::PhantomData;

use sparsescope_core::matrix::Offset;

use crate::arguments::Element;
use crate::arrays::Offsets;
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, row_count};
use crate::kernels::LEAST_TO_WAIT;
use crate::launch::Bound;
use crate::value::DeviceReal;

pub use preconditioner::SymgsPreconditioner;
pub(crate) use system::{Iteration, Operands, Operator, Passes, Sweeps};

use system::System;

/// Why our sweeps cannot run on a device, if they cannot.
pub(crate) fn cannot_wait(device: &Device) -> Option<String> {
    let (major, minor) = device.properties().capability;
    let (first, second) = (LEAST_TO_WAIT / 10, LEAST_TO_WAIT % 10);
    (10 * major + minor < LEAST_TO_WAIT).then(|| {
        format!(
            "its threads wait for each other, which needs compute capability {first}.{second}; \
            this GPU has {major}.{minor}"
        )
    })
}

/// The result of binding a kernel.
type Made = Result<Sweeps, DeviceError>;

/// How a kernel is bound.
#[derive(Clone, Copy)]
enum Bind<T: 'static, O: 'static> {
    /// To any operator.
    Any(fn(&System<'_, T, O>) -> Made),
    /// To sweeps only.
    Sweeps(fn(&System<'_, T, O>, &Iteration<'_, T>) -> Made),
}

/// The launchers for a precision and an offset width.
struct Launchers<T, O>(PhantomData<(T, O)>);

impl<T: DeviceReal, O: Offset + Element> Launchers<T, O> {
    /// One per kernel of this backend, in the order of the descriptors.
    const ALL: &'static [(&'static str, Bind<T, O>)] = &[
        ("cuda/symgs/ready-done", Bind::Sweeps(ready::done)),
        ("cuda/symgs/ready-compact", Bind::Sweeps(ready::compact)),
        ("cuda/symgs/levels", Bind::Any(levels::bind)),
        ("cuda/symgs/sync-free", Bind::Any(sync_free::bind)),
        ("cuda/symgs/colored", Bind::Any(colored::bind)),
        ("cuda/symgs/nodes", Bind::Sweeps(nodes::bind)),
        ("vendor/cusparse/spsv", Bind::Sweeps(vendor::bind)),
    ];
}

/// Whether this crate has the kernel.
pub(crate) fn has(id: &str) -> bool {
    Launchers::<f64, u32>::ALL.iter().any(|&(known, _)| known == id)
}

/// Binds a kernel to a system; `None` if this crate does not have it, or not for the operator.
pub(crate) fn bind<T: DeviceReal>(id: &str, operands: &Operands<'_, T>) -> Option<Made> {
    match operands.offsets {
        Offsets::Narrow(row_ptr) => bind_in(id, operands, row_ptr),
        Offsets::Wide(row_ptr) => bind_in(id, operands, row_ptr),
    }
}

fn bind_in<T: DeviceReal, O: Offset + Element>(
    id: &str,
    operands: &Operands<'_, T>,
    row_ptr: &Buffer<O>,
) -> Option<Made> {
    let &(_, bind) = Launchers::<T, O>::ALL.iter().find(|(known, _)| *known == id)?;
    let rows = match row_count(operands.a.rows()) {
        Ok(rows) => rows,
        Err(error) => return Some(Err(error)),
    };
    let system = System { operands, row_ptr, rows };
    let nothing = || {
        // Nothing to do, and nothing that a device would accept.
        let bound = Bound { reset: operands.reset(), ..Bound::of(Vec::new()) };
        Ok(Sweeps::of(bound))
    };
    Some(match (bind, &operands.operator) {
        (Bind::Sweeps(_), Operator::ZeroStart(_)) => return None,
        _ if rows == 0 => nothing(),
        (Bind::Any(bind), _) => bind(&system),
        (Bind::Sweeps(bind), Operator::Sweeps(iteration)) => bind(&system, iteration),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, kernels};
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Symgs).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = Launchers::<f64, u32>::ALL.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn a_kernels_function_is_named_as_its_id_in_a_file_of_the_operation() {
        let sources: Vec<_> = crate::Family::ALL.iter().map(|family| family.source()).collect();
        for kernel in kernels(Operation::Symgs).iter().filter(|k| k.id.starts_with("cuda/")) {
            let (_, name) = kernel.id.split_once('/').unwrap();
            let function = name.replace(['/', '-'], "_");
            let with_it = |(file, source): &&(&str, &str)| {
                let named = source.lines().any(|line| {
                    line.starts_with("extern \"C\" __global__ void ") && line.contains(&function)
                });
                file.starts_with("symgs") && named && source.contains(kernel.id)
            };
            assert!(sources.iter().any(|source| with_it(&source)), "{function}");
        }
    }
}
