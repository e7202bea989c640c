//! `vendor/cusparse/pcg`: the program of paper 003, one call of cuSPARSE or cuBLAS after another, with the
//! scalars on the host.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp, share_done};
use sparsescope_core::experiment::{PrepareError, Watch};
use sparsescope_core::kernel::Applied;
use sparsescope_core::matrix::AnyFormat;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Breakdown, Recurrence, SolveParameters, Start};
use sparsescope_core::record::Costs;

use super::factor::Factor;
use super::preconditioner::reciprocals;
use super::prepared::Enqueues;
use super::state::scale;
use super::system::System;
use crate::arrays::Arrays as OnDevice;
use crate::buffer::Buffer;
use crate::cublas::Cublas;
use crate::cusparse::{Algorithm, Arrays, Cusparse, Direction, Operands, Product};
use crate::device::{Device, DeviceError, row_count};
use crate::launch::{Step, enqueue};
use crate::machine::Machine;
use crate::refusal::refused;
use crate::solves::Failure;
use crate::upload::Uploads;
use crate::value::DeviceReal;

/// y = A·x; `None` if A has no nonzeros, which the library does not accept: y is zero then.
struct Multiply {
    product: Option<Product<f64>>,
    y: Buffer<f64>,
}

impl Multiply {
    fn new(
        device: &Device,
        library: &Rc<Cusparse>,
        matrix: &OnDevice<f64>,
        direction: Direction,
        (x, y): (&Buffer<f64>, &Buffer<f64>),
    ) -> Result<Self, DeviceError> {
        let OnDevice::Csr { row_ptr, slots } = matrix else {
            return Err(DeviceError::Format("formats other than CSR here"));
        };
        let nnz = slots.col.len();
        let operands = Operands { nnz, arrays: Arrays::Csr { row_ptr }, slots, x, y };
        let make = || {
            let (library, factors) = (Rc::clone(library), *f64::FACTORS);
            // SAFETY: a square CSR matrix has rows + 1 ascending offsets up to the length of col
            // and val, and columns that are rows; x and y have one element per row.
            unsafe {
                Product::directed(library, device, direction, Algorithm::Csr1, &operands, factors)
            }
        };
        let product = if nnz == 0 { None } else { Some(make()?) };
        Ok(Self { product, y: y.clone() })
    }

    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        match &self.product {
            Some(product) => product.enqueue(),
            None => enqueue(device, &[Step::zero(&self.y)]),
        }
    }

    fn bytes(&self) -> u64 {
        self.product.as_ref().map_or(0, |product| product.workspace().bytes())
    }
}

/// z = K⁻¹·r.
enum Preconditioner {
    None,
    Jacobi {
        scale: Vec<Step>,
    },
    /// SpMV with G, then with its transpose.
    Fsai(Box<[Multiply; 2]>),
}

/// A solver that is set up.
pub(super) struct Library<'p> {
    device: &'p Device,
    blas: Rc<Cublas>,
    system: System,
    z: Buffer<f64>,
    /// q = A·p and q = A·x.
    of_p: Multiply,
    of_x: Multiply,
    preconditioner: Preconditioner,
    how: SolveParameters,
    told: Option<Recurrence>,
    _held: Vec<Box<dyn Any>>,
}

