//! The same runs in bundles over time, and whether the newest is slower than the others.

use std::collections::HashMap;

use crate::{Bundle, VerdictChange};
use sparsescope_matrix::samples::{Change, Levels, Location, Shift, holm};
use sparsescope_record::{Environment, Run, RunKey, Subject};

/// The measurements of one run on one machine, oldest first.
#[derive(Clone, Debug)]
pub struct Timeline<'a> {
    /// What was measured. The text of a user kernel does not count: it is what changes.
    pub key: RunKey<'a>,
    /// Its subject as described in the first bundle.
    pub subject: Subject<'a>,
    /// The machine as described in the first bundle that has it.
    pub machine: &'a Environment,
    /// Whether times are divided by that of the anchor kernel in the same bundle.
    pub is_relative: bool,
    /// The measurements, at least one.
    pub points: Vec<TimePoint<'a>>,
}

/// A run in one of several bundles.
#[derive(Clone, Copy, Debug)]
pub struct TimePoint<'a> {
    /// The number of its bundle.
    pub bundle: usize,
    /// The run.
    pub run: &'a Run,
    /// Its time, or the ratio of its time and that of the anchor kernel.
    pub location: Location,
}

/// When a change counts.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Smallest change that counts, as a fraction: 0.02 for 2 %.
    pub min_effect: f64,
    /// The share of checks that may have an alarm, over all their runs, although nothing changed.
    pub false_alarms: f64,
}

/// A run of the newest bundle against earlier ones on the same machine.
#[derive(Clone, Debug)]
pub struct JudgedRun<'t, 'a> {
    /// Its measurements.
    pub timeline: &'t Timeline<'a>,
    /// The number of earlier measurements that it is compared with: those since the last change.
    pub earlier: usize,
    /// How it differs from them.
    pub shift: Shift,
    /// What that shows.
    pub change: Change,
}

