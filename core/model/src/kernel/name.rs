//! What the id of a kernel says: the facts of its descriptor if it is built in. Of users' kernels
//! and those of other versions and programs, the parts of the id say it.

use super::descriptor::{DeviceKind, KernelDescriptor, Library};
use super::format::Format;
use super::kernel;
use super::mapping::Mapping;
use super::user::is_user_id;

/// A kernel by its id, which need not be known here.
#[derive(Clone, Copy, Debug)]
pub struct KernelName<'i> {
    id: &'i str,
    descriptor: Option<&'static KernelDescriptor>,
}

/// The family of users' kernels, whose ids do not contain one.
pub const USER_FAMILY: &str = "user";

/// The family of SpMV kernels that choose a format.
pub const CHOSEN_FAMILY: &str = "spmv";

const VENDOR: &str = "vendor/";

impl<'i> KernelName<'i> {
    /// The kernel with this id, or one that only its id describes.
    pub fn of(id: &'i str) -> Self {
        Self { id, descriptor: kernel(id) }
    }

    fn part(self, index: usize) -> &'i str {
        self.id.split('/').nth(index).unwrap_or(self.id)
    }

    /// The last part of its id, which tells it from others of its family.
    pub fn last(self) -> &'i str {
        self.id.rsplit('/').next().unwrap_or(self.id)
    }

    /// Its id without `vendor/`, if it is a vendor's.
    pub fn in_library(self) -> Option<&'i str> {
        self.id.strip_prefix(VENDOR)
    }

    /// Whether it is a vendor's.
    pub fn is_vendors(self) -> bool {
        let unknown = || self.id.starts_with(VENDOR);
        self.descriptor.map_or_else(unknown, |kernel| kernel.library().is_some())
    }

    /// A vendor's library as it calls itself.
    pub fn library(self) -> &'i str {
        let word = self.part(1);
        let known = self.descriptor.and_then(KernelDescriptor::library);
        let library = known.or_else(|| Library::ALL.into_iter().find(|one| one.as_str() == word));
        library.map_or(word, |library| library.name())
    }

    /// What shares a colour in charts: its format, or a word of its operation. A format is its own.
    pub fn family(self) -> &'i str {
        if let Some(kernel) = self.descriptor {
            return kernel.family();
        }
        if is_user_id(self.id) {
            return USER_FAMILY;
        }
        let part = usize::from(self.id.contains('/')) + usize::from(self.is_vendors());
        match self.part(part) {
            "optimized" => "csr",
            "csr-transposed" => "transposed",
            "csr" if ["transposed", "lanes"].contains(&self.last()) => self.last(),
            format => format.split('-').next().unwrap_or(format),
        }
    }

    /// The first part of its id, which names a device; `None` of vendors' and users' kernels.
    pub fn device(self) -> Option<&'i str> {
        let device = self.id.split_once('/').map(|(device, _)| device);
        device.filter(|_| !self.is_vendors() && !is_user_id(self.id))
    }

    /// Whether it runs on the CPUs of one process.
    pub fn is_on_cpu(self) -> bool {
        let unknown = || self.id.starts_with("cpu/");
        self.descriptor.map_or_else(unknown, |kernel| kernel.device == DeviceKind::Cpu)
    }

    /// Whether it runs on one thread.
    pub fn is_serial(self) -> bool {
        let unknown = || self.last() == "serial";
        self.descriptor.map_or_else(unknown, |kernel| kernel.mapping == Mapping::Serial)
    }

    /// Whether it decodes columns and values.
    pub fn is_compact(self) -> bool {
        let is_it = |kernel: &KernelDescriptor| {
            matches!(kernel.format(), Some(Format::CsrCompact | Format::HllCompact))
        };
        self.descriptor.map_or_else(|| self.last() == "compact", is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Reads, all_kernels, kernels_of_ranks};
    use sparsescope_record::Operation;

    #[test]
    fn the_facts_of_a_kernel_are_those_that_its_id_would_suggest() {
        let of_ranks = Operation::ALL.iter().flat_map(|&operation| kernels_of_ranks(operation));
        for kernel in all_kernels().chain(of_ranks) {
            let known = KernelName::of(kernel.id);
            let unknown = KernelName { descriptor: None, ..known };
            assert_eq!(known.family(), unknown.family(), "{}", kernel.id);
            assert_eq!(known.is_vendors(), unknown.is_vendors(), "{}", kernel.id);
            assert_eq!(known.is_compact(), unknown.is_compact(), "{}", kernel.id);
            if known.is_vendors() {
                assert_eq!(known.library(), unknown.library(), "{}", kernel.id);
            } else {
                assert_eq!(known.is_on_cpu(), unknown.is_on_cpu(), "{}", kernel.id);
            }
            if kernel.operation == Operation::Spmv {
                assert_eq!(known.is_serial(), unknown.is_serial(), "{}", kernel.id);
            }
            let chooses = kernel.reads == Reads::Chosen;
            assert_eq!(known.family() == CHOSEN_FAMILY, chooses, "{}", kernel.id);
        }
    }

    #[test]
    fn an_unknown_kernel_is_read_from_its_id() {
        let id = KernelName::of("vendor/rocsparse/csr-adaptive");
        assert!(id.is_vendors() && !id.is_compact());
        assert_eq!((id.library(), id.family(), id.last()), ("rocsparse", "csr", "csr-adaptive"));
        assert_eq!(id.in_library(), Some("rocsparse/csr-adaptive"));
        let of = |name: &'static str| KernelName::of(name).family();
        assert_eq!(of("user/csr/hll"), USER_FAMILY);
        let devices = ["mpi/csr/halo", "user/csr/hll", "vendor/mkl/csr", "csr"];
        assert_eq!(devices.map(|id| KernelName::of(id).device()), [Some("mpi"), None, None, None]);
        assert_eq!([of("csr"), of("hll-compact"), of("cpu/ell/rows (f32)")], ["csr", "hll", "ell"]);
    }
}
