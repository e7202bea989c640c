//! Charts of one number against another: marks, lines, steps.

use std::cmp::Ordering;

use emath::{Pos2, Rect, Vec2, pos2, vec2};

use super::axes::{Ends, FOOT, LINE, Placer, tick_label};
use super::legend::written;
use super::plot::{Form, Guide, Point, Series};
use super::sheet::{Look, QUIET, Sheet, TYPE, elide, style};
use super::taken::{Covers, Taken};
use crate::figure::{Anchor, Figure, Mark, text_width};
use crate::theme::blend;

/// Minimum height of a plane, and its height in a file.
const HEIGHT: [f32; 2] = [200.0, 420.0];
const LEFT: f32 = 66.0;
const RIGHT: f32 = 24.0;
/// Side of the area around a point that reacts to the pointer.
const REACH: f32 = 10.5;
/// Width of guides.
pub(super) const GUIDE: f32 = 1.5;
/// Space between a guide and its name.
const GAP: f32 = 3.0;
/// From the end of a vertical guide up to the middle of its name.
const ABOVE: f32 = 10.0;
/// Lengths of dashes and gaps for the first, second, … bundle; the first has solid lines.
const DASHES: [(f32, f32); 3] = [(1e9, 0.0), (9.0, 5.0), (2.5, 4.0)];

/// Draws the plane below `top`; returns its bottom.
pub(super) fn draw(sheet: &mut Sheet<'_, '_>, top: f32, room: Option<f32>) -> f32 {
    let (plot, ink) = (sheet.plot, sheet.ink);
    // Names of vertical lines are above them, below the title.
    let above = if plot.guides.iter().any(is_upright) { 36.0 } else { 20.0 };
    let title_height = above + sheet.more_lines(&plot.y);
    let top = top + title_height;
    let foot = FOOT + sheet.more_lines(&plot.x);
    let height = room.map_or(HEIGHT[1], |room| (room - top - foot).max(HEIGHT[0]));
    let (left, right, bottom) = (LEFT, sheet.width - RIGHT, top + height);
    let x = sheet.x_axis((left, right), (top, bottom), plot.x.log, Ends::Below);
    let y = sheet.y_axis(bottom, top);
    let mut taken = Taken::new();
    for at in x.ticks(&plot.x).into_iter().map(|tick| x.at(tick)) {
        taken.grid_line([pos2(at, top), pos2(at, bottom)]);
    }
    for tick in y.ticks(&plot.y) {
        let at = y.at(tick);
        taken.grid_line([pos2(left, at), pos2(right, at)]);
        sheet.figure.line(pos2(left - 5.0, at), pos2(right, at), 1.0, ink.grid);
        sheet.text(pos2(left - 9.0, at), Anchor::End, ink.weak, &tick_label(tick));
    }
    let end = pos2(sheet.width, bottom + foot);
    taken.texts(Rect::from_min_max(pos2(0.0, bottom + 2.0), end)); // ticks and title of x
    sheet.figure.line(pos2(left, top), pos2(left, bottom), 1.0, ink.weak);
    for (number, line) in sheet.title(&plot.y).iter().enumerate() {
        let at = pos2(12.0, top - title_height + 3.0 + LINE * number as f32);
        sheet.text(at, Anchor::Start, ink.text, line);
    }

    let axes = Axes { x, y };
    let inside = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
    for guide in &plot.guides {
        let ends = axes.ends(guide, inside);
        let [from, to] = ends;
        sheet.figure.line(from, to, GUIDE, ink.weak);
        taken.guide(ends);
    }
    for (_, _, point) in plot.points().filter(|(name, ..)| sheet.is_bold(name)) {
        if let Some(ends) = axes.range(point) {
            taken.line(&ends);
        }
    }
    for (name, series) in sheet.painted() {
        let look = sheet.look(name, series);
        let points: Vec<Pos2> = series.points.iter().map(|point| axes.at(point.at)).collect();
        let dash = DASHES.get(style(series) % DASHES.len()).copied().unwrap_or(DASHES[0]);
        let lines = match plot.form {
            Form::Lines => vec![points.clone()],
            Form::Steps => vec![steps(&points)],
            Form::Curves => {
                ways(series).map(|way| way.iter().map(|p| axes.at(p.at)).collect()).collect()
            }
            _ => Vec::new(),
        };
        for line in &lines {
            dashed(&mut sheet.figure, line, dash, &look);
            if sheet.is_bold(name) {
                taken.line(line);
            }
        }
        for (index, (point, at)) in series.points.iter().zip(points).enumerate() {
            if plot.form == Form::Steps && point.label.is_empty() {
                continue;
            }
            let of_run = |point: &Point<'_>| point.run.map(|run| run.index);
            let next = series.points.get(index + 1).map(of_run);
            if plot.form != Form::Curves || next != Some(of_run(point)) {
                mark(sheet, (&axes, &mut taken), &look, (point, at));
                let area = Rect::from_center_size(at, vec2(REACH, REACH));
                match sheet.is_bold(name) {
                    true => taken.mark(area),
                    false => taken.quiet_mark(area),
                }
            }
            sheet.hit(at, REACH, name, series, point);
        }
    }
    name_series(sheet, &axes, inside, &mut taken);
    name_guides(sheet, &axes, inside, &mut taken);
    bottom + foot
}

