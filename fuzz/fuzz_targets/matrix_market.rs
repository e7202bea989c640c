//! Matrix Market text: read or refused; what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::vector::Companion;
use sparsescope_core::io::{AnyMatrix, Progress, matrix_market, read_matrix, vector};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let limit = MemoryLimit::bytes(1 << 22);
    for column in [None, Some(2)] {
        let _ = vector::read_column(data, column, limit, Progress::none());
        for which in [Companion::RightSide, Companion::Start] {
            let _ = vector::read_companion(data, (which, column), limit, Progress::none());
        }
    }
    let Ok(file) = read_matrix(data, limit, Progress::none()) else { return };
    let mut text = Vec::new();
    let written = match &file.matrix {
        AnyMatrix::Real(a) => matrix_market::write(a, &mut text, Progress::none()),
        AnyMatrix::Complex(a) => matrix_market::write(a, &mut text, Progress::none()),
    };
    assert!(written.is_ok());
    let back = read_matrix(&text, MemoryLimit::unlimited(), Progress::none());
    // NaN is not equal to itself; as text it is.
    assert_eq!(
        back.map(|back| format!("{:?}", back.matrix)).ok(),
        Some(format!("{:?}", file.matrix))
    );
});
