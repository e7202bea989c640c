//! Explains the speed of a run in one sentence: the two or three recorded facts that explain most
//! of it.

mod clause;
mod ranks;
mod skyline;
mod solve;

pub(crate) use clause::{Clause, FEWER};
use sparsescope_core::kernel::{GridMapping, LANES, Mapping, UserFamily, kernel, mapping_of};
use sparsescope_core::record::{Environment, Gpu};
use sparsescope_core::symgs::Wavefronts;

use crate::model::{RunOf, bytes, count, seconds, significant};
use crate::operation::presentation;

/// A reason, and the approximate fraction of the time that it explains: 0 to 1.
type Reason = (f64, String);

/// Number of threads that fill a multiprocessor well: half of its maximum.
const WORTHWHILE: f64 = 1024.0;

/// Reasons that explain less are not mentioned.
const LEAST: f64 = 0.15;

/// A run is bound by launching if an empty launch takes this much of its time.
pub(crate) const BOUND: f64 = 0.5;

/// A third reason must explain this much.
const THIRD: f64 = 0.6;

/// Minimum seconds until one multiprocessor, or core, sees what another has written: the time of
/// the shortest steps of sweeps on GPUs.
const HANDOVER_S: f64 = 5e-7;

impl RunOf<'_> {
    /// Explains its speed, or why it has no time, in one sentence. Uses only what the bundle
    /// records, and what the kernel does by definition.
    pub fn why(&self) -> String {
        let run = self.run;
        let Some(figures) = self.figures() else {
            let reason = run.reason().unwrap_or("no reason was recorded");
            return format!("No time ({}): {reason}.", run.check.as_str());
        };
        let launch = self.launch_share().unwrap_or(0.0);
        let word = self.word();
        let moved = match (run.costs.minimal_bytes, &run.costs.choice) {
            (0, _) => format!("Takes {} per {word}", seconds(figures.median_s)),
            (least, None) => format!("Moves at least {} per {word}", bytes(least)),
            (least, Some(choice)) => {
                format!("Runs {}, which moves at least {} per {word}", choice.kernel, bytes(least))
            }
        };
        let (mut sentence, mut reasons) = match (figures.pct_copy, &run.solve) {
            (_, Some(solve)) => self.solve(solve, figures.median_s),
            _ if launch >= BOUND => {
                let (part, whole) = (percent(launch.min(1.0)), seconds(figures.median_s));
                let text =
                    format!("Launch-bound: an empty kernel launch takes {part} of its {whole}");
                (text, Vec::new())
            }
            _ if presentation(&run.operation).compares => self.skyline(figures.median_s, launch),
            // At this rate, costs other than data movement are small.
            (Some(share), None) if (80.0..=110.0).contains(&share) => (
                format!("{moved} at {share:.0} % of the copy bandwidth, its limit"),
                self.padding().into_iter().collect(),
            ),
            (share, None) => {
                let rate = match share {
                    Some(share) if share > 110.0 => {
                        format!(" at {share:.0} % of the copy bandwidth, so from cache")
                    }
                    Some(share) if share < 1.0 => " at less than 1 % of the copy bandwidth".into(),
                    Some(share) => format!(" at {share:.0} % of the copy bandwidth"),
                    None => String::new(),
                };
                (format!("{moved}{rate}"), self.reasons(launch))
            }
        };
        if let Some(shared) = &run.distributed {
            reasons.extend(self.shared_by_ranks(shared, figures.median_s));
        }
        sparsescope_core::order::sort_by(&mut reasons, |one, other| other.0.total_cmp(&one.0));
        let worth = reasons.iter().enumerate().take(3);
        let worth =
            worth.filter(|(place, (share, _))| *share >= if *place < 2 { LEAST } else { THIRD });
        let told: Vec<&str> = worth.map(|(_, (_, reason))| reason.as_str()).collect();
        if let Some((last, others)) = told.split_last() {
            let others = others.join(", ");
            let and = if others.is_empty() { "" } else { " and " };
            sentence += &format!(": {others}{and}{last}");
        }
        if let Some(noise) = self.noise(figures.q3_s / figures.q1_s - 1.0) {
            sentence += &format!("; {noise}");
        }
        sentence + "."
    }

    fn reasons(&self, launch: f64) -> Vec<Reason> {
        let run = self.run;
        let mapping = mapping_of(run);
        let launching = format!("launch latency is {} of its time", percent(launch));
        let mut reasons = vec![(launch, launching)];
        let parts = run.parts.filter(|parts| *parts < run.threads);
        if let Some(parts) = parts {
            let share = 1.0 - f64::from(parts) / f64::from(run.threads);
            reasons.push((share, format!("only {parts} of {} threads have work", run.threads)));
        }
        if let Some(predicted) = &run.costs.predicted {
            if let (Some(efficiency), Some(loads)) =
                (predicted.efficiency(), predicted.load_sectors)
            {
                let whose = mapping.and_then(worker).unwrap_or("it");
                let sectors = count(loads);
                let useful = percent(efficiency);
                let text =
                    format!("{whose} loads {sectors} sectors, using {useful} of their bytes");
                reasons.push((1.0 - efficiency, text));
            }
            if let Some(idle) = predicted.idle_share {
                // Idle lanes cost steps, not bytes: most of them are free.
                reasons.push((idle * 0.9, format!("{} of its lanes are idle", percent(idle))));
            }
            if let Some(imbalance) = predicted.imbalance.filter(|_| run.threads > 1) {
                let most = significant(imbalance);
                let text = format!("the busiest thread has {most} times the mean work");
                reasons.push((1.0 - 1.0 / imbalance, text));
            }
            if let Some(lines) = predicted.line_bytes.filter(|lines| *lines > 0) {
                let share = 1.0 - run.costs.minimal_bytes as f64 / lines as f64;
                reasons.push((
                    share,
                    format!("the cache lines it touches add up to {}", bytes(lines)),
                ));
            }
        }
        reasons.extend(self.padding());
        if let Some(mapping) = mapping {
            reasons.extend(self.rows(mapping));
            reasons.extend(self.levels(mapping));
        }
        reasons.extend(self.passes());
        reasons
    }

    /// The levels of sweeps in which rows wait for the rows of the previous level.
    fn levels(&self, mapping: Mapping) -> Option<Reason> {
        let waits = matches!(mapping, Mapping::Levels | Mapping::Waiting);
        let matrix = self.matrix().filter(|_| waits)?;
        let folders = &self.bundle.bundle.matrices;
        let folder = folders.iter().find(|folder| folder.record.id == matrix.id)?;
        let [forward, backward, _] = Wavefronts::counts(&folder.files)?;
        let levels = forward + backward;
        let level_s = self.figures()?.median_s / levels.max(1) as f64;
        let rows = 2.0 * matrix.statistics.rows as f64 / levels.max(1) as f64;
        let (levels, rows) = (count(levels), significant(rows));
        let text = format!(
            "its {levels} levels run one after the other, {} each (mean width {rows})",
            seconds(level_s)
        );
        Some(((HANDOVER_S / level_s).min(1.0), text))
    }

    /// The blocks of passes that found no row to process.
    fn passes(&self) -> Option<Reason> {
        let history = self.run.history.as_ref()?;
        let blocks = |name: &str| -> Option<f64> {
            let series = history.series.iter().find(|series| series.name == name)?;
            Some(series.values.iter().sum())
        };
        let (launched, with_work) = (blocks("blocks launched")?, blocks("blocks with work")?);
        let idle = 1.0 - with_work / launched;
        let text = format!("{} of the blocks it launched had no work", percent(idle));
        idle.is_finite().then_some((idle, text))
    }

    /// The launch latency as a fraction of its time.
    pub(crate) fn launch_share(&self) -> Option<f64> {
        Some(self.launch_seconds()? / self.figures()?.median_s)
    }

    /// The launch latency, measured with this run or for its device.
    fn launch_seconds(&self) -> Option<f64> {
        let of_device = || self.gpu()?.details.get("launch_seconds")?.parse().ok();
        let found = self.run.costs.launch_s.or_else(of_device);
        found.filter(|launch| launch.is_finite() && *launch >= 0.0)
    }

    fn machine(&self) -> Option<&Environment> {
        self.bundle.bundle.environment(&self.run.environment)
    }

    fn gpu(&self) -> Option<&Gpu> {
        self.machine()?.gpus.iter().find(|gpu| gpu.model == self.run.device)
    }

    /// Slots without a nonzero, if the kernel multiplies them.
    fn padding(&self) -> Option<Reason> {
        let format = self.run.format();
        let size = self.matrix()?.statistics.formats.iter().find(|size| size.format == format)?;
        // With parameters other than those of the statistics, the size would differ.
        let same = size.bytes.abs_diff(self.run.costs.format_bytes) <= size.bytes / 50;
        let multiplied = match &self.run.source {
            Some(source) => {
                UserFamily::of(&source.family).is_none_or(UserFamily::multiplies_padding)
            }
            None => kernel(&self.run.kernel).is_none_or(|kernel| kernel.needs.finite_x),
        };
        (same && multiplied && size.padding > 1.0).then(|| {
            let share = 1.0 - 1.0 / size.padding;
            (share, format!("{} of its slots are padding", percent(share)))
        })
    }

    /// The effect of row lengths on a GPU.
    fn rows(&self, mapping: Mapping) -> Vec<Reason> {
        let Mapping::Grid(mapping) = mapping else { return Vec::new() };
        let Some(matrix) = self.matrix() else { return Vec::new() };
        let statistics = &matrix.statistics;
        let row = &statistics.row;
        let (one, rows_of_one) = match mapping {
            GridMapping::ThreadPerRow => ("one thread", 1.0),
            GridMapping::WarpPerRow => ("one warp", 1.0 / LANES as f64),
            GridMapping::ThreadPerHack => {
                let hack = self.run.params.get("hack_size").and_then(|size| size.parse().ok());
                ("one thread", hack.unwrap_or(1.0))
            }
            // Neither row lengths nor the number of rows leave these idle.
            GridMapping::WarpPerSpan
            | GridMapping::BlockPerTile
            | GridMapping::LanesPerRow
            | GridMapping::WarpPerHack
            | GridMapping::WarpPerBlockRow => return Vec::new(),
        };
        let mut reasons = Vec::new();
        if mapping == GridMapping::ThreadPerHack {
            let text = format!("one thread processes all {rows_of_one} rows of a hack");
            reasons.push((1.0 - 1.0 / rows_of_one, text));
        }
        if row.max >= 1000 && row.max as f64 >= 50.0 * row.mean {
            let (longest, mean) = (count(row.max), significant(row.mean));
            let text = format!("{one} processes the longest row, {longest} nonzeros (mean {mean})");
            reasons.push((0.95, text));
        } else if mapping == GridMapping::WarpPerRow && self.run.costs.predicted.is_none() {
            let lanes = LANES as f64;
            let mean = significant(row.mean);
            let text = format!("a warp of {LANES} lanes has {mean} nonzeros per row on average");
            reasons.push((0.9 * (1.0 - row.mean / lanes), text));
        }
        let processors = self.gpu().and_then(|gpu| gpu.details.get("multiprocessors"));
        // One thread per hack implies few threads, which is mentioned already.
        let processors = processors.filter(|_| mapping != GridMapping::ThreadPerHack);
        if let Some(processors) = processors.and_then(|count| count.parse::<f64>().ok()) {
            let threads = statistics.rows as f64 / rows_of_one;
            let share = 1.0 - threads / (processors * WORTHWHILE);
            let threads = count(threads as u64);
            reasons.push((
                share,
                format!("{threads} threads cannot fill {processors} multiprocessors"),
            ));
        }
        reasons
    }

    /// Explains noise, if the interquartile range of the samples is `spread`; on a GPU also causes
    /// whose effect the samples do not show.
    fn noise(&self, spread: f64) -> Option<String> {
        let noisy = spread > 0.1;
        let mut seen = match (self.gpu(), self.machine()) {
            (Some(gpu), _) => seen_on_gpu(gpu),
            (None, Some(machine)) if noisy => seen_on_processor(machine),
            _ => Vec::new(),
        };
        if noisy {
            seen.insert(0, format!("quartiles {} apart", percent(spread)));
        }
        (!seen.is_empty()).then(|| format!("noise: {}", seen.join(", ")))
    }
}

