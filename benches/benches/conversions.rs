//! Conversions from CSR and back, in bytes read and written a second, beside a copy of the matrix.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sparsescope_benches::{MATRICES, matrix};
use sparsescope_core::matrix::{FormatSpec, HllLayout, Order};
use sparsescope_core::memory::MemoryLimit;

criterion_group!(benches, conversions);
criterion_main!(benches);

fn conversions(criterion: &mut Criterion) {
    let order = Order::ColumnMajor;
    let hll = HllLayout { hack_size: 8, order, sigma: 256, spill: None };
    let others = [FormatSpec::Ell { order }, FormatSpec::Hyb { width: None, order }, FormatSpec::Hll(hll)];
    let limit = MemoryLimit::of_machine();
    for (name, recipe) in MATRICES {
        let a = matrix(recipe);
        let mut group = criterion.benchmark_group(format!("conversion/{name}"));
        group.sample_size(10).throughput(Throughput::Bytes(2 * a.bytes()));
        group.bench_function("copy", |bencher| bencher.iter_with_large_drop(|| a.map(|v| v)));
        group.bench_function("transpose", |bencher| bencher.iter_with_large_drop(|| a.transpose()));
        for spec in FormatSpec::DEFAULTS.into_iter().chain(others) {
            // Some formats are not for some matrices.
            let Ok(made) = spec.build(&a, limit) else { continue };
            assert_eq!(made.to_csr(), *a, "{}", spec.name());
            group.throughput(Throughput::Bytes(a.bytes() + made.bytes()));
            group.bench_function(spec.name(), |bencher| {
                bencher.iter_with_large_drop(|| spec.build(&a, limit));
            });
            group.bench_function(format!("{} to csr", spec.name()), |bencher| {
                bencher.iter_with_large_drop(|| made.to_csr());
            });
        }
    }
}
