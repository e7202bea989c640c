//! The plan of an experiment: kernels and settings.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::pattern::Pattern;
use sparsescope_model::kernel::{
    Allowed, DeviceKind, KernelDescriptor, LANES, Parameter, ParameterError, Parameters, kernels,
    kernels_of_ranks,
};
use sparsescope_record::{MOST_SECONDS, Operation, Precision};

/// Upper limit for samples, executions and threads in a plan.
const MOST: usize = 1 << 20;

/// Maximum threads per block on any GPU.
const MOST_BLOCK: u32 = 1024;

/// Maximum samples of a run that is sampled until its median is known.
pub const MOST_UNTIL: usize = 1000;

/// The required precision of a run's median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MedianGoal {
    /// Upper limit for half the width of the median's 95 % interval, relative to the median.
    pub share: f64,
    /// Maximum seconds of sampling per run.
    pub at_most_s: f64,
}

/// How often and with which settings kernels are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Timed samples per run; the maximum if `until` is set.
    pub runs: usize,
    /// Required precision of each median; if `None`, every run takes the same number of samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<MedianGoal>,
    /// Executions before the first sample.
    pub warmup: usize,
    /// Thread counts for parallel CPU kernels.
    pub threads: Vec<u32>,
    /// Threads per block for GPU kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u32>,
    /// Whether to measure with flushed caches too.
    pub cold: bool,
    /// Whether to measure energy too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub energy: bool,
    /// Seed for input that is not given.
    pub seed: u64,
    /// Precisions in which kernels compute.
    #[serde(default = "usual_precisions", rename = "precision")]
    pub precisions: Vec<Precision>,
    /// Values of the kernels' parameters.
    #[serde(flatten)]
    pub parameters: ParameterLists,
}

fn usual_precisions() -> Vec<Precision> {
    vec![Precision::F64]
}

impl Settings {
    /// Upper bound on the runs of one kernel on one subject; not every kernel takes every listed setting.
    pub fn most_runs(&self) -> u64 {
        let own = [self.threads.len(), self.blocks.len(), self.precisions.len()];
        let lists = own.into_iter().chain(self.parameters.0.values().map(Vec::len));
        let caches = if self.cold { 2 } else { 1 };
        lists.fold(caches, |all, list| u64::saturating_mul(all, list.max(1) as u64))
    }

    /// Validates settings read from a file; fails with one sentence.
    pub fn check(&self) -> Result<(), String> {
        let within = |what: &str, found: usize, least: usize, most: usize| match (least..=most)
            .contains(&found)
        {
            true => Ok(()),
            false => Err(format!("{what} is {found}: expected {least} to {most}")),
        };
        within("the number of samples", self.runs, 1, MOST)?;
        within("the number of warm-up runs", self.warmup, 0, MOST)?;
        if let Some(MedianGoal { share, at_most_s }) = self.until {
            if !(share > 0.0 && share < 1.0) {
                return Err(format!(
                    "the fraction of the median is {share}: expected more than 0 and less than 1"
                ));
            }
            if !(at_most_s > 0.0 && at_most_s <= MOST_SECONDS) {
                return Err(format!(
                    "the time limit per run is {at_most_s} seconds: expected more than 0 and at \
                    most {MOST_SECONDS}"
                ));
            }
        }
        for &threads in &self.threads {
            within("the number of threads", threads as usize, 1, MOST)?;
        }
        for &block in &self.blocks {
            if block == 0 || block > MOST_BLOCK || !u64::from(block).is_multiple_of(LANES) {
                return Err(format!(
                    "{block} threads per block: expected a multiple of {LANES} up to {MOST_BLOCK}"
                ));
            }
        }
        match self.precisions.is_empty() {
            true => Err("no precision is given: expected one or more, such as f64".to_owned()),
            false => Ok(()),
        }
    }

