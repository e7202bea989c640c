//! The numbers of a chart, used by the screen, the files and the tests.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use sparsescope_core::kernel::reference;
use sparsescope_core::record::{Metric, Operation, Subject};

use super::isolated::isolated;
use crate::model::{
    Model, OpenBundle, RunOf, STAND_IN_SUFFIX, metric_title, seconds, significant, small,
    subject_name,
};
use crate::state::{Filter, ViewState};

/// The input of the charts.
pub struct Data<'a> {
    pub model: &'a Model,
    pub state: &'a ViewState,
    /// Runs that rank and pass the filters, of one product unless the chart shows several numbers of
    /// columns of X, with caches as set, and rates in one unit.
    pub runs: Vec<RunOf<'a>>,
}

/// The charts over the number of columns of X, which show all of them whatever is chosen.
const OVER_VECTORS: [&str; 2] = ["rate-vectors", "spmm-spmv"];
/// The title of their x axis.
pub(super) const COLUMNS: &str = "columns of X";

/// A chart's numbers. With rows, y is the row index from the top.
#[derive(Debug)]
pub struct Plot<'a> {
    pub(super) rows: Option<Vec<Row>>,
    /// Row indices by key.
    pub(super) places: HashMap<String, usize>,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// By content and bundle.
    pub(super) series: BTreeMap<(usize, String, usize), Series<'a>>,
    /// Series that are hidden because others are isolated.
    pub(super) hidden: BTreeMap<(usize, String, usize), Series<'a>>,
    /// The subject of the whole chart, if it is a single one.
    pub subject: Option<Subject<'a>>,
    /// Runs of another operation that its numbers are relative to.
    pub(super) rivals: Vec<RunOf<'a>>,
    /// Reference lines.
    pub(super) guides: Vec<Guide>,
    /// A summary of the numbers, in words.
    pub note: String,
    pub(super) form: Form,
    /// All series have a colour, in their order and not best first.
    pub(super) ordered: bool,
    /// What the weights of cells count; empty if there are none.
    pub(super) weights: &'static str,
}

/// How the points of a chart are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Marks; a range is a thin line with a hollow mark at its far end.
    Marks,
    /// Marks joined by lines.
    Lines,
    /// Steps without marks.
    Steps,
    /// Marks; a range is a line with both its ends marked.
    Intervals,
    /// Small marks; a range is a box.
    Boxes,
    /// Lines through the points of each run, with a mark at the last one.
    Curves,
    /// Vertical strokes.
    Strokes,
    /// A range is a bar.
    Bars,
    /// A range is a cell of its row, shaded by its weight relative to the maximum.
    Cells,
}

/// A row of a chart with rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Its label.
    pub name: String,
    /// Its unique key.
    pub key: String,
}

/// An axis: what it measures and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Scale {
    pub(super) title: Cow<'static, str>,
    pub(super) log: bool,
    /// Positions of the ticks, if not at round values.
    pub(super) ticks: Vec<f64>,
    /// Names of the values 0, 1, 2, …, for a categorical axis.
    pub(super) names: Vec<String>,
    /// Word for an infinite value.
    pub(super) never: &'static str,
    /// The axis begins here at the earliest; smaller values are arrows at its beginning.
    pub(super) least: Option<f64>,
    /// The axis ends here, not at the next tick.
    pub(super) most: Option<f64>,
    /// Smaller values are better.
    pub(super) lower: bool,
}

/// Points of one colour and mark.
#[derive(Debug)]
pub(super) struct Series<'a> {
    pub(super) bundle: Option<&'a OpenBundle>,
    pub(super) points: Vec<Point<'a>>,
}

