//! Compressed data of every kind: read or refused, within the limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{Progress, points, read_named_extent, read_named_matrix, vector};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let limit = MemoryLimit::bytes(1 << 24);
    let _ = read_named_matrix("a.mtx", data, limit, Progress::none());
    let _ = read_named_extent("a.mtx", data);
    let _ = vector::read_column(data, None, limit, Progress::none());
    let _ = points::read_named_points("a.csv", data, limit, Progress::none());
});
