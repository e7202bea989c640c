//! Compares the ranks of a partition with one process; the halo is filled by hand.

use super::*;
use crate::generate::{GeneratedRows, GeneratorSpec, generate};
use crate::matrix::Csr;
use crate::memory::MemoryLimit;
use crate::vector::{IntegerVector, integer_vector};

static NEVER: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn locals(source: &dyn Rows, rows: &Partition, cols: &Partition) -> Vec<LocalMatrix> {
    let local = |rank| {
        LocalMatrix::new(source, rank, rows, cols, MemoryLimit::unlimited(), &NEVER).unwrap()
    };
    (0..rows.ranks()).map(local).collect()
}

/// y = A·x, row by row.
fn multiply(a: &Csr, x: &[f64], y: &mut [f64]) {
    for (i, y) in y.iter_mut().enumerate() {
        let (col, val) = a.row(i);
        *y = col.iter().zip(val).map(|(&column, value)| value * x[column as usize]).sum();
    }
}

/// Computes y = A·x with all ranks: each has only its own part of x, packs what others need and
/// receives into its halo; the interior is multiplied before the halo arrives.
fn product(ranks: &[LocalMatrix], x: &[f64], rows: usize) -> Vec<f64> {
    let plans = ExchangePlan::of_all(ranks).unwrap();
    let own = |local: &LocalMatrix| {
        let cols = local.cols();
        local.localised(&x[cols.start as usize..cols.end as usize])
    };
    let vectors: Vec<Vec<f64>> = ranks.iter().map(own).collect();
    let mut y = vec![f64::NAN; rows];
    for (local, plan) in ranks.iter().zip(&plans) {
        let mut local_y = vec![f64::NAN; local.own_rows()];
        let (interior_y, boundary_y) = local_y.split_at_mut(local.interior().rows());
        let mut local_x = vectors[local.rank()].clone();
        multiply(local.interior(), &local_x, interior_y);
        local_x.resize(local.local_cols(), f64::NAN);
        for receive in plan.receives() {
            let sent = plans[receive.peer].sends().iter().find(|send| send.peer == local.rank());
            let mut message = vec![f64::NAN; receive.range.len()];
            sent.unwrap().pack(&vectors[receive.peer], &mut message);
            local_x[local.own_cols()..][receive.range.clone()].copy_from_slice(&message);
        }
        multiply(local.boundary(), &local_x, boundary_y);
        let rows = local.rows();
        y[rows.start as usize..rows.end as usize].copy_from_slice(&local.in_global_order(&local_y));
    }
    y
}

/// Compares the ranks of both partitions of an integer matrix with the serial SpMV.
fn agrees(a: &Csr, ranks: usize) {
    let x = integer_vector(a.cols(), 42);
    let mut expected = vec![0.0; a.rows()];
    multiply(a, &x, &mut expected);
    let by_rows = Partition::equal_rows(a.rows() as u64, ranks);
    let sums = BlockCounts::count(a, ranks, 0..a.rows() as u64, &NEVER).unwrap();
    let by_entries = Partition::equal_entries(&BlockCounts::new(a.rows() as u64, 1, sums), ranks);
    for rows in [by_rows, by_entries] {
        let is_square = a.rows() == a.cols();
        let cols =
            if is_square { rows.clone() } else { Partition::equal_rows(a.cols() as u64, ranks) };
        let locals = locals(a, &rows, &cols);
        assert_eq!(locals.iter().map(LocalMatrix::entries).sum::<u64>(), a.nnz() as u64);
        assert_eq!(product(&locals, &x, a.rows()), expected, "{ranks} ranks");
    }
}

fn made(spec: &str) -> Csr {
    generate(&GeneratorSpec::parse(spec).unwrap(), MemoryLimit::unlimited(), &NEVER).unwrap()
}

#[test]
fn all_ranks_together_have_the_bits_of_one_process_on_integers() {
    // Stencils have integer values; other matrices are scaled and rounded to integers.
    for spec in
        ["stencil27?n=6", "stencil7?n=5&nz=9", "random?m=90&row=7", "kkt?n=3", "dense-row?m=40"]
    {
        let a = made(spec).map(|v: f64| (v * 1000.0).round());
        for ranks in [1, 2, 3, 4, 7] {
            agrees(&a, ranks);
        }
    }
}

#[test]
fn rectangular_matrices_and_more_ranks_than_rows_are_shared_out_too() {
    for spec in ["random?m=60&n=17&row=5", "random?m=11&n=200&row=40", "random?m=3&n=9&row=4"] {
        let a = made(spec).map(|v: f64| (v * 1000.0).round());
        for ranks in [1, 2, 4, 7, 13] {
            agrees(&a, ranks);
        }
    }
    agrees(&Csr::from_triplets(0, 0, &[]).unwrap(), 3);
    agrees(&Csr::from_triplets(5, 5, &[(2, 2, 3.0)]).unwrap(), 7);
}

#[test]
fn a_diagonal_needs_no_halo_and_a_full_row_needs_every_rank() {
    let diagonal = made("diagonal?m=30");
    let partition = Partition::equal_rows(30, 4);
    for local in locals(&diagonal, &partition, &partition) {
        assert!(local.halo().is_empty() && local.boundary().rows() == 0);
        assert_eq!(ExchangePlan::requests(&local).count(), 0);
    }
    let full = made("dense-row?m=30");
    let owner = partition.owner(15);
    let locals = locals(&full, &partition, &partition);
    let peers: Vec<usize> = ExchangePlan::requests(&locals[owner]).map(|(peer, _)| peer).collect();
    assert_eq!(peers, (0..4).filter(|&rank| rank != owner).collect::<Vec<_>>());
    assert_eq!(locals[owner].local_cols(), 30);
}

