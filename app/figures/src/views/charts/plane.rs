//! Charts of one number against another: marks, lines, steps.

use std::collections::HashSet;

use ecolor::Color32;
use emath::{Pos2, pos2, vec2};

use super::plot::{Form, Guide, Point, Series};
use super::sheet::{Ends, FOOT, RADIUS, Sheet, TYPE, elide, radius, style, tick_label, title};
use crate::figure::{Anchor, Axis, Figure, Mark, text_width};

/// Minimum height of a plane, and its height in a file.
const HEIGHT: [f32; 2] = [260.0, 420.0];
const LEFT: f32 = 66.0;
/// With more lines than this, their ends have no names.
const MOST_NAMED: usize = 12;
/// Lengths of dashes and gaps for the first, second, … bundle; the first has solid lines.
const DASHES: [(f32, f32); 3] = [(1e9, 0.0), (9.0, 5.0), (2.5, 4.0)];

/// Draws the plane below `top`; returns its bottom.
pub(super) fn draw(sheet: &mut Sheet<'_, '_>, top: f32, room: Option<f32>) -> f32 {
    let (plot, ink) = (sheet.plot, sheet.ink);
    let upright = |guide: &Guide| guide.ends[0][0] == guide.ends[1][0];
    // Names of vertical lines are above them, below the title.
    let title_height = if plot.guides.iter().any(upright) { 36.0 } else { 20.0 };
    let top = top + title_height;
    let height = room.map_or(HEIGHT[1], |room| (room - top - FOOT).max(HEIGHT[0]));
    // Names of lines are at their ends, if there is space.
    let slanted = |guide: &&Guide| !upright(guide);
    let guides = plot.guides.iter().filter(slanted).map(|guide| guide.name.as_str());
    let curves = plot.series.iter().filter(|(_, of)| plot.form == Form::Curves && is_curve(of));
    let curves: HashSet<&str> = curves.map(|(key, _)| key.1.as_str()).collect();
    let is_line = |name: &&str| plot.form == Form::Lines || curves.contains(name);
    let mut lines = plot.names();
    lines.retain(is_line);
    let lines = if lines.len() <= MOST_NAMED { lines } else { Vec::new() };
    let names_lines = !lines.is_empty();
    let width = sheet.figure.size.x;
    let longest = guides.chain(lines).map(|name| text_width(name, TYPE)).fold(0.0, f32::max);
    let beside = (longest + 12.0).clamp(24.0, (width * 0.3).max(24.0));
    let (left, right, bottom) = (LEFT, width - beside, top + height);
    let x = sheet.x_axis((left, right), (top, bottom), plot.x.log, Ends::Below);
    let values = plot.points().map(|(_, _, point)| point.at[1]);
    let values = values.chain(plot.guides.iter().flat_map(|guide| guide.ends.map(|end| end[1])));
    let y = Axis::new(values, plot.y.log, bottom, top);
    for tick in plot.y.at(&y) {
        let at = y.place(tick);
        sheet.figure.line(pos2(left - 5.0, at), pos2(right, at), 1.0, ink.grid);
        sheet.text(pos2(left - 9.0, at), Anchor::End, ink.weak, &tick_label(tick));
    }
    sheet.figure.line(pos2(left, top), pos2(left, bottom), 1.0, ink.weak);
    let name = title(&plot.y, plot.y.log);
    sheet.text(pos2(12.0, top - title_height + 3.0), Anchor::Start, ink.text, &name);

    let mut ends = Vec::new();
    for guide in &plot.guides {
        let [from, to] = guide.ends.map(|[a, b]| pos2(x.at(a), y.place(b)));
        sheet.figure.line(from, to, 1.5, ink.weak);
        match upright(guide) {
            true => sheet.text(to - vec2(0.0, 10.0), Anchor::Start, ink.weak, &guide.name),
            false => ends.push((to.y, ink.weak, elide(&guide.name, beside - 10.0))),
        }
    }

    let size = radius(plot);
    for ((_, name, _), series) in &plot.series {
        let (color, mark, fill) = sheet.look(name, series);
        let place = |point: &Point<'_>| pos2(x.at(point.at[0]), y.place(point.at[1]));
        let points: Vec<Pos2> = series.points.iter().map(place).collect();
        let dash = DASHES.get(style(series) % DASHES.len()).copied().unwrap_or(DASHES[0]);
        if let Some(end) = points.last().filter(|_| names_lines && is_line(&name.as_str())) {
            ends.push((end.y, color, elide(name, beside - 10.0)));
        }
        match plot.form {
            Form::Lines => dashed(&mut sheet.figure, &points, dash, color),
            Form::Steps => dashed(&mut sheet.figure, &steps(&points), dash, color),
            Form::Curves => ways(series).for_each(|way| {
                let way: Vec<Pos2> = way.iter().map(place).collect();
                dashed(&mut sheet.figure, &way, dash, color);
            }),
            _ => {}
        }
        for (index, (point, at)) in series.points.iter().zip(points).enumerate() {
            if plot.form == Form::Steps && point.label.is_empty() {
                continue;
            }
            let of_run = |point: &Point<'_>| point.run.map(|run| run.index);
            let next = series.points.get(index + 1).map(of_run);
            if plot.form == Form::Curves && next == Some(of_run(point)) {
                sheet.hit(at, RADIUS * 2.2, name, series, point);
                continue;
            }
            if let Some(range) = point.range {
                let end = pos2(x.at(range[1]), at.y);
                sheet.figure.line(at, end, 1.0, color);
                match x.is_beyond(range[1]) {
                    true => sheet.figure.mark(end, Mark::Left, size, color, color),
                    false => sheet.figure.mark(end, mark, size * 0.8, ink.paper, color),
                }
            }
            if x.is_beyond(point.at[0]) {
                sheet.figure.mark(at, Mark::Left, size, fill, color);
                sheet.hit(at, RADIUS * 2.2, name, series, point);
                continue;
            }
            let outline = if fill == color { ink.paper } else { color };
            sheet.figure.mark(at, mark, size, fill, outline);
            sheet.hit(at, RADIUS * 2.2, name, series, point);
        }
    }
    sheet.name_ends((right + 8.0, bottom), ends);
    bottom + FOOT
}

