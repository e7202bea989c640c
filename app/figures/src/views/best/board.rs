//! The numbers of the view of winners: one row per matrix, with the winner and its competitors.

use crate::model::{
    Model, OpenBundle, RunOf, Standing, metric_title, significant, subject_name, subject_title,
};
use crate::state::ViewState;

/// The data of the view that requires visiting every run.
#[derive(Clone, Debug, Default)]
pub struct Board {
    pub rows: Vec<Row>,
    /// What a row stands for.
    pub(crate) what: &'static str,
    /// The name of the rate, with its unit.
    pub rate: String,
    /// The baseline of the last column, and the column's title.
    pub over: String,
    pub versus: String,
    /// The worst and the best rate of all.
    pub(crate) span: [f64; 2],
    /// Ids of all kernels that compete somewhere, the most frequent winners first.
    pub kernels: Vec<String>,
    /// Whether there are several devices: then the winner's device is named.
    pub devices: bool,
}

/// One matrix, or other subject.
#[derive(Clone, Debug)]
pub struct Row {
    pub key: String,
    pub name: String,
    /// Nonzeros, or another size.
    pub size: u64,
    /// Run number of the winner.
    pub run: usize,
    pub kernel: String,
    /// The winner: the kernel, and for solves its preconditioner.
    pub title: String,
    pub setting: String,
    pub device: String,
    pub rate: f64,
    pub pct_copy: Option<f64>,
    /// Ratio to the second kernel.
    pub lead: Option<f64>,
    pub(crate) second: String,
    /// Ratio to the baseline.
    pub over: Option<f64>,
    pub why: String,
    /// All competitors, winner first.
    pub runs: Vec<Rival>,
    /// Kernels that were refused, failed, or are limited by rounding here, with the reason.
    pub(crate) without: Vec<(String, String)>,
}

/// One kernel at its best on a matrix.
#[derive(Clone, Debug)]
pub struct Rival {
    pub run: usize,
    pub(crate) kernel: String,
    pub(crate) rate: f64,
    /// Fraction of the winner's rate; 1 for the winner.
    pub(crate) share: f64,
    /// Its description.
    pub words: String,
}

/// Baselines by id in a link, with display names: the reference, vendors, bundles.
pub fn baselines(model: &Model, state: &ViewState) -> Vec<(String, String)> {
    let mut found = vec![(String::new(), "the serial reference".to_owned())];
    let kernels = &model.values(&state.filter.operation).kernels;
    if kernels.iter().any(|kernel| is_vendors(kernel)) {
        found.push(("vendor".into(), "the best vendor kernel".into()));
    }
    let timed = |open: &&OpenBundle| !open.bundle.runs.is_empty();
    let bundles: Vec<&OpenBundle> = model.bundles().iter().filter(timed).collect();
    if bundles.len() > 1 {
        found.extend(bundles.into_iter().map(|open| (open.word(), open.label().to_owned())));
    }
    found
}

fn is_vendors(kernel: &str) -> bool {
    kernel.starts_with("vendor/")
}

/// The ratio of the winner to the baseline of the state.
fn over(standing: &Standing<'_>, wanted: &str) -> Option<f64> {
    let winner = standing.winner()?;
    let first = |is_it: &dyn Fn(&RunOf<'_>) -> bool| {
        winner.gain_over(standing.runs.iter().find(|run| is_it(run))?)
    };
    match wanted {
        "" => winner.figures()?.speedup,
        "vendor" => first(&|run| is_vendors(&run.run.kernel)),
        bundle => first(&|run| run.bundle.sha256.starts_with(bundle)),
    }
}

