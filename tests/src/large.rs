//! A bundle with counts that do not fit in 32 bits, the size of the page's indices.

use std::collections::BTreeMap;

use serde_json::json;
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::Figures;

/// Rows and columns of a full matrix, which has 10¹⁰ nonzeros.
const SIDE: u64 = 100_000;
const ENTRIES: u64 = SIDE * SIDE;

/// Runs on a full matrix of 10⁵ rows, with a picture of it, derived from runs on a smaller one.
///
/// # Panics
/// If `other` is not a bundle with a matrix, or the result is invalid.
pub(crate) fn large(other: &[u8]) -> Vec<u8> {
    let mut bundle = Bundle::read(other, &Limits::default()).expect("a bundle"); // invariant of tests
    bundle.label = Some("large".into());
    bundle.matrices.truncate(1);
    let matrix = bundle.matrices.first_mut().expect("a matrix"); // invariant of tests
    let record = &mut matrix.record;
    bundle.runs.retain(|run| run.matrix == record.id);
    record.name = format!("dense?n={SIDE}");
    record.sha256 = "1e".repeat(32);
    let of = &mut record.statistics;
    (of.rows, of.cols, of.nnz, of.diagonal, of.density) = (SIDE, SIDE, ENTRIES, SIDE, 1.0);
    (of.lower_bandwidth, of.upper_bandwidth) = (SIDE - 1, SIDE - 1);
    of.profile = SIDE * (SIDE - 1) / 2;
    let row = &mut of.row;
    [row.min, row.q1, row.median, row.q3, row.max] = [SIDE; 5];
    (row.mean, row.empty) = (SIDE as f64, 0);
    (row.stddev, row.average_deviation, row.percent_average_deviation) = (0.0, 0.0, 0.0);
    // The last bucket holds 2^16 to 2^17 - 1.
    row.histogram = [vec![0; 17], vec![SIDE]].concat();
    for format in &mut of.formats {
        (format.bytes, format.slots, format.minimal_bytes) = (12 * ENTRIES, ENTRIES, 12 * ENTRIES);
        format.padding = 1.0;
    }
    matrix.files = picture();
    for run in &mut bundle.runs {
        run.samples.iter_mut().for_each(|sample| *sample *= 1e7);
        run.costs.format_bytes = 12 * ENTRIES;
        run.costs.minimal_bytes = 12 * ENTRIES;
        let flops = 2.0 * ENTRIES as f64;
        run.figures = Figures::from_samples(&run.samples, flops, run.costs.minimal_bytes);
        run.metric = None;
    }
    bundle.to_bytes().expect("a bundle") // invariant of tests
}

/// One cell of all nonzeros, and equally many in each row.
fn picture() -> BTreeMap<String, Vec<u8>> {
    const ROWS_A_BIN: u64 = 32;
    let bins = SIDE / ROWS_A_BIN;
    let header = json!({
        "rows": SIDE,
        "cols": SIDE,
        "entries": ENTRIES,
        "shift": 17,
        "cells": 1,
        "profile_bins": bins,
        "profile_shift": ROWS_A_BIN.ilog2(),
    });
    let mut content = Vec::new();
    let bin = [SIDE, 0, ROWS_A_BIN * SIDE];
    let numbers = (0..bins).flat_map(|_| bin);
    for number in [0, ENTRIES].into_iter().chain(numbers) {
        put(&mut content, number);
    }
    [("spy.json", header.to_string().into_bytes()), ("spy.bin", content)]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .into()
}

/// Writes unsigned LEB128.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
