//! One static descriptor a kernel: what it is called, what it reads and how it maps work to
//! workers, with the index arithmetic of its mapping. Backends hold the launchers; a test holds
//! both lists together.

mod descriptor;
mod grid;
mod mapping;
mod rows;
mod spmv;
mod threads;

pub use descriptor::{DeviceKind, Format, FormatParams, KernelDescriptor, Origin};
pub(crate) use grid::span_entries;
pub use grid::{COO_SPAN, GridMapping, LANES, Work};
pub use mapping::{Mapping, Share};
pub use rows::{row_at, row_steps};
pub(crate) use rows::{row_length, rows_of, slot};
pub use spmv::KERNELS;
pub use threads::{Access, Pass, StridedSlots, ThreadSlots};

/// Id of the kernel that every result is checked against and that speed-ups are relative to.
pub const REFERENCE: &str = "cpu/csr/serial";

/// The descriptor with this id.
pub fn kernel(id: &str) -> Option<&'static KernelDescriptor> {
    KERNELS.iter().find(|k| k.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_three_lower_case_parts_and_are_unique() {
        for k in KERNELS {
            assert_eq!(k.id.split('/').count(), 3, "{}", k.id);
            assert_eq!(k.id, k.id.to_lowercase());
            assert_eq!(KERNELS.iter().filter(|other| other.id == k.id).count(), 1, "{}", k.id);
            let (device, format) = (k.device.as_str(), k.format.name());
            match k.origin {
                [Origin::Vendor] => assert!(k.id.starts_with("vendor/"), "{}", k.id),
                _ => assert!(k.id.starts_with(&format!("{device}/{format}/")), "{}", k.id),
            }
        }
        assert!(kernel(REFERENCE).is_some());
        assert!(kernel("cpu/csr/none").is_none());
    }
}
