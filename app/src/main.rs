//! The program `sparsescope`.

fn main() -> std::process::ExitCode {
    sparsescope::cli::run()
}
