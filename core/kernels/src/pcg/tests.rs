//! Conjugate gradients against theory and other programs.

use std::sync::Arc;

use super::*;
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

/// The five-point grid of n² points, with rows and columns scaled by 1 to 5 and `shift` added to the diagonal
/// of the second difference.
fn grid(n: usize, scale: impl Fn(usize) -> f64, shift: impl Fn(usize) -> f64) -> Arc<Csr> {
    let mut triplets = Vec::new();
    for i in 0..n * n {
        let beside = [
            (i % n > 0).then(|| i - 1),
            (i % n + 1 < n).then(|| i + 1),
            i.checked_sub(n),
            (i + n < n * n).then_some(i + n),
        ];
        triplets.push((i, i, (4.0 + shift(i)) * scale(i) * scale(i)));
        triplets.extend(beside.into_iter().flatten().map(|j| (i, j, -scale(i) * scale(j))));
    }
    Arc::new(Csr::from_triplets(n * n, n * n, &triplets).unwrap())
}

fn scaled_grid() -> Arc<Csr> {
    grid(40, |i| 1.0 + (i % 5) as f64, |i| 0.01 * (i % 7) as f64)
}

fn laplacian(n: usize) -> Arc<Csr> {
    grid(n, |_| 1.0, |_| 0.0)
}

pub(super) fn times_ones(a: &Csr) -> Vec<f64> {
    (0..a.rows()).map(|i| a.row(i).1.iter().sum()).collect()
}

/// No preconditioner, Jacobi and symmetric Gauss–Seidel, the last for this many workers.
pub(super) fn preconditioners(a: &Arc<Csr>, workers: usize) -> Vec<Preconditioner> {
    let limit = MemoryLimit::unlimited();
    vec![
        Preconditioner::None,
        Preconditioner::jacobi(a, limit).unwrap(),
        Preconditioner::symgs(a, workers, limit).unwrap(),
        lower_half(a),
    ]
}

/// FSAI's operators with G = D^−½·(I − ½·D⁻¹·L), a lower triangle with A's own pattern, regardless of its
/// quality.
fn lower_half(a: &Arc<Csr>) -> Preconditioner {
    let d = |i: usize| a.row(i).1[a.row(i).0.binary_search(&(i as u32)).unwrap()];
    let mut triplets = Vec::new();
    for i in 0..a.rows() {
        let (col, val) = a.row(i);
        for (&c, &v) in col.iter().zip(val).filter(|&(&c, _)| c as usize <= i) {
            let g = if c as usize == i { 1.0 } else { -0.5 * v / d(c as usize) };
            triplets.push((i, c as usize, g / d(i).sqrt()));
        }
    }
    let g = Arc::new(Csr::from_triplets(a.rows(), a.cols(), &triplets).unwrap());
    let gt = Arc::new(g.transpose());
    let limit = MemoryLimit::unlimited();
    Preconditioner::fsai(&g, &gt, OperatorFormat::Csr, Vec::new(), limit).unwrap()
}

pub(super) fn solved_with(
    a: &Arc<Csr>,
    k: &Preconditioner,
    b: &[f64],
    parameters: &SolveParameters,
) -> Result<Solved, Breakdown> {
    let operator = Operator::new(a, OperatorFormat::Csr, MemoryLimit::unlimited()).unwrap();
    solve(&operator, a, k, b, parameters, &mut |_, _| true)
}

#[test]
fn as_many_steps_as_eigenvalues_and_the_ritz_values_are_these() {
    let triplets: Vec<_> = (0..30).map(|i| (i, i, [1.0, 2.0, 5.0][i % 3])).collect();
    let a = Arc::new(Csr::from_triplets(30, 30, &triplets).unwrap());
    let parameters = SolveParameters::default();
    let solved = solved_with(&a, &Preconditioner::None, &[1.0; 30], &parameters).unwrap();
    assert_eq!((solved.iterations, solved.converged), (3, true));
    let ritz = solved.ritz().unwrap();
    assert_eq!((ritz.steps, ritz.values.len()), (3, 3));
    for (value, expected) in ritz.values.iter().zip([1.0, 2.0, 5.0]) {
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    }
    let jacobi = Preconditioner::jacobi(&a, MemoryLimit::unlimited()).unwrap();
    let solved = solved_with(&a, &jacobi, &[1.0; 30], &parameters).unwrap();
    assert_eq!(solved.iterations, 1);
    assert_eq!(solved.ritz().unwrap().values.len(), 1);
}