impl<'a> Timeline<'a> {
    /// The timelines of all runs with times that rank, in the order of their first run. `bundles` are in the
    /// order of time. Runs are divided by the run of the kernel `anchor` with the same subject, device,
    /// operation, number of vectors, variant and state of the caches, if their bundle has one.
    pub fn all(bundles: &'a [Bundle], anchor: Option<&str>) -> Vec<Self> {
        let mut machines: Vec<&Environment> = Vec::new();
        let mut places: HashMap<(RunKey<'a>, usize, bool), usize> = HashMap::new();
        let mut timelines: Vec<Self> = Vec::new();
        for (number, bundle) in bundles.iter().enumerate() {
            let subjects = bundle.subjects_by_id();
            let anchors = anchors(bundle, anchor);
            for run in bundle.runs.iter().filter(|run| run.ranks()) {
                let (Some(&subject), Some(machine), Some(own)) = (
                    subjects.get(run.matrix.as_str()),
                    bundle.environment(&run.environment),
                    Location::of(&run.samples),
                ) else {
                    continue;
                };
                let is_same = |known: &&Environment| {
                    known.is_same_kind(machine, &run.device) || *known == machine
                };
                let machine_place = machines.iter().position(is_same).unwrap_or(machines.len());
                if machine_place == machines.len() {
                    machines.push(machine);
                }
                let machine = machines.get(machine_place).copied().unwrap_or(machine);
                let of_anchor = anchors.get(&surroundings(run));
                let of_anchor = of_anchor.filter(|_| anchor != Some(run.kernel.as_str()));
                let location = of_anchor.map_or(own, |anchor| own.over(anchor));
                let (key, is_relative) = (tracked_key(run, subject), of_anchor.is_some());
                let point = TimePoint { bundle: number, run, location };
                let place = places.entry((key, machine_place, is_relative));
                let place = *place.or_insert(timelines.len());
                match timelines.get_mut(place) {
                    // A bundle may repeat a run: the first counts.
                    Some(timeline) if timeline.newest() == Some(number) => {}
                    Some(timeline) => timeline.points.push(point),
                    None => {
                        let points = vec![point];
                        timelines.push(Self { key, subject, machine, is_relative, points });
                    }
                }
            }
        }
        timelines
    }

    /// The number of the newest bundle that has it.
    pub fn newest(&self) -> Option<usize> {
        self.points.last().map(|point| point.bundle)
    }

    /// The measurements at which it changed.
    pub fn changes(&self, levels: &mut Levels) -> Vec<usize> {
        let logs: Vec<f64> = self.points.iter().map(|point| point.location.log).collect();
        levels.changes(&logs)
    }

    /// How its newest measurement differs from those since the last change, and how many these are.
    fn shift(&self, levels: &mut Levels) -> Option<(Shift, usize)> {
        let (new, earlier) = self.points.split_last()?;
        let earlier: Vec<Location> = earlier.iter().map(|point| point.location).collect();
        Shift::since_last_change(&earlier, &new.location, levels)
    }
}

/// Judges the runs of bundle number `newest`, except those of the anchor kernel; runs without earlier
/// measurements are left out.
pub fn judge<'t, 'a>(
    timelines: &'t [Timeline<'a>],
    newest: usize,
    anchor: Option<&str>,
    rules: Rules,
) -> Vec<JudgedRun<'t, 'a>> {
    let mut levels = Levels::default();
    let in_newest = timelines.iter().filter(|timeline| timeline.newest() == Some(newest));
    let mut judged: Vec<JudgedRun<'t, 'a>> = in_newest
        .filter(|timeline| anchor != Some(timeline.key.kernel))
        .filter_map(|timeline| {
            let (shift, earlier) = timeline.shift(&mut levels)?;
            Some(JudgedRun { timeline, earlier, shift, change: Change::Unclear })
        })
        .collect();
    let of_all = |probability: fn(&Shift) -> f64| -> Vec<bool> {
        let all: Vec<f64> = judged.iter().map(|run| probability(&run.shift)).collect();
        holm(&all, rules.false_alarms)
    };
    let (slower, faster) = (of_all(|shift| shift.slower), of_all(|shift| shift.faster));
    for (run, (slower, faster)) in judged.iter_mut().zip(slower.into_iter().zip(faster)) {
        let least = 1.0 + rules.min_effect;
        if slower && run.shift.ratio >= least {
            run.change = Change::Slower;
        } else if faster && run.shift.ratio <= 1.0 / least {
            run.change = Change::Faster;
        }
    }
    judged
}

/// Runs of `new` whose check result is worse than the newest earlier one ([`VerdictChange::is_regression`]).
pub fn wrong_now<'a>(earlier: &'a [Bundle], new: &'a Bundle) -> Vec<VerdictChange<'a>> {
    let mut last: HashMap<RunKey<'a>, &'a Run> = HashMap::new();
    for bundle in earlier {
        last.extend(keyed(bundle).map(|(key, _, run)| (key, run)));
    }
    let changes = keyed(new).filter_map(|(key, subject, after)| {
        let before = *last.get(&key)?;
        Some(VerdictChange { before, after, key, subject })
    });
    changes.filter(VerdictChange::is_regression).collect()
}

fn keyed(bundle: &Bundle) -> impl Iterator<Item = (RunKey<'_>, Subject<'_>, &Run)> {
    let subjects = bundle.subjects_by_id();
    bundle.runs.iter().filter_map(move |run| {
        let subject = *subjects.get(run.matrix.as_str())?;
        Some((tracked_key(run, subject), subject, run))
    })
}

fn tracked_key<'a>(run: &'a Run, subject: Subject<'a>) -> RunKey<'a> {
    RunKey { text: None, ..run.key(subject) }
}

/// What a run shares with the run of the anchor kernel that it is divided by.
type Surroundings<'a> = ([&'a str; 4], Option<u32>, String, bool);

fn surroundings(run: &Run) -> Surroundings<'_> {
    let names = [&*run.matrix, &*run.environment, &*run.device, &*run.operation];
    (names, run.vectors(), run.variant(), run.hot)
}

