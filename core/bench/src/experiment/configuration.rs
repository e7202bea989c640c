//! One kernel with one set of settings, which becomes one run per subject.

use std::collections::BTreeSet;

use super::error::PrepareError;
use super::plan::Settings;
use sparsescope_model::kernel::{
    Allowed, KernelDescriptor, Parameter, Parameters, UserKernel, all_kernels, reference,
};
use sparsescope_record::{Operation, Precision, Run};

/// State of the caches at the start of each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Temperature {
    /// As the previous execution left them; for in-place kernels, as restoring the input did.
    Hot,
    /// Flushed.
    Cold,
}

/// One kernel with one set of settings, which becomes one run per subject.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The kernel.
    pub kernel: &'static KernelDescriptor,
    /// The precision of its arithmetic.
    pub precision: Precision,
    /// The parameters that the kernel lists, as requested.
    pub parameters: Parameters,
    /// Threads; 1 for a serial kernel.
    pub threads: u32,
    /// Threads per block, for GPU kernels that take them.
    pub block: Option<u32>,
    /// State of the caches.
    pub temperature: Temperature,
}

/// Identifies a configuration, and a run among all runs on its subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    kernel: String,
    precision: String,
    parameters: Parameters,
    threads: u32,
    block: Option<u32>,
    temperature: Temperature,
}

impl Key {
    /// The key of a run, from its requested parameters.
    pub fn of(run: &Run) -> Self {
        let mut parameters = Parameters::default();
        for (name, value) in &run.asked {
            if let Some(parameter) = Parameter::of(name) {
                parameters = parameters.with(parameter, value);
            }
        }
        Self {
            kernel: run.kernel.clone(),
            precision: run.precision.clone(),
            parameters,
            threads: run.threads,
            block: run.block,
            temperature: if run.hot { Temperature::Hot } else { Temperature::Cold },
        }
    }

    /// The same key with warm caches; only times depend on the caches.
    pub fn hot(self) -> Self {
        Self { temperature: Temperature::Hot, ..self }
    }

    /// The key of the reference run that the speed-up relates to: same precision and caches, and those
    /// parameters that the reference takes.
    pub(super) fn of_reference(&self, operation: Operation) -> Self {
        let kernel = reference(operation);
        Self {
            kernel: kernel.id.to_owned(),
            precision: self.precision.clone(),
            parameters: kernel.listed(&self.parameters),
            threads: 1,
            block: None,
            temperature: self.temperature,
        }
    }

    /// The same key without threads per block, for what does not depend on them.
    pub fn any_block(self) -> Self {
        Self { block: None, ..self }
    }
}

impl Configuration {
    /// The default configuration of a kernel.
    pub fn usual(kernel: &'static KernelDescriptor) -> Self {
        Self {
            kernel,
            precision: kernel.precisions.first().copied().unwrap_or_default(),
            parameters: Parameters::default(),
            threads: 1,
            block: None,
            temperature: Temperature::Hot,
        }
    }

    /// The key that identifies it.
    pub fn key(&self) -> Key {
        Key {
            kernel: self.kernel.id.to_owned(),
            precision: self.precision.as_str().to_owned(),
            parameters: self.parameters.clone(),
            threads: self.threads,
            block: self.block,
            temperature: self.temperature,
        }
    }

    /// The key of the run that this one's speed-up relates to.
    pub fn reference_key(&self) -> Key {
        self.key().of_reference(self.kernel.operation)
    }

    /// Fails if the kernel does not take a requested parameter or precision.
    pub fn admit(&self) -> Result<(), PrepareError> {
        if !self.kernel.precisions.contains(&self.precision) {
            let reason = format!("does not support {}", self.precision.as_str());
            return Err(PrepareError::Unsupported(reason));
        }
        for (parameter, value) in self.parameters.iter() {
            match self.kernel.allowed(parameter) {
                Some(allowed) if !allowed.contains(value) => {
                    let name = parameter.name();
                    let takes = match allowed {
                        Allowed::Only([]) => "the default".to_owned(),
                        Allowed::Only(values) => values.join(" or "),
                        Allowed::Any => "any".to_owned(),
                    };
                    let reason = format!("{name} cannot be {value}: expected {takes}");
                    return Err(PrepareError::Unsupported(reason));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Every configuration of these kernels, in order of the kernels: each precision that a kernel has, each
    /// value of the parameters that it lists, each thread count or block size that it takes; hot, and cold
    /// too if requested. None occurs twice.
    pub fn all(kernels: &[&'static KernelDescriptor], settings: &Settings) -> Vec<Self> {
        let temperatures: &[Temperature] = match settings.cold {
            false => &[Temperature::Hot],
            true => &[Temperature::Hot, Temperature::Cold],
        };
        let mut all = Vec::new();
        let mut known = BTreeSet::new();
        for &kernel in kernels {
            let threads = if kernel.takes.threads { &settings.threads } else { &vec![1] };
            let blocks: Vec<Option<u32>> = match kernel.takes.block {
                true => {
                    let own = kernel.user.and_then(UserKernel::blocks);
                    own.unwrap_or(&settings.blocks).iter().copied().map(Some).collect()
                }
                false => vec![None],
            };
            for &precision in &settings.precisions {
                for parameters in settings.parameters.of(kernel) {
                    for &threads in threads {
                        for &block in &blocks {
                            for &temperature in temperatures {
                                let parameters = parameters.clone();
                                let one = Self {
                                    kernel,
                                    precision,
                                    parameters,
                                    threads,
                                    block,
                                    temperature,
                                };
                                if known.insert(one.key()) {
                                    all.push(one);
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// An empty run of this configuration, with nothing measured yet.
    #[doc(hidden)]
    pub fn empty_run(&self, subject: &str, environment: &str, device: &str) -> Run {
        Run {
            matrix: subject.to_owned(),
            operation: self.kernel.operation.as_str().to_owned(),
            kernel: self.kernel.id.to_owned(),
            origin: self.kernel.origin_names(),
            source: self.kernel.user.map(UserKernel::record),
            backend: self.kernel.device.as_str().to_owned(),
            device: device.to_owned(),
            environment: environment.to_owned(),
            threads: self.threads,
            block: self.block,
            hot: self.temperature == Temperature::Hot,
            precision: self.precision.as_str().to_owned(),
            asked: self.parameters.names(),
            ..Run::default()
        }
    }
}

/// Position of a kernel in the table, for sorting; unknown kernels come last.
pub fn table_position(id: &str) -> usize {
    all_kernels().position(|kernel| kernel.id == id).unwrap_or(usize::MAX)
}
