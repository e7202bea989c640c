//! Kernel libraries for CUDA, which nvcc builds, in processes of their own.

use std::fs::{self, Permissions};
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sparsescope_core::experiment::{Given, SolveProblem, SpmmProblem};
use sparsescope_core::libraries::{KernelLibrary, LibraryGpu, WithLibraries, host};
use sparsescope_cuda::HostedGpu;
use tempfile::TempDir;

use super::*;

const HEADER: &str = include_str!("../../../docs/examples/sparsescope_kernel.h");
const EXAMPLE: &str = include_str!("../../../docs/examples/cuda_library.cu");
const FAULTY: &str = include_str!("../../../tests/libraries/faulty.cu");

/// What `sparsescope` gets as arguments when it runs a library, for the test below.
const GIVEN: [&str; 3] =
    ["SPARSESCOPE_TESTS_LIBRARY", "SPARSESCOPE_TESTS_AREA", "SPARSESCOPE_TESTS_TOKEN"];

/// Runs a library in place of `sparsescope` if this process was started for that.
#[test]
fn this_program_runs_a_library() {
    let [Some(library), Some(area), Some(token)] = GIVEN.map(std::env::var_os) else { return };
    let open =
        |gpu: usize| HostedGpu::open(gpu).map(|gpu| -> Box<dyn LibraryGpu> { Box::new(gpu) });
    let (files, commands) = ([&library, &area].map(Path::new), BufReader::new(std::io::stdin()));
    host(files, &token.to_string_lossy(), open, commands, std::io::stdout());
}

/// A folder with libraries and the program that runs them.
struct Built {
    folder: TempDir,
    nvcc: &'static str,
}

/// A folder to build libraries in, or a skip that says that there is no compiler.
macro_rules! built {
    () => {
        match Built::new() {
            Some(built) => built,
            None => skip!(Need::Nvcc, "there is no nvcc"),
        }
    };
}

impl Built {
    /// `None` if there is no nvcc.
    fn new() -> Option<Self> {
        let runs = |nvcc: &&str| Command::new(nvcc).arg("--version").output().is_ok();
        let nvcc = ["nvcc", "/usr/local/cuda/bin/nvcc"].into_iter().find(runs)?;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("sparsescope_kernel.h"), HEADER).unwrap();
        let this = std::env::current_exe().unwrap();
        let [library, area, token] = GIVEN;
        let script = format!(
            "#!/bin/sh\nexec env {library}=\"$2\" {area}=\"$3\" {token}=\"$4\" '{}' --nocapture --exact \
             libraries::this_program_runs_a_library\n",
            this.display()
        );
        let built = Self { folder, nvcc };
        fs::write(built.program(), script).unwrap();
        fs::set_permissions(built.program(), Permissions::from_mode(0o755)).unwrap();
        Some(built)
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Builds a library for this operation from this source.
    fn library(&self, name: &str, source: &str, operation: &str) -> KernelLibrary {
        let [from, to] = [format!("{name}.cu"), format!("lib{name}.so")];
        let [from, to] = [from, to].map(|file| self.folder.path().join(file));
        fs::write(&from, source).unwrap();
        let mut nvcc = Command::new(self.nvcc);
        nvcc.args(["-O1", "-shared", "-Xcompiler", "-fPIC", &format!("-DFAULT={name}")]);
        nvcc.arg(format!("-DOPERATION=SPARSESCOPE_{operation}")).arg("-o");
        let built = nvcc.arg(&to).arg(&from).output().unwrap();
        assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
        let (limit, never) = (Duration::from_secs(60), AtomicBool::new(false));
        KernelLibrary::open(&to, &self.program(), limit, 0, &never).unwrap().unwrap()
    }
}

/// The samples of a library's kernel, checked as by the runner, or what is wrong with it.
fn measured(
    gpu: &CudaBackend,
    libraries: &[KernelLibrary; 1],
    problem: &dyn Problem,
) -> Result<Vec<f64>, String> {
    let [library] = libraries;
    let backend = WithLibraries::new(gpu, libraries, None);
    let configuration = Configuration::usual(library.kernel());
    let prepared = ready(&backend, &configuration, problem);
    let mut prepared = prepared.map_err(|error| error.to_string())?;
    let check = |output: Result<Output, KernelError>| -> Result<(), String> {
        let output = output.map_err(|error| error.to_string())?;
        let check = problem.check(&configuration, &output);
        match check.verdict {
            Verdict::Pass => Ok(()),
            _ => Err(check.reason.unwrap_or_default()),
        }
    };
    check(output(&mut prepared))?;
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let samples = prepared.sample(20, Temperature::Hot, &watch).wait();
    let samples = samples.map_err(|error| error.to_string())?;
    check(prepared.last_output().wait())?;
    check(output(&mut prepared))?;
    Ok(samples)
}

fn large() -> Csr {
    matrix(9000, (0..9000).map(|i| 1 + i * i % 67))
}

/// Builds a library for the operation with each fault, which must end with this sentence, and then a right one, which
/// must pass.
fn told_apart(
    (gpu, built): (&CudaBackend, &Built),
    operation: &str,
    faults: &[(&str, &str)],
    problem: &dyn Problem,
) {
    for (fault, expected) in faults {
        let libraries = [built.library(fault, FAULTY, operation)];
        let why = measured(gpu, &libraries, problem).err();
        assert!(why.as_ref().is_some_and(|why| why.contains(expected)), "{fault}: {why:?}");
    }
    let samples = measured(gpu, &[built.library("RIGHT", FAULTY, operation)], problem);
    assert_eq!(samples.map(|samples| samples.len()), Ok(20), "none of them harmed the GPU");
}

