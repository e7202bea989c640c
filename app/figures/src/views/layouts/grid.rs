//! A GPU kernel stepped through warp by warp: the memory requests of a step, and the totals.

use std::sync::Arc;

use sparsescope_core::kernel::LANES;
use sparsescope_core::layout::{
    ArrayInfo, ArrayTraffic, Counts, Direction, Request, Schedule, Step, StepKind, Traffic,
    columns_steps, steps_traffic,
};
use sparsescope_core::matrix::{AnyFormat, Csr};
use sparsescope_core::record::SECTOR;

use super::arrays::name_of;
use super::moment::Moment;
use crate::model::plural;

/// Warps of a GPU.
pub(super) struct Grid {
    steps: Steps,
    /// Every step of every warp that has any, as (launch, warp, step).
    places: Vec<(usize, u64, usize)>,
    /// Columns of X.
    columns: usize,
    /// Of the whole product.
    pub(super) traffic: Vec<ArrayTraffic>,
    /// Share of the lanes that are idle in loops.
    pub(super) idle: Option<f64>,
    /// Two for each nonzero and column.
    pub(super) operations: u64,
}

/// The steps of the warps.
enum Steps {
    /// Of a kernel for SpMV.
    Schedule(Box<Schedule>),
    /// With several columns of X: the steps of each warp.
    Columns(Vec<Vec<Step>>),
}

impl Grid {
    /// A kernel for SpMV on a matrix with this many nonzeros.
    pub(super) fn of(schedule: Schedule, nnz: usize) -> Self {
        let mut places = Vec::new();
        for (launch, info) in schedule.launches().iter().enumerate() {
            for warp in 0..info.warps {
                let steps = 0..schedule.steps(launch, warp);
                places.extend(steps.map(|step| (launch, warp, step)));
            }
        }
        let traffic = Traffic::of(&schedule);
        let (idle, operations) = (traffic.idle_share(), 2 * nnz as u64);
        let (traffic, steps) = (traffic.arrays(), Steps::Schedule(Box::new(schedule)));
        Self { steps, places, columns: 1, traffic, idle, operations }
    }

    /// The product of A and k columns.
    pub(super) fn of_columns(a: &Arc<Csr<f64>>, k: usize) -> Self {
        let warps = columns_steps(a, k);
        let mut places = Vec::new();
        for (warp, steps) in (0..).zip(&warps) {
            places.extend((0..steps.len()).map(|step| (0, warp, step)));
        }
        let steps = warps.iter().flatten();
        let busy = steps.map(|step| step.lanes.iter().flatten().count()).filter(|busy| *busy > 0);
        let busy: Vec<usize> = busy.collect();
        let lanes = busy.len() * LANES as usize;
        let idle = (lanes > 0).then(|| 1.0 - busy.iter().sum::<usize>() as f64 / lanes as f64);
        let (traffic, operations) = (steps_traffic(&warps), 2 * (a.nnz() * k) as u64);
        Self { steps: Steps::Columns(warps), places, columns: k, traffic, idle, operations }
    }

    /// The arrays of a kernel for SpMV.
    pub(super) fn arrays(&self) -> &[ArrayInfo] {
        match &self.steps {
            Steps::Schedule(schedule) => schedule.arrays(),
            Steps::Columns(_) => &[],
        }
    }

    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// A step of one warp.
    pub(super) fn step(&self, at: usize) -> Option<Step> {
        let &(launch, warp, step) = self.places.get(at)?;
        match &self.steps {
            Steps::Schedule(schedule) => {
                schedule.warp(launch, warp, step..step + 1).into_iter().next()
            }
            Steps::Columns(warps) => warps.get(warp as usize)?.get(step).cloned(),
        }
    }

    /// The accesses in a step.
    pub(super) fn moment(&self, at: usize) -> Moment {
        let mut moment = Moment::default();
        let (Some(step), Some(&(launch, warp, _))) = (self.step(at), self.places.get(at)) else {
            moment.words.push("No warp has any work.".into());
            return moment;
        };
        for request in &step.requests {
            let cells = SECTOR / u64::from(request.element_bytes);
            for lane in 0..32 {
                if let Some(index) = request.element(lane) {
                    moment.touch(request.array, request.elements(lane), lane);
                    moment.block(request.array, index, cells);
                }
            }
        }
        let (matrix, block) = match &self.steps {
            Steps::Schedule(schedule) => {
                let block = schedule.launches().get(launch).map(|info| info.block_of(warp));
                (Some(schedule.matrix()), block)
            }
            Steps::Columns(_) => (None, None),
        };
        let what = match step.kind {
            StepKind::Fill => match matrix {
                Some(AnyFormat::HllCompact(_)) => "copies the dictionary to shared memory".into(),
                _ => "copies its part of x to shared memory".into(),
            },
            StepKind::Start => match matrix {
                Some(AnyFormat::Bsr(_)) => "loads the bounds of its block row".into(),
                Some(AnyFormat::HllCompact(_)) => "loads the bounds of its groups".into(),
                _ => "loads the bounds of its rows".into(),
            },
            StepKind::Loop(round) => format!("is in iteration {} of its loop", round + 1),
            StepKind::End => "stores its sums".into(),
        };
        let block = block.map(|block| format!(" of block {block}")).unwrap_or_default();
        let (number, all) = (at + 1, self.places.len());
        moment.words.push(format!("Step {number} of {all}: warp {warp}{block} {what}"));
        let words = |request: &Request| request_words(request, self.columns);
        moment.words.extend(step.requests.iter().map(words));
        moment
    }

    /// The totals of the whole product, array by array.
    pub(super) fn totals(&self) -> (String, Vec<Vec<String>>) {
        let product = match self.columns {
            1 => "SpMV".to_owned(),
            k => format!("product of {k} columns"),
        };
        let idle = share(self.idle);
        let title = format!("The whole {product}; {idle} of the lanes are idle in loops");
        let header = ["array", "requests", "sectors", "useful bytes", "efficiency"];
        let mut lines = vec![header.map(String::from).to_vec()];
        let mut all = Counts::default();
        let mut line = |name: &str, counts: Counts| {
            lines.push(vec![
                name.to_owned(),
                counts.requests.to_string(),
                counts.sectors.to_string(),
                counts.useful_bytes.to_string(),
                share(counts.efficiency()),
            ]);
        };
        for of in &self.traffic {
            let mut counts = of.loads;
            counts += of.stores;
            line(name_of(of.array, self.columns), counts);
            all += counts;
        }
        line("all", all);
        (title, lines)
    }
}

pub(super) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), |share| format!("{:.0} %", share * 100.0))
}

fn request_words(request: &Request, columns: usize) -> String {
    let counts = request.counts();
    let verb = if request.direction == Direction::Load { "load" } else { "store" };
    let together = match request.together {
        1 => String::new(),
        several => format!(", {several} elements per lane"),
    };
    format!(
        "{verb} {}{together}: {}, {}, {}, {} of {} bytes useful ({})",
        name_of(request.array, columns),
        plural(u64::from(request.active.count_ones()), "lane"),
        plural(counts.sectors, "sector"),
        plural(counts.lines, "line"),
        counts.useful_bytes,
        counts.moved_bytes(),
        share(counts.efficiency()),
    )
}
