//! What the user may choose to measure.

use std::collections::BTreeSet;
use std::sync::Arc;

use sparsescope_core::experiment::{Configuration, LoadedValues};
use sparsescope_core::generate::{GeneratorSpec, SuiteEntry, suite};
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::kernel::{
    DeviceKind, Format, KernelDescriptor, Mapping, Parameters, kernel, kernels, reference,
};
use sparsescope_core::record::{MatrixRecord, Operation, Precision, Source};
use sparsescope_figures::model::{Model, STAND_IN_SUFFIX, display_name};
use sparsescope_figures::picture::Picture;

/// Maximum nonzeros of the matrices on offer, so that their formats are built within a moment.
const MOST_ENTRIES: u64 = 4_500_000;

/// Allowed numbers of samples per run, and the default.
pub(super) const SAMPLES: std::ops::RangeInclusive<usize> = 5..=200;
const USUAL_SAMPLES: usize = 25;

/// The operations on offer.
pub(super) const OPERATIONS: [Operation; 2] = [Operation::Spmv, Operation::Spmm];

/// The numbers of columns of X on offer in SpMM.
pub(super) const COLUMNS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Invocations per workgroup.
const BLOCK: u32 = 128;

/// The initial matrix: large enough for a GPU, and also measured on an H100.
const FIRST: &str = "FEM_3D_thermal1";

/// A matrix to measure on.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// An open one, with its picture.
    Open(Box<MatrixRecord>, Arc<Picture>),
    /// A generated one, with its name.
    Made(String, Source, GeneratorSpec),
}

impl Subject {
    /// Its name, with a note if one is needed.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Open(record, _) => display_name(record),
            Self::Made(name, Source::StandIn, _) => format!("{name}{STAND_IN_SUFFIX}"),
            Self::Made(name, ..) => name.clone(),
        }
    }

    /// The open matrix with this key, or a sentence why it cannot be measured.
    pub(super) fn selected(model: &Model, key: &str) -> Result<Self, String> {
        let record = model.matrix(key).ok_or("The matrix is not open here.")?;
        if let Ok(picture) = model.picture(key)
            && let Some(values) = &picture.values
        {
            return match values {
                LoadedValues::Real(_) => Ok(Self::Open(Box::new(record.clone()), picture)),
                LoadedValues::Complex(_) => {
                    Err("The matrix is complex, expected real values.".to_owned())
                }
            };
        }
        let text = record.generator.as_deref().filter(|_| record.reordered.is_none());
        let spec = text.and_then(|text| GeneratorSpec::parse(bare(text)).ok());
        match spec {
            Some(_) if record.statistics.nnz > MOST_ENTRIES => Err(format!(
                "The matrix has more than {} million nonzeros.",
                MOST_ENTRIES as f64 / 1e6
            )),
            Some(spec) => Ok(Self::Made(record.name.clone(), record.source, spec)),
            None => Err("The bundle has only part of the matrix: open the matrix file.".to_owned()),
        }
    }

    /// Parses what the user types: `gen:KIND?…`, or the same without `gen:`.
    pub(super) fn typed(text: &str) -> Result<Self, String> {
        let text = bare(text.trim());
        let spec = GeneratorSpec::parse(text).map_err(|error| format!("{error}."))?;
        Ok(Self::Made(text.to_owned(), Source::Generated, spec))
    }
}

fn bare(text: &str) -> &str {
    text.strip_prefix("gen:").unwrap_or(text)
}

/// The matrices of the suites on offer: those of the papers, which have results on the H100, and a few more.
pub(super) fn offered() -> impl Iterator<Item = &'static SuiteEntry> {
    let suites = ["paper", "mini"].into_iter().filter_map(suite);
    suites
        .flat_map(|suite| suite.entries)
        .filter(|entry| entry.wanted.is_none_or(|wanted| wanted.nnz <= MOST_ENTRIES))
}

/// The selection in the form.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The name of a suite's matrix; nothing for the matrix selected in the views.
    pub(super) entry: Option<&'static str>,
    /// What the user typed instead of these.
    pub(super) typed: String,
    /// What to compute.
    pub(super) operation: Operation,
    /// Columns of X in SpMM.
    pub(super) columns: u32,
    /// The ids of the kernels, of all operations.
    pub(super) kernels: BTreeSet<&'static str>,
    /// Samples per run.
    pub(super) samples: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        let kernels = OPERATIONS.into_iter().flat_map(kernels_here).map(|kernel| kernel.id);
        Self {
            entry: Some(FIRST),
            typed: String::new(),
            operation: Operation::Spmv,
            columns: Parameters::default().get(&VECTORS),
            kernels: kernels.collect(),
            samples: USUAL_SAMPLES,
        }
    }
}