/// The points of each run of a series.
fn ways<'s, 'a>(series: &'s Series<'a>) -> impl Iterator<Item = &'s [Point<'a>]> {
    let of_run = |point: &Point<'_>| point.run.map(|run| run.index);
    series.points.chunk_by(move |one, other| of_run(one) == of_run(other))
}

/// Returns whether each run of a series has a line of its own.
fn is_curve(series: &Series<'_>) -> bool {
    ways(series).any(|way| way.len() > 1)
}

/// Horizontal to the next point, then vertical.
fn steps(points: &[Pos2]) -> Vec<Pos2> {
    let mut path: Vec<Pos2> = Vec::new();
    for point in points {
        if let Some(last) = path.last().copied() {
            path.push(pos2(point.x, last.y));
        }
        path.push(*point);
    }
    path
}

/// A dashed line through the points.
fn dashed(figure: &mut Figure, points: &[Pos2], (on, off): (f32, f32), color: Color32) {
    let mut run = 0.0;
    let mut drawn: Vec<Pos2> = points.first().copied().into_iter().collect();
    let mut flush = |drawn: &mut Vec<Pos2>| {
        let points = std::mem::take(drawn);
        if points.len() > 1 {
            figure.shapes.push(crate::figure::Shape::Line { points, width: 1.8, color });
        }
    };
    for pair in points.windows(2) {
        let [from, to] = pair else { continue };
        let length = from.distance(*to);
        let mut gone = 0.0;
        while gone < length {
            let ink = run < on;
            let step = (if ink { on - run } else { on + off - run }).min(length - gone).max(1e-3);
            gone += step;
            run += step;
            let here = *from + (*to - *from) * (gone / length).min(1.0);
            if ink {
                drawn.push(here);
            }
            if ink && run >= on - 1e-3 {
                flush(&mut drawn);
                run = on;
            } else if run >= on + off - 1e-3 {
                drawn = vec![here];
                run = 0.0;
            }
        }
    }
    flush(&mut drawn);
}
