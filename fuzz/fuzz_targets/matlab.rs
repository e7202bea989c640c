//! MATLAB files, with the variable that the first byte selects, and vectors in them: read or refused; what is read
//! has the sizes that were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::vector::{self, Companion};
use sparsescope_core::io::{Progress, ReadOptions, read_named_extent_as, read_named_matrix_as};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let Some((choice, data)) = data.split_first() else { return };
    let variable = [None, Some("A"), Some("Problem.A"), Some("b")][usize::from(choice & 3)];
    let options = ReadOptions { variable: variable.map(str::to_owned), ..ReadOptions::default() };
    let (limit, progress) = (MemoryLimit::bytes(1 << 22), Progress::none());
    let _ = vector::read_column(data, Some(1), limit, progress);
    let _ = vector::read_companion(data, (Companion::RightSide, None), limit, progress);
    let extent = read_named_extent_as("a.mat", data, &options);
    let Ok(file) = read_named_matrix_as("a.mat", data, &options, limit, progress) else { return };
    let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
    let matrix = file.matrix;
    assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
});
