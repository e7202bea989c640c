//! The program `sparsescope`, built with the tests so that they run the same build. Only its measurement of the memory
//! bandwidth is brief.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: sparsescope::Telling = sparsescope::Telling;

fn main() -> ExitCode {
    sparsescope_core::measure::measure_bandwidth_briefly();
    let program = std::env::current_exe().unwrap_or_default();
    ExitCode::from(sparsescope::cli::run(std::env::args_os(), program))
}