/// One value.
#[derive(Clone, Debug, Default)]
pub(super) struct Point<'a> {
    pub(super) at: [f64; 2],
    /// Start and end along x.
    pub(super) range: Option<[f64; 2]>,
    /// The weight of a cell.
    pub(super) weight: Option<f64>,
    /// The run that it shows, if it is a single one.
    pub(super) run: Option<RunOf<'a>>,
    /// The subject that it shows.
    pub(super) subject: Option<Subject<'a>>,
    /// Text next to it.
    pub(super) label: String,
    /// Description in addition to its numbers.
    pub(super) text: String,
}

/// A line with a name at its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guide {
    pub(super) ends: [[f64; 2]; 2],
    pub(super) name: String,
}

/// Parts of options that older links name by other words.
const RENAMED: [(&str, &str); 9] = [
    ("worst row, in units of its bound", "worst row, error / bound"),
    ("threads a block", "threads per block"),
    ("time a level", "time per level"),
    ("steps of an adaptive pattern", "adaptive steps"),
    ("by size of the input", "by input size"),
    ("the processor's fastest", "the fastest CPU kernel"),
    ("set-up alone", "setup only"),
    ("set-up", "setup"),
    ("s of paper 000", "s (CSR/HLL report)"),
];

impl<'a> Data<'a> {
    /// The data that the state selects.
    pub fn of(model: &'a Model, state: &'a ViewState) -> Self {
        let mut runs = match state.charts.chart.as_str() {
            "roofline" => model.runs(&state.filter),
            chart if OVER_VECTORS.contains(&chart) => {
                model.runs(&Filter { vectors: None, ..state.filter.clone() })
            }
            _ => model.comparable(&state.filter),
        };
        runs.retain(|run| run.ranks() && run.run.hot != state.charts.cold);
        // Runs of an unknown operation may have rates in different units.
        if let Some(first) = runs.first().copied() {
            runs.retain(|run| run.gain_over(&first).is_some());
        }
        Self { model, state, runs }
    }

    /// The number of columns of X, if it is the same in all runs.
    pub(super) fn vectors(&self) -> Option<u32> {
        let k = self.runs.first()?.run.vectors();
        k.filter(|_| self.runs.iter().all(|run| run.run.vectors() == k))
    }

    /// The metric of the runs' rate.
    fn metric(&self) -> Option<&'a Metric> {
        self.runs.first().and_then(RunOf::metric)
    }

    /// The axis of the rate, with `before` in front of its title.
    pub(super) fn rate_axis(&self, before: &str) -> Scale {
        let title = self.metric().map_or("GFLOPS".into(), metric_title);
        Scale::new(format!("{before}{title}"), self.state.log)
    }

    /// The operation, if it is a known one.
    pub(super) fn operation(&self) -> Option<Operation> {
        Operation::of(&self.state.filter.operation)
    }

    /// The plural noun for executions.
    pub(super) fn words(&self) -> &'static str {
        self.operation().map_or("runs", Operation::words)
    }

    /// Id of the kernel that speed-ups refer to, or a word for it.
    pub(super) fn reference(&self) -> &'static str {
        self.operation().map_or("the reference", |operation| reference(operation).id)
    }

    /// The subject of the chart: the state's choice if it is offered, else the first option.
    pub fn chosen(&self, offered: &[String]) -> String {
        let wanted = self.state.charts.of.as_str();
        let found = |wanted: &str| offered.iter().find(|name| *name == wanted);
        let renamed = || {
            let words = wanted.to_owned();
            RENAMED.iter().fold(words, |words, (old, new)| words.replace(old, new))
        };
        let chosen = found(wanted).or_else(|| found(&renamed()));
        chosen.or(offered.first()).cloned().unwrap_or_default()
    }
}

impl<'a> Point<'a> {
    /// The point of one run.
    pub(super) fn of(run: &RunOf<'a>, x: f64, y: f64) -> Self {
        Self { at: [x, y], run: Some(*run), subject: Some(run.subject), ..Self::default() }
    }
}

