//! The iteration of Chronopoulos and Gear (1989): one reduction, at the cost of one more vector and its
//! recurrence.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::system::System;
use super::trace::Trace;
use super::vectors::{advance, dot, renew};
use sparsescope_kernels::pcg::{Breakdown, Recurrence, SolveParameters};
use sparsescope_matrix::memory::zeroed;

/// Reductions per iteration.
pub(super) const REDUCTIONS: u32 = 1;

/// Vectors that it needs besides those of the system.
pub(super) const VECTORS: u32 = 4;

/// Solves. s = A·p follows from w = A·u as p does from u = K⁻¹·r, so that p·Ap needs no reduction of its own.
pub(super) fn single(
    system: &mut System,
    how: &SolveParameters,
    cancel: &AtomicBool,
) -> Result<Recurrence, Breakdown> {
    let begun = Instant::now();
    let (mut x, mut r) = system.begin(&how.start);
    let (mut p, mut s) = (zeroed(0.0, r.len()), zeroed(0.0, r.len()));
    // u is stored where the SpMV by A reads its x, w where it writes its y.
    system.precondition_into_a(&r);
    system.multiply();
    let (u, w) = system.a.x_and_y();
    let own = [dot(&r, u), dot(w, u), dot(&r, &r), dot(&system.b, &system.b)];
    let ([mut gamma, mut delta, square_r, square_b], stop) = system.sums(own, cancel);
    let mut trace = Trace::new((how.tol, how.max_iterations), square_b, begun);
    let mut is_over = trace.residual(square_r, stop)?;
    let (mut beta, mut alpha) = (0.0, 1.0);
    while !is_over {
        trace.of_preconditioner(gamma)?;
        let pq = delta - beta * gamma / alpha;
        trace.of_matrix(pq)?;
        alpha = gamma / pq;
        let (u, w) = system.a.x_and_y();
        renew(beta, u, &mut p);
        renew(beta, w, &mut s);
        let square = advance(alpha, &p, &s, &mut x, &mut r);
        system.precondition_into_a(&r);
        system.multiply();
        let (u, w) = system.a.x_and_y();
        let own = [dot(&r, u), dot(w, u), square, 0.0];
        let ([next, product, square_r, _], stop) = system.sums(own, cancel);
        (beta, gamma, delta) = (next / gamma, next, product);
        is_over = trace.residual(square_r, stop)?;
    }
    trace.ended();
    Ok(trace.with(x))
}
