//! The picture with its surroundings: axes, row lengths, overlays, colour bar.

use ecolor::Color32;
use emath::{Pos2, Rect, pos2};
use sparsescope_core::spy::LengthBin;

use super::axes::{axes, digits, index};
use super::frame::{CAPTION, Frame, GAP, STRIP, TYPE};
use super::marked::{MARKED, outline};
use super::overlay::{Padding, Parts};
use super::place::Place;
use super::ranks::Ranks;
use super::shade::Shade;
use crate::figure::{Anchor, Axis, Figure, area, elided, text_width};
use crate::model::{count, significant, slots};
use crate::picture::{Cells, Picture};
use crate::state::{SpyState, Theme};
use crate::theme::{BODY, Ink};

/// Everything except the cells.
pub(super) fn around(
    figure: &mut Figure,
    frame: &Frame,
    place: &Place,
    (picture, cells, ranks): (&Picture, &Cells<'_>, Option<&Ranks>),
    state: &SpyState,
    theme: Theme,
) {
    let ink = theme.ink();
    axes(figure, frame.area, place, ink);
    let mut left = frame.area.max.x + GAP;
    if state.hack > 0 {
        padding(figure, left, place, picture, state.hack, ink);
        left += STRIP + GAP;
    }
    if frame.with_profile {
        let beside = area(left, frame.area.min.y, frame.right, frame.area.max.y);
        match ranks {
            Some(ranks) => ranks.heat(figure, beside, ink),
            None => profile(figure, beside, place, picture, ink),
        }
    }
    if let Some(ranks) = ranks {
        ranks.draw(figure, place, cells, ink);
    }
    if state.parts > 0 {
        let parts = Parts::of(picture, state.parts as usize, state.split);
        draw_parts(figure, place, &parts, ink);
    }
    outline(figure, place.covered(), ink.weak);
}

/// The name of the matrix and, below it, lines of text; empty ones take no space.
pub(in crate::views) fn caption(figure: &mut Figure, name: &str, lines: &[&str], ink: Ink) {
    let left = 12.0;
    let room = figure.size.x - 2.0 * left;
    // Semibold letters are up to a tenth wider.
    let name = elided(name, room * 0.9, BODY);
    figure.strong(pos2(left, CAPTION * 0.6), Anchor::Start, BODY, ink.text, &name);
    for (number, line) in lines.iter().filter(|line| !line.is_empty()).enumerate() {
        let at = pos2(left, CAPTION * (1.5 + number as f32));
        figure.text(at, Anchor::Start, TYPE, ink.text, &elided(line, room, TYPE));
    }
}

/// Rows, columns, nonzeros and nonzeros per row of a matrix.
pub(super) fn size_words(picture: &Picture) -> String {
    let pyramid = &picture.pyramid;
    let (rows, nonzeros) = (pyramid.rows(), pyramid.entries());
    format!(
        "{} × {}, {} nonzeros, {} per row",
        index(rows),
        index(pyramid.cols()),
        count(nonzeros),
        significant(nonzeros as f64 / rows.max(1) as f64)
    )
}

/// An ordering and its distance of nonzeros from the diagonal.
pub(super) fn numbering_words(name: &str, picture: &Picture) -> String {
    let Some(band) = picture.band() else { return name.to_owned() };
    format!(
        "{name}: bandwidth {} below, {} above; profile {}",
        digits(band.lower),
        digits(band.upper),
        count(band.profile)
    )
}

/// Lines between the rows of the threads, with their numbers if there is space.
fn draw_parts(figure: &mut Figure, place: &Place, parts: &Parts, ink: Ink) {
    let covered = place.covered();
    let color = MARKED;
    let mut taken = f32::NEG_INFINITY;
    for (thread, bounds) in parts.bounds.array_windows::<2>().enumerate() {
        let [first, end] = bounds.map(|row| place.y(row));
        if thread > 0 && first > covered.min.y && first < covered.max.y {
            let (from, to) = (pos2(covered.min.x, first), pos2(covered.max.x, first));
            figure.line(from, to, 2.5, ink.paper);
            figure.line(from, to, 1.5, color);
        }
        let (first, end) = (first.max(covered.min.y), end.min(covered.max.y));
        let middle = (first + end) * 0.5;
        if end - first > 4.0 && middle - taken > TYPE + 4.0 && covered.width() > 120.0 {
            let label = format!("T{thread}");
            let width = text_width(&label, TYPE) + 8.0;
            let right = covered.max.x - 3.0;
            figure.rect(area(right - width, middle - 8.0, right, middle + 8.0), ink.paper);
            figure.text(pos2(right - 4.0, middle), Anchor::End, TYPE, ink.text, &label);
            taken = middle;
        }
    }
}

/// The profile's groups of rows at a height of the picture.
fn groups_at(place: &Place, picture: &Picture, y: f32) -> Option<std::ops::Range<usize>> {
    let bins = picture.profile.bins.len();
    let group = |y: f32| {
        let (row, _) = place.matrix(pos2(place.area.min.x, y));
        (row.max(0.0) as usize) >> picture.profile.shift
    };
    let first = group(y);
    (first < bins).then(|| first..group(y + 1.0).clamp(first + 1, bins))
}

/// Fraction of padding along the rows as a colour strip.
fn padding(figure: &mut Figure, left: f32, place: &Place, picture: &Picture, hack: u32, ink: Ink) {
    let padding = Padding::of(picture, hack as usize);
    let covered = place.covered();
    let mut y = covered.min.y;
    let mut run: Option<(f32, Color32)> = None;
    while y < covered.max.y {
        let share = groups_at(place, picture, y).map_or(0.0, |rows| padding.share(picture, rows));
        let color = ink.grid.lerp_to_gamma(MARKED, share as f32);
        match run {
            Some((from, last)) if last != color => {
                figure.rect(area(left, from, left + STRIP, y), last);
                run = Some((y, color));
            }
            None => run = Some((y, color)),
            Some(_) => {}
        }
        y += 1.0;
    }
    if let Some((from, last)) = run {
        figure.rect(area(left, from, left + STRIP, covered.max.y), last);
    }
    outline(figure, area(left, covered.min.y, left + STRIP, covered.max.y), ink.weak);
    let middle = left + STRIP * 0.5;
    figure.text(pos2(middle, covered.min.y - 13.0), Anchor::Middle, TYPE, ink.text, "Padding");
}

/// Row lengths: the longest row at each height, and the mean.
fn profile(figure: &mut Figure, rect: Rect, place: &Place, picture: &Picture, ink: Ink) {
    let covered = place.covered();
    let bins = &picture.profile.bins;
    let longest = bins.iter().map(|bin| bin.max).max().unwrap_or(0).max(1);
    let rows = picture.pyramid.rows().max(1);
    let mean = picture.pyramid.entries() as f64 / rows as f64;
    // A few long rows must not flatten all others.
    let log = longest as f64 > 30.0 * mean.max(1.0);
    let values = [if log { 0.8 } else { 0.0 }, longest as f64];
    let axis = Axis::new(values.into_iter(), log, rect.min.x, rect.max.x - 8.0);
    let at = |length: f64| if log { axis.place(length.max(0.8)) } else { axis.place(length) };
    let room = figure.size.x - rect.min.x;
    let title = match log {
        true => fitting(["Nonzeros per row, logarithmic", "Per row, logarithmic"], room),
        false => fitting(["Nonzeros per row", "Per row"], room),
    };
    figure.text(pos2(rect.min.x, covered.min.y - 33.0), Anchor::Start, TYPE, ink.text, title);
    let mut means: Vec<emath::Pos2> = Vec::new();
    let mut y = covered.min.y;
    while y < covered.max.y {
        if let Some(of) = groups_at(place, picture, y).and_then(|groups| bins.get(groups)) {
            let (bar, mean) = summary(of, picture, y, place);
            figure.rect(area(rect.min.x, y, at(bar), (y + 1.5).min(covered.max.y)), ink.grid);
            // Steps, not slopes: each row has its own length.
            let (x, end) = (at(mean), (y + 1.0).min(covered.max.y));
            match means.last_mut() {
                Some(last) if last.x == x => last.y = end,
                _ => means.extend([pos2(x, y), pos2(x, end)]),
            }
        }
        y += 1.0;
    }
    let mut taken = f32::NEG_INFINITY;
    for tick in axis.ticks() {
        let decade = || tick >= 1.0 && tick.log10().fract().abs() < 1e-6;
        let whole = if log { decade() } else { tick.fract() == 0.0 };
        if whole {
            let (x, label) = (axis.place(tick), count(tick as u64));
            let ends = (pos2(x, covered.min.y), pos2(x, covered.max.y));
            figure.line(ends.0, ends.1, 1.0, ink.text.gamma_multiply(0.18));
            let half = text_width(&label, TYPE) * 0.5;
            if x - half > taken {
                let pos = pos2(x, covered.min.y - 13.0);
                figure.text(pos, Anchor::Middle, TYPE, ink.weak, &label);
                taken = x + half + 4.0;
            }
        }
    }
    if means.len() > 1 {
        let line = crate::figure::Shape::Line { points: means, width: 1.2, color: ink.text };
        figure.shapes.push(line);
    }
    figure.line(pos2(rect.min.x, covered.min.y), pos2(rect.min.x, covered.max.y), 1.0, ink.weak);
    let key = pos2(rect.min.x, covered.max.y + 12.0);
    let words = fitting(["bar: longest, line: mean", "longest, mean"], room);
    figure.text(key, Anchor::Start, TYPE, ink.weak, words);
}

/// The longer of two texts, if it fits.
fn fitting([long, short]: [&'static str; 2], room: f32) -> &'static str {
    if text_width(long, TYPE) <= room { long } else { short }
}

/// Longest row and mean length of some groups.
fn summary(groups: &[LengthBin], picture: &Picture, y: f32, place: &Place) -> (f64, f64) {
    let longest = groups.iter().map(|bin| bin.max).max().unwrap_or(0) as f64;
    let entries: u64 = groups.iter().map(|bin| bin.entries).sum();
    let (row, _) = place.matrix(pos2(place.area.min.x, y));
    let group = 1_usize << picture.profile.shift;
    let first = row.max(0.0) as usize / group * group;
    let rows = (groups.len() * group).min(picture.pyramid.rows().saturating_sub(first)).max(1);
    (longest, entries as f64 / rows as f64)
}

/// The colour bar below the picture.
pub(super) fn legend(
    figure: &mut Figure,
    frame: &Frame,
    cells: &Cells<'_>,
    shade: &Shade,
    ink: Ink,
) {
    let labels = shade.labels();
    if let [(_, only)] = labels[..] {
        return swatches(figure, frame, &[(shade.color(only), count(only))], cells, ink);
    }
    let top = frame.area.max.y + 12.0;
    let (left, width) = (frame.area.min.x, frame.area.width().min(360.0));
    let step = width / 64.0;
    for k in 0..64_u8 {
        let x = left + step * f32::from(k);
        let color = shade.at(f32::from(k) / 63.0);
        figure.rect(area(x, top, x + step + 0.5, top + 12.0), color);
    }
    let mut taken = f32::NEG_INFINITY;
    let last = labels.len().saturating_sub(1);
    for (number, (position, entries)) in labels.into_iter().enumerate() {
        let x = left + width * position;
        let label = count(entries);
        let half = text_width(&label, TYPE) * 0.5;
        // The ends always have labels; values in between only if there is space.
        let room = x - half > taken && (number == last || x + half < left + width - 40.0);
        if room {
            let x_inside = x.min(figure.size.x - half);
            figure.text(pos2(x_inside, top + 22.0), Anchor::Middle, TYPE, ink.weak, &label);
            taken = x + half + 6.0;
        }
    }
    let text = format!("{}, {} scale", cell_words(cells), shade.scale.name());
    below(figure, pos2(left, top + 40.0), ink, &text);
}

/// Describes what the cells count.
fn cell_words(cells: &Cells<'_>) -> String {
    match 1_usize << cells.shift() {
        1 => "nonzeros (each cell is one row and column)".to_owned(),
        side => format!("nonzeros per {0} × {0} cell", index(side)),
    }
}

/// Coloured squares with their meanings, instead of the colour bar.
pub fn swatches(
    figure: &mut Figure,
    frame: &Frame,
    items: &[(Color32, String)],
    cells: &Cells<'_>,
    ink: Ink,
) {
    let (mut left, top) = (frame.area.min.x, frame.area.max.y + 12.0);
    for (color, words) in items {
        figure.rect(area(left, top, left + 12.0, top + 12.0), *color);
        figure.text(pos2(left + 18.0, top + 6.0), Anchor::Start, TYPE, ink.text, words);
        left += 18.0 + text_width(words, TYPE) + 18.0;
    }
    below(figure, pos2(frame.area.min.x, top + 40.0), ink, &cell_words(cells));
}

/// Text below the picture, shifted left if it would not fit into the figure.
fn below(figure: &mut Figure, at: Pos2, ink: Ink, text: &str) {
    let last = figure.size.x - text_width(text, TYPE) - 2.0;
    let x = at.x.min(last.max(0.0));
    figure.text(pos2(x, at.y), Anchor::Start, TYPE, ink.text, text);
}

/// Describes the overlays.
pub fn overlay_words(picture: &Picture, state: &SpyState) -> Vec<String> {
    let mut words = Vec::new();
    if state.parts > 0 {
        let parts = Parts::of(picture, state.parts as usize, state.split);
        let about = if parts.exact { "" } else { "about " };
        words.push(format!(
            "{} threads with {}: the largest part has {about}{} times the mean",
            parts.entries.len(),
            state.split.name(),
            significant(parts.imbalance())
        ));
    }
    if state.hack > 0 {
        let padding = Padding::of(picture, state.hack as usize);
        let most = if padding.exact { "" } else { "at most " };
        words.push(format!(
            "Hacks of {} rows: {most}{} per nonzero",
            state.hack,
            slots(padding.slots_an_entry(picture))
        ));
    }
    words
}