impl<'a> Plot<'a> {
    /// A chart of x against y.
    pub(super) fn plane(x: Scale, y: Scale) -> Self {
        let (series, guides, note) = (BTreeMap::new(), Vec::new(), String::new());
        let (hidden, subject) = (BTreeMap::new(), None);
        let (form, ordered, weights) = (Form::Marks, false, "");
        let places = HashMap::new();
        Self {
            rows: None,
            places,
            x,
            y,
            series,
            hidden,
            subject,
            rivals: Vec::new(),
            guides,
            note,
            form,
            ordered,
            weights,
        }
    }

    /// A chart of x with one row per matrix, or other subject.
    pub(super) fn rows(x: Scale) -> Self {
        Self { rows: Some(Vec::new()), ..Self::plane(x, Scale::default()) }
    }

    /// The index of the row with this `key`; appends a new one with this name if there is none.
    pub(super) fn row(&mut self, name: impl FnOnce() -> String, key: &str) -> f64 {
        let rows = self.rows.get_or_insert_default();
        let place = self.places.get(key).copied().unwrap_or_else(|| {
            rows.push(Row { name: name(), key: key.into() });
            self.places.insert(key.into(), rows.len() - 1);
            rows.len() - 1
        });
        place as f64
    }

    /// The labels of the rows: their names, without saying so if all are stand-ins.
    pub(super) fn labels(&self) -> Vec<&str> {
        let rows = self.rows.as_deref().unwrap_or_default();
        let bare = rows.iter().map(|row| row.name.strip_suffix(STAND_IN_SUFFIX));
        let bare: Option<Vec<&str>> = bare.collect();
        bare.unwrap_or_else(|| rows.iter().map(|row| row.name.as_str()).collect())
    }

    /// Whether all rows are stand-ins.
    pub fn stands_in(&self) -> bool {
        let rows = self.rows.as_deref().unwrap_or_default();
        !rows.is_empty() && rows.iter().all(|row| row.name.ends_with(STAND_IN_SUFFIX))
    }

    /// Sets the ticks of x to the positions of the points.
    pub(super) fn tick_x_at_points(&mut self) {
        let mut ticks: Vec<f64> = self.points().map(|(_, _, point)| point.at[0]).collect();
        ticks.sort_unstable_by(f64::total_cmp);
        ticks.dedup();
        self.x.ticks = ticks;
    }

    /// Adds a point to the series of this name in a bundle; series are sorted by `order`, then by
    /// name.
    pub(super) fn add(
        &mut self,
        order: usize,
        name: &str,
        bundle: Option<&'a OpenBundle>,
        point: Point<'a>,
    ) {
        let key = (order, name.to_owned(), bundle.map_or(0, |open| open.series));
        let series =
            self.series.entry(key).or_insert_with(|| Series { bundle, points: Vec::new() });
        series.points.push(point);
    }

