//! Who wins, in one sentence, and what it holds for, above the heat map and the bars.

use std::collections::BTreeMap;

use emath::pos2;

use super::baseline::Against;
use super::board::{Board, Row};
use crate::figure::{Anchor, Figure, strong_width, text_width};
use crate::model::significant;
use crate::theme::{Ink, SMALL, SPACE, TITLE};

/// The second kernel is about as fast if the winner leads by less.
const TIED: f64 = 1.05;

/// The plural of what the rows are.
pub(super) fn subjects(board: &Board) -> &'static str {
    match board.what {
        "Matrix" => "matrices",
        "Points" => "point sets",
        _ => "subjects",
    }
}

/// The geometric mean of the rows' gains, folded rows aside.
fn mean_gain(board: &Board) -> Option<f64> {
    let rows = board.rows.iter().filter(|row| !row.folded);
    let gains: Vec<f64> = rows.filter_map(|row| row.gain).filter(|gain| *gain > 0.0).collect();
    let sum: f64 = gains.iter().map(|gain| gain.ln()).sum();
    (!gains.is_empty()).then(|| (sum / gains.len() as f64).exp())
}

/// Who wins most often, and the gain over the baseline: on all subjects but folded ones, as a
/// geometric mean.
pub fn headline(board: &Board) -> String {
    let all = board.rows.len();
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    board.rows.iter().for_each(|row| *wins.entry(&row.wins_as).or_default() += 1);
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    crate::order::sort_by(&mut wins, |a, b| b.1.cmp(&a.1));
    let subjects = subjects(board);
    let who = match (&wins[..], &board.rows[..]) {
        ([(only, _)], [row]) => format!("{} is fastest on {}", board.short(only), row.name),
        ([(only, _)], _) => format!("On {all} {subjects}, {} wins all", board.short(only)),
        ([(_, 1), ..], _) => format!("On {all} {subjects}, {all} different kernels win"),
        ([(first, most), (second, next), ..], _) => {
            let (first, second) = (board.short(first), board.short(second));
            format!("On {all} {subjects}, {first} wins {most} and {second} {next}")
        }
        ([], _) => return String::new(),
    };
    let Some(gain) = mean_gain(board) else { return who };
    let times =
        if gain < 10.0 { format!("{gain:.2}×") } else { format!("{}×", significant(gain)) };
    match &board.against {
        Against::Serial => format!("{who}; the best run {times} the serial reference"),
        Against::Vendor(name) => format!("{who}; ours run {times} the best of {name}"),
        Against::Bundle(name) => format!("{who}; the best run {times} {name}"),
    }
}

/// What the headline holds for.
pub fn about(board: &Board, unfolded: bool) -> String {
    let [shown, folded] = board.parts();
    let mut words = board.conditions.clone();
    if !folded.is_empty() {
        let what = if unfolded { "below" } else { "folded below" };
        let (shown, folded) = (shown.len(), folded.len());
        words.push(format!("{shown} shown, {folded} launch-bound ones {what} and not averaged"));
    }
    let is_mean = shown.iter().filter(|row| row.gain.is_some()).count() > 1;
    words.extend(is_mean.then(|| "geometric mean".to_owned()));
    let tied = |row: &&&Row| row.lead.is_some_and(|lead| lead < TIED);
    match shown.iter().filter(tied).count() {
        0 => {}
        tied => words.push(format!("on {tied} the second is within 5 %")),
    }
    match board.rows.iter().filter(|row| row.stand_in).count() {
        0 => {}
        all if all == board.rows.len() => words.push("stand-ins for real matrices".into()),
        some => words.push(format!("{some} stand-ins")),
    }
    words.join(" · ")
}

/// Writes both at the top of a figure; returns where what is below starts.
pub(super) fn write(
    figure: &mut Figure,
    board: &Board,
    unfolded: bool,
    ink: &Ink,
    width: f32,
) -> f32 {
    let room = width - 2.0 * SPACE;
    let mut y = SPACE + TITLE * 0.5;
    for line in wrapped(&headline(board), room, |text| strong_width(text, TITLE)) {
        figure.strong(pos2(SPACE, y), Anchor::Start, TITLE, ink.text, &line);
        y += TITLE * 1.3;
    }
    for line in wrapped(&about(board, unfolded), room, |text| text_width(text, SMALL)) {
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
