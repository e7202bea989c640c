//! The iteration of Ghysels and Vanroose (2014): one reduction, overlapped with the preconditioner and the
//! SpMV.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rayon::prelude::*;

use super::system::System;
use super::trace::Trace;
use super::vectors::{BLOCK, dot, renew};
use sparsescope_kernels::pcg::{Breakdown, Recurrence, SolveParameters};
use sparsescope_matrix::memory::zeroed;

/// Reductions per iteration.
pub(super) const REDUCTIONS: u32 = 1;

/// Vectors that it needs besides those of the system.
pub(super) const VECTORS: u32 = 8;

/// Iterations after which r and all vectors derived from it are recomputed: with this many recurrences,
/// rounding makes the vectors drift from their definitions.
const ANEW: usize = 50;

/// u = K⁻¹·r and w = A·u; p and, derived from it, s = A·p, q = K⁻¹·s and z = A·q.
struct Vectors {
    x: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
    w: Vec<f64>,
    p: Vec<f64>,
    s: Vec<f64>,
    q: Vec<f64>,
    z: Vec<f64>,
}

/// Solves. m = K⁻¹·w and n = A·m are computed while γ = r·u and δ = w·u are reduced.
pub(super) fn pipelined(
    system: &mut System,
    how: &SolveParameters,
    cancel: &AtomicBool,
) -> Result<Recurrence, Breakdown> {
    let begun = Instant::now();
    let (x, r) = system.begin(&how.start);
    let new = || zeroed(0.0, r.len());
    let (u, w, p, s, q, z) = (new(), new(), new(), new(), new(), new());
    let mut v = Vectors { x, r, u, w, p, s, q, z };
    v.follow_r(system);
    let own = dot(&system.b, &system.b);
    let ([square_b, ..], _) = system.sums([own, 0.0, 0.0, 0.0], cancel);
    let mut trace = Trace::new((how.tol, how.max_iterations), square_b, begun);
    let (mut gamma, mut alpha, mut beta) = (0.0, 1.0, 0.0);
    loop {
        let own = [dot(&v.r, &v.u), dot(&v.w, &v.u), dot(&v.r, &v.r), 0.0];
        system.start_sums(own, cancel);
        system.precondition_into_a(&v.w);
        system.multiply();
        let ([next, delta, square_r, _], stop) = system.awaited();
        if trace.residual(square_r, stop)? {
            break;
        }
        if trace.done() > 0 {
            beta = next / gamma;
        }
        gamma = next;
        trace.of_preconditioner(gamma)?;
        let pq = delta - beta * gamma / alpha;
        trace.of_matrix(pq)?;
        alpha = gamma / pq;
        let (m, n) = system.a.x_and_y();
        v.advance(alpha, beta, m, n);
        if (trace.done() + 1).is_multiple_of(ANEW) {
            v.anew(system);
        }
    }
    trace.ended();
    Ok(trace.with(v.x))
}

impl Vectors {
    /// u = K⁻¹·r; w = A·u.
    fn follow_r(&mut self, system: &mut System) {
        system.precondition(&self.r, &mut self.u);
        system.a.x_mut().copy_from_slice(&self.u);
        system.multiply();
        self.w.copy_from_slice(system.a.y());
    }

    /// p, s, q and z of this iteration, from u, w, m and n; then x, r, u and w of the next.
    fn advance(&mut self, alpha: f64, beta: f64, m: &[f64], n: &[f64]) {
        renew(beta, &self.u, &mut self.p);
        renew(beta, &self.w, &mut self.s);
        renew(beta, m, &mut self.q);
        renew(beta, n, &mut self.z);
        step(alpha, &self.p, &mut self.x);
        step(-alpha, &self.s, &mut self.r);
        step(-alpha, &self.q, &mut self.u);
        step(-alpha, &self.z, &mut self.w);
    }

    /// Recomputes everything except x and p from x and p.
    fn anew(&mut self, system: &mut System) {
        self.r.copy_from_slice(&system.b);
        system.subtract_product(&self.x, &mut self.r);
        self.follow_r(system);
        system.a.x_mut().copy_from_slice(&self.p);
        system.multiply();
        self.s.copy_from_slice(system.a.y());
        system.precondition(&self.s, &mut self.q);
        system.a.x_mut().copy_from_slice(&self.q);
        system.multiply();
        self.z.copy_from_slice(system.a.y());
    }
}

/// to += factor·from.
fn step(factor: f64, from: &[f64], to: &mut [f64]) {
    (to.par_chunks_mut(BLOCK), from.par_chunks(BLOCK)).into_par_iter().for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
    });
}