    /// Every point with the name of its series.
    pub(super) fn points(&self) -> impl Iterator<Item = (&str, &Series<'a>, &Point<'a>)> {
        fn all<'s, 'a>(
            (name, series): (&'s str, &'s Series<'a>),
        ) -> impl Iterator<Item = (&'s str, &'s Series<'a>, &'s Point<'a>)> {
            series.points.iter().map(move |point| (name, series, point))
        }
        self.series.iter().map(|(key, series)| (key.1.as_str(), series)).flat_map(all)
    }

    /// Shows only the series that a link names ([`isolated`]), if there are any.
    pub(super) fn isolate(&mut self, only: &str) {
        let names = self.names();
        let only: Vec<String> = isolated(only, &names).into_iter().map(str::to_owned).collect();
        if !only.is_empty() {
            let all = std::mem::take(&mut self.series).into_iter();
            (self.series, self.hidden) = all.partition(|((_, name, _), _)| only.contains(name));
        }
    }

    /// Every series, including hidden ones.
    pub(super) fn all(&self) -> impl Iterator<Item = (&(usize, String, usize), &Series<'a>)> {
        self.series.iter().chain(&self.hidden)
    }

    /// The names of all series in order, including hidden ones.
    pub(super) fn names(&self) -> Vec<&str> {
        let all: std::collections::BTreeSet<(usize, &str)> =
            self.all().map(|((order, name, _), _)| (*order, name.as_str())).collect();
        let mut names: Vec<&str> = all.into_iter().map(|(_, name)| name).collect();
        names.dedup();
        names
    }

    /// The number of a point that the chart compares.
    pub(super) fn value(&self, point: &Point<'_>) -> f64 {
        let [x, y] = point.at;
        if self.rows.is_some() { x } else { y }
    }

    /// Returns whether smaller numbers are better.
    pub(super) fn lower_is_better(&self) -> bool {
        if self.rows.is_some() { self.x.lower } else { self.y.lower }
    }

    /// Returns whether a point's range excludes the chart's guide.
    pub(super) fn is_sure(&self, point: &Point<'_>) -> bool {
        let excludes = |guide: &Guide| {
            let [value, _] = guide.ends[0];
            point.range.is_some_and(|[low, high]| value < low || high < value)
        };
        self.guides.iter().all(excludes)
    }

    /// Returns whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    /// The bundles of the points, in the order of opening.
    pub(super) fn bundles(&self) -> Vec<&'a OpenBundle> {
        let mut found: Vec<&OpenBundle> = self.series.values().filter_map(|s| s.bundle).collect();
        sparsescope_core::order::sort_by(&mut found, |a, b| a.series.cmp(&b.series));
        found.dedup_by_key(|open| open.series);
        found
    }

    /// The chart as a table.
    pub(super) fn table(&self) -> Vec<Vec<String>> {
        let weighs = self.form == Form::Cells;
        let ranged = !weighs && self.points().any(|(_, _, point)| point.range.is_some());
        let mut header =
            ["series", "bundle", "device", "row", "matrix", "source", "kernel"].to_vec();
        header.extend(["threads", "block", "hot", &self.x.title]);
        if self.rows.is_none() {
            header.push(&self.y.title);
        }
        if ranged {
            header.extend(["from", "to"]);
        }
        if weighs {
            header.push(self.weights);
        }
        // What is computed, where it is not the plain operation.
        let mut products = vec![("vectors", "k"), ("op", "op"), ("scale", "scale")];
        products.retain(|(name, _)| {
            let mut runs = self.points().filter_map(|(_, _, point)| point.run);
            let is_x = *name == "vectors" && self.x.title == COLUMNS;
            !is_x && runs.any(|run| run.run.params.contains_key(*name))
        });
        header.extend(products.iter().map(|(_, title)| *title));
        let mut lines = vec![header.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        // What a kernel chose is part of its name only here.
        let mut points: Vec<_> = self
            .series
            .iter()
            .flat_map(|(key, series)| series.points.iter().map(move |point| (key, series, point)))
            .map(|(key, series, point)| {
                (key.0, series_in_table(&key.1, point), key.2, series, point)
            })
            .collect();
        sparsescope_core::order::sort_by(&mut points, |a, b| {
            (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2))
        });
        for (_, name, _, series, point) in points {
            let run = point.run.map(|run| run.run);
            let of = |text: fn(&sparsescope_core::record::Run) -> String| run.map(text);
            let row = self.rows.as_ref().and_then(|rows| rows.get(point.at[1] as usize));
            let mut line = vec![
                Some(name),
                series.bundle.map(|open| open.label().to_owned()),
                of(|run| run.device.clone()),
                row.map(|row| row.name.clone()),
                point.subject.map(|subject| subject.name().to_owned()),
                point.subject.map(|subject| subject.source().as_str().to_owned()),
                of(|run| run.kernel.clone()),
                of(|run| run.threads.to_string()),
                run.and_then(|run| run.block).map(|block| block.to_string()),
                of(|run| run.hot.to_string()),
                Some(self.x.value(point.at[0])),
            ];
            if self.rows.is_none() {
                line.push(Some(self.y.value(point.at[1])));
            }
            if ranged {
                let ends = point.range.map(|range| range.map(|end| self.x.value(end)));
                line.extend(ends.map_or([None, None], |ends| ends.map(Some)));
            }
            if weighs {
                line.push(point.weight.map(|weight| weight.to_string()));
            }
            line.extend(products.iter().map(|(name, _)| run?.params.get(*name).cloned()));
            lines.push(line.into_iter().map(Option::unwrap_or_default).collect());
        }
        lines
    }

