//! Edge lists, with the name and options that the first byte selects: read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{Progress, ReadOptions, read_named_matrix_as};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let options = ReadOptions {
        base: [None, Some(0), Some(1), None][usize::from(choice & 3)],
        undirected: choice & 4 != 0,
        compress_ids: choice & 8 != 0,
        variable: None,
    };
    let name = ["a.edges", "a.csv", "out.a", "a.txt"][usize::from(choice >> 4 & 3)];
    let _ =
        read_named_matrix_as(name, text, &options, MemoryLimit::bytes(1 << 22), Progress::none());
});
