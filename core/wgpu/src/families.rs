//! The sources of the kernels, one file per family, and the pipelines built from them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A file of kernels that share their bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Csr,
    CsrSubgroup,
    Ell,
    Hll,
    HllSubgroup,
    Coo,
    Spmm,
    Memory,
}

/// How a family uses an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Reads,
    Writes,
}

/// Prepended to every family.
pub(crate) const COMMON: &str = include_str!("../kernels/common.wgsl");

impl Family {
    /// Its source without the common part.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Csr => include_str!("../kernels/csr.wgsl"),
            Self::CsrSubgroup => include_str!("../kernels/csr_subgroup.wgsl"),
            Self::Ell => {
                concat!(include_str!("../kernels/slots.wgsl"), include_str!("../kernels/ell.wgsl"))
            }
            Self::Hll => {
                concat!(include_str!("../kernels/slots.wgsl"), include_str!("../kernels/hll.wgsl"))
            }
            Self::HllSubgroup => include_str!("../kernels/hll_subgroup.wgsl"),
            Self::Coo => include_str!("../kernels/coo.wgsl"),
            Self::Spmm => include_str!("../kernels/spmm.wgsl"),
            Self::Memory => include_str!("../kernels/memory.wgsl"),
        }
    }

    /// Whether its kernels need subgroups.
    pub(crate) fn needs_subgroups(self) -> bool {
        matches!(self, Self::CsrSubgroup | Self::HllSubgroup)
    }

    /// Directives at its start: browsers require that subgroups are enabled, and naga rejects the directive.
    pub(crate) fn enables(self) -> &'static str {
        match cfg!(target_family = "wasm") && self.needs_subgroups() {
            true => "enable subgroups;\n",
            false => "",
        }
    }

    /// Its arrays, starting at binding 1.
    pub(crate) fn arrays(self) -> &'static [Access] {
        use Access::{Reads, Writes};
        match self {
            Self::Csr | Self::Ell | Self::Spmm => &[Reads, Reads, Reads, Reads, Writes],
            Self::CsrSubgroup => &[Reads, Reads, Reads, Reads, Writes, Writes],
            Self::Hll => &[Reads, Reads, Reads, Reads, Reads, Writes],
            Self::HllSubgroup => &[Reads, Reads, Reads, Reads, Reads, Writes, Writes],
            Self::Coo => &[Reads, Reads, Reads, Reads, Writes, Writes, Writes],
            Self::Memory => &[Reads, Writes],
        }
    }
}

/// A kernel built for a workgroup size.
pub(crate) struct Pipeline {
    pub(crate) raw: wgpu::ComputePipeline,
    pub(crate) bindings: wgpu::BindGroupLayout,
}

/// The pipelines built on a device.
#[derive(Default)]
pub(crate) struct Pipelines {
    pub(crate) modules: Mutex<BTreeMap<Family, Arc<wgpu::ShaderModule>>>,
    pub(crate) built: Mutex<BTreeMap<(&'static str, u32), Arc<Pipeline>>>,
}
