//! Tests that may run in parallel: of the built program, of the libraries and of the sources. Those that must
//! run alone are in `timing.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[cfg(unix)]
mod accidents;
mod adapters;
mod architecture;
mod auto;
mod bench;
mod board;
mod commands;
mod common;
mod compare;
mod convert;
mod debug;
mod dense;
mod examples;
mod fetch;
mod foreign;
mod forms;
mod frozen;
mod golden;
mod imported;
mod inputs;
mod landing;
#[cfg(target_os = "linux")]
mod libraries;
#[cfg(unix)]
mod machine;
mod measurement;
mod mkl;
mod nothing;
mod operations;
mod pages;
mod precision;
mod report;
mod rooms;
mod runs_where;
mod scaled;
mod scipy;
mod sectors;
mod shards;
mod skyline;
#[cfg(target_os = "linux")]
mod slurm;
mod solve;
mod spmm;
mod symgs;
mod track;
mod user_kernels;
mod viewer;
mod words;
