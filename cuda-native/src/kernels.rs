//! The kernels' sources, one family per file, and how they are built.

use sparsescope_core::kernel::Scale;
use sparsescope_core::matrix::{Number, Precision};

use crate::cache::KernelCache;
use crate::nvrtc::{CompileError, Nvrtc};

/// Prepended to every family.
pub(crate) const COMMON: (&str, &str) = ("common.cuh", include_str!("../kernels/common.cuh"));

/// The first architecture whose threads may wait for other threads of their warp: sm_70.
pub(crate) const LEAST_TO_WAIT: u32 = 70;

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
    /// `csr_adaptive.cu`
    CsrAdaptive,
    /// `csr_windows.cu`
    CsrWindows,
    /// `hll_column_major.cu`
    HllColumnMajor,
    /// `hll_solver.cu`
    HllSolver,
    /// `hll_compact.cu`
    HllCompact,
    /// `bsr.cu`
    Bsr,
    /// `dia.cu`
    Dia,
    /// `convert.cu`
    Convert,
    /// `csr_setup.cu`
    CsrSetup,
    /// `memory.cu`
    Memory,
    /// `symgs.cu`
    Symgs,
    /// `symgs_slices.cu`
    SymgsSlices,
    /// `symgs_waiting.cu`
    SymgsWaiting,
    /// `symgs_nodes.cu`
    SymgsNodes,
    /// `symgs_plan.cu`
    SymgsPlan,
    /// `symgs_order.cu`
    SymgsOrder,
    /// `skyline.cu`
    Skyline,
    /// `skyline_local.cu`
    SkylineLocal,
    /// `skyline_plan.cu`
    SkylinePlan,
    /// `skyline_fast.cu`
    SkylineFast,
    /// `dense.cu`
    Dense,
    /// `dense_cholesky.cu`
    DenseCholesky,
    /// `dense_blocked.cu`
    DenseBlocked,
    /// `pcg.cu`
    Pcg,
    /// `fsai_pattern.cu`
    FsaiPattern,
    /// `fsai_group.cu`
    FsaiGroup,
    /// `fsai_solve.cu`
    FsaiSolve,
    /// `fsai_long.cu`
    FsaiLong,
    /// `fsai_filter.cu`
    FsaiFilter,
    /// `fsai_order.cu`
    FsaiOrder,
    /// `halo.cu`
    Halo,
    /// `spmm.cu`
    Spmm,
    /// `spmm_bsr.cu`
    SpmmBsr,
    /// `spmm_hll.cu`
    SpmmHll,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 38] = [
        Self::Csr,
        Self::Ell,
        Self::Hll,
        Self::Coo,
        Self::CsrAdaptive,
        Self::CsrWindows,
        Self::HllColumnMajor,
        Self::HllSolver,
        Self::HllCompact,
        Self::Bsr,
        Self::Dia,
        Self::Convert,
        Self::CsrSetup,
        Self::Memory,
        Self::Symgs,
        Self::SymgsSlices,
        Self::SymgsWaiting,
        Self::SymgsNodes,
        Self::SymgsPlan,
        Self::SymgsOrder,
        Self::Skyline,
        Self::SkylineLocal,
        Self::SkylinePlan,
        Self::SkylineFast,
        Self::Dense,
        Self::DenseCholesky,
        Self::DenseBlocked,
        Self::Pcg,
        Self::FsaiPattern,
        Self::FsaiGroup,
        Self::FsaiSolve,
        Self::FsaiLong,
        Self::FsaiFilter,
        Self::FsaiOrder,
        Self::Halo,
        Self::Spmm,
        Self::SpmmBsr,
        Self::SpmmHll,
    ];

    /// The variants it is built in: each precision, width of row offsets and width of rows that its
    /// kernels depend on.
    pub fn variants(self) -> impl Iterator<Item = Variant> {
        let offsets: &[u32] = match self {
            Self::Csr
            | Self::CsrAdaptive
            | Self::Bsr
            | Self::Convert
            | Self::CsrSetup
            | Self::Symgs
            | Self::SymgsNodes
            | Self::SymgsPlan
            | Self::FsaiPattern
            | Self::FsaiSolve
            | Self::FsaiLong
            | Self::FsaiFilter
            | Self::Spmm
            | Self::SpmmBsr => &[32, 64],
            _ => &[Variant::NO_OFFSETS],
        };
        let precisions: &[Precision] = match self {
            Self::Memory | Self::SymgsPlan | Self::SymgsOrder => &[Variant::NO_VALUES],
            Self::Pcg | Self::HllSolver | Self::Halo | Self::CsrSetup => &[Variant::NO_VALUES],
            _ if self.is_of_points() || self.is_of_systems() => &[Variant::NO_VALUES],
            _ if self.is_of_inverses() => &[Variant::NO_VALUES],
            Self::Csr | Self::CsrAdaptive | Self::CsrWindows | Self::Spmm | Self::SpmmBsr => {
                &Precision::ALL
            }
            _ => &Precision::UNIFORM,
        };
        let widths: &[u32] = match self {
            Self::SymgsWaiting => &Variant::WIDTHS,
            Self::SkylineLocal => &Variant::BOUNDS,
            Self::SpmmBsr => &Variant::EDGES,
            _ => &[Variant::NO_WIDTH],
        };
        precisions.iter().flat_map(move |&precision| {
            offsets.iter().flat_map(move |&offset_bits| {
                let family = self;
                let scale = Variant::NO_SCALE;
                widths.iter().map(move |&width| Variant {
                    family,
                    precision,
                    offset_bits,
                    width,
                    scale,
                })
            })
        })
    }

    /// The first architecture with independent thread scheduling, if its kernels wait for other
    /// threads' results: 70 is sm_70.
    pub fn least_architecture(self) -> u32 {
        match self {
            Self::Symgs
            | Self::SymgsSlices
            | Self::SymgsWaiting
            | Self::SymgsNodes
            | Self::SymgsPlan
            | Self::SymgsOrder => LEAST_TO_WAIT,
            // Lanes of a warp leave loops at different turns and reconverge.
            _ if self.is_of_inverses() => LEAST_TO_WAIT,
            _ => 0,
        }
    }

    /// Whether its kernels compute skylines: coordinates are f64.
    fn is_of_points(self) -> bool {
        matches!(self, Self::Skyline | Self::SkylineLocal | Self::SkylinePlan | Self::SkylineFast)
    }

    /// Whether its kernels solve dense systems, which are f64.
    fn is_of_systems(self) -> bool {
        matches!(self, Self::Dense | Self::DenseCholesky | Self::DenseBlocked)
    }

    /// Whether its kernels set up factorised approximate inverses, in f64.
    fn is_of_inverses(self) -> bool {
        matches!(
            self,
            Self::FsaiPattern
                | Self::FsaiGroup
                | Self::FsaiSolve
                | Self::FsaiLong
                | Self::FsaiFilter
                | Self::FsaiOrder
        )
    }

    /// Whether its sums are rounded as written: no fused multiply-add.
    fn is_exact(self) -> bool {
        matches!(self, Self::Symgs | Self::SymgsSlices | Self::SymgsWaiting)
    }

    /// Name of the file and its contents.
    pub fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Csr => ("csr.cu", include_str!("../kernels/csr.cu")),
            Self::Ell => ("ell.cu", include_str!("../kernels/ell.cu")),
            Self::Hll => ("hll.cu", include_str!("../kernels/hll.cu")),
            Self::Coo => ("coo.cu", include_str!("../kernels/coo.cu")),
            Self::CsrAdaptive => ("csr_adaptive.cu", include_str!("../kernels/csr_adaptive.cu")),
            Self::CsrWindows => ("csr_windows.cu", include_str!("../kernels/csr_windows.cu")),
            Self::HllColumnMajor => {
                ("hll_column_major.cu", include_str!("../kernels/hll_column_major.cu"))
            }
            Self::HllSolver => ("hll_solver.cu", include_str!("../kernels/hll_solver.cu")),
            Self::HllCompact => ("hll_compact.cu", include_str!("../kernels/hll_compact.cu")),
            Self::Bsr => ("bsr.cu", include_str!("../kernels/bsr.cu")),
            Self::Dia => ("dia.cu", include_str!("../kernels/dia.cu")),
            Self::Convert => ("convert.cu", include_str!("../kernels/convert.cu")),
            Self::CsrSetup => ("csr_setup.cu", include_str!("../kernels/csr_setup.cu")),
            Self::Memory => ("memory.cu", include_str!("../kernels/memory.cu")),
            Self::Symgs => ("symgs.cu", include_str!("../kernels/symgs.cu")),
            Self::SymgsSlices => ("symgs_slices.cu", include_str!("../kernels/symgs_slices.cu")),
            Self::SymgsWaiting => ("symgs_waiting.cu", include_str!("../kernels/symgs_waiting.cu")),
            Self::SymgsNodes => ("symgs_nodes.cu", include_str!("../kernels/symgs_nodes.cu")),
            Self::SymgsPlan => ("symgs_plan.cu", include_str!("../kernels/symgs_plan.cu")),
            Self::SymgsOrder => ("symgs_order.cu", include_str!("../kernels/symgs_order.cu")),
            Self::Skyline => ("skyline.cu", include_str!("../kernels/skyline.cu")),
            Self::SkylineLocal => ("skyline_local.cu", include_str!("../kernels/skyline_local.cu")),
            Self::SkylinePlan => ("skyline_plan.cu", include_str!("../kernels/skyline_plan.cu")),
            Self::SkylineFast => ("skyline_fast.cu", include_str!("../kernels/skyline_fast.cu")),
            Self::Dense => ("dense.cu", include_str!("../kernels/dense.cu")),
            Self::DenseCholesky => {
                ("dense_cholesky.cu", include_str!("../kernels/dense_cholesky.cu"))
            }
            Self::DenseBlocked => ("dense_blocked.cu", include_str!("../kernels/dense_blocked.cu")),
            Self::Pcg => ("pcg.cu", include_str!("../kernels/pcg.cu")),
            Self::FsaiPattern => ("fsai_pattern.cu", include_str!("../kernels/fsai_pattern.cu")),
            Self::FsaiGroup => ("fsai_group.cu", include_str!("../kernels/fsai_group.cu")),
            Self::FsaiSolve => ("fsai_solve.cu", include_str!("../kernels/fsai_solve.cu")),
            Self::FsaiLong => ("fsai_long.cu", include_str!("../kernels/fsai_long.cu")),
            Self::FsaiFilter => ("fsai_filter.cu", include_str!("../kernels/fsai_filter.cu")),
            Self::FsaiOrder => ("fsai_order.cu", include_str!("../kernels/fsai_order.cu")),
            Self::Halo => ("halo.cu", include_str!("../kernels/halo.cu")),
            Self::Spmm => ("spmm.cu", include_str!("../kernels/spmm.cu")),
            Self::SpmmBsr => ("spmm_bsr.cu", include_str!("../kernels/spmm_bsr.cu")),
            Self::SpmmHll => ("spmm_hll.cu", include_str!("../kernels/spmm_hll.cu")),
        }
    }
}

