//! Who wins, in one sentence, and what it holds for, above the heat map and the bars.

use std::collections::BTreeMap;

use emath::pos2;
use sparsescope_core::kernel::kernel;

use super::baseline::{Against, is_vendors};
use super::board::{Board, Row};
use crate::figure::{Anchor, Figure, Hit, area, elided_at_word, strong_width, text_width};
use crate::model::significant;
use crate::state::RankBy;
use crate::theme::{Ink, SMALL, SPACE, TITLE};

/// The second is about as fast if the winner leads by less.
pub(super) const TIED: f64 = 1.05;

/// The word for this many rows.
pub(super) fn subjects(board: &Board, rows: usize) -> &'static str {
    match (board.what, rows) {
        ("Matrix", 1) => "matrix",
        ("Matrix", _) => "matrices",
        ("Points", 1) => "point set",
        ("Points", _) => "point sets",
        ("Batch", 1) => "batch",
        ("Batch", _) => "batches",
        (_, 1) => "subject",
        _ => "subjects",
    }
}

/// This many subjects, in words.
pub(super) fn counted(board: &Board, count: usize) -> String {
    format!("{count} {}", subjects(board, count))
}

/// Whether all kernels but those of vendors are Sparsescope's: not of the user or imported.
pub(super) fn are_ours(board: &Board) -> bool {
    board.kernels.iter().all(|id| is_vendors(id) || kernel(id).is_some())
}

/// What is compared with a vendor's kernels.
fn compared(board: &Board) -> &'static str {
    match (are_ours(board), board.rows.len()) {
        (true, 1) => "Sparsescope's best kernel",
        (true, _) => "Sparsescope's kernels",
        (false, 1) => "the best other kernel",
        (false, _) => "the best other kernels",
    }
}

/// The rows' gains over the baseline, folded rows aside; none if the baseline itself wins everywhere.
fn gains(board: &Board) -> Vec<f64> {
    let rows = board.rows.iter().filter(|row| !row.folded);
    let gains: Vec<f64> = rows.filter_map(|row| row.gain).filter(|gain| *gain > 0.0).collect();
    if gains.iter().all(|gain| *gain == 1.0) { Vec::new() } else { gains }
}

/// The geometric mean of the positive ones; `None` if there are none.
pub(super) fn mean(gains: impl Iterator<Item = f64>) -> Option<f64> {
    let gains: Vec<f64> = gains.filter(|gain| *gain > 0.0 && gain.is_finite()).collect();
    let sum: f64 = gains.iter().map(|gain| gain.ln()).sum();
    (!gains.is_empty()).then(|| (sum / gains.len() as f64).exp())
}

/// A ratio in words.
pub(super) fn times(gain: f64) -> String {
    match (0.1..10.0).contains(&gain) {
        true => format!("{gain:.2}×"),
        false => format!("{}×", significant(gain)),
    }
}

/// Which of `winners`, one for each row, win how often: the two that win most often.
fn wins<'b>(board: &'b Board, winners: impl Iterator<Item = &'b str>) -> Option<String> {
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    winners.for_each(|name| *wins.entry(name).or_default() += 1);
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    sparsescope_core::order::sort_by(&mut wins, |a, b| b.1.cmp(&a.1));
    let rows = board.rows.len();
    Some(match &wins[..] {
        [] => return None,
        [(only, _)] if rows == 1 => match board.ranking.by {
            RankBy::Rate => format!("{} is fastest", board.short(only)),
            RankBy::Energy => format!("{} takes the least energy", board.short(only)),
        },
        [(only, _)] if is_alone(board) => format!("{} is the only kernel", board.short(only)),
        [(only, most)] if *most == rows => format!("{} wins all", board.short(only)),
        [(only, most)] => format!("{} wins {most}", board.short(only)),
        [(_, 1), ..] => {
            let what = if is_solve(board) { "preconditioners" } else { "kernels" };
            format!("{} different {what} win", wins.len())
        }
        [(first, most), (second, next), ..] => {
            let (first, second) = (board.short(first), board.short(second));
            // The names of preconditioners end in numbers.
            let again = if is_solve(board) { " wins" } else { "" };
            format!("{first} wins {most} and {second}{again} {next}")
        }
    })
}