/// The fastest run of the anchor kernel in each surroundings.
fn anchors<'a>(bundle: &'a Bundle, anchor: Option<&str>) -> HashMap<Surroundings<'a>, Location> {
    let mut fastest: HashMap<Surroundings<'a>, Location> = HashMap::new();
    let runs = bundle.runs.iter().filter(|run| anchor == Some(run.kernel.as_str()) && run.ranks());
    for run in runs {
        let Some(location) = Location::of(&run.samples) else { continue };
        let known = fastest.entry(surroundings(run)).or_insert(location);
        if location.log < known.log {
            *known = location;
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sparsescope_record::Verdict;

    const RULES: Rules = Rules { min_effect: 0.02, false_alarms: 0.05 };

    /// The sample bundle in which `cpu/csr/serial` and `cpu/csr/nnz` take these times, with samples that
    /// differ by a few percent; `k` is the number of the bundle.
    fn bundle(k: usize, serial: f64, nnz: f64) -> Bundle {
        let mut bundle = sample::bundle();
        for (run, time) in bundle.runs.iter_mut().zip([serial, nnz]) {
            let level = time * (1.0 + 0.004 * (k * 7 % 5) as f64);
            let noise = |s: usize| 1.0 + 0.01 * ((s * 7 + k) % 10) as f64;
            run.samples = (0..20).map(|s| level * noise(s)).collect();
        }
        bundle
    }

    fn judged<'a>(timelines: &[Timeline<'a>], newest: usize) -> Vec<(&'a str, Change, usize)> {
        let runs = judge(timelines, newest, None, RULES);
        runs.iter().map(|run| (run.timeline.key.kernel, run.change, run.earlier)).collect()
    }

    #[test]
    fn a_run_on_one_machine_is_one_timeline() {
        let mut bundles: Vec<Bundle> = (0..3).map(|k| bundle(k, 1e-3, 2e-3)).collect();
        bundles[2].environments[0].cpu.model = "another".into();
        let timelines = Timeline::all(&bundles, None);
        let serial: Vec<&Timeline<'_>> =
            timelines.iter().filter(|timeline| timeline.key.kernel == "cpu/csr/serial").collect();
        assert_eq!(serial.iter().map(|of| of.points.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(serial[1].machine.cpu.model, "another");
        // An update of the system is a change of the same machine, also for a run that begins after it.
        let mut bundles = [bundle(0, 1e-3, 2e-3), bundle(1, 1e-3, 2e-3)];
        bundles[0].runs.retain(|run| run.kernel != "cpu/csr/nnz");
        bundles[1].environments[0].os = "Linux 6.12".into();
        let timelines = Timeline::all(&bundles, None);
        let of = |kernel: &str| timelines.iter().find(|of| of.key.kernel == kernel).unwrap();
        let [serial, nnz] = ["cpu/csr/serial", "cpu/csr/nnz"].map(of);
        assert_eq!([serial.points.len(), nnz.points.len()], [2, 1]);
        assert!(std::ptr::eq(serial.machine, nnz.machine));
        // The other text of a user kernel is a change of the same run.
        let users = ["first", "second"].map(sample::with_user_kernel);
        let timelines = Timeline::all(&users, None);
        let own = timelines.iter().find(|timeline| timeline.key.kernel == "user/my/sum").unwrap();
        assert_eq!(own.points.len(), 2);
        // A run that a bundle repeats counts once, one that does not rank not at all.
        let mut bundle = bundle(0, 1e-3, 2e-3);
        bundle.runs.push(bundle.runs[0].clone());
        bundle.runs[1].check.limited_by_rounding = true;
        let timelines = Timeline::all(std::slice::from_ref(&bundle), None);
        assert!(timelines.iter().all(|of| of.points.len() == 1 && of.key.kernel != "cpu/csr/nnz"));
    }

    #[test]
    fn a_slowdown_is_found_if_it_is_large_enough_to_count() {
        let of = |serial: f64, rules: Rules| {
            let mut bundles: Vec<Bundle> = (0..8).map(|k| bundle(k, 1e-3, 2e-3)).collect();
            bundles.push(bundle(8, serial, 2e-3));
            let timelines = Timeline::all(&bundles, None);
            let runs = judge(&timelines, 8, None, rules);
            assert_eq!(runs[1].change, Change::Unclear);
            runs[0].change
        };
        assert_eq!(of(1.2e-3, RULES), Change::Slower);
        assert_eq!(of(0.8e-3, RULES), Change::Faster);
        assert_eq!(of(1e-3, RULES), Change::Unclear);
        assert_eq!(of(1.2e-3, Rules { min_effect: 0.3, ..RULES }), Change::Unclear);
        assert_eq!(of(1.2e-3, Rules { false_alarms: 1e-12, ..RULES }), Change::Unclear);
    }

    #[test]
    fn a_run_is_compared_with_those_since_the_last_change() {
        let time = |k: usize| if k < 12 { 1e-3 } else { 1.5e-3 };
        let mut bundles: Vec<Bundle> = (0..20).map(|k| bundle(k, time(k), 2e-3)).collect();
        bundles.push(bundle(20, 1.5e-3, 2e-3));
        let timelines = Timeline::all(&bundles, None);
        let found = judged(&timelines, 20);
        assert_eq!(found[0], ("cpu/csr/serial", Change::Unclear, 8));
        assert_eq!(found[1], ("cpu/csr/nnz", Change::Unclear, 20));
        assert_eq!(timelines[0].changes(&mut Levels::default()), [12]);
        // Nothing is judged of a bundle that is not the newest.
        assert!(judge(&timelines, 19, None, RULES).is_empty());
    }

    #[test]
    fn times_are_divided_by_those_of_the_anchor_in_the_same_bundle() {
        // The last machine is twice as slow as before, and nnz another fifth slower.
        let mut bundles: Vec<Bundle> = (0..8).map(|k| bundle(k, 1e-3, 2e-3)).collect();
        bundles.push(bundle(8, 2e-3, 4.8e-3));
        let anchor = Some("cpu/csr/serial");
        let timelines = Timeline::all(&bundles, anchor);
        assert!(timelines.iter().any(|of| of.key.kernel == "cpu/csr/nnz" && of.is_relative));
        let found = judge(&timelines, 8, anchor, RULES);
        let serial = found.iter().find(|run| run.timeline.key.kernel == "cpu/csr/serial");
        assert!(serial.is_none(), "the anchor is not judged");
        let nnz = found.iter().find(|run| run.timeline.key.kernel == "cpu/csr/nnz").unwrap();
        assert!((nnz.shift.ratio - 1.2).abs() < 1e-9, "{}", nnz.shift.ratio);
        assert_eq!(nnz.change, Change::Slower);
        // Neither another precision nor another product is an anchor.
        for (name, value) in [("op", "t"), ("vectors", "8")] {
            let mut bundles = bundles.clone();
            bundles.iter_mut().for_each(|bundle| {
                bundle.runs[0].params.insert(name.into(), value.into());
            });
            assert!(Timeline::all(&bundles, anchor).iter().all(|of| !of.is_relative), "{name}");
        }
    }

    #[test]
    fn a_result_that_was_right_and_is_not_is_named() {
        let (old, mut new) =
            ([bundle(0, 1e-3, 2e-3), bundle(1, 1e-3, 2e-3)], bundle(2, 1e-3, 2e-3));
        assert!(wrong_now(&old, &new).is_empty());
        new.runs[0].check.verdict = Verdict::Fail;
        let found = wrong_now(&old, &new);
        assert_eq!(found.iter().map(|of| of.key.kernel).collect::<Vec<_>>(), ["cpu/csr/serial"]);
        let mut wrong_before = old.clone();
        wrong_before[1].runs[0].check.verdict = Verdict::Fail;
        assert!(wrong_now(&wrong_before, &new).is_empty(), "it was wrong in the last bundle");
    }
}
