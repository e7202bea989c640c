//! The charts of batches of dense systems against the number of unknowns: the time per system, the
//! speed-up over the reference (a figure of the thesis), and the multiprocessor resources that GPU
//! kernels use, by which the thesis explains that figure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sparsescope_core::kernel::reference;
use sparsescope_core::record::{LaunchCost, Operation};

use super::best::best;
use super::chart::{Chart, Group, Operations};
use super::plot::{Data, Form, Plot, Point, Scale};
use crate::model::{RunOf, batch_extent, count};

const BATCHES: Operations = Operations::Only(&[Operation::BatchedDense]);

/// In display order within their groups.
pub(super) const CHARTS: [Chart; 4] = [
    Chart {
        id: "time-unknowns",
        group: Group::Compare,
        name: "Time against unknowns",
        sentence: "Time per dense system of each kernel, at its best setting, against the number of unknowns.",
        nothing: "No timed run on a batch of dense systems passes the filters.",
        data: times,
        of: Some(sizes),
        operations: BATCHES,
    },
    Chart {
        id: "speedup-unknowns",
        group: Group::Compare,
        name: "Speed-up against unknowns",
        sentence: "Speed-up of each kernel over serial elimination, at its best setting, against the number of unknowns.",
        nothing: "No matching run has a cpu/dense/gauss time on the same batch to compare with.",
        data: gains,
        of: Some(sizes),
        operations: BATCHES,
    },
    Chart {
        id: "occupancy-unknowns",
        group: Group::Limits,
        name: "Occupancy against unknowns",
        sentence: "Occupancy of each GPU kernel, at its best setting, against the number of unknowns: the more shared memory and registers a block uses, the fewer blocks fit.",
        nothing: NO_LAUNCHES,
        data: occupancies,
        of: Some(sizes),
        operations: BATCHES,
    },
    Chart {
        id: "shared-unknowns",
        group: Group::Limits,
        name: "Shared memory against unknowns",
        sentence: "Shared memory per block of each GPU kernel, at its best setting, against the number of unknowns.",
        nothing: NO_LAUNCHES,
        data: shared,
        of: Some(sizes),
        operations: BATCHES,
    },
];

const NO_LAUNCHES: &str =
    "No matching run records launch resources; Sparsescope's own GPU kernels do.";

/// Batches with any number of systems.
const ANY: &str = "batches of any size";

fn of_so_many(systems: u64) -> String {
    format!("{} systems", count(systems))
}

/// All batches, and those with a given number of systems, for each such number that was measured
/// with several numbers of unknowns.
fn sizes(data: &Data<'_>) -> Vec<String> {
    let mut unknowns: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for [systems, n] in data.runs.iter().filter_map(|run| batch_extent(run.subject)) {
        unknowns.entry(systems).or_default().push(n);
    }
    let differ = |all: &[u64]| all.iter().any(|n| Some(n) != all.first());
    let sizes = unknowns.iter().filter(|(_, all)| differ(all)).map(|(systems, _)| *systems);
    std::iter::once(ANY.to_owned()).chain(sizes.map(of_so_many)).collect()
}

