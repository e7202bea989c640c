//! The launchers of y = A·x: for each kernel, what one product asks of the device.

mod ours;
mod vendor;

use std::rc::Rc;

use sparsescope_core::kernel::{GridMapping, KernelDescriptor, Mapping, Work};

use crate::arguments::Arguments;
use crate::buffer::Buffer;
use crate::cusparse::{Algorithm, Cusparse};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};
use crate::upload::Uploaded;

/// What a launcher is given: y = A·x on a device.
pub(crate) struct Operands<'a> {
    device: &'a Device,
    kernel: &'static KernelDescriptor,
    matrix: &'a Uploaded,
    /// Rows, columns and entries of the matrix.
    rows: usize,
    cols: usize,
    nnz: usize,
    /// As long as it has columns and rows.
    x: &'a Buffer<f64>,
    y: &'a Buffer<f64>,
    /// Threads a block.
    block: u32,
}

/// A kernel bound to its operands, which it keeps.
pub(crate) struct Bound {
    /// One product.
    pub(crate) steps: Vec<Step>,
    /// Bytes of the memory that the steps use beside the operands.
    pub(crate) workspace_bytes: u64,
}

impl Bound {
    fn steps(steps: Vec<Step>) -> Self {
        Self { steps, workspace_bytes: 0 }
    }
}

/// How a kernel is bound.
#[derive(Clone, Copy)]
pub(crate) enum Bind {
    /// By launches of our own.
    Kernel(fn(&Operands<'_>) -> Result<Bound, DeviceError>),
    /// By cuSPARSE.
    Cusparse(Algorithm),
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
    ("vendor/cusparse/csr-alg1", Bind::Cusparse(Algorithm::Csr1)),
    ("vendor/cusparse/csr-alg2", Bind::Cusparse(Algorithm::Csr2)),
    ("vendor/cusparse/coo", Bind::Cusparse(Algorithm::Coo1)),
    ("vendor/cusparse/sell", Bind::Cusparse(Algorithm::Sell1)),
];

/// The launcher of a kernel.
pub(crate) fn launcher(id: &str) -> Option<Bind> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
}

impl<'a> Operands<'a> {
    /// Panics when x and y are not as long as the matrix has columns and rows.
    pub(crate) fn new(
        device: &'a Device,
        kernel: &'static KernelDescriptor,
        matrix: &'a Uploaded,
        nnz: usize,
        (x, y): (&'a Buffer<f64>, &'a Buffer<f64>),
        block: u32,
    ) -> Self {
        let (rows, cols) = (matrix.host().rows(), matrix.host().cols());
        assert_eq!((x.len(), y.len()), (cols, rows), "x and y are as long as A is wide and high");
        Self { device, kernel, matrix, rows, cols, nnz, x, y, block }
    }

    /// Binds cuSPARSE's product.
    pub(crate) fn bind_cusparse(
        &self,
        library: Rc<Cusparse>,
        algorithm: Algorithm,
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
    ///
    /// # Safety
    /// As for [`Launch::new`].
    unsafe fn over_rows<A: Arguments>(
        &self,
        shared_bytes: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let over = (self.grid(), Work::Rows(self.rows as u64));
        // SAFETY: the caller's promise.
        unsafe { self.launch(&self.function_name(), over, shared_bytes, arguments) }
    }

    /// A launch of a function over some work.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    unsafe fn launch<A: Arguments>(
        &self,
        function: &str,
        (mapping, work): (GridMapping, Work),
        shared_bytes: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let (grid, block) = (mapping.blocks(work, self.block), self.block);
        let shape = Shape { grid, block, shared_bytes };
        // SAFETY: the caller's promise.
        unsafe { Launch::new(self.device, function, shape, arguments) }.map(Step::Launch)
    }

    /// The rows as kernels count them.
    fn row_count(&self) -> Result<u32, DeviceError> {
        let (found, most) = (self.rows as u64, u32::MAX - 1);
        let rows = u32::try_from(found).ok().filter(|&rows| rows <= most);
        let too_large =
            DeviceError::TooLarge { what: "the number of rows", found, most: most.into() };
        rows.ok_or(too_large)
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
