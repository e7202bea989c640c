//! What an experiment is going to run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::backend::Temperature;
use crate::kernel::{DeviceKind, FormatParams, KERNELS, KernelDescriptor};
use crate::record::Operation;
use crate::record::Run;

/// How often and under which settings kernels are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Timed samples of each run.
    pub runs: usize,
    /// Products before the first sample.
    pub warmup: usize,
    /// Thread counts that parallel CPU kernels are run with.
    pub threads: Vec<u32>,
    /// Threads a block that GPU kernels are run with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u32>,
    /// Measure with flushed caches too.
    pub cold: bool,
    /// Seed of x.
    pub seed: u64,
    /// Parameters of the formats.
    #[serde(flatten)]
    pub formats: FormatParams,
}

impl Settings {
    /// Parameters of the formats.
    pub fn format(&self) -> FormatParams {
        self.formats
    }
}

/// One kernel under one setting: what becomes one run a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// The kernel.
    pub kernel: &'static KernelDescriptor,
    /// Threads; 1 for a serial kernel.
    pub threads: u32,
    /// Threads a block, for GPU kernels that take them.
    pub block: Option<u32>,
    /// State of the caches.
    pub temperature: Temperature,
}

impl Configuration {
    /// Every configuration of these kernels, in the kernels' order: a serial kernel once, a
    /// parallel one with each thread count, a GPU's with each block size; hot, and cold too when
    /// asked for.
    pub fn all(kernels: &[&'static KernelDescriptor], settings: &Settings) -> Vec<Self> {
        let temperatures: &[Temperature] = match settings.cold {
            false => &[Temperature::Hot],
            true => &[Temperature::Hot, Temperature::Cold],
        };
        let mut all = Vec::new();
        for &kernel in kernels {
            let threads = if kernel.is_serial() { &[1][..] } else { &settings.threads };
            let blocks: Vec<Option<u32>> = match kernel.takes_block() {
                true => settings.blocks.iter().copied().map(Some).collect(),
                false => vec![None],
            };
            for &threads in threads {
                for &block in &blocks {
                    let at = |&temperature| Self { kernel, threads, block, temperature };
                    all.extend(temperatures.iter().map(at));
                }
            }
        }
        all
    }

    /// A run of this configuration with nothing measured yet.
    pub(super) fn empty_run(&self, matrix: &str, environment: &str, device: &str) -> Run {
        Run {
            matrix: matrix.to_owned(),
            operation: self.kernel.operation.as_str().to_owned(),
            kernel: self.kernel.id.to_owned(),
            origin: self.kernel.origin_names(),
            backend: self.kernel.device.as_str().to_owned(),
            device: device.to_owned(),
            environment: environment.to_owned(),
            threads: self.threads,
            parts: None,
            block: self.block,
            hot: self.temperature == Temperature::Hot,
            precision: "f64".to_owned(),
            params: BTreeMap::new(),
            check: Default::default(),
            samples: Vec::new(),
            repetitions: 0,
            warmup: 0,
            costs: Default::default(),
            figures: None,
        }
    }
}

/// Why a selection of kernels is empty or unclear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A pattern is not a glob.
    #[error("`{pattern}` is not a pattern of kernel ids: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Pattern { pattern: String, reason: String },
    /// A pattern matches nothing.
    #[error("no {what} kernel matches `{pattern}`; `sparsescope kernels` lists them all")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NoMatch { pattern: String, what: String },
}

/// The kernels of an operation and of the given devices whose ids match one of the glob patterns
/// (all of them without patterns), in the order of the table.
pub fn select_kernels(
    operation: Operation,
    devices: &[DeviceKind],
    patterns: &[String],
) -> Result<Vec<&'static KernelDescriptor>, SelectError> {
    let offered =
        || KERNELS.iter().filter(|k| k.operation == operation && devices.contains(&k.device));
    if patterns.is_empty() {
        return Ok(offered().collect());
    }
    let mut matchers = Vec::new();
    for pattern in patterns {
        let glob = globset::Glob::new(pattern).map_err(|error| SelectError::Pattern {
            pattern: pattern.clone(),
            reason: error.kind().to_string(),
        })?;
        let matcher = glob.compile_matcher();
        if !offered().any(|k| matcher.is_match(k.id)) {
            let names: Vec<&str> = devices.iter().map(|d| d.as_str()).collect();
            let what = format!("{} {}", names.join(" or "), operation.as_str());
            return Err(SelectError::NoMatch { pattern: pattern.clone(), what });
        }
        matchers.push(matcher);
    }
    Ok(offered().filter(|k| matchers.iter().any(|m| m.is_match(k.id))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(patterns: &[&str]) -> Result<Vec<&'static str>, SelectError> {
        let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
        let found = select_kernels(Operation::Spmv, &[DeviceKind::Cpu], &patterns)?;
        Ok(found.into_iter().map(|k| k.id).collect())
    }

    #[test]
    fn patterns_select_in_the_tables_order_and_each_kernel_once() {
        let found = ids(&["cpu/hll/*", "cpu/*/serial", "cpu/csr/serial"]).unwrap();
        assert_eq!(found[0], "cpu/csr/serial");
        assert_eq!(found.iter().filter(|id| id.starts_with("cpu/hll/")).count(), 2);
        assert_eq!(found.len(), 6);
        let on_cpu = KERNELS.iter().filter(|k| k.device == DeviceKind::Cpu).count();
        assert_eq!(ids(&[]).unwrap().len(), on_cpu);
    }

    #[test]
    fn a_pattern_that_matches_nothing_says_where_to_look() {
        let message = ids(&["cpu/csr/*", "gpu/*"]).unwrap_err().to_string();
        assert!(
            message.contains("`gpu/*`") && message.contains("sparsescope kernels"),
            "{message}"
        );
        assert!(matches!(ids(&["cpu/[csr"]), Err(SelectError::Pattern { .. })));
    }

    #[test]
    fn kernels_run_with_every_thread_count_or_block_size_that_they_take() {
        let settings = Settings {
            runs: 1,
            warmup: 0,
            threads: vec![1, 2, 4],
            blocks: vec![64, 128, 256],
            cold: true,
            seed: 42,
            formats: FormatParams::default(),
        };
        let devices = [DeviceKind::Cpu, DeviceKind::Cuda];
        let kernels = select_kernels(Operation::Spmv, &devices, &[]).unwrap();
        let all = Configuration::all(&kernels, &settings);
        let of = |id: &str| all.iter().filter(|c| c.kernel.id == id).count();
        assert_eq!((of("cpu/csr/serial"), of("cpu/csr/nnz")), (2, 6));
        assert_eq!((of("cuda/csr/warp-ldg"), of("vendor/cusparse/coo")), (6, 2));
    }
}
