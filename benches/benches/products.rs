//! Products y = A·x: kernels of ours beside those of other Rust libraries, on one thread but where the
//! name says otherwise. Each result is compared with the reference before anything is timed.

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use faer::Accum;
use faer::sparse::linalg::matmul::dense_sparse_matmul;
use faer::sparse::{SparseRowMat, SymbolicSparseRowMat};
use faer::{MatMut, MatRef, Par};
use nalgebra_sparse::CsrMatrix;
use nalgebra_sparse::na::DVector;
use nalgebra_sparse::ops::Op;
use nalgebra_sparse::ops::serial::spmm_csr_dense;
use sparsescope_benches::{MATRICES, matrix, operand};
use sparsescope_core::matrix::{CompactHll, Csr, Hll, HllLayout, Order, RowPtr, ValueCoding};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::spmv::compact::{self, HllShares};
use sparsescope_core::spmv::simd::{self, CsrPlan, HllPlan, Level, Tuning};
use sparsescope_core::spmv::{self, RowParts, Unscaled};
use sprs::prod::mul_acc_mat_vec_csr;

criterion_group!(benches, products);
criterion_main!(benches);

fn products(criterion: &mut Criterion) {
    for (name, recipe) in MATRICES {
        let a = matrix(recipe);
        let x = operand(a.cols());
        let mut expected = vec![0.0; a.rows()];
        spmv::csr::serial(&a, Unscaled, &x, &mut expected);
        let mut group = criterion.benchmark_group(format!("product/{name}"));
        group.throughput(Throughput::Elements(a.nnz() as u64)).sample_size(20);
        let mut case = Case { group, x: &x, a: &a, expected: &expected };
        ours(&mut case);
        sprs(&mut case);
        nalgebra(&mut case);
        faer(&mut case);
    }
}

/// What is measured on one matrix.
struct Case<'c, 'm> {
    group: BenchmarkGroup<'c, criterion::measurement::WallTime>,
    a: &'m Csr,
    x: &'m [f64],
    expected: &'m [f64],
}

impl Case<'_, '_> {
    /// Times `product(x, y)` once it is right: off by no more than sums in another order are.
    fn time(&mut self, name: &str, mut product: impl FnMut(&[f64], &mut [f64])) {
        let mut y = vec![f64::NAN; self.expected.len()];
        product(self.x, &mut y);
        for (i, (found, expected)) in y.iter().zip(self.expected).enumerate() {
            let (col, val) = self.a.row(i);
            let terms = col.iter().zip(val).map(|(&c, v)| (v * self.x[c as usize]).abs());
            let bound = 2.0 * col.len() as f64 * 2f64.powi(-53) * terms.sum::<f64>();
            assert!((found - expected).abs() <= bound, "{name}, row {i}: {found}, not {expected}");
        }
        let x = self.x;
        self.group.bench_function(name, |bencher| bencher.iter(|| product(black_box(x), &mut y)));
    }
}

/// Bytes of x that a core's own caches are taken to hold.
const NEAR: u64 = 1 << 20;

fn ours(case: &mut Case<'_, '_>) {
    let a = case.a;
    let limit = MemoryLimit::of_machine();
    let level = Level::for_gathers();
    case.time("ours csr serial", |x, y| spmv::csr::serial(a, Unscaled, x, y));
    let parts = RowParts::equal_entries(a.row_ptr(), rayon::current_num_threads());
    case.time("ours csr nnz, all threads", |x, y| spmv::csr::parts(a, &parts, Unscaled, x, y));
    let plan = CsrPlan::new(a, 1, Tuning::new::<f64>(a.cols(), a.col(), level, NEAR));
    case.time("ours csr simd", |x, y| simd::csr(a, &plan, None, x, y));

    let hll = Hll::from_csr(a, 32, Order::RowMajor, limit);
    let hll = hll.expect("hacks of 32 rows that fit into memory");
    case.time("ours hll serial", |x, y| spmv::hll::serial(&hll, Unscaled, x, y));
    let layout = HllLayout { hack_size: 32, order: Order::ColumnMajor, sigma: 1024, spill: None };
    let hll = Hll::arranged(a, layout, limit).expect("sorted rows that fit into memory");
    let plan = HllPlan::new(&hll, 1, Tuning::new::<f64>(a.cols(), hll.col(), level, NEAR));
    case.time("ours hll simd", |x, y| simd::hll(&hll, &plan, None, x, y));
    let few = CompactHll::from_csr(a, layout, ValueCoding::Auto, limit);
    let few = few.expect("fewer bytes than they have");
    let shares = HllShares::new(&few, 1, level, NEAR);
    case.time("ours hll compact", |x, y| compact::hll(&few, &shares, None, x, y));
}

fn offsets(a: &Csr) -> Vec<usize> {
    a.row_ptr().iter().map(|offset| offset as usize).collect()
}

fn sprs(case: &mut Case<'_, '_>) {
    let a = case.a;
    let narrow = match a.row_ptr() {
        RowPtr::Narrow(offsets) => offsets.clone(),
        RowPtr::Wide(_) => return,
    };
    let (col, val) = (a.col().to_vec(), a.val().to_vec());
    let theirs = sprs::CsMatI::<f64, u32>::new((a.rows(), a.cols()), narrow, col, val);
    case.time("sprs", |x, y| {
        y.fill(0.0);
        mul_acc_mat_vec_csr(theirs.view(), x, y);
    });
}

fn nalgebra(case: &mut Case<'_, '_>) {
    let a = case.a;
    let col = a.col().iter().map(|&c| c as usize).collect();
    let (rows, cols, val) = (a.rows(), a.cols(), a.val().to_vec());
    let theirs = CsrMatrix::try_from_csr_data(rows, cols, offsets(a), col, val);
    let theirs = theirs.expect("the arrays of CSR");
    let operand = DVector::from_column_slice(case.x);
    let mut result = DVector::zeros(rows);
    case.time("nalgebra-sparse", |_, y| {
        spmm_csr_dense(0.0, &mut result, 1.0, Op::NoOp(&theirs), Op::NoOp(&operand));
        y.copy_from_slice(result.as_slice());
    });
}

fn faer(case: &mut Case<'_, '_>) {
    let a = case.a;
    let RowPtr::Narrow(offsets) = a.row_ptr() else { return };
    let (rows, cols) = (a.rows(), a.cols());
    let (offsets, col) = (offsets.clone(), a.col().to_vec());
    let symbolic = SymbolicSparseRowMat::<u32>::new_checked(rows, cols, offsets, None, col);
    let theirs = SparseRowMat::<u32, f64>::new(symbolic, a.val().to_vec());
    // yᵀ = xᵀ·Aᵀ: the rows of A are the columns of Aᵀ.
    case.time("faer", |x, y| {
        let x = MatRef::from_row_major_slice(x, 1, cols);
        let y = MatMut::from_row_major_slice_mut(y, 1, rows);
        dense_sparse_matmul(y, Accum::Replace, x, theirs.as_ref().transpose(), 1.0, Par::Seq);
    });
}
