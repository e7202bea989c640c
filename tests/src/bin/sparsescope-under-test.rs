//! The program `sparsescope`, built with the tests so that they run the same build.

fn main() -> std::process::ExitCode {
    sparsescope::cli::run()
}
