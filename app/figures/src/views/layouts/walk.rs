//! A kernel stepped through: which lanes of a warp, or which CPU threads, read which cells, the
//! memory transfers this causes, and the totals of the whole product.

use std::sync::Arc;

use sparsescope_core::experiment::convert;
use sparsescope_core::kernel::{
    self, DeviceKind, Format, FormatParams, KernelDescriptor, LANES, Mapping, kernel,
};
use sparsescope_core::layout::{Array, COLUMNS_KERNEL, Loops, Schedule};
use sparsescope_core::matrix::{AnyFormat, Csr, FormatSpec};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Operation;

use super::cells::Strip;
use super::grid::Grid;
use super::moment::Moment;
use super::threads::Threads;
use super::{arrays, packed};
use crate::model::plural;
use crate::state::LayoutsState;

/// The kernels that can be stepped through: those with a model. CPU threads are not supported in
/// formats that store no column per slot; WGSL kernels read like their CUDA counterparts.
pub fn kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
    let known = |kernel: &&KernelDescriptor| {
        let packed = [Format::Bsr, Format::Dia, Format::CsrCompact, Format::HllCompact];
        let on_grid = matches!(kernel.mapping, Mapping::Grid(_));
        let drawn = |format: Format| on_grid || !packed.contains(&format);
        let has_sibling = kernel.device == DeviceKind::Wgpu;
        kernel.model.is_some() && !has_sibling && kernel.format().is_some_and(drawn)
    };
    kernel::kernels(Operation::Spmv).iter().filter(known)
}

/// Most columns of X.
const MOST_COLUMNS: usize = 128;
/// The numbers of columns that are offered.
const COLUMNS: [usize; 4] = [1, 4, 8, 32];

/// What can be followed: the id in a link, and what the kernel does.
pub fn offered() -> impl Iterator<Item = (String, &'static str)> {
    let columns = kernel(COLUMNS_KERNEL)
        .into_iter()
        .flat_map(|kernel| COLUMNS.map(|k| (format!("{},{k}", kernel.id), kernel.summary)));
    kernels().map(|kernel| (kernel.id.to_owned(), kernel.summary)).chain(columns)
}

/// The kernel of an id in a link, with its number of columns.
pub fn title(id: &str) -> String {
    let columns = id.split_once(',').and_then(|(kernel, k)| Some((kernel, k.parse().ok()?)));
    match columns {
        Some((kernel, k)) => format!("{kernel}, {}", plural(k, "column")),
        None => id.to_owned(),
    }
}

/// A kernel on the small matrix.
pub struct Walk {
    pub(super) spec: FormatSpec,
    /// Details that the format's name omits.
    pub(super) detail: Option<String>,
    pub(super) strips: Vec<Strip>,
    pub(super) machine: Machine,
}

/// What executes the kernel.
pub(super) enum Machine {
    Grid(Grid),
    Threads(Threads),
}

/// The number of columns of X that follows a kernel.
pub(super) fn number_of_columns(columns: &str) -> Result<usize, String> {
    let k = columns.parse::<usize>().ok().filter(|k| (1..=MOST_COLUMNS).contains(k));
    k.ok_or_else(|| format!("expected 1 to {MOST_COLUMNS} columns, found `{columns}`"))
}

/// A small matrix in the format that a kernel reads.
pub(super) fn built(
    a: &Arc<Csr<f64>>,
    state: &LayoutsState,
    kernel: &KernelDescriptor,
) -> Result<(FormatSpec, AnyFormat), String> {
    // Most GPU kernels take rows in their original order only.
    let in_any = !matches!(kernel.mapping, Mapping::Grid(_)) || kernel.takes.order;
    let sigma = if in_any { state.sigma as usize } else { 1 };
    let format = kernel.format().ok_or("it reads no matrix")?;
    // A warp has one hack of compact HLL; blocks and diagonals of small matrices are seldom full.
    let is_compact = format == Format::HllCompact;
    let hack_size = if is_compact { LANES as usize } else { state.hack as usize };
    let min_fill = Some(0);
    let params = FormatParams { hack_size, sigma, min_fill, ..FormatParams::default() };
    let spec = format.with(&params);
    let matrix = convert(&spec, a, MemoryLimit::bytes(1 << 20)).map_err(|e| e.to_string())?;
    Ok((spec, matrix))
}

