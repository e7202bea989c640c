//! Runs the program as a user does, each time in its own folder.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

/// A temporary folder, and the program run inside it.
pub struct Program {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

/// The result of a run of the program.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Program {
    /// `executable` is `env!("CARGO_BIN_EXE_sparsescope-under-test")`.
    ///
    /// # Panics
    /// If no temporary folder can be made.
    pub fn new(executable: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder"); // invariant of tests
        Self { executable: executable.into(), folder }
    }

    /// The program's working folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file into the folder.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("the folder takes files"); // invariant of tests
    }

    /// Names of the files in the folder, sorted.
    ///
    /// # Panics
    /// If the folder cannot be read.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).expect("the folder is there"); // invariant of tests
        let mut names: Vec<String> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command with these arguments, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(args).current_dir(self.folder()).env_remove("RUST_BACKTRACE");
        // A test's expectations must not depend on whether the machine has a GPU.
        command.env("SPARSESCOPE_GPU", "off");
        command
    }

    /// The command with these arguments on several ranks of Open MPI, not started yet.
    pub fn ranks(&self, ranks: usize, args: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        command.args([
            "--oversubscribe",
            "--allow-run-as-root",
            "--mca",
            "btl",
            "self,vader,tcp",
            "-n",
        ]);
        command.arg(ranks.to_string()).arg(&self.executable).args(args);
        command.current_dir(self.folder()).env_remove("RUST_BACKTRACE");
        command.env("SPARSESCOPE_GPU", "off");
        command
    }

    /// The same, where the last rank has other arguments than those before it.
    pub fn ranks_but_last(&self, ranks: usize, args: &[&str], last: &[&str]) -> Command {
        let mut command = self.ranks(ranks.saturating_sub(1), args);
        command.args([":", "-n", "1"]).arg(&self.executable).args(last);
        command
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("the program starts")) // invariant of tests
    }

    /// Runs the program, which must succeed, and returns its standard output.
    ///
    /// # Panics
    /// If it fails.
    pub fn succeed(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        ran.out
    }

    /// Runs the program, which must print one JSON value and nothing else.
    ///
    /// # Panics
    /// If it does not.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.succeed(args);
        serde_json::from_str(&out).expect("one JSON value on standard output") // invariant of tests
    }

    /// Runs the program, which must fail with `code`, print one sentence on standard error that begins with
    /// `error:`, nothing on standard output, and not panic. Returns the sentence.
    ///
    /// # Panics
    /// If it does anything else.
    pub fn fail(&self, code: i32, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}");
        let errors: Vec<&str> = ran.err.lines().filter(|l| l.starts_with("error:")).collect();
        assert_eq!(errors.len(), 1, "{args:?}: {}", ran.err);
        let panicked = ["panicked", "RUST_BACKTRACE", "stack backtrace"];
        assert!(!panicked.iter().any(|p| ran.err.contains(p)), "{args:?}: {}", ran.err);
        errors.first().map(|e| (*e).to_owned()).unwrap_or_default()
    }
}

/// A process that is killed when its test ends.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Ran {
    /// The result of a finished process.
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}
