//! Binary triplets: read or refused; what is read has the sizes that were declared and is written back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::binary_triplets::write_triplets;
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    if !data.starts_with(b"SSTRIPLE") {
        return;
    }
    let extent = read_named_extent("a.triplets", data);
    let limit = MemoryLimit::bytes(1 << 22);
    let Ok(file) = read_named_matrix("a.triplets", data, limit, Progress::none()) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    assert_eq!(said, Some((file.matrix.rows() as u64, file.matrix.cols() as u64)));
    let mut written = Vec::new();
    write_triplets(&file.matrix, &mut written, Progress::none()).unwrap();
    let back = read_named_matrix("a.triplets", &written, limit, Progress::none()).unwrap();
    // NaN is not equal to itself; its text is.
    assert_eq!(format!("{:?}", back.matrix), format!("{:?}", file.matrix));
});
