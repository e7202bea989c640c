//! A row per matrix with products by A and by its transpose: who wins each, and both together.

use crate::model::{Both, Model, Pair, RunOf, bytes, joules, seconds, subject_name, subject_size};
use crate::state::{RankBy, ViewState};

/// What is answered, as titles.
pub(super) const ANSWERS: [&str; 4] = ["A", "A'", "both together", "from one copy of A"];

/// A matrix.
#[derive(Clone, Debug)]
pub(crate) struct PairRow {
    pub(crate) key: String,
    pub(crate) name: String,
    /// Nonzeros.
    pub(crate) size: u64,
    /// In the order of [`ANSWERS`].
    pub(crate) answers: [Option<Answer>; 4],
    /// The ratio of the vendors' best two kernels to the best two others.
    pub(crate) gain: Option<f64>,
}

/// One kernel, or one for A and one for A'.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Each with an asterisk if another one chose it, and with its precision unless that is f64.
    pub(crate) kernels: Vec<String>,
    /// Number of the run, or of that with A.
    pub(crate) run: usize,
    /// Seconds, or millijoules.
    pub(crate) cost: f64,
    /// Bytes of what the kernels read.
    pub(crate) bytes: Option<u64>,
    /// Its description.
    pub(crate) words: String,
}

/// The rows, sorted by size.
pub(super) fn rows(model: &Model, state: &ViewState) -> Vec<PairRow> {
    let ranking = state.best.ranking;
    let pairs = model.pairs(&state.filter, ranking);
    pairs.iter().filter_map(|pair| PairRow::of(pair, ranking.by)).collect()
}

/// A time, or an energy.
fn cost(cost: f64, by: RankBy) -> String {
    match by {
        RankBy::Rate => seconds(cost),
        RankBy::Energy => joules(cost / 1e3),
    }
}

/// The kernel that was timed, with an asterisk if another one chose it, and with its precision unless that is f64.
fn named(run: &RunOf<'_>) -> String {
    let chosen = if run.run.costs.choice.is_some() { "*" } else { "" };
    let precision = match run.run.precision.as_str() {
        "f64" => String::new(),
        precision => format!(" ({precision})"),
    };
    format!("{}{chosen}{precision}", run.timed_kernel())
}

impl PairRow {
    fn of(pair: &Pair<'_>, by: RankBy) -> Option<Self> {
        let [plain, transposed] = &pair.each;
        let both = |both: &Option<Both<'_>>| both.as_ref().map(|both| Answer::both(both, by));
        let answers = [
            Some(Answer::one(plain, by)?),
            Some(Answer::one(transposed, by)?),
            both(&pair.both),
            both(&pair.one_copy),
        ];
        Some(Self {
            key: pair.key.to_owned(),
            name: subject_name(pair.subject),
            size: subject_size(pair.subject),
            answers,
            gain: pair.over_vendors,
        })
    }
}

impl Answer {
    fn one(run: &RunOf<'_>, by: RankBy) -> Option<Self> {
        let (cost, bytes) = (run.cost(by)?, run.format_bytes());
        let words = format!(
            "{} on {}: {} ({})",
            run.run.kernel_and_precision(),
            run.name(),
            run.with_setting(&memory_and(cost, bytes, by), ", "),
            run.bundle.label()
        );
        Some(Self { kernels: vec![named(run)], run: run.index, cost, bytes, words })
    }

    fn both(both: &Both<'_>, by: RankBy) -> Self {
        let [plain, transposed] = &both.runs;
        let words = format!(
            "{} for A and {} for A' on {}: {} ({})",
            plain.run.kernel_and_precision(),
            transposed.run.kernel_and_precision(),
            plain.name(),
            memory_and(both.cost, both.bytes, by),
            plain.bundle.label()
        );
        let mut kernels = vec![named(plain), named(transposed)];
        kernels.dedup_by_key(|kernel| kernel.replace('*', ""));
        Self { kernels, run: plain.index, cost: both.cost, bytes: both.bytes, words }
    }

    /// Its time or energy, and its memory.
    pub(super) fn numbers(&self, by: RankBy) -> String {
        memory_and(self.cost, self.bytes, by)
    }
}

fn memory_and(cost: f64, memory: Option<u64>, by: RankBy) -> String {
    let cost = self::cost(cost, by);
    memory.map_or(cost.clone(), |memory| format!("{cost}, {}", bytes(memory)))
}
