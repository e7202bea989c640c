//! The launchers of symmetric Gauss–Seidel: for each kernel, what a sweep there and one back ask of the
//! device.

mod colored;
mod levels;
mod plan;
mod ready;
mod setup;
mod slices;
mod sync_free;
mod system;
mod vendor;

use std::marker::PhantomData;

use sparsescope_core::matrix::Offset;

use crate::arguments::Element;
use crate::device::DeviceError;
use crate::launch::{Bound, Step};
use crate::value::DeviceReal;

pub(crate) use system::{Passes, Sweeps, System, row_count};

/// How a kernel is bound.
type Bind<T, O> = fn(&System<'_, T, O>) -> Result<Sweeps, DeviceError>;

/// The launchers in a precision, for offsets of a width.
struct Launchers<T, O>(PhantomData<(T, O)>);

impl<T: DeviceReal, O: Offset + Element> Launchers<T, O> {
    /// One for each kernel of this backend, in the descriptors' order.
    const ALL: &'static [(&'static str, Bind<T, O>)] = &[
        ("cuda/symgs/ready-done", ready::done),
        ("cuda/symgs/ready-compact", ready::compact),
        ("cuda/symgs/levels", levels::bind),
        ("cuda/symgs/sync-free", sync_free::bind),
        ("cuda/symgs/colored", colored::bind),
        ("vendor/cusparse/spsv", vendor::bind),
    ];
}

/// Whether this crate has the kernel.
pub(crate) fn has(id: &str) -> bool {
    Launchers::<f64, u32>::ALL.iter().any(|&(known, _)| known == id)
}

/// Binds a kernel to a system; none where this crate does not have it.
pub(crate) fn bind<T: DeviceReal, O: Offset + Element>(
    id: &str,
    system: &System<'_, T, O>,
) -> Option<Result<Sweeps, DeviceError>> {
    let &(_, bind) = Launchers::<T, O>::ALL.iter().find(|(known, _)| *known == id)?;
    if system.rows == 0 {
        // Nothing to do, and nothing that a device would take.
        let reset = vec![Step::copy(system.x, system.start)];
        return Some(Ok(Sweeps::of(Bound { reset, ..Bound::of(Vec::new()) })));
    }
    Some(bind(system))
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
