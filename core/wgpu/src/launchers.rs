//! How each kernel is launched.

use sparsescope_core::kernel::{GridMapping, Work, lanes_a_row};
use sparsescope_core::matrix::{AnyFormat, SlotLayout};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::DeviceError;
use crate::families::Family;
use crate::grid::{Launch, Params};

/// How the workgroups of a kernel are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grid {
    /// One invocation per row, also for hacks, as in the paper.
    Rows,
    /// 32 invocations per row.
    Shared,
    /// One subgroup per row, for the smallest possible subgroups.
    Subgroups,
    /// 1, 2, 4 or 8 invocations per row.
    Lanes,
    /// One workgroup per span of nonzeros.
    Spans,
    /// One invocation per row and 1, 2 or 4 columns of X.
    Columns,
}

/// A kernel of this backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launcher {
    pub(crate) id: &'static str,
    pub(crate) family: Family,
    function: &'static str,
    grid: Grid,
}

const fn launcher_of(
    id: &'static str,
    family: Family,
    function: &'static str,
    grid: Grid,
) -> Launcher {
    Launcher { id, family, function, grid }
}

/// The launchers of this backend, in the order of the descriptors.
#[rustfmt::skip]
const LAUNCHERS: [Launcher; 11] = [
    launcher_of("wgpu/csr/thread-per-row", Family::Csr, "csr_thread_per_row", Grid::Rows),
    launcher_of("wgpu/csr/subgroup-per-row", Family::CsrSubgroup, "csr_subgroup_per_row", Grid::Subgroups),
    launcher_of("wgpu/csr/shared-per-row", Family::Csr, "csr_shared_per_row", Grid::Shared),
    launcher_of("wgpu/ell/thread-per-row", Family::Ell, "ell_thread_per_row", Grid::Rows),
    launcher_of("wgpu/ell/column-major", Family::Ell, "ell_column_major", Grid::Rows),
    launcher_of("wgpu/hll/thread-per-hack", Family::Hll, "hll_thread_per_hack", Grid::Rows),
    launcher_of("wgpu/hll/thread-per-row", Family::Hll, "hll_thread_per_row", Grid::Rows),
    launcher_of("wgpu/hll/subgroup-per-row", Family::HllSubgroup, "hll_subgroup_per_row", Grid::Subgroups),
    launcher_of("wgpu/hll/column-major", Family::Hll, "hll_column_major", Grid::Lanes),
    launcher_of("wgpu/coo/segmented", Family::Coo, "coo_segmented", Grid::Spans),
    launcher_of("wgpu/spmm/row-split", Family::Spmm, "spmm_row_split", Grid::Columns),
];

/// The launcher of a kernel.
pub(crate) fn launcher(id: &str) -> Option<&'static Launcher> {
    LAUNCHERS.iter().find(|launcher| launcher.id == id)
}

/// Nonzeros per invocation of the segmented sums, as in `coo.wgsl`.
const COO_ITEMS: u64 = 4;

/// Invocations of a row below which each takes fewer columns of X instead: they load 32 bytes at once.
const FEWEST_LANES: u32 = 8;

/// Invocations that share a row of k columns; each takes up to four of them, as `spmm.wgsl` does.
fn lanes_of_columns(k: u32) -> u32 {
    k.div_ceil([4, 2].into_iter().find(|each: &u32| k / each >= FEWEST_LANES).unwrap_or(1))
}

/// What a kernel is bound to.
pub(crate) struct Operands<'o> {
    pub(crate) host: &'o AnyFormat<f32>,
    /// The arrays of the matrix.
    pub(crate) arrays: &'o [Buffer],
    pub(crate) x: &'o Buffer,
    /// Columns of X; 1 in SpMV.
    pub(crate) columns: u32,
    /// y, including its guards.
    pub(crate) y: &'o Buffer,
    /// Invocations per workgroup.
    pub(crate) block: u32,
}

/// A kernel bound to its operands.
pub(crate) struct Bound {
    /// The launches of one product.
    pub(crate) launches: Vec<Launch>,
    /// A word that receives the subgroup size, for kernels that use subgroups.
    pub(crate) seen: Option<Buffer>,
    /// Buffers that it needs besides its operands.
    pub(crate) workspace: Vec<Buffer>,
}