#[test]
fn interior_rows_need_nothing_of_others_and_every_boundary_row_does() {
    let a = made("stencil27?n=6");
    let partition = Partition::equal_rows(216, 3);
    for local in locals(&a, &partition, &partition) {
        let own = local.own_cols() as u32;
        for i in 0..local.boundary().rows() {
            assert!(local.boundary().row(i).0.last().is_some_and(|&last| last >= own));
        }
        // Two layers of 36 points each; a rank in the middle has a neighbour on both sides.
        let boundary = if local.rank() == 1 { 72 } else { 36 };
        assert_eq!((local.boundary().rows(), local.halo().len()), (boundary, boundary));
        // The nonzeros are those of the whole matrix.
        for i in 0..local.own_rows() {
            let (part, row) = match i.checked_sub(local.interior().rows()) {
                Some(row) => (local.boundary(), row),
                None => (local.interior(), i),
            };
            let (col, val) = part.row(row);
            let columns = col.iter().map(|&column| local.global_col(column as usize) as u32);
            let mut entries: Vec<_> = columns.zip(val.iter().copied()).collect();
            entries.sort_by_key(|&(column, _)| column);
            let (col, val) = a.row(local.global_row(i) as usize);
            let expected: Vec<_> = col.iter().copied().zip(val.iter().copied()).collect();
            assert_eq!(entries, expected);
        }
    }
}

#[test]
fn a_rank_tells_its_rows_as_the_whole_matrix_has_them() {
    for spec in ["stencil7?n=5&nz=9", "random?m=60&n=17&row=5", "diagonal?m=9", "dense-row?m=30"] {
        let a = made(spec);
        let rows = Partition::equal_rows(a.rows() as u64, 4);
        let cols = Partition::equal_rows(a.cols() as u64, 4);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for local in locals(&a, &rows, &cols) {
            for i in local.rows() {
                local.global_entries(i, &mut found);
                Rows::row(&a, i, &mut expected);
                assert_eq!(found, expected, "{spec}, row {i}");
            }
        }
    }
}

#[test]
fn rows_made_by_their_owners_are_those_of_the_matrix() {
    let spec = GeneratorSpec::parse("powerlaw?m=700&nnz=4000&max=90").unwrap();
    let a = generate(&spec, MemoryLimit::unlimited(), &NEVER).unwrap();
    let rows = GeneratedRows::new(&spec, MemoryLimit::unlimited()).unwrap();
    let ranks = 3;
    // Each rank counts its share of the blocks.
    let counted = (0..ranks).flat_map(|rank| {
        let share = BlockCounts::share(700, ranks, rank);
        BlockCounts::count(&rows, ranks, share, &NEVER).unwrap()
    });
    let counts = BlockCounts::new(700, BlockCounts::block_of(700, ranks), counted.collect());
    assert_eq!(counts.sums().iter().sum::<u64>(), a.nnz() as u64);
    let partition = Partition::equal_entries(&counts, ranks);
    let (made, held) = (locals(&rows, &partition, &partition), locals(&a, &partition, &partition));
    for (made, held) in made.iter().zip(&held) {
        assert_eq!((made.interior(), made.boundary()), (held.interior(), held.boundary()));
        assert_eq!(made.halo(), held.halo());
        assert!(made.entries().abs_diff(a.nnz() as u64 / 3) < 90);
    }
}

#[test]
fn a_matrix_sorted_by_a_partition_file_gives_the_product_in_that_order() {
    let a = made("random?m=50&row=6").map(|v: f64| (v * 1000.0).round());
    let text: String = (0..50).map(|row| format!("{}\n", row * 7 % 3)).collect();
    let (partition, order) = sorted_by_rank(&ranks_of_rows(&text, 50, 3).unwrap(), 3);
    let x = integer_vector(50, 1);
    let mut expected = vec![0.0; 50];
    multiply(&a, &x, &mut expected);
    let in_order = |v: &[f64]| order.iter().map(|&row| v[row as usize]).collect::<Vec<f64>>();
    let sorted = Renumbered::new(a.clone(), order.clone()).unwrap();
    let y = product(&locals(&sorted, &partition, &partition), &in_order(&x), 50);
    assert_eq!(y, in_order(&expected));
    assert!(Renumbered::new(a, vec![0; 50]).is_err());
}

#[test]
fn x_made_by_index_is_what_each_rank_needs_of_it() {
    let a = made("stencil7?n=6");
    let partition = Partition::equal_rows(216, 5);
    let x = integer_vector(216, 42);
    let mut element = IntegerVector::new(42);
    for local in locals(&a, &partition, &partition) {
        for column in 0..local.local_cols() {
            let global = local.global_col(column);
            assert_eq!(element.at(global), x[global as usize]);
        }
    }
}

#[test]
fn too_little_memory_a_cancelled_look_and_a_foreign_column_are_told() {
    let a = made("stencil7?n=6");
    let partition = Partition::equal_rows(216, 2);
    let with = |limit: u64, cancel: bool| {
        let (limit, cancel) = (MemoryLimit::bytes(limit), cancel.into());
        LocalMatrix::new(&a, 1, &partition, &partition, limit, &cancel).map(drop).unwrap_err()
    };
    let told = with(5000, false).to_string();
    assert!(told.starts_with("the rows of rank 1 needs"), "{told}");
    assert_eq!(with(1 << 20, true), DistributedError::Cancelled);
    let ranks = locals(&a, &partition, &partition);
    let error = ExchangePlan::new(&ranks[0], [(1, &[7u64, 200][..])]).unwrap_err().to_string();
    assert_eq!(error, "rank 1 requests element 200 of x from rank 0, which does not own it");
}
