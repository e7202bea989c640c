//! One kernel with one set of settings, which becomes one run per subject.

use std::collections::{BTreeMap, BTreeSet};

use super::error::PrepareError;
use super::plan::Settings;
use sparsescope_matrix::order;
use sparsescope_model::kernel::parameters::SCALE;
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
    /// The values other than defaults, as in files.
    parameters: BTreeMap<Name, String>,
    threads: u32,
    block: Option<u32>,
    temperature: Temperature,
}

/// The name of a parameter. Those of other versions come last, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Name {
    Known(Parameter),
    Unknown(String),
}

impl Key {
    /// The key of a run, from its requested parameters: names and values of other versions are kept.
    pub fn of(run: &Run) -> Self {
        let named = |name: &String| match Parameter::of(name) {
            Some(parameter) => Name::Known(parameter),
            None => Name::Unknown(name.clone()),
        };
        let is_usual = |name: &Name, value: &str| match name {
            Name::Known(parameter) => parameter.default().as_deref() == Some(value),
            Name::Unknown(_) => false,
        };
        let asked = run.asked.iter().map(|(name, value)| (named(name), value.clone()));
        Self {
            kernel: run.kernel.clone(),
            precision: run.precision.clone(),
            parameters: order::map(asked.filter(|(name, value)| !is_usual(name, value))),
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
        let is_listed = |name: &Name| match name {
            Name::Known(parameter) => kernel.allowed(*parameter).is_some(),
            Name::Unknown(_) => false,
        };
        let mut parameters = self.parameters.clone();
        parameters.retain(|name, _| is_listed(name));
        Self {
            kernel: kernel.id.to_owned(),
            precision: self.precision.clone(),
            parameters,
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
        let named =
            |(parameter, value): (Parameter, &str)| (Name::Known(parameter), value.to_owned());
        Key {
            kernel: self.kernel.id.to_owned(),
            precision: self.precision.as_str().to_owned(),
            parameters: order::map(self.parameters.iter().map(named)),
            threads: self.threads,
            block: self.block,
            temperature: self.temperature,
        }
    }

    /// The key of the run that this one's speed-up relates to.
    pub fn reference_key(&self) -> Key {
        self.key().of_reference(self.kernel.operation)
    }

    /// Fails if the kernel does not take a requested parameter or precision, or the default of one that was not
    /// requested.
    pub fn admit(&self) -> Result<(), PrepareError> {
        if !self.kernel.precisions.contains(&self.precision) {
            let reason = format!("does not support {}", self.precision.as_str());
            return Err(PrepareError::Unsupported(reason));
        }
        let lacking = self.kernel.lacking(&self.parameters);
        let usual = lacking.map(|parameter| (parameter, parameter.default().unwrap_or_default()));
        let usual = usual.iter().map(|(parameter, value)| (*parameter, value.as_str()));
        for (parameter, value) in self.parameters.iter().chain(usual) {
            match self.kernel.allowed(parameter) {
                Some(allowed) if !allowed.contains(value) => {
                    if parameter == SCALE.id() {
                        return Err(PrepareError::Unsupported("takes no scale".to_owned()));
                    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_model::kernel::kernel;

    fn run(asked: &[(&str, &str)]) -> Run {
        let configuration = Configuration::usual(kernel("cpu/hll/serial").unwrap());
        let asked = asked.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Run { asked: asked.collect(), ..configuration.empty_run("m", "e", "d") }
    }

    #[test]
    fn runs_of_other_versions_keep_their_names_and_values_apart() {
        let asked: [&[(&str, &str)]; 5] = [
            &[],
            &[("hack_size", "8")],
            &[("hack_size", "a later word")],
            &[("hack_size", "8"), ("color", "red")],
            &[("hack_size", "8"), ("color", "blue")],
        ];
        let keys: BTreeSet<Key> = asked.iter().map(|asked| Key::of(&run(asked))).collect();
        assert_eq!(keys.len(), asked.len());
    }

    #[test]
    fn a_default_makes_no_other_key() {
        assert_eq!(Key::of(&run(&[("hack_size", "32")])), Key::of(&run(&[])));
        let usual = Configuration::usual(kernel("cpu/hll/serial").unwrap());
        assert_eq!(Key::of(&run(&[("sigma", "1")])), usual.key());
        let eight = Parameters::default().with(Parameter::of("hack_size").unwrap(), "8");
        let eight = Configuration { parameters: eight, ..usual };
        assert_eq!(Key::of(&run(&[("hack_size", "8")])), eight.key());
    }

    #[test]
    fn a_reference_has_only_the_parameters_that_it_takes() {
        let key = Key::of(&run(&[("hack_size", "8"), ("color", "red")]));
        let serial = Configuration::usual(reference(Operation::Spmv)).key();
        assert_eq!(key.of_reference(Operation::Spmv), serial);
    }
}