/// A variant of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// The file.
    pub family: Family,
    /// Precision of the values.
    pub precision: Precision,
    /// Bits of CSR's row offsets: 32 or 64.
    pub offset_bits: u32,
    /// Maximum nonzeros of a row on a side of the diagonal, maximum coordinates of a point, or rows of
    /// a block.
    pub width: u32,
    /// alpha and beta of y = alpha·A·x + beta·y, as the bits of f64.
    pub scale: [u64; 2],
}

impl Variant {
    /// The width for families whose kernels see no row offsets.
    pub(crate) const NO_OFFSETS: u32 = 32;

    /// The precision for families whose kernels see no values of a matrix.
    pub(crate) const NO_VALUES: Precision = Precision::F64;

    /// The width for families whose kernels take rows of any length.
    pub(crate) const NO_WIDTH: u32 = 0;

    /// The scale for families whose kernels take none, and for y = A·x.
    pub(crate) const NO_SCALE: [u64; 2] = [1f64.to_bits(), 0f64.to_bits()];

    /// The widths for the others, ascending: a thread keeps a row in its registers. 3 and 13 are
    /// those of the 7-point and 27-point stencils.
    pub const WIDTHS: [u32; 5] = [1, 3, 7, 13, 16];

    /// The maximum coordinates of a point of the kernels that keep one in an array, ascending.
    pub const BOUNDS: [u32; 6] = [8, 16, 32, 64, 128, 256];

