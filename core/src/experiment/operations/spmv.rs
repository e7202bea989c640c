//! y = A·x as a problem: the matrix, the vector, the checked-against result and every format made so
//! far.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use web_time::Instant;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::PrepareError;
use crate::experiment::output::Output;
use crate::experiment::predict::predict;
use crate::experiment::resident::Resident;
use crate::gate::Reference;
use crate::kernel::DeviceKind;
use crate::matrix::{AnyFormat, Csr, FormatError, FormatSize, FormatSpec};
use crate::memory::MemoryLimit;
use crate::record::{Check, Predicted, Work};

/// y = A·x.
#[derive(Debug)]
pub struct SpmvProblem {
    a: Arc<Csr>,
    x: Arc<Vec<f64>>,
    x_is_finite: bool,
    reference: Reference,
    formats: Mutex<BTreeMap<FormatSpec, Converted>>,
    sizes: Mutex<BTreeMap<FormatSpec, Result<FormatSize, FormatError>>>,
}

/// A format made from CSR, and what that took.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The matrix.
    pub matrix: AnyFormat,
    /// Seconds of the conversion; 0 for CSR itself.
    pub seconds: f64,
}

impl SpmvProblem {
    /// Computes the reference. x has n elements; panics otherwise.
    pub fn new(a: Arc<Csr>, x: Vec<f64>) -> Self {
        let reference = Reference::new(&a, &x);
        let x_is_finite = x.iter().all(|v| v.is_finite());
        let (formats, sizes) = Default::default();
        Self { a, x: Arc::new(x), x_is_finite, reference, formats, sizes }
    }

    /// A, m × n.
    pub fn a(&self) -> &Arc<Csr> {
        &self.a
    }

    /// x, n elements; shared with whoever copies it elsewhere and must know it again.
    pub fn x(&self) -> &Arc<Vec<f64>> {
        &self.x
    }

    /// The result that others are checked against.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// A in the given format, converted on first use. Fails before allocating when it needs more
    /// than `limit`.
    pub fn format(&self, spec: FormatSpec, limit: MemoryLimit) -> Result<Converted, FormatError> {
        if let Some(made) = lock(&self.formats).get(&spec) {
            return Ok(made.clone());
        }
        let start = Instant::now();
        let matrix = spec.build(&self.a, limit)?;
        let seconds = match spec {
            FormatSpec::Csr => 0.0,
            _ => start.elapsed().as_secs_f64(),
        };
        let made = Converted { matrix, seconds };
        lock(&self.formats).insert(spec, made.clone());
        Ok(made)
    }

    /// The format that a configuration reads; CSR for what reads no matrix.
    pub fn spec(configuration: &Configuration) -> FormatSpec {
        let params = configuration.parameters.format();
        configuration.kernel.format().map_or(FormatSpec::Csr, |format| format.with(&params))
    }

    /// Kernels that multiply padding by x refuse one that is not finite.
    pub(in crate::experiment) fn admit(
        &self,
        configuration: &Configuration,
    ) -> Result<(), PrepareError> {
        if configuration.kernel.needs.finite_x && !self.x_is_finite {
            let reason = "it multiplies padding by x, which holds an infinite or NaN element";
            return Err(PrepareError::Refused(reason.to_owned()));
        }
        Ok(())
    }

    pub(in crate::experiment) fn resident(
        &self,
        configuration: &Configuration,
        memory: MemoryLimit,
    ) -> Vec<Resident> {
        let spec = Self::spec(configuration);
        let mut sizes = lock(&self.sizes);
        // Counting slots goes through the whole matrix: once a format, not once a configuration.
        let size = sizes.entry(spec).or_insert_with(|| spec.size(&self.a));
        let bytes = match size {
            Ok(size) if spec != FormatSpec::Csr && size.bytes <= memory.get() => size.bytes,
            // CSR is there already, and what is refused takes nothing.
            _ => 0,
        };
        vec![Resident { name: format!("{spec:?}"), bytes }]
    }

    pub(in crate::experiment) fn check(
        &self,
        _configuration: &Configuration,
        output: &Output,
    ) -> Option<Check> {
        match output {
            Output::Vector(y) => Some(self.reference.check(y)),
            Output::Single(_) => None,
        }
    }

    pub(in crate::experiment) fn work(&self) -> Work {
        Work { flops: 2 * self.a.nnz() as u64, ..Work::default() }
    }

    pub(in crate::experiment) fn predict(
        &self,
        configuration: &Configuration,
        memory: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Option<Predicted> {
        let kernel = configuration.kernel;
        kernel.model?;
        let workers = match kernel.device {
            DeviceKind::Cpu => configuration.threads,
            DeviceKind::Cuda => configuration.block?,
        };
        // The format is there since it was measured.
        let made = self.format(Self::spec(configuration), memory).ok()?;
        predict(kernel, &made.matrix, workers, cancel)
    }

    pub(in crate::experiment) fn release(&self) {
        lock(&self.formats).clear();
    }
}

/// The maps are complete after every operation, so a panic elsewhere leaves them usable.
fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}