/// Whether one kernel has no other to compete with.
fn is_alone(board: &Board) -> bool {
    board.kernels.len() == 1 && !is_solve(board)
}

fn is_solve(board: &Board) -> bool {
    board.rows.iter().any(Row::is_solve)
}

/// How many times as good as the baseline, folded rows aside.
fn gain(board: &Board) -> Option<String> {
    let times = times(mean(gains(board).into_iter())?);
    let is_one = board.rows.len() == 1 || is_alone(board);
    let best = match (is_one, is_solve(board), board.ranking.by) {
        (true, false, RankBy::Rate) => "it",
        (true, true, RankBy::Rate) => "the fastest",
        (false, _, RankBy::Rate) => "the fastest kernels",
        (true, _, RankBy::Energy) => "the winner",
        (false, _, RankBy::Energy) => "the winners",
    };
    let (best, baseline) = match &board.against {
        Against::Serial => (best, "the serial reference".to_owned()),
        Against::Vendor(name) => (compared(board), name.clone()),
        Against::Bundle(name) => (best, format!("the best of {name}")),
    };
    let are = if is_one { "is" } else { "are" };
    Some(match board.ranking.by {
        RankBy::Rate => format!("{best} {are} {times} as fast as {baseline}"),
        RankBy::Energy => format!("the energy of {baseline} is {times} that of {best}"),
    })
}

/// That the products are by the transpose, the number of columns of X, and the limit of the error, before the
/// subjects; empty if there is none of them.
fn within(board: &Board) -> String {
    let transposed = if board.transposed { "for A' " } else { "" };
    let error = board.ranking.max_error;
    let error = error.map(|error| format!("within a relative error of {error:e} "));
    let k = board.vectors.map(|k| format!("with k = {k} ")).unwrap_or_default();
    format!("{transposed}{k}{}", error.unwrap_or_default())
}

/// With a capital at its start.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Who wins most often, of solves with and without setup; of kernels also the gain over the
/// baseline, a geometric mean, with the number of subjects that it is over if not all have one.
pub fn headline(board: &Board) -> String {
    let rows = &board.rows;
    let Some(once) = wins(board, rows.iter().map(|row| row.wins_as.as_str())) else {
        return String::new();
    };
    let by = if board.ranking.by == RankBy::Energy { "by energy " } else { "" };
    let within = within(board);
    let (before, after) = match &rows[..] {
        [row] => (String::new(), format!(" {within}on {}", row.name)),
        _ => {
            let on = format!("{by}{within}on {}, ", counted(board, rows.len()));
            (capitalised(&on), String::new())
        }
    };
    let whole = rows.iter().filter_map(|row| Some(row.whole.as_ref()?.method.as_str()));
    let who = match wins(board, whole) {
        None => format!("{before}{once}{after}"),
        Some(whole) if whole == once => format!("{before}{once}{after}, with and without setup"),
        Some(whole) => format!("{before}{once}{after} once set up; including setup, {whole}"),
    };
    match gain(board).filter(|_| !is_solve(board)) {
        Some(gain) => match gains(board).len() {
            averaged if averaged < rows.len() => format!("{who}; {gain} on {averaged} of them"),
            _ => format!("{who}; {gain}"),
        },
        None => who,
    }
}

/// What the headline holds for: its population, its mean and ties first, where they are not cut.
pub(super) fn about(board: &Board, unfolded: bool) -> String {
    let [shown, folded] = board.parts();
    let mut words = Vec::new();
    if !folded.is_empty() {
        let what = if unfolded { "below" } else { "folded below" };
        let (shown, folded) = (shown.len(), folded.len());
        let subjects = subjects(board, folded);
        words.push(format!(
            "{shown} shown, {folded} launch-bound {subjects} {what} and not averaged"
        ));
    }
    match gains(board).len() {
        0 | 1 => {}
        averaged => words.push(format!("geometric mean over {}", counted(board, averaged))),
    }
    let tied = |row: &&&Row| row.lead.is_some_and(|lead| lead < TIED);
    match shown.iter().filter(tied).count() {
        0 => {}
        tied => {
            let on = counted(board, tied);
            words.push(format!("on {on} the second kernel is within 5 %"));
        }
    }
    let gain = gain(board).filter(|_| is_solve(board));
    words.extend(gain.map(|gain| format!("once set up, {gain}")));
    words.extend(stand_ins(board));
    words.extend(board.conditions.clone());
    if board.rows.iter().any(|row| row.credited != row.run) {
        words.push("a win of an automatic kernel counts for the kernel that it chose".into());
    }
    words.extend(board.least_energy.as_ref().map(|(kernel, rows)| {
        format!(
            "{} takes the least measured energy on {}",
            board.short(kernel),
            counted(board, *rows)
        )
    }));
    words.extend(board.unsupported.clone());
    words.join(" · ")
}

