//! The effect of preconditioner parameters: solves that differ in a single one.

use std::collections::BTreeMap;

use sparsescope_core::record::Subject;

use crate::model::{RunOf, seconds, significant, subject_key, subject_size};
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale, kernel};
use crate::views::view::subject;

/// Parameters by their name in files and in charts.
const PARAMETERS: [(&str, &str); 5] = [
    ("power", "power k"),
    ("prefilter", "prefilter δ"),
    ("postfilter", "postfilter τ"),
    ("merge", "merging α"),
    ("steps", "adaptive steps"),
];
const MERGE: &str = "merge";

/// A measured quantity of a solve.
struct Measure {
    name: &'static str,
    /// The unit, for the axis title.
    unit: &'static str,
    of: fn(&RunOf<'_>) -> Option<f64>,
    words: fn(f64) -> String,
}

const MEASURES: [Measure; 5] = [
    Measure { name: "nnz(G) / nnz(A)", unit: "", of: |run| run.density(), words: significant },
    Measure {
        name: "iterations",
        unit: "",
        of: |run| Some(run.solved()?.iterations as f64),
        words: |iterations| iterations.to_string(),
    },
    Measure { name: "setup", unit: ", seconds", of: |run| run.set_up_s(), words: seconds },
    Measure {
        name: "setup and solve",
        unit: ", seconds",
        of: |run| run.whole_solve_s(),
        words: seconds,
    },
    SYSTEMS,
];

const SYSTEMS: Measure = Measure {
    name: "dense systems",
    unit: "",
    of: |run| Some(run.solved()?.sizes?.systems as f64),
    words: |systems| systems.to_string(),
};

/// Number of measures that are drawn together, as ratios.
const TOGETHER: usize = 4;
const ALL: &str = "all measures";

/// Solves that differ in a single parameter, by index of its value: the best over threads and
/// formats.
type Family<'a> = BTreeMap<usize, RunOf<'a>>;

/// Values of a parameter in ascending order, words first.
fn values(data: &Data<'_>, parameter: &str) -> Vec<String> {
    let mut values: Vec<&str> = data.runs.iter().filter_map(|run| run.param(parameter)).collect();
    let number = |value: &str| value.parse::<f64>().unwrap_or(f64::NEG_INFINITY);
    sparsescope_core::order::sort_by(&mut values, |a, b| {
        number(a).total_cmp(&number(b)).then(a.cmp(b))
    });
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// For each subject and bundle the most informative family: with the most values, then the fewest
/// other non-default parameters, then the shortest time to solution.
fn families<'a>(data: &Data<'a>, parameter: &str, values: &[String]) -> Vec<Family<'a>> {
    // Parameters that may differ: they do not make another preconditioner, or follow from this one.
    let follows = |name: &str| {
        name == parameter
            || ["format_a", "format_g", "hyb_width", "values"].contains(&name)
            || (name == "merge_block" && parameter == MERGE)
    };
    let mut all: BTreeMap<_, Family<'a>> = BTreeMap::new();
    for run in data.runs.iter().filter(|run| run.solved().is_some()) {
        let value = run.param(parameter);
        let Some(place) = values.iter().position(|known| Some(known.as_str()) == value) else {
            continue;
        };
        let others = run.run.params.iter().filter(|(name, _)| !follows(name));
        let others: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
        let key = (run.key(), run.bundle.series, kernel(run), others);
        let found = all.entry(key).or_default().entry(place).or_insert(*run);
        if run.solves_before(found) {
            *found = *run;
        }
    }
    all.retain(|_, runs| runs.len() > 1);
    let telling = |runs: &Family<'a>| {
        let names = runs.values().next().into_iter().flat_map(|run| {
            let names = run.run.params.keys().filter(|name| !follows(name));
            names.filter(|name| run.unusual(name).is_some())
        });
        let times = runs.values().filter_map(RunOf::whole_solve_s);
        (runs.len(), names.count(), times.fold(f64::INFINITY, f64::min))
    };
    let mut best: BTreeMap<_, Family<'a>> = BTreeMap::new();
    for ((subject, bundle, ..), runs) in all {
        let found = best.entry((subject, bundle)).or_insert_with(|| runs.clone());
        let (own, other) = (telling(&runs), telling(found));
        let order = own.0.cmp(&other.0).reverse().then(own.1.cmp(&other.1));
        if order.then(own.2.total_cmp(&other.2)).is_lt() {
            *found = runs;
        }
    }
    best.into_values().collect()
}

