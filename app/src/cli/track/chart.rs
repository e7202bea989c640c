//! The history of a run as a small drawing.

use ecolor::Color32;
use emath::{pos2, vec2};
use sparsescope_core::bundle::Timeline;
use sparsescope_figures::figure::{Anchor, Figure, Mark, Provenance, area};

use super::history::time;
use super::levels::Level;

const SIZE: [f32; 2] = [430.0, 92.0];
/// The edges of the plot.
const LEFT: f32 = 62.0;
const RIGHT: f32 = 422.0;
const TOP: f32 = 8.0;
const BOTTOM: f32 = 70.0;
const TYPE: f32 = 10.0;

const WEAK: Color32 = Color32::from_gray(95);
const AXIS: Color32 = Color32::from_gray(190);
const BAND: Color32 = Color32::from_rgb(205, 225, 242);
const BLUE: Color32 = Color32::from_rgb(0, 90, 150);
const SLOWER: Color32 = Color32::from_rgb(200, 60, 30);
const FASTER: Color32 = Color32::from_rgb(0, 130, 90);

/// The least range of times, so that noise of a percent does not fill the drawing.
const LEAST_RANGE: f64 = 0.05;

/// The measurements of a timeline over all bundles, which have these dates, with their levels. Time has a logarithmic
/// scale.
pub(super) fn chart(timeline: &Timeline<'_>, levels: &[Level], dates: &[String]) -> String {
    let logs = timeline.points.iter().map(|point| point.location.log);
    let (low, high) = logs
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(log), high.max(log)));
    let margin = ((high - low) * 0.15).max((LEAST_RANGE - (high - low)) / 2.0);
    let (low, high) = (low - margin, high + margin);
    let x = |bundle: f64| LEFT + (RIGHT - LEFT) * (bundle / dates.len().max(1) as f64) as f32;
    let y = |log: f64| {
        let share = ((log - low) / (high - low)).clamp(0.0, 1.0);
        BOTTOM - (BOTTOM - TOP) * share as f32
    };
    let mut figure = Figure::new(vec2(SIZE[0], SIZE[1]), Color32::WHITE);
    let number = |place: usize| timeline.points.get(place).map_or(0, |point| point.bundle) as f64;
    for level in levels {
        let (from, to) = (x(number(level.first)), x(number(level.end - 1) + 1.0));
        if let Some((bottom, top)) = level.location.interval() {
            figure.rect(area(from, y(top.ln()), to, y(bottom.ln())), BAND);
        }
        let middle = y(level.location.log);
        figure.line(pos2(from, middle), pos2(to, middle), 1.0, BLUE);
    }
    for pair in levels.windows(2) {
        let [before, after] = pair else { continue };
        let color = if after.location.log > before.location.log { SLOWER } else { FASTER };
        let at = x(number(after.first));
        figure.line(pos2(at, TOP), pos2(at, BOTTOM), 1.5, color);
    }
    for point in &timeline.points {
        let at = x(point.bundle as f64 + 0.5);
        if let Some((bottom, top)) = point.location.interval() {
            figure.line(pos2(at, y(bottom.ln())), pos2(at, y(top.ln())), 1.0, AXIS);
        }
        let center = pos2(at, y(point.location.log));
        figure.mark(center, Mark::Circle, 2.0, BLUE, BLUE);
    }
    for (log, at) in [(high, TOP), (low, BOTTOM)] {
        figure.line(pos2(LEFT, at), pos2(RIGHT, at), 0.5, AXIS);
        let text = time(log.exp(), timeline.is_relative);
        figure.text(pos2(LEFT - 6.0, at), Anchor::End, TYPE, WEAK, &text);
    }
    let [first, last] = [dates.first(), dates.last()].map(|date| date.map_or("", String::as_str));
    figure.text(pos2(LEFT, BOTTOM + 12.0), Anchor::Start, TYPE, WEAK, first);
    figure.text(pos2(RIGHT, BOTTOM + 12.0), Anchor::End, TYPE, WEAK, last);
    figure.to_svg(&timeline.key.words(timeline.subject.name()), &Provenance::default())
}
