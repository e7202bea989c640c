//! Tar archives, plain: a fuzzer cannot guess the checksums of gzip. Read or refused; what is read has the sizes that
//! were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let extent = read_named_extent("a.tar", data);
    let read = read_named_matrix("a.tar", data, MemoryLimit::bytes(1 << 22), Progress::none());
    let Ok(file) = read else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    let matrix = file.matrix;
    assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
});
