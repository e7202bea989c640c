//! Sweeps against the definition, and every schedule against the serial loops, bit for bit.

use std::sync::LazyLock;

use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::steps::Sharing;
use super::*;
use sparsescope_matrix::generate::{GeneratorSpec, generate};
use sparsescope_matrix::matrix::{Csr, Real, examples, permuted};
use sparsescope_matrix::memory::MemoryLimit;

const FREE: fn() -> MemoryLimit = MemoryLimit::unlimited;

/// Square matrices of up to 60 rows with any structure and a diagonal, sometimes with a full row or
/// column.
pub(super) fn unsymmetric() -> impl Strategy<Value = Csr> {
    (0usize..60).prop_flat_map(|n| {
        let most = if n == 0 { 0 } else { 250 };
        let entry = (0..n.max(1), 0..n.max(1), -1.0..1.0f64);
        let entries = prop::collection::vec(entry, 0..=most);
        let full = || prop::option::weighted(0.2, 0..n.max(1));
        (entries, full(), full()).prop_map(move |(mut triplets, row, column)| {
            if n > 0 {
                triplets.extend(row.into_iter().flat_map(|i| (0..n).map(move |j| (i, j, 0.125))));
                triplets
                    .extend(column.into_iter().flat_map(|j| (0..n).map(move |i| (i, j, -0.25))));
            }
            triplets.retain(|&(i, j, _)| i != j);
            triplets.extend((0..n).map(|i| (i, i, 1.5 - (i % 3) as f64 * 1.75)));
            Csr::from_triplets(n, n, &triplets).unwrap()
        })
    })
}

static POOLS: LazyLock<[ThreadPool; 4]> = LazyLock::new(|| {
    [1, 2, 4, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap())
});

fn diagonal<T: Real>(a: &Csr<T>) -> Diagonal {
    Diagonal::of(a, FREE()).unwrap()
}

fn leveled<T: Real>(a: &Csr<T>, workers: usize, grain: usize) -> Schedule<T> {
    let diagonal = diagonal(a);
    let levels = LevelSets::of(a, &diagonal, FREE()).unwrap();
    Schedule::levels_in(levels, Sharing { workers, grain }, FREE()).unwrap()
}

/// Right-hand side and starting vector.
fn vectors<T: Real>(n: usize) -> (Vec<T>, Vec<T>) {
    let rounded = |v: Vec<f64>| v.into_iter().map(T::rounded).collect();
    (rounded(right_hand_side(n, 42)), rounded(starting_vector(n, 42)))
}

/// Each computation on a right-hand side and a vector.
#[derive(Clone, Copy, Debug)]
enum Form {
    Sweeps(Mode, usize),
    ZeroStart(ZeroStart),
}

const FORMS: [Form; 6] = [
    Form::Sweeps(Mode::Smoother, 1),
    Form::Sweeps(Mode::Smoother, 3),
    Form::Sweeps(Mode::Standard, 1),
    Form::Sweeps(Mode::Standard, 4),
    Form::ZeroStart(ZeroStart::Exact),
    Form::ZeroStart(ZeroStart::Half),
];

impl Form {
    fn in_turn<T: Real>(self, a: &Csr<T>, b: &[T], mut x: Vec<T>) -> Vec<T> {
        match self {
            Self::Sweeps(mode, sweeps) => serial::symgs(a, &diagonal(a), mode, b, &mut x, sweeps),
            Self::ZeroStart(form) => serial::zero_start(a, &diagonal(a), form, b, &mut x),
        }
        x
    }

    /// The same with a schedule, with all vectors in its order.
    fn scheduled<T: Real>(self, schedule: &Schedule<T>, b: &[T], mut x: Vec<T>) -> Vec<T> {
        let mut workspace = Workspace::default();
        match self {
            Self::Sweeps(mode, sweeps) => schedule.symgs(mode, b, &mut x, &mut workspace, sweeps),
            Self::ZeroStart(form) => schedule.zero_start(form, b, &mut x, &mut workspace),
        }
        x
    }
}

fn in_order<T: Real>(schedule: &Schedule<T>, natural: &[T]) -> Vec<T> {
    let mut ordered = vec![T::NAN; natural.len()];
    schedule.to_order(natural, &mut ordered);
    ordered
}

