//! Y = A·X on a GPU: any number of columns on matrices that break kernels.

use sparsescope_core::experiment::SpmmProblem;
use sparsescope_core::kernel::parameters::VECTORS;

use super::*;

/// The kernels whose ids start with `whose`, or why one of them cannot run.
fn several(backend: &CudaBackend, whose: &str) -> Result<Vec<&'static KernelDescriptor>, String> {
    let on_gpu = |k: &&KernelDescriptor| k.device == DeviceKind::Cuda && k.id.starts_with(whose);
    let all: Vec<_> = kernels(Operation::Spmm).iter().filter(on_gpu).collect();
    assert!(!all.is_empty(), "{whose}");
    for kernel in &all {
        if let Availability::Missing(why) = backend.availability(kernel) {
            return Err(format!("{}: {why}", kernel.id));
        }
    }
    Ok(all)
}

/// Each kernel in both precisions with odd and even numbers of columns, on every matrix.
fn pass(backend: &CudaBackend, kernels: &[&'static KernelDescriptor]) {
    for (name, a) in matrices() {
        let problem = SpmmProblem::drawn(Arc::new(a), 42);
        for &kernel in kernels {
            let blocks: &[Option<u32>] = match kernel.takes.block {
                true => &[Some(32), Some(160), Some(1024)],
                false => &[None],
            };
            for (&block, precision) in blocks
                .iter()
                .flat_map(|block| Precision::UNIFORM.map(|precision| (block, precision)))
            {
                for k in [1, 2, 3, 7, 8, 16, 20, 33, 64] {
                    let parameters = Parameters::default().with(VECTORS.id(), &k.to_string());
                    let usual = Configuration::usual(kernel);
                    let configuration = Configuration { block, precision, parameters, ..usual };
                    let what = format!("{} {precision:?} {block:?} {k}: {name}", kernel.id);
                    let prepared = ready(backend, &configuration, &problem);
                    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let mut product =
                        || output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
                    let first = product();
                    let check = problem.check(&configuration, &first);
                    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                    assert!(!kernel.deterministic || product() == first, "{what}: other bits");
                }
            }
        }
    }
}

/// The memory checks of `gpu-check.sh` run it by name.
#[test]
fn our_spmm_passes_the_gate_with_any_number_of_columns() {
    let backend = gpu!();
    pass(&backend, &several(&backend, "cuda/").unwrap());
}

#[test]
fn vendors_spmm_passes_the_gate_with_any_number_of_columns() {
    let backend = gpu!();
    match several(&backend, "vendor/") {
        Ok(kernels) => pass(&backend, &kernels),
        Err(why) => skip!(Need::Cusparse, "{why}"),
    }
}
