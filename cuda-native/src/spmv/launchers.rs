//! The launcher of each kernel.

use std::marker::PhantomData;

use super::operands::Operands;
use super::{blocks, hacks, ours, tiles};
use crate::cusparse::{Algorithm, OpAlgorithm};
use crate::device::DeviceError;
use crate::launch::Bound;
use crate::machine::Machine;
use crate::value::DeviceReal;

/// The kernel that selects among the others.
pub(crate) const AUTO: &str = "cuda/spmv/auto";

/// How a kernel is bound.
pub(crate) enum Bind<T: DeviceReal> {
    /// By our own launches.
    Kernel(fn(&Operands<'_, T>) -> Result<Bound, DeviceError>),
    /// The same on hacks converted on the device.
    Hacks(fn(&Operands<'_, T>) -> Result<Bound, DeviceError>),
    /// Like the selected kernel.
    Chosen,
    /// By cuSPARSE.
    Cusparse(Algorithm),
    /// By cuSPARSE with the transpose of CSR.
    CusparseTransposed(Algorithm),
    /// By cuSPARSE's SpMVOp.
    CusparseOp(OpAlgorithm),
}

impl<T: DeviceReal> Bind<T> {
    /// Starts the library that the kernel needs, or returns why it is missing.
    pub(crate) fn start_library(&self, machine: &Machine) -> Result<(), String> {
        match self {
            Self::Cusparse(_) | Self::CusparseTransposed(_) => machine.cusparse().map(drop),
            Self::CusparseOp(_) => machine.cusparse_op().map(drop),
            Self::Kernel(_) | Self::Hacks(_) | Self::Chosen => Ok(()),
        }
    }
}

/// The launchers for a precision.
struct Launchers<T>(PhantomData<T>);

impl<T: DeviceReal> Launchers<T> {
    /// One per kernel of this backend, in the order of the descriptors.
    const ALL: &'static [(&'static str, Bind<T>)] = &[
        ("cuda/csr/thread-per-row", Bind::Kernel(ours::csr)),
        ("cuda/csr/warp-shuffle", Bind::Kernel(ours::csr)),
        ("cuda/csr/warp-shared", Bind::Kernel(ours::csr_shared)),
        ("cuda/csr/warp-ldg", Bind::Kernel(ours::csr)),
        ("cuda/csr/vector-mining", Bind::Kernel(ours::csr_shared)),
        ("cuda/ell/thread-per-row", Bind::Kernel(ours::ell)),
        ("cuda/ell/column-major", Bind::Kernel(ours::ell)),
        ("cuda/hll/thread-per-hack", Bind::Kernel(ours::hll)),
        ("cuda/hll/thread-per-row", Bind::Kernel(ours::hll)),
        ("cuda/hll/shared-x", Bind::Kernel(ours::hll)),
        ("cuda/hll/warp-per-row", Bind::Kernel(ours::hll)),
        ("cuda/coo/segmented", Bind::Kernel(ours::coo)),
        ("cuda/hyb/ell-coo", Bind::Kernel(ours::hyb)),
        ("cuda/csr/adaptive", Bind::Kernel(tiles::csr_adaptive)),
        ("cuda/csr/lanes", Bind::Kernel(ours::csr)),
        ("cuda/hll/column-major", Bind::Hacks(hacks::column_major)),
        ("cuda/hll/sigma", Bind::Hacks(hacks::sigma)),
        ("cuda/hll/compact", Bind::Kernel(hacks::compact)),
        ("cuda/bsr/warp", Bind::Kernel(blocks::bsr)),
        ("cuda/dia/thread-per-row", Bind::Kernel(blocks::dia)),
        (AUTO, Bind::Chosen),
        ("vendor/cusparse/csr-alg1", Bind::Cusparse(Algorithm::Csr1)),
        ("vendor/cusparse/csr-alg2", Bind::Cusparse(Algorithm::Csr2)),
        ("vendor/cusparse/coo", Bind::Cusparse(Algorithm::Coo1)),
        ("vendor/cusparse/sell", Bind::Cusparse(Algorithm::Sell1)),
        ("vendor/cusparse/op", Bind::CusparseOp(OpAlgorithm::Default)),
        ("vendor/cusparse/op-alg1", Bind::CusparseOp(OpAlgorithm::First)),
        ("vendor/cusparse/op-alg2", Bind::CusparseOp(OpAlgorithm::Second)),
        ("vendor/cusparse/csr-transposed", Bind::CusparseTransposed(Algorithm::Csr1)),
    ];
}

/// The launcher of a kernel.
pub(crate) fn launcher<T: DeviceReal>(id: &str) -> Option<&'static Bind<T>> {
    Launchers::ALL.iter().find(|(known, _)| *known == id).map(|(_, bind)| bind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{
        BandShape, DeviceKind, LaneShape, MOST_PER_LANE, Mapping, TileShape, WindowShape, kernels,
    };
    use sparsescope_core::matrix::BSR_BLOCKS;
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = Launchers::<f64>::ALL.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn vendors_kernels_are_bound_to_a_library_and_the_others_to_a_grid() {
        for (id, bind) in Launchers::<f64>::ALL {
            let kernel = sparsescope_core::kernel::kernel(id).unwrap();
            let on_grid = matches!(kernel.mapping, Mapping::Grid(_));
            assert_eq!(matches!(bind, Bind::Kernel(_) | Bind::Hacks(_)), on_grid, "{id}");
        }
    }

    #[test]
    fn a_warp_sums_the_rows_that_the_layout_model_expects() {
        let (_, source) = crate::Family::CsrAdaptive.source();
        assert!(source.contains(&format!("MOST_PER_LANE = {MOST_PER_LANE};")));
    }

    #[test]
    fn a_kernels_function_is_in_the_file_of_its_format() {
        for kernel in kernels(Operation::Spmv).iter().filter(|k| k.id.starts_with("cuda/")) {
            let (_, name) = kernel.id.split_once('/').unwrap();
            let sources = crate::Family::ALL.map(|family| family.source());
            // HYB uses two: the ELLPACK part's kernel and COO's. Ours are built in several shapes,
            // and have their own files.
            let names = match name {
                "hyb/ell-coo" => vec!["ell_column_major".to_owned(), "coo_segmented".to_owned()],
                "csr/adaptive" => {
                    let shapes = TileShape::ALL.iter();
                    let tiles = shapes.map(|s| format!("csr_adaptive_{}x{}", s.threads, s.items));
                    let windows = WindowShape::ALL.iter();
                    let windows =
                        windows.map(|s| format!("csr_adaptive_windows_{}x{}", s.threads, s.lanes));
                    let bands = BandShape::ALL.iter();
                    let bands =
                        bands.map(|s| format!("csr_adaptive_bands_{}x{}", s.threads, s.items));
                    tiles.chain(windows).chain(bands).collect()
                }
                "csr/lanes" => {
                    LaneShape::ALL.map(|s| format!("csr_lanes_{}x{}", s.lanes, s.in_flight)).into()
                }
                "hll/compact" => {
                    ["plain", "byte", "short"].map(|how| format!("hll_compact_{how}")).into()
                }
                "bsr/warp" => BSR_BLOCKS.map(|edge| format!("bsr_warp_{edge}")).collect(),
                "spmv/auto" => continue,
                _ => vec![name.replace(['/', '-'], "_")],
            };
            for name in names {
                let file = match name.as_str() {
                    "hll_column_major" | "hll_sigma" => "hll_column_major.cu".to_owned(),
                    _ if name.starts_with("csr_adaptive_windows") => "csr_windows.cu".to_owned(),
                    _ if name.starts_with("csr_adaptive_bands") => "csr_windows.cu".to_owned(),
                    _ if name.starts_with("csr_adaptive") => "csr_adaptive.cu".to_owned(),
                    _ if name.starts_with("hll_compact") => "hll_compact.cu".to_owned(),
                    _ => format!("{}.cu", name.split('_').next().unwrap()),
                };
                let source = sources.iter().find(|(of, _)| *of == file).unwrap().1;
                // Some have launch bounds first.
                let has =
                    source.contains("__global__ void") && source.contains(&format!(" {name}("));
                assert!(has, "{name} in {file}");
                assert!(source.contains(kernel.id), "{file} does not name {}", kernel.id);
            }
        }
    }
}