impl<'p> Library<'p> {
    /// Sets up as requested, with the costs; `None` when cancelled. `direction` selects the second
    /// SpMV of a factor: with its stored transpose, or with the factor transposed.
    pub(super) fn set_up(
        machine: &'p Machine,
        uploads: &Uploads<f64>,
        (asked, direction): (&Asked<'_>, Direction),
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<(Self, ToldSetUp, Costs)>, PrepareError> {
        let device = machine.device();
        let sparse = machine.cusparse().map_err(PrepareError::Unsupported)?;
        let blas = machine.cublas().map_err(PrepareError::Unsupported)?;
        let how = asked.how(false, memory);
        let host = asked.problem().a();
        let rows = row_count(host.rows()).map_err(refused)?;
        let a = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(host))).map_err(refused)?;
        let system = System::new(device, asked, &how, None).map_err(refused)?;
        let vector = |what| Buffer::<f64>::unset(device, what, host.rows()).map_err(refused);
        let z = vector("the vector z")?;
        let v = system.vectors();
        let begun = Instant::now();
        let (mut phases, mut report) = (Vec::new(), None);
        let mut held: Vec<Box<dyn Any>> = vec![Box::new(Arc::clone(&a))];
        let mut bytes = host.bytes() + system.bytes() + z.bytes();
        let preconditioner = match asked.applied() {
            Applied::Jacobi => {
                let (inverse, took) = reciprocals(device, a.copy()).map_err(refused)?;
                phases = took;
                bytes += inverse.bytes();
                let scale = scale(device, rows, &inverse, (v.r, &z)).map_err(refused)?;
                Preconditioner::Jacobi { scale: vec![scale] }
            }
            Applied::Fsai => {
                let factor = Factor::set_up(device, (&a, uploads), asked, memory, watch)?;
                let Some(Factor { g, gt, phases: took, report: told }) = factor else {
                    return Ok(None);
                };
                phases = took;
                report = Some(told);
                let begun = Instant::now();
                let w = vector("the vector w")?;
                let second = if direction == Direction::Plain { &gt } else { &g };
                let multiply = |matrix, direction, x_y| {
                    Multiply::new(device, &sparse, matrix, direction, x_y).map_err(refused)
                };
                let down = multiply(g.arrays(), Direction::Plain, (v.r, &w))?;
                let up = multiply(second.arrays(), direction, (&w, &z))?;
                phases.push(("format", begun.elapsed().as_secs_f64()));
                bytes += g.bytes() + gt.bytes() + down.bytes() + up.bytes();
                held.extend([Box::new(g) as Box<dyn Any>, Box::new(gt), Box::new(w)]);
                Preconditioner::Fsai(Box::new([down, up]))
            }
            Applied::None => Preconditioner::None,
            Applied::Symgs => {
                let sentence = "it has no symmetric Gauss–Seidel sweep that starts from zero";
                return Err(PrepareError::Unsupported(sentence.to_owned()));
            }
        };
        let setup_s = begun.elapsed().as_secs_f64();
        let multiply = |x| Multiply::new(device, &sparse, a.copy(), Direction::Plain, (x, v.q));
        let of_p = multiply(v.p).map_err(refused)?;
        let of_x = multiply(v.x).map_err(refused)?;
        device.synchronize().map_err(refused)?;
        let told = ToldSetUp::new(asked.applied(), &phases, report.as_ref(), setup_s);
        let spent = a.copy().spent() + system.spent() + z.spent();
        let costs = Costs {
            plan_s: setup_s,
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            format_bytes: bytes + of_p.bytes() + of_x.bytes(),
            ..Costs::default()
        };
        let (told_of_solve, _held) = (None, held);
        let made = Self {
            device,
            blas,
            system,
            z,
            of_p,
            of_x,
            preconditioner,
            how,
            told: told_of_solve,
            _held,
        };
        Ok(Some((made, told, costs)))
    }

    /// z = K⁻¹·r; returns the vector that holds z.
    fn precondition(&self) -> Result<&Buffer<f64>, DeviceError> {
        match &self.preconditioner {
            Preconditioner::None => return Ok(self.system.vectors().r),
            Preconditioner::Jacobi { scale } => enqueue(self.device, scale)?,
            Preconditioner::Fsai(products) => {
                products.iter().try_for_each(|product| product.enqueue(self.device))?;
            }
        }
        Ok(&self.z)
    }

    /// ‖b‖, and r = b − A·x₀.
    fn begin(&self) -> Result<f64, DeviceError> {
        let (v, blas) = (self.system.vectors(), &self.blas);
        let norm_b = blas.norm(v.b)?;
        blas.copy(v.b, v.r)?;
        if self.how.start == Start::Preconditioned {
            let z = self.precondition()?;
            blas.copy(z, v.x)?;
        }
        if self.how.start != Start::Zero {
            self.of_x.enqueue(self.device)?;
            blas.add(-1.0, v.q, v.r)?;
        }
        Ok(norm_b)
    }

