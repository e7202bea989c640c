//! The best kernels for A, for its transpose and for both, with their memory: a row per matrix.

use std::collections::{BTreeMap, BTreeSet};

use emath::{pos2, vec2};
use sparsescope_core::kernel::KernelName;

use super::baseline::is_vendors;
use super::board::Board;
use super::drawn::{Drawn, ROW, put};
use super::headline::{self, counted, mean, times};
use super::pairs::{ANSWERS, Answer, PairRow};
use super::places::THUMB;
use crate::figure::{Anchor, Hit, area, elided, strong_width};
use crate::model::count;
use crate::state::{RankBy, ViewState};
use crate::theme::{BODY, Ink, SPACE};

/// Width of the ratio to the vendors.
const RATIO: f32 = 96.0;
/// Minimum and maximum width of an answer of one kernel.
const CELL: [f32; 2] = [92.0, 200.0];
/// Widths of the answers relative to those of one kernel.
const WIDTHS: [f32; 4] = [1.0, 1.0, 1.6, 1.6];

/// The kernels that win most often for an answer, and how often; whether another one chose them does not matter.
fn most(board: &Board, place: usize) -> (Vec<String>, usize) {
    let mut wins: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in answers(board, place).flat_map(|answer| &answer.kernels) {
        *wins.entry(kernel.replace('*', "")).or_default() += 1;
    }
    let most = wins.values().copied().max().unwrap_or_default();
    wins.retain(|_, rows| *rows == most);
    (wins.into_keys().map(|kernel| board.short(&kernel).to_owned()).collect(), most)
}

fn answers(board: &Board, place: usize) -> impl Iterator<Item = &Answer> {
    board.pairs.iter().filter_map(move |row| row.answers.get(place)?.as_ref())
}

/// The mean ratio of two numbers of the answers at two places.
fn ratio(board: &Board, places: [usize; 2], of: fn(&Answer) -> Option<f64>) -> Option<f64> {
    let ratios = board.pairs.iter().filter_map(|row| {
        let [one, other] = places.map(|place| of(row.answers.get(place)?.as_ref()?));
        Some(one? / other?)
    });
    mean(ratios)
}

/// Who wins for A and for A', what both take together, and the ratio to the vendors.
pub(super) fn headline(board: &Board) -> String {
    let [plain, transposed] = [0, 1].map(|place| most(board, place));
    let (Some(first), Some(second)) = (plain.0.first(), transposed.0.first()) else {
        return String::new();
    };
    let energy = board.ranking.by == RankBy::Energy;
    let mut parts = vec![match &board.pairs[..] {
        [row] => {
            let how = if energy { "takes the least energy" } else { "is fastest" };
            format!("{first} {how} for A and {second} for A' on {}", row.name)
        }
        rows => {
            let by = if energy { "By energy on" } else { "On" };
            let on = counted(board, rows.len());
            let wins = |(kernels, wins): &(Vec<String>, usize), verb: &str| match &kernels[..] {
                [only] => format!("{only}{verb} {wins}"),
                tied => format!("{} kernels win {wins} each", tied.len()),
            };
            let verb = if plain.0.len() == 1 { "" } else { " wins" };
            let [plain, transposed] = [wins(&plain, " wins"), wins(&transposed, verb)];
            format!("{by} {on}, {plain} for A, and {transposed} for A'")
        }
    }];
    let memory = ratio(board, [2, 0], |answer| answer.bytes.map(|bytes| bytes as f64));
    parts.extend(
        memory.map(|memory| format!("both together take {} the memory of A alone", times(memory))),
    );
    let gain = mean(board.pairs.iter().filter_map(|row| row.gain));
    parts.extend(gain.map(|gain| {
        let ours =
            if headline::are_ours(board) { "Sparsescope's best two" } else { "the best other two" };
        let (times, theirs) = (times(gain), format!("the best two of {}", vendors(board)));
        match energy {
            false => format!("{ours} are {times} as fast as {theirs}"),
            true => format!("{theirs} take {times} the energy of {ours}"),
        }
    }));
    parts.join("; ")
}

/// The library of the vendors' kernels, if it is one.
fn vendors(board: &Board) -> &str {
    let kernels = board.kernels.iter().map(String::as_str).filter(|id| is_vendors(id));
    let libraries: BTreeSet<&str> = kernels.map(|id| KernelName::of(id).library()).collect();
    let mut libraries = libraries.into_iter();
    match (libraries.next(), libraries.next()) {
        (Some(only), None) => only,
        _ => "vendor libraries",
    }
}

