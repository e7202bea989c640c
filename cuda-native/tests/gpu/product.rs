//! Products that are prepared once, with vectors of the host and of the device.

use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut};
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::matrix::Operands;
use sparsescope_cuda::{CudaProduct, Device};

use super::*;

/// Integers, whose sums are exact in any order.
fn triplets() -> Vec<(usize, usize, f64)> {
    let row =
        |i: usize| (0..i % 41).map(move |j| (i, (i * 13 + j) % 500, (1 + (i + j) % 5) as f64));
    (0..1003).flat_map(row).collect()
}

/// By the definition, for an X of k columns.
fn expected(x: &[f64], k: usize) -> Vec<f64> {
    let mut y = vec![0.0; 1003 * k];
    for (i, j, value) in triplets() {
        (0..k).for_each(|c| y[i * k + c] += value * x[j * k + c]);
    }
    y
}

fn product(configuration: &Configuration) -> CudaProduct {
    let a = Arc::new(Csr::from_triplets(1003, 500, &triplets()).unwrap());
    let never = AtomicBool::new(false);
    let (watch, memory) = (Watch::cancelled_by(&never), MemoryLimit::unlimited());
    let device = Device::open(0).unwrap();
    let made = CudaProduct::new(device, configuration, &a, memory, &watch).unwrap();
    let product = made.unwrap();
    assert_eq!(product.check().verdict, Verdict::Pass, "{}", configuration.kernel.id);
    product
}

/// Our kernels in f64, in blocks of one size, with the number of columns: 1 for SpMV.
fn each(backend: &CudaBackend) -> Vec<(Configuration, usize)> {
    let is_one = |case: &Case| matches!(case.1, None | Some(128)) && case.2 == Precision::F64;
    let spmv = ours(backend).into_iter().filter(is_one).map(|case| (configured(case, 32), 1));
    let several = kernels(Operation::Spmm).iter().filter(|k| k.id.starts_with("cuda/"));
    let spmm = several.flat_map(|kernel| [1, 10].map(|k| (with_columns(kernel, k), k)));
    spmv.chain(spmm).collect()
}

/// BSR at any fill.
fn with_columns(kernel: &'static KernelDescriptor, k: usize) -> Configuration {
    let all = Parameters::default().with(VECTORS.id(), &k.to_string()).with(MIN_FILL.id(), "0");
    Configuration { parameters: kernel.listed(&all), ..Configuration::usual(kernel) }
}

#[test]
fn a_product_computes_with_one_x_of_the_host_after_another() {
    let backend = gpu!();
    for (configuration, k) in each(&backend) {
        let id = configuration.kernel.id;
        let (rows, cols) = (1003 * k, 500 * k);
        let mut product = product(&configuration);
        let mut y = vec![f64::NAN; rows];
        for seed in [1, 2] {
            let x = integer_vector(cols, seed);
            product.multiply(Operands::Double(&x, &mut y)).unwrap();
            assert_eq!(y, expected(&x, k), "{id}");
        }
        let refused = product.multiply(Operands::Double(&[1.0; 4], &mut y)).unwrap_err();
        let sentence =
            format!("expected y with {rows} elements and x with {cols}, found {rows} and 4");
        assert_eq!(refused.reason, sentence);
        // X and Y of as many columns as each other, but not of k.
        let (x, mut more) = (vec![1.0; 2 * cols], vec![0.0; 2 * rows]);
        assert!(product.multiply(Operands::Double(&x, &mut more)).is_err(), "{id}");
        let refused = product.multiply(Operands::Single(&vec![1.0; cols], &mut vec![0.0; rows]));
        assert_eq!(refused.unwrap_err().reason, "x and y are in another precision");
        let infinite = product.multiply(Operands::Double(&vec![f64::NAN; cols], &mut y));
        assert_eq!(infinite.is_err(), product.kernel().needs.finite_x, "{id}");
        // One that was chosen takes any x on the device, too.
        assert!(id != "cuda/spmv/auto" || !product.kernel().needs.finite_x);
    }
}

#[test]
fn a_product_of_vectors_on_the_device_is_in_the_order_of_the_callers_stream() {
    let backend = gpu!();
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    // What keeps the stream busy before x is written.
    let mut much = stream.alloc_zeros::<u8>(1 << 27).unwrap();
    for (configuration, k) in each(&backend) {
        let mut product = product(&configuration);
        for seed in [1, 2] {
            let host = integer_vector(500 * k, seed);
            let source = stream.clone_htod(&host).unwrap();
            let mut x = stream.alloc_zeros::<f64>(500 * k).unwrap();
            let mut y = stream.alloc_zeros::<f64>(1003 * k).unwrap();
            stream.memset_zeros(&mut much).unwrap();
            stream.memcpy_dtod(&source, &mut x).unwrap();
            let (from, to) = (x.device_ptr(&stream).0, y.device_ptr_mut(&stream).0);
            let number = stream.cu_stream() as u64;
            // SAFETY: x and y have k elements per column and row of the matrix, on the stream's
            // device; both are next accessed, and x is freed, in the stream's order.
            let done = unsafe { product.multiply_on_device(from, to, number) };
            drop(x);
            if product.kernel().needs.finite_x {
                assert!(done.unwrap_err().reason.starts_with("it multiplies padding by x"));
                continue;
            }
            done.unwrap();
            let found = stream.clone_dtoh(&y).unwrap();
            assert_eq!(found, expected(&host, k), "{}", configuration.kernel.id);
        }
    }
}

#[test]
fn a_kernel_that_takes_x_by_columns_is_refused() {
    let _backend = gpu!();
    let a = Arc::new(Csr::from_triplets(1003, 500, &triplets()).unwrap());
    let never = AtomicBool::new(false);
    let (watch, memory) = (Watch::cancelled_by(&never), MemoryLimit::unlimited());
    let is_it = |k: &&KernelDescriptor| k.id == "vendor/cusparse/spmm-columns-alg1";
    let configuration = with_columns(kernels(Operation::Spmm).iter().find(is_it).unwrap(), 8);
    let device = Device::open(0).unwrap();
    let Err(error) = CudaProduct::new(device, &configuration, &a, memory, &watch) else {
        panic!("it is prepared")
    };
    let reason = "it takes X by columns, expected a kernel that takes X by rows";
    assert_eq!(error.to_string(), reason);
}
