//! Points from the program `rbox` of Qhull, which is deterministic.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::process::{Child, Command, Stdio};

use super::text;
use crate::io::{IoError, Progress};
use crate::matrix::Points;
use crate::memory::MemoryLimit;

/// Name of the program.
const RBOX: &str = "rbox";

/// Bytes read from it between checks for cancellation.
const BLOCK: u64 = 1 << 20;

/// The points that `rbox` generates with these arguments. Fails with one sentence if it is not
/// installed, and before its output exceeds `limit`.
pub fn rbox(
    arguments: &str,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    let said = output(RBOX.as_ref(), arguments, limit, progress)?;
    text::read(&said, limit, progress)
}

/// A running program, which is killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if the program has already ended, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn output(
    program: &OsStr,
    arguments: &str,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<u8>, IoError> {
    let failed = |error| IoError::System { doing: "run rbox", error };
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => IoError::Points(
            "the program rbox, which generates these points, is not installed: install Qhull (qhull-bin in Debian)"
                .to_owned(),
        ),
        _ => failed(error),
    })?);
    let mut said = Vec::new();
    if let Some(stdout) = &mut running.0.stdout {
        loop {
            progress.check()?;
            limit.check("the output of rbox", said.len() as u128 + u128::from(BLOCK))?;
            if stdout.take(BLOCK).read_to_end(&mut said).map_err(failed)? == 0 {
                break;
            }
        }
    }
    let mut complaint = Vec::new();
    if let Some(stderr) = &mut running.0.stderr {
        stderr.take(BLOCK).read_to_end(&mut complaint).map_err(failed)?;
    }
    match running.0.wait().map_err(failed)? {
        status if status.success() => Ok(said),
        status => {
            let complaint = String::from_utf8_lossy(&complaint);
            let first = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            Err(IoError::Points(format!("`rbox {arguments}` failed with {status}: {first}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(program: &str, arguments: &str, limit: u64) -> Result<Vec<u8>, IoError> {
        output(program.as_ref(), arguments, MemoryLimit::bytes(limit), Progress::none())
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_where_it_comes_from() {
        let error = run("rbox-that-is-not-there", "10 D2", 1 << 30).unwrap_err().to_string();
        assert!(error.ends_with("is not installed: install Qhull (qhull-bin in Debian)"));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_program_says_is_taken_whole_or_not_at_all() {
        assert_eq!(run("echo", "2 rbox", 1 << 30).unwrap(), b"2 rbox\n");
        // A program that never ends by itself.
        let endless = run("yes", "1", 1 << 24).unwrap_err().to_string();
        assert!(endless.starts_with("the output of rbox needs"), "{endless}");
        let cancel = true.into();
        let progress = Progress::none().cancelled_by(&cancel);
        let stopped = output("yes".as_ref(), "1", MemoryLimit::unlimited(), progress);
        assert!(stopped.unwrap_err().is_cancelled());
        let refused = run("ls", "--no-such-option", 1 << 30).unwrap_err().to_string();
        assert!(
            refused.starts_with("`rbox --no-such-option` failed with exit status: "),
            "{refused}"
        );
    }
}