/// The fastest run of each kernel for each number of unknowns, with a value of the run; on the
/// batch with the most systems if there are several.
fn against<'a>(
    data: &Data<'a>,
    y: impl Into<Cow<'static, str>>,
    number: impl Fn(&RunOf<'a>, u64) -> Option<f64>,
) -> Plot<'a> {
    let chosen = data.chosen(&sizes(data));
    let mut plot = Plot::plane(
        Scale::new("unknowns per system", data.state.log),
        Scale::new(y, data.state.log),
    );
    plot.form = Form::Lines;
    let class = |run: &RunOf<'a>| {
        let [systems, _] = batch_extent(run.subject)?;
        let is_shown = chosen == ANY || chosen == of_so_many(systems);
        // Kernels with other right-hand sides are separate series.
        let rhs = run.run.params.get("rhs").filter(|rhs| *rhs != "last-unit");
        let name = run.run.kernel_and_precision();
        let name = rhs.map_or_else(|| name.clone(), |rhs| format!("{name} (b {rhs})"));
        is_shown.then_some((0, name))
    };
    let mut found: BTreeMap<(String, usize, u64), (u64, f64, RunOf<'a>)> = BTreeMap::new();
    for ((_, _, bundle, (_, name)), run) in best(&data.runs, &class) {
        let Some([systems, n]) = batch_extent(run.subject) else { continue };
        let Some(value) = number(&run, systems) else { continue };
        let place = found.entry((name, bundle, n)).or_insert((systems, value, run));
        if place.0 < systems {
            *place = (systems, value, run);
        }
    }
    for ((name, _, n), (systems, value, run)) in found {
        let mut point = Point::of(&run, n as f64, value);
        let taken = launch(&run).map(taken).unwrap_or_default();
        point.text = format!("{} in the batch.{taken}", of_so_many(systems));
        plot.add(0, &name, Some(run.bundle), point);
    }
    plot
}

fn times<'a>(data: &Data<'a>) -> Plot<'a> {
    against(data, "time per system, µs (lower is better)", |run, systems| {
        Some(run.figures()?.median_s / systems.max(1) as f64 * 1e6)
    })
}

fn gains<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = format!("speed-up over {}", reference(Operation::BatchedDense).id);
    against(data, title, |run, _| run.figures()?.speedup)
}

fn occupancies<'a>(data: &Data<'a>) -> Plot<'a> {
    against(data, "occupancy, fraction of a multiprocessor's threads", |run, _| {
        Some(launch(run)?.occupancy)
    })
}

fn shared<'a>(data: &Data<'a>) -> Plot<'a> {
    against(data, "shared memory per block, bytes", |run, _| Some(launch(run)?.shared_bytes as f64))
}

/// The launch of a run on systems of one size.
fn launch<'a>(run: &RunOf<'a>) -> Option<&'a LaunchCost> {
    match run.run.costs.launches.as_slice() {
        [launch] => Some(launch),
        _ => None,
    }
}

