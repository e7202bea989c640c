//! What is known of a kernel without running it.

use super::format::Format;
use super::mapping::Mapping;
use super::model::Model;
use super::parameter::{Allowed, Parameter, Parameters};
use super::user::UserKernel;
use crate::record::{Operation, Precision};

/// Kind of device that a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Processor.
    Cpu,
    /// NVIDIA graphics processor, through CUDA.
    Cuda,
    /// Several NVIDIA graphics processors of one process, which NCCL brings together.
    Nccl,
    /// Any graphics processor, through Vulkan, Metal, Direct3D 12 or WebGPU.
    Wgpu,
}

impl DeviceKind {
    /// `cpu`, `cuda`, `nccl` or `wgpu`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
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
    /// A vendor's library.
    Vendor,
    /// A file of whoever runs the program.
    User,
}

impl Origin {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper000 => "paper:000",
            Self::Paper001 => "paper:001",
            Self::Paper002 => "paper:002",
            Self::Paper003 => "paper:003",
            Self::Paper004 => "paper:004",
            Self::Ours => "ours",
            Self::Vendor => "vendor",
            Self::User => "user",
        }
    }
}

/// What a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// A matrix in a format.
    Matrix(Format),
    /// A matrix, in the format of the kernel that it chooses.
    Chosen,
    /// Points of a space.
    Points,
    /// Many small dense systems.
    Systems,
    /// A vector, in place of a matrix.
    #[cfg(feature = "proof")]
    Vector,
}

/// What a kernel asks of its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// It multiplies padding by x, so that an infinite or NaN x would spoil rows that do not
    /// hold that column: such an x is refused.
    pub finite_x: bool,
    /// A symmetric positive definite matrix.
    pub spd: bool,
    /// An entry other than 0 in every place of the diagonal.
    pub full_diagonal: bool,
}

/// Which settings change how a kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Runs with as many threads of the processor as is asked for; otherwise with one.
    pub threads: bool,
    /// Runs with as many threads a block of a GPU as is asked for.
    pub block: bool,
    /// Takes the rows of a format in any order: sorted where no other is asked for.
    pub order: bool,
}

/// What is known of a kernel without running it.
#[derive(Clone, Copy, Debug)]
pub struct KernelDescriptor {
    /// `DEVICE/WHAT/HOW` for ours, where WHAT is the format for products and the operation's own
    /// word otherwise; `vendor/LIBRARY/ALGORITHM` for vendors'; `user/FILE/FUNCTION` for users'.
    pub id: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// What it reads.
    pub reads: Reads,
    /// Where it runs.
    pub device: DeviceKind,
    /// How the work is given to workers.
    pub mapping: Mapping,
    /// The mapping in one line, for people.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static [Origin],
    /// In how many bits it computes, the usual first.
    pub precisions: &'static [Precision],
    /// Its result has the same bits as the reference's: the check compares bits, not distances.
    pub exact: bool,
    /// Its result has the same bits in every run.
    pub deterministic: bool,
    /// What it asks of its input.
    pub needs: Needs,
    /// Which settings change how it runs.
    pub takes: Takes,
    /// Parameters that change how it runs, and which values of them it takes.
    pub parameters: &'static [(Parameter, Allowed)],
    /// How the layout model follows it; absent where there is none.
    pub model: Option<Model>,
    /// The file that it comes from, of a kernel that a user has brought.
    pub user: Option<&'static UserKernel>,
}

impl KernelDescriptor {
    /// The origins as the words used in files.
    pub fn origin_names(&self) -> Vec<String> {
        self.origin.iter().map(|o| o.as_str().to_owned()).collect()
    }

    /// The matrix format that it reads; none for kernels that choose one, or on other subjects.
    pub fn format(&self) -> Option<Format> {
        match self.reads {
            Reads::Matrix(format) => Some(format),
            Reads::Chosen | Reads::Points | Reads::Systems => None,
            #[cfg(feature = "proof")]
            Reads::Vector => None,
        }
    }

    /// What the middle of its id says: the format for products that have one, the method for solves, the operation
    /// otherwise.
    pub fn what(&self) -> &'static str {
        match (self.operation, self.format()) {
            (Operation::Spmv, Some(format)) => format.name(),
            (Operation::Solve, _) => "pcg",
            (Operation::BatchedDense, _) => "dense",
            _ => self.operation.as_str(),
        }
    }

    /// Those among the parameters that it lists.
    pub fn listed(&self, all: &Parameters) -> Parameters {
        let listed = all.iter().filter(|(of, _)| self.allowed(*of).is_some());
        listed.fold(Parameters::default(), |some, (of, value)| some.with(of, value))
    }

    /// Which values of a parameter it takes; none when it does not depend on it.
    pub fn allowed(&self, parameter: Parameter) -> Option<Allowed> {
        self.parameters.iter().find(|(of, _)| *of == parameter).map(|&(_, allowed)| allowed)
    }
}
