//! Matrices and vectors of PETSc: read or refused; what is read has the sizes that were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::vector::Companion;
use sparsescope_core::io::{Progress, read_named_extent, read_named_matrix, vector};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let extent = read_named_extent("a.petsc", data);
    let limit = MemoryLimit::bytes(1 << 22);
    let _ = vector::read_bytes(data, limit, Progress::none());
    let _ = vector::read_companion(data, (Companion::Start, None), limit, Progress::none());
    let Ok(file) = read_named_matrix("a.petsc", data, limit, Progress::none()) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    let matrix = file.matrix;
    assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
});