impl Board {
    pub fn of(model: &Model, state: &ViewState) -> Self {
        let all = baselines(model, state);
        let chosen = all.iter().find(|(word, _)| *word == state.best.over).or(all.first());
        let (word, called) = chosen.cloned().unwrap_or_default();
        let mut board = Self {
            over: format!("over {called}"),
            versus: match word.as_str() {
                "" => "vs serial".into(),
                "vendor" => "vs vendor".into(),
                _ => "vs bundle".into(),
            },
            span: [f64::INFINITY, f64::NEG_INFINITY],
            ..Self::default()
        };
        let mut wins = std::collections::BTreeMap::<String, usize>::new();
        let mut devices = std::collections::BTreeSet::new();
        let without = without(model, state);
        for standing in model.standings(&state.filter) {
            let Some(row) = row(&standing, &word, &without) else { continue };
            if let Some(metric) = standing.winner().and_then(RunOf::metric) {
                board.rate = metric_title(metric);
            }
            for rival in &row.runs {
                let [low, high] = board.span;
                board.span = [low.min(rival.rate), high.max(rival.rate)];
                *wins.entry(rival.kernel.clone()).or_default() += usize::from(rival.run == row.run);
            }
            board.what = match subject_title(standing.subject) {
                what if board.rows.is_empty() || board.what == what => what,
                _ => "Subject",
            };
            devices.insert(row.device.clone());
            board.rows.push(row);
        }
        let mut kernels: Vec<(String, usize)> = wins.into_iter().collect();
        crate::order::sort_by(&mut kernels, |a, b| b.1.cmp(&a.1));
        board.kernels = kernels.into_iter().map(|(kernel, _)| kernel).collect();
        board.devices = devices.len() > 1;
        board.sort(state);
        board
    }

    /// Sorts the rows as the state requests; by ascending size if it names no column of this view.
    fn sort(&mut self, state: &ViewState) {
        let by = |number: fn(&Row) -> Option<f64>| {
            move |a: &Row, b: &Row| {
                let value = |row: &Row| number(row).unwrap_or(f64::NEG_INFINITY);
                value(a).total_cmp(&value(b))
            }
        };
        let order = |a: &Row, b: &Row| match state.best.by.as_str() {
            "matrix" => a.name.to_lowercase().cmp(&b.name.to_lowercase()),
            "kernel" => a.kernel.cmp(&b.kernel),
            "rate" => by(|row| Some(row.rate))(a, b),
            "pct_copy" => by(|row| row.pct_copy)(a, b),
            "lead" => by(|row| row.lead)(a, b),
            "over" => by(|row| row.over)(a, b),
            _ => a.size.cmp(&b.size),
        };
        crate::order::sort_by(&mut self.rows, |a, b| {
            if state.best.down { order(a, b).reverse() } else { order(a, b) }
        });
    }
}

/// By subject: kernels whose runs do not rank, and why.
type Without = std::collections::BTreeMap<String, Vec<(String, String)>>;

fn without(model: &Model, state: &ViewState) -> Without {
    let mut found = Without::new();
    for run in model.runs(&state.filter).into_iter().filter(|run| !run.ranks()) {
        let ended = || run.solved().map(|solve| solve.ended.clone());
        let reason = run.run.check.reason.clone().or_else(ended);
        let reason = reason.unwrap_or_else(|| run.verdict().to_owned());
        let of = found.entry(run.key()).or_default();
        if of.iter().all(|(kernel, _)| *kernel != run.run.kernel) {
            of.push((run.run.kernel.clone(), reason));
        }
    }
    found
}

fn row(standing: &Standing<'_>, over_word: &str, without: &Without) -> Option<Row> {
    let winner = standing.winner()?;
    let rival = |run: &RunOf<'_>| {
        let (rate, share) = (run.rate()?, standing.share(run)?);
        let unit = run.metric().map_or("", |metric| metric.unit.as_str());
        let words = format!(
            "{} on {}: {} {unit}, {}, {:.0} % of the best ({})",
            run.run.kernel_and_precision(),
            run.name(),
            significant(rate),
            run.setting(),
            share * 100.0,
            run.bundle.label()
        );
        Some(Rival { run: run.index, kernel: run.run.kernel.clone(), rate, share, words })
    };
    let runs: Vec<Rival> = standing.runs.iter().filter_map(rival).collect();
    let of = without.get(standing.key).cloned().unwrap_or_default();
    let without = of.into_iter().filter(|(kernel, _)| runs.iter().all(|r| r.kernel != *kernel));
    Some(Row {
        key: standing.key.to_owned(),
        name: subject_name(standing.subject),
        size: crate::model::subject_size(standing.subject),
        run: winner.index,
        kernel: winner.run.kernel.clone(),
        title: match winner.solved() {
            Some(_) => format!("{}, {}", winner.method(), winner.run.kernel),
            None => winner.run.kernel_and_precision(),
        },
        setting: winner.setting(),
        device: winner.run.device.clone(),
        rate: winner.rate()?,
        pct_copy: winner.pct_copy(),
        lead: standing.lead(),
        second: standing.runs.get(1).map(|run| run.run.kernel.clone()).unwrap_or_default(),
        over: over(standing, over_word),
        why: winner.why(),
        without: without.collect(),
        runs,
    })
}
