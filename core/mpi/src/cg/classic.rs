//! The iteration of Hestenes and Stiefel: two reductions, neither of which is overlapped.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::system::System;
use super::trace::Trace;
use super::vectors::{advance, dot, renew};
use sparsescope_kernels::pcg::{Breakdown, Recurrence, SolveParameters};
use sparsescope_matrix::memory::zeroed;

/// Reductions per iteration.
pub(super) const REDUCTIONS: u32 = 2;

/// Vectors that it needs besides those of the system.
pub(super) const VECTORS: u32 = 3;

/// Solves. z is computed before it is known whether the residual is the last one, so that r·r and r·z are
/// summed in one reduction.
pub(super) fn classic(
    system: &mut System,
    how: &SolveParameters,
    cancel: &AtomicBool,
) -> Result<Recurrence, Breakdown> {
    let begun = Instant::now();
    let (mut x, mut r) = system.begin(&how.start);
    let mut z = zeroed(0.0, r.len());
    system.precondition(&r, &mut z);
    let own = [dot(&system.b, &system.b), dot(&r, &r), dot(&r, &z), 0.0];
    let ([square_b, square_r, mut rz, _], stop) = system.sums(own, cancel);
    let mut trace = Trace::new((how.tol, how.max_iterations), square_b, begun);
    let mut is_over = trace.residual(square_r, stop)?;
    let mut beta = 0.0;
    // p is stored where the SpMV by A reads its x.
    system.a.x_mut().fill(0.0);
    while !is_over {
        trace.of_preconditioner(rz)?;
        renew(beta, &z, system.a.x_mut());
        system.multiply();
        let (p, q) = system.a.x_and_y();
        let own = dot(p, q);
        let ([pq, ..], _) = system.sums([own, 0.0, 0.0, 0.0], cancel);
        trace.of_matrix(pq)?;
        let alpha = rz / pq;
        let (p, q) = system.a.x_and_y();
        let square = advance(alpha, p, q, &mut x, &mut r);
        system.precondition(&r, &mut z);
        let ([square_r, next, ..], stop) = system.sums([square, dot(&r, &z), 0.0, 0.0], cancel);
        (beta, rz) = (next / rz, next);
        trace.coefficients(alpha, beta);
        is_over = trace.residual(square_r, stop)?;
    }
    trace.ended();
    Ok(trace.with(x))
}
