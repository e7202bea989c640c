//! The model of the layout explorer against the counters of a GPU.
//!
//! `golden/nsight-compute.csv` holds counts by Nsight Compute; it is never written from the model.
//! `cuda-native/gpu-check.sh` with `STEPS=sectors` takes such counts on another GPU.

use std::path::Path;

use sparsescope_core::experiment::{LoadedValues, MatrixSource};
use sparsescope_core::io::Progress;
use sparsescope_core::kernel::{FormatParams, kernel};
use sparsescope_core::layout::{Loops, Schedule, Traffic};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_test_support::{Need, skip};

use crate::common::real_matrices;

const COUNTED: &str = include_str!("../../golden/nsight-compute.csv");

/// Maximum deviation of the model from the counter.
const TOLERANCE: f64 = 0.02;

/// One count.
struct Counted {
    matrix: &'static str,
    kernel: &'static str,
    block: u32,
    sigma: usize,
    sectors: u64,
}

/// The counts on generated matrices, or on those of files.
fn counted(generated: bool) -> Vec<Counted> {
    let mut lines = COUNTED.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("matrix,kernel,block,sigma,sectors"));
    let all = lines.map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let &[matrix, kernel, block, sigma, sectors] = cells.as_slice() else { panic!("{line}") };
        let (block, sigma) = (block.parse().unwrap(), sigma.parse().unwrap());
        Counted { matrix, kernel, block, sigma, sectors: sectors.parse().unwrap() }
    });
    all.filter(|c| c.matrix.starts_with("gen:") == generated).collect()
}

fn load(matrix: &str) -> std::sync::Arc<Csr> {
    let source = MatrixSource::parse(matrix).unwrap();
    let read =
        source.load_values(MemoryLimit::unlimited(), Progress::none(), &false.into()).unwrap();
    let LoadedValues::Real(a) = read.values else { panic!("{matrix} is complex") };
    a
}

/// Sectors of all global loads of one SpMV.
fn predicted(a: &std::sync::Arc<Csr>, id: &str, (block, sigma): (u32, usize)) -> u64 {
    let kernel = kernel(id).unwrap();
    let spec = kernel.format().unwrap().with(&FormatParams { sigma, ..FormatParams::default() });
    let format = spec.build(a, MemoryLimit::unlimited()).unwrap();
    let schedule = Schedule::new(kernel, &format, block, Loops::AsCompiled).unwrap();
    Traffic::of(&schedule).loads().sectors
}

/// Compares the model with the counts; `at` finds a matrix.
fn hold(counts: &[Counted], at: impl Fn(&str) -> String) {
    let mut loaded: Option<(&str, std::sync::Arc<Csr>)> = None;
    for Counted { matrix, kernel, block, sigma, sectors } in counts {
        if loaded.as_ref().is_none_or(|(name, _)| name != matrix) {
            loaded = Some((matrix, load(&at(matrix))));
        }
        let Some((_, a)) = &loaded else { continue };
        let model = predicted(a, kernel, (*block, *sigma));
        let off = model.abs_diff(*sectors) as f64 / *sectors as f64;
        assert!(off <= TOLERANCE, "{kernel} on {matrix}: {model} sectors, counted {sectors}");
    }
}

#[test]
fn sectors_of_a_generated_matrix_are_those_that_nsight_compute_counted() {
    let counts = counted(true);
    assert_eq!(counts.len(), 16);
    hold(&counts, str::to_owned);
    // The tolerance is tight enough to tell kernels and loops apart.
    let a = load(counts[0].matrix);
    let other = predicted(&a, "cuda/ell/thread-per-row", (128, 1));
    assert!((other as f64 / counts[0].sectors as f64 - 1.0).abs() > TOLERANCE, "{other}");
}

#[test]
fn sectors_of_real_matrices_are_those_that_nsight_compute_counted() {
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let counts = counted(false);
    assert_eq!(counts.len(), 31);
    let path = |name: &str| folder.join(Path::new(name)).to_string_lossy().into_owned();
    if let Some(absent) = counts.iter().find(|c| !Path::new(&path(c.matrix)).is_file()) {
        skip!(Need::Matrices, "{} is not in {}", absent.matrix, folder.display());
    }
    hold(&counts, path);
}
