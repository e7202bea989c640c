//! HDF5 files: read or refused; what is read has the sizes that were declared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{
    Progress, ReadOptions, read_named_extent_as, read_named_matrix_as, vector,
};
use sparsescope_core::memory::MemoryLimit;

/// Lets the threads panic on which the library reads: the reader reports that as a damaged file.
fn allow_panics_of_threads() {
    let (abort, main) = (std::panic::take_hook(), std::thread::current().id());
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == main {
            abort(panic);
        }
    }));
}

fuzz_target!(init: allow_panics_of_threads(), |data: &[u8]| {
    if !data.starts_with(b"\x89HDF\r\n\x1a\n") && !data.starts_with(b"MATLAB 7.3 MAT-file") {
        return;
    }
    let (limit, progress) = (MemoryLimit::bytes(1 << 22), Progress::none());
    for column in [None, Some(1)] {
        let _ = vector::read_column(data, column, limit, progress);
    }
    // Each call starts a thread: not for a group that the file does not have.
    let has = |group: &str| data.windows(group.len()).any(|bytes| bytes == group.as_bytes());
    let problem = has("Problem").then(|| "Problem.A".to_owned());
    let raw = has("raw").then(|| "raw/X".to_owned());
    let named = [problem, raw].into_iter().flatten().map(Some);
    for variable in std::iter::once(None).chain(named) {
        let options = ReadOptions { variable, ..ReadOptions::default() };
        let extent = read_named_extent_as("a.h5", data, &options);
        let read = read_named_matrix_as("a.h5", data, &options, limit, progress);
        let Ok(file) = read else { continue };
        let said = extent.map(|extent| (extent.rows, extent.cols)).ok();
        let matrix = file.matrix;
        assert_eq!(said, Some((matrix.rows() as u64, matrix.cols() as u64)));
    }
});
