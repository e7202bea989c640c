//! The numbers of the view of winners: one row per matrix, with the winner and its competitors.

use sparsescope_core::kernel::KernelName;

use super::baseline::{Against, baselines, is_vendors, over, over_vendor, vendors_best};
use super::pairs::{self, PairRow};
use super::reasons;
use super::sides::{Side, bundles, names, sides};
use super::solves::{Whole, beside_time, first_with_setup, unsupported};
use crate::model::{Model, RunOf, STAND_IN_SUFFIX, Standing, count, subject_name, subject_title};
use crate::state::{Form, RankBy, Ranking, ViewState};
use crate::why::{BOUND, Clause};

/// Why another form is shown than the one with A and A'.
pub(super) const NO_PAIRS: &str = "no matrix has runs of both A·x and A'·x";

/// The data of the view that requires visiting every run.
#[derive(Clone, Debug, Default)]
pub struct Board {
    pub rows: Vec<Row>,
    /// What a row stands for.
    pub(crate) what: &'static str,
    /// The name of the rate, with its unit.
    pub rate: String,
    /// The baseline of the last column: its word in a link, its description, and the column's title.
    pub baseline: String,
    pub over: String,
    pub versus: String,
    /// The worst and the best rate of all.
    pub(crate) span: [f64; 2],
    /// Ids of all kernels that compete somewhere, the most frequent winners first.
    pub kernels: Vec<String>,
    /// Whether there are several devices: then the winner's device is named.
    pub devices: bool,
    /// Whether there are several bundles with times: then the winner's bundle is named.
    pub bundles: bool,
    /// What the rows' gains are over; a vendor only on the winner's device.
    pub(crate) against: Against,
    /// What holds for all winners: devices, precision, caches, checks.
    pub(crate) conditions: Vec<String>,
    /// How many solves their kernels do not support, and why.
    pub(crate) unsupported: Option<String>,
    /// What is compared side by side.
    pub(crate) sides: Vec<Side>,
    /// Whether these are different machines or revisions with a subject in common.
    pub(crate) compares: bool,
    /// Whether smaller values are better.
    pub(crate) less: bool,
    /// The kernel with the least energy on the most rows, and their number; of each kernel its
    /// fastest run counts.
    pub(crate) least_energy: Option<(String, usize)>,
    /// In which ranking the rows' winners win.
    pub ranking: Ranking,
    /// Whether all winners multiply by the transpose.
    pub(crate) transposed: bool,
    /// The number of columns of X of all winners.
    pub(crate) vectors: Option<u32>,
    /// The matrices with products by A and by its transpose.
    pub(crate) pairs: Vec<PairRow>,
    /// The start of all ids or nearly all, which names leave out.
    prefix: String,
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
    /// Ratio to what the headline compares with; against a vendor that of our best kernel, so
    /// less than 1 where the vendor's wins.
    pub(crate) gain: Option<f64>,
    pub why: String,
    /// The same, short.
    pub clause: Clause,
    /// The bundle of the winner.
    pub bundle: String,
    pub(crate) stand_in: bool,
    /// An empty launch takes at least half of the winner's time, and not of all rows' winners.
    pub(crate) folded: bool,
    /// Run number of what gets the win: of the kernel that the winner picked if it was measured,
    /// else of the winner.
    pub(crate) credited: usize,
    /// The kernel of that run, with its precision if several compete; of solves the preconditioner.
    pub(crate) wins_as: String,
    /// Of solves, the first one including its setup.
    pub(crate) whole: Option<Whole>,
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
    /// The kernel, and for solves its preconditioner.
    pub(crate) title: String,
    /// Of a solve the preconditioner and its k, else empty.
    pub(crate) group: String,
    /// Of a solve its iterations and its setup, else empty.
    pub(crate) note: String,
    /// Series of its bundle.
    pub(crate) series: usize,
    /// Its description.
    pub words: String,
}

