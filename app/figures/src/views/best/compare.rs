//! The best kernel of each bundle on each matrix, side by side, and how much faster the first bundle
//! is.

use emath::{pos2, vec2};

use super::bars::unit;
use super::board::{Board, Rival, Row};
use super::drawn::{Drawn, ROW, outline, put};
use super::headline::{self, TIED, counted, mean, subjects, times};
use super::places::THUMB;
use super::rows::in_order;
use crate::figure::{Anchor, Hit, area, elided, strong_width};
use crate::model::{count, significant};
use crate::state::{RankBy, ViewState};
use crate::theme::{BODY, Ink, SPACE};

/// Width of a ratio.
const RATIO: f32 = 64.0;
/// Narrower figures leave out the ratios.
const NARROW: f32 = 520.0;
/// Minimum and maximum width of a kernel and its rate.
const CELL: [f32; 2] = [80.0, 240.0];

/// How many times as fast the first is as another.
fn ratio(first: Option<&Rival>, other: Option<&Rival>) -> Option<f64> {
    Some(first?.share / other?.share).filter(|ratio| ratio.is_finite())
}

/// How often each side wins, and how many are ties, over the rows that several sides have.
fn wins(board: &Board) -> (Vec<usize>, usize, usize) {
    let (mut wins, mut ties, mut common) = (vec![0; board.sides.len()], 0, 0);
    for row in &board.rows {
        let beside = row.beside(&board.sides).into_iter().enumerate();
        let mut order: Vec<(usize, f64)> =
            beside.filter_map(|(side, best)| Some((side, best?.share))).collect();
        sparsescope_core::order::sort_by(&mut order, |a, b| b.1.total_cmp(&a.1));
        let &[(side, first), (_, second), ..] = order.as_slice() else { continue };
        common += 1;
        match wins.get_mut(side) {
            _ if first < TIED * second => ties += 1,
            Some(wins) => *wins += 1,
            None => {}
        }
    }
    (wins, ties, common)
}

/// Which bundle wins how often, and how much faster or slower the first is: geometric means over the
/// matrices that both have.
pub(super) fn headline(board: &Board) -> String {
    let (wins, ties, common) = wins(board);
    let Some((first, others)) = board.sides.split_first() else { return String::new() };
    if common == 0 {
        return format!("The bundles have no {} in common", subjects(board, 2));
    }
    let mut sides: Vec<(&str, usize)> =
        board.sides.iter().map(|side| side.name.as_str()).zip(wins).collect();
    sides.retain(|(_, wins)| *wins > 0);
    sparsescope_core::order::sort_by(&mut sides, |a, b| b.1.cmp(&a.1));
    let mut words: Vec<String> = Vec::new();
    for (name, wins) in sides {
        let verb = if words.is_empty() { " wins" } else { "" };
        words.push(format!("{name}{verb} {wins}"));
    }
    words.extend(match ties {
        0 => None,
        1 => Some("1 tie".to_owned()),
        ties => Some(format!("{ties} ties")),
    });
    let who = format!("On {} in common: {}", counted(board, common), words.join(", "));
    let gains = others.iter().enumerate().filter_map(|(place, other)| {
        let ratios = board.rows.iter().filter_map(|row| {
            let beside = row.beside(&board.sides);
            ratio(beside.first().copied()?, beside.get(place + 1).copied()?)
        });
        let gain = mean(ratios)?;
        let is_worse = gain < 1.0;
        let (good, bad) = if is_worse { (other, first) } else { (first, other) };
        let gain = times(if is_worse { 1.0 / gain } else { gain });
        Some(match board.ranking.by {
            RankBy::Rate => format!("; {} is {gain} as fast as {}", good.name, bad.name),
            RankBy::Energy => format!("; {} takes {gain} the energy of {}", bad.name, good.name),
        })
    });
    format!("{who}{}", gains.collect::<String>())
}

/// What the headline holds for.
pub(super) fn about(board: &Board) -> String {
    let (.., common) = wins(board);
    let alone = board.rows.len() - common;
    let mut words = board.conditions.clone();
    words.extend((common > 1).then(|| "geometric mean".to_owned()));
    words.push("a tie is within 5 %".into());
    words.extend((alone > 0).then(|| format!("{alone} in one bundle only")));
    words.extend(headline::stand_ins(board));
    words.extend(board.unsupported.clone());
    words.join(" · ")
}

/// The kernels and rates of all sides, and the ratios to the first.
pub(super) fn table(board: &Board) -> Vec<Vec<String>> {
    let first = board.sides.first().map_or("", |side| side.name.as_str());
    let mut header: Vec<String> = ["matrix", "size", "unit"].map(str::to_owned).to_vec();
    for (place, side) in board.sides.iter().enumerate() {
        let name = &side.name;
        header.extend([format!("kernel, {name}"), format!("rate, {name}")]);
        header.extend((place > 0).then(|| format!("{first} / {name}")));
    }
    header.extend(board.vectors.map(|_| "k".to_owned()));
    let mut lines = vec![header];
    for row in &board.rows {
        let mut line = vec![row.name.clone(), row.size.to_string(), board.rate.clone()];
        let beside = row.beside(&board.sides);
        let first = beside.first().copied().flatten();
        for (place, best) in beside.into_iter().enumerate() {
            line.push(best.map(|best| best.title.clone()).unwrap_or_default());
            line.push(best.map(|best| best.rate.to_string()).unwrap_or_default());
            let ratio = || ratio(first, best).map(|ratio| ratio.to_string()).unwrap_or_default();
            line.extend((place > 0).then(ratio));
        }
        line.extend(board.vectors.map(|k| k.to_string()));
        lines.push(line);
    }
    lines
}

