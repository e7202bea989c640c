//! Operands of the launchers of y = A·x.

use sparsescope_core::kernel::{GridMapping, KernelDescriptor, Mapping, Scale, UserKernel, Work};
use sparsescope_core::matrix::AnyFormat;

use crate::arguments::Arguments;
use crate::arrays::{Arrays, Hacks};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, row_count};
use crate::launch::{Launch, Shape, Step};
use crate::value::DeviceReal;

/// A on the device.
pub(crate) enum Matrix<'a, T: DeviceReal> {
    /// In the host's format: its arrays, and the host's.
    Format(&'a Arrays<T>, &'a AnyFormat<T>),
    /// In column-major HLL, converted on the device.
    Hacks(&'a Hacks<T>),
}

/// Operands of a launcher: y = alpha·A·x + beta·y on a device.
pub(crate) struct Operands<'a, T: DeviceReal> {
    pub(super) device: &'a Device,
    pub(super) kernel: &'static KernelDescriptor,
    matrix: Matrix<'a, T>,
    /// Rows, columns and nonzeros of the matrix.
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) nnz: usize,
    /// One element per column and per row.
    pub(super) x: &'a Buffer<T>,
    pub(super) y: &'a Buffer<T>,
    /// Threads per block.
    pub(super) block: u32,
    /// alpha and beta.
    pub(super) scale: Scale,
    /// Whether nothing else runs on the device meanwhile.
    pub(super) is_alone: bool,
}

impl<'a, T: DeviceReal> Operands<'a, T> {
    /// Those of y = A·x. Panics if the lengths of x and y are not the numbers of columns and rows of
    /// the matrix, which has the given size.
    pub(crate) fn new(
        device: &'a Device,
        kernel: &'static KernelDescriptor,
        matrix: Matrix<'a, T>,
        (rows, cols, nnz): (usize, usize, usize),
        (x, y): (&'a Buffer<T>, &'a Buffer<T>),
        block: u32,
    ) -> Self {
        assert_eq!((x.len(), y.len()), (cols, rows), "x and y are as long as A is wide and high");
        let scale = Scale::NONE;
        Self { device, kernel, matrix, rows, cols, nnz, x, y, block, scale, is_alone: true }
    }

    /// The same with alpha and beta.
    pub(crate) fn scaled(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// The same while the device exchanges data with others.
    pub(crate) fn during_exchange(self) -> Self {
        Self { is_alone: false, ..self }
    }

    /// The matrix in the host's format: its arrays on the device, and itself.
    pub(super) fn format(&self) -> Result<(&'a Arrays<T>, &'a AnyFormat<T>), DeviceError> {
        match self.matrix {
            Matrix::Format(arrays, host) => Ok((arrays, host)),
            Matrix::Hacks(_) => Err(wrong_format(self)),
        }
    }

    /// The matrix in hacks.
    pub(super) fn hacks(&self) -> Result<&'a Hacks<T>, DeviceError> {
        match self.matrix {
            Matrix::Hacks(hacks) => Ok(hacks),
            Matrix::Format(..) => Err(wrong_format(self)),
        }
    }

    /// Name of the kernel's function: `csr_warp_shuffle` for `cuda/csr/warp-shuffle`.
    fn function_name(&self) -> String {
        let name = self.kernel.id.split_once('/').map_or(self.kernel.id, |(_, name)| name);
        name.replace(['/', '-'], "_")
    }

    /// The grid mapping of the kernel's descriptor.
    pub(super) fn grid(&self) -> GridMapping {
        match self.kernel.mapping {
            Mapping::Grid(mapping) => mapping,
            _ => GridMapping::ThreadPerRow,
        }
    }

    /// A launch over the matrix's rows by the kernel's own function and grid.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(super) unsafe fn over_rows<A: Arguments>(
        &self,
        shared_bytes: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        if let Some(user) = self.kernel.user {
            return self.by_user(user, arguments);
        }
        let over = (self.grid(), Work::Rows(self.rows as u64));
        // SAFETY: the caller's promise.
        unsafe { self.launch(&self.function_name(), over, shared_bytes, arguments) }
    }

    /// The same with a user's function.
    fn by_user<A: Arguments>(
        &self,
        user: &'static UserKernel,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let grid = self.grid().blocks(Work::Rows(self.rows as u64), self.block);
        let shared_bytes = user.shared_bytes(self.block, T::BYTES as u32);
        let shape = Shape { grid, block: self.block, shared_bytes };
        // SAFETY: the function's parameters were compared with its family's when its file was read,
        // and the launcher of a family binds that family's arguments. What its threads access is
        // unknown here: the user who named the file on the command line is responsible for it, as
        // for any program of theirs.
        unsafe { Launch::of_user(self.device, user, shape, arguments) }.map(Step::Launch)
    }

    /// A launch of a function over some work.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(super) unsafe fn launch<A: Arguments>(
        &self,
        function: &str,
        (mapping, work): (GridMapping, Work),
        shared_bytes: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let shape = self.shape(mapping.blocks(work, self.block), shared_bytes);
        // SAFETY: the caller's promise.
        unsafe { self.launch_shape(function, shape, arguments) }
    }

    /// A grid of this many blocks with the requested threads per block.
    pub(super) fn shape(&self, grid: u64, shared_bytes: u32) -> Shape {
        Shape { grid, block: self.block, shared_bytes }
    }

    /// A launch of a function in a shape.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(super) unsafe fn launch_shape<A: Arguments>(
        &self,
        function: &str,
        shape: Shape,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let variant = A::VARIANT.scaled(self.scale);
        // SAFETY: the caller's promise.
        unsafe { Launch::in_variant(self.device, variant, function, shape, arguments) }
            .map(Step::Launch)
    }

    /// The number of rows as kernels count them.
    pub(super) fn row_count(&self) -> Result<u32, DeviceError> {
        row_count(self.rows)
    }
}

/// The error when a launcher and its descriptor disagree about the format: nothing is run.
pub(super) fn wrong_format<T: DeviceReal>(operands: &Operands<'_, T>) -> DeviceError {
    let status = format!("{} is bound to a format that it does not read", operands.kernel.id);
    DeviceError::Driver { doing: "bind a kernel", status }
}