    /// The tooltip of a point.
    pub(super) fn words(&self, name: &str, series: &Series<'a>, point: &Point<'a>) -> String {
        let row = self.rows.as_ref().and_then(|rows| rows.get(point.at[1] as usize));
        let of = match (row, point.subject) {
            (Some(row), _) => row.name.clone(),
            (_, Some(subject)) => subject_name(subject),
            _ => String::new(),
        };
        let mut words = name.to_owned();
        if !of.is_empty() && of != name {
            words += &format!(" on {of}");
        }
        words += &format!(": {}", self.x.words(point.at[0]));
        if self.rows.is_none() {
            words += &format!(", {}", self.y.words(point.at[1]));
        }
        if let Some(run) = &point.run {
            if run.run.kernel_as_run() != name {
                words += &format!(", {}", run.run.kernel_as_run());
            }
            let threads = run.run.threads;
            words += &match run.run.block {
                Some(block) => format!(", blocks of {block}"),
                None if threads == 1 => ", 1 thread".to_owned(),
                None => format!(", {threads} threads"),
            };
            let median = run.run.figures.as_ref().map(|figures| seconds(figures.median_s));
            words += &format!(", median {}", median.unwrap_or_default());
        }
        if let Some(open) = series.bundle {
            words += &format!(" ({})", open.label());
        }
        words += ".";
        for more in [point.text.clone(), point.run.map(|run| run.why()).unwrap_or_default()] {
            if !more.is_empty() {
                words += &format!(" {more}");
            }
        }
        words
    }
}

impl Scale {
    /// A logarithmic axis if the toggle is on.
    pub(super) fn new(title: impl Into<Cow<'static, str>>, log: bool) -> Self {
        let title = title.into();
        Self { lower: title.contains("(lower is better)"), title, log, ..Self::default() }
    }

    /// The same axis, on which smaller values are better.
    pub(super) fn lower(self) -> Self {
        Self { lower: true, ..self }
    }

    /// The name of a value on a categorical axis.
    pub(super) fn name(&self, value: f64) -> Option<&str> {
        self.names.get(value as usize).map(String::as_str)
    }

    /// Formats a value for a table.
    fn value(&self, value: f64) -> String {
        match self.name(value) {
            Some(name) => name.into(),
            None if value.is_finite() => value.to_string(),
            None => self.never.into(),
        }
    }

    /// Formats a value for a sentence.
    fn words(&self, value: f64) -> String {
        match self.name(value) {
            Some(name) => format!("{} {name}", self.title),
            None if value.is_finite() => format!("{} {}", number(value), self.title),
            None => self.never.into(),
        }
    }
}

/// Formats a number for a sentence, tiny ones such as errors with an exponent.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if 0.0 < size && size < 1e-6 => small(value),
        _ => significant(value),
    }
}

/// The kernel, with its precision if that is not the default: one series, whatever a kernel that
/// picks another one chose.
pub(super) fn kernel(run: &RunOf<'_>) -> String {
    run.run.kernel.clone() + &run.run.variant()
}

/// The name of a point's series in a table.
fn series_in_table(name: &str, point: &Point<'_>) -> String {
    match &point.run {
        Some(run) if kernel(run) == name => run.run.kernel_and_precision(),
        _ => name.to_owned(),
    }
}
