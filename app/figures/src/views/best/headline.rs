//! Who wins, in one sentence, and what it holds for, above the heat map and the bars.

use std::collections::BTreeMap;

use emath::pos2;
use sparsescope_core::kernel::kernel;

use super::baseline::{Against, is_vendors};
use super::board::{Board, Row};
use crate::figure::{Anchor, Figure, strong_width, text_width};
use crate::model::significant;
use crate::theme::{Ink, SMALL, SPACE, TITLE};

/// The second is about as fast if the winner leads by less.
pub(super) const TIED: f64 = 1.05;

/// What so many rows are.
pub(super) fn subjects(board: &Board, rows: usize) -> &'static str {
    match (board.what, rows) {
        ("Matrix", 1) => "matrix",
        ("Matrix", _) => "matrices",
        ("Points", 1) => "point set",
        ("Points", _) => "point sets",
        (_, 1) => "subject",
        _ => "subjects",
    }
}

/// This many subjects, in words.
pub(super) fn counted(board: &Board, count: usize) -> String {
    format!("{count} {}", subjects(board, count))
}

/// What is compared with a vendor's kernels; kernels of the user and imported ones are not Sparsescope's.
fn compared(board: &Board) -> &'static str {
    let is_known = |id: &String| is_vendors(id) || kernel(id).is_some();
    match (board.kernels.iter().all(is_known), board.rows.len()) {
        (true, 1) => "Sparsescope's best kernel is",
        (true, _) => "Sparsescope's kernels are",
        (false, 1) => "the best other kernel is",
        (false, _) => "the best other kernels are",
    }
}

/// The rows' gains over the baseline, folded rows aside.
fn gains(board: &Board) -> Vec<f64> {
    let rows = board.rows.iter().filter(|row| !row.folded);
    rows.filter_map(|row| row.gain).filter(|gain| *gain > 0.0).collect()
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

/// Who wins most often, and the gain over the baseline: on all subjects but folded ones, as a
/// geometric mean.
pub fn headline(board: &Board) -> String {
    let all = board.rows.len();
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    board.rows.iter().for_each(|row| *wins.entry(&row.wins_as).or_default() += 1);
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    crate::order::sort_by(&mut wins, |a, b| b.1.cmp(&a.1));
    let subjects = subjects(board, all);
    let who = match (&wins[..], &board.rows[..]) {
        ([(only, _)], [row]) => format!("{} is fastest on {}", board.short(only), row.name),
        ([(only, _)], _) => format!("On {all} {subjects}, {} wins all", board.short(only)),
        ([(_, 1), ..], [row, ..]) => {
            let what = if row.is_solve() { "preconditioners" } else { "kernels" };
            format!("On {all} {subjects}, {all} different {what} win")
        }
        ([(first, most), (second, next), ..], _) => {
            let (first, second) = (board.short(first), board.short(second));
            format!("On {all} {subjects}, {first} wins {most} and {second} {next}")
        }
        _ => return String::new(),
    };
    let Some(gain) = mean(gains(board).into_iter()) else { return who };
    let times = times(gain);
    let fastest = if all == 1 { "it is" } else { "the fastest kernels are" };
    match &board.against {
        Against::Serial => format!("{who}; {fastest} {times} as fast as the serial reference"),
        Against::Vendor(name) => format!("{who}; {} {times} as fast as {name}", compared(board)),
        Against::Bundle(name) => format!("{who}; {fastest} {times} as fast as the best of {name}"),
    }
}

/// What the headline holds for.
pub fn about(board: &Board, unfolded: bool) -> String {
    let [shown, folded] = board.parts();
    let mut words = board.conditions.clone();
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
        tied => words.push(format!("on {tied} the second kernel is within 5 %")),
    }
    words.extend(stand_ins(board));
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
    for line in wrapped(about, room, |text| text_width(text, SMALL)) {
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
}
