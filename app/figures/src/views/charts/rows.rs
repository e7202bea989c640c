//! Charts with one row per matrix, kernel or other subject. Each bundle has a band in every row
//! where it has points; marks that would overlap move to another lane of the band.

use std::cmp::Ordering;
use std::collections::HashSet;

use emath::{Pos2, Rect, pos2, vec2};

use super::axes::{Ends, HEAD};
use super::legend::written;
use super::near::Near;
use super::plot::{Form, Row};
use super::sheet::{Sheet, TYPE, elide};
use super::taken::{Covers, Taken};
use crate::figure::{Anchor, Mark, area, shortened, text_width};
use crate::model::significant;
use crate::theme::{blend, heat_color};

/// Minimum height of a bundle's band in a row, in points.
const BAND: f32 = 24.0;
/// Height of a lane in a file, and its maximum.
const LANE: [f32; 2] = [11.0, 15.7];
/// Offsets of overlapping marks, tried in this order, in units of a lane.
const DODGE: [f32; 5] = [0.0, -1.0, 1.0, -2.0, 2.0];
/// Offsets if all of those are occupied; these overlap.
const BETWEEN: [f32; 4] = [-0.5, 0.5, -1.5, 1.5];
/// With more rows than this, the axis is repeated below them.
const MANY: usize = 12;
/// Space below the last row: without ticks, and with ticks.
const BELOW: [f32; 2] = [12.0, 28.0];
/// Rows smaller than this have no names.
const NAMED: f32 = 12.0;
/// Minimum height of a row that has intervals.
const LISTED: f32 = 14.0;
/// In a file, the rows of more intervals than this have no names.
const MOST_LISTED: usize = 200;
/// Up to this many colours, marks need no names.
const FEW: usize = 3;
/// Space for the number of an arrow before a name.
const NUMBER: f32 = 20.0;
/// Radius of samples.
const SAMPLE: f32 = 3.5;
/// With more samples than this, samples at the same position are drawn once.
const CROWDED: usize = 20_000;

