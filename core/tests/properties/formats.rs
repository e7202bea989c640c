//! Any matrix survives every format and every file, and every kernel computes its SpMV.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, CpuBackend, Output, PrepareError, Problem, SpmvProblem,
    Watch,
};
use sparsescope_core::gate::Reference;
use sparsescope_core::io::{Progress, matrix_market, read_matrix};
use sparsescope_core::kernel::parameters::{BSR_BLOCK, HACK_SIZE, MIN_FILL, OP, SIGMA, SPILL};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Parameters, kernel, kernels};
use sparsescope_core::matrix::{
    AnyFormat, BSR_BLOCKS, Bsr, CompactCsr, CompactHll, Coo, Csr, Dia, Ellpack, FormatSpec,
    HACK_SIZES, Hll, HllLayout, Hyb, Order, Precision, Real, RowOrder, ValueCoding,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Operation;
use sparsescope_core::record::Verdict;
use sparsescope_core::spmv::simd::{CsrPlan, HllPlan, Level, Tuning};
use sparsescope_core::spmv::{self, Unscaled};

/// Matrices of up to 70 x 70: no rows, no columns, empty rows, and sometimes a dense row.
fn matrices() -> impl Strategy<Value = Csr> {
    (0usize..70, 0usize..70).prop_flat_map(|(m, n)| {
        let entries = if m == 0 || n == 0 { 0..1 } else { 0..300usize };
        let entry = (0..m.max(1), 0..n.max(1), -1e3..1e3f64);
        let dense = prop::option::of(0..m.max(1));
        (prop::collection::vec(entry, entries), dense).prop_map(move |(mut triplets, dense)| {
            if m == 0 || n == 0 {
                triplets.clear();
            } else if let Some(row) = dense {
                triplets.extend((0..n).map(|j| (row, j, 1.0 + j as f64)));
            }
            Csr::from_triplets(m, n, &triplets).unwrap()
        })
    })
}

fn all_formats() -> Vec<FormatSpec> {
    let orders = [Order::RowMajor, Order::ColumnMajor];
    let mut all = vec![FormatSpec::Csr, FormatSpec::Coo, FormatSpec::Dia { min_fill: 0 }];
    let blocks = BSR_BLOCKS.map(Some).chain([None]);
    all.extend(blocks.map(|block| FormatSpec::Bsr { block, min_fill: 0 }));
    for coding in ValueCoding::ALL {
        all.push(FormatSpec::CsrCompact(coding));
        for (size, sigma, spill) in
            [(8, 1, None), (32, 20, None), (4, 1, Some(3)), (16, 7, Some(0))]
        {
            let layout = HllLayout { sigma, spill, ..HllLayout::plain(size, Order::ColumnMajor) };
            all.push(FormatSpec::HllCompact(layout, coding));
        }
    }
    for order in orders {
        all.push(FormatSpec::Ell { order });
        all.extend(
            [None, Some(0), Some(1), Some(3), Some(500)]
                .map(|width| FormatSpec::Hyb { width, order }),
        );
        all.extend(HACK_SIZES.map(|size| FormatSpec::Hll(HllLayout::plain(size, order))));
        for (sigma, spill) in [(7, None), (1, Some(3)), (1000, Some(0)), (16, Some(8))] {
            all.push(FormatSpec::Hll(HllLayout { hack_size: 4, order, sigma, spill }));
        }
    }
    all
}

/// The arrays of a format pass the checks for arrays from outside.
fn accepted_by_try_new(a: &AnyFormat) -> bool {
    match a {
        AnyFormat::Csr(a) => {
            let arrays = (a.row_ptr().clone(), a.col().to_vec(), a.val().to_vec());
            Csr::try_new(a.rows(), a.cols(), arrays.0, arrays.1, arrays.2).as_ref() == Ok(a)
        }
        AnyFormat::Coo(a) => {
            let arrays = (a.row().to_vec(), a.col().to_vec(), a.val().to_vec());
            Coo::try_new(a.rows(), a.cols(), arrays.0, arrays.1, arrays.2).as_ref() == Ok(a)
        }
        AnyFormat::Ell(a) => {
            let arrays = (a.row_len().to_vec(), a.col().to_vec(), a.val().to_vec());
            Ellpack::try_new(a.shape(), a.cols(), arrays.0, arrays.1, arrays.2).as_ref() == Ok(a)
        }
        AnyFormat::Bsr(a) => {
            let arrays = (a.col().to_vec(), a.stored().to_vec(), a.val().to_vec());
            let (sizes, row_ptr) = ((a.rows(), a.cols()), a.row_ptr().clone());
            let made = Bsr::try_new(sizes, a.block(), row_ptr, arrays.0, arrays.1, arrays.2);
            made.as_ref() == Ok(a)
        }
        AnyFormat::Dia(a) => {
            let arrays = (a.offsets().to_vec(), a.stored().to_vec(), a.val().to_vec());
            let made = Dia::try_new((a.rows(), a.cols()), arrays.0, arrays.1, arrays.2);
            made.as_ref() == Ok(a)
        }
        AnyFormat::CsrCompact(a) => {
            let arrays = (a.start().to_vec(), a.low().to_vec(), a.high().to_vec());
            let made =
                CompactCsr::try_new(a.cols(), a.row_ptr().clone(), arrays, a.values().clone());
            made.as_ref() == Ok(a)
        }
        AnyFormat::HllCompact(a) => {
            let arrays = (a.base().to_vec(), a.low().to_vec(), a.high().to_vec());
            let (rows, len) = (a.row_order().clone(), a.row_len().to_vec());
            let (values, tail) = (a.values().clone(), a.tail().clone());
            let size = a.shape().hack_size();
            CompactHll::try_new(size, rows, len, arrays, values, tail).as_ref() == Ok(a)
        }
        AnyFormat::Hyb(a) => Hyb::try_new(a.ell().clone(), a.tail().clone()).as_ref() == Ok(a),
        AnyFormat::Hll(a) => {
            let (size, order) = (a.shape().hack_size(), a.shape().order());
            let arrays = (a.row_len().to_vec(), a.col().to_vec(), a.val().to_vec());
            let Some(row_of) = a.row_order().row_of() else {
                let made = Hll::try_new(size, order, a.cols(), arrays.0, arrays.1, arrays.2);
                return made.as_ref() == Ok(a);
            };
            let rows = RowOrder::try_new(row_of.to_vec(), a.row_order().tail()).unwrap();
            let (len, col, val) = arrays;
            let tail = a.tail().clone();
            let made = Hll::try_new_arranged((size, order), rows, len, col, val, tail);
            made.as_ref() == Ok(a)
        }
    }
}

/// Kernels of y = A·x on this CPU; those of a library only if it is installed.
fn on_cpu(cpu: &CpuBackend) -> impl Iterator<Item = &'static KernelDescriptor> {
    let on_cpu = kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cpu);
    on_cpu.filter(|k| k.takes_defaults()).filter(|k| cpu.availability(k) == Availability::Available)
}

