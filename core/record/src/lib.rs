//! What a result bundle records, as Rust types with the arithmetic that follows from them: machines,
//! matrices, runs, figures. Times are in seconds, sizes in bytes, bandwidths in bytes per second.
//! `bundle.schema.json` in the module `bundle` is the normative JSON Schema for them.
//!
//! Unknown fields are accepted when reading, so that bundles of a newer minor version still open. Fields that
//! a newer minor version adds are optional with a default.

mod absence;
mod choice;
mod distributed;
mod energy;
mod environment;
mod figures;
mod history;
mod kernel_source;
mod key;
mod loaded;
mod manifest;
mod matrix;
mod metric;
mod names;
mod operation;
mod predicted;
mod rounding;
mod run;
mod shard;
mod solve;
mod subject;
mod until;
mod variant;

pub use absence::{GPU_SWITCH, GpuAbsence};
pub use choice::{Choice, Tried};
pub use distributed::{Distributed, Link, PairTraffic, RankShare};
pub use energy::Energy;
pub use environment::{Bandwidth, Build, Cache, Cpu, Environment, Environments, Gpu, Noise};
pub use figures::Figures;
pub use history::{History, Series};
pub use kernel_source::{KernelSource, MOST_SOURCE_BYTES};
pub use key::{KeyParams, RunKey};
pub use loaded::{LoadedMatrix, LoadedValues, ReadMatrix};
pub use manifest::{
    EntryInfo, MOST_AMOUNT, MOST_SECONDS, Manifest, Producer, SCHEMA, SchemaVersion,
};
pub use matrix::{MatrixRecord, Reordered, Source};
pub use metric::{Better, Metric, Work};
#[doc(hidden)]
pub use names::{
    HISTORIES, history_entry, is_safe_entry, is_safe_id, matrix_entry, printable, subject_entry,
};
pub use names::{MOST_REASON_BYTES, is_invisible, matrix_id, matrix_name};
pub use operation::Operation;
pub use predicted::{Predicted, SECTOR};
pub use rounding::Rounding;
pub use run::{Check, Costs, LaunchCost, Run, Runs, Verdict};
pub use shard::Shard;
pub use solve::{Phase, SetUpSizes, Solve, Spectrum};
pub use subject::{Subject, SubjectRecord};
pub use until::Until;
pub use variant::and_vectors;

pub use sparsescope_matrix::matrix::Precision;
