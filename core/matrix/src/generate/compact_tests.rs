//! Checks, from rows alone, how much of generated matrices compact formats store in 16 bits.

use std::sync::atomic::AtomicBool;

use super::{GeneratorSpec, generate};
use crate::matrix::{HllLayout, HllPlan, Lines, Order, ValueCoding};
use crate::memory::MemoryLimit;
use crate::parallel::*;

/// Lines of every `step`-th hack of a recipe's matrix.
fn lines(spec: &str, hack_size: usize, step: usize) -> Lines {
    let rule = GeneratorSpec::parse(spec).unwrap().rule(MemoryLimit::unlimited()).unwrap();
    let hacks = rule.rows().div_ceil(hack_size);
    let columns = |i: usize| {
        let mut row = Vec::new();
        rule.row(i, &mut row);
        let mut columns: Vec<u32> = row.into_iter().map(|(c, _)| c).collect();
        columns.sort_unstable();
        columns
    };
    let of_hack = |k: usize| {
        let first = k * step * hack_size;
        let rows: Vec<_> = (first..rule.rows().min(first + hack_size)).map(columns).collect();
        Lines::of_hack(rows.iter().map(Vec::as_slice))
    };
    let every = (0..hacks.div_ceil(step)).into_par_iter().map(of_hack);
    every.reduce(Lines::default, Lines::join)
}

#[test]
fn lines_counted_from_rows_are_those_of_the_compact_format() {
    let random = "random?m=900&n=99999&row=7";
    for spec in ["stencil27?n=9", "powerlaw?m=90000&nnz=300000&max=90", random] {
        let recipe = GeneratorSpec::parse(spec).unwrap();
        let a = generate(&recipe, MemoryLimit::unlimited(), &AtomicBool::new(false)).unwrap();
        let layout = HllLayout::plain(8, Order::ColumnMajor);
        let plan = HllPlan::new(&a, layout, ValueCoding::Auto).unwrap();
        assert_eq!(lines(spec, 8, 1), plan.lines(), "{spec}");
        assert_eq!(plan.lines().entries, a.nnz() as u64);
        assert_eq!(plan.lines().wide > 0, spec != "stencil27?n=9", "{spec}");
    }
}

/// Only every 37th hack: the whole matrices have 215 and 117 million nonzeros. 37 is coprime to the
/// periods in them, so that all positions in a grid's lines and planes are sampled.
#[test]
fn of_every_37th_hack_of_the_large_grids_99_percent_fit_in_16_bits() {
    for spec in ["stencil27?n=200", "stencil7?n=256"] {
        for hack_size in [8, 32] {
            let share = lines(spec, hack_size, 37).narrow_share();
            assert!(share >= 0.99, "{spec} in hacks of {hack_size}: {share}");
        }
    }
}