impl Walk {
    /// The kernel with this id, or why it cannot be stepped through. A number of columns of X may follow the id after a
    /// comma.
    pub fn of(a: &Arc<Csr<f64>>, state: &LayoutsState, id: &str) -> Result<Self, String> {
        if let Some((id, columns)) = id.split_once(',') {
            return Self::of_columns(a, id, columns);
        }
        let kernel = kernel(id).ok_or("there is no such kernel")?;
        let (spec, format) = built(a, state, kernel)?;
        let machine = match kernel.mapping {
            Mapping::Grid(_)
            | Mapping::Subgroups
            | Mapping::WorkgroupSpans
            | Mapping::Library
            | Mapping::Chosen => Schedule::new(kernel, &format, state.block, Loops::AsWritten)
                .map(|schedule| Machine::Grid(Grid::of(schedule, a.nnz()))),
            _ => Threads::new(kernel, &format, (a.rows(), a.cols()), state.threads as usize)
                .map(Machine::Threads),
        };
        let machine = machine.map_err(|error| error.to_string())?;
        let mut strips = match (&format, &machine) {
            (
                AnyFormat::Bsr(_) | AnyFormat::Dia(_) | AnyFormat::HllCompact(_),
                Machine::Grid(grid),
            ) => packed::strips(&format, grid.arrays())?,
            _ => arrays::strips(&format)?,
        };
        strips.push(arrays::vectors(Array::X, a.cols(), 1));
        strips.push(arrays::vectors(Array::Y, a.rows(), 1));
        Ok(Self { spec, detail: packed::detail(&format), strips, machine })
    }

    /// The product of A and this many columns.
    fn of_columns(a: &Arc<Csr<f64>>, id: &str, columns: &str) -> Result<Self, String> {
        if id != COLUMNS_KERNEL {
            return Err("it has no steps for several columns".to_owned());
        }
        let k = number_of_columns(columns)?;
        let mut strips = arrays::strips(&AnyFormat::Csr(a.clone()))?;
        strips.push(arrays::vectors(Array::X, a.cols(), k));
        strips.push(arrays::vectors(Array::Y, a.rows(), k));
        let machine = Machine::Grid(Grid::of_columns(a, k));
        Ok(Self { spec: FormatSpec::Csr, detail: None, strips, machine })
    }

    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        match &self.machine {
            Machine::Grid(grid) => grid.len(),
            Machine::Threads(threads) => threads.len(),
        }
    }

    /// The accesses in a step; the last one for all later indices.
    pub(super) fn moment(&self, at: u32) -> Moment {
        let at = (at as usize).min(self.len().saturating_sub(1));
        match &self.machine {
            Machine::Grid(grid) => grid.moment(at),
            Machine::Threads(threads) => threads.moment(at),
        }
    }

    /// The totals: a sentence, and a table with its header.
    pub(super) fn totals(&self, at: u32) -> (String, Vec<Vec<String>>) {
        let at = (at as usize).min(self.len().saturating_sub(1));
        match &self.machine {
            Machine::Grid(grid) => grid.totals(),
            Machine::Threads(threads) => threads.totals(at),
        }
    }
}

/// A kernel that can be stepped through, or why not.
pub type Kept = Result<Arc<Walk>, String>;

/// The kernels that are stepped through.
pub fn walks(
    a: &Arc<Csr<f64>>,
    layouts: &LayoutsState,
    of: impl Fn(&Arc<Csr<f64>>, &LayoutsState, &str) -> Kept,
) -> Vec<Kept> {
    let ids = [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty());
    ids.map(|id| of(a, layouts, id)).collect()
}

/// Number of steps of the longest of them.
pub fn most(walks: &[Kept]) -> u32 {
    walks.iter().flatten().map(|walk| walk.len()).max().unwrap_or(1).max(1) as u32
}

#[cfg(test)]
mod tests {
    use sparsescope_core::layout::StepKind;
    use sparsescope_core::matrix::examples::five_by_five;

    use super::super::cells::Cell;
    use super::*;
    use crate::lesson::Lessons;

    #[test]
    fn every_kernel_can_be_followed_and_its_steps_touch_the_cells_that_there_are() {
        let a = Arc::new(five_by_five());
        let on_gpu = |kernel: &&KernelDescriptor| matches!(kernel.mapping, Mapping::Grid(_));
        assert!(kernels().filter(on_gpu).count() >= 19);
        assert!(kernels().filter(|kernel| !on_gpu(kernel)).count() >= 11);
        for kernel in kernels() {
            let walk = Walk::of(&a, &LayoutsState::default(), kernel.id).unwrap();
            assert!(walk.len() > 1, "{}", kernel.id);
            for step in 0..walk.len() as u32 {
                let moment = walk.moment(step);
                let asks = moment.words.len() > 1;
                // Before and after their loops some kernels have nothing to load or store.
                if let Machine::Grid(grid) = &walk.machine {
                    let kind = grid.step(step as usize).unwrap().kind;
                    assert!(asks || !matches!(kind, StepKind::Loop(_)), "{} {step}", kernel.id);
                } else {
                    assert!(moment.touches.len() >= 3, "{} {step}", kernel.id);
                }
                for touch in moment.touches {
                    let of = |strip: &&Strip| strip.array == touch.array;
                    // Values passed between spans are in no array of the format.
                    if let Some(strip) = walk.strips.iter().find(of) {
                        let found = |cell: &Cell| cell.is_among(&touch.elements);
                        assert!(strip.cells.iter().any(found), "{}: {}", kernel.id, strip.name);
                    }
                }
            }
        }
    }