#[test]
fn the_example_passes_on_matrices_that_break_kernels() {
    let (gpu, built) = (gpu!(), built!());
    let libraries = [built.library("rows", EXAMPLE, "SPMV")];
    for (name, a) in matrices() {
        let samples = measured(&gpu, &libraries, &problem(a));
        let samples = samples.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(samples.len(), 20, "{name}");
        assert!(samples.iter().all(|&s| s > 0.0 && s < 1.0), "{name}: {samples:?}");
    }
}

#[test]
fn a_library_takes_as_long_as_the_same_kernel_of_ours() {
    let (gpu, built) = (gpu!(), built!());
    let library = [built.library("RIGHT", FAULTY, "SPMV")];
    // Large enough for its time to be that of its memory accesses.
    let problem = problem(matrix(100_000, (0..200_000).map(|i| 8 + i % 9)));
    let kernel = sparsescope_core::kernel::kernel("cuda/csr/thread-per-row").unwrap();
    let configuration = Configuration { block: Some(256), ..Configuration::usual(kernel) };
    let mut ours = ready(&gpu, &configuration, &problem).unwrap();
    output(&mut ours).unwrap();
    let never = AtomicBool::new(false);
    let ours = ours.sample(20, Temperature::Hot, &Watch::cancelled_by(&never)).wait().unwrap();
    let theirs = measured(&gpu, &library, &problem).unwrap();
    let median = |mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    let [ours, theirs] = [ours, theirs].map(median);
    assert!(theirs > 0.5 * ours && theirs < 2.0 * ours, "{theirs} s, ours {ours} s");
}

#[test]
fn faulty_libraries_are_told_apart() {
    const FAULTS: [(&str, &str); 11] = [
        ("ZEROS", "rows are wrong"),
        ("PAST_Y", "it wrote outside y"),
        ("KEEPS_Y", "rows are wrong"),
        ("WRITES_NOTHING", "rows are wrong"),
        ("CHANGES_X", "it changed x"),
        ("OWN_STREAM", "rows are wrong"),
        ("WAITS_FOR_OWN_STREAM", "rows are wrong"),
        ("DEFAULT_STREAM", "rows are wrong"),
        ("GOES_ON", "its work in the stream took"),
        ("BREAKS", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("REFUSES", "sparsescope_prepare returned 7"),
    ];
    let (gpu, built) = (gpu!(), built!());
    told_apart((&gpu, &built), "SPMV", &FAULTS, &problem(large()));
}

#[test]
fn libraries_of_spmm_pass_and_faulty_ones_are_told_apart() {
    const FAULTS: [(&str, &str); 4] = [
        ("ZEROS", "rows are wrong"),
        ("PAST_Y", "it wrote outside y"),
        ("KEEPS_Y", "rows are wrong"),
        ("OWN_STREAM", "rows are wrong"),
    ];
    let (gpu, built) = (gpu!(), built!());
    let problem = |a: Csr| SpmmProblem::drawn(Arc::new(a), 42);
    told_apart((&gpu, &built), "SPMM", &FAULTS, &problem(large()));
    let right = [built.library("RIGHT", FAULTY, "SPMM")];
    for (name, a) in matrices() {
        let samples = measured(&gpu, &right, &problem(a));
        let samples = samples.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(samples.iter().all(|&s| s > 0.0 && s < 1.0), "{name}: {samples:?}");
    }
}

#[test]
fn libraries_of_symmetric_gauss_seidel_pass_and_faulty_ones_are_told_apart() {
    const FAULTS: [(&str, &str); 4] = [
        ("ZEROS", "rows are wrong"),
        ("PAST_Y", "it wrote outside y"),
        ("KEEPS_Y", "rows are wrong"),
        ("OWN_STREAM", "rows are wrong"),
    ];
    let (gpu, built) = (gpu!(), built!());
    let problem = |spec: &str| symgs::problem(symgs::made(spec));
    // Small: two sweeps end before the stream copies x and NaN.
    told_apart((&gpu, &built), "SYMGS", &FAULTS, &problem("poisson2d?n=12"));
    let right = [built.library("RIGHT", FAULTY, "SYMGS")];
    for spec in ["stencil27?n=4", "random?m=300&row=10&dominant=1", "kmer?m=500"] {
        let samples = measured(&gpu, &right, &problem(spec));
        let samples = samples.unwrap_or_else(|why| panic!("{spec}: {why}"));
        assert!(samples.iter().all(|&s| s > 0.0 && s < 1.0), "{spec}: {samples:?}");
    }
}

#[test]
fn solvers_in_libraries_pass_and_faulty_ones_are_told_apart() {
    const FAULTS: [(&str, &str); 3] = [
        ("ZEROS", "the true relative residual is 1.000e0"),
        ("PAST_Y", "it wrote outside x"),
        ("OWN_STREAM", "row 0 of the solution is NaN"),
    ];
    let (gpu, built) = (gpu!(), built!());
    // Solved in so few sweeps that two solves end before the stream copies b, the initial x and NaN.
    let beside = (1..40).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
    let triplets: Vec<_> = (0..40).map(|i| (i, i, 8.0)).chain(beside).collect();
    let a = Csr::from_triplets(40, 40, &triplets).unwrap();
    let problem = SolveProblem::new(Arc::new(a), Given::default()).unwrap();
    told_apart((&gpu, &built), "SOLVE", &FAULTS, &problem);
}
