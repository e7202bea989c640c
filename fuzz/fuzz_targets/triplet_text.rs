//! Plain triplet text: read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::{Progress, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let _ = read_named_matrix("a.txt", data, MemoryLimit::bytes(1 << 22), Progress::none());
});
