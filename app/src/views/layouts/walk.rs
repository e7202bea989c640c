//! A kernel followed step by step: which lanes of a warp read which cells, which sectors of the
//! memory that touches, and what the whole product adds up to.

use std::sync::Arc;

use sparsescope_core::experiment::{FormatParams, KERNELS, KernelDescriptor, Mapping, kernel};
use sparsescope_core::layout::{
    Array, Counts, Direction, Loops, Request, SECTOR, Schedule, Step, StepKind, Traffic,
};
use sparsescope_core::matrix::{Csr, FormatSpec};
use sparsescope_core::memory::MemoryLimit;

use super::arrays;
use super::board::Strip;
use crate::state::LayoutsState;

/// The kernels that can be followed.
pub(super) fn kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
    KERNELS.iter().filter(|kernel| matches!(kernel.mapping, Mapping::Grid(_)))
}

/// A kernel on the small matrix, at one step of one warp.
pub(super) struct Walk {
    pub(super) schedule: Schedule,
    pub(super) spec: FormatSpec,
    pub(super) strips: Vec<Strip>,
    /// Every step of every warp that has any, as (launch, warp, step).
    pub(super) places: Vec<(usize, u64, usize)>,
    /// The step that is shown.
    pub(super) at: usize,
    pub(super) step: Option<Step>,
}

/// What a step asks of one cell: by which lanes.
pub(super) struct Touch {
    pub(super) array: Array,
    pub(super) index: u64,
    pub(super) lanes: Vec<usize>,
}

impl Walk {
    /// The kernel of this id at the state's step, or why it cannot be followed.
    pub(super) fn of(a: &Arc<Csr<f64>>, state: &LayoutsState, id: &str) -> Result<Self, String> {
        let kernel = kernel(id).ok_or_else(|| format!("there is no kernel {id}"))?;
        let params = FormatParams { hack_size: state.hack as usize, ..FormatParams::default() };
        let spec = kernel.format.with(&params);
        let format = spec.build(a, MemoryLimit::bytes(1 << 20)).map_err(|e| e.to_string())?;
        let schedule = Schedule::new(kernel, &format, state.block, Loops::AsWritten)
            .map_err(|error| error.to_string())?;
        let mut strips = arrays::strips(&format)?;
        strips.push(arrays::vector(Array::X, a.cols()));
        strips.push(arrays::vector(Array::Y, a.rows()));
        let mut places = Vec::new();
        for (launch, info) in schedule.launches().iter().enumerate() {
            for warp in 0..info.warps {
                let steps = 0..schedule.steps(launch, warp);
                places.extend(steps.map(|step| (launch, warp, step)));
            }
        }
        let at = (state.step as usize).min(places.len().saturating_sub(1));
        let step = places.get(at).and_then(|&(launch, warp, step)| {
            schedule.warp(launch, warp, step..step + 1).into_iter().next()
        });
        Ok(Self { schedule, spec, strips, places, at, step })
    }

    /// The cells that the step reads or writes.
    pub(super) fn touches(&self) -> Vec<Touch> {
        let mut touches: Vec<Touch> = Vec::new();
        for request in self.step.iter().flat_map(|step| &step.requests) {
            for lane in 0..32 {
                let Some(index) = request.element(lane) else { continue };
                let same =
                    |touch: &&mut Touch| (touch.array, touch.index) == (request.array, index);
                match touches.iter_mut().find(same) {
                    Some(touch) if touch.lanes.contains(&lane) => {}
                    Some(touch) => touch.lanes.push(lane),
                    None => touches.push(Touch { array: request.array, index, lanes: vec![lane] }),
                }
            }
        }
        touches
    }

    /// The sectors that the step touches, as ranges of an array's cells.
    pub(super) fn sectors(&self) -> Vec<(Array, std::ops::Range<u64>)> {
        let mut all = Vec::new();
        for request in self.step.iter().flat_map(|step| &step.requests) {
            let cells = SECTOR / u64::from(request.element_bytes);
            for sector in request.sectors() {
                let range = (request.array, sector * cells..(sector + 1) * cells);
                if !all.contains(&range) {
                    all.push(range);
                }
            }
        }
        all
    }

