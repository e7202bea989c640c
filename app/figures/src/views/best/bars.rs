//! Bars: the kernels of each subject, ranked, or the winner on each subject against the baseline.

use std::collections::BTreeSet;

use ecolor::Color32;
use emath::{pos2, vec2};

use super::baseline::is_vendors;
use super::board::{Board, Rival, Row};
use super::headline;
use super::heat::in_order;
use crate::figure::{Anchor, Figure, Hit, area, elided, strong_width, text_width};
use crate::model::{count, significant};
use crate::state::ViewState;
use crate::theme::{BODY, Ink, SMALL, SPACE, series};
use crate::views::charts::Looks;

/// Height of a bar with the space around it.
const LINE: f32 = 26.0;
/// Least space for the text behind the longest bar.
const NUMBER: f32 = 150.0;
/// Narrower figures leave out the iterations and the setup of solves.
const NARROW: f32 = 700.0;
/// Space between bars of different preconditioners.
const GAP: f32 = 6.0;

/// One bar.
struct Bar<'b> {
    /// What it and the bars below it have in common.
    group: String,
    label: String,
    color: Color32,
    kernel: &'b str,
    wins: bool,
    value: f64,
    /// Where the baseline is.
    tick: Option<f64>,
    text: String,
    hit: (String, &'b Row, usize),
}

/// The kernels of each subject, ranked.
pub(super) fn ranked(board: &Board, looks: &Looks, state: &ViewState, width: f32) -> Figure {
    let (mut figure, ink, mut y) = start(board, state, width);
    let rivals = board.rows.iter().flat_map(|row| &row.runs);
    let groups: BTreeSet<&str> = rivals.map(|rival| rival.group.as_str()).collect();
    for row in &board.rows {
        if board.rows.len() > 1 {
            let name = elided(board.name_of(row), (width - 2.0 * SPACE) * 0.7, BODY);
            figure.strong(pos2(SPACE, y + SPACE), Anchor::Start, BODY, ink.text, &name);
            let x = SPACE + strong_width(&name, BODY) + SPACE;
            figure.text(pos2(x, y + SPACE), Anchor::Start, SMALL, ink.weak, &count(row.size));
            y += 3.0 * SPACE;
        }
        let mut last = "";
        let bars = in_groups(row).into_iter().map(|rival| {
            let group = rival.group.as_str();
            let place = groups.iter().position(|of| *of == group).unwrap_or_default();
            let is_new = std::mem::replace(&mut last, group) != group;
            let rest = rival.title.strip_prefix(group).unwrap_or(&rival.title);
            let note = Some(&rival.note).filter(|note| width >= NARROW && !note.is_empty());
            let note = note.map(|note| format!(", {note}")).unwrap_or_default();
            let rate = significant(rival.rate);
            Bar {
                group: if is_new { group.to_owned() } else { String::new() },
                label: board.short_title(rest.trim_start_matches(", ")),
                color: match group {
                    "" => looks.find(&rival.kernel, 0, &ink).0,
                    _ => series(place),
                },
                kernel: &rival.kernel,
                wins: rival.run == row.run,
                value: rival.rate,
                tick: None,
                text: match rival.run == row.run {
                    true => format!("{rate} {}{note}", unit(board)),
                    false => format!("{rate}{note}"),
                },
                hit: (rival.words.clone(), row, rival.run),
            }
        });
        y = draw(&mut figure, &bars.collect::<Vec<_>>(), ink, width, y) + 2.0 * SPACE;
    }
    figure.size.y = y + SPACE;
    figure
}

/// The kernels of a row; of solves those with one preconditioner together, the fastest first.
fn in_groups(row: &Row) -> Vec<&Rival> {
    let first = |of: &Rival| row.runs.iter().position(|rival| rival.group == of.group);
    let mut runs: Vec<&Rival> = row.runs.iter().collect();
    crate::order::sort_by(&mut runs, |a, b| match a.group.is_empty() {
        true => std::cmp::Ordering::Equal,
        false => first(a).cmp(&first(b)),
    });
    runs
}

