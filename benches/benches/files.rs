//! Reading and writing Matrix Market text in memory, in bytes of text a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sparsescope_benches::{MATRICES, matrix};
use sparsescope_core::io::{Field, Progress, matrix_market};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

criterion_group!(benches, files);
criterion_main!(benches);

fn files(criterion: &mut Criterion) {
    for (name, recipe) in MATRICES {
        let a = matrix(recipe);
        let mut general = Vec::new();
        matrix_market::write(&a, &mut general, Progress::none()).expect("memory takes all text");
        let (mut ones, mut symmetric) = (Vec::new(), Vec::new());
        let pattern = a.map(|_| 1.0);
        matrix_market::write_field(&pattern, Field::Pattern, &mut ones, Progress::none())
            .expect("ones are a pattern");
        let mut group = criterion.benchmark_group(format!("file/{name}"));
        group.sample_size(10).throughput(Throughput::Bytes(general.len() as u64));
        group.bench_function("write", |bencher| {
            bencher.iter_with_large_drop(|| {
                let mut text = Vec::with_capacity(general.len());
                matrix_market::write(&a, &mut text, Progress::none()).map(|()| text)
            });
        });
        let mut texts = vec![("general", &general, &*a), ("pattern", &ones, &pattern)];
        // Where the matrix is not symmetric, there is no such file.
        if matrix_market::write_symmetric(&a, Field::Real, &mut symmetric, Progress::none()).is_ok() {
            texts.push(("symmetric", &symmetric, &*a));
        }
        for (kind, text, expected) in texts {
            assert_eq!(&read(text), expected, "{kind}");
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("read {kind}"), |bencher| {
                bencher.iter_with_large_drop(|| read(text));
            });
        }
    }
}

fn read(text: &[u8]) -> Csr {
    let file = matrix_market::read_bytes(text, MemoryLimit::of_machine(), Progress::none());
    file.and_then(|file| file.matrix.into_real()).expect("a file that we wrote")
}
