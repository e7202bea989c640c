//! The preconditioner on the device: z = K⁻¹·r.

use std::rc::Rc;
use std::time::Instant;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp};
use sparsescope_core::experiment::{PrepareError, Watch};
use sparsescope_core::kernel::{Applied, GridMapping, Work};
use sparsescope_core::matrix::Offset;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::LaunchCost;
use sparsescope_core::symgs::{Diagonal, ZeroStart};

use super::factor::{Factor, Phases};
use super::operator::Operator;
use super::state::{Form, Product, Purpose, Scalars};
use crate::arguments::{Element, Reads, Reciprocals, Writes};
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError, row_count};
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::refusal::refused;
use crate::symgs::{self, SymgsPreconditioner};
use crate::upload::{Uploaded, Uploads};

/// Threads per block of the kernel that reads the diagonal.
const BLOCK: u32 = 256;

/// The kernel of sweeps.
const SWEEPS: &str = "cuda/symgs/levels";

/// K⁻¹, set up.
pub(super) enum Preconditioner<'d> {
    None,
    Jacobi { inverse: Buffer<f64> },
    Symgs { sweeps: SymgsPreconditioner<'d, f64> },
    Fsai(Box<Products>),
}

/// w = G·r, z = Gᵀ·w.
pub(super) struct Products {
    g: Operator,
    gt: Operator,
    w: Buffer<f64>,
    z: Buffer<f64>,
}

/// The reciprocals of the diagonal of a matrix in CSR, and the seconds of computing them.
pub(super) fn reciprocals(
    device: &Device,
    a: &Arrays<f64>,
) -> Result<(Buffer<f64>, Phases), DeviceError> {
    match a {
        Arrays::Csr { row_ptr: Offsets::Narrow(row_ptr), slots } => {
            reciprocals_of(device, row_ptr, slots)
        }
        Arrays::Csr { row_ptr: Offsets::Wide(row_ptr), slots } => {
            reciprocals_of(device, row_ptr, slots)
        }
        _ => Err(DeviceError::Format("formats other than CSR here")),
    }
}

fn reciprocals_of<O: Offset + Element>(
    device: &Device,
    row_ptr: &Buffer<O>,
    slots: &Slots<f64>,
) -> Result<(Buffer<f64>, Phases), DeviceError> {
    let rows = row_count(row_ptr.len() - 1)?;
    let inverse = Buffer::unset(device, "the reciprocals of the diagonal", rows as usize)?;
    let arguments = Reciprocals {
        rows,
        row_ptr: Reads(row_ptr),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        inverse: Writes(&inverse),
    };
    let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(rows.into()), BLOCK);
    let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
    // SAFETY: one thread per row, which has an element of `inverse` and reads its own nonzeros; row
    // offsets ascend up to the length of col and val.
    let launch = unsafe { Launch::new(device, "csr_setup_reciprocals", shape, &arguments)? };
    let begun = Instant::now();
    enqueue(device, &[Step::Launch(launch)])?;
    device.synchronize()?;
    Ok((inverse, vec![("diagonal", begun.elapsed().as_secs_f64())]))
}

impl<'d> Preconditioner<'d> {
    /// Sets up the requested one and returns its report; `None` when cancelled.
    pub(super) fn set_up(
        device: &'d Device,
        (a, uploads): (&Uploaded<f64>, &Uploads<f64>),
        asked: &Asked<'_>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<(Self, ToldSetUp)>, PrepareError> {
        let begun = Instant::now();
        let (mut phases, mut report) = (Vec::new(), None);
        let made = match asked.applied() {
            Applied::None => Self::None,
            Applied::Jacobi => {
                let (inverse, took) = reciprocals(device, a.copy()).map_err(refused)?;
                phases = took;
                Self::Jacobi { inverse }
            }
            Applied::Symgs => {
                let (sweeps, took) = sweeps(device, asked, memory)?;
                phases = took;
                Self::Symgs { sweeps }
            }
            Applied::Fsai => {
                let factor = Factor::set_up(device, (a, uploads), asked, memory, watch)?;
                let Some(Factor { g, gt, phases: took, report: told }) = factor else {
                    return Ok(None);
                };
                phases = took;
                report = Some(told);
                let begun = Instant::now();
                let rows = asked.problem().a().rows();
                let format = (asked.format_of_factor(), asked.encodes());
                let g = Operator::of(device, g, format, memory)?;
                let gt = Operator::of(device, gt, format, memory)?;
                let vector = |what| Buffer::unset(device, what, rows).map_err(refused);
                let (w, z) = (vector("the vector w")?, vector("the vector z")?);
                phases.push(("format", begun.elapsed().as_secs_f64()));
                Self::Fsai(Box::new(Products { g, gt, w, z }))
            }
        };
        let seconds = begun.elapsed().as_secs_f64();
        let told = ToldSetUp::new(asked.applied(), &phases, report.as_ref(), seconds);
        Ok(Some((made, told)))
    }