/// Draws the rows below `top`; returns their bottom.
pub(super) fn draw(sheet: &mut Sheet<'_, '_>, rows: &[Row], top: f32, room: Option<f32>) -> f32 {
    let (plot, ink) = (sheet.plot, sheet.ink);
    let width = sheet.width;
    let [bare, ticks] = BELOW;
    let (ends, foot) = if rows.len() > MANY { (Ends::Both, ticks) } else { (Ends::Above, bare) };
    let top = top + HEAD + sheet.more_lines(&plot.x);
    let bands = bands(sheet, rows.len());
    let all: usize = bands.iter().map(Vec::len).sum();
    let lanes = lanes(sheet);
    let [saved, most] = LANE.map(|lane| (lane * lanes).max(BAND));
    let is_dense = matches!(plot.form, Form::Intervals | Form::Cells);
    let least = match plot.form {
        Form::Intervals if room.is_some() || all <= MOST_LISTED => LISTED,
        Form::Intervals | Form::Cells => 3.0,
        _ => BAND,
    };
    let each = |room: f32| ((room - top - foot) / all.max(1) as f32).clamp(least, most);
    let band = match room {
        Some(room) => each(room),
        None if is_dense => each(700.0),
        None if rows.len() > MANY => least,
        None => saved,
    };
    let mut bottom = top;
    let rows_at: Vec<[f32; 2]> = bands
        .iter()
        .map(|bands| {
            let from = bottom;
            bottom += band * bands.len() as f32;
            [from, bottom]
        })
        .collect();
    let named = band >= NAMED;
    let labels = plot.labels();
    let longest = labels.iter().map(|label| text_width(label, TYPE)).fold(60.0, f32::max);
    let margin = if named { longest.min(width * 0.35) + 24.0 } else { 16.0 };
    let (left, right) = (margin, width - 24.0);
    for [from, to] in rows_at.iter().step_by(2).filter(|_| named) {
        let shade = blend(ink.grid, ink.paper, 0.67);
        sheet.figure.rect(area(left, *from, right, *to), shade);
    }
    let x = sheet.x_axis((left + 10.0, right - 10.0), (top, bottom), plot.x.log, ends);
    let mut taken = Taken::new();
    for guide in &plot.guides {
        let at = x.at(guide.ends[0][0]);
        sheet.figure.line(pos2(at, top), pos2(at, bottom), 1.5, ink.weak);
        taken.line(&[pos2(at, top), pos2(at, bottom)]);
    }
    if named {
        for (label, [from, to]) in labels.iter().zip(&rows_at) {
            // The settings in which most runs differ, threads and caches, come first.
            let name = match plot.form {
                Form::Intervals => shortened(label, left - 20.0, TYPE),
                _ => elide(label, left - 20.0),
            };
            let at = pos2(left - 10.0, (from + to) * 0.5);
            sheet.text(at, Anchor::End, ink.text, &name);
        }
    }
    let lane = band / (lanes + 0.1);
    let mut placed: Near<(usize, Pos2)> = Near::new();
    let (mut drawn, mut numbered) = (HashSet::new(), HashSet::new());
    let mut marks: Vec<Named<'_>> = Vec::new();
    let heaviest =
        plot.points().filter_map(|(_, _, point)| point.weight).fold(f64::MIN_POSITIVE, f64::max);
    let is_crowded = plot.points().count() > CROWDED;
    let painted = sheet.painted();
    let points = painted
        .into_iter()
        .flat_map(|(name, series)| series.points.iter().map(move |point| (name, series, point)));
    for (name, series, point) in points {
        let row = point.at[1] as usize;
        let (Some([from, _]), Some(own)) = (rows_at.get(row), bands.get(row)) else { continue };
        let number = sheet.lane(series);
        let number = own.iter().position(|lane| *lane == number).unwrap_or_default();
        let middle = from + band * (number as f32 + 0.5);
        let wanted = pos2(x.at(point.at[0]), middle);
        let look = sheet.look(name, series);
        let color = look.color;
        let size = look.radius.min(band * 0.5);
        if let (Form::Boxes, Some(range)) = (plot.form, point.range) {
            let half = band * 0.36;
            let [from, to] = range.map(|value| x.at(value));
            let rect = area(from, middle - half, to.max(from + 1.0), middle + half);
            sheet.figure.rect(rect, blend(color, ink.paper, 0.7));
            let (above, below) = (pos2(wanted.x, rect.min.y), pos2(wanted.x, rect.max.y));
            sheet.figure.line(above, below, 2.5, color);
            sheet.hit(wanted, band * 0.7, name, series, point);
            continue;
        }
        if let (Form::Bars, Some(range)) = (plot.form, point.range) {
            let half = band * 0.36;
            let [from, to] = range.map(|value| x.at(value));
            let rect = area(from, middle - half, to.max(from + 0.75), middle + half);
            sheet.figure.rect(rect, color);
            sheet.hit(rect.center(), (to - from).clamp(4.0, band), name, series, point);
            continue;
        }
        if let (Form::Cells, Some(range)) = (plot.form, point.range) {
            let half = band * 0.5;
            let [from, to] = range.map(|value| x.at(value));
            let gap = if to - from > 6.0 { 1.0 } else { 0.0 };
            let rect = area(from, middle - half, to - gap, middle + half - gap);
            let share = point.weight.unwrap_or_default() / heaviest;
            sheet.figure.rect(rect, heat_color(share, ink.paper));
            sheet.hit(rect.center(), (to - from).clamp(2.0, band), name, series, point);
            continue;
        }
        if plot.form == Form::Strokes {
            let half = vec2(0.0, band * 0.36);
            sheet.figure.line(wanted - half, wanted + half, 1.2, color);
            sheet.hit(wanted, band * 0.7, name, series, point);
            continue;
        }
        // Grey marks do not take the place of others.
        let small = plot.form == Form::Boxes;
        let size = if small { size.min(SAMPLE) } else { size };
        let at = match plot.form {
            Form::Intervals => wanted,
            _ if !small && !sheet.is_bold(name) => wanted,
            _ => free(&placed, row, wanted, lane, size),
        };
        // Samples stay in their row, however many are at one position, and other marks below the axis.
        let half = (band * 0.5 - size).max(0.0);
        let at = match small {
            true => pos2(at.x, at.y.max(middle - half).min(middle + half)),
            false => pos2(at.x, at.y.max(top + size)),
        };
        if small || sheet.is_bold(name) {
            placed.add(Rect::from_min_max(at, at), (row, at));
        }
        // With very many samples, overlapping ones are drawn once.
        let place = [at.x, at.y].map(|at| (at * 4.0) as i32);
        if is_crowded && small && !drawn.insert((row, place)) {
            continue;
        }
        let arrow = |value: f64| match x.side(value) {
            Ordering::Less => Some(Mark::Left),
            Ordering::Greater => Some(Mark::Right),
            Ordering::Equal => None,
        };
        let (mut reach, mut is_numbered) = (at, false);
        if let Some(range) = point.range {
            let [from, to] = range.map(|value| pos2(x.at(value), at.y));
            sheet.figure.line(from, to, look.line.max(1.5), color);
            taken.line(&[from, to]);
            if plot.form == Form::Marks {
                let (end, value) = if from.x == at.x { (to, range[1]) } else { (from, range[0]) };
                reach = end;
                match arrow(value) {
                    Some(mark) => {
                        let is_written = sheet.arrow((end, mark), &look, Some(value), &mut taken);
                        is_numbered = is_written && end.x == at.x;
                    }
                    None => {
                        let far = (size * 0.8).max(3.5).min(size);
                        sheet.figure.mark(end, look.mark, far, ink.paper, color);
                    }
                }
            } else {
                for (end, value) in [(from, range[0]), (to, range[1])] {
                    if let Some(mark) = arrow(value) {
                        sheet.arrow((end, mark), &look, None, &mut taken);
                    }
                }
            }
        }
        let is_hollow = plot.form == Form::Intervals && !plot.is_sure(point);
        let fill = if is_hollow { ink.paper } else { look.fill };
        let outline =
            if fill == color && sheet.is_bold(name) && !small { ink.paper } else { color };
        match arrow(point.at[0]) {
            Some(mark) => {
                // One number for both arrows, and for those of a band with the same one.
                let value = point.at[0];
                let written = (row, number, significant(value));
                let is_new = !is_numbered && !numbered.contains(&written);
                if sheet.arrow((at, mark), &look, is_new.then_some(value), &mut taken) {
                    numbered.insert(written);
                }
            }
            None => {
                let mark = if small { Mark::Circle } else { look.mark };
                sheet.figure.mark(at, mark, size, fill, outline);
            }
        }
        if !point.label.is_empty() {
            sheet.text(at + vec2(size + 5.0, 0.0), Anchor::Start, ink.text, &point.label);
        }
        let rect = Rect::from_two_pos(at, reach).expand(size);
        marks.push(Named { rect, name, band: (row, number) });
        if !small {
            sheet.hit(at, lane.min(12.0).max(size * 2.0), name, series, point);
        }
    }
    let labelled = plot.points().any(|(_, _, point)| !point.label.is_empty());
    if plot.form == Form::Marks && !labelled && plot.names().len() > FEW {
        names(sheet, &marks, right, &mut taken);
    }
    bundle_names(sheet, &rows_at, &bands, band, right);
    bottom + foot
}