/// The worker that processes a row on a GPU.
fn worker(mapping: Mapping) -> Option<&'static str> {
    let Mapping::Grid(mapping) = mapping else { return None };
    Some(match mapping {
        GridMapping::ThreadPerRow => "one thread per row",
        GridMapping::WarpPerRow => "one warp per row",
        GridMapping::ThreadPerHack => "one thread per hack",
        GridMapping::WarpPerSpan => "one warp per span",
        GridMapping::BlockPerTile => "one block per tile",
        GridMapping::LanesPerRow => "several lanes per row",
        GridMapping::WarpPerHack => "one warp per hack",
        GridMapping::WarpPerBlockRow => "one warp per block row",
    })
}

fn seen_on_gpu(gpu: &Gpu) -> Vec<String> {
    let detail = |name: &str, usual: &str| gpu.details.get(name).filter(|found| *found != usual);
    let throttled = detail("throttled", "none").map(|why| format!("clocks throttled ({why})"));
    let others = detail("other_processes", "0").map(|n| format!("other processes on the GPU: {n}"));
    throttled.into_iter().chain(others).collect()
}

fn seen_on_processor(machine: &Environment) -> Vec<String> {
    let governor = machine.cpu.governor.as_ref().filter(|governor| *governor != "performance");
    let governor = governor.map(|governor| format!("governor {governor}"));
    let load = machine.noise.load_before.filter(|load| *load >= 1.0);
    let load = load.map(|load| format!("load {} before the first run", significant(load)));
    governor.into_iter().chain(load).collect()
}

/// A fraction as a percentage.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
pub(crate) mod tests;