/// The first element whose bits differ; all NaNs count as equal.
fn differing<T: Real>(found: &[T], expected: &[T]) -> Option<(usize, T, T)> {
    assert_eq!(found.len(), expected.len());
    let alike = |a: T, b: T| {
        let (a, b): (f64, f64) = (a.into(), b.into());
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    };
    let pairs = found.iter().zip(expected).enumerate();
    pairs.map(|(i, (&f, &e))| (i, f, e)).find(|&(_, f, e)| !alike(f, e))
}

/// Checks both schedules on 1 to 8 threads, in all forms.
pub(super) fn agrees<T: Real>(a: &Csr<T>, grain: usize) -> Result<(), String> {
    let (b, x) = vectors::<T>(a.rows());
    let colors = Coloring::greedy(a, FREE()).unwrap();
    for (pool, workers) in POOLS.iter().zip([1, 2, 4, 8]) {
        let levels = leveled(a, workers, grain);
        let colored =
            Schedule::colored_in(a, &diagonal(a), &colors, Sharing { workers, grain }, FREE())
                .unwrap();
        let renumbered = permuted(a, colored.order(), FREE()).unwrap();
        let [ordered_b, ordered_x] = [&b, &x].map(|v| in_order(&levels, v));
        let [colored_b, colored_x] = [&b, &x].map(|v| in_order(&colored, v));
        for form in FORMS {
            let found = pool.install(|| form.scheduled(&levels, &ordered_b, ordered_x.clone()));
            let mut natural = vec![T::NAN; x.len()];
            levels.from_order(&found, &mut natural);
            if let Some(at) = differing(&natural, &form.in_turn(a, &b, x.clone())) {
                return Err(format!("levels, {workers} workers, {form:?}: {at:?}"));
            }
            let found = pool.install(|| form.scheduled(&colored, &colored_b, colored_x.clone()));
            let expected = form.in_turn(&renumbered, &colored_b, colored_x.clone());
            if let Some(at) = differing(&found, &expected) {
                return Err(format!("colored, {workers} workers, {form:?}: {at:?}"));
            }
        }
    }
    Ok(())
}

/// The same in both precisions.
pub(super) fn agrees_in_both(a: &Csr, grain: usize) {
    let found = agrees(a, grain).and_then(|()| agrees(&a.map(|v| v as f32), grain));
    assert!(found.is_ok(), "{} rows, {} entries: {}", a.rows(), a.nnz(), found.unwrap_err());
}

fn made(spec: &str) -> Csr {
    let spec = GeneratorSpec::parse(spec).unwrap();
    generate(&spec, FREE(), &false.into()).unwrap()
}

/// One sweep by the definition of the operator, from one vector into another.
fn one_sweep<T: Real>(a: &Csr<T>, mode: Mode, sweep: Direction, b: &[T], old: &[T]) -> Vec<T> {
    let mut new = old.to_vec();
    let rows: Vec<usize> = match sweep {
        Direction::Forward => (0..a.rows()).collect(),
        Direction::Backward => (0..a.rows()).rev().collect(),
    };
    for i in rows {
        let (col, val) = a.row(i);
        let mut sum = if mode == Mode::Smoother { old[i] } else { b[i] };
        let mut d = T::NAN;
        for (&c, &v) in col.iter().zip(val) {
            let c = c as usize;
            let is_new = if sweep == Direction::Forward { c < i } else { c > i };
            if c == i {
                d = v;
            }
            if c != i || mode == Mode::Smoother {
                sum = sum - v * if is_new { new[c] } else { old[c] };
            }
        }
        if mode == Mode::Smoother {
            sum += d * old[i];
        }
        new[i] = sum / d;
    }
    new
}

#[test]
fn a_sweep_of_three_rows_is_the_one_worked_out_by_hand() {
    let a = examples::dense(&[[2.0, 1.0, 0.0], [1.0, 4.0, 2.0], [0.0, 2.0, 8.0]]);
    let (b, mut x) = ([4.0, 8.0, 16.0], [2.0, 2.0, 2.0]);
    // Forward: (4 − 2)/2 = 1, (8 − 1 − 4)/4 = 0.75, (16 − 1.5)/8 = 1.8125; backward: the last is
    // unchanged, (8 − 1 − 3.625)/4 = 0.84375, (4 − 0.84375)/2 = 1.578125.
    serial::symgs(&a, &diagonal(&a), Mode::Standard, &b, &mut x, 1);
    assert_eq!(x, [1.578125, 0.84375, 1.8125]);
    // The right-hand side is x: (2 − 2)/2 = 0, (2 − 0 − 4)/4 = −0.5, (2 + 1)/8 = 0.375; backward:
    // (0.375 + 1)/8 = 0.171875, (−0.5 − 0 − 0.34375)/4 = −0.2109375, (0 + 0.2109375)/2.
    let mut x = [2.0, 2.0, 2.0];
    serial::symgs(&a, &diagonal(&a), Mode::Smoother, &b, &mut x, 1);
    assert_eq!(x, [0.10546875, -0.2109375, 0.171875]);
}

