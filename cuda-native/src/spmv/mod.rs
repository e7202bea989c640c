//! The launchers of y = A·x: for each kernel, what one product asks of the device.

mod operands;
mod ours;
mod user;
mod vendor;

use std::marker::PhantomData;

use crate::cusparse::Algorithm;
use crate::device::DeviceError;
use crate::launch::Bound;
use crate::value::DeviceReal;

pub(crate) use operands::Operands;
pub(crate) use user::user_launcher;
pub(crate) use vendor::bind as bind_cusparse;

/// How a kernel is bound.
pub(crate) enum Bind<T: 'static> {
    /// By launches of our own.
    Kernel(fn(&Operands<'_, T>) -> Result<Bound, DeviceError>),
    /// By cuSPARSE.
    Cusparse(Algorithm),
}

/// The launchers in a precision.
struct Launchers<T>(PhantomData<T>);

impl<T: DeviceReal> Launchers<T> {
    /// One for each kernel of this backend, in the descriptors' order.
    const ALL: &'static [(&'static str, Bind<T>)] = &[
        ("cuda/csr/thread-per-row", Bind::Kernel(ours::csr)),
        ("cuda/csr/warp-shuffle", Bind::Kernel(ours::csr)),
        ("cuda/csr/warp-shared", Bind::Kernel(ours::csr_shared)),
        ("cuda/csr/warp-ldg", Bind::Kernel(ours::csr)),
        ("cuda/csr/vector-mining", Bind::Kernel(ours::csr_shared)),
        ("cuda/ell/thread-per-row", Bind::Kernel(ours::ell)),
        ("cuda/ell/column-major", Bind::Kernel(ours::ell)),
        ("cuda/hll/thread-per-hack", Bind::Kernel(ours::hll)),
        ("cuda/hll/thread-per-row", Bind::Kernel(ours::hll)),
        ("cuda/hll/shared-x", Bind::Kernel(ours::hll)),
        ("cuda/hll/warp-per-row", Bind::Kernel(ours::hll)),
        ("cuda/coo/segmented", Bind::Kernel(ours::coo)),
        ("cuda/hyb/ell-coo", Bind::Kernel(ours::hyb)),
        ("vendor/cusparse/csr-alg1", Bind::Cusparse(Algorithm::Csr1)),
        ("vendor/cusparse/csr-alg2", Bind::Cusparse(Algorithm::Csr2)),
        ("vendor/cusparse/coo", Bind::Cusparse(Algorithm::Coo1)),
        ("vendor/cusparse/sell", Bind::Cusparse(Algorithm::Sell1)),
    ];
}

/// The launcher of a kernel.
pub(crate) fn launcher<T: DeviceReal>(id: &str) -> Option<&'static Bind<T>> {
    Launchers::ALL.iter().find(|(known, _)| *known == id).map(|(_, bind)| bind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, Mapping, kernels};
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = Launchers::<f64>::ALL.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn vendors_kernels_are_bound_to_a_library_and_the_others_to_a_grid() {
        for (id, bind) in Launchers::<f64>::ALL {
            let kernel = sparsescope_core::kernel::kernel(id).unwrap();
            let on_grid = matches!(kernel.mapping, Mapping::Grid(_));
            assert_eq!(matches!(bind, Bind::Kernel(_)), on_grid, "{id}");
        }
    }

    #[test]
    fn a_kernels_function_is_in_the_file_of_its_format() {
        for kernel in kernels(Operation::Spmv).iter().filter(|k| k.id.starts_with("cuda/")) {
            let (_, name) = kernel.id.split_once('/').unwrap();
            let sources = crate::Family::ALL.map(|family| family.source());
            // HYB is made of two: the ELLPACK part's kernel and COO's.
            let names = match name {
                "hyb/ell-coo" => vec!["ell_column_major".to_owned(), "coo_segmented".to_owned()],
                _ => vec![name.replace(['/', '-'], "_")],
            };
            for name in names {
                let file = format!("{}.cu", name.split('_').next().unwrap());
                let source = sources.iter().find(|(of, _)| *of == file).unwrap().1;
                assert!(source.contains(&format!("__global__ void {name}(")), "{name} in {file}");
                assert!(source.contains(kernel.id), "{file} does not name {}", kernel.id);
            }
        }
    }
}