/// What the headline holds for.
pub(super) fn about(board: &Board) -> String {
    let mut words = board.conditions.clone();
    words.extend((board.pairs.len() > 1).then(|| "geometric means".to_owned()));
    words.push("memory of the arrays that the kernels read".into());
    if answers(board, 3).next().is_some() {
        let cost = if board.ranking.by == RankBy::Energy { "energy" } else { "time" };
        let slower = ratio(board, [3, 2], |answer| Some(answer.cost));
        words.extend(
            slower.map(|slower| format!("from one copy of A: {} the {cost}", times(slower))),
        );
    }
    let kernels = board.pairs.iter().flat_map(|row| row.answers.iter().flatten());
    if kernels.flat_map(|answer| &answer.kernels).any(|kernel| kernel.contains('*')) {
        words.push("* chosen by an automatic kernel".into());
    }
    words.extend(headline::stand_ins(board));
    words.join(" · ")
}

/// The kernels, the costs in seconds or millijoules and the bytes of all answers.
pub(super) fn table(board: &Board) -> Vec<Vec<String>> {
    let unit = if board.ranking.by == RankBy::Energy { "mJ" } else { "s" };
    let mut header = vec!["matrix".to_owned(), "size".to_owned()];
    for title in ANSWERS {
        let title = title.trim_start_matches("both ");
        header.extend(["kernel", unit, "bytes"].map(|what| format!("{what}, {title}")));
    }
    header.push("vendors / others".into());
    let mut lines = vec![header];
    for row in &board.pairs {
        let mut line = vec![row.name.clone(), row.size.to_string()];
        for answer in &row.answers {
            line.extend(match answer {
                None => [const { String::new() }; 3],
                Some(answer) => {
                    let bytes = answer.bytes.map(|bytes| bytes.to_string());
                    let kernels = answer.kernels.join(" + ");
                    [kernels, answer.cost.to_string(), bytes.unwrap_or_default()]
                }
            });
        }
        line.push(row.gain.map(|gain| gain.to_string()).unwrap_or_default());
        lines.push(line);
    }
    lines
}

/// Who is best on a matrix for A, for A', for both together, and for both from one copy of A.
#[derive(Clone, Debug)]
pub struct BestOfPair<'b> {
    /// Key of the matrix.
    pub key: &'b str,
    /// Name of the matrix.
    pub name: &'b str,
    /// Of each, the kernels, with an asterisk if another one chose them, and their time and memory.
    pub answers: [Option<(&'b [String], String)>; 4],
}

impl Board {
    /// The matrices with products by A and by its transpose, the largest first.
    pub fn best_of_pairs(&self) -> impl Iterator<Item = BestOfPair<'_>> {
        self.pairs.iter().rev().map(move |row| {
            let answers = row.answers.each_ref().map(|answer| {
                let answer = answer.as_ref()?;
                Some((answer.kernels.as_slice(), answer.numbers(self.ranking.by)))
            });
            BestOfPair { key: &row.key, name: &row.name, answers }
        })
    }

    fn short_names<'n>(&self, answer: &'n Answer) -> Vec<&'n str> {
        answer.kernels.iter().map(|kernel| self.short(kernel)).collect()
    }
}

/// Names in this width: where there is no room for all, each loses letters in its middle, but no precision.
fn in_width(kernels: &[&str], width: f32) -> String {
    let all = kernels.join(" + ");
    if strong_width(&all, BODY) <= width {
        return all;
    }
    let between = strong_width(" + ", BODY) * kernels.len().saturating_sub(1) as f32;
    let each = (width - between) / kernels.len().max(1) as f32;
    let parts = kernels.iter().map(|kernel| {
        let start = kernel.find(" (").unwrap_or(kernel.len());
        let (name, precision) = kernel.split_at(start);
        // The semibold letters are a little wider.
        elided(name, (each - strong_width(precision, BODY)) * 0.95, BODY) + precision
    });
    parts.collect::<Vec<_>>().join(" + ")
}

/// Horizontal places.
struct Places {
    name: [f32; 2],
    /// Of the answers that are shown.
    answers: Vec<[f32; 2]>,
    /// Right end of the ratio to the vendors.
    ratio: Option<f32>,
    right: f32,
}

