//! Y = A·X on a GPU: any number of columns on matrices that break kernels.

use std::collections::BTreeMap;

use sparsescope_core::experiment::SpmmProblem;
use sparsescope_core::kernel::parameters::{BSR_BLOCK, VECTORS};
use sparsescope_core::kernel::{Parameter, kernel};
use sparsescope_core::matrix::BSR_BLOCKS;

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

/// Matrices that break kernels, and those that `row-split` takes in other ways.
fn matrices_of_spmm() -> Vec<(&'static str, Csr)> {
    // The rows of a node, one per unknown, have the same columns; one node lacks a row.
    let nodes = |unknowns: usize, lengths: &dyn Fn(usize) -> usize| {
        let rows = (0..120 * unknowns).filter(|&i| i != 7);
        let triplets = rows.enumerate().flat_map(|(row, i)| {
            let node = i / unknowns;
            let value =
                move |j: usize| 1.0 / (1.0 + (i * 31 + j * 17) as f64) - 0.1 * (j % 7) as f64;
            (0..lengths(node)).map(move |j| (row, node * 13 % 900 + j, value(j)))
        });
        let triplets: Vec<_> = triplets.collect();
        Csr::from_triplets(120 * unknowns - 1, 1000, &triplets).unwrap()
    };
    let special = [
        ("three equal rows per node", nodes(3, &|node| 10 + node % 7)),
        ("two equal rows per node", nodes(2, &|_| 27)),
        ("short and long rows in turn", matrix(900, (0..501).map(|i| 10 + i % 2 * 90))),
        ("five equal rows per node", nodes(5, &|node| 1 + node % 50)),
        (
            "long rows among short ones",
            matrix(
                4000,
                (0..700).map(|i| match i {
                    13 => 513,
                    14 => 512,
                    400 => 4000,
                    699 => 1024,
                    _ => i % 30,
                }),
            ),
        ),
    ];
    matrices().into_iter().chain(special).collect()
}