    /// Blocks of the SpMV that leaves r·z; `None` if another launch does.
    pub(super) fn blocks(&self) -> u64 {
        match self {
            Self::Fsai(of) => of.gt.blocks(),
            _ => 0,
        }
    }

    /// The residual, if the preconditioner stores it.
    pub(super) fn own_residual(&self) -> Option<Buffer<f64>> {
        match self {
            Self::Symgs { sweeps } => Some(sweeps.residual().clone()),
            _ => None,
        }
    }

    /// What vector kernels use as z.
    pub(super) fn form(&self) -> Form<'_> {
        match self {
            Self::None => Form::Plain,
            Self::Jacobi { inverse } => Form::Diagonal(inverse),
            Self::Symgs { sweeps } => Form::Elsewhere(sweeps.result()),
            Self::Fsai(of) => Form::Elsewhere(&of.z),
        }
    }

    /// Whether its steps do nothing once the solve is over; otherwise enqueuing more of them than
    /// needed is slow.
    pub(super) fn ends_at_once(&self) -> bool {
        !matches!(self, Self::Symgs { .. })
    }

    /// The steps that compute z from r, where vector kernels do not; and β, if requested.
    pub(super) fn apply(
        &self,
        device: &Device,
        scalars: &Scalars,
        r: &Buffer<f64>,
        gives_beta: bool,
    ) -> Result<Vec<Step>, DeviceError> {
        match self {
            Self::None | Self::Jacobi { .. } => Ok(Vec::new()),
            Self::Symgs { sweeps } => {
                let bound = Rc::clone(sweeps.bound());
                let sweep = move |device: &Device| enqueue(device, &bound.steps);
                let mut steps = vec![Step::Call(Box::new(sweep))];
                if gives_beta {
                    let both = (r, sweeps.result());
                    steps.push(scalars.dot(device, Purpose::Beta(r), both)?);
                }
                Ok(steps)
            }
            Self::Fsai(of) => {
                let Products { g, gt, w, z } = &**of;
                let down = Product { x: r, y: w, purpose: Purpose::Nothing };
                let purpose = if gives_beta { Purpose::Beta(r) } else { Purpose::Nothing };
                let up = Product { x: w, y: z, purpose };
                let mut steps = g.product(device, scalars, &down)?;
                steps.extend(gt.product(device, scalars, &up)?);
                Ok(steps)
            }
        }
    }

    /// Resource use of a sweep's launches, which are hidden in a step.
    pub(super) fn launches(&self, device: &Device) -> Result<Vec<LaunchCost>, DeviceError> {
        match self {
            Self::Symgs { sweeps } => sweeps.bound().launches(device),
            _ => Ok(Vec::new()),
        }
    }

    /// Whether a kernel of a sweep gave up waiting.
    pub(super) fn is_stuck(&self, device: &Device) -> Result<bool, DeviceError> {
        match self {
            Self::Symgs { sweeps } => sweeps.bound().is_stuck(device),
            _ => Ok(false),
        }
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Jacobi { inverse } => inverse.bytes(),
            Self::Symgs { sweeps } => sweeps.bytes(),
            Self::Fsai(of) => of.g.bytes + of.gt.bytes + of.w.bytes() + of.z.bytes(),
        }
    }

    /// Time spent on creating arrays that belong to no phase of the setup.
    pub(super) fn spent(&self) -> Spent {
        match self {
            Self::Jacobi { inverse } => inverse.spent(),
            Self::Fsai(of) => of.g.spent + of.gt.spent + of.w.spent() + of.z.spent(),
            Self::None | Self::Symgs { .. } => Spent::default(),
        }
    }
}

/// Sweeps from zero by levels, and the seconds of finding the diagonal and of everything else.
fn sweeps<'d>(
    device: &'d Device,
    asked: &Asked<'_>,
    memory: MemoryLimit,
) -> Result<(SymgsPreconditioner<'d, f64>, Phases), PrepareError> {
    if let Some(reason) = symgs::cannot_wait(device) {
        return Err(PrepareError::Unsupported(reason));
    }
    let a = asked.problem().a();
    let begun = Instant::now();
    let diagonal = Diagonal::of(a, memory);
    let diagonal = diagonal.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let found_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let made = SymgsPreconditioner::new(device, SWEEPS, ZeroStart::Half, (a, &diagonal), memory);
    let made =
        made.ok_or_else(|| PrepareError::Unsupported(format!("{SWEEPS} cannot start from zero")))?;
    let made = made.map_err(refused)?;
    device.synchronize().map_err(refused)?;
    Ok((made, vec![("diagonal", found_s), ("levels", begun.elapsed().as_secs_f64())]))
}
