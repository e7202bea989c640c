//! Shared by all iterations: A, the preconditioner, b and reductions over all ranks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::applied::Applied;
use super::vectors::{BLOCK, subtract};
use crate::product::{Product, Spent};
use crate::reduction::Reduction;
use sparsescope_kernels::gate::ResidualNorms;
use sparsescope_kernels::pcg::Start;
use sparsescope_matrix::distributed::LocalMatrix;
use sparsescope_matrix::memory::zeroed;

/// A·x = b and K⁻¹: a rank's rows of each, in the local order of A's rows.
pub(super) struct System {
    pub(super) a: Product,
    pub(super) k: Applied,
    pub(super) b: Vec<f64>,
    pub(super) reduction: Reduction,
    /// Seconds spent on waiting, packing and multiplying so far.
    pub(super) spent: Spent,
}

impl System {
    /// y = A·x, for the x stored with A.
    pub(super) fn multiply(&mut self) {
        self.spent += self.a.run();
    }

    /// z = K⁻¹·r.
    pub(super) fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        self.spent += self.k.apply(r, z);
    }

    /// x = K⁻¹·r, for the x stored with A.
    pub(super) fn precondition_into_a(&mut self, r: &[f64]) {
        self.spent += self.k.apply(r, self.a.x_mut());
    }

    /// The sums of all ranks' numbers, and whether any rank wants to stop.
    pub(super) fn sums(&mut self, own: [f64; 4], cancel: &AtomicBool) -> ([f64; 4], bool) {
        let begun = Instant::now();
        let sums = self.reduction.sums(with_stop(own, cancel));
        self.spent.waiting += begun.elapsed().as_secs_f64();
        without_stop(sums)
    }

    /// Starts the reduction that [`awaited`](Self::awaited) completes.
    pub(super) fn start_sums(&mut self, own: [f64; 4], cancel: &AtomicBool) {
        self.reduction.start(with_stop(own, cancel));
    }

    /// The sums of the reduction started last.
    pub(super) fn awaited(&mut self) -> ([f64; 4], bool) {
        let begun = Instant::now();
        let sums = self.reduction.wait();
        self.spent.waiting += begun.elapsed().as_secs_f64();
        without_stop(sums)
    }

    /// The initial x, and r = b − A·x.
    pub(super) fn begin(&mut self, start: &Start) -> (Vec<f64>, Vec<f64>) {
        let mut x = match start {
            Start::Given(x) => x.clone(),
            Start::Zero | Start::Preconditioned => zeroed(0.0, self.b.len()),
        };
        let mut r = self.b.clone();
        if *start == Start::Preconditioned {
            let b = std::mem::take(&mut self.b);
            self.precondition(&b, &mut x);
            self.b = b;
        }
        if *start != Start::Zero {
            self.subtract_product(&x, &mut r);
        }
        (x, r)
    }

    /// r −= A·x.
    pub(super) fn subtract_product(&mut self, x: &[f64], r: &mut [f64]) {
        self.a.x_mut().copy_from_slice(x);
        self.multiply();
        subtract(self.a.y(), r);
    }

    /// The rank's part of ‖b − A·x‖, ‖|A|·|x|‖ and ‖b‖, computed row by row from its nonzeros rather than by
    /// the SpMV kernel; elements of x from other ranks are exchanged as for an SpMV.
    pub(super) fn residual(&mut self, local: &LocalMatrix, x: &[f64]) -> ResidualNorms {
        residual(local, &self.b, self.a.with_halo(x))
    }
}

/// The same for an x that includes its halo.
pub(super) fn residual(local: &LocalMatrix, b: &[f64], x: &[f64]) -> ResidualNorms {
    let inside = local.interior().rows();
    let of_row = |i: usize| {
        let (col, val) = match i.checked_sub(inside) {
            Some(i) => local.boundary().row(i),
            None => local.interior().row(i),
        };
        let terms = col.iter().zip(val).map(|(&c, &v)| v * x[c as usize]);
        terms.fold((b[i], 0.0), |(left, size), term| (left - term, size + term.abs()))
    };
    let rows: Vec<(f64, f64)> =
        (0..b.len()).into_par_iter().with_min_len(BLOCK).map(of_row).collect();
    ResidualNorms::of(&rows, b)
}

fn with_stop([a, b, c, d]: [f64; 4], cancel: &AtomicBool) -> [f64; 5] {
    [a, b, c, d, f64::from(u8::from(cancel.load(Ordering::Relaxed)))]
}

fn without_stop([a, b, c, d, stop]: [f64; 5]) -> ([f64; 4], bool) {
    ([a, b, c, d], stop > 0.0)
}
