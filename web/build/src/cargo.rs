//! The cargo that runs this program.

use std::process::Command;

/// A cargo command, without arguments.
pub(crate) fn command() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
