//! Bars: the kernels of each subject, ranked, or the winner on each subject against the baseline.

use ecolor::Color32;
use emath::{pos2, vec2};

use super::baseline::is_vendors;
use super::board::{Board, Rival, Row};
use super::headline;
use super::rows::in_order;
use crate::figure::{
    Anchor, Figure, Hit, Mark, area, elided, shortened, strong_width, text_width, wrapped,
};
use crate::model::significant;
use crate::state::ViewState;
use crate::theme::{BODY, Ink, SMALL, SPACE, blend, series};
use crate::views::charts::Looks;

/// Height of a bar with the space around it.
const LINE: f32 = 26.0;
/// Least space for the text behind the longest bar.
const NUMBER: f32 = 150.0;
/// Narrower figures leave out the iterations and the setup of solves.
const NARROW: f32 = 700.0;
/// Space between bars of different preconditioners.
const GAP: f32 = 6.0;
/// Radius of the arrow at the end of a bar that is cut.
const ARROW: f32 = 7.0;
/// Bars of times are cut if they are this many times as long as all others.
const STRETCH: f64 = 3.0;

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
    let groups = sparsescope_core::order::set(rivals.map(|rival| rival.group.as_str()));
    for row in &board.rows {
        if board.rows.len() > 1 {
            let name = elided(board.name_of(row), (width - 2.0 * SPACE) * 0.7, BODY);
            figure.strong(pos2(SPACE, y + SPACE), Anchor::Start, BODY, ink.text, &name);
            let x = SPACE + strong_width(&name, BODY) + SPACE;
            let size = board.size_of(row);
            figure.text(pos2(x, y + SPACE), Anchor::Start, SMALL, ink.weak, &size);
            y += 3.0 * SPACE;
        }
        if let Some(whole) = &row.whole {
            for line in wrapped(&whole.words, width - 2.0 * SPACE, SMALL) {
                figure.text(pos2(SPACE, y + SPACE), Anchor::Start, SMALL, ink.weak, &line);
                y += SMALL * 1.5;
            }
            y += SPACE;
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
                wins: rival.run == row.credited,
                value: rival.rate,
                tick: None,
                // Without a unit, `607, 656 iterations` would read as one number.
                text: match rival.run == row.credited || !note.is_empty() {
                    true => format!("{rate} {}{note}", unit(board)),
                    false => rate,
                },
                hit: (rival.words.clone(), row, rival.run),
            }
        });
        let (bars, most) = (bars.collect::<Vec<_>>(), axis_end(row, board.less));
        y = draw(&mut figure, (&bars, most), ink, width, y) + 2.0 * SPACE;
    }
    figure.size.y = y + SPACE;
    figure
}

/// The kernels of a row; of solves those with one preconditioner together, the fastest first.
fn in_groups(row: &Row) -> Vec<&Rival> {
    let first = |of: &Rival| row.runs.iter().position(|rival| rival.group == of.group);
    let mut runs: Vec<&Rival> = row.runs.iter().collect();
    sparsescope_core::order::sort_by(&mut runs, |a, b| match a.group.is_empty() {
        true => std::cmp::Ordering::Equal,
        false => first(a).cmp(&first(b)),
    });
    runs
}

/// The value at which longer bars are cut, if there are any: of times, up to a quarter that would
/// make all others short.
fn axis_end(row: &Row, less: bool) -> Option<f64> {
    let mut values: Vec<f64> = row.runs.iter().map(|rival| rival.rate).collect();
    values.sort_unstable_by(f64::total_cmp);
    let kept = values.len() - values.len() / 4;
    let mut steps = values.windows(2).skip(kept.saturating_sub(1)).filter_map(|pair| match pair {
        [value, next] if *next > STRETCH * value => Some(*value),
        _ => None,
    });
    steps.next().filter(|_| less)
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
                    format!("{rate}, others / {short} {}×", significant(gain))
                }
                Some(gain) => format!("{rate}, {}× {short}", significant(gain)),
                None => rate,
            },
            hit: (format!("{} on {}. {}", row.title, row.name, row.why), row, row.run),
        }
    });
    let bars: Vec<Bar<'_>> = bars.collect();
    let y = draw(&mut figure, (&bars, None), ink, width, y);
    if bars.iter().any(|bar| bar.tick.is_some()) {
        let text = format!("The line in each bar marks the baseline, {short}.");
        figure.text(pos2(SPACE, y + SPACE), Anchor::Start, SMALL, ink.weak, &text);
    }
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
pub fn unit(board: &Board) -> &str {
    let unit = board.rate.split_once(", ").map_or(board.rate.as_str(), |(_, unit)| unit);
    unit.strip_suffix(" (lower is better)").unwrap_or(unit)
}

/// Draws bars below `y` on a common scale, which ends at `most` if that is given; returns where they
/// end.
fn draw(
    figure: &mut Figure,
    (bars, most): (&[Bar<'_>], Option<f64>),
    ink: Ink,
    width: f32,
    mut y: f32,
) -> f32 {
    let groups = bars.iter().map(|bar| strong_width(&bar.group, BODY)).fold(0.0, f32::max);
    let groups = if groups > 0.0 { groups.min(width * 0.2) + 2.0 * SPACE } else { 0.0 };
    let longest = bars.iter().map(|bar| text_width(&bar.label, BODY)).fold(60.0, f32::max);
    let labels = longest.min(width * 0.4 - groups * 0.5);
    let left = SPACE + groups + labels + SPACE;
    let texts = bars.iter().map(|bar| strong_width(&bar.text, BODY) + 2.0 * SPACE);
    let room = (width - left - texts.fold(NUMBER, f32::max)).max(40.0);
    let ends = bars.iter().flat_map(|bar| [bar.value, bar.tick.unwrap_or(0.0)]);
    let most = most.unwrap_or_else(|| ends.fold(0.0, f64::max));
    let share = |value: f64| if most > 0.0 { (value.min(most) / most) as f32 } else { 0.0 };
    let place = |value: f64| left + room * share(value);
    for (index, bar) in bars.iter().enumerate() {
        if !bar.group.is_empty() {
            y += if index > 0 { GAP } else { 0.0 };
            let (at, text) = (pos2(SPACE, y + LINE * 0.5), elided(&bar.group, groups, BODY));
            let color = blend(bar.color, ink.text, 0.35);
            figure.strong(at, Anchor::Start, BODY, color, &text);
        }
        let middle = y + LINE * 0.5;
        let (vendors, label) = (is_vendors(bar.kernel), shortened(&bar.label, labels, BODY));
        let color: Color32 = if vendors { ink.vendor } else { ink.text };
        let at = pos2(left - SPACE, middle);
        let end = place(bar.value).max(left + 1.0);
        let number = pos2(place(bar.value) + SPACE, middle);
        let is_cut = bar.value > most;
        let right = if is_cut { end - 2.0 * ARROW - 2.0 } else { end };
        figure.rect(area(left, middle - 8.0, right, middle + 8.0), bar.color);
        if is_cut {
            let at = pos2(end - ARROW, middle);
            figure.mark(at, Mark::Right, ARROW, bar.color, bar.color);
        }
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