/// Both axes.
struct Axes {
    x: Placer,
    y: Placer,
}

impl Axes {
    fn at(&self, [x, y]: [f64; 2]) -> Pos2 {
        pos2(self.x.at(x), self.y.at(y))
    }

    /// The ends of a guide; a vertical one is as high as the plot.
    fn ends(&self, guide: &Guide, inside: Rect) -> [Pos2; 2] {
        let ends = guide.ends.map(|at| self.at(at));
        let heights = [inside.bottom(), inside.top()];
        let [from, _] = ends;
        if is_upright(guide) { heights.map(|y| pos2(from.x, y)) } else { ends }
    }

    /// The ends of the line from a point to the far end of its range.
    fn range(&self, point: &Point<'_>) -> Option<[Pos2; 2]> {
        let [_, far] = point.range?;
        Some([point.at, [far, point.at[1]]].map(|at| self.at(at)))
    }

    /// The arrow for a point beyond an axis, and the number that it cannot show.
    fn arrow(&self, [x, y]: [f64; 2]) -> Option<(Mark, f64)> {
        match (self.x.side(x), self.y.side(y)) {
            (Ordering::Less, _) => Some((Mark::Left, x)),
            (Ordering::Greater, _) => Some((Mark::Right, x)),
            (_, Ordering::Less) => Some((Mark::Down, y)),
            (_, Ordering::Greater) => Some((Mark::Triangle, y)),
            _ => None,
        }
    }
}