impl Launcher {
    /// Binds the kernel.
    pub(crate) async fn bind(
        &self,
        device: &Device,
        o: &Operands<'_>,
    ) -> Result<Bound, DeviceError> {
        let rows = o.host.rows() as u64;
        let mut params = Params {
            rows: o.host.rows() as u32,
            cols: o.host.cols() as u32,
            lanes: 1,
            hack_size: 1,
            ..Params::default()
        };
        let by_rows = |mapping: GridMapping| mapping.blocks(Work::Rows(rows), o.block);
        let groups = match self.grid {
            Grid::Rows => by_rows(GridMapping::ThreadPerRow),
            Grid::Shared => by_rows(GridMapping::WarpPerRow),
            Grid::Subgroups => {
                rows.div_ceil(u64::from(o.block / device.least_subgroup().min(o.block)))
            }
            Grid::Columns => {
                params.count = o.columns;
                params.lanes = lanes_of_columns(o.columns);
                (rows * u64::from(params.lanes)).div_ceil(u64::from(o.block))
            }
            Grid::Lanes | Grid::Spans => 0,
        };
        let mut groups = groups;
        match o.host {
            AnyFormat::Ell(a) => params.count = a.shape().width as u32,
            AnyFormat::Coo(a) => {
                params.count = a.nnz() as u32;
                groups = (a.nnz() as u64).div_ceil(u64::from(o.block) * COO_ITEMS);
            }
            AnyFormat::Hll(a) => {
                params.hack_size = a.shape().hack_size() as u32;
                params.count = a.shape().hacks() as u32;
                if self.grid == Grid::Lanes {
                    let lanes = lanes_a_row(rows, a.shape().slots());
                    params.lanes = lanes;
                    groups = GridMapping::LanesPerRow
                        .blocks(Work::Shared(rows, u64::from(lanes)), o.block);
                }
            }
            _ => {}
        }
        let mut arrays: Vec<&Buffer> = o.arrays.iter().chain([o.x, o.y]).collect();
        let entry = |function| (self.family, function, o.block);
        match self.grid {
            Grid::Spans => segmented(device, o, entry, params, groups, &arrays).await,
            Grid::Subgroups => {
                let seen = Buffer::of(device, "the subgroups' size", &[0u32]).await?;
                arrays.push(&seen);
                let launch =
                    Launch::new(device, entry(self.function), groups, params, &arrays).await?;
                let launches = launch.into_iter().collect();
                Ok(Bound { launches, seen: Some(seen), workspace: Vec::new() })
            }
            Grid::Rows | Grid::Shared | Grid::Lanes | Grid::Columns => {
                let launch =
                    Launch::new(device, entry(self.function), groups, params, &arrays).await?;
                let launches = launch.into_iter().collect();
                Ok(Bound { launches, seen: None, workspace: Vec::new() })
            }
        }
    }
}

/// Zeroes y, adds the sums in each span, then those carried between spans.
async fn segmented(
    device: &Device,
    o: &Operands<'_>,
    entry: impl Fn(&'static str) -> (Family, &'static str, u32),
    params: Params,
    spans: u64,
    arrays: &[&Buffer],
) -> Result<Bound, DeviceError> {
    let words = spans.max(1) * size_of::<u32>() as u64;
    let rows = Buffer::new(device, "rows carried over between spans", words).await?;
    let sums = Buffer::new(device, "sums carried over between spans", words).await?;
    let arrays: Vec<&Buffer> = arrays.iter().copied().chain([&rows, &sums]).collect();
    let params = Params { lanes: spans as u32, ..params };
    let by_one = |count: u64| GridMapping::ThreadPerRow.blocks(Work::Rows(count), o.block);
    let carried = if spans > 1 { by_one(spans) } else { 0 };
    let steps = [
        ("coo_zero", by_one(u64::from(params.rows))),
        ("coo_segmented", spans),
        ("coo_carry", carried),
    ];
    let mut launches = Vec::new();
    for (function, groups) in steps {
        launches.extend(Launch::new(device, entry(function), groups, params, &arrays).await?);
    }
    Ok(Bound { launches, seen: None, workspace: vec![rows, sums] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, all_kernels};

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let here = all_kernels().filter(|k| k.device == DeviceKind::Wgpu);
        let described: Vec<_> = here.map(|k| k.id).collect();
        assert_eq!(described, LAUNCHERS.map(|launcher| launcher.id));
    }

    #[test]
    fn an_invocation_takes_up_to_four_columns_and_a_row_keeps_eight_invocations() {
        let lanes = [1, 3, 8, 15, 16, 17, 31, 32, 33, 1024].map(lanes_of_columns);
        assert_eq!(lanes, [1, 3, 8, 15, 8, 9, 16, 8, 9, 256]);
    }

    #[test]
    fn a_kernels_function_is_named_as_its_id_and_lies_in_the_file_of_its_family() {
        for launcher in LAUNCHERS {
            let name = launcher.id.strip_prefix("wgpu/").unwrap().replace(['/', '-'], "_");
            assert_eq!(launcher.function, name);
            let text = launcher.family.text();
            assert!(text.contains(&format!("fn {name}(")), "{name}");
            assert!(text.contains(launcher.id), "{}", launcher.id);
        }
    }
}