/// Horizontal places.
struct Places {
    name: [f32; 2],
    /// Of each side: the kernel, and the right end of the ratio.
    sides: Vec<([f32; 2], Option<f32>)>,
    right: f32,
}

impl Places {
    fn of(board: &Board, width: f32) -> Self {
        let left = SPACE + THUMB + SPACE;
        let names = board.rows.iter().map(|row| strong_width(board.name_of(row), BODY));
        let name = [left, left + names.fold(96.0, f32::max).min(width * 0.3)];
        let count = board.sides.len() as f32;
        let has_ratios = width >= NARROW;
        let ratios = if has_ratios { (count - 1.0).max(0.0) * (RATIO + SPACE) } else { 0.0 };
        let [least, most] = CELL;
        let room = (width - name[1] - ratios - 2.0 * SPACE) / count.max(1.0) - 2.0 * SPACE;
        let cell = room.clamp(least, most);
        let mut x = name[1];
        let mut sides = Vec::new();
        for place in 0..board.sides.len() {
            let from = x + 2.0 * SPACE;
            x = from + cell;
            let ratio = (has_ratios && place > 0).then_some(x + SPACE + RATIO);
            sides.push(([from, x], ratio));
            x = ratio.unwrap_or(x);
        }
        Self { name, sides, right: x + SPACE }
    }
}

/// The figure for this width; wider if the bundles need it.
pub(super) fn draw(board: &Board, state: &ViewState, width: f32) -> Drawn {
    let ink = state.theme.ink();
    let (title, about) = (headline(board), about(board));
    let (mut drawn, top) = Drawn::titled((&title, &about), &ink, width);
    let places = Places::of(board, width);
    let mut y = head(&mut drawn, board, &places, &ink, top);
    for row in in_order(board.rows.iter().collect(), state) {
        draw_row(&mut drawn, board, (row, &places), state, y);
        y += ROW;
    }
    drawn.figure.size = vec2(width.max(places.right), y + SPACE);
    drawn
}

/// The names of the bundles; returns the top of the rows.
fn head(drawn: &mut Drawn, board: &Board, places: &Places, ink: &Ink, top: f32) -> f32 {
    drawn.head(ink, (top, places.right), |figure, [middle, bottom]| {
        put(figure, ink, places.name, middle, false, true, &format!("best in {}", unit(board)));
        for (side, (place, ratio)) in board.sides.iter().zip(&places.sides) {
            put(figure, ink, *place, middle, true, false, &side.name);
            if let Some(right) = ratio {
                put(figure, ink, [right - RATIO, *right], middle, false, true, "1st / this");
            }
            let rect = area(place[0], top, place[1], bottom);
            let (text, matrix) = (format!("The best of {}", side.name), String::new());
            figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
        }
    })
}

/// The best of each side, the best of several outlined.
fn draw_row(
    drawn: &mut Drawn,
    board: &Board,
    (row, places): (&Row, &Places),
    state: &ViewState,
    y: f32,
) {
    let ink = state.theme.ink();
    let texts: [&str; 2] = [board.name_of(row), &count(row.size)];
    let [upper, lower] = drawn.start_row(state, &row.key, texts, (places.name, [y, y + ROW]));
    let figure = &mut drawn.figure;
    let beside = row.beside(&board.sides);
    let first = beside.first().copied().flatten();
    let competes = beside.iter().flatten().count() > 1;
    for (best, ([from, to], ratio_at)) in beside.iter().copied().zip(&places.sides) {
        let Some(best) = best else {
            put(figure, &ink, [*from, *to], upper, false, true, "–");
            continue;
        };
        let wins = competes && best.run == row.run;
        put(figure, &ink, [*from, *to], upper, wins, false, &significant(best.rate));
        put(figure, &ink, [*from, *to], lower, false, true, &board.short_title(&best.title));
        let rect = area(from - SPACE, y + 1.0, to + SPACE * 0.5, y + ROW - 1.0);
        if wins {
            outline(figure, rect, ink.winner);
        }
        let (text, matrix, run) = (best.words.clone(), row.key.clone(), Some(best.run));
        figure.hits.push(Hit { rect, text, matrix, run, series: None });
        if let Some((right, ratio)) = ratio_at.zip(ratio(first, Some(best))) {
            let text = elided(&times(ratio), RATIO, BODY);
            figure.strong(pos2(right, upper), Anchor::End, BODY, ink.text, &text);
        }
    }
}