    /// Describes a precision or parameter value that none of `kernels` takes.
    pub fn untaken(&self, kernels: &[&'static KernelDescriptor]) -> Option<String> {
        let precision = self
            .precisions
            .iter()
            .find(|precision| !kernels.iter().any(|k| k.precisions.contains(precision)));
        if let Some(precision) = precision {
            return Some(format!("no selected kernel supports {}", precision.as_str()));
        }
        let lacking = kernels.iter().find_map(|kernel| kernel.lacking(&Parameters::default()));
        if let Some(parameter) = lacking
            && kernels.iter().all(|kernel| self.parameters.of(kernel).is_empty())
        {
            let value = parameter.default().unwrap_or_default();
            return Some(self.not_taken(kernels, parameter, &value));
        }
        self.parameters.0.iter().find_map(|(&parameter, values)| {
            let is_usual = |value: &str| parameter.default().as_deref() == Some(value);
            let is_taken = |value: &str| {
                let takes =
                    |k: &&KernelDescriptor| k.allowed(parameter).is_some_and(|a| a.contains(value));
                kernels.iter().copied().any(|k| takes(&k))
            };
            let value = values.iter().find(|value| !is_usual(value) && !is_taken(value))?;
            Some(self.not_taken(kernels, parameter, value))
        })
    }

    /// Says that no kernel takes a parameter value, and which one to request if they take only one.
    fn not_taken(
        &self,
        kernels: &[&'static KernelDescriptor],
        parameter: Parameter,
        value: &str,
    ) -> String {
        let lists = kernels.iter().filter_map(|kernel| match kernel.allowed(parameter)? {
            Allowed::Only(values) => Some(values),
            Allowed::Any => None,
        });
        let mut taken = lists.flatten();
        let only = taken.next().filter(|first| taken.all(|value| value == *first));
        let verb = if self.parameters.values(parameter).is_empty() { "add" } else { "use" };
        let advice = only.map_or_else(String::new, |only| {
            format!(": {verb} `--{} {only}`", parameter.about().flag)
        });
        format!("no selected kernel takes {} {value}{advice}", parameter.name())
    }
}

/// Lists of parameter values. In files a single value may replace a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterLists(BTreeMap<Parameter, Vec<String>>);

impl ParameterLists {
    /// Sets the values of a parameter; an empty list keeps its default.
    pub fn set<T: ToString>(
        &mut self,
        parameter: Parameter,
        values: &[T],
    ) -> Result<(), ParameterError> {
        let mut accepted = Vec::new();
        for value in values {
            let value = parameter.value(&value.to_string())?;
            if !accepted.contains(&value) {
                accepted.push(value);
            }
        }
        if !accepted.is_empty() {
            self.0.insert(parameter, accepted);
        }
        Ok(())
    }

    /// The values of a parameter; none if it keeps its default.
    pub fn values(&self, parameter: Parameter) -> &[String] {
        self.0.get(&parameter).map(Vec::as_slice).unwrap_or_default()
    }

    /// All combinations of the parameters that a kernel lists, without values that have no effect next to the
    /// others; the same combination may occur several times. None if the kernel does not take the default of a
    /// parameter and no other value was requested.
    pub fn of(&self, kernel: &KernelDescriptor) -> Vec<Parameters> {
        let mut all = vec![Parameters::default()];
        for (&parameter, values) in &self.0 {
            if kernel.allowed(parameter).is_some() {
                let with = |one: &Parameters| {
                    let one = one.clone();
                    values.iter().map(move |value| one.clone().with(parameter, value))
                };
                all = all.iter().flat_map(with).collect();
            }
        }
        all.retain(|one| kernel.lacking(one).is_none());
        all.iter().map(|one| kernel.in_effect(one)).collect()
    }

    /// The only combination, if no parameter has several values.
    pub fn single(&self) -> Option<Parameters> {
        self.0.iter().try_fold(Parameters::default(), |all, (&parameter, values)| match &**values {
            [value] => Some(all.with(parameter, value)),
            _ => None,
        })
    }
}

impl Serialize for ParameterLists {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(parameter, values)| (parameter.name(), values)))
    }
}

impl<'de> Deserialize<'de> for ParameterLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lists = Self::default();
        for (name, values) in BTreeMap::<String, Value>::deserialize(deserializer)? {
            let Some(parameter) = Parameter::of(&name) else {
                return Err(D::Error::custom(format!("unknown parameter `{name}`")));
            };
            let values = match values {
                Value::Null => Vec::new(),
                Value::Array(values) => values,
                value => vec![value],
            };
            let text =
                |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let values: Vec<String> = values.iter().map(text).collect();
            lists.set(parameter, &values).map_err(D::Error::custom)?;
        }
        Ok(lists)
    }
}

/// Why a selection of kernels is empty or ambiguous.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A pattern is malformed.
    #[error("invalid kernel pattern `{pattern}`: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Pattern { pattern: String, reason: String },
    /// A pattern matches nothing.
    #[error("no {what} kernel matches `{pattern}`; run `sparsescope kernels` to list them")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NoMatch { pattern: String, what: String },
}

