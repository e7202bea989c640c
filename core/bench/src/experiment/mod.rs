//! Experiments: the backends that run kernels, the problems that they run on, and the runner that checks and
//! times them.

mod agreement;
mod backend;
#[cfg(not(target_family = "wasm"))]
mod batch_source;
mod binding;
#[cfg(not(target_family = "wasm"))]
pub mod choosing;
mod configuration;
mod convert;
#[cfg(not(target_family = "wasm"))]
mod cpu;
mod error;
#[cfg(not(target_family = "wasm"))]
mod input_file;
mod interruptions;
mod operations;
#[cfg(not(target_family = "wasm"))]
mod other_source;
mod output;
mod pattern;
mod plan;
#[cfg(not(target_family = "wasm"))]
mod points_source;
mod predict;
mod predictions;
mod problem;
#[cfg(not(target_family = "wasm"))]
mod rank_device;
mod references;
mod resident;
mod runner;
mod serial;
#[cfg(not(target_family = "wasm"))]
pub mod solving;
#[cfg(not(target_family = "wasm"))]
mod source;
mod split;
#[cfg(not(target_family = "wasm"))]
mod subject;
#[cfg(not(target_family = "wasm"))]
mod subjects;
mod task;
#[cfg(test)]
#[cfg(not(target_family = "wasm"))]
mod team;
mod ticket;
mod timing;
#[cfg(not(target_family = "wasm"))]
mod vectors;

pub use agreement::{Agreement, Alone, OwnFailure, agreed};
pub use backend::{Availability, Backend, Prepared};
#[cfg(not(target_family = "wasm"))]
pub use batch_source::BatchSource;
pub use binding::{Binding, Binds};
pub use configuration::{Configuration, Key, Temperature, table_position};
pub use convert::{convert, format_size};
#[cfg(not(target_family = "wasm"))]
pub use cpu::{CpuBackend, CpuProduct};
pub use error::{KernelError, PrepareError};
#[cfg(not(target_family = "wasm"))]
pub use input_file::InputFile;
pub use interruptions::Interruptions;
pub use operations::*;
#[cfg(not(target_family = "wasm"))]
pub use other_source::{LoadedOther, OtherSource};
pub use output::{Output, Solution};
pub use plan::{
    MOST_UNTIL, MedianGoal, ParameterLists, SelectError, Settings, select_distributed,
    select_kernels,
};
#[cfg(not(target_family = "wasm"))]
pub use points_source::PointsSource;
pub use predict::predict_converted;
pub use problem::Problem;
#[cfg(not(target_family = "wasm"))]
pub use rank_device::{
    DeviceCosts, DeviceFailure, DeviceProduct, DeviceSolver, DeviceSystem, Elements, RankDevice,
    RankRows,
};
pub use references::relate;
pub use resident::Resident;
pub use runner::{Ending, Observer, Runner, Step, Steps};
pub use serial::SerialBackend;
#[cfg(not(target_family = "wasm"))]
pub use source::{
    MatrixSource, SourceError, matrix_cache, matrix_file, matrix_folders, unread_matrix,
};
pub use sparsescope_record::{LoadedMatrix, LoadedValues, ReadMatrix};
pub use split::{Portion, Units, split};
#[cfg(not(target_family = "wasm"))]
pub use subject::{LoadedSubject, Probed, SubjectSource, tell_apart};
pub use task::{Finished, Groups, Task, Watch};
pub use ticket::{Executed, LastOutput, Metered, Sampled, SetUp, Ticket};
#[doc(hidden)]
pub use timing::{WARM_BY_ITSELF_S, repetitions};
#[cfg(not(target_family = "wasm"))]
pub use vectors::{admit_vectors, other_precision};