impl Board {
    pub fn of(model: &Model, state: &ViewState) -> Self {
        let filter = model.of_one_product(&state.filter);
        let state = &ViewState { filter, ..state.clone() };
        let ranking = state.best.ranking;
        let standings = model.standings_by(&state.filter, ranking);
        let has_vendor = standings.iter().any(|standing| vendors_best(standing).is_some());
        let usual = if has_vendor { "vendor" } else { "serial" };
        let all = baselines(model, state);
        let named = |name: &str| all.iter().find(|(word, _)| word == name);
        let chosen = named(&state.best.over).or_else(|| named(usual));
        let (word, called) = chosen.cloned().unwrap_or_default();
        let mut board = Self {
            over: format!("over {called}"),
            versus: match word.as_str() {
                "serial" => "vs serial".into(),
                "vendor" => "vs vendor".into(),
                _ => "vs bundle".into(),
            },
            baseline: word.clone(),
            span: [f64::INFINITY, f64::NEG_INFINITY],
            ranking,
            pairs: pairs::rows(model, state),
            ..Self::default()
        };
        let mut wins = std::collections::BTreeMap::<String, usize>::new();
        let mut least = std::collections::BTreeMap::<String, usize>::new();
        let mut devices = std::collections::BTreeSet::new();
        let without = without(model, state);
        let (whole, names) = (first_with_setup(model, state), names(model));
        let mut winners = Vec::new();
        let mut vendors = std::collections::BTreeSet::new();
        for standing in standings {
            let Some(mut row) = row(&standing, &word, &without) else { continue };
            if let Some(measure) = reasons::measure(&standing) {
                (board.rate, board.less) = measure;
            }
            row.gain = row.over;
            if word == "vendor" {
                let vendor = over_vendor(&standing);
                row.gain = vendor.map(|(gain, _)| gain);
                vendors.extend(vendor.map(|(_, kernel)| KernelName::of(kernel).library()));
            }
            row.whole = whole.get(standing.key).and_then(Whole::of);
            let bundle = standing.winner().and_then(|run| names.get(&run.bundle.series));
            row.bundle = bundle.cloned().unwrap_or_default();
            winners.extend(standing.winner().copied());
            for rival in &row.runs {
                let [low, high] = board.span;
                board.span = [low.min(rival.rate), high.max(rival.rate)];
                *wins.entry(rival.kernel.clone()).or_default() +=
                    usize::from(rival.run == row.credited);
            }
            let energies =
                standing.runs.iter().filter_map(|run| Some((run.run.energy.as_ref()?, run)));
            if let Some((_, run)) = energies.min_by(|(a, _), (b, _)| a.joules.total_cmp(&b.joules))
            {
                *least.entry(run.run.kernel.clone()).or_default() += 1;
            }
            board.what = match subject_title(standing.subject) {
                what if board.rows.is_empty() || board.what == what => what,
                _ => "Subject",
            };
            devices.insert(row.device.clone());
            board.rows.push(row);
        }
        let least = least.into_iter().max_by_key(|(_, rows)| *rows);
        board.least_energy = least.filter(|_| ranking.by == RankBy::Rate);
        let mut kernels: Vec<(String, usize)> = wins.into_iter().collect();
        sparsescope_core::order::sort_by(&mut kernels, |a, b| b.1.cmp(&a.1));
        board.kernels = kernels.into_iter().map(|(kernel, _)| kernel).collect();
        board.devices = devices.len() > 1;
        board.bundles = model.bundles().iter().filter(|o| !o.bundle.runs.is_empty()).count() > 1;
        board.against = match (word.as_str(), vendors.len()) {
            ("serial", _) => Against::Serial,
            ("vendor", 1) => Against::Vendor(vendors.into_iter().collect()),
            ("vendor", _) => Against::Vendor("vendor libraries".into()),
            _ => Against::Bundle(called),
        };
        if board.rows.iter().all(|row| row.folded) {
            board.rows.iter_mut().for_each(|row| row.folded = false);
        }
        board.prefix = common_start(&board.kernels);
        board.vectors = winners.iter().find_map(|run| run.run.vectors());
        board.conditions = conditions(&winners);
        board.conditions.extend(reasons::conditions(ranking, &winners));
        if state.best.form == Form::Pair && board.pairs.is_empty() {
            board.conditions.insert(0, NO_PAIRS.to_owned());
        }
        let is_transposed = |run: &RunOf<'_>| run.run.params.get("op").is_some_and(|op| op == "t");
        board.transposed = !winners.is_empty() && winners.iter().all(is_transposed);
        board.unsupported = unsupported(model, state);
        board.put_sides(model);
        board.sort(state);
        board
    }

