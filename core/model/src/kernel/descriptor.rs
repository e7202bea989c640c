//! What is known about a kernel without running it.

use super::format::Format;
use super::mapping::Mapping;
use super::model::Model;
use super::parameter::{Allowed, Parameter, Parameters};
use super::user::UserKernel;
use sparsescope_record::{Operation, Precision};

/// Kind of device that a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// CPU.
    Cpu,
    /// CPUs of several ranks, which `mpirun` starts.
    Ranks,
    /// NVIDIA GPU, through CUDA.
    Cuda,
    /// Several NVIDIA GPUs of one process, connected by NCCL.
    Nccl,
    /// Any GPU, through Vulkan, Metal, Direct3D 12 or WebGPU.
    Wgpu,
}

impl DeviceKind {
    /// `cpu`, `cuda`, `nccl` or `wgpu`: bundles say `cpu` of ranks, too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu | Self::Ranks => "cpu",
            Self::Cuda => "cuda",
            Self::Nccl => "nccl",
            Self::Wgpu => "wgpu",
        }
    }
}

/// Where a kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Tor Vergata: SpMV in CSR and HLL.
    Paper000,
    /// The student report on a CUDA Gauss–Seidel smoother.
    Paper001,
    /// Cranfield: SpMV in CSR and ELLPACK.
    Paper002,
    /// The thesis on CG with FSAI: COO, ELLPACK, Hybrid, CSR.
    Paper003,
    /// The report on the skyline operator with OpenMP and CUDA.
    Paper004,
    /// This project.
    Ours,
    /// A vendor library.
    Vendor(Library),
    /// A file that the user provides.
    User,
}

impl Origin {
    /// The word in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper000 => "paper:000",
            Self::Paper001 => "paper:001",
            Self::Paper002 => "paper:002",
            Self::Paper003 => "paper:003",
            Self::Paper004 => "paper:004",
            Self::Ours => "ours",
            Self::Vendor(_) => "vendor",
            Self::User => "user",
        }
    }
}

/// A vendor's library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// NVIDIA's sparse matrices.
    Cusparse,
    /// NVIDIA's dense linear algebra.
    Cublas,
    /// NVIDIA's factorisations.
    Cusolver,
    /// Intel oneMKL.
    Mkl,
    /// faer, in Rust.
    Faer,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Cusparse, Self::Cublas, Self::Cusolver, Self::Mkl, Self::Faer];

    /// The word in the ids of its kernels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cusparse => "cusparse",
            Self::Cublas => "cublas",
            Self::Cusolver => "cusolver",
            Self::Mkl => "mkl",
            Self::Faer => "faer",
        }
    }

    /// Its name as it calls itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cusparse => "cuSPARSE",
            Self::Cublas => "cuBLAS",
            Self::Cusolver => "cuSOLVER",
            Self::Mkl => "MKL",
            Self::Faer => "faer",
        }
    }
}

/// A version of a paper's kernel that a chart compares with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The older one for CPUs.
    Older,
    /// The final one for CPUs.
    Final,
    /// A way to read points on a GPU.
    Way {
        /// Its place among the others: those with the same layout are next to each other.
        place: u8,
        /// Whether a thread's own point is meant to be in local memory.
        is_local: bool,
    },
}

/// What a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// A matrix in a format.
    Matrix(Format),
    /// A matrix, in the format of the kernel that it picks.
    Chosen,
    /// A point set.
    Points,
    /// Many small dense systems.
    Systems,
}

/// What a kernel requires of its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// A finite x: the kernel multiplies padding by x, so an infinite or NaN element would spoil
    /// rows that do not hold that column. Such an x is refused.
    pub finite_x: bool,
    /// A symmetric positive definite matrix.
    pub spd: bool,
    /// A nonzero in every place of the diagonal.
    pub full_diagonal: bool,
}

/// Which settings affect a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Runs with the requested number of CPU threads; otherwise with one.
    pub threads: bool,
    /// Runs with the requested number of threads per GPU block.
    pub block: bool,
    /// Accepts the rows of a format in any order; sorted unless another order is requested.
    pub order: bool,
}

/// What is known about a kernel without running it.
#[derive(Clone, Copy, Debug)]
pub struct KernelDescriptor {
    /// `DEVICE/WHAT/HOW` for our own, where WHAT is the format for SpMV and a word of the operation
    /// otherwise; `vendor/LIBRARY/ALGORITHM` for vendors; `user/FILE/FUNCTION` for users.
    pub id: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// What it reads.
    pub reads: Reads,
    /// The device that it runs on.
    pub device: DeviceKind,
    /// How work is assigned to workers.
    pub mapping: Mapping,
    /// The mapping in one line, for readers.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static [Origin],
    /// The precisions that it computes in, the usual one first.
    pub precisions: &'static [Precision],
    /// The result equals the reference bit by bit: the check compares bits, not distances.
    pub exact: bool,
    /// The result has the same bits in every run.
    pub deterministic: bool,
    /// What it requires of its input.
    pub needs: Needs,
    /// Which settings affect it.
    pub takes: Takes,
    /// The parameters that affect it and the values that each accepts.
    pub parameters: &'static [(Parameter, Allowed)],
    /// How the layout model follows it; absent if there is no model.
    pub model: Option<Model>,
    /// The source file of a user kernel.
    pub user: Option<&'static UserKernel>,
    /// Its place among the series of charts: kernels added after bundles had been published come
    /// after the others, whose marks must not change.
    pub rank: u8,
    /// Which of a paper's versions it is, where charts compare them.
    pub version: Option<Version>,
}