/// Describes the multiprocessor resources of a launch.
fn taken(launch: &LaunchCost) -> String {
    let LaunchCost { registers, shared_bytes, blocks_per_sm, .. } = launch;
    format!(
        " {}: {registers} registers per thread, {} bytes of shared memory per block, {} blocks per multiprocessor.",
        launch.function,
        count(*shared_bytes),
        blocks_per_sm
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sparsescope_core::bundle::{Bundle, SubjectFolder};
    use sparsescope_core::record::{
        Figures, LaunchCost, Operation, Source, SubjectRecord, matrix_id,
    };

    use crate::model::Model;
    use crate::model::skylines::{bundle, model, run};
    use crate::state::ViewState;
    use crate::views::charts::plot::Data;
    use crate::views::charts::tests::drawn;

    const GAUSS: &str = "cpu/dense/gauss";
    const OURS: &str = "cpu/dense/cholesky";

    /// Adds a batch of `systems` systems of n unknowns; returns its id.
    fn add_batch(bundle: &mut Bundle, [systems, n]: [u64; 2]) -> String {
        let name = format!("spd-{n}-{systems}");
        let sha256 = format!("{:064x}", bundle.subjects.len() + 1);
        let sha256: String = sha256.chars().rev().collect();
        let id = matrix_id(&name, &sha256);
        let record = SubjectRecord {
            id: id.clone(),
            name,
            kind: "batch".into(),
            source: Source::Generated,
            generator: None,
            sha256,
            sizes: BTreeMap::from([("systems".into(), systems), ("unknowns".into(), n)]),
            read_seconds: None,
        };
        bundle.subjects.push(SubjectFolder {
            folder: "dense".into(),
            record,
            files: BTreeMap::new(),
        });
        id
    }

    fn state(rest: &str) -> ViewState {
        ViewState::from_fragment(&format!("v1;operation=batched-dense;{rest}")).unwrap()
    }

    /// Elimination takes n µs per system, ours n/4 with one thread and n/8 with two; n = 8 has two
    /// batches, the smaller one slower.
    fn measured() -> Bundle {
        let mut bundle = bundle();
        for (n, systems, times) in [(28, 1000, 1.0), (8, 1000, 1.0), (8, 50, 7.0)] {
            let batch = add_batch(&mut bundle, [systems, n]);
            let all_s = n as f64 * 1e-6 * systems as f64 * times;
            for (kernel, threads, share) in [(GAUSS, 1, 1.0), (OURS, 1, 0.25), (OURS, 2, 0.125)] {
                let mut run = run(&batch, kernel, (threads, None), all_s * share, 0);
                run.operation = "batched-dense".into();
                run.work.as_mut().unwrap().flops = 1_000_000;
                run.figures = Figures::from_samples(&run.samples, 1e6, 0);
                run.figures.as_mut().unwrap().set_serial(all_s, Some(threads));
                let work = run.work.unwrap();
                run.metric = Some(Operation::BatchedDense.metric(&work, all_s * share));
                bundle.runs.push(run);
            }
        }
        bundle
    }

    fn assert_drawn(model: &Model, rest: &str, expected: &[(&str, &str, f64)]) {
        let found = drawn(model, &state(rest));
        let same = found.iter().zip(expected).all(|(found, (series, at, value))| {
            (found.0.as_str(), found.1.as_str()) == (*series, *at)
                && (found.2 / value - 1.0).abs() < 1e-9
        });
        assert!(same && found.len() == expected.len(), "{rest}: {found:?}\nexpected {expected:?}");
    }

    #[test]
    fn times_are_those_of_a_system_in_the_largest_batch_of_its_size() {
        let model = model(&measured());
        let of = |gauss: [f64; 2]| {
            [(OURS, "8", 1.0), (OURS, "28", 3.5), (GAUSS, "8", gauss[0]), (GAUSS, "28", gauss[1])]
        };
        assert_drawn(&model, "chart=time-unknowns", &of([8.0, 28.0]));
        let gains = [(OURS, "8", 8.0), (OURS, "28", 8.0), (GAUSS, "8", 1.0), (GAUSS, "28", 1.0)];
        assert_drawn(&model, "chart=speedup-unknowns", &gains);
    }

    #[test]
    fn what_a_launch_takes_is_shown_of_kernels_that_have_one() {
        let mut bundle = measured();
        for run in bundle.runs.iter_mut().filter(|run| run.kernel == OURS && run.threads == 2) {
            let n = run.work.unwrap().flops;
            run.costs.launches = vec![LaunchCost {
                function: "dense_cholesky_28".into(),
                registers: 116,
                shared_bytes: 4 * n,
                local_bytes: 0,
                blocks_per_sm: 8,
                occupancy: 0.25,
            }];
        }
        let model = model(&bundle);
        let both = |value: f64| [(OURS, "8", value), (OURS, "28", value)];
        assert_drawn(&model, "chart=occupancy-unknowns", &both(0.25));
        assert_drawn(&model, "chart=shared-unknowns", &both(4e6));
    }

    #[test]
    fn batches_of_as_many_systems_are_offered_where_they_differ_in_unknowns() {
        let model = model(&measured());
        let shown = state("chart=time-unknowns");
        let offered = super::sizes(&Data::of(&model, &shown));
        assert_eq!(offered, [super::ANY, "1 k systems"]);
        // The batches of 50 systems do not differ in unknowns.
        assert_drawn(
            &model,
            "chart=time-unknowns;of=1 k systems",
            &[(OURS, "8", 1.0), (OURS, "28", 3.5), (GAUSS, "8", 8.0), (GAUSS, "28", 28.0)],
        );
    }
}
