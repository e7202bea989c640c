//! The density pyramid, in entries a second, on all threads.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sparsescope_benches::{MATRICES, matrix};
use sparsescope_core::spy::Pyramid;

criterion_group!(benches, pyramid);
criterion_main!(benches);

fn pyramid(criterion: &mut Criterion) {
    for (name, recipe) in MATRICES {
        let a = matrix(recipe);
        let mut group = criterion.benchmark_group("pyramid");
        group.sample_size(10).throughput(Throughput::Elements(a.nnz() as u64));
        assert_eq!(Pyramid::of(&a).entries(), a.nnz() as u64);
        group.bench_function(name, |bencher| bencher.iter_with_large_drop(|| Pyramid::of(&a)));
    }
}