#[test]
fn ritz_values_lie_within_the_spectrum_and_approach_its_ends() {
    let n = 40;
    let a = laplacian(n);
    let b: Vec<f64> = (0..n * n).map(|i| ((i * i) % 17) as f64 - 8.0).collect();
    let solved = solved_with(&a, &Preconditioner::None, &b, &SolveParameters::default()).unwrap();
    let sine = |k: usize| {
        let angle = std::f64::consts::PI * k as f64 / (2 * (n + 1)) as f64;
        8.0 * angle.sin().powi(2)
    };
    let (least, most) = (sine(1), sine(n));
    let ritz = solved.ritz().unwrap();
    let (first, last) = (ritz.values[0], ritz.values[ritz.values.len() - 1]);
    let rounding = 1e-13 * most;
    assert!(first >= least - rounding && last <= most + rounding, "{first} {last}");
    assert!(first < 1.001 * least && last > 0.999 * most, "{first} {least} {last} {most}");
    assert!(ritz.condition <= most / least * (1.0 + 1e-12));
}

#[test]
fn iterations_are_those_of_scipy() {
    // scipy.sparse.linalg.cg (SciPy 1.17.1) with rtol = 1e-10, atol = 0 and x0 = 0, counted by its callback;
    // M is none, 1/diagonal, and exact solves with the two triangles (splu, natural order).
    let a = scaled_grid();
    let b = times_ones(&a);
    for (k, expected) in preconditioners(&a, 2).iter().zip([260, 101, 40]) {
        let solved = solved_with(&a, k, &b, &SolveParameters::default()).unwrap();
        let off = solved.iterations.abs_diff(expected);
        let most = if expected < 100 { 1 } else { expected / 100 };
        assert!(off <= most, "{}: {} instead of {expected}", k.as_str(), solved.iterations);
        assert_eq!(solved.outcome(), Outcome::Converged, "{}", k.as_str());
        assert!(solved.x.iter().all(|x| (x - 1.0).abs() < 1e-7), "{}", k.as_str());
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_number_of_threads_shows_in_no_bit() {
    // More than one block of vectors and of nonzeros.
    let a = grid(120, |i| 1.0 + (i % 3) as f64, |i| 0.1 * (i % 11) as f64);
    let b = times_ones(&a);
    let limit = MemoryLimit::unlimited();
    let formats =
        [OperatorFormat::Csr, OperatorFormat::Hyb { width: Some(4) }, OperatorFormat::Hll];
    for kind in 0..4 {
        for (f, format) in formats.into_iter().enumerate().filter(|&(f, _)| f == 0 || kind % 2 == 1)
        {
            let operator = Operator::new(&a, format, limit).unwrap();
            let with = |threads: usize, parallel| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let start = if kind == 0 { Start::Zero } else { Start::Preconditioned };
                let parameters =
                    SolveParameters { parallel, start, tol: 1e-8, ..Default::default() };
                pool.install(|| {
                    let k = preconditioners(&a, threads).swap_remove(kind);
                    solve(&operator, &a, &k, &b, &parameters, &mut |_, _| true).unwrap()
                })
            };
            let serial = with(1, false);
            assert!(serial.converged && serial.iterations > 10);
            for threads in [1, 2, 5] {
                let found = with(threads, true);
                assert_eq!(serial.history, found.history, "{kind} {f} {threads}");
                assert_eq!(serial.x, found.x, "{kind} {f} {threads}");
            }
        }
    }
}

#[test]
fn formats_multiply_alike() {
    let a = grid(57, |i| 1.0 + (i % 5) as f64, |i| 0.01 * (i % 7) as f64);
    let x: Vec<f64> = (0..a.rows()).map(|i| (i % 13) as f64 - 6.0).collect();
    // Integers except for the diagonal's shift, so that sums differ little between orders.
    let expected: Vec<f64> = (0..a.rows())
        .map(|i| a.row(i).0.iter().zip(a.row(i).1).map(|(&c, v)| v * x[c as usize]).sum())
        .collect();
    for width in [None, Some(0), Some(3), Some(9)] {
        for format in [OperatorFormat::Csr, OperatorFormat::Hyb { width }, OperatorFormat::Hll] {
            let operator = Operator::new(&a, format, MemoryLimit::unlimited()).unwrap();
            for parallel in [false, true] {
                let mut y = vec![f64::NAN; a.rows()];
                operator.product(&x, &mut y, parallel);
                let off = y.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-11, "{format:?} {off}");
            }
        }
    }
}

