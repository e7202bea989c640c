//! Faults that are planted in every operation are caught.

use sparsescope_core::experiment::CpuBackend;
use sparsescope_core::kernel::DeviceKind;
use sparsescope_tests::planted::plant;

/// Prints which check catches which fault with `--nocapture`.
#[test]
fn every_fault_that_is_planted_on_the_cpu_is_caught() {
    match plant(&CpuBackend::new(), DeviceKind::Cpu) {
        Ok(table) => println!("{table}"),
        Err(missed) => panic!("{missed}"),
    }
}
