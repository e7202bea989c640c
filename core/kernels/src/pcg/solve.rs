//! A solve: the checks before it, the iterations, and the results.

use web_time::Instant;

use super::iteration::Iteration;
use super::judgement::rounding_floor;
use super::residual::residual;
use super::{Breakdown, Operator, Preconditioner, Recurrence, SolveParameters, Solved, Start};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::zeroed;

/// Initial capacity of the history; it grows if needed.
const EXPECTED: usize = 10_000;

/// Solves A·x = b. `a` is the matrix in the iteration's format, `csr` the same matrix, from which the true
/// residual is computed. `watch` is called for each iteration, 0 being the start, with its ‖r‖/‖b‖, and
/// returns whether to continue.
///
/// The sums of an iteration are added in blocks that depend on the matrix only, so the result has the same
/// bits for any number of threads. For b = 0, x is 0. Fails if an input's size or value is invalid, or if the
/// iteration breaks down: p·Ap or r·z not positive, or not finite. For p·Ap the error says whether rounding
/// explains it.
pub fn solve(
    a: &Operator,
    csr: &Csr,
    k: &Preconditioner,
    b: &[f64],
    parameters: &SolveParameters,
    watch: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Solved, Breakdown> {
    let n = a.rows();
    check(a, csr, k, b, parameters)?;
    let start = Instant::now();
    let mut x = match &parameters.start {
        Start::Given(x) => x.clone(),
        _ => zeroed(0.0, n),
    };
    let mut iteration = Iteration::new(a, k, parameters.parallel, &mut x);
    let norm_b = iteration.norm(b);
    let is_zero = norm_b == 0.0;
    iteration.begin(b, &parameters.start, is_zero);
    let relative = |norm: f64| if is_zero { 0.0 } else { norm / norm_b };
    let initial = relative(iteration.norm_r());
    let mut history = Vec::with_capacity(1 + parameters.max_iterations.min(EXPECTED));
    let mut alphas = Vec::with_capacity(history.capacity());
    let mut betas = Vec::with_capacity(history.capacity());
    history.push(initial);
    let mut cancelled = !watch(0, initial);
    let goal = parameters.tol * norm_b;
    let mut done = 0;
    let converged = loop {
        let last = history[done];
        if !last.is_finite() {
            return Err(Breakdown::Overflow { iteration: done, what: "the residual", value: last });
        }
        if iteration.norm_r() <= goal || is_zero {
            break true;
        }
        if cancelled || done == parameters.max_iterations {
            break false;
        }
        if done == 0 {
            iteration.precondition();
        }
        let rz = iteration.rz();
        if !rz.is_finite() {
            return Err(Breakdown::Overflow { iteration: done, what: "r·z", value: rz });
        }
        if rz <= 0.0 {
            return Err(Breakdown::Preconditioner { iteration: done, value: rz });
        }
        if done > 0 {
            betas.push(iteration.beta());
        }
        done += 1;
        iteration.step(goal);
        let value = iteration.pq();
        if !value.is_finite() {
            return Err(Breakdown::Overflow { iteration: done, what: "p·Ap", value });
        }
        if value <= 0.0 {
            let (off, last) = (relative(iteration.norm_r()), iteration.norm_r());
            let floor = rounding_floor(residual(csr, b, iteration.x()).1);
            let told = (done, value);
            return Err(not_positive(csr, iteration.p(), told, (last <= floor).then_some(off)));
        }
        alphas.push(iteration.alpha());
        history.push(relative(iteration.norm_r()));
        cancelled = !watch(done, history[done]);
    };
    iteration.finish();
    drop(iteration);
    let seconds = start.elapsed().as_secs_f64();
    let recurrence = Recurrence {
        iterations: done,
        converged,
        cancelled,
        tol: parameters.tol,
        norm_b,
        history,
        seconds,
        alphas,
        betas,
        x,
    };
    Ok(recurrence.checked(csr, b))
}

/// Classifies a p·Ap that is not positive; `stagnated` is the relative residual if rounding alone may explain
/// it.
///
/// A row's sum is rounded once per nonzero; products and sums over all rows, which are added in blocks, are
/// rounded a few more times: each rounding moves the sum by at most ε of |p|·|A|·|p|.
fn not_positive(
    a: &Csr,
    p: &[f64],
    (iteration, value): (usize, f64),
    stagnated: Option<f64>,
) -> Breakdown {
    let row = |i: usize| {
        let (col, val) = a.row(i);
        p[i].abs() * col.iter().zip(val).map(|(&c, v)| (v * p[c as usize]).abs()).sum::<f64>()
    };
    let size: f64 = (0..a.rows()).map(row).sum();
    let longest = (0..a.rows()).map(|i| a.row(i).0.len()).max().unwrap_or_default();
    let share = if size > 0.0 { value / size } else { 0.0 };
    match stagnated {
        _ if share < -(10.0 + longest as f64) * f64::EPSILON => {
            Breakdown::Matrix { iteration, share }
        }
        Some(residual) => Breakdown::Stagnated { iteration, residual },
        None => Breakdown::Singular { iteration, share },
    }
}

/// Checks sizes, values and memory.
fn check(
    a: &Operator,
    csr: &Csr,
    k: &Preconditioner,
    b: &[f64],
    parameters: &SolveParameters,
) -> Result<(), Breakdown> {
    let n = a.rows();
    let expect = |what, found| {
        if found == n { Ok(()) } else { Err(Breakdown::Length { what, expected: n, found }) }
    };
    expect("the matrix in CSR", csr.rows())?;
    expect("the preconditioner", k.rows().unwrap_or(n))?;
    parameters.admit(n, b)?;
    let numbers = 9 * n as u128 + 3 * parameters.max_iterations.min(EXPECTED) as u128;
    parameters.limit.check("the vectors of conjugate gradients", 8 * numbers)?;
    Ok(())
}
