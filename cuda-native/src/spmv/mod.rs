//! The launchers of y = A·x: for each kernel, what one product asks of the device.

mod ours;
mod vendor;

use std::any::Any;

use sparsescope_core::kernel::{GridMapping, KernelDescriptor, Mapping, Work};

use crate::cusparse::Cusparse;
use crate::device::{Device, DeviceError};
use crate::kernels::Variant;
use crate::launch::{Launch, Step};
use crate::upload::Uploaded;

/// What a launcher is given.
pub(crate) struct Operands<'a> {
    pub(crate) device: &'a Device,
    pub(crate) kernel: &'static KernelDescriptor,
    pub(crate) matrix: &'a Uploaded,
    /// Rows, columns and entries.
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
    /// Addresses of the vectors.
    pub(crate) x: u64,
    pub(crate) y: u64,
    /// Threads a block.
    pub(crate) block: u32,
}

/// A kernel bound to its operands.
pub(crate) struct Bound {
    /// One product.
    pub(crate) steps: Vec<Step>,
    /// Buffers that the steps use beside the operands.
    pub(crate) _keep: Vec<Box<dyn Any>>,
    /// Bytes of these.
    pub(crate) workspace_bytes: u64,
}

impl Bound {
    fn steps(steps: Vec<Step>) -> Self {
        Self { steps, _keep: Vec::new(), workspace_bytes: 0 }
    }
}

/// How a kernel is bound.
#[derive(Clone, Copy)]
pub(crate) enum Bind {
    /// By launches of our own.
    Kernel(fn(&Operands<'_>) -> Result<Bound, DeviceError>),
    /// By cuSPARSE.
    Cusparse(crate::cusparse::Algorithm),
}

/// A launcher for each kernel of this backend, in the descriptors' order.
pub(crate) const LAUNCHERS: &[(&str, Bind)] = &[
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
    ("vendor/cusparse/csr-alg1", Bind::Cusparse(crate::cusparse::Algorithm::Csr1)),
    ("vendor/cusparse/csr-alg2", Bind::Cusparse(crate::cusparse::Algorithm::Csr2)),
    ("vendor/cusparse/coo", Bind::Cusparse(crate::cusparse::Algorithm::Coo1)),
    ("vendor/cusparse/sell", Bind::Cusparse(crate::cusparse::Algorithm::Sell1)),
];

/// The launcher of a kernel.
pub(crate) fn launcher(id: &str) -> Option<Bind> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
}

impl Operands<'_> {
    /// Binds cuSPARSE's product.
    pub(crate) fn bind_cusparse(
        &self,
        library: std::rc::Rc<Cusparse>,
        algorithm: crate::cusparse::Algorithm,
    ) -> Result<Bound, DeviceError> {
        vendor::bind(self, library, algorithm)
    }

    /// Name of the kernel's function: `csr_warp_shuffle` for `cuda/csr/warp-shuffle`.
    fn function_name(&self) -> String {
        let name = self.kernel.id.split_once('/').map_or(self.kernel.id, |(_, name)| name);
        name.replace(['/', '-'], "_")
    }

    /// The grid mapping of the kernel's descriptor.
    fn grid(&self) -> GridMapping {
        match self.kernel.mapping {
            Mapping::Grid(mapping) => mapping,
            _ => GridMapping::ThreadPerRow,
        }
    }

    /// A launch over the matrix's rows by the kernel's own function and grid.
    fn over_rows(
        &self,
        variant: Variant,
        shared_bytes: u32,
        arguments: Vec<u64>,
    ) -> Result<Step, DeviceError> {
        let work = Work::Rows(self.rows as u64);
        self.launch(variant, &self.function_name(), (self.grid(), work), shared_bytes, arguments)
    }

    /// A launch of a function over some work.
    fn launch(
        &self,
        variant: Variant,
        function: &str,
        (mapping, work): (GridMapping, Work),
        shared_bytes: u32,
        arguments: Vec<u64>,
    ) -> Result<Step, DeviceError> {
        let function = self.device.kernel(variant, function)?;
        let (grid, block) = (mapping.blocks(work, self.block), self.block);
        let launch = Launch { function, grid, block, shared_bytes, arguments };
        launch.check()?;
        Ok(Step::Launch(launch))
    }

    /// The rows as kernels count them.
    fn row_count(&self) -> Result<u64, DeviceError> {
        let (found, most) = (self.rows as u64, u64::from(u32::MAX) - 1);
        if found <= most {
            return Ok(found);
        }
        Err(DeviceError::TooLarge { what: "the number of rows", found, most })
    }
}

/// A launcher and its descriptor disagree about the format: neither is right, so nothing is run.
fn wrong_format(operands: &Operands<'_>) -> DeviceError {
    let status = format!("{} is bound to another format than its own", operands.kernel.id);
    DeviceError::Driver { doing: "bind a kernel", status }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, all_kernels};

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = all_kernels().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn vendors_kernels_are_bound_to_a_library_and_the_others_to_a_grid() {
        for (id, bind) in LAUNCHERS {
            let kernel = sparsescope_core::kernel::kernel(id).unwrap();
            let on_grid = matches!(kernel.mapping, Mapping::Grid(_));
            assert_eq!(matches!(bind, Bind::Kernel(_)), on_grid, "{id}");
        }
    }

    #[test]
    fn a_kernels_function_is_in_the_file_of_its_format() {
        for kernel in all_kernels().filter(|k| k.id.starts_with("cuda/")) {
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
