//! Faults that are planted in what a GPU computed are caught.

use sparsescope_test_support::planted::plant;

use super::*;

/// Prints which check catches which fault with `--nocapture`.
#[test]
fn every_fault_that_is_planted_on_a_gpu_is_caught() {
    let backend = gpu!();
    match plant(&backend, DeviceKind::Cuda) {
        Ok(table) => println!("{table}"),
        Err(missed) => panic!("{missed}"),
    }
}
