//! The kernels' sources, one family per file, and how they are built.

use sparsescope_core::kernel::Scale;
use sparsescope_core::matrix::{Number, Precision};

use crate::cache::KernelCache;
use crate::nvrtc::{CompileError, Nvrtc};

/// Prepended to every family.
pub(crate) const COMMON: (&str, &str) = ("common.cuh", include_str!("../kernels/common.cuh"));

/// The first architecture whose threads may wait for other threads of their warp: sm_70.
pub(crate) const LEAST_TO_WAIT: u32 = 70;

macro_rules! families {
    ($(#[$doc:meta])* pub enum $name:ident { $($family:ident = $file:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $file, "`")] $family,)*
        }

        impl $name {
            /// Every family.
            pub const ALL: [Self; [$(Self::$family),*].len()] = [$(Self::$family),*];

            /// Name of the file and its contents.
            pub fn source(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$family => ($file, include_str!(concat!("../kernels/", $file))),)*
                }
            }
        }
    };
}

families! {
    /// A file of kernels.
    pub enum Family {
        Csr = "csr.cu",
        Ell = "ell.cu",
        Hll = "hll.cu",
        Coo = "coo.cu",
        CsrAdaptive = "csr_adaptive.cu",
        CsrWindows = "csr_windows.cu",
        HllColumnMajor = "hll_column_major.cu",
        HllSolver = "hll_solver.cu",
        HllCompact = "hll_compact.cu",
        Bsr = "bsr.cu",
        Dia = "dia.cu",
        Convert = "convert.cu",
        CsrSetup = "csr_setup.cu",
        Memory = "memory.cu",
        Symgs = "symgs.cu",
        SymgsSlices = "symgs_slices.cu",
        SymgsWaiting = "symgs_waiting.cu",
        SymgsNodes = "symgs_nodes.cu",
        SymgsPlan = "symgs_plan.cu",
        SymgsOrder = "symgs_order.cu",
        Skyline = "skyline.cu",
        SkylineLocal = "skyline_local.cu",
        SkylinePlan = "skyline_plan.cu",
        SkylineFast = "skyline_fast.cu",
        Dense = "dense.cu",
        DenseCholesky = "dense_cholesky.cu",
        DenseBlocked = "dense_blocked.cu",
        Pcg = "pcg.cu",
        FsaiPattern = "fsai_pattern.cu",
        FsaiGroup = "fsai_group.cu",
        FsaiSolve = "fsai_solve.cu",
        FsaiLong = "fsai_long.cu",
        FsaiFilter = "fsai_filter.cu",
        FsaiOrder = "fsai_order.cu",
        Halo = "halo.cu",
        Spmm = "spmm.cu",
        SpmmBsr = "spmm_bsr.cu",
        SpmmHll = "spmm_hll.cu",
    }
}

impl Family {
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
            Self::Csr | Self::CsrAdaptive | Self::CsrWindows | Self::HllCompact => &Precision::ALL,
            Self::Spmm | Self::SpmmBsr => &Precision::ALL,
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
