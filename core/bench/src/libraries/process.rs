//! The process of a library, as the measuring process sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::host::HOST;

/// Interval at which a wait looks for cancellation.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How long a process without output may take to end by itself.
const TO_END: Duration = Duration::from_secs(1);
/// Longest line that is read from a library that prints.
const MOST_LINE: u64 = 1 << 16;

/// `CREATE_NEW_PROCESS_GROUP`: Ctrl-C does not reach the processes of such a group.
#[cfg(windows)]
const NEW_GROUP: u32 = 0x200;

/// A running library.
pub(super) struct Process {
    child: Child,
    commands: ChildStdin,
    replies: Receiver<String>,
    limit: Duration,
}

/// What the process replied; `None` when cancelled, a sentence if it failed.
type Reply = Result<Option<String>, String>;

impl Process {
    /// Starts `program` as the process of `library`, which shares the memory in the file `area`.
    pub(super) fn start(
        program: &Path,
        [library, area]: [&Path; 2],
        limit: Duration,
    ) -> Result<Self, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let token = format!("sparsescope-{}-{}: ", std::process::id(), now.as_nanos());
        let mut command = Command::new(program);
        command.arg(HOST).arg(library).arg(area).arg(&token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C in the terminal is for this process, which then ends that one.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut command, NEW_GROUP);
        let cannot = |error| format!("cannot start a process for it: {error}");
        let mut child = command.spawn().map_err(cannot)?;
        let (Some(commands), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the process for it has no pipes".to_owned());
        };
        let (sender, replies) = mpsc::channel();
        let reader = std::thread::Builder::new();
        let reader = reader.spawn(move || read(output, &token, &sender));
        let process = Self { child, commands, replies, limit };
        reader.map(|_| process).map_err(|error| format!("cannot start a thread: {error}"))
    }

    /// Waits until the library is loaded; returns its device, its operation, its name and its description.
    pub(super) fn ready(&mut self, cancel: &AtomicBool) -> Result<Option<[String; 4]>, String> {
        let Some(reply) = self.wait("while it was loaded", cancel)? else { return Ok(None) };
        let described = reply.strip_prefix("ready ").unwrap_or_default();
        let described: Vec<String> = described.split('\t').map(str::to_owned).collect();
        let described = <[String; 4]>::try_from(described);
        described.map(Some).map_err(|_| "the process replied something else".to_owned())
    }

    /// Sends a command and returns the words of its reply after the first. `what` is what the library does
    /// meanwhile.
    pub(super) fn ask(&mut self, command: &str, what: &str, cancel: &AtomicBool) -> Reply {
        // A process that has ended is noticed by the wait.
        let _ = self.commands.write_all(format!("{command}\n").as_bytes());
        let reply = self.wait(what, cancel)?;
        Ok(reply.map(|reply| reply.split_once(' ').map_or(String::new(), |(_, rest)| rest.into())))
    }

    fn wait(&mut self, what: &str, cancel: &AtomicBool) -> Reply {
        let start = Instant::now();
        loop {
            match self.replies.recv_timeout(BETWEEN_LOOKS) {
                Ok(reply) => {
                    return match reply.strip_prefix("failed ") {
                        Some(why) => Err(why.to_owned()),
                        None => Ok(Some(reply)),
                    };
                }
                Err(_) if cancel.load(Ordering::Relaxed) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if start.elapsed() > self.limit => {
                    let limit = self.limit.as_secs_f64();
                    return Err(format!("it did not answer within {limit} s {what}"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("it crashed {what}: {}", self.end()));
                }
            }
        }
    }

    /// How the process ended.
    fn end(&mut self) -> String {
        let start = Instant::now();
        while start.elapsed() < TO_END {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.to_string();
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        "it closed its output".to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends on what follows the token in each line that begins with it, until the process ends.
fn read(output: ChildStdout, token: &str, replies: &Sender<String>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(MOST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(reply) = text.trim_end_matches('\n').strip_prefix(token)
            && replies.send(reply.to_owned()).is_err()
        {
            return;
        }
    }
}
