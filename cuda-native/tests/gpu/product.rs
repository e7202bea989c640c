//! Products that are prepared once, with vectors of the host and of the device.

use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut};
use sparsescope_core::matrix::Operands;
use sparsescope_cuda::{CudaProduct, Device};

use super::*;

/// Integers, whose sums are exact in any order.
fn triplets() -> Vec<(usize, usize, f64)> {
    let row =
        |i: usize| (0..i % 41).map(move |j| (i, (i * 13 + j) % 500, (1 + (i + j) % 5) as f64));
    (0..1003).flat_map(row).collect()
}

/// By the definition.
fn expected(x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; 1003];
    triplets().into_iter().for_each(|(i, j, value)| y[i] += value * x[j]);
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

/// Our kernels in f64, in blocks of one size.
fn each(backend: &CudaBackend) -> Vec<Configuration> {
    let is_one = |case: &Case| matches!(case.1, None | Some(128)) && case.2 == Precision::F64;
    ours(backend).into_iter().filter(is_one).map(|case| configured(case, 32)).collect()
}

#[test]
fn a_product_computes_with_one_x_of_the_host_after_another() {
    let backend = gpu!();
    for configuration in each(&backend) {
        let id = configuration.kernel.id;
        let mut product = product(&configuration);
        for seed in [1, 2] {
            let (x, mut y) = (integer_vector(500, seed), vec![f64::NAN; 1003]);
            product.multiply(Operands::Double(&x, &mut y)).unwrap();
            assert_eq!(y, expected(&x), "{id}");
        }
        let refused = product.multiply(Operands::Double(&[1.0; 4], &mut [0.0; 1003])).unwrap_err();
        let sentence = "expected y with 1003 elements and x with 500, found 1003 and 4";
        assert_eq!(refused.reason, sentence);
        let refused = product.multiply(Operands::Single(&[1.0; 500], &mut [0.0; 1003]));
        assert_eq!(refused.unwrap_err().reason, "x and y are in another precision");
        let infinite = product.multiply(Operands::Double(&[f64::NAN; 500], &mut [0.0; 1003]));
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
    for configuration in each(&backend) {
        let mut product = product(&configuration);
        for seed in [1, 2] {
            let host = integer_vector(500, seed);
            let source = stream.clone_htod(&host).unwrap();
            let mut x = stream.alloc_zeros::<f64>(500).unwrap();
            let mut y = stream.alloc_zeros::<f64>(1003).unwrap();
            stream.memset_zeros(&mut much).unwrap();
            stream.memcpy_dtod(&source, &mut x).unwrap();
            let (from, to) = (x.device_ptr(&stream).0, y.device_ptr_mut(&stream).0);
            let number = stream.cu_stream() as u64;
            // SAFETY: x and y have as many elements as the matrix has columns and rows, on the
            // stream's device; both are next accessed, and x is freed, in the stream's order.
            let done = unsafe { product.multiply_on_device(from, to, number) };
            drop(x);
            if product.kernel().needs.finite_x {
                assert!(done.unwrap_err().reason.starts_with("it multiplies padding by x"));
                continue;
            }
            done.unwrap();
            let found = stream.clone_dtoh(&y).unwrap();
            assert_eq!(found, expected(&host), "{}", configuration.kernel.id);
        }
    }
}
