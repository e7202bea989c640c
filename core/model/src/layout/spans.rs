//! The memory requests of a warp that adds coordinates: the two kernels of `coo.cu`, load by load.

use super::array::{Array, element_bytes};
use super::launch::{shared_row, spans};
use super::request::{Direction, Request};
use super::step::{Sink, StepKind};
use crate::kernel::{Cut, KernelDescriptor, LANES, Pass, StridedSlots, span_entries};
use sparsescope_matrix::matrix::{AnyFormat, Coo, Scalar};

const WARP: usize = LANES as usize;

/// SpMV over coordinates.
pub(super) struct SpanPass<'a, T> {
    kernel: &'static KernelDescriptor,
    a: &'a AnyFormat<T>,
    coo: &'a Coo<T>,
    cut: &'a Cut,
    /// `row`, `col` and `val` of the coordinates.
    arrays: [Array; 3],
}

impl<'a, T: Scalar> SpanPass<'a, T> {
    /// `coo` is `a` itself, or its tail.
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        a: &'a AnyFormat<T>,
        coo: &'a Coo<T>,
        cut: &'a Cut,
    ) -> Self {
        let arrays = match a {
            AnyFormat::Hyb(_) => [Array::TailRow, Array::TailCol, Array::TailVal],
            _ => [Array::Row, Array::Col, Array::Val],
        };
        Self { kernel, a, coo, cut, arrays }
    }

    /// A request of the lanes for which `index` returns an element, if any.
    fn request(
        &self,
        (array, direction): (Array, Direction),
        index: impl Fn(usize) -> Option<u64>,
        sink: &mut impl Sink,
    ) {
        let mut request = Request::new(array, direction, element_bytes(self.a, array));
        for lane in 0..WARP {
            if let Some(index) = index(lane) {
                request.set(lane, index);
            }
        }
        if request.active != 0 {
            sink.request(&request);
        }
    }

    /// Loads, updates and stores y of some rows.
    fn add_to_y(&self, row: impl Fn(usize) -> Option<u32>, sink: &mut impl Sink) {
        for direction in [Direction::Load, Direction::Store] {
            self.request((Array::Y, direction), |lane| row(lane).map(u64::from), sink);
        }
    }

    /// `coo_segmented`: reports all that a warp does to `sink`; returns how many of its threads
    /// have nonzeros.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        let entries = span_entries(self.coo, warp);
        if entries.is_empty() {
            return 0;
        }
        let [row_array, col_array, val_array] = self.arrays;
        let load = Direction::Load;
        sink.step(StepKind::Start);
        if entries.start > 0 {
            self.request((row_array, load), |_| Some(entries.start - 1), sink);
            self.request((row_array, load), |_| Some(entries.start), sink);
        }
        let first_lane = |index: u64| move |lane: usize| (lane == 0).then_some(index);
        self.request((Array::CarryRow, Direction::Store), first_lane(warp), sink);
        let shared = shared_row(self.coo, warp);
        let carry = |lane: usize, sink: &mut _| {
            let of = |l: usize| (l == lane).then_some(warp);
            self.request((Array::CarrySum, Direction::Store), of, sink);
        };

        let runs: [Option<StridedSlots>; WARP] = std::array::from_fn(|lane| {
            let thread = warp * LANES + lane as u64;
            self.kernel.thread_slots(self.a, self.cut, Pass::Spans, thread).next()
        });
        let steps = runs.iter().flatten().map(|run| run.steps).max().unwrap_or(0);
        // The row that continues from the previous step.
        let mut open: Option<u32> = None;
        for step in 0..steps {
            sink.step(StepKind::Loop(step));
            let mut slots = [None; WARP];
            let mut rows: [Option<u32>; WARP] = [None; WARP];
            for (lane, run) in runs.iter().enumerate() {
                let Some(run) = run.as_ref().filter(|run| step < run.steps) else { continue };
                let access = run.access(self.a, step);
                sink.lane(lane, access);
                slots[lane] = Some(access.slot);
                rows[lane] = Some(access.row as u32);
            }
            self.request((row_array, load), |lane| slots[lane], sink);
            self.request((val_array, load), |lane| slots[lane], sink);
            self.request((col_array, load), |lane| slots[lane], sink);
            let column = |slot: u64| u64::from(self.coo.col()[slot as usize]);
            self.request((Array::X, load), |lane| slots[lane].map(column), sink);
            // Lane 0 closes the row that the previous step left open, if another one starts.
            if let Some(row) = open.filter(|_| rows[0] != open) {
                match Some(row) == shared {
                    true => carry(0, sink),
                    false => self.add_to_y(|lane| (lane == 0).then_some(row), sink),
                }
            }
            // Every lane at the end of a row except the last stores its sum.
            let ends = |lane: usize| {
                rows[lane].filter(|_| lane + 1 < WARP && rows[lane] != rows[lane + 1])
            };
            if let Some(lane) = (0..WARP).find(|&l| ends(l).is_some() && ends(l) == shared) {
                carry(lane, sink);
            }
            self.add_to_y(|lane| ends(lane).filter(|&row| Some(row) != shared), sink);
            open = rows[WARP - 1];
        }
        sink.step(StepKind::End);
        if let Some(row) = open {
            match Some(row) == shared {
                true => carry(0, sink),
                false => self.add_to_y(|lane| (lane == 0).then_some(row), sink),
            }
        }
        runs.iter().flatten().count() as u64
    }

    /// `coo_carry`: the same for the warp that handles one span.
    pub(super) fn carry_warp(&self, span: u64, sink: &mut impl Sink) -> u64 {
        let spans = spans(self.coo);
        if span >= spans {
            return 0;
        }
        let (rows, load) = (Array::CarryRow, Direction::Load);
        sink.step(StepKind::Start);
        self.request((rows, load), |_| Some(span), sink);
        let Some(row) = shared_row(self.coo, span) else { return LANES };
        if span > 0 {
            self.request((rows, load), |_| Some(span - 1), sink);
            if shared_row(self.coo, span - 1) == Some(row) {
                return LANES;
            }
        }
        let mut looping = [true; WARP];
        for step in 0u64.. {
            let of = |lane: usize| span + step * LANES + lane as u64;
            let asks = looping;
            let asks = |lane: usize| Some(of(lane)).filter(|&k| asks[lane] && k < spans);
            if (0..WARP).all(|lane| asks(lane).is_none()) {
                break;
            }
            sink.step(StepKind::Loop(step));
            self.request((rows, load), asks, sink);
            for (lane, looping) in looping.iter_mut().enumerate() {
                *looping = asks(lane).is_some_and(|k| shared_row(self.coo, k) == Some(row));
            }
            let adds = |lane: usize| Some(of(lane)).filter(|_| looping[lane]);
            self.request((Array::CarrySum, load), adds, sink);
        }
        sink.step(StepKind::End);
        self.add_to_y(|lane| (lane == 0).then_some(row), sink);
        LANES
    }
}