impl KernelDescriptor {
    /// A CPU kernel in f64 whose results have the same bits in every run; it requires nothing of its input and has no
    /// parameters.
    pub(super) const fn cpu(
        (operation, reads): (Operation, Reads),
        id: &'static str,
        mapping: Mapping,
        origin: &'static [Origin],
        summary: &'static str,
    ) -> Self {
        Self {
            id,
            operation,
            reads,
            device: DeviceKind::Cpu,
            mapping,
            summary,
            origin,
            precisions: &[Precision::F64],
            exact: false,
            deterministic: true,
            needs: Needs { finite_x: false, spd: false, full_diagonal: false },
            takes: Takes {
                threads: !matches!(mapping, Mapping::Serial),
                block: false,
                order: false,
            },
            parameters: &[],
            model: None,
            user: None,
            rank: 0,
            version: None,
        }
    }

    /// The origins, as the words in files.
    pub fn origin_names(&self) -> Vec<String> {
        self.origin.iter().map(|o| o.as_str().to_owned()).collect()
    }

    /// The matrix format that it reads; `None` for kernels that pick one or read something else.
    pub fn format(&self) -> Option<Format> {
        match self.reads {
            Reads::Matrix(format) => Some(format),
            Reads::Chosen | Reads::Points | Reads::Systems => None,
        }
    }

    /// The middle part of its id: the format for SpMV in a format, the method for solvers,
    /// otherwise the operation.
    pub fn what(&self) -> &'static str {
        let format = || self.format().map(Format::name);
        self.operation.in_ids().or_else(format).unwrap_or(self.operation.as_str())
    }

    /// The vendor's library that it belongs to.
    pub fn library(&self) -> Option<Library> {
        match self.origin {
            [Origin::Vendor(library)] => Some(*library),
            _ => None,
        }
    }

    /// Whether it is that of a shared library that the user names.
    pub fn is_of_user_library(&self) -> bool {
        self.origin == [Origin::User] && self.mapping == Mapping::Library
    }

    /// What shares a colour in charts: as [`what`](Self::what), except where a library has another
    /// word for it, and for kernels on CSR beyond those that marks tell apart.
    pub fn family(&self) -> &'static str {
        match (self.library(), self.what()) {
            (Some(Library::Cusparse), "hll") => "sell",
            (Some(Library::Cusparse), "symgs") => "spsv",
            (Some(Library::Cusparse), _) if self.id.starts_with("vendor/cusparse/op") => "op",
            (Some(Library::Faer), _) => "cholesky",
            (_, "csr") if self.id.ends_with("transposed") => "transposed",
            (_, "csr") if self.id.ends_with("/lanes") => "lanes",
            (_, what) => what,
        }
    }

    /// Whether it multiplies by A' from the CSR arrays of A, without a copy of the transpose.
    pub fn reads_a_for_transpose(&self) -> bool {
        matches!(
            self.id,
            "cpu/csr/transposed" | "vendor/mkl/csr" | "vendor/cusparse/csr-transposed"
        )
    }

    /// The kernel with a place among series after those of rank 0.
    pub(super) const fn ranked(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    /// The kernel with a matrix in fewer bits than vectors and sums, too.
    pub(super) const fn of_any_values(mut self) -> Self {
        self.precisions = &Precision::ALL;
        self
    }

    /// The kernel as a version of a paper's.
    pub(super) const fn of_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// The parameters of `all` that the kernel lists.
    pub fn listed(&self, all: &Parameters) -> Parameters {
        let listed = all.iter().filter(|(of, _)| self.allowed(*of).is_some());
        listed.fold(Parameters::default(), |some, (of, value)| some.with(of, value))
    }

    /// The parameter that has its default in `all` although the kernel does not take the default:
    /// `op` of a kernel for the transpose alone.
    pub fn lacking(&self, all: &Parameters) -> Option<Parameter> {
        let mut silent = self.parameters.iter().filter(|(of, _)| of.about().is_silent);
        let lacking = silent.find(|(of, allowed)| {
            let value = of.default();
            all.text(*of) == value && value.is_some_and(|value| !allowed.contains(&value))
        });
        lacking.map(|&(of, _)| of)
    }

    /// Whether it runs with every parameter at its default, as kernels for the transpose alone do not.
    pub fn takes_defaults(&self) -> bool {
        self.lacking(&Parameters::default()).is_none()
    }

    /// The values of a parameter that it accepts; `None` if the parameter does not affect it.
    pub fn allowed(&self, parameter: Parameter) -> Option<Allowed> {
        self.parameters.iter().find(|(of, _)| *of == parameter).map(|&(_, allowed)| allowed)
    }
}