    /// The step in words: where it is, then a line for each request.
    pub(super) fn words(&self) -> Vec<String> {
        let (Some(step), Some(&(launch, warp, _))) = (&self.step, self.places.get(self.at)) else {
            return vec!["No warp has anything to do.".into()];
        };
        let what = match step.kind {
            StepKind::Fill => "copies its part of x to shared memory".into(),
            StepKind::Start => "loads where its rows begin and end".into(),
            StepKind::Loop(round) => format!("goes round its loop, step {round}"),
            StepKind::End => "stores its sums".into(),
        };
        let block = self.schedule.launches().get(launch).map_or(0, |info| info.block_of(warp));
        let mut lines = vec![format!(
            "Warp {warp} of block {block} {what} ({} of {})",
            self.at + 1,
            self.places.len()
        )];
        lines.extend(step.requests.iter().map(request_words));
        lines
    }

    /// The whole product in words, array by array.
    pub(super) fn totals(&self) -> Vec<[String; 5]> {
        let traffic = Traffic::of(&self.schedule);
        let line = |name: &str, counts: Counts| {
            [
                name.to_owned(),
                counts.requests.to_string(),
                counts.sectors.to_string(),
                counts.useful_bytes.to_string(),
                share(counts.efficiency()),
            ]
        };
        let arrays = traffic.arrays();
        let mut lines: Vec<_> = arrays
            .iter()
            .map(|of| {
                let mut counts = of.loads;
                counts += of.stores;
                line(of.array.as_str(), counts)
            })
            .collect();
        let mut all = traffic.loads();
        all += traffic.stores();
        lines.push(line("all", all));
        lines
    }

    /// Share of lanes without work in the steps of loops.
    pub(super) fn idle(&self) -> String {
        share(Traffic::of(&self.schedule).idle_share())
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), |share| format!("{:.0} %", share * 100.0))
}

fn request_words(request: &Request) -> String {
    let counts = request.counts();
    let verb = if request.direction == Direction::Load { "load" } else { "store" };
    let plural =
        |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    format!(
        "{verb} {}: {}, {}, {}, {} of {} bytes useful ({})",
        request.array.as_str(),
        plural(u64::from(request.active.count_ones()), "lane"),
        plural(counts.sectors, "sector"),
        plural(counts.lines, "line"),
        counts.useful_bytes,
        counts.moved_bytes(),
        share(counts.efficiency()),
    )
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::examples::five_by_five;

    use super::*;

    #[test]
    fn every_kernel_can_be_followed_and_its_steps_touch_the_cells_that_there_are() {
        let a = Arc::new(five_by_five());
        assert!(kernels().count() >= 13);
        for kernel in kernels() {
            let mut state = LayoutsState::default();
            let steps = Walk::of(&a, &state, kernel.id).unwrap().places.len();
            assert!(steps > 2, "{}", kernel.id);
            for step in 0..steps as u32 {
                state.step = step;
                let walk = Walk::of(&a, &state, kernel.id).unwrap();
                let kind = walk.step.as_ref().unwrap().kind;
                let asks = walk.words().len() > 1;
                // Before and after their loops some kernels have nothing to load or to store.
                assert!(asks || !matches!(kind, StepKind::Loop(_)), "{} {step}", kernel.id);
                for touch in walk.touches() {
                    let of = |strip: &&Strip| strip.array == touch.array;
                    // What spans hand over lies in no array of the format.
                    if let Some(strip) = walk.strips.iter().find(of) {
                        assert!((touch.index as usize) < strip.cells.len(), "{}", kernel.id);
                    }
                }
            }
        }
    }

    #[test]
    fn a_scalar_kernel_reads_the_papers_example_in_two_steps() {
        let a = Arc::new(five_by_five());
        let state = LayoutsState { step: 1, ..LayoutsState::default() };
        let walk = Walk::of(&a, &state, "cuda/csr/thread-per-row").unwrap();
        // Pointers, two steps of the loop, the store.
        assert_eq!(walk.places.len(), 4);
        let firsts: Vec<u64> = walk
            .touches()
            .iter()
            .filter(|touch| touch.array == Array::Val)
            .map(|touch| touch.index)
            .collect();
        assert_eq!(firsts, [0, 2, 4, 6, 8]);
    }
}
