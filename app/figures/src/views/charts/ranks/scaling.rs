//! Scaling with the number of ranks.

use std::collections::BTreeMap;

use sparsescope_core::record::Subject;

use crate::model::{RunOf, count, significant, subject_name};
use crate::views::charts::plot::{Data, Form, Guide, Plot, Point, Scale, kernel};

const SPEED_UP: &str = "speed-up";
const EFFICIENCY: &str = "efficiency";
const TIME: &str = "time";

/// Matrices whose nonzeros per rank differ by less than this factor count as equal work per rank.
const ALIKE: f64 = 1.15;

pub(super) fn of_strong(_: &Data<'_>) -> Vec<String> {
    [SPEED_UP, EFFICIENCY, TIME].map(str::to_owned).to_vec()
}

pub(super) fn of_weak(_: &Data<'_>) -> Vec<String> {
    [EFFICIENCY, TIME].map(str::to_owned).to_vec()
}

/// A run, with the numbers that scaling uses.
#[derive(Clone, Copy)]
struct Step<'a> {
    run: RunOf<'a>,
    ranks: f64,
    /// Nonzeros of the matrix.
    entries: f64,
    /// Time of one SpMV, or of one iteration of a solver.
    seconds: f64,
}

impl<'a> Step<'a> {
    /// Returns `None` for a run without ranks.
    fn of(run: &RunOf<'a>) -> Option<Self> {
        let ranks = run.run.distributed.as_ref()?.ranks.len() as f64;
        let Subject::Matrix(matrix) = run.subject else { return None };
        let iterations = run.solved().map_or(1, |solve| solve.iterations.max(1));
        let seconds = run.figures()?.median_s / iterations as f64;
        let entries = matrix.statistics.nnz as f64;
        (ranks > 0.0 && seconds > 0.0).then_some(Self { run: *run, ranks, entries, seconds })
    }

    /// The settings that are held constant: kernel, transport, partition, threads per rank.
    fn class(&self) -> String {
        let Some(shared) = &self.run.run.distributed else { return String::new() };
        let threads = match shared.threads {
            0 | 1 => String::new(),
            threads => format!(", {threads} threads per rank"),
        };
        let partition = match shared.partition.as_str() {
            "" | "entries" => String::new(),
            other => format!(", {other}"),
        };
        format!("{}{partition}{threads}", kernel(&self.run))
    }

    /// Nonzeros per second and rank.
    fn rate(&self) -> f64 {
        self.entries / self.ranks / self.seconds
    }
}

/// Runs of one line, the fastest for each number of ranks.
type Line<'a> = BTreeMap<u64, Step<'a>>;

fn take<'a>(line: &mut Line<'a>, step: Step<'a>) {
    let known = line.entry(step.ranks as u64).or_insert(step);
    if step.seconds < known.seconds {
        *known = step;
    }
}

/// Strong scaling: one matrix on increasing numbers of ranks.
pub(super) fn strong<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut lines: BTreeMap<(String, usize), Line<'a>> = BTreeMap::new();
    for step in data.runs.iter().filter_map(Step::of) {
        let name = format!("{} on {}", step.class(), subject_name(step.run.subject));
        take(lines.entry((name, step.run.bundle.series)).or_default(), step);
    }
    drawn(lines, &data.chosen(&of_strong(data)))
}

/// Weak scaling: matrices that grow with the number of ranks.
pub(super) fn weak<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut classes: BTreeMap<(String, usize), Vec<Step<'a>>> = BTreeMap::new();
    for step in data.runs.iter().filter_map(Step::of) {
        classes.entry((step.class(), step.run.bundle.series)).or_default().push(step);
    }
    let mut lines: BTreeMap<(String, usize), Line<'a>> = BTreeMap::new();
    for ((class, series), mut steps) in classes {
        let share = |step: &Step<'_>| step.entries / step.ranks;
        sparsescope_core::order::sort_by(&mut steps, |one, other| {
            share(one).total_cmp(&share(other))
        });
        let mut least = f64::INFINITY;
        for step in steps {
            if share(&step) > least * ALIKE || least.is_infinite() {
                least = share(&step);
            }
            let name = format!("{class}, {} nonzeros per rank", count(least as u64));
            take(lines.entry((name, series)).or_default(), step);
        }
    }
    // Lines without a larger matrix show no weak scaling.
    lines.retain(|_, line| {
        let entries = || line.values().map(|step| step.entries);
        let most = entries().fold(0.0, f64::max);
        entries().any(|entries| entries * ALIKE < most)
    });
    drawn(lines, &data.chosen(&of_weak(data)))
}

/// A line for each class with several numbers of ranks, and the ideal line.
fn drawn<'a>(lines: BTreeMap<(String, usize), Line<'a>>, what: &str) -> Plot<'a> {
    let y = match what {
        SPEED_UP => Scale::new("speed-up over the fewest ranks", true),
        TIME if lines
            .values()
            .flat_map(BTreeMap::values)
            .any(|step| step.run.solved().is_some()) =>
        {
            Scale::new("milliseconds per iteration", true).lower()
        }
        TIME => Scale::new("milliseconds", true).lower(),
        _ => Scale::new("efficiency relative to the fewest ranks", false),
    };
    let mut plot = Plot::plane(Scale::new("ranks", true), y);
    plot.form = Form::Lines;
    let mut least: Option<(f64, String)> = None;
    for ((name, _), line) in lines.into_iter().filter(|(_, line)| line.len() > 1) {
        let Some(base) = line.values().next().copied() else { continue };
        for step in line.values() {
            let efficiency = step.rate() / base.rate();
            let value = match what {
                SPEED_UP => base.seconds / step.seconds * (step.entries / base.entries),
                TIME => step.seconds * 1e3,
                _ => efficiency,
            };
            let mut point = Point::of(&step.run, step.ranks, value);
            point.text = format!(
                "Efficiency {} % relative to {} rank{}.",
                significant(efficiency * 100.0),
                base.ranks,
                if base.ranks > 1.0 { "s" } else { "" }
            );
            if least.as_ref().is_none_or(|(found, _)| efficiency < *found) {
                least = Some((efficiency, format!("{name} on {} ranks", step.ranks)));
            }
            plot.add(0, &name, Some(step.run.bundle), point);
        }
    }
    if plot.is_empty() {
        return plot;
    }
    plot.tick_x_at_points();
    let ticks = [plot.x.ticks.first(), plot.x.ticks.last()].map(|tick| tick.copied());
    if let [Some(first), Some(last)] = ticks {
        let guide = match what {
            SPEED_UP => Some([[first, 1.0], [last, last / first]]),
            TIME => None,
            _ => Some([[first, 1.0], [last, 1.0]]),
        };
        let name = "ideal".to_owned();
        plot.guides.extend(guide.map(|ends| Guide { ends, name }));
    }
    if let Some((efficiency, name)) = least {
        let percent = significant(efficiency * 100.0);
        plot.note = format!("Lowest efficiency: {name}, {percent} %.");
    }
    plot
}
