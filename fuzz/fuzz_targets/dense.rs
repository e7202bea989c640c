//! Dense matrices: read or refused; what is read has the sizes that were declared, and is written and read again as the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::Progress;
use sparsescope_core::io::dense::{DenseFile, read_dense};
use sparsescope_core::io::numpy::write_npy;
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let mut told = None;
    let mut fits = |rows: u64, cols: u64| {
        told = Some((rows, cols));
        true
    };
    let read = read_dense("X", data, &mut fits, MemoryLimit::bytes(1 << 22), Progress::none());
    let Ok(Some(DenseFile { rows, cols, values, order, .. })) = read else { return };
    assert_eq!((told, values.len()), (Some((rows as u64, cols as u64)), rows * cols));
    if values.is_empty() {
        return;
    }
    let (mut written, all) = (Vec::new(), MemoryLimit::unlimited());
    assert!(write_npy(&values, Some(cols), order, &mut written, all, Progress::none()).is_ok());
    let back = read_dense("X", &written, &mut |_, _| true, all, Progress::none());
    let Ok(Some(back)) = back else { panic!("what was written is read") };
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!((back.rows, back.cols, bits(&back.values)), (rows, cols, bits(&values)));
});