#[test]
fn the_true_residual_is_told_where_b_nearly_cancels() {
    // b = A·1 on a Laplacian is 0 inside: ‖b‖ is small compared to ‖|A|·|x|‖, and rounding limits the
    // residual.
    let a = laplacian(100);
    let b = times_ones(&a);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    for k in preconditioners(&a, 2) {
        let solved = solved_with(&a, &k, &b, &SolveParameters::default()).unwrap();
        assert!(solved.converged && solved.recurrence <= 1e-10);
        let mut rest = b.clone();
        let mut sizes = vec![0.0; b.len()];
        for i in 0..a.rows() {
            for (&c, v) in a.row(i).0.iter().zip(a.row(i).1) {
                rest[i] -= v * solved.x[c as usize];
                sizes[i] += (v * solved.x[c as usize]).abs();
            }
        }
        let (truth, floor) =
            (norm(&rest) / norm(&b), 10.0 * 2f64.powi(-52) * norm(&sizes) / norm(&b));
        assert!((solved.true_residual / truth - 1.0).abs() < 1e-9, "{}", k.as_str());
        assert!((solved.rounding_floor / floor - 1.0).abs() < 1e-9, "{}", k.as_str());
        let outcome = solved.outcome();
        let is_right = matches!(outcome, Outcome::Converged | Outcome::LimitedByRounding(_));
        assert!(is_right, "{}: {outcome}", k.as_str());
    }
    // A tolerance that rounding prevents from being reached: the message names the floor.
    let parameters = SolveParameters { tol: 1e-15, ..Default::default() };
    let solved = solved_with(&a, &Preconditioner::None, &b, &parameters).unwrap();
    assert!(solved.true_residual > 1.1e-15 && solved.true_residual <= solved.rounding_floor);
    let words = solved.outcome().to_string();
    assert!(words.starts_with("converged by recurrence, limited by rounding at "), "{words}");
}

#[test]
fn what_is_given_wrong_or_breaks_down_says_so() {
    let a = laplacian(4);
    let fails = |a: &Arc<Csr>, b: &[f64], parameters: &SolveParameters| {
        solved_with(a, &Preconditioner::None, b, parameters).unwrap_err().to_string()
    };
    let usual = SolveParameters::default();
    assert!(fails(&a, &[1.0; 15], &usual).contains("right-hand side has 15 elements, expected 16"));
    let mut b = [1.0; 16];
    b[3] = f64::NAN;
    assert!(fails(&a, &b, &usual).contains("the right-hand side is NaN in row 3"));
    let start = Start::Given(vec![f64::INFINITY; 16]);
    let parameters = SolveParameters { start, ..usual.clone() };
    assert!(fails(&a, &[1.0; 16], &parameters).contains("the starting vector is inf in row 0"));
    let parameters = SolveParameters { limit: MemoryLimit::bytes(100), ..usual.clone() };
    assert!(fails(&a, &[1.0; 16], &parameters).contains("memory limit"));
    let with = |diagonal: [f64; 2]| {
        let triplets = [(0, 0, diagonal[0]), (1, 1, diagonal[1])];
        Arc::new(Csr::from_triplets(2, 2, &triplets).unwrap())
    };
    let indefinite = fails(&with([1.0, -3.0]), &[1.0; 2], &usual);
    // For (1, 1), p·Ap is 1 − 3 and |p|·|A|·|p| is 1 + 3.
    let expected =
        "in iteration 1: p·Ap is -5.0e-1 times |p|·|A|·|p|, so the matrix is not positive definite";
    assert!(indefinite.contains(expected), "{indefinite}");
    let nan = fails(&with([1.0, f64::NAN]), &[1.0; 2], &usual);
    assert!(nan.contains("p·Ap is NaN"), "{nan}");
    let huge = fails(&with([1e308, 1e308]), &[1e10; 2], &usual);
    assert!(huge.contains("p·Ap is inf"), "{huge}");
    let negative = Preconditioner::jacobi(&with([1.0, -1.0]), MemoryLimit::unlimited()).unwrap();
    let broken = solved_with(&with([1.0, 1.0]), &negative, &[1.0, 2.0], &usual).unwrap_err();
    assert_eq!(broken, Breakdown::Preconditioner { iteration: 0, value: -3.0 });
    assert!(!broken.is_not_definite(), "the matrix is");
}

