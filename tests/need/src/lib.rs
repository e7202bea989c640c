//! What a test may need beyond Cargo, and what happens if it is missing.
//!
//! Most tests run on any machine. One that needs more than that says so with [`skip!`](crate::skip!):
//! it is skipped where the need is absent, and fails where `SPARSESCOPE_REQUIRE` names the need.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The environment variable that names, separated by commas, the needs that this machine meets.
const REQUIRE: &str = "SPARSESCOPE_REQUIRE";

/// Something that a test needs and that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A graphics adapter that wgpu can draw with, possibly a software one.
    Adapter,
    /// A headless browser.
    Browser,
    /// cuBLAS and cuSOLVER beside an NVIDIA GPU.
    Cublas,
    /// cuSPARSE beside an NVIDIA GPU.
    Cusparse,
    /// Eigen's headers and a C++ compiler.
    Eigen,
    /// An NVIDIA GPU with its driver.
    Gpu,
    /// The real matrices, in the folder that `SPARSESCOPE_MATRICES` names.
    Matrices,
    /// oneMKL, where the program finds it.
    Mkl,
    /// `mpirun` of Open MPI.
    Mpi,
    /// NCCL beside two NVIDIA GPUs or more.
    Nccl,
    /// NVIDIA's compiler, `nvcc`, which needs no GPU.
    Nvcc,
    /// NVIDIA's run-time compiler, which needs no GPU.
    Nvrtc,
    /// A `python3` that can import PyAMG.
    Pyamg,
    /// A machine without other load, so that times can be compared. It cannot be detected: it is present
    /// where it is required.
    Quiet,
    /// The program `rbox` of Qhull.
    Rbox,
    /// Permission to mount a small file system and to create a control group.
    Root,
    /// A `python3` that can import SciPy.
    Scipy,
    /// Slurm and MUNGE, and permission to start their daemons.
    Slurm,
}

impl Need {
    /// Every need, in alphabetical order.
    pub const ALL: [Self; 18] = [
        Self::Adapter,
        Self::Browser,
        Self::Cublas,
        Self::Cusparse,
        Self::Eigen,
        Self::Gpu,
        Self::Matrices,
        Self::Mkl,
        Self::Mpi,
        Self::Nccl,
        Self::Nvcc,
        Self::Nvrtc,
        Self::Pyamg,
        Self::Quiet,
        Self::Rbox,
        Self::Root,
        Self::Scipy,
        Self::Slurm,
    ];

    /// The need's name in `SPARSESCOPE_REQUIRE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adapter => "adapter",
            Self::Browser => "browser",
            Self::Cublas => "cublas",
            Self::Cusparse => "cusparse",
            Self::Eigen => "eigen",
            Self::Gpu => "gpu",
            Self::Matrices => "matrices",
            Self::Mkl => "mkl",
            Self::Mpi => "mpi",
            Self::Nccl => "nccl",
            Self::Nvcc => "nvcc",
            Self::Nvrtc => "nvrtc",
            Self::Pyamg => "pyamg",
            Self::Quiet => "quiet",
            Self::Rbox => "rbox",
            Self::Root => "root",
            Self::Scipy => "scipy",
            Self::Slurm => "slurm",
        }
    }
}

/// Returns from a test whose [`Need`] is missing: `skip!(Need::Scipy, "python3 cannot import scipy")`. The
/// reason takes arguments as `format!` does.
///
/// # Panics
/// If `SPARSESCOPE_REQUIRE` names the need, so that a machine that must run the test cannot pass
/// without it.
#[macro_export]
macro_rules! skip {
    ($need:expr, $($why:tt)+) => {{
        $crate::skip($need, &format!($($why)+));
        return;
    }};
}

/// Reports on standard error that a test is skipped; [`skip!`](crate::skip!) calls it.
///
/// # Panics
/// If `SPARSESCOPE_REQUIRE` names the need, or holds a name that is not a [`Need`].
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn skip(need: Need, why: &str) {
    if is_required(need) {
        panic!("{REQUIRE} names {}, but {why}", need.name());
    }
    // The harness captures `eprintln!` in passing tests, but not writes to the handle itself. One write,
    // since tests run in parallel.
    let line = format!("test skipped for want of {}: {why}\n", need.name());
    let written = std::io::stderr().write_all(line.as_bytes());
    assert!(written.is_ok(), "standard error is closed, and a skip must be seen");
}

/// Whether `SPARSESCOPE_REQUIRE` names the need.
///
/// # Panics
/// If `SPARSESCOPE_REQUIRE` holds a name that is not a [`Need`].
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn is_required(need: Need) -> bool {
    let require = std::env::var(REQUIRE).unwrap_or_default();
    match required(&require) {
        Ok(required) => required.contains(&need),
        Err(unknown) => {
            let known = Need::ALL.map(Need::name).join(", ");
            panic!("{REQUIRE} holds `{unknown}`, expected some of {known}")
        }
    }
}

/// The folder of real matrices that `SPARSESCOPE_MATRICES` names, if it is one.
pub fn matrices() -> Option<PathBuf> {
    std::env::var_os("SPARSESCOPE_MATRICES").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// Whether the program `rbox` of Qhull can be started.
pub fn has_rbox() -> bool {
    Command::new("rbox").args(["1", "D2"]).output().is_ok()
}

/// The needs that `require` lists, or the first name in it that is not one.
fn required(require: &str) -> Result<Vec<Need>, &str> {
    require
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| Need::ALL.into_iter().find(|need| need.name() == name).ok_or(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Output;

    #[test]
    fn requirements_are_a_comma_separated_list_of_names() {
        assert_eq!(required(""), Ok(vec![]));
        assert_eq!(required("scipy, nvrtc,"), Ok(vec![Need::Scipy, Need::Nvrtc]));
        assert_eq!(required("scipy,browsers"), Err("browsers"));
        assert_eq!(
            required(
                "adapter,browser,cublas,cusparse,eigen,gpu,matrices,mkl,mpi,nccl,nvcc,nvrtc,pyamg,quiet,rbox,root,scipy,slurm"
            ),
            Ok(Need::ALL.to_vec())
        );
    }

    /// Runs the one test below in its own process, as a test whose need is missing.
    fn run_skipping_test(require: &str) -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::a_skip_is_seen_and_a_required_one_fails"])
            .env(IN_CHILD, "1")
            .env(REQUIRE, require)
            .output()
            .unwrap()
    }

    const IN_CHILD: &str = "SPARSESCOPE_TESTS_IN_CHILD";

    #[test]
    fn a_skip_is_seen_and_a_required_one_fails() {
        if std::env::var_os(IN_CHILD).is_some() {
            crate::skip!(Need::Scipy, "there is no {}", "snake");
        }

        let allowed = run_skipping_test("nvrtc");
        assert!(allowed.status.success(), "{allowed:?}");
        assert_eq!(
            String::from_utf8_lossy(&allowed.stderr),
            "test skipped for want of scipy: there is no snake\n"
        );

        let required = run_skipping_test("nvrtc,scipy");
        assert!(!required.status.success(), "{required:?}");
        assert!(says(&required, "SPARSESCOPE_REQUIRE names scipy, but there is no snake"));

        let misspelt = run_skipping_test("scipi");
        assert!(!misspelt.status.success(), "{misspelt:?}");
        assert!(says(&misspelt, "SPARSESCOPE_REQUIRE holds `scipi`"));
    }

    /// Whether the harness, which reports failures on standard output, printed `text`.
    fn says(output: &Output, text: &str) -> bool {
        String::from_utf8_lossy(&output.stdout).contains(text)
    }
}
