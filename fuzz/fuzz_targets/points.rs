//! Points as text, as CSV and as bytes: read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::Progress;
use sparsescope_core::io::points::{read_named_points, read_named_points_extent};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    for name in ["a.txt", "a.csv"] {
        let _ = read_named_points_extent(name, data);
        let _ = read_named_points(name, data, MemoryLimit::bytes(1 << 26), Progress::none());
    }
});
