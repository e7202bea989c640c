//! A backend with the kernels of libraries beside its own.

use std::collections::BTreeMap;

use super::library::KernelLibrary;
use super::operands::Operands;
use super::prepared::LibraryPrepared;
use crate::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem, Temperature,
};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::KernelSource;

/// A backend for the CPU or a GPU that also has the kernels of libraries.
pub struct WithLibraries<'b> {
    backend: &'b dyn Backend,
    libraries: &'b [KernelLibrary],
    absence: Option<String>,
}

impl<'b> WithLibraries<'b> {
    /// Adds the libraries to a backend. `absence` is why its device is missing, if it is.
    pub fn new(
        backend: &'b dyn Backend,
        libraries: &'b [KernelLibrary],
        absence: Option<String>,
    ) -> Self {
        Self { backend, libraries, absence }
    }

    fn library(&self, kernel: &KernelDescriptor) -> Option<&'b KernelLibrary> {
        self.libraries.iter().find(|library| library.kernel().id == kernel.id)
    }
}

impl Backend for WithLibraries<'_> {
    fn model(&self) -> &str {
        self.backend.model()
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        match (self.library(kernel), &self.absence) {
            (None, _) => self.backend.availability(kernel),
            (Some(_), None) => Availability::Available,
            (Some(_), Some(absence)) => Availability::Missing(absence.clone()),
        }
    }

    fn libraries(&self) -> BTreeMap<String, String> {
        let mut versions = self.backend.libraries();
        versions.extend(
            self.libraries
                .iter()
                .map(|library| (library.source().file.clone(), library.description().to_owned())),
        );
        versions
    }

    fn source(&self, kernel: &KernelDescriptor) -> Option<KernelSource> {
        self.library(kernel).map(|library| library.source().clone())
    }

    fn room(&self) -> Option<u64> {
        self.backend.room()
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let Some(library) = self.library(configuration.kernel) else {
            return self.backend.prepare(configuration, problem, memory);
        };
        problem.admit(configuration)?;
        if let Some(absence) = &self.absence {
            return Err(PrepareError::Unsupported(absence.clone()));
        }
        if configuration.temperature == Temperature::Cold {
            let sentence = "kernel libraries are not measured with cold caches";
            return Err(PrepareError::Unsupported(sentence.to_owned()));
        }
        let operands = Operands::of(problem, configuration, memory)?;
        let threads = configuration.threads;
        Ok(Box::new(LibraryPrepared::new(library, operands, threads, memory)?))
    }
}
