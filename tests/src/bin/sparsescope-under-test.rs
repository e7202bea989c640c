//! The program `sparsescope`, built with the tests so that they run what they were built with.

fn main() -> std::process::ExitCode {
    sparsescope::cli::run()
}