    /// The block sizes of BSR.
    pub const EDGES: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];

    /// The same for rows, points or blocks of this width.
    pub(crate) fn of_width(self, width: u32) -> Self {
        Self { width, ..self }
    }

    /// The same for y = alpha·A·x + beta·y. Both are constants in the code, so that a product
    /// without them costs no more.
    pub fn scaled(self, scale: Scale) -> Self {
        Self { scale: [scale.alpha, scale.beta].map(f64::to_bits), ..self }
    }

    /// The type of vectors and sums in the sources.
    pub(crate) fn real(self) -> &'static str {
        if self.precision.in_f64() { "double" } else { "float" }
    }

    /// The type of a matrix's values in the sources.
    pub(crate) fn value(self) -> &'static str {
        match self.precision.values() {
            Number::F64 => "double",
            Number::F32 => "float",
            Number::Bf16 => "bf16",
            Number::F16 => "f16",
        }
    }

    /// Compiler options for an architecture.
    pub(crate) fn options(self, architecture: u32) -> Vec<String> {
        let mut options = vec![
            format!("--gpu-architecture=sm_{architecture}"),
            "--std=c++17".to_owned(),
            "--generate-line-info".to_owned(),
            format!("--define-macro=REAL={}", self.real()),
            format!("--define-macro=VALUE={}", self.value()),
            format!("--define-macro=OFFSET_BITS={}", self.offset_bits),
        ];
        if self.width != Self::NO_WIDTH {
            options.push(format!("--define-macro=WIDTH={}", self.width));
        }
        let [alpha, beta] = self.scale.map(f64::from_bits);
        if alpha != 1.0 {
            options.push(format!("--define-macro=SCALE_ALPHA={alpha:e}"));
        }
        if beta != 0.0 {
            options.push(format!("--define-macro=SCALE_BETA={beta:e}"));
        }
        if self.family.is_exact() {
            options.push("--fmad=false".to_owned());
        }
        options
    }

    /// Machine code for an architecture (90 is sm_90), from the cache if present.
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