impl Wanted {
    /// The requested matrix, or a sentence why there is none.
    pub(super) fn subject(&self, model: &Model, selected: Option<&str>) -> Result<Subject, String> {
        if !self.typed.trim().is_empty() {
            return Subject::typed(&self.typed);
        }
        let Some(name) = self.entry else {
            let key = selected.ok_or("No matrix is selected.")?;
            return Subject::selected(model, key);
        };
        let entry = offered().find(|entry| entry.name == name).ok_or("There is no such matrix.")?;
        let spec = GeneratorSpec::parse(entry.spec).map_err(|error| format!("{error}."))?;
        let source = if entry.wanted.is_some() { Source::StandIn } else { Source::Generated };
        Ok(Subject::Made(entry.name.to_owned(), source, spec))
    }

    /// The configurations to run, in kernel order; they always include the reference, in each precision.
    pub(super) fn configurations(&self) -> Vec<Configuration> {
        let mut all = Vec::new();
        let mut parameters = Parameters::default();
        if self.operation == Operation::Spmm {
            parameters = parameters.with(VECTORS.id(), &self.columns.to_string());
        }
        let here = kernels_here(self.operation);
        for kernel in here.filter(|kernel| self.kernels.contains(kernel.id)) {
            let of = |precision, block| Configuration {
                precision,
                block,
                parameters: parameters.clone(),
                ..Configuration::usual(kernel)
            };
            match kernel.device {
                DeviceKind::Wgpu => all.push(of(Precision::F32, Some(BLOCK))),
                _ if kernel.id == reference(self.operation).id => {
                    all.extend([Precision::F64, Precision::F32].map(|p| of(p, None)));
                }
                _ => all.push(of(Precision::F64, None)),
            }
        }
        all
    }

    /// Removes what needs a GPU.
    pub(super) fn leave_gpu(&mut self) {
        self.kernels.retain(|id| kernel(id).is_some_and(|k| k.device == DeviceKind::Cpu));
    }

    /// Whether a GPU is needed.
    pub(super) fn needs_gpu(&self) -> bool {
        self.configurations().iter().any(|one| one.kernel.device == DeviceKind::Wgpu)
    }
}

/// The kernels of an operation that run here: one or two of the CPU, and those of the GPU.
pub(super) fn kernels_here(
    operation: Operation,
) -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(operation).iter().filter(|kernel| {
        let is_plain = matches!(kernel.format(), Some(Format::Csr | Format::Hll(_)));
        kernel.device == DeviceKind::Wgpu || kernel.mapping == Mapping::Serial && is_plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_runs_in_both_precisions_and_the_gpus_kernels_in_f32() {
        let mut wanted = Wanted::default();
        let words = |wanted: &Wanted| -> Vec<String> {
            let all = wanted.configurations();
            let word = |c: &Configuration| format!("{} {}", c.kernel.id, c.precision.as_str());
            all.iter().filter(|c| c.kernel.device == DeviceKind::Cpu).map(word).collect()
        };
        let cpu = ["cpu/csr/serial f64", "cpu/csr/serial f32", "cpu/hll/serial f64"];
        assert_eq!(words(&wanted), cpu);
        assert!(wanted.needs_gpu());
        let all = wanted.configurations();
        let wgpu: Vec<_> = all.iter().filter(|c| c.kernel.device == DeviceKind::Wgpu).collect();
        assert_eq!(wgpu.len(), 10);
        assert!(wgpu.iter().all(|c| c.precision == Precision::F32 && c.block == Some(BLOCK)));
        assert!(all.iter().all(|configuration| configuration.admit().is_ok()));
        wanted.leave_gpu();
        assert!(!wanted.needs_gpu() && words(&wanted) == cpu);
        let mut several = Wanted { operation: Operation::Spmm, ..Wanted::default() };
        assert_eq!(words(&several), ["cpu/spmm/serial f64", "cpu/spmm/serial f32"]);
        assert!(several.needs_gpu() && several.configurations().len() == 3);
        assert!(COLUMNS.contains(&several.columns), "one of those on offer");
        for k in COLUMNS {
            several.columns = k;
            for one in several.configurations() {
                assert!(one.parameters.get(&VECTORS) == k && one.admit().is_ok());
            }
        }
    }

    #[test]
    fn a_matrix_is_chosen_typed_or_selected_or_a_sentence_says_why_not() {
        let model = Model::default();
        let subject = |wanted: &Wanted| wanted.subject(&model, None).map(|subject| subject.name());
        let mut wanted = Wanted::default();
        assert_eq!(subject(&wanted).unwrap(), "FEM_3D_thermal1 (stand-in)");
        wanted.entry = None;
        assert_eq!(subject(&wanted).unwrap_err(), "No matrix is selected.");
        wanted.typed = " gen:poisson2d?n=3 ".to_owned();
        assert_eq!(subject(&wanted).unwrap(), "poisson2d?n=3");
        wanted.typed = "poisson2d?m=3".to_owned();
        assert!(subject(&wanted).unwrap_err().ends_with('.'));
        let names: Vec<_> = offered().map(|entry| entry.name).collect();
        assert!(names.contains(&FIRST) && names.contains(&"grid-5pt"), "{names:?}");
        assert!(!names.contains(&"Cube_Coup_dt0"), "it has more entries than are offered");
    }
}