/// A kernel with this number of threads and the parameters that it lists.
fn with(kernel: &'static KernelDescriptor, threads: u32, parameters: &Parameters) -> Configuration {
    let threads = if kernel.takes.threads { threads } else { 1 };
    let parameters = kernel.listed(parameters);
    Configuration { threads, parameters, ..Configuration::usual(kernel) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_format_gives_the_matrix_back_and_is_as_large_as_foretold(a in matrices()) {
        let single = Arc::new(a.map(f32::rounded));
        let a = Arc::new(a);
        let few = a.map(|value| (value / 10.0).round() * 0.1);
        for spec in all_formats() {
            // 200 distinct values if 8-bit codes are requested.
            let is_bytes = matches!(
                spec, FormatSpec::CsrCompact(ValueCoding::Byte) | FormatSpec::HllCompact(_, ValueCoding::Byte)
            );
            let a = if is_bytes { Arc::new(few.clone()) } else { Arc::clone(&a) };
            let single = if is_bytes { Arc::new(few.map(f32::rounded)) } else { Arc::clone(&single) };
            let made = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            prop_assert_eq!(&made.to_csr(), a.as_ref(), "{:?}", spec);
            prop_assert!(accepted_by_try_new(&made), "{:?}", spec);
            let size = spec.size(&a).unwrap();
            prop_assert_eq!((size.bytes, size.minimal_bytes), (made.bytes(), made.minimal_bytes()));

            let made = spec.build(&single, MemoryLimit::unlimited()).unwrap();
            prop_assert_eq!(&made.to_csr(), single.as_ref(), "{:?} in f32", spec);
            let narrow = spec.size(&single).unwrap();
            prop_assert_eq!((narrow.bytes, narrow.minimal_bytes), (made.bytes(), made.minimal_bytes()));
            // Each slot holds one value; the block size, and whether codes are smaller, depend on
            // the bytes per value.
            let is_alike = match spec {
                FormatSpec::Bsr { block, .. } => block.is_some(),
                FormatSpec::CsrCompact(coding) | FormatSpec::HllCompact(_, coding) => {
                    coding == ValueCoding::Plain
                }
                _ => true,
            };
            if is_alike {
                prop_assert_eq!(size.bytes - narrow.bytes, 4 * size.slots, "{:?}", spec);
            }
        }
    }

    #[test]
    fn every_kernel_passes_the_gate(
        a in matrices(), threads in 1usize..6, hack in 0usize..7,
        sigma in 0usize..40, spill in prop::option::of(0usize..20),
        bsr_block in prop::option::of(BSR_BLOCKS),
    ) {
        let hack_size = HACK_SIZES[hack];
        let mut parameters = Parameters::default()
            .with(HACK_SIZE.id(), &hack_size.to_string())
            .with(SIGMA.id(), &sigma.max(1).to_string())
            .with(MIN_FILL.id(), "0");
        for (parameter, value) in [(SPILL.id(), spill), (BSR_BLOCK.id(), bsr_block)] {
            if let Some(value) = value {
                parameters = parameters.with(parameter, &value.to_string());
            }
        }
        let x: Vec<f64> = (0..a.cols()).map(|j| 0.1 + j as f64 / 7.0).collect();
        let a = Arc::new(a);
        // The transpose has an x of another length.
        let drawn = SpmvProblem::drawn(Arc::clone(&a), 42);
        let problem = SpmvProblem::new(a, x);
        let backend = CpuBackend::new();
        let by_a = on_cpu(&backend).map(|kernel| (kernel, &problem, parameters.clone()));
        let transposed = kernel("cpu/csr/transposed").unwrap();
        let transposed = (transposed, &drawn, parameters.clone().with(OP.id(), "t"));
        let all = by_a.chain([transposed]);
        let all = all.flat_map(|of| Precision::UNIFORM.map(|precision| (of.clone(), precision)));
        for ((kernel, problem, parameters), precision) in all {
            let configuration =
                Configuration { precision, ..with(kernel, threads as u32, &parameters) };
            let mut prepared =
                backend.prepare(&configuration, problem, MemoryLimit::unlimited()).unwrap();
            // `output` fills y with NaN first.
            let never = AtomicBool::new(false);
            let watch = Watch::cancelled_by(&never);
            prepared.set_up(&watch).wait().unwrap();
            let output = prepared.output(&watch).wait().unwrap().unwrap();
            let check = problem.check(&configuration, &output);
            prop_assert_eq!(check.verdict, Verdict::Pass, "{} {:?}", kernel.id, check.reason);
            let is_single = matches!(output, Output::Single(_));
            prop_assert_eq!(is_single, precision == Precision::F32, "{}", kernel.id);
        }
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit(a in matrices()) {
        let mut text = Vec::new();
        matrix_market::write(&a, &mut text, Progress::none()).unwrap();
        let read = read_matrix(&text, MemoryLimit::unlimited(), Progress::none()).unwrap();
        prop_assert_eq!(read.matrix.into_real().unwrap(), a);
    }
}

/// The shapes that trip kernels: (rows, columns, nonzeros).
fn awkward() -> Vec<Csr> {
    let shape = |m: usize, n: usize, t: &[(usize, usize)]| {
        let t: Vec<_> = t.iter().map(|&(i, j)| (i, j, 1.5)).collect();
        Csr::from_triplets(m, n, &t).unwrap()
    };
    vec![
        shape(0, 0, &[]),
        shape(0, 5, &[]),
        shape(5, 0, &[]),
        shape(1, 1, &[(0, 0)]),
        shape(1, 40, &[(0, 3), (0, 39)]),
        shape(40, 1, &[(39, 0)]),
        shape(33, 7, &[(1, 2), (31, 6)]),
        shape(67, 67, &(0..67).map(|j| (30, j)).collect::<Vec<_>>()),
        shape(65, 20, &(0..65).map(|i| (i, i % 20)).collect::<Vec<_>>()),
    ]
}

#[test]
fn kernels_write_their_rows_and_nothing_beside_them() {
    for a in awkward() {
        let x = vec![2.0; a.cols()];
        let reference = Reference::new(&a, &x);
        let m = a.rows();
        let guarded = |product: &dyn Fn(&mut [f64])| {
            let mut y = vec![f64::NAN; m + 2];
            y[0] = 7.0;
            y[m + 1] = 8.0;
            product(&mut y[1..=m]);
            assert_eq!((y[0], y[m + 1]), (7.0, 8.0), "{m} rows");
            assert_eq!(reference.check(&y[1..=m]).verdict, Verdict::Pass, "{m} rows");
        };
        let parts = spmv::RowParts::equal_rows(m, 3);
        let path = spmv::MergePath::new(a.row_ptr(), 3);
        guarded(&|y| spmv::csr::serial(&a, Unscaled, &x, y));
        guarded(&|y| spmv::csr::parts(&a, &parts, Unscaled, &x, y));
        let by_entries = spmv::RowParts::equal_entries(a.row_ptr(), 3);
        guarded(&|y| spmv::csr::parts(&a, &by_entries, Unscaled, &x, y));
        guarded(&|y| spmv::csr::merge(&a, &path, Unscaled, &x, y));
        let tuning = Tuning::new::<f64>(a.cols(), a.col(), Level::of_machine(), 0);
        let plan = CsrPlan::new(&a, 3, tuning);
        guarded(&|y| spmv::simd::csr(&a, &plan, None, &x, y));
        let ell = Ellpack::from_csr(&a, Order::RowMajor, MemoryLimit::unlimited()).unwrap();
        guarded(&|y| spmv::ellpack::serial(&ell, Unscaled, &x, y));
        guarded(&|y| spmv::ellpack::parts(&ell, &parts, Unscaled, &x, y));
        let hll = Hll::from_csr(&a, 4, Order::RowMajor, MemoryLimit::unlimited()).unwrap();
        let chunks = spmv::GuidedChunks::new(hll.shape(), 3);
        guarded(&|y| spmv::hll::serial(&hll, Unscaled, &x, y));
        guarded(&|y| spmv::hll::guided(&hll, &chunks, Unscaled, &x, y));
        let hyb = Hyb::from_csr(&a, 1, Order::RowMajor, MemoryLimit::unlimited()).unwrap();
        let hyb_parts = spmv::hyb::HybParts::new(&hyb, 3);
        guarded(&|y| spmv::hyb::serial(&hyb, Unscaled, &x, y));
        guarded(&|y| spmv::hyb::parts(&hyb, &hyb_parts, Unscaled, &x, y));
        for block in BSR_BLOCKS {
            let bsr = Bsr::from_csr(&a, block, MemoryLimit::unlimited()).unwrap();
            let parts = spmv::RowParts::equal_block_rows(m, block, 3);
            guarded(&|y| spmv::bsr::parts(&bsr, Level::of_machine(), &parts, None, &x, y));
        }
        let dia = Dia::from_csr(&a, 0, MemoryLimit::unlimited()).unwrap();
        guarded(&|y| spmv::dia::parts(&dia, Level::of_machine(), &parts, None, &x, y));
        let layout =
            HllLayout { spill: Some(20), sigma: 9, ..HllLayout::plain(4, Order::RowMajor) };
        let sorted = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
        let chunks = spmv::GuidedChunks::new(sorted.shape(), 3);
        guarded(&|y| spmv::hll::serial(&sorted, Unscaled, &x, y));
        guarded(&|y| spmv::hll::guided(&sorted, &chunks, Unscaled, &x, y));
        for hack_size in [4, 32] {
            let layout = HllLayout { hack_size, order: Order::ColumnMajor, ..layout };
            let columns = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
            let plan = HllPlan::new(&columns, 3, tuning);
            guarded(&|y| spmv::simd::hll(&columns, &plan, None, &x, y));
        }
        let coo = Coo::from_csr(&a, MemoryLimit::unlimited()).unwrap();
        guarded(&|y| spmv::coo::serial(&coo, Unscaled, &x, y));
    }
}

#[test]
fn an_infinite_or_nan_x_gives_the_classes_of_csr_or_a_refusal() {
    let backend = CpuBackend::new();
    let parameters = Parameters::default().with(MIN_FILL.id(), "0");
    let never = AtomicBool::new(false);
    for a in awkward().into_iter().filter(|a| a.cols() > 1) {
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            // Every other column: rows that contain one are next to rows that do not.
            let x = (0..a.cols()).map(|j| if j % 2 == 1 { bad } else { 1.0 }).collect();
            let problem = SpmvProblem::new(Arc::new(a.clone()), x);
            for kernel in on_cpu(&backend) {
                let configuration = with(kernel, 3, &parameters);
                match backend.prepare(&configuration, &problem, MemoryLimit::unlimited()) {
                    Ok(mut prepared) => {
                        let watch = Watch::cancelled_by(&never);
                        prepared.set_up(&watch).wait().unwrap();
                        let output = prepared.output(&watch).wait().unwrap();
                        let output = output.unwrap();
                        let check = problem.check(&configuration, &output);
                        assert_eq!(check.verdict, Verdict::Pass, "{}", kernel.id);
                        let Output::Vector(y) = output else { panic!("no vector of f64") };
                        assert_eq!(y.len(), a.rows());
                    }
                    Err(PrepareError::Refused(why)) => {
                        assert!(kernel.needs.finite_x && why.contains("infinite or NaN"), "{why}");
                    }
                    Err(other) => assert_eq!(other.to_string(), "", "{}", kernel.id),
                }
            }
        }
    }
}