    /// Finds what is compared side by side: machines and revisions, or bundles if there is only one.
    fn put_sides(&mut self, model: &Model) {
        let rivals = self.rows.iter().flat_map(|row| &row.runs);
        let series = sparsescope_core::order::set(rivals.map(|rival| rival.series));
        self.sides = sides(model, |of| series.contains(&of));
        if self.sides.len() < 2 {
            self.sides = bundles(model, |of| series.contains(&of));
            return;
        }
        let is_common = |row: &Row| row.beside(&self.sides).iter().flatten().count() > 1;
        self.compares = self.rows.iter().any(is_common);
    }

    /// The rows that are not folded, and those that are.
    pub(crate) fn parts(&self) -> [Vec<&Row>; 2] {
        let (folded, shown) = self.rows.iter().partition(|row| row.folded);
        [shown, folded]
    }

    /// A kernel's id without what the others share, and without `vendor/`.
    pub(crate) fn short<'k>(&self, kernel: &'k str) -> &'k str {
        let of_vendor = KernelName::of(kernel).in_library();
        of_vendor.or_else(|| kernel.strip_prefix(self.prefix.as_str())).unwrap_or(kernel)
    }

    /// The same in a title.
    pub fn short_title(&self, title: &str) -> String {
        let kernel = title.rsplit(", ").next().unwrap_or(title);
        let method = title.strip_suffix(kernel).unwrap_or_default();
        let ids: Vec<&str> = kernel.split(": ").map(|id| self.short(id)).collect();
        format!("{method}{}", ids.join(": "))
    }

    /// The name of a row's subject; if all stand in for real ones, that is said once.
    pub fn name_of<'r>(&self, row: &'r Row) -> &'r str {
        let bare = row.name.strip_suffix(STAND_IN_SUFFIX);
        bare.filter(|_| self.rows.iter().all(|row| row.stand_in)).unwrap_or(&row.name)
    }

    /// The size of a row's subject in words.
    pub(super) fn size_of(&self, row: &Row) -> String {
        match self.what {
            "Matrix" => format!("{} nonzeros", count(row.size)),
            "Points" => format!("{} points", count(row.size)),
            _ => count(row.size),
        }
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
        sparsescope_core::order::sort_by(&mut self.rows, |a, b| {
            if state.best.down { order(a, b).reverse() } else { order(a, b) }
        });
    }
}

impl Row {
    /// Whether it compares solves.
    pub(super) fn is_solve(&self) -> bool {
        self.runs.iter().any(|rival| !rival.group.is_empty())
    }

    /// The best competitor of each side.
    pub(super) fn beside(&self, sides: &[Side]) -> Vec<Option<&Rival>> {
        let best = |side: &Side| self.runs.iter().find(|rival| side.series.contains(&rival.series));
        sides.iter().map(best).collect()
    }
}

/// The first part of kernel ids if at least four of five have it, vendors' aside.
fn common_start(kernels: &[String]) -> String {
    let ours = || kernels.iter().filter(|kernel| !is_vendors(kernel));
    let start = |kernel: &str| kernel.split_inclusive('/').next().unwrap_or("").to_owned();
    let has = |of: &str| ours().filter(|kernel| kernel.starts_with(of)).count();
    let starts = ours().map(|kernel| start(kernel.as_str())).filter(|of| of.ends_with('/'));
    let most = starts.max_by_key(|of| has(of.as_str())).unwrap_or_default();
    if 5 * has(most.as_str()) >= 4 * ours().count() { most } else { String::new() }
}