/// Draws the mark of a point and its range, or arrows if they are beyond the axes.
fn mark(
    sheet: &mut Sheet<'_, '_>,
    (axes, taken): (&Axes, &mut Taken),
    look: &Look,
    (point, at): (&Point<'_>, Pos2),
) {
    let Look { color, fill, mark, radius, .. } = *look;
    let paper = sheet.ink.paper;
    let mut is_numbered = false;
    // Those of grey series would cross everything.
    let range = point.range.filter(|_| radius > QUIET);
    if let (Some([_, far]), Some([_, to])) = (range, axes.range(point)) {
        sheet.figure.line(at, to, 1.0, color);
        match axes.arrow([far, point.at[1]]) {
            Some((arrow, number)) => {
                sheet.arrow((to, arrow), look, Some(number), taken);
                is_numbered = to.x == at.x;
            }
            None => sheet.figure.mark(to, mark, (radius * 0.8).max(3.5).min(radius), paper, color),
        }
    }
    match axes.arrow(point.at) {
        Some((arrow, number)) => {
            let number = (!is_numbered).then_some(number); // one number for both arrows
            sheet.arrow((at, arrow), look, number, taken);
        }
        None => {
            let outline = if fill == color && radius > 3.5 { paper } else { color };
            sheet.figure.mark(at, mark, radius, fill, outline);
        }
    }
}

fn is_upright(guide: &Guide) -> bool {
    guide.ends[0][0] == guide.ends[1][0]
}

/// Steps between the places along a guide where its name may start.
const PLACES: usize = 32;

/// Distances of a name from its line, in lines of text.
const DISTANCES: [f32; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];

/// Writes the name of every guide at its line: of one that is not vertical along it and at its angle,
/// above or below; up to two lines away where marks or other guides are close.
fn name_guides(sheet: &mut Sheet<'_, '_>, axes: &Axes, inside: Rect, taken: &mut Taken) {
    let (plot, weak) = (sheet.plot, sheet.ink.weak);
    let all: Vec<[Pos2; 2]> = plot.guides.iter().map(|guide| axes.ends(guide, inside)).collect();
    for (guide, ends) in plot.guides.iter().zip(&all) {
        let [from, to] = *ends;
        if is_upright(guide) {
            name_upright(sheet, &guide.name, to, inside, taken);
            continue;
        }
        let angle = (to - from).angle();
        let along = Vec2::angled(angle);
        let length = from.distance(to);
        // From the end of the line, clear of the frame, and not much longer than the line; what is before a colon is
        // left out first.
        let room = (length - 2.0 * TYPE).max(inside.width() * 0.5);
        let is_long = text_width(&guide.name, TYPE) > room;
        let last = guide.name.split_once(": ").filter(|_| is_long).map(|(_, last)| last);
        let name = elide(last.unwrap_or(&guide.name), room);
        let width = text_width(&name, TYPE);
        // Squares along the text reach further than its height at an angle.
        let half = TYPE * 0.5 * (along.x.abs() + along.y.abs());
        let far = |away: f32| half + GAP + away * (2.0 * half + GAP);
        let starts = |away: f32| -> Vec<Pos2> {
            let off = along.rot90() * far(away);
            let starts = (0..=PLACES).rev().flat_map(|place| {
                let share = place as f32 / PLACES as f32;
                let start = from + along * (TYPE + share * (length - width - 2.0 * TYPE));
                [start + off, start - off]
            });
            starts.collect()
        };
        // A name away from its line must be much nearer to it than to the others.
        let is_clear = |start: Pos2, away: f32| {
            let parts = [0.0_f32, 0.5, 1.0].map(|share| start + along * (width * share));
            let mut others = all.iter().filter(|other| *other != ends);
            others.all(|other| parts.iter().all(|at| distance(*at, *other) > 2.0 * far(away)))
        };
        let close = DISTANCES.into_iter().flat_map(|away| {
            let mut starts = starts(away);
            starts.retain(|start| away == 0.0 || is_clear(*start, away));
            starts
        });
        let over_marks = [Covers::Grid, Covers::Marks, Covers::Lines];
        let tries: [(Vec<Pos2>, &[Covers]); 4] = [
            (close.collect(), &over_marks),
            (starts(1.0), &over_marks),
            (starts(2.0), &over_marks),
            (starts(0.0), &[Covers::Guides]),
        ];
        let start = tries.into_iter().find_map(|(starts, allowed)| {
            let areas: Vec<_> = starts.iter().map(|at| squares(*at, along * width)).collect();
            starts.get(taken.take_area(&areas, inside, allowed)?).copied()
        });
        if let Some(start) = start {
            sheet.figure.text_turned(start, angle, TYPE, weak, &name);
        }
    }
}

/// The distance from a point to a line between two others.
fn distance(at: Pos2, [from, to]: [Pos2; 2]) -> f32 {
    let along = to - from;
    let share = (at - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE);
    at.distance(from + along * share.clamp(0.0, 1.0))
}

/// Writes the name of a vertical guide above its end, else beside it, as high as there is room.
fn name_upright(sheet: &mut Sheet<'_, '_>, name: &str, end: Pos2, inside: Rect, taken: &mut Taken) {
    let size = vec2(text_width(name, TYPE), TYPE);
    let sides = |away: f32, down: f32| {
        [1.0, -1.0].map(|side| end + vec2(side * (size.x * 0.5 + away), down))
    };
    let beside = (1..=PLACES).flat_map(|place| sides(GAP, place as f32 * (TYPE + GAP)));
    let places: Vec<Pos2> = sides(0.0, -ABOVE).into_iter().chain(beside).collect();
    let (above, right) = (vec2(0.0, ABOVE + TYPE), vec2(RIGHT, 0.0));
    let room = Rect::from_min_max(inside.min - above, inside.max + right);
    let allowed = [Covers::Grid, Covers::Marks, Covers::Lines, Covers::Guides];
    if let Some(at) = taken.take(size, &places, room, &allowed) {
        sheet.text(at - vec2(size.x * 0.5, 0.0), Anchor::Start, sheet.ink.weak, name);
    }
}

/// Squares that cover a line of text from its start, with some space before and after it.
fn squares(start: Pos2, text: Vec2) -> Vec<Rect> {
    let steps = (2.0 * text.length() / TYPE).ceil().max(1.0);
    let middle = |step: usize| start + text * (step as f32 / steps);
    let square = |step| Rect::from_center_size(middle(step), Vec2::splat(TYPE));
    (0..=steps as usize).map(square).collect()
}

/// Writes the name of every series in colour at the end of its line or at its best point, where there
/// is room.
fn name_series(sheet: &mut Sheet<'_, '_>, axes: &Axes, inside: Rect, taken: &mut Taken) {
    let plot = sheet.plot;
    let sign = if plot.lower_is_better() { -1.0 } else { 1.0 };
    if plot.names().len() < 2 {
        return;
    }
    let mut last = "";
    for (name, series) in sheet.painted() {
        let is_line = matches!(plot.form, Form::Lines | Form::Curves | Form::Steps);
        let better = |a: &&Point<'_>, b: &&Point<'_>| (sign * a.at[1]).total_cmp(&(sign * b.at[1]));
        let point = match plot.form {
            Form::Steps => series.points.iter().find(|point| !point.label.is_empty()),
            _ if is_line => series.points.last(),
            _ => series.points.iter().max_by(better),
        };
        let Some(point) = point.filter(|_| sheet.is_bold(name) && name != last) else { continue };
        last = name;
        let text = elide(written(name), inside.width() * 0.4);
        let half = vec2(text_width(&text, TYPE) * 0.5 + 8.0, TYPE * 0.5 + 7.0);
        let at = axes.at(point.at);
        let around = [
            vec2(0.0, -half.y),
            vec2(half.x, 0.0),
            vec2(-half.x, -half.y),
            vec2(-half.x, half.y),
            vec2(half.x, -half.y),
            vec2(half.x, half.y),
            vec2(0.0, half.y),
            vec2(-half.x, 0.0),
        ];
        let color = blend(sheet.look(name, series).color, sheet.ink.text, 0.35);
        let places = around.map(|by| at + by);
        let size = vec2(text_width(&text, TYPE) + 4.0, TYPE + 2.0);
        if let Some(at) = taken.take(size, &places, inside, &[Covers::Grid]) {
            sheet.text(at, Anchor::Middle, color, &text);
        }
    }
}

/// The points of each run of a series.
fn ways<'s, 'a>(series: &'s Series<'a>) -> impl Iterator<Item = &'s [Point<'a>]> {
    let of_run = |point: &Point<'_>| point.run.map(|run| run.index);
    series.points.chunk_by(move |one, other| of_run(one) == of_run(other))
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
fn dashed(figure: &mut Figure, points: &[Pos2], (on, off): (f32, f32), look: &Look) {
    let (color, width) = (look.color, look.line);
    let mut run = 0.0;
    let mut drawn: Vec<Pos2> = points.first().copied().into_iter().collect();
    let mut flush = |drawn: &mut Vec<Pos2>| {
        let points = std::mem::take(drawn);
        if points.len() > 1 {
            figure.shapes.push(crate::figure::Shape::Line { points, width, color });
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
