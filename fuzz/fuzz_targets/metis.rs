//! Graphs as METIS reads them: read or refused; what is read is a symmetric matrix of the sizes that were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let extent = read_named_extent("a.graph", data);
    let limit = MemoryLimit::bytes(1 << 22);
    let Ok(file) = read_named_matrix("a.graph", data, limit, Progress::none()) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    let matrix = file.matrix;
    assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
});