    /// All iterations. The messages of breakdowns are those of the CPU kernels, except for p·Ap:
    /// its rounding error bound is not known here.
    fn iterate(&self, watch: &Watch<'_>) -> Result<Recurrence, Failure> {
        let (v, blas, how) = (self.system.vectors(), &self.blas, &self.how);
        let norm_b = self.begin()?;
        let is_zero = norm_b == 0.0;
        let relative = |norm: f64| if is_zero { 0.0 } else { norm / norm_b };
        let first = relative(blas.norm(v.r)?);
        let (mut history, mut alphas, mut betas) = (vec![first], Vec::new(), Vec::new());
        let (mut done, mut last, mut before) = (0, first, None);
        let converged = loop {
            if !last.is_finite() {
                let what = "the residual";
                return Err(Breakdown::Overflow { iteration: done, what, value: last }.into());
            }
            if last <= how.tol || is_zero {
                break true;
            }
            if watch.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            if done == how.max_iterations {
                break false;
            }
            let z = self.precondition()?;
            let rz = positive(blas.dot(v.r, z)?, done, Sum::Scaled)?;
            match before {
                None => blas.copy(z, v.p)?,
                Some(before) => {
                    let beta = rz / before;
                    betas.push(beta);
                    blas.scale(beta, v.p)?;
                    blas.add(1.0, z, v.p)?;
                }
            }
            done += 1;
            self.of_p.enqueue(self.device)?;
            let alpha = rz / positive(blas.dot(v.p, v.q)?, done, Sum::OfMatrix)?;
            alphas.push(alpha);
            blas.add(alpha, v.p, v.x)?;
            blas.add(-alpha, v.q, v.r)?;
            last = relative(blas.norm(v.r)?);
            history.push(last);
            before = Some(rz);
            watch.tell(share_done(done, last / first, how));
        };
        let (iterations, tol, cancelled) = (done, how.tol, false);
        let (x, seconds) = (Vec::new(), 0.0);
        Ok(Recurrence {
            x,
            iterations,
            converged,
            cancelled,
            tol,
            norm_b,
            history,
            seconds,
            alphas,
            betas,
        })
    }
}

/// A sum that must be positive.
#[derive(Clone, Copy)]
enum Sum {
    OfMatrix,
    Scaled,
}

/// The sum, unless it is not positive or not finite.
fn positive(value: f64, iteration: usize, of: Sum) -> Result<f64, Breakdown> {
    let what = match of {
        Sum::OfMatrix => "p·Ap",
        Sum::Scaled => "r·z",
    };
    match of {
        _ if !value.is_finite() => Err(Breakdown::Overflow { iteration, what, value }),
        _ if value > 0.0 => Ok(value),
        Sum::OfMatrix => Err(Breakdown::NotPositive { iteration }),
        Sum::Scaled => Err(Breakdown::Preconditioner { iteration, value }),
    }
}

impl Enqueues for Library<'_> {
    fn reset(&mut self) -> Result<(), Failure> {
        let v = self.system.vectors();
        let x = match self.system.start() {
            Some(start) => Step::copy(v.x, start),
            None => Step::zero(v.x),
        };
        Ok(enqueue(self.device, &[x])?)
    }

    fn solve(&mut self, watch: &Watch<'_>) -> Result<(), Failure> {
        self.told = None;
        let told = self.iterate(watch)?;
        if told.norm_b == 0.0 {
            // A starting vector is not a solution then.
            enqueue(self.device, &[Step::zero(self.system.vectors().x)])?;
        }
        self.told = Some(told);
        Ok(())
    }

    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure> {
        let none = || Failure::Beside("nothing has been solved yet".to_owned());
        let told = self.told.clone().ok_or_else(none)?;
        let (x, download_s) = self.system.read(self.device)?;
        Ok((Recurrence { x, seconds, ..told }, download_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_is_not_positive_has_the_processors_sentence() {
        assert_eq!(positive(2.0, 1, Sum::OfMatrix), Ok(2.0));
        let sentence = |value, of| positive(value, 3, of).unwrap_err().to_string();
        assert!(
            sentence(0.0, Sum::OfMatrix).ends_with("positive definite or is numerically singular")
        );
        assert!(sentence(-1.0, Sum::Scaled).contains("the preconditioner is not positive"));
        assert!(sentence(f64::NAN, Sum::Scaled).contains("r·z is NaN"));
    }
}
