//! The program `sparsescope`, built with the tests so that they run the same build.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: sparsescope::Telling = sparsescope::Telling;

fn main() -> ExitCode {
    let program = std::env::current_exe().unwrap_or_default();
    ExitCode::from(sparsescope::cli::run(std::env::args_os(), program))
}