#[test]
fn the_smoothers_diagonal_is_subtracted_and_added_and_nothing_is_fused() {
    // In f32 (1 − 2²⁵) + 2²⁵ is 0, while an exact sum or one that skips the diagonal gives 1.
    let a = Csr::from_triplets(1, 1, &[(0, 0, 2f32.powi(25))]).unwrap();
    let mut x = [1f32];
    serial::symgs(&a, &diagonal(&a), Mode::Smoother, &[0.0], &mut x, 1);
    assert_eq!(x, [0.0]);
    // 1 + 2⁻¹² squared is 1 + 2⁻¹¹ + 2⁻²⁴, which rounds to 1 + 2⁻¹¹: a fused operation would leave
    // −2⁻²⁴.
    let v = 1.0 + 2f32.powi(-12);
    let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, v), (1, 1, 1f32)]).unwrap();
    let (mut x, b) = ([0.0; 2], [v, 1.0 + 2f32.powi(-11)]);
    serial::symgs(&a, &diagonal(&a), Mode::Standard, &b, &mut x, 1);
    assert_eq!(x, [v, 0.0]);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn synthetic_structures_have_the_bits_of_the_two_loops() {
    for spec in [
        "stencil27?n=9",
        "stencil7?n=9",
        "poisson2d?n=21",
        "kmer?m=5000",
        "kmer?m=5000&near=20",
        "random?m=400&row=6&dominant=1",
        "banded?m=700&half=30&row=7",
        "powerlaw?m=900&nnz=4000&max=200&dominant=1",
        "circuit?m=900&nnz=5000&dense=700",
        "diagonal?m=300",
    ] {
        let a = made(spec);
        agrees_in_both(&a, 64);
        agrees_in_both(&a.transpose(), 64);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn full_rows_and_columns_one_row_and_none_have_the_bits_of_the_two_loops() {
    // Row and column of an arrow with its head at either end or in the middle.
    let n = 46_500;
    for head in [0, n / 2, n - 1] {
        let row = (0..n).map(|j| (head, j, 1e-5));
        let column = (0..n).map(|i| (i, head, -0.5));
        let rest: Vec<_> = (0..n).map(|i| (i, i, 2.0)).collect();
        for which in [[true, false], [false, true], [true, true]] {
            let row = row.clone().filter(|_| which[0]);
            let column = column.clone().filter(|_| which[1]);
            let triplets: Vec<_> = row.chain(column).chain(rest.iter().copied()).collect();
            agrees_in_both(&Csr::from_triplets(n, n, &triplets).unwrap(), super::steps::GRAIN);
        }
    }
    agrees_in_both(&Csr::from_triplets(1, 1, &[(0, 0, 3.0)]).unwrap(), 1);
    agrees_in_both(&Csr::from_triplets(0, 0, &[]).unwrap(), 1);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn overflow_and_nan_come_out_alike() {
    // Not diagonally dominant at all: sweeps overflow, and infinities cancel.
    let a = made("random?m=300&row=9&dominant=1").map(|v| if v > 1.0 { 1e-3 } else { v });
    let (b, x) = vectors::<f64>(300);
    let grown = Form::Sweeps(Mode::Standard, 60).in_turn(&a, &b, x);
    assert!(grown.iter().any(|v| v.is_nan()));
    let levels = leveled(&a, 2, 1);
    let [b, x] = {
        let (b, x) = vectors::<f64>(300);
        [b, x]
    }
    .map(|v| in_order(&levels, &v));
    let found = POOLS[1].install(|| Form::Sweeps(Mode::Standard, 60).scheduled(&levels, &b, x));
    assert_eq!(differing(&found, &in_order(&levels, &grown)).map(|d| d.0), None);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn sweeps_end_however_few_threads_there_are_and_however_many_run_at_once() {
    let a = made("stencil27?n=12");
    let schedule = leveled(&a, 8, 64);
    let (b, x) = vectors::<f64>(a.rows());
    let [b, x] = [b, x].map(|v| in_order(&schedule, &v));
    let sweeps = || Form::Sweeps(Mode::Standard, 20).scheduled(&schedule, &b, x.clone());
    let expected = POOLS[0].install(sweeps);
    for pool in &POOLS[..2] {
        std::thread::scope(|scope| {
            let outside: Vec<_> = (0..4).map(|_| scope.spawn(|| pool.install(sweeps))).collect();
            let (first, second) =
                pool.install(|| rayon::join(sweeps, || rayon::join(sweeps, sweeps)));
            let outside = outside.into_iter().map(|thread| thread.join().unwrap());
            for found in outside.chain([first, second.0, second.1]) {
                assert_eq!(differing(&found, &expected).map(|d| d.0), None);
            }
        });
    }
}

#[test]
fn a_triangular_system_is_solved_by_one_sweep() {
    for spec in ["kmer?m=4000&near=9", "kmer?m=4000"] {
        let a = made(spec);
        let (b, x) = vectors::<f64>(4000);
        let solved = Form::Sweeps(Mode::Standard, 1).in_turn(&a, &b, x);
        assert!(relative_residual(&a, &b, &solved) < 1e-15, "{spec}");
    }
}

#[test]
fn residuals_fall_in_both_orders_and_a_solution_stays() {
    let a = made("stencil27?n=10");
    let (b, x) = vectors::<f64>(1000);
    let colors = Coloring::greedy(&a, FREE()).unwrap();
    let colored = Schedule::colored(&a, &diagonal(&a), &colors, 2, FREE()).unwrap();
    let mut before = [f64::INFINITY; 2];
    for sweeps in [1, 2, 4, 8, 16] {
        let form = Form::Sweeps(Mode::Standard, sweeps);
        let natural = form.in_turn(&a, &b, x.clone());
        let ordered = form.scheduled(&colored, &in_order(&colored, &b), in_order(&colored, &x));
        let mut back = vec![0.0; 1000];
        colored.from_order(&ordered, &mut back);
        let now = [&natural, &back].map(|x| relative_residual(&a, &b, x));
        assert!(now[0] < 0.7 * before[0] && now[1] < 0.7 * before[1], "{before:?} {now:?}");
        before = now;
    }
    // The solution of ones is reproduced exactly: all sums are small integers.
    let ones = vec![1.0; 1000];
    let b: Vec<f64> = (0..1000).map(|i| a.row(i).1.iter().sum()).collect();
    assert_eq!(Form::Sweeps(Mode::Standard, 3).in_turn(&a, &b, ones.clone()), ones);
}

#[test]
fn from_zero_the_inverse_of_the_product_of_triangles_is_applied() {
    let a = made("random?m=200&row=6&dominant=1");
    let (r, x) = vectors::<f64>(200);
    let zero = vec![0.0; 200];
    let exact = Form::ZeroStart(ZeroStart::Exact).in_turn(&a, &r, x.clone());
    let half = Form::ZeroStart(ZeroStart::Half).in_turn(&a, &r, x);
    // Equal except for the sign of zeros, which `==` ignores.
    assert_eq!(exact, Form::Sweeps(Mode::Standard, 1).in_turn(&a, &r, zero));
    for z in [&exact, &half] {
        // (D + U)·z, then D⁻¹, then (D + L).
        let side = |i: usize, v: &[f64], wanted: fn(usize, usize) -> bool| -> f64 {
            let (col, val) = a.row(i);
            let terms = col.iter().map(|&c| c as usize).zip(val);
            terms.filter(|&(c, _)| wanted(c, i)).map(|(c, &a)| a * v[c]).sum()
        };
        let d = |i: usize| side(i, &[1.0; 200], |c, i| c == i);
        let w: Vec<f64> = (0..200).map(|i| side(i, z, |c, i| c >= i) / d(i)).collect();
        for (i, r) in r.iter().enumerate() {
            assert!((side(i, &w, |c, i| c <= i) - r).abs() < 1e-14, "row {i}");
        }
    }
}

#[test]
fn set_up_asks_for_memory_first_and_says_what_it_took() {
    let a = made("random?m=400&row=6&dominant=1");
    let few = MemoryLimit::bytes(1000);
    assert!(matches!(Levels::of(&a, Direction::Forward, few), Err(OperandError::Memory(_))));
    assert!(matches!(Coloring::greedy(&a, few), Err(OperandError::Memory(_))));
    let colors = Coloring::greedy(&a, FREE()).unwrap();
    let diagonal = diagonal(&a);
    assert!(LevelSets::of(&a, &diagonal, few).is_err());
    let levels = LevelSets::of(&a, &diagonal, FREE()).unwrap();
    assert!(Schedule::levels(levels, 2, few).is_err());
    assert!(Schedule::colored(&a, &diagonal, &colors, 2, few).is_err());
    // 8 bytes of order per row; 12 per nonzero and 8 per diagonal value; two offsets per row.
    let colored = Schedule::colored(&a, &diagonal, &colors, 1, FREE()).unwrap();
    let rows = 8 * 400 + 12 * (a.nnz() - 400) + 8 * 400 + 2 * 4 * 401;
    assert!((rows..rows + 100).contains(&(colored.bytes() as usize)));
}

proptest! {
    #[test]
    fn a_sweep_is_what_its_definition_says(a in unsymmetric()) {
        let (b, x) = vectors::<f64>(a.rows());
        for mode in Mode::ALL {
            let forward = one_sweep(&a, mode, Direction::Forward, &b, &x);
            let expected = one_sweep(&a, mode, Direction::Backward, &b, &forward);
            let found = Form::Sweeps(mode, 1).in_turn(&a, &b, x.clone());
            prop_assert!(differing(&found, &expected).is_none(), "{mode:?}");
        }
    }

    /// With diagonals of ±1 and nonzeros of −1, 0 and 1, everything is a small integer in any order
    /// of summation.
    #[test]
    fn from_zero_in_an_order_is_from_zero_with_the_rows_numbered_so(
        (entries, order) in (1usize..12).prop_flat_map(|n| {
            let order = Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle();
            (prop::collection::vec(-1i8..=1, n * n), order)
        })
    ) {
        let n = order.len();
        let triplets = entries.iter().enumerate().map(|(k, &v)| (k / n, k % n, f64::from(v)));
        let triplets = triplets.map(|(i, j, v)| (i, j, if i == j { 1.0 - 2.0 * v.abs() } else { v }));
        let entries: Vec<_> = triplets.filter(|&(.., v)| v != 0.0).collect();
        let a = Csr::from_triplets(n, n, &entries).unwrap();
        let renumbered = permuted(&a, &order, FREE()).unwrap();
        let r: Vec<f64> = (0..n).map(|i| (i * 7 % 5) as f64 - 2.0).collect();
        let ordered = |v: &[f64]| -> Vec<f64> { order.iter().map(|&i| v[i as usize]).collect() };
        for form in ZeroStart::ALL {
            let mut z = vec![f64::NAN; n];
            serial::zero_start_in_order(&a, &diagonal(&a), &order, form, &r, &mut z);
            let expected =
                Form::ZeroStart(form).in_turn(&renumbered, &ordered(&r), vec![f64::NAN; n]);
            prop_assert_eq!(ordered(&z), expected, "{:?}", form);
        }
    }

    #[test]
    fn from_zero_in_the_matrixs_order_has_the_bits_of_the_two_loops(a in unsymmetric()) {
        let (r, x) = vectors::<f32>(a.rows());
        let a = a.map(|v| v as f32);
        let order: Vec<u32> = (0..a.rows() as u32).collect();
        for form in ZeroStart::ALL {
            let mut z = x.clone();
            serial::zero_start_in_order(&a, &diagonal(&a), &order, form, &r, &mut z);
            let expected = Form::ZeroStart(form).in_turn(&a, &r, x.clone());
            prop_assert!(differing(&z, &expected).is_none(), "{:?}", form);
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn any_structure_has_the_bits_of_the_two_loops(a in unsymmetric(), grain in 1usize..60) {
        for a in [&a, &a.transpose()] {
            prop_assert_eq!(agrees(a, grain), Ok(()));
            prop_assert_eq!(agrees(&a.map(|v| v as f32), grain), Ok(()));
        }
    }
}
