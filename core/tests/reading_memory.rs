//! How much memory reading a matrix takes in addition to the matrix, measured with a counting
//! allocator. It is a separate test binary because nothing else may allocate meanwhile.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sparsescope_core::io::{Progress, matrix_market};
use sparsescope_core::memory::MemoryLimit;

/// Bytes allocated now, and the peak.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn taken(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(now, Relaxed);
}

// SAFETY: every call is forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Counts both at once, as when the block moves.
        taken(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROWS: usize = 80_000;
const IN_ROW: usize = 50;

/// A file with 50 nonzeros per row below the diagonal or in a band, row by row or with rows
/// shuffled.
fn file(banner: &str, shuffled: bool) -> String {
    let (field, symmetric) = (banner.split(' ').next(), banner.ends_with("symmetric"));
    let mut text = format!("%%MatrixMarket matrix coordinate {banner}\n");
    let entries = ROWS * IN_ROW;
    writeln!(text, "{} {} {entries}", ROWS + IN_ROW, ROWS + IN_ROW).unwrap();
    for k in 0..ROWS {
        let i = if shuffled { k * 7919 % ROWS } else { k };
        for j in 0..IN_ROW {
            let (row, col) =
                if symmetric { (i + IN_ROW + 1, i + j + 1) } else { (i + 1, i + j + 1) };
            match field {
                Some("pattern") => writeln!(text, "{row} {col}").unwrap(),
                _ => writeln!(text, "{row} {col} {j}.5").unwrap(),
            }
        }
    }
    text
}

#[test]
fn reading_takes_at_most_three_tenths_more_than_the_matrix() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (banner, shuffled) in [
        ("real general", false),
        ("real general", true),
        ("pattern general", true),
        ("real symmetric", false),
        ("real symmetric", true),
        ("pattern symmetric", false),
    ] {
        let text = file(banner, shuffled);
        let before = NOW.load(Relaxed);
        MOST.store(before, Relaxed);
        let read = || {
            matrix_market::read_bytes(text.as_bytes(), MemoryLimit::unlimited(), Progress::none())
        };
        let a = pool.install(read).unwrap().matrix.into_real().unwrap();
        let most = MOST.load(Relaxed) - before;
        let expansion = if banner.ends_with("symmetric") { 2 } else { 1 };
        assert_eq!(a.nnz(), expansion * ROWS * IN_ROW);
        let times = most as f64 / a.bytes() as f64;
        assert!((1.0..=1.3).contains(&times), "{banner}, shuffled {shuffled}: {times} times");
        println!("{banner}, shuffled {shuffled}: {times:.3} times the matrix");
    }
}
