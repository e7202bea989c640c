//! Bars: the kernels of each subject, ranked, or the winner on each subject against the baseline.

use ecolor::Color32;
use emath::{pos2, vec2};

use super::baseline::is_vendors;
use super::board::{Board, Row};
use super::headline;
use super::heat::in_order;
use crate::figure::{Anchor, Figure, Hit, area, elided, strong_width, text_width};
use crate::model::{count, significant};
use crate::state::ViewState;
use crate::theme::{BODY, Ink, SMALL, SPACE};
use crate::views::charts::Looks;

/// Height of a bar with the space around it.
const LINE: f32 = 26.0;
/// Space for the number behind the longest bar.
const NUMBER: f32 = 150.0;

/// One bar.
struct Bar<'b> {
    label: String,
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
    for row in &board.rows {
        if board.rows.len() > 1 {
            let name = elided(board.name_of(row), (width - 2.0 * SPACE) * 0.7, BODY);
            figure.strong(pos2(SPACE, y + SPACE), Anchor::Start, BODY, ink.text, &name);
            let x = SPACE + strong_width(&name, BODY) + SPACE;
            figure.text(pos2(x, y + SPACE), Anchor::Start, SMALL, ink.weak, &count(row.size));
            y += 3.0 * SPACE;
        }
        let bars = row.runs.iter().map(|rival| Bar {
            label: board.short_title(&rival.title),
            kernel: &rival.kernel,
            wins: rival.run == row.run,
            value: rival.rate,
            tick: None,
            text: match rival.run == row.run {
                true => format!("{} {}", significant(rival.rate), unit(board)),
                false => significant(rival.rate),
            },
            hit: (rival.words.clone(), row, rival.run),
        });
        y = draw(&mut figure, &bars.collect::<Vec<_>>(), looks, ink, width, y) + 2.0 * SPACE;
    }
    figure.size.y = y + SPACE;
    figure
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
            label: board.name_of(row).to_owned(),
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
    let y = draw(&mut figure, &bars.collect::<Vec<_>>(), looks, ink, width, y);
    let text = format!("The line in each bar marks the baseline, {short}.");
    figure.text(pos2(SPACE, y + SPACE), Anchor::Start, SMALL, ink.weak, &text);
    figure.size.y = y + 3.0 * SPACE;
    figure
}

/// The headline, and where what is below starts.
pub(super) fn start(board: &Board, state: &ViewState, width: f32) -> (Figure, Ink, f32) {
    let ink = state.theme.ink();
    let mut figure = Figure::new(vec2(width, 0.0), ink.paper);
    let y = headline::write(&mut figure, board, true, &ink, width);
    (figure, ink, y)
}

/// The unit of the rates, without the name of the metric.
fn unit(board: &Board) -> &str {
    let unit = board.rate.split_once(", ").map_or(board.rate.as_str(), |(_, unit)| unit);
    unit.strip_suffix(" (lower is better)").unwrap_or(unit)
}

/// Draws bars below `y` on a common scale; returns where they end.
fn draw(
    figure: &mut Figure,
    bars: &[Bar<'_>],
    looks: &Looks,
    ink: Ink,
    width: f32,
    mut y: f32,
) -> f32 {
    let longest = bars.iter().map(|bar| text_width(&bar.label, BODY)).fold(60.0, f32::max);
    let left = SPACE + longest.min(width * 0.4) + SPACE;
    let room = (width - left - NUMBER).max(40.0);
    let ends = bars.iter().flat_map(|bar| [bar.value, bar.tick.unwrap_or(0.0)]);
    let most = ends.fold(0.0, f64::max);
    let place = |value: f64| left + room * if most > 0.0 { (value / most) as f32 } else { 0.0 };
    for bar in bars {
        let middle = y + LINE * 0.5;
        let (vendors, label) = (is_vendors(bar.kernel), elided(&bar.label, left - 16.0, BODY));
        let color: Color32 = if vendors { ink.vendor } else { ink.text };
        let at = pos2(left - SPACE, middle);
        let number = pos2(place(bar.value) + SPACE, middle);
        let rect = area(left, middle - 8.0, place(bar.value).max(left + 1.0), middle + 8.0);
        figure.rect(rect, looks.find(bar.kernel, 0, &ink).0);
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