/// What holds for these runs, in a few words each.
fn conditions(winners: &[RunOf<'_>]) -> Vec<String> {
    let all = |word: &dyn Fn(&RunOf<'_>) -> String| -> Vec<String> {
        let mut words: Vec<String> = winners.iter().map(word).collect();
        sparsescope_core::order::sort(&mut words);
        words.dedup();
        words
    };
    let devices = match &all(&|run| run.run.device.clone())[..] {
        many if many.len() > 3 => format!("{} devices", many.len()),
        few => few.join(" and "),
    };
    let precision = match all(&|run| run.run.precision.clone()).join(" and ").as_str() {
        "f64" => "double precision".into(),
        "f32" => "single precision".into(),
        other => other.to_owned(),
    };
    let vectors = winners.iter().find_map(|run| run.run.vectors());
    let vectors = vectors.map(|k| format!("k = {k}")).unwrap_or_default();
    let checked = match winners.iter().all(|run| run.run.check.by.is_none()) {
        true => "every result checked",
        false => "some results imported, not checked",
    };
    let words = [vectors, devices, precision, "warm caches".into(), checked.into()];
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// By subject: kernels whose runs do not rank, and why.
type Without = std::collections::BTreeMap<String, Vec<(String, String)>>;

fn without(model: &Model, state: &ViewState) -> Without {
    let mut found = Without::new();
    for run in model.runs(&state.filter) {
        let ended = || run.solved().map(|solve| solve.ended.clone());
        let reason = match run.ranks() {
            true => run.excluded(state.best.ranking),
            false => run
                .run
                .reason()
                .map(str::to_owned)
                .or_else(ended)
                .or(Some(run.verdict().to_owned())),
        };
        let Some(reason) = reason else { continue };
        let of = found.entry(run.key()).or_default();
        if of.iter().all(|(kernel, _)| *kernel != run.run.kernel) {
            of.push((run.run.kernel.clone(), reason));
        }
    }
    found
}

/// The kernel, and for solves its preconditioner.
fn title(run: &RunOf<'_>) -> String {
    match run.solved() {
        Some(_) => format!("{}, {}", run.method(), run.run.kernel),
        None => run.run.kernel_and_precision(),
    }
}

/// Bytes of the matrix in CSR in the winner's precision: as a run recorded them, else as the
/// statistics have them for f64.
fn csr_bytes(standing: &Standing<'_>) -> Option<u64> {
    let winner = standing.winner()?;
    let of_csr = |run: &&RunOf<'_>| {
        run.run.precision == winner.run.precision
            && run.run.format() == "csr"
            && !KernelName::of(&run.run.kernel).is_compact()
    };
    let runs = standing.runs.iter().filter(of_csr).map(|run| run.run.costs.format_bytes);
    let least = runs.filter(|bytes| *bytes > 0).min();
    least.or_else(|| {
        let formats = &winner.matrix()?.statistics.formats;
        let csr = formats.iter().find(|size| size.format == "csr")?;
        (winner.run.precision == "f64").then_some(csr.bytes)
    })
}

fn row(standing: &Standing<'_>, over_word: &str, without: &Without) -> Option<Row> {
    let (winner, by) = (standing.winner()?, standing.ranking.by);
    let rival = |run: &RunOf<'_>| {
        let (rate, share) = (run.score(by)?, standing.share(run)?);
        let words = reasons::rival(standing, run, share)?;
        let (kernel, title) = (run.run.kernel.clone(), title(run));
        let group = run.solved().map(|_| run.preconditioner()).unwrap_or_default();
        let note = beside_time(run).unwrap_or_default();
        let (series, run) = (run.bundle.series, run.index);
        Some(Rival { run, kernel, rate, share, title, group, note, series, words })
    };
    let runs: Vec<Rival> = standing.runs.iter().filter_map(rival).collect();
    let of = without.get(standing.key).cloned().unwrap_or_default();
    let without = of.into_iter().filter(|(kernel, _)| runs.iter().all(|r| r.kernel != *kernel));
    let picked = runs.iter().find(|rival| rival.kernel == winner.timed_kernel());
    let credited = picked.or(runs.first())?;
    let has_win = |run: &&RunOf<'_>| run.index == credited.run;
    let variant = standing.ranking.max_error.and(standing.runs.iter().find(has_win));
    let variant = variant.map(|run| run.run.variant()).unwrap_or_default();
    Some(Row {
        key: standing.key.to_owned(),
        name: subject_name(standing.subject),
        size: crate::model::subject_size(standing.subject),
        run: winner.index,
        kernel: winner.run.kernel.clone(),
        title: title(winner),
        setting: winner.setting(),
        device: winner.run.device.clone(),
        rate: winner.score(by)?,
        pct_copy: winner.pct_copy(),
        lead: standing.lead(),
        second: standing.second().map(|run| run.run.kernel.clone()).unwrap_or_default(),
        over: over(standing, over_word),
        gain: None,
        why: reasons::why(standing)?,
        clause: reasons::clause(standing, csr_bytes(standing))?,
        bundle: String::new(),
        stand_in: winner.is_stand_in(),
        folded: winner.launch_share().is_some_and(|share| share >= BOUND),
        credited: credited.run,
        wins_as: match winner.solved() {
            Some(_) => winner.method(),
            None => credited.kernel.clone() + &variant,
        },
        whole: None,
        without: without.collect(),
        runs,
    })
}
