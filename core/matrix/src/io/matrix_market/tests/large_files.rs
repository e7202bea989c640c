//! Tests of files that take several waves of chunks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;

#[test]
fn errors_far_into_a_large_file_name_their_line() {
    let lines = 300_000;
    let text = large_file(lines);
    let broken = text.replace(" 250000.25\n", " 250000.25x\n");
    assert_eq!(message(&broken), "line 250003: expected a number, found \"250000.25x\"");
    let more = format!("{text}1 1 1\n");
    assert!(message(&more).starts_with("line 300003: expected the end of the file"));
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_first_of_two_errors_is_reported_on_any_number_of_threads() {
    let text = large_file(300_000).replace(" 1000.25\n", " a\n").replace(" 250000.25\n", " b\n");
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| message(&text)), "line 1003: expected a number, found \"a\"");
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_number_of_threads_does_not_change_the_matrix() {
    let text = large_file(300_000);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| real(&text));
    assert_eq!(one.row(0), (&[(299_999 % 3) as u32][..], &[299_999.25][..]));
    assert_eq!(pool(5).install(|| real(&text)), one);
}

#[test]
fn rows_that_descend_late_in_a_large_file_are_read_again_and_counted_once() {
    let rows = 200_000;
    let mut text = format!("{REAL}{rows} 3 {}\n", rows + 1);
    for k in 1..=rows {
        text += &format!("{k} 2 {k}.25\n");
    }
    text += "1 1 7\n";
    let done = AtomicU64::new(0);
    let progress = Progress::none().counting(&done);
    let file = read_bytes(text.as_bytes(), MemoryLimit::unlimited(), progress).unwrap();
    assert_eq!(done.into_inner(), text.len() as u64);
    let a = file.matrix.into_real().unwrap();
    assert_eq!(a.row(0), (&[0u32, 1][..], &[7.0, 1.25][..]));
    assert_eq!(a.row(rows - 1), (&[1u32][..], &[rows as f64 + 0.25][..]));
    let broken = text.replace(" 199000.25\n", " x\n");
    assert_eq!(message(&broken), "line 199002: expected a number, found \"x\"");
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn progress_goes_on_after_a_row_that_descends() {
    let rows = 200_000;
    let mut text = format!("{REAL}{rows} 3 {rows}\n");
    for k in 1..rows {
        // After the lines that tell the order.
        let row = if k == 20_000 { 1 } else { k };
        text += &format!("{row} 2 {k}.25\n");
    }
    text += "1 1 x\n";
    let done = AtomicU64::new(0);
    let progress = Progress::none().counting(&done);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let limit = MemoryLimit::unlimited();
    assert!(pool.install(|| read_bytes(text.as_bytes(), limit, progress)).is_err());
    // The last line is wrong, so that nothing is counted after it.
    assert_eq!(done.into_inner(), text.len() as u64);
}

#[test]
fn progress_ends_at_the_length_of_the_file_and_a_flag_stops_it() {
    let text = large_file(100_000);
    let (done, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
    let progress = Progress::none().counting(&done).cancelled_by(&cancel);
    let read = || read_bytes(text.as_bytes(), MemoryLimit::unlimited(), progress);
    read().unwrap();
    assert_eq!(done.load(Ordering::Relaxed), text.len() as u64);
    cancel.store(true, Ordering::Relaxed);
    assert!(read().unwrap_err().is_cancelled());
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn entries_in_any_order_over_many_chunks_are_summed_in_file_order_on_any_number_of_threads() {
    // 60 000 nonzeros at 40 000 positions at most, of magnitudes whose sums depend on their order.
    let entry = |k: usize| {
        let (row, col) = (k * 7919 % 997, k * k % 401);
        (row, col, 3.0f64.powi((k * 31 % 80) as i32) * if k.is_multiple_of(2) { 1.0 } else { -1.0 })
    };
    let entries: Vec<_> = (0..60_000).map(entry).collect();
    let mut by_row = entries.clone();
    by_row.sort_by_key(|&(row, ..)| row);
    for (symmetry, entries, expanded) in [
        ("general", &entries, entries.clone()),
        ("general", &by_row, by_row.clone()),
        ("symmetric", &entries, mirrored(&entries)),
    ] {
        let text = file_of(997, symmetry, entries);
        let expected = Csr::from_triplets(997, 997, &expanded).unwrap();
        assert!(expected.nnz() < expanded.len(), "positions repeat");
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let file = pool.install(|| read(&text)).unwrap();
            assert_eq!(file.matrix.real().unwrap(), &expected, "{symmetry}, {threads} threads");
            assert!(!file.warnings.is_empty());
        }
    }
}

#[test]
fn a_wrong_line_is_told_before_a_wrong_number_of_entries_and_before_a_wrong_index_behind_it() {
    let body = "1 1 5\n2 1 x\n7 1 5\n";
    let expected = "line 4: expected a number, found \"x\"";
    assert_eq!(message(&format!("{REAL}3 2 3\n{body}")), expected);
    assert_eq!(message(&format!("{REAL}3 2 1\n{body}")), expected);
    assert_eq!(message(&format!("{REAL}3 2 9\n{body}")), expected);
}
