//! The kernels' sources, one family a file, and how they are built.

use sparsescope_core::matrix::Precision;

use crate::cache::KernelCache;
use crate::nvrtc::{CompileError, Nvrtc};

/// Written before every family.
const COMMON: (&str, &str) = ("common.cuh", include_str!("../kernels/common.cuh"));

/// A file of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `csr.cu`
    Csr,
    /// `ell.cu`
    Ell,
    /// `hll.cu`
    Hll,
    /// `coo.cu`
    Coo,
    /// `memory.cu`
    Memory,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 5] = [Self::Csr, Self::Ell, Self::Hll, Self::Coo, Self::Memory];

    /// What it is built for: each precision and each width of row offsets, where its kernels see
    /// them.
    pub fn variants(self) -> impl Iterator<Item = Variant> {
        let widths: &[u32] = if self == Self::Csr { &[32, 64] } else { &[Variant::NO_OFFSETS] };
        let precisions: &[Precision] = match self {
            Self::Memory => &[Variant::NO_VALUES],
            _ => &Precision::ALL,
        };
        precisions.iter().flat_map(move |&precision| {
            widths.iter().map(move |&offset_bits| Variant { family: self, precision, offset_bits })
        })
    }

    /// Name of the file and its contents.
    pub fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Csr => ("csr.cu", include_str!("../kernels/csr.cu")),
            Self::Ell => ("ell.cu", include_str!("../kernels/ell.cu")),
            Self::Hll => ("hll.cu", include_str!("../kernels/hll.cu")),
            Self::Coo => ("coo.cu", include_str!("../kernels/coo.cu")),
            Self::Memory => ("memory.cu", include_str!("../kernels/memory.cu")),
        }
    }
}

/// What a family is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// The file.
    pub family: Family,
    /// That of the values.
    pub precision: Precision,
    /// Bits of CSR's row offsets: 32 or 64.
    pub offset_bits: u32,
}

impl Variant {
    /// The width for families whose kernels see no row offsets.
    pub(crate) const NO_OFFSETS: u32 = 32;

    /// The precision for families whose kernels see no values of a matrix.
    pub(crate) const NO_VALUES: Precision = Precision::F64;

    /// The type of the values in the sources.
    pub(crate) fn real(self) -> &'static str {
        match self.precision {
            Precision::F64 => "double",
            Precision::F32 => "float",
        }
    }

    fn options(self, architecture: u32) -> Vec<String> {
        vec![
            format!("--gpu-architecture=sm_{architecture}"),
            "--std=c++17".to_owned(),
            "--generate-line-info".to_owned(),
            format!("--define-macro=REAL={}", self.real()),
            format!("--define-macro=OFFSET_BITS={}", self.offset_bits),
        ]
    }

    /// Machine code for an architecture (90 is sm_90), from the cache when it is there.
    pub fn build(
        self,
        nvrtc: &Nvrtc,
        cache: &KernelCache,
        architecture: u32,
    ) -> Result<Vec<u8>, CompileError> {
        let (file, source) = self.family.source();
        let options = self.options(architecture);
        let key = [&nvrtc.version_name(), &options.join(" "), COMMON.1, source];
        cache.get_or_make(&key.map(|part| part as &str), || {
            nvrtc.compile(COMMON, (file, source), &options)
        })
    }
}