/// A mark that may get a name.
struct Named<'p> {
    /// From the mark to the end of its range.
    rect: Rect,
    name: &'p str,
    /// Row, and index of its band.
    band: (usize, usize),
}

/// Writes the name of the best mark of each band next to it, if there is space; after the number of an arrow.
fn names(sheet: &mut Sheet<'_, '_>, marks: &[Named<'_>], right: f32, taken: &mut Taken) {
    let sign = if sheet.plot.lower_is_better() { -1.0 } else { 1.0 };
    let mut near = Near::new();
    marks.iter().for_each(|mark| near.add(mark.rect, mark.rect));
    let mut order: Vec<_> = marks.iter().collect();
    let ends = |mark: &Named<'_>| sign * mark.rect.center().x;
    sparsescope_core::order::sort_by(&mut order, |one, other| ends(other).total_cmp(&ends(one)));
    let mut seen = HashSet::new();
    let rows = sheet.plot.rows.as_deref().unwrap_or_default();
    for Named { rect, name, band } in order {
        // A row of one kernel has its name in front.
        let is_named = rows.get(band.0).is_some_and(|row| row.name == *name);
        if !seen.insert(band) || is_named {
            continue;
        }
        let name = written(name);
        let size = vec2(text_width(name, TYPE), TYPE);
        let starts = [3.0, 3.0 + NUMBER].map(|by| rect.right_center() + vec2(by, 0.0));
        let text_at = |start: Pos2| Rect::from_min_size(start - vec2(0.0, TYPE * 0.5), size);
        let is_free =
            |text: Rect| text.right() < right && !near.any(text, |other| other.intersects(text));
        let [first, _] = starts;
        if !is_free(text_at(first)) {
            continue;
        }
        let start = starts.into_iter().find(|start| {
            let text = text_at(*start);
            let takes = [Covers::Guides];
            is_free(text) && taken.take(size, &[text.center()], Rect::EVERYTHING, &takes).is_some()
        });
        if let Some(start) = start {
            sheet.figure.text(start, Anchor::Start, TYPE, sheet.ink.weak, name);
            near.add(text_at(start), text_at(start));
        }
    }
}

/// Writes the bundle of each interval at its end if there are several bundles: their marks do not
/// tell.
fn bundle_names(
    sheet: &mut Sheet<'_, '_>,
    rows: &[[f32; 2]],
    bands: &[Vec<usize>],
    band: f32,
    right: f32,
) {
    let open = sheet.plot.bundles();
    if sheet.plot.form != Form::Intervals || open.len() < 2 || band < NAMED {
        return;
    }
    for ([top, _], lanes) in rows.iter().zip(bands) {
        for (place, lane) in lanes.iter().enumerate() {
            let Some(open) = open.get(*lane) else { continue };
            let at = pos2(right - 2.0, top + band * (place as f32 + 0.5));
            sheet.text(at, Anchor::End, sheet.ink.weak, &elide(open.label(), 120.0));
        }
    }
}

/// The indices of the bundles that have points in each row, ascending; a row without points is as
/// tall as a row of one bundle.
fn bands(sheet: &Sheet<'_, '_>, rows: usize) -> Vec<Vec<usize>> {
    let mut bands: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (_, series, point) in sheet.plot.points() {
        let lane = sheet.lane(series);
        if let Some(of_row) = bands.get_mut(point.at[1] as usize)
            && let Err(place) = of_row.binary_search(&lane)
        {
            of_row.insert(place, lane);
        }
    }
    bands.iter_mut().filter(|lanes| lanes.is_empty()).for_each(|lanes| lanes.push(0));
    bands
}

/// Lanes per band: the number of points that may need to be separated.
fn lanes(sheet: &Sheet<'_, '_>) -> f32 {
    let mut series = vec![0_usize; sheet.bundles.len().max(1)];
    let bold = sheet.plot.series.iter().filter(|((_, name, _), _)| sheet.is_bold(name));
    for (_, of) in bold {
        if let Some(count) = series.get_mut(sheet.lane(of)) {
            *count += 1;
        }
    }
    let most = series.into_iter().max().unwrap_or(1);
    match sheet.plot.form {
        Form::Boxes => 3.0,
        Form::Intervals | Form::Bars | Form::Strokes => 1.3,
        Form::Cells => 0.9,
        _ => (most as f32).clamp(2.6, 5.0),
    }
}

/// The position nearest to `wanted` without another mark of the row; `wanted` itself if all are
/// occupied.
fn free(placed: &Near<(usize, Pos2)>, row: usize, wanted: Pos2, lane: f32, size: f32) -> Pos2 {
    let step = lane.min(size * 2.2);
    let places = DODGE.map(|lanes| wanted + vec2(0.0, lanes * step));
    let apart = step - 0.5;
    let is_free = |place: &Pos2, apart: f32| {
        let around = Rect::from_center_size(*place, vec2(2.0 * apart, 2.0 * apart));
        !placed.any(around, |(of, other)| of == row && other.distance(*place) <= apart)
    };
    let between = BETWEEN.map(|lanes| wanted + vec2(0.0, lanes * step));
    let free = places.into_iter().find(|place| is_free(place, apart));
    free.or_else(|| between.into_iter().find(|place| is_free(place, step * 0.45))).unwrap_or(wanted)
}
