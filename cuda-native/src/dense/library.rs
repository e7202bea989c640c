//! Batches solved in place by a vendor's library.

use std::rc::Rc;

use super::operands::{Asked, Sized};
use crate::arguments::{DenseLibraryFlags, Reads, Writes};
use crate::buffer::{Buffer, Spent};
use crate::cublas::{Batched, Cublas};
use crate::cusolver::Cusolver;
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};

/// The library.
pub(super) enum Library {
    Cublas(Rc<Cublas>),
    Cusolver(Rc<Cusolver>),
}

/// Threads per block of the kernel that checks the results.
const BLOCK: u32 = 128;

/// The work arrays of a library for systems of one size.
struct Work {
    /// A copy of the matrices, which become factors.
    factors: Buffer<f64>,
    /// The right-hand sides, copied to where the solutions go.
    right: Buffer<f64>,
    matrix_at: Buffer<u64>,
    right_at: Buffer<u64>,
    /// The factorisation status of each system.
    info: Buffer<u32>,
    wrong_argument: Buffer<u32>,
}

impl Work {
    fn new(systems: &Sized<'_>) -> Result<Self, DeviceError> {
        let Sized { device, systems: count, n, a, .. } = *systems;
        let (count, n) = (count as usize, n as usize);
        let factors = Buffer::unset(device, "a copy of the matrices", a.len())?;
        let right = match systems.b {
            Some(b) => b.clone(),
            None => Buffer::of(device, "the right-hand sides", &last_units(n, count))?,
        };
        let addresses = |array: &Buffer<f64>, apart: usize| {
            let (first, apart) = (array.address(), 8 * apart as u64);
            (0..count as u64).map(|s| first + s * apart).collect::<Vec<u64>>()
        };
        let at = |of: &[u64]| Buffer::of(device, "the addresses of systems", of);
        let matrix_at = at(&addresses(&factors, n * n))?;
        let right_at = at(&addresses(&systems.place.x, n))?;
        let info = Buffer::unset(device, "the library's answers", count)?;
        let wrong_argument = Buffer::unset(device, "the library's answer", 1)?;
        Ok(Self { factors, right, matrix_at, right_at, info, wrong_argument })
    }

    /// Bytes in addition to the operands, and the time spent on creating them.
    fn taken(&self, right_is_given: bool) -> (u64, Spent) {
        let (own_bytes, own_spent) = match right_is_given {
            true => (0, Spent::default()),
            false => (self.right.bytes(), self.right.spent()),
        };
        let addresses = self.matrix_at.bytes() + self.right_at.bytes();
        let answers = self.info.bytes() + self.wrong_argument.bytes();
        let spent = self.factors.spent() + self.matrix_at.spent() + self.right_at.spent();
        let spent = spent + self.info.spent() + self.wrong_argument.spent();
        (own_bytes + self.factors.bytes() + addresses + answers, own_spent + spent)
    }
}

/// e_n for each system.
fn last_units(n: usize, systems: usize) -> Vec<f64> {
    (1..=n * systems).map(|place| if place % n == 0 { 1.0 } else { 0.0 }).collect()
}

/// Binds a library to systems: it factors and solves a copy of them, renewed before each execution.
pub(super) fn bind(systems: &Sized<'_>, library: Library) -> Result<Asked, DeviceError> {
    let work = Work::new(systems)?;
    let (workspace_bytes, spent) = work.taken(systems.b.is_some());
    let reset =
        vec![Step::copy(&work.factors, systems.a), Step::copy(&systems.place.x, &work.right)];
    let finish = vec![flags(systems, &work, &library)?];
    let steps = vec![solve(systems, work, library)];
    Ok(Asked { reset, steps, finish, workspace_bytes, spent })
}

/// Converts the library's status of each system to flags. Its LU factorisation completes with
/// pivots of any sign.
fn flags(systems: &Sized<'_>, work: &Work, library: &Library) -> Result<Step, DeviceError> {
    let arguments = DenseLibraryFlags {
        systems: systems.systems,
        n: systems.n,
        signs: u32::from(matches!(library, Library::Cublas(_))),
        info: Reads(&work.info),
        factors: Reads(&work.factors),
        x: Writes(&systems.place.x),
        flagged: Writes(&systems.place.flagged),
    };
    let grid = systems.systems.div_ceil(BLOCK).into();
    let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
    // SAFETY: each system has a status and a flag, n × n numbers of factors and n of the solution.
    let launch = unsafe { Launch::new(systems.device, "dense_library_flags", shape, &arguments)? };
    Ok(Step::Launch(launch))
}

fn solve(systems: &Sized<'_>, work: Work, library: Library) -> Step {
    let batched = Batched {
        n: systems.n as i32,
        systems: systems.systems as i32,
        matrices: work.matrix_at.address(),
        right: work.right_at.address(),
        info: work.info.address(),
    };
    let solutions = systems.place.x.clone();
    Step::Call(Box::new(move |_: &Device| {
        // The call keeps alive what the addresses point to.
        let (_work, _solutions) = (&work, &solutions);
        // SAFETY: the arrays have one address per system, of n × n and of n numbers, and one status
        // each; all live as long as this call, and the one stream frees them after its work.
        unsafe {
            match &library {
                Library::Cublas(cublas) => cublas.solve(batched),
                Library::Cusolver(cusolver) => {
                    cusolver.solve(batched, work.wrong_argument.address())
                }
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_hand_sides_are_the_last_unit_vectors() {
        assert_eq!(last_units(1, 2), [1.0, 1.0]);
        assert_eq!(last_units(3, 2), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }
}