#[test]
fn a_matrix_is_called_indefinite_only_where_rounding_does_not_explain_it() {
    // Constant vectors are the null space of the first; in the second, the last entry is smaller by some ε.
    let with = |less: f64| {
        let triplets = [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0 - less)];
        Arc::new(Csr::from_triplets(2, 2, &triplets).unwrap())
    };
    for parallel in [false, true] {
        let fails = |less: f64, b: f64, start: Start| {
            let parameters = SolveParameters { start, parallel, ..Default::default() };
            solved_with(&with(less), &Preconditioner::None, &[b; 2], &parameters).unwrap_err()
        };
        // p = (1, 1): p·Ap is −less of |p|·|A|·|p| = 4, and rows of two nonzeros are allowed 12 ε.
        for less in [0.0, 2.0 * f64::EPSILON, 40.0 * f64::EPSILON] {
            let found = fails(less, 1.0, Start::Zero);
            let share = -less / 4.0;
            let words = found.to_string();
            assert!(words.ends_with("the matrix is numerically singular"), "{words}");
            assert!(found.is_not_definite());
            let Breakdown::Singular { iteration: 1, share: told } = found else {
                panic!("{words}")
            };
            assert!((told - share).abs() < 1e-14 * share.abs().max(1e-30), "{told} {share}");
        }
        for less in [60.0 * f64::EPSILON, 0.5] {
            let found = fails(less, 1.0, Start::Zero);
            assert!(matches!(found, Breakdown::Matrix { iteration: 1, .. }), "{found}");
            assert!(found.is_not_definite());
        }
        // A·(1, 1) = 0, so r = b; 10·ε·‖|A|·|x|‖ is 6e-15.
        let found = fails(0.0, 1e-17, Start::Given(vec![1.0; 2]));
        assert_eq!(found, Breakdown::Stagnated { iteration: 1, residual: 1.0 });
        assert!(!found.is_not_definite());
    }
}

#[test]
fn ends_without_work_and_before_the_end() {
    let a = laplacian(20);
    let zero = solved_with(
        &a,
        &Preconditioner::None,
        &[0.0; 400],
        &SolveParameters { start: Start::Given(vec![3.0; 400]), ..Default::default() },
    )
    .unwrap();
    assert_eq!((zero.iterations, zero.converged), (0, true));
    assert_eq!(zero.outcome().to_string(), "b is zero, so x = 0");
    assert_eq!((zero.x, zero.true_residual), (vec![0.0; 400], 0.0));
    let b = times_ones(&a);
    let ready = SolveParameters { start: Start::Given(vec![1.0; 400]), ..Default::default() };
    let solved = solved_with(&a, &Preconditioner::None, &b, &ready).unwrap();
    assert_eq!((solved.iterations, solved.converged, solved.initial), (0, true, 0.0));
    assert_eq!(solved.ritz(), None);
    let few = SolveParameters { max_iterations: 5, ..Default::default() };
    let solved = solved_with(&a, &Preconditioner::None, &b, &few).unwrap();
    assert_eq!((solved.iterations, solved.outcome()), (5, Outcome::NotConverged));
    assert_eq!((solved.history.len(), solved.alphas.len(), solved.betas.len()), (6, 5, 4));
    // x is from the fifth iteration, as is the residual of the recurrence.
    assert!((solved.true_residual / solved.recurrence - 1.0).abs() < 1e-10);
    let operator = Operator::new(&a, OperatorFormat::Csr, MemoryLimit::unlimited()).unwrap();
    let mut told = Vec::new();
    let usual = SolveParameters::default();
    let solved = solve(&operator, &a, &Preconditioner::None, &b, &usual, &mut |k, residual| {
        told.push((k, residual));
        k < 3
    })
    .unwrap();
    assert!(solved.cancelled && !solved.converged && solved.iterations == 3);
    assert_eq!(told, solved.history.into_iter().enumerate().collect::<Vec<_>>());
    let empty = Arc::new(Csr::from_triplets(0, 0, &[]).unwrap());
    let solved = solved_with(&empty, &Preconditioner::None, &[], &usual).unwrap();
    assert_eq!((solved.iterations, solved.converged), (0, true));
}
