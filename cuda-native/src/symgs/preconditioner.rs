//! Symmetric Gauss–Seidel as a preconditioner on a device.

use std::collections::BTreeMap;
use std::rc::Rc;

use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::symgs::{Diagonal, ZeroStart};

use super::bind;
use super::system::{Operands, Operator, Sweeps};
use crate::arrays::{Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Step, enqueue};
use crate::value::DeviceReal;

/// z = M⁻¹·r with M = (D + L)·D⁻¹·(D + U), where D is A's diagonal and L and U are its triangles:
/// set up once and applied to any number of r. Exact kernels give the bits of
/// [`serial::zero_start`](sparsescope_core::symgs::serial::zero_start), colours those of
/// [`serial::zero_start_in_order`](sparsescope_core::symgs::serial::zero_start_in_order) in their
/// order.
pub struct SymgsPreconditioner<'d, T> {
    device: &'d Device,
    r: Buffer<T>,
    z: Buffer<T>,
    bound: Rc<Bound>,
    params: BTreeMap<String, String>,
    /// Of the matrix in sweep order.
    bytes: u64,
}

impl<'d, T: DeviceReal> SymgsPreconditioner<'d, T> {
    /// By a kernel, e.g. `cuda/symgs/levels`, for a matrix with this diagonal; `None` if the kernel
    /// cannot start from zero. Colours that the device cannot compute use at most `memory` on the
    /// host.
    ///
    /// Panics if the diagonal is another matrix's.
    pub fn new(
        device: &'d Device,
        kernel: &str,
        form: ZeroStart,
        (a, diagonal): (&Csr<T>, &Diagonal),
        memory: MemoryLimit,
    ) -> Option<Result<Self, DeviceError>> {
        assert!(diagonal.is_of(a), "the diagonal is the matrix's");
        let vector = |what| Buffer::unset(device, what, a.rows());
        let operands = || {
            let offsets = Offsets::of(device, "the row offsets", a.row_ptr())?;
            let slots = Slots::of(device, a.col(), a.val())?;
            Ok::<_, DeviceError>((offsets, slots, vector("the vector r")?, vector("the vector z")?))
        };
        let (offsets, slots, r, z) = match operands() {
            Ok(operands) => operands,
            Err(error) => return Some(Err(error)),
        };
        let operator = Operator::ZeroStart(form);
        let (library, offsets, slots, b, x) = (None, &offsets, &slots, &r, &z);
        let operands = Operands { device, a, memory, library, operator, offsets, slots, b, x };
        let made = bind(kernel, &operands)?;
        Some(made.map(|Sweeps { bound, params, matrix_bytes, .. }| {
            let bytes = matrix_bytes.unwrap_or_else(|| a.bytes());
            Self { device, r, z, bound: Rc::new(bound), params, bytes }
        }))
    }

    /// The parameters chosen for the matrix, as in a run of the kernel.
    pub fn params(&self) -> &BTreeMap<String, String> {
        &self.params
    }

    /// Enqueues z ← M⁻¹·r on the device; both vectors are the preconditioner's own, on the device.
    pub fn enqueue(&self) -> Result<(), DeviceError> {
        enqueue(self.device, &self.bound.steps)
    }

    /// The device steps of an execution.
    pub(crate) fn bound(&self) -> &Rc<Bound> {
        &self.bound
    }

    /// The input vector r.
    pub(crate) fn residual(&self) -> &Buffer<T> {
        &self.r
    }

    /// The output vector z.
    pub(crate) fn result(&self) -> &Buffer<T> {
        &self.z
    }

    /// Bytes of the data that the sweeps work on.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + self.bound.workspace_bytes + self.r.bytes() + self.z.bytes()
    }

    /// M⁻¹·r, after the device has computed it.
    ///
    /// Panics if r does not have one element per row.
    pub fn apply(&self, r: &[T]) -> Result<Vec<T>, DeviceError> {
        let r = Buffer::of(self.device, "the vector r", r)?;
        enqueue(self.device, &[Step::copy(&self.r, &r)])?;
        self.enqueue()?;
        if self.bound.is_stuck(self.device)? {
            let status = "timed out waiting for a row dependency".to_owned();
            return Err(DeviceError::Driver { doing: "finish a sweep", status });
        }
        let (z, _) = self.z.read(self.device)?;
        Ok(z)
    }
}
