//! Harwell-Boeing and Rutherford-Boeing files: read or refused; what is read has the sizes that were declared and
//! reads back from what is written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::vector::{Companion, read_companion};
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix, write_rb};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let limit = MemoryLimit::bytes(1 << 22);
    for which in [Companion::RightSide, Companion::Start] {
        let _ = read_companion(data, (which, Some(1)), limit, Progress::none());
    }
    let extent = read_named_extent("a.rb", data);
    let Ok(file) = read_named_matrix("a.rb", data, limit, Progress::none()) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    assert_eq!(said, Some((file.matrix.rows() as u64, file.matrix.cols() as u64)));
    let mut written = Vec::new();
    if write_rb(&file.matrix, &mut written, limit, Progress::none()).is_ok() {
        let read = read_named_matrix("a.rb", &written, MemoryLimit::unlimited(), Progress::none());
        let back = read.expect("what was written is read");
        assert_eq!(format!("{:?}", back.matrix), format!("{:?}", file.matrix));
    }
});
