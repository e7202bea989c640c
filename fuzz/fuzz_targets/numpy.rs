//! Files of NumPy and SciPy: read or refused; a matrix has the sizes that were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::points::{read_named_points, read_named_points_extent};
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix, vector};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    if !data.starts_with(b"PK") && !data.starts_with(b"\x93NUMPY") {
        return;
    }
    let limit = MemoryLimit::bytes(1 << 22);
    for column in [None, Some(2)] {
        let _ = vector::read_column(data, column, limit, Progress::none());
    }
    let extent = read_named_points_extent("a.npy", data);
    if let Ok(points) = read_named_points("a.npy", data, limit, Progress::none()) {
        let said = extent.map(|extent| (extent.points, extent.dimensions)).ok();
        assert_eq!(said, Some((points.len() as u64, points.dimensions() as u64)));
    }
    let extent = read_named_extent("a.npz", data);
    let Ok(file) = read_named_matrix("a.npz", data, limit, Progress::none()) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    let matrix = file.matrix;
    assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
});