/// The winner on each subject, the largest first, with its gain over the baseline.
pub(super) fn winners(board: &Board, looks: &Looks, state: &ViewState, width: f32) -> Figure {
    let (mut figure, ink, y) = start(board, state, width);
    let short = board.against.short();
    let bars = in_order(board.rows.iter().collect(), state).into_iter().map(|row| {
        let rate = format!("{} {}", significant(row.rate), unit(board));
        // Where a vendor wins, the gain is that of another kernel.
        let gain = row.gain.filter(|gain| *gain >= 1.0);
        Bar {
            group: String::new(),
            label: board.name_of(row).to_owned(),
            color: looks.find(&row.kernel, 0, &ink).0,
            kernel: &row.kernel,
            wins: false,
            value: row.rate,
            tick: gain.map(|gain| if board.less { row.rate * gain } else { row.rate / gain }),
            text: match row.gain {
                Some(gain) if is_vendors(&row.kernel) => {
                    format!("{rate}, ours / {short} {}×", significant(gain))
                }
                Some(gain) => format!("{rate}, {}× {short}", significant(gain)),
                None => rate,
            },
            hit: (format!("{} on {}. {}", row.title, row.name, row.why), row, row.run),
        }
    });
    let y = draw(&mut figure, &bars.collect::<Vec<_>>(), ink, width, y);
    let text = format!("The line in each bar marks the baseline, {short}.");
    figure.text(pos2(SPACE, y + SPACE), Anchor::Start, SMALL, ink.weak, &text);
    figure.size.y = y + 3.0 * SPACE;
    figure
}

/// The headline, and where what is below starts.
pub(super) fn start(board: &Board, state: &ViewState, width: f32) -> (Figure, Ink, f32) {
    let ink = state.theme.ink();
    let mut figure = Figure::new(vec2(width, 0.0), ink.paper);
    let (title, about) = (headline::headline(board), headline::about(board, true));
    let y = headline::write(&mut figure, (&title, &about), &ink, width);
    (figure, ink, y)
}

/// The unit of the rates, without the name of the metric.
fn unit(board: &Board) -> &str {
    let unit = board.rate.split_once(", ").map_or(board.rate.as_str(), |(_, unit)| unit);
    unit.strip_suffix(" (lower is better)").unwrap_or(unit)
}

/// Draws bars below `y` on a common scale; returns where they end.
fn draw(figure: &mut Figure, bars: &[Bar<'_>], ink: Ink, width: f32, mut y: f32) -> f32 {
    let groups = bars.iter().map(|bar| strong_width(&bar.group, BODY)).fold(0.0, f32::max);
    let groups = if groups > 0.0 { groups.min(width * 0.2) + 2.0 * SPACE } else { 0.0 };
    let longest = bars.iter().map(|bar| text_width(&bar.label, BODY)).fold(60.0, f32::max);
    let labels = longest.min(width * 0.4 - groups * 0.5);
    let left = SPACE + groups + labels + SPACE;
    let texts = bars.iter().map(|bar| strong_width(&bar.text, BODY) + 2.0 * SPACE);
    let room = (width - left - texts.fold(NUMBER, f32::max)).max(40.0);
    let ends = bars.iter().flat_map(|bar| [bar.value, bar.tick.unwrap_or(0.0)]);
    let most = ends.fold(0.0, f64::max);
    let place = |value: f64| left + room * if most > 0.0 { (value / most) as f32 } else { 0.0 };
    for (index, bar) in bars.iter().enumerate() {
        if !bar.group.is_empty() {
            y += if index > 0 { GAP } else { 0.0 };
            let (at, text) = (pos2(SPACE, y + LINE * 0.5), elided(&bar.group, groups, BODY));
            figure.strong(at, Anchor::Start, BODY, ink.text, &text);
        }
        let middle = y + LINE * 0.5;
        let (vendors, label) = (is_vendors(bar.kernel), elided(&bar.label, labels, BODY));
        let color: Color32 = if vendors { ink.vendor } else { ink.text };
        let at = pos2(left - SPACE, middle);
        let number = pos2(place(bar.value) + SPACE, middle);
        let rect = area(left, middle - 8.0, place(bar.value).max(left + 1.0), middle + 8.0);
        figure.rect(rect, bar.color);
        if bar.wins {
            figure.strong(at, Anchor::End, BODY, color, &label);
            figure.strong(number, Anchor::Start, BODY, ink.text, &bar.text);
        } else {
            figure.text(at, Anchor::End, BODY, color, &label);
            figure.text(number, Anchor::Start, BODY, ink.text, &bar.text);
        }
        if let Some(x) = bar.tick.map(place) {
            figure.line(pos2(x, middle - 11.0), pos2(x, middle + 11.0), 3.0, ink.paper);
            figure.line(pos2(x, middle - 11.0), pos2(x, middle + 11.0), 1.5, ink.text);
        }
        let (text, row, run) = &bar.hit;
        figure.hits.push(Hit {
            rect: area(SPACE, y, width - SPACE, y + LINE),
            text: text.clone(),
            matrix: row.key.clone(),
            run: Some(*run),
            series: None,
        });
        y += LINE;
    }
    y
}