impl Places {
    fn of(board: &Board, width: f32) -> Self {
        let left = SPACE + THUMB + SPACE;
        let names = board.pairs.iter().map(|row| strong_width(&row.name, BODY));
        let name = [left, left + names.fold(96.0, f32::max).min(width * 0.25)];
        let has_ratio = board.pairs.iter().any(|row| row.gain.is_some());
        let count = if answers(board, 3).next().is_some() { 4 } else { 3 };
        let ratio = if has_ratio { RATIO + 2.0 * SPACE } else { 0.0 };
        let [least, most] = CELL;
        let widths = WIDTHS.iter().take(count);
        let room = width - name[1] - ratio - (count + 1) as f32 * 2.0 * SPACE;
        let cell = (room / widths.clone().sum::<f32>()).clamp(least, most);
        let mut x = name[1];
        let mut answers = Vec::new();
        for width in widths {
            let from = x + 2.0 * SPACE;
            x = from + width * cell;
            answers.push([from, x]);
        }
        let ratio = has_ratio.then_some(x + ratio);
        Self { name, answers, ratio, right: ratio.unwrap_or(x) + SPACE }
    }
}

/// The figure for this width; wider if the answers need it.
pub(super) fn draw(board: &Board, state: &ViewState, width: f32) -> Drawn {
    let ink = state.theme.ink();
    let (title, about) = (headline(board), about(board));
    let (mut drawn, top) = Drawn::titled((&title, &about), &ink, width);
    let places = Places::of(board, width);
    let mut y = head(&mut drawn, &places, &ink, top);
    // The largest first, as in the other forms.
    for row in board.pairs.iter().rev() {
        draw_row(&mut drawn, board, (row, &places), state, y);
        y += ROW;
    }
    drawn.figure.size = vec2(width.max(places.right), y + SPACE);
    drawn
}

/// The titles; returns the top of the rows.
fn head(drawn: &mut Drawn, places: &Places, ink: &Ink, top: f32) -> f32 {
    drawn.head(ink, (top, places.right), |figure, [middle, _]| {
        for (place, title) in places.answers.iter().zip(ANSWERS) {
            put(figure, ink, *place, middle, true, false, title);
        }
        if let Some(right) = places.ratio {
            put(figure, ink, [right - RATIO, right], middle, false, true, "vendors / others");
        }
    })
}

fn draw_row(
    drawn: &mut Drawn,
    board: &Board,
    (row, places): (&PairRow, &Places),
    state: &ViewState,
    y: f32,
) {
    let ink = state.theme.ink();
    let texts: [&str; 2] = [row.name.as_str(), &format!("{} nonzeros", count(row.size))];
    let [upper, lower] = drawn.start_row(state, &row.key, texts, (places.name, [y, y + ROW]));
    let figure = &mut drawn.figure;
    for (answer, [from, to]) in row.answers.iter().zip(&places.answers) {
        let Some(answer) = answer else {
            put(figure, &ink, [*from, *to], upper, false, true, "–");
            continue;
        };
        let names = in_width(&board.short_names(answer), to - from);
        let numbers = answer.numbers(board.ranking.by);
        put(figure, &ink, [*from, *to], upper, true, false, &names);
        put(figure, &ink, [*from, *to], lower, false, true, &numbers);
        let rect = area(from - SPACE, y + 1.0, to + SPACE * 0.5, y + ROW - 1.0);
        let (text, matrix, run) = (answer.words.clone(), row.key.clone(), Some(answer.run));
        figure.hits.push(Hit { rect, text, matrix, run, series: None });
    }
    if let Some((right, gain)) = places.ratio.zip(row.gain) {
        figure.strong(pos2(right, upper), Anchor::End, BODY, ink.text, &times(gain));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_letters_where_there_is_no_room_and_keep_their_precisions() {
        let kernels = ["mkl/optimized (f32)", "mkl/csr-transposed (f32)"];
        let whole = kernels.join(" + ");
        let width = strong_width(&whole, BODY);
        assert_eq!(in_width(&kernels, width), whole);
        for share in [0.6, 0.8] {
            let short = in_width(&kernels, width * share);
            assert!(strong_width(&short, BODY) <= width * share, "{short}");
            let parts: Vec<&str> = short.split(" + ").collect();
            let is_cut = |part: &&str| part.ends_with(" (f32)") && part.contains('…');
            assert!(parts.len() == 2 && parts.iter().all(is_cut), "{short}");
        }
    }
}
