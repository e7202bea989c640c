//! Faults injected into GPU results are caught.

use sparsescope_test_support::planted::plant;

use super::*;

/// With `--nocapture`, prints which check catches which fault.
#[test]
fn every_fault_that_is_planted_on_a_gpu_is_caught() {
    let backend = gpu!();
    match plant(&backend, DeviceKind::Cuda) {
        Ok(table) => println!("{table}"),
        Err(missed) => panic!("{missed}"),
    }
}