/// Each kernel in each of its precisions with odd and even numbers of columns, on every matrix.
fn pass(backend: &CudaBackend, kernels: &[&'static KernelDescriptor]) {
    for (name, a) in matrices_of_spmm() {
        let problem = SpmmProblem::drawn(Arc::new(a), 42);
        for &kernel in kernels {
            let blocks: &[Option<u32>] = match kernel.takes.block {
                true => &[None, Some(32), Some(160), Some(1024)],
                false => &[None],
            };
            for (&block, &precision) in blocks
                .iter()
                .flat_map(|block| kernel.precisions.iter().map(move |precision| (block, precision)))
            {
                for k in [1, 2, 3, 7, 8, 10, 16, 20, 33, 64] {
                    let parameters = parameters(kernel, k);
                    let usual = Configuration::usual(kernel);
                    let configuration = Configuration { block, precision, parameters, ..usual };
                    pass_one(backend, &problem, &configuration, name);
                }
            }
        }
    }
}

/// This number of columns; BSR is accepted at any fill.
fn parameters(kernel: &KernelDescriptor, k: u32) -> Parameters {
    let all = Parameters::default().with(VECTORS.id(), &k.to_string());
    kernel.listed(&all.with(MIN_FILL.id(), "0"))
}

fn pass_one(
    backend: &CudaBackend,
    problem: &SpmmProblem,
    configuration: &Configuration,
    name: &str,
) {
    let Configuration { kernel, block, precision, parameters, .. } = configuration;
    let what = format!("{} {precision:?} {block:?} {parameters}: {name}", kernel.id);
    let prepared = ready(backend, configuration, problem);
    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut product = || output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
    let first = product();
    let check = problem.check(configuration, &first);
    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
    assert!(!kernel.deterministic || product() == first, "{what}: other bits");
}

/// The memory checks of `gpu-check.sh` run it by name.
#[test]
fn our_spmm_passes_the_gate_with_any_number_of_columns() {
    let backend = gpu!();
    pass(&backend, &several(&backend, "cuda/").unwrap());
}

#[test]
fn row_split_takes_rows_in_the_way_that_suits_the_matrix() {
    let backend = gpu!();
    let kernel = kernel("cuda/spmm/row-split").unwrap();
    let found = |a: Csr, k: u32| {
        let problem = SpmmProblem::drawn(Arc::new(a), 42);
        let parameters = parameters(kernel, k);
        let configuration = Configuration { parameters, ..Configuration::usual(kernel) };
        let prepared = ready(&backend, &configuration, &problem).unwrap();
        let launches = &prepared.costs().launches;
        assert_eq!(launches.len(), 1);
        launches[0].function.clone()
    };
    let all: BTreeMap<_, _> = matrices_of_spmm().into_iter().collect();
    for (name, k, expected) in [
        ("rows of exactly one warp", 8, "spmm_row_split_staged"),
        ("rows that end with spans", 8, "spmm_row_split_quarters"),
        ("rows that end with spans", 10, "spmm_row_split_ahead_2"),
        ("rows that end with spans", 16, "spmm_row_split_halves"),
        ("rows that end with spans", 7, "spmm_row_split_1"),
        ("rows that end with spans", 64, "spmm_row_split_2"),
        ("three equal rows per node", 33, "spmm_row_split_1"),
        ("rows of exactly one warp", 64, "spmm_row_split_two_packs"),
        ("three equal rows per node", 32, "spmm_row_split_equal_3"),
        ("two equal rows per node", 64, "spmm_row_split_equal_2"),
        ("short and long rows in turn", 16, "spmm_row_split_halves"),
        ("long rows among short ones", 8, "spmm_row_split_long_2"),
        ("long rows among short ones", 7, "spmm_row_split_long_1"),
    ] {
        assert_eq!(found(all[name].clone(), k), expected, "{name} {k}");
    }
}

#[test]
fn values_in_fewer_bits_move_fewer_bytes_and_show_their_error() {
    let backend = gpu!();
    // Multiples of 0.1 are numbers of no binary format.
    let entries: Vec<_> =
        (0..4000).map(|e| (e / 8, e * 37 % 500, 0.1 * (1 + e % 9) as f64)).collect();
    let a = Csr::from_triplets(500, 500, &entries).unwrap();
    let [rows, cols, nnz] = [a.rows(), a.cols(), a.nnz()].map(|count| count as u64);
    let problem = SpmmProblem::drawn(Arc::new(a), 42);
    for id in ["cuda/spmm/row-split", "cuda/spmm/merge"] {
        for precision in Precision::ALL {
            let kernel = kernel(id).unwrap();
            let usual = Configuration::usual(kernel);
            let parameters = parameters(kernel, 9);
            let configuration = Configuration { precision, parameters, ..usual };
            let mut prepared = ready(&backend, &configuration, &problem).unwrap();
            let [values, vectors] =
                [precision.values(), precision.vectors()].map(|number| number.bytes());
            let expected = nnz * (4 + values) + 4 * (rows + 1) + 9 * vectors * (rows + cols);
            assert_eq!(prepared.costs().minimal_bytes, expected, "{id} {precision:?}");
            let check = problem.check(&configuration, &output(&mut prepared).unwrap());
            assert_eq!(check.verdict, Verdict::Pass, "{id} {precision:?} {:?}", check.reason);
            let Some(found) = check.rounding else {
                assert_eq!(precision, Precision::F64);
                continue;
            };
            let unit = precision.values().unit_roundoff();
            assert!(
                found.norm > unit / 100.0 && found.max <= found.bound,
                "{precision:?} {found:?}"
            );
        }
    }
}

#[test]
fn our_spmm_passes_the_gate_with_blocks_and_hacks_of_every_size() {
    let backend = gpu!();
    let blocks = BSR_BLOCKS.map(|edge| ("cuda/spmm/bsr", vec![(BSR_BLOCK.id(), edge)]));
    let hacks = [(4, 64), (32, 4096), (256, 1)]
        .map(|(size, sigma)| ("cuda/spmm/hll", vec![(HACK_SIZE.id(), size), (SIGMA.id(), sigma)]));
    let shapes: Vec<_> = blocks.chain(hacks).collect();
    for (name, a) in matrices() {
        let problem = SpmmProblem::drawn(Arc::new(a), 42);
        for (id, shape) in &shapes {
            let kernel = kernel(id).unwrap();
            for (k, precision) in
                [1, 16, 33].iter().flat_map(|&k| kernel.precisions.iter().map(move |&p| (k, p)))
            {
                let with = |all: Parameters, &(of, value): &(Parameter, usize)| {
                    all.with(of, &value.to_string())
                };
                let parameters = shape.iter().fold(parameters(kernel, k), with);
                let usual = Configuration::usual(kernel);
                let configuration = Configuration { precision, parameters, ..usual };
                pass_one(&backend, &problem, &configuration, name);
            }
        }
    }
}

#[test]
fn vendors_spmm_passes_the_gate_with_any_number_of_columns() {
    let backend = gpu!();
    match several(&backend, "vendor/") {
        Ok(kernels) => pass(&backend, &kernels),
        Err(why) => skip!(Need::Cusparse, "{why}"),
    }
}