/// The kernels of an operation on the given devices whose ids match one of the patterns (all if there are no
/// patterns), in the order of the table.
pub fn select_kernels(
    operation: Operation,
    devices: &[DeviceKind],
    patterns: &[String],
) -> Result<Vec<&'static KernelDescriptor>, SelectError> {
    let offered: Vec<_> =
        kernels(operation).iter().filter(|k| devices.contains(&k.device)).collect();
    let names: Vec<&str> = devices.iter().map(|d| d.as_str()).collect();
    select(offered, patterns, &format!("{} {}", names.join(" or "), operation.as_str()))
}

/// The same for kernels that run on several ranks: on their CPUs, on one GPU each, or both.
pub fn select_distributed(
    operation: Operation,
    devices: &[DeviceKind],
    patterns: &[String],
) -> Result<Vec<&'static KernelDescriptor>, SelectError> {
    let name = |device: &DeviceKind| match device {
        DeviceKind::Ranks => "mpi",
        device => device.as_str(),
    };
    let names: Vec<&str> = devices.iter().map(name).collect();
    let what = format!("{} {}", names.join(" or "), operation.as_str());
    let offered = kernels_of_ranks(operation).filter(|k| devices.contains(&k.device));
    select(offered.collect(), patterns, &what)
}

fn select(
    offered: Vec<&'static KernelDescriptor>,
    patterns: &[String],
    what: &str,
) -> Result<Vec<&'static KernelDescriptor>, SelectError> {
    if patterns.is_empty() {
        return Ok(offered);
    }
    let mut read = Vec::new();
    for text in patterns {
        let pattern = Pattern::new(text)
            .map_err(|reason| SelectError::Pattern { pattern: text.clone(), reason })?;
        if !offered.iter().any(|k| pattern.matches(k.id)) {
            let what = what.to_owned();
            return Err(SelectError::NoMatch { pattern: text.clone(), what });
        }
        read.push(pattern);
    }
    Ok(offered.into_iter().filter(|k| read.iter().any(|pattern| pattern.matches(k.id))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Configuration;
    use sparsescope_model::kernel::kernel;
    use sparsescope_model::kernel::parameters::{HACK_SIZE, OP, SIGMA};

    fn ids(patterns: &[&str]) -> Result<Vec<&'static str>, SelectError> {
        let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
        let found = select_kernels(Operation::Spmv, &[DeviceKind::Cpu], &patterns)?;
        Ok(found.into_iter().map(|k| k.id).collect())
    }

    #[test]
    fn patterns_select_in_the_tables_order_and_each_kernel_once() {
        let found = ids(&["cpu/hll/*", "cpu/*/serial", "cpu/csr/serial"]).unwrap();
        assert_eq!(found[0], "cpu/csr/serial");
        let all = kernels(Operation::Spmv);
        let of_hll = |id: &&str| id.starts_with("cpu/hll/");
        let count = all.iter().map(|k| k.id).filter(of_hll).count();
        assert_eq!(found.iter().copied().filter(of_hll).count(), count);
        let serial = all.iter().filter(|k| k.id.starts_with("cpu/") && k.id.ends_with("/serial"));
        assert_eq!(found.len(), count + serial.count() - 1);
        let on_cpu = all.iter().filter(|k| k.device == DeviceKind::Cpu).count();
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

    /// One sample, one thread and no block size, with these parameter values.
    fn settings(parameters: &[(Parameter, &[u32])]) -> Settings {
        let mut lists = ParameterLists::default();
        for &(parameter, values) in parameters {
            lists.set(parameter, values).unwrap();
        }
        Settings {
            runs: 1,
            until: None,
            warmup: 0,
            threads: vec![1],
            blocks: vec![128],
            cold: false,
            energy: false,
            seed: 42,
            precisions: vec![Precision::F64],
            parameters: lists,
        }
    }

    fn all(settings: &Settings) -> Vec<Configuration> {
        let devices = [DeviceKind::Cpu, DeviceKind::Cuda];
        let kernels = select_kernels(Operation::Spmv, &devices, &[]).unwrap();
        Configuration::all(&kernels, settings)
    }

    #[test]
    fn kernels_run_with_every_thread_count_or_block_size_that_they_take() {
        let (threads, blocks) = (vec![1, 2, 4], vec![64, 128, 256]);
        let all = all(&Settings { threads, blocks, cold: true, ..settings(&[]) });
        let of = |id: &str| all.iter().filter(|c| c.kernel.id == id).count();
        assert_eq!((of("cpu/csr/serial"), of("cpu/csr/nnz")), (2, 6));
        assert_eq!((of("cuda/csr/warp-ldg"), of("vendor/cusparse/coo")), (6, 2));
    }

    #[test]
    fn lists_are_multiplied_over_the_parameters_that_a_kernel_lists() {
        let lists: [(_, &[u32]); 2] = [(HACK_SIZE.id(), &[8, 32, 8]), (SIGMA.id(), &[0, 1, 256])];
        let all = all(&settings(&lists));
        let of = |id: &str| all.iter().filter(|c| c.kernel.id == id).count();
        // Windows of zero rows and of one row are the same.
        assert_eq!((of("cpu/hll/serial"), of("cpu/csr/serial"), of("cpu/ell/serial")), (4, 1, 1));
        let mut keys: Vec<_> = all.iter().map(Configuration::key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all.len());
        // What a kernel cannot take is planned, and refused with an explanation.
        let on_gpu: Vec<_> =
            all.iter().filter(|c| c.kernel.id == "cuda/hll/warp-per-row").collect();
        let refused = on_gpu.iter().filter_map(|c| c.admit().err()).map(|e| e.to_string());
        assert_eq!(on_gpu.len(), 4);
        assert_eq!(refused.collect::<Vec<_>>(), ["sigma cannot be 256: expected 1"; 2]);
    }

    #[test]
    fn a_kernel_that_does_not_take_a_default_runs_only_where_another_value_is_requested() {
        let mut settings = settings(&[]);
        let of = |settings: &Settings| {
            let all = all(settings);
            let found = all.into_iter().filter(|c| c.kernel.id == "vendor/cusparse/csr-transposed");
            found.map(|c| (c.parameters.to_string(), c.admit().is_ok())).collect::<Vec<_>>()
        };
        assert_eq!(of(&settings), []);
        settings.parameters.set(Parameter::of("op").unwrap(), &["n", "t"]).unwrap();
        assert_eq!(of(&settings), [("op=t".to_owned(), true)]);
        let usual = Configuration::usual(kernel("vendor/cusparse/csr-transposed").unwrap());
        assert_eq!(usual.admit().unwrap_err().to_string(), "op cannot be n: expected t");
    }

    #[test]
    fn a_kernel_without_alpha_and_beta_takes_no_scale() {
        let parameters = Parameters::default().with(Parameter::of("scale").unwrap(), "2");
        let admitted = |id: &str| {
            let usual = Configuration::usual(kernel(id).unwrap());
            let scaled = Configuration { parameters: parameters.clone(), ..usual };
            scaled.admit().map_err(|error| error.to_string())
        };
        assert_eq!([admitted("cpu/hll/compact"), admitted("cpu/spmv/auto")], [Ok(()), Ok(())]);
        for id in ["wgpu/csr/thread-per-row", "mpi/csr/halo", "nccl/csr/halo-overlap"] {
            assert_eq!(admitted(id), Err("takes no scale".to_owned()), "{id}");
        }
    }

    /// Shards and resumed bundles count the runs of a plan in this order, whatever version began them.
    #[test]
    fn the_order_of_combinations_stays() {
        let combinations = |id: &str, lists: &[(&str, &[&str])]| {
            let mut all = ParameterLists::default();
            for (name, values) in lists {
                all.set(Parameter::of(name).unwrap(), values).unwrap();
            }
            let all = all.of(kernel(id).unwrap());
            all.iter().map(Parameters::to_string).collect::<Vec<_>>().join("; ")
        };
        let hacks: [(&str, &[&str]); 3] =
            [("spill", &["9"]), ("sigma", &["1", "64"]), ("hack_size", &["8", "32"])];
        assert_eq!(
            combinations("cpu/hll/serial", &hacks),
            "hack_size=8, spill=9; hack_size=8, sigma=64, spill=9; spill=9; sigma=64, spill=9"
        );
        let solves: [(&str, &[&str]); 3] =
            [("tol", &["1e-6", "1e-10"]), ("power", &["1", "3"]), ("precond", &["jacobi", "fsai"])];
        assert_eq!(
            combinations("cpu/pcg/serial", &solves),
            "precond=jacobi, tol=1e-6; precond=jacobi; precond=jacobi, tol=1e-6; precond=jacobi; \
            power=1, tol=1e-6; power=1; power=3, tol=1e-6; power=3"
        );
        let systems: [(&str, &[&str]); 3] =
            [("b", &["ones", "a1"]), ("x0", &["precond"]), ("format_g", &["hll", "csr"])];
        assert_eq!(
            combinations("cpu/pcg/serial", &systems),
            "format_g=hll, b=ones, x0=precond; format_g=hll, x0=precond; b=ones, x0=precond; \
            x0=precond"
        );
    }

    #[test]
    fn a_value_that_no_kernel_takes_is_named() {
        let csr = [kernel("cpu/csr/serial").unwrap()];
        let transposed = [kernel("vendor/cusparse/csr-transposed").unwrap()];
        let missing = "no selected kernel takes op n: add `--op t`";
        assert_eq!(settings(&[]).untaken(&transposed).unwrap(), missing);
        assert_eq!(settings(&[]).untaken(&[csr[0], transposed[0]]), None);
        let of_op = |value: &str| {
            let mut of_op = Settings { precisions: vec![Precision::F32], ..settings(&[]) };
            of_op.parameters.set(OP.id(), &[value]).unwrap();
            of_op
        };
        let found = of_op("n").untaken(&transposed).unwrap();
        assert_eq!(found, "no selected kernel takes op n: use `--op t`");
        let plain = [kernel("wgpu/csr/thread-per-row").unwrap()];
        let found = of_op("t").untaken(&plain).unwrap();
        assert_eq!(found, "no selected kernel takes op t: use `--op n`");
        assert_eq!(of_op("t").untaken(&[plain[0], transposed[0]]), None);
        let hll = [kernel("cpu/hll/serial").unwrap()];
        let sorted = settings(&[(SIGMA.id(), &[1, 256])]);
        assert_eq!(sorted.untaken(&csr).unwrap(), "no selected kernel takes sigma 256");
        assert_eq!(sorted.untaken(&hll), None);
        assert_eq!(settings(&[(HACK_SIZE.id(), &[32])]).untaken(&csr), None);
    }

    #[test]
    fn settings_of_1_2_hold_single_values_and_are_read() {
        let old = serde_json::json!({
            "runs": 30, "warmup": 3, "threads": [1, 2], "cold": false, "seed": 42,
            "hack_size": 8, "sigma": 256, "spill": null
        });
        let read: Settings = serde_json::from_value(old).unwrap();
        let single = read.parameters.single().unwrap();
        assert_eq!(single.to_string(), "hack_size=8, sigma=256");
        let again: Settings = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
        assert_eq!((&again, again.check()), (&read, Ok(())));
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "a size has 32 bits")]
    fn settings_that_cannot_be_are_told() {
        let good = settings(&[]);
        let until = |share, at_most_s| Settings {
            until: Some(MedianGoal { share, at_most_s }),
            ..good.clone()
        };
        let read: Settings =
            serde_json::from_value(serde_json::to_value(until(0.01, 5.0)).unwrap()).unwrap();
        assert_eq!((&read, read.check()), (&until(0.01, 5.0), Ok(())));
        let wrong = [
            (Settings { threads: vec![0], ..good.clone() }, "the number of threads is 0"),
            (Settings { runs: 0, ..good.clone() }, "the number of samples is 0"),
            (Settings { runs: usize::MAX, ..good.clone() }, "the number of samples is 1844"),
            (Settings { blocks: vec![100], ..good.clone() }, "100 threads per block"),
            (Settings { precisions: vec![], ..good.clone() }, "no precision is given"),
            (until(0.0, 10.0), "the fraction of the median is 0"),
            (until(f64::NAN, 10.0), "the fraction of the median is NaN"),
            (until(0.01, 0.0), "the time limit per run is 0"),
        ];
        for (settings, expected) in wrong {
            let error = settings.check().unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let odd = serde_json::json!({
            "runs": 1, "warmup": 0, "threads": [1], "cold": false, "seed": 1, "hack_size": [7]
        });
        let error = serde_json::from_value::<Settings>(odd).unwrap_err().to_string();
        assert!(error.contains("hack_size is `7`: expected a power of two"), "{error}");
    }
}
