//! What the parameters of a preconditioner bring: solves that differ in one of them alone.

use std::collections::BTreeMap;

use crate::model::{RunOf, seconds, significant, subject_key};
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale, kernel};
use crate::views::view::subject;

/// Parameters by their name in files and in charts.
const PARAMETERS: [(&str, &str); 5] = [
    ("power", "power k"),
    ("prefilter", "prefilter δ"),
    ("postfilter", "postfilter τ"),
    ("merge", "merging α"),
    ("steps", "steps of an adaptive pattern"),
];
const MERGE: &str = "merge";

/// What is measured of a solve.
struct Measure {
    name: &'static str,
    of: fn(&RunOf<'_>) -> Option<f64>,
    words: fn(f64) -> String,
}

const MEASURES: [Measure; 5] = [
    Measure { name: "entries of G an entry of A", of: |run| run.density(), words: significant },
    Measure {
        name: "iterations",
        of: |run| Some(run.solved()?.iterations as f64),
        words: significant,
    },
    Measure { name: "seconds of set-up", of: |run| run.set_up_s(), words: seconds },
    Measure {
        name: "seconds in all",
        of: |run| Some(run.set_up_s()? + run.solve_s()?),
        words: seconds,
    },
    SYSTEMS,
];

const SYSTEMS: Measure = Measure {
    name: "dense systems",
    of: |run| Some(run.solved()?.sizes?.systems as f64),
    words: |systems| systems.to_string(),
};

/// Measures that are drawn together, as ratios.
const TOGETHER: usize = 4;
const ALL: &str = "all measures";

/// Solves by value of one parameter, which they differ in alone: the best over threads and formats.
struct Family<'a> {
    /// What they have in common beside subject and bundle.
    name: String,
    runs: BTreeMap<usize, RunOf<'a>>,
}

/// Values of a parameter in ascending order; words come first.
fn values(data: &Data<'_>, parameter: &str) -> Vec<String> {
    let mut values: Vec<&str> = data.runs.iter().filter_map(|run| run.param(parameter)).collect();
    let number = |value: &str| value.parse::<f64>().unwrap_or(f64::NEG_INFINITY);
    crate::order::sort_by(&mut values, |a, b| number(a).total_cmp(&number(b)).then(a.cmp(b)));
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// The families of several values, by subject and bundle, of each kernel the one with most of them.
fn families<'a>(data: &Data<'a>, parameter: &str, values: &[String]) -> Vec<Family<'a>> {
    // What differs beside the parameter without being another preconditioner, or follows from it.
    let follows = |name: &str| {
        name == parameter
            || ["format_a", "format_g", "hyb_width"].contains(&name)
            || (name == "merge_block" && parameter == MERGE)
    };
    let mut all: BTreeMap<_, BTreeMap<usize, RunOf<'a>>> = BTreeMap::new();
    for run in data.runs.iter().filter(|run| run.solved().is_some()) {
        let value = run.param(parameter);
        let Some(place) = values.iter().position(|known| Some(known.as_str()) == value) else {
            continue;
        };
        let others = run.run.params.iter().filter(|(name, _)| !follows(name));
        let others: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
        let key = (run.key(), run.bundle.series, kernel(run), others);
        let found = all.entry(key).or_default().entry(place).or_insert(*run);
        if run.beats(found) {
            *found = *run;
        }
    }
    all.retain(|_, runs| runs.len() > 1);
    let mut best: BTreeMap<_, BTreeMap<usize, RunOf<'a>>> = BTreeMap::new();
    for ((subject, bundle, kernel, _), runs) in all {
        let found = best.entry((subject, bundle, kernel)).or_insert_with(|| runs.clone());
        if runs.len() > found.len() {
            *found = runs;
        }
    }
    let several = best.keys().any(|(.., kernel)| best.keys().any(|(.., other)| kernel != other));
    let family = |((.., kernel), runs): ((String, usize, String), BTreeMap<usize, RunOf<'a>>)| {
        let of = runs.values().next().map(RunOf::name).unwrap_or_default();
        let name = if several { format!("{of}, {kernel}") } else { of };
        Family { name, runs }
    };
    best.into_iter().map(family).collect()
}

fn words(parameter: &str, measure: &str) -> String {
    format!("{parameter}: {measure}")
}

/// Each parameter that solves differ in with each measure.
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

/// What the first family that can be drawn was made with beside the parameter.
fn axes<'a>(parameter: &'static str, values: Vec<String>, y: Scale) -> Plot<'a> {
    let x = Scale { names: values, ..Scale::new(parameter, false) };
    let mut plot = Plot::plane(x, y);
    plot.form = Form::Lines;
    plot
}

/// All measures of what is selected as ratios, or one measure of everything.
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
    let mut plot = axes(name, values, Scale::new(measure.name, data.state.log));
    for Family { name, runs } in families {
        for (place, run) in runs {
            let Some(value) = (measure.of)(&run) else { continue };
            let mut point = Point::of(&run, place as f64, value);
            point.text = told(&run);
            plot.add(0, &name, Some(run.bundle), point);
        }
    }
    plot.tick_x_at_points();
    plot
}

/// Every measure of a run.
fn told(run: &RunOf<'_>) -> String {
    let all = MEASURES.iter().filter_map(|measure| {
        Some(format!(
            "{} {}",
            (measure.words)((measure.of)(run)?),
            measure.name.trim_start_matches("seconds ")
        ))
    });
    format!("{}: {}.", run.method(), all.collect::<Vec<_>>().join(", "))
}

fn ratios<'a>(data: &Data<'a>, parameter: &str, name: &'static str) -> Plot<'a> {
    let about = subject(data.model, data.state);
    let wanted = about.map(subject_key);
    let values = values(data, parameter);
    let all = families(data, parameter, &values).into_iter();
    let of_selected = |family: &Family<'_>| family.runs.values().next().map(RunOf::key) == wanted;
    let families: Vec<Family<'a>> = all.filter(of_selected).collect();
    let mut plot =
        axes(name, values.clone(), Scale::new("times that at the first value", data.state.log));
    plot.subject = about;
    let several = families.len() > 1;
    for Family { name: family, runs } in families {
        let Some((place, first)) = runs.first_key_value() else { continue };
        let at = values.get(*place).map_or("", String::as_str);
        plot.note += &format!("At {at} — {} ", told(first));
        for (order, measure) in MEASURES.iter().take(TOGETHER).enumerate() {
            let Some(base) = (measure.of)(first).filter(|base| *base > 0.0) else { continue };
            let title = measure.name.trim_start_matches("seconds ");
            let title = if several { format!("{title}, {family}") } else { title.to_owned() };
            for (place, run) in &runs {
                let Some(value) = (measure.of)(run) else { continue };
                let mut point = Point::of(run, *place as f64, value / base);
                point.text = told(run);
                plot.add(order, &title, Some(run.bundle), point);
            }
        }
    }
    plot.tick_x_at_points();
    plot
}
