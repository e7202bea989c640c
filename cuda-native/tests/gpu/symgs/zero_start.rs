//! Sweeps from zero, z = M⁻¹·r, compared with the CPU loops, bit for bit.

use sparsescope_core::gate::same_bits;
use sparsescope_core::matrix::Real;
use sparsescope_core::symgs::{Coloring, ZeroStart};
use sparsescope_cuda::SymgsPreconditioner;

use super::*;

const KERNELS: [&str; 3] = ["cuda/symgs/levels", "cuda/symgs/sync-free", "cuda/symgs/colored"];

/// Applies a preconditioner.
type Apply<'d, T> = Box<dyn Fn(&[T]) -> Vec<T> + 'd>;

/// The form that a kernel has chosen, and its preconditioner, by kernel, form and matrix.
macro_rules! preconditioners {
    ($device:expr) => {
        |kernel: &str, form, a: &Csr<_>, diagonal: &Diagonal| {
            let (of, limit) = ((a, diagonal), MemoryLimit::unlimited());
            let made = SymgsPreconditioner::new($device, kernel, form, of, limit).unwrap();
            let made = made.unwrap_or_else(|error| panic!("{kernel}: {error}"));
            let chosen = made.params().get("form").cloned();
            let apply: Apply<'_, _> = Box::new(move |r| {
                made.apply(r).unwrap_or_else(|error| panic!("a preconditioner: {error}"))
            });
            (chosen, apply)
        }
    };
}

/// The result of the loops; colours are assigned in row order, as on the device.
fn expected<T: Real>(
    a: &Csr<T>,
    diagonal: &Diagonal,
    (kernel, form): (&str, ZeroStart),
    r: &[T],
) -> Vec<T> {
    let mut z = vec![T::NAN; r.len()];
    if kernel.ends_with("colored") {
        let colors = Coloring::greedy(a, MemoryLimit::unlimited()).unwrap();
        serial::zero_start_in_order(a, diagonal, colors.groups().rows(), form, r, &mut z);
    } else {
        serial::zero_start(a, diagonal, form, r, &mut z);
    }
    z
}

/// Tests every kernel in every form on some right-hand sides, one after the other. The first one is
/// all NaN, so that the next shows whatever is left of it. Returns the chosen forms.
fn hold<'d, T: Real>(
    a: &Csr<T>,
    name: &str,
    sides: &[Vec<f64>],
    make: impl Fn(&str, ZeroStart, &Csr<T>, &Diagonal) -> (Option<String>, Apply<'d, T>),
) -> BTreeSet<String> {
    let diagonal = Diagonal::of(a, MemoryLimit::unlimited()).unwrap();
    let mut chosen = BTreeSet::new();
    for (kernel, form) in KERNELS.iter().flat_map(|&kernel| ZeroStart::ALL.map(|f| (kernel, f))) {
        let (choice, apply) = make(kernel, form, a, &diagonal);
        chosen.extend(choice);
        assert!(apply(&vec![T::NAN; a.rows()]).into_iter().all(|z| Into::<f64>::into(z).is_nan()));
        for r in sides {
            let r: Vec<T> = r.iter().copied().map(T::rounded).collect();
            let check = same_bits(&expected(a, &diagonal, (kernel, form), &r), &apply(&r));
            let what = format!("{kernel} {form:?} {}: {name}", T::PRECISION.as_str());
            assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        }
    }
    chosen
}

/// The same in both precisions.
fn hold_in_both(
    backend: &CudaBackend,
    a: &Csr,
    name: &str,
    sides: &[Vec<f64>],
) -> BTreeSet<String> {
    let device = backend.device();
    let mut chosen = hold(a, name, sides, preconditioners!(device));
    chosen.extend(hold(&a.map(f32::rounded), name, sides, preconditioners!(device)));
    chosen
}

/// Two right-hand sides.
fn sides(rows: usize) -> [Vec<f64>; 2] {
    [right_hand_side(rows, 42), starting_vector(rows, 7)]
}

/// The memory checks of `gpu-check.sh` run this test by name, too.
#[test]
fn from_zero_sweeps_pass_the_gate_on_small_matrices() {
    let backend = gpu!();
    for (name, a) in matrices().into_iter().filter(|(_, a)| a.rows() <= 1100) {
        hold_in_both(&backend, &a, &name, &sides(a.rows()));
    }
}

#[test]
fn from_zero_sweeps_have_the_bits_of_the_loops_on_matrices_that_break_sweeps() {
    let backend = gpu!();
    let mut chosen = BTreeSet::new();
    for (name, a) in matrices() {
        chosen.extend(hold_in_both(&backend, &a, &name, &sides(a.rows())));
    }
    // All ways to wait were covered.
    assert!(chosen.iter().eq(["rows", "slices", "threads"]), "{chosen:?}");
}

#[test]
fn from_zero_sweeps_have_the_bits_of_the_loops_on_real_matrices() {
    let backend = gpu!();
    for (name, a) in real_matrices() {
        hold_in_both(&backend, &a, &name, &sides(a.rows()));
    }
}

/// A nonzero that a sweep must not read, times the zero that it would find, would be NaN.
#[test]
fn from_zero_entries_that_are_infinite_count_where_they_are_read_alone() {
    let backend = gpu!();
    for (name, a) in matrices().into_iter().filter(|(_, a)| (900..5000).contains(&a.rows())) {
        let n = a.rows();
        let rows = (0..n).flat_map(|i| {
            let (col, val) = a.row(i);
            col.iter().zip(val).map(move |(&c, &v)| (i, c as usize, v))
        });
        let mut entries: Vec<_> = rows.collect();
        let others = entries.iter_mut().filter(|(i, j, _)| i != j);
        others.skip(5).step_by(397).for_each(|(.., v)| *v = f64::INFINITY);
        let a = Csr::from_triplets(n, n, &entries).unwrap();
        let [mut r, s] = sides(n);
        (r[n / 3], r[n / 5], r[n / 4]) = (f64::NAN, f64::INFINITY, -0.0);
        hold_in_both(&backend, &a, &name, &[r, vec![-0.0; n], s]);
    }
}

#[test]
fn kernels_that_do_not_begin_from_zero_are_none() {
    let backend = gpu!();
    let a = made("poisson2d?n=4");
    let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
    for kernel in ours().map(|kernel| kernel.id).chain([vendors().id, "cuda/csr/warp-shuffle"]) {
        let (of, limit) = ((&a, &diagonal), MemoryLimit::unlimited());
        let made = SymgsPreconditioner::new(backend.device(), kernel, ZeroStart::Half, of, limit);
        assert_eq!(made.is_some(), KERNELS.contains(&kernel), "{kernel}");
    }
}