/// How many rows stand in for real matrices.
pub(super) fn stand_ins(board: &Board) -> Option<String> {
    match board.rows.iter().filter(|row| row.stand_in).count() {
        0 => None,
        1 => Some("1 generated stand-in for a real matrix".into()),
        all if all == board.rows.len() => Some("generated stand-ins for real matrices".into()),
        some => Some(format!("{some} generated stand-ins for real matrices")),
    }
}

/// Narrower figures have one line of what the headline holds for; all of it is in its tooltip, and shown by a click.
/// Wider ones and files have room for it.
const BRIEF: f32 = 1200.0;
/// The series of that line, if it is cut.
pub const ABOUT: &str = "what the headline holds for";

/// Writes a headline and what it holds for at the top of a figure; returns where what is below starts.
pub(super) fn write(
    figure: &mut Figure,
    (headline, about): (&str, &str),
    ink: &Ink,
    width: f32,
) -> f32 {
    let room = width - 2.0 * SPACE;
    let mut y = SPACE + TITLE * 0.5;
    for line in wrapped(headline, room, |text| strong_width(text, TITLE)) {
        figure.strong(pos2(SPACE, y), Anchor::Start, TITLE, ink.text, &line);
        y += TITLE * 1.3;
    }
    let lines = match width < BRIEF {
        true => vec![elided_at_word(about, room, SMALL)],
        false => wrapped(about, room, |text| text_width(text, SMALL)),
    };
    if lines.first().is_some_and(|line| line.ends_with('…')) {
        let rect = area(SPACE, y - SMALL * 0.75, width - SPACE, y + SMALL * 0.75);
        let (text, matrix) = (about.to_owned(), String::new());
        figure.hits.push(Hit { rect, text, matrix, run: None, series: Some(ABOUT.into()) });
    }
    for line in lines {
        figure.text(pos2(SPACE, y), Anchor::Start, SMALL, ink.weak, &line);
        y += SMALL * 1.5;
    }
    y + SPACE
}

/// The text in lines of at most this width, broken between words; no line starts with a separator.
fn wrapped(text: &str, room: f32, width: impl Fn(&str) -> f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if word == "·" || width(&format!("{line} {word}")) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_ends_a_line_and_starts_none() {
        let lines = wrapped("one two · three", 7.0, |text| text.chars().count() as f32);
        assert_eq!(lines, ["one two ·", "three"]);
    }

    #[test]
    fn a_line_keeps_the_words_that_fit_and_its_tooltip_has_all() {
        let about = "16 shown, 14 folded · geometric mean over 15 matrices · warm caches".repeat(3);
        let of = |width: f32| {
            let (paper, ink) = (ecolor::Color32::WHITE, crate::state::Theme::Light.ink());
            let mut figure = Figure::new(emath::vec2(width, 0.0), paper);
            let below = write(&mut figure, ("Who wins", &about), &ink, width);
            (figure, below)
        };
        let (figure, below) = of(980.0);
        let [hit] = &figure.hits[..] else { panic!("{:?}", figure.hits) };
        assert_eq!(hit.text, about);
        let shown = format!("{:?}", figure.shapes);
        assert!(
            shown.contains("geometric mean over 15 matrices") && shown.contains(" …"),
            "{shown}"
        );
        assert!(of(1200.0).0.hits.is_empty(), "files have all of it");
        assert_eq!(of(360.0).1, below, "a phone has one line, too");
    }
}