    #[test]
    fn all_that_lessons_follow_is_offered_and_can_be_followed() {
        let a = Arc::new(five_by_five());
        let ids: Vec<String> = offered().map(|(id, _)| id).collect();
        for id in &ids {
            assert!(Walk::of(&a, &LayoutsState::default(), id).is_ok(), "{id}");
        }
        let lessons = Lessons::default();
        let steps = lessons.iter().flat_map(|lesson| &lesson.steps);
        let states = steps.flat_map(|step| [Some(&step.show), step.then.as_ref()]);
        let mut several = 0;
        for state in states.flatten() {
            for id in [&state.layouts.walk, &state.layouts.beside] {
                assert!(id.is_empty() || ids.contains(id), "{id}");
                several += usize::from(id.contains(','));
            }
        }
        assert!(several > 0, "lesson 13 has several columns");
        assert_eq!(title(&format!("{COLUMNS_KERNEL},4")), "cuda/spmm/row-split, 4 columns");
        assert_eq!(title("cuda/csr/thread-per-row"), "cuda/csr/thread-per-row");
    }

    #[test]
    fn a_scalar_kernel_reads_the_papers_example_in_two_steps() {
        let walk = Walk::of(
            &Arc::new(five_by_five()),
            &LayoutsState::default(),
            "cuda/csr/thread-per-row",
        )
        .unwrap();
        // Pointers, two steps of the loop, the store.
        assert_eq!(walk.len(), 4);
        let touches = walk.moment(1).touches;
        let of_val = touches.iter().filter(|touch| touch.array == Array::Val);
        assert_eq!(of_val.map(|touch| touch.elements.start).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
    }

    #[test]
    fn lanes_of_a_row_share_its_nonzero_and_take_its_columns_of_x() {
        let a = Arc::new(five_by_five());
        let id = format!("{COLUMNS_KERNEL},4");
        let walk = Walk::of(&a, &LayoutsState::default(), &id).unwrap();
        let (x, y) = (&walk.strips[3], &walk.strips[4]);
        assert_eq!((x.cells.len(), y.cells.len()), (20, 20));
        assert_eq!([&x.name, &y.name], ["X", "Y"]);
        assert!(walk.moment(1).words.iter().any(|words| words.starts_with("load X: ")));
        let (_, totals) = walk.totals(1);
        assert!(
            totals.iter().any(|line| line[0] == "X") && totals.iter().all(|line| line[0] != "x")
        );
        // Row 0 is for lanes 0 to 3, row 1 for the next four.
        let moment = walk.moment(1);
        let of_val = moment.touches.iter().filter(|touch| touch.array == Array::Val);
        let rows: Vec<Vec<usize>> = (0..5).map(|row| (4 * row..4 * row + 4).collect()).collect();
        assert!(of_val.map(|touch| &touch.who).eq(&rows));
        // Lane c of a row needs column c of the row of X that the nonzero's column names.
        let of_x = moment.touches.iter().filter(|touch| touch.array == Array::X);
        for touch in of_x {
            let cell = x.cells.iter().find(|cell| cell.is_among(&touch.elements)).unwrap();
            for lane in &touch.who {
                let column = a.row(lane / 4).0[0];
                assert_eq!(cell.text, format!("{column},{}", lane % 4));
            }
        }
    }

    /// 10 nonzeros of 8 bytes are in two cache lines, 10 columns of 4 bytes in one, and x, y and
    /// the pointers in one each.
    #[test]
    fn threads_take_all_slots_and_touch_the_lines_that_there_are() {
        let a = Arc::new(five_by_five());
        let of = |threads, id: &str| {
            let state = LayoutsState { threads, ..LayoutsState::default() };
            match Walk::of(&a, &state, id).unwrap().machine {
                Machine::Threads(threads) => threads,
                Machine::Grid(_) => unreachable!("{id}"),
            }
        };
        let serial = of(1, "cpu/csr/serial");
        assert_eq!((serial.steps(Some(0)), serial.lines(0, 10)), (10, 6));
        assert_eq!(serial.imbalance(), 1.0);
        // Two rows of two nonzeros per thread, and one row for the last.
        let rows = of(3, "cpu/csr/rows");
        let mut each: Vec<usize> = (0..3).map(|thread| rows.steps(Some(thread))).collect();
        each.sort_unstable();
        assert_eq!(each, [2, 4, 4]);
        assert_eq!(rows.imbalance(), 4.0 * 3.0 / 10.0);
        assert_eq!(rows.totals(0).1.len(), 4);
        for id in ["cpu/csr/merge", "cpu/hll/guided", "cpu/hyb/rows", "cpu/csr/nnz"] {
            for count in 1..=8 {
                let threads = of(count, id);
                assert!(threads.steps(None) >= 10, "{id}");
                let every = a.rows();
                for i in 0..every {
                    for j in a.row(i).0 {
                        let owner = super::super::cells::Owner::Entry(i, *j as usize);
                        assert!(threads.parts.of(owner).is_some(), "{id} {count}: {i}, {j}");
                    }
                }
            }
        }
    }
}