fn words(parameter: &str, measure: &str) -> String {
    format!("{parameter}: {measure}")
}

/// Each parameter in which solves differ, combined with each measure.
pub(super) fn choices(data: &Data<'_>) -> Vec<String> {
    let runs = data.model.runs(&data.state.filter);
    let data = Data { runs, ..*data };
    let mut choices = Vec::new();
    for (parameter, name) in PARAMETERS {
        let values = values(&data, parameter);
        if values.len() > 1 && !families(&data, parameter, &values).is_empty() {
            choices.push(words(name, ALL));
            let measures = MEASURES.iter();
            choices.extend(measures.map(|measure| words(name, measure.name)));
        }
    }
    choices
}

/// An empty plane with the values of the parameter along x.
fn axes<'a>(parameter: &'static str, values: Vec<String>, y: Scale) -> Plot<'a> {
    let x = Scale { names: values, ..Scale::new(parameter, false) };
    let mut plot = Plot::plane(x, y);
    plot.form = Form::Lines;
    plot
}

/// All measures of one subject as ratios, or one measure of everything.
pub(super) fn by_parameter<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&choices(data));
    for (parameter, name) in PARAMETERS {
        if chosen == words(name, ALL) {
            return ratios(data, parameter, name);
        }
        if let Some(measure) = MEASURES.iter().find(|one| chosen == words(name, one.name)) {
            return of_measure(data, parameter, name, measure);
        }
    }
    axes(PARAMETERS[0].1, Vec::new(), Scale::default())
}

pub(super) fn groups<'a>(data: &Data<'a>) -> Plot<'a> {
    of_measure(data, MERGE, "merging α", &SYSTEMS)
}

fn of_measure<'a>(
    data: &Data<'a>,
    parameter: &str,
    name: &'static str,
    measure: &Measure,
) -> Plot<'a> {
    let values = values(data, parameter);
    let families = families(data, parameter, &values);
    let title = format!("{}{}", measure.name, measure.unit);
    let mut plot = axes(name, values, Scale::new(title, data.state.log));
    for runs in families {
        for (place, run) in runs {
            let Some(value) = (measure.of)(&run) else { continue };
            let mut point = Point::of(&run, place as f64, value);
            point.text = told(&run);
            plot.add(0, &run.name(), Some(run.bundle), point);
        }
    }
    plot.tick_x_at_points();
    plot
}

/// Every measure of a run.
fn told(run: &RunOf<'_>) -> String {
    let all = MEASURES.iter().filter_map(|measure| {
        Some(format!("{} {}", measure.name, (measure.words)((measure.of)(run)?)))
    });
    format!("{}: {}.", run.method(), all.collect::<Vec<_>>().join(", "))
}

/// The selected subject if it has a family, else the largest one that has.
fn about<'a>(data: &Data<'a>, families: &[Family<'a>]) -> Option<Subject<'a>> {
    let selected = subject(data.model, data.state).map(subject_key);
    let subjects = families.iter().filter_map(|runs| Some(runs.values().next()?.subject));
    subjects.max_by_key(|subject| (Some(subject_key(*subject)) == selected, subject_size(*subject)))
}

fn ratios<'a>(data: &Data<'a>, parameter: &str, name: &'static str) -> Plot<'a> {
    let values = values(data, parameter);
    let mut families = families(data, parameter, &values);
    let about = about(data, &families);
    let wanted = about.map(subject_key);
    families.retain(|runs| runs.values().next().map(RunOf::key) == wanted);
    let title = format!("relative to the first {name}");
    let mut plot = axes(name, values, Scale::new(title, data.state.log));
    plot.subject = about;
    for runs in families {
        let Some(first) = runs.values().next() else { continue };
        plot.note += &format!("First with {}: {} ", first.run.kernel, told(first));
        for (order, measure) in MEASURES.iter().take(TOGETHER).enumerate() {
            let Some(base) = (measure.of)(first).filter(|base| *base > 0.0) else { continue };
            for (place, run) in &runs {
                let Some(value) = (measure.of)(run) else { continue };
                let mut point = Point::of(run, *place as f64, value / base);
                point.text = told(run);
                plot.add(order, measure.name, Some(run.bundle), point);
            }
        }
    }
    plot.tick_x_at_points();
    plot
}
