//! A chart as a figure.

use emath::pos2;

use super::looks::Looks;
use super::plot::{Plot, Point, Row, number};
use super::sheet::{Sheet, wrap};
use super::{plane, rows};
use crate::figure::{Anchor, Figure, elided};
use crate::model::subject_name;
use crate::state::ViewState;
use crate::theme::BODY;

/// Figures narrower than this have their legend below the plot.
const NARROW: f32 = 600.0;
/// The legend takes at most this fraction of the width beside the plot, or of the height below it.
const LEGEND: f32 = 0.3;
/// In a file, a legend with more lines than this, and than this many per row, is below the rows.
const LONG: [usize; 2] = [30, 5];
/// Space above and below a legend below the plot.
const AROUND: f32 = 20.0;

/// Where a figure is drawn.
#[derive(Clone, Copy, Debug)]
pub enum For<'t> {
    /// On the screen: it fills this height if possible, and highlights the series of this name.
    Screen(f32, Option<&'t str>),
    /// In a file: below this heading.
    File(&'t str),
}

/// The figure with this width.
pub fn figure(
    plot: &Plot<'_>,
    looks: &Looks,
    state: &ViewState,
    width: f32,
    whom: For<'_>,
) -> Figure {
    let ink = state.theme.ink();
    let (room, bright) = match whom {
        For::Screen(room, bright) => (Some(room), bright),
        For::File(_) => (None, None),
    };
    let mut sheet = Sheet::new(plot, looks, ink, width, (bright, state.run));
    sheet.tells = room.is_some();
    let mut top = 14.0;
    if let For::File(heading) = whom {
        let text = elided(heading, (width - 24.0) * 0.95, BODY);
        sheet.figure.strong(pos2(12.0, 18.0), Anchor::Start, BODY, ink.text, &text);
        top = 44.0;
    }
    let top = sheet.fills_legend(top);
    let [lines, per_row] = LONG;
    let is_long = |rows: &[Row]| sheet.bold.order.len() > lines.max(per_row * rows.len());
    let is_file = room.is_none();
    let is_beside = width >= NARROW && !(is_file && plot.rows.as_deref().is_some_and(is_long));
    if is_beside {
        sheet.width = width - sheet.legend_width().min(width * LEGEND);
    }
    // A legend below the plot keeps some of the screen for itself.
    let below = if is_beside { 0.0 } else { sheet.legend_height(width) + AROUND };
    let room_of_plot = room.map(|room| room - below.min(LEGEND * room));
    let foot = match plot.rows.as_ref() {
        Some(list) => rows::draw(&mut sheet, list, top, room_of_plot),
        None => plane::draw(&mut sheet, top, room_of_plot),
    };
    let mut y = if is_beside {
        let edges = (sheet.width, width);
        foot.max(sheet.legend(top + 20.0, edges) + 12.0)
    } else {
        sheet.legend(foot + 14.0, (0.0, width)) + 12.0
    };
    if is_file {
        for line in wrap(&plot.note, width - 24.0) {
            sheet.text(pos2(12.0, y + 6.0), Anchor::Start, ink.text, &line);
            y += 18.0;
        }
    }
    sheet.figure.size.y = y;
    sheet.figure.message = message(plot);
    sheet.figure
}

/// The highest value, or the lowest one if lower is better, in a sentence. The title of the axis comes
/// first: behind the value, `s (CSR/HLL report)` would read as seconds.
fn message(plot: &Plot<'_>) -> String {
    let (word, sign) = if plot.lower_is_better() { ("lowest", -1.0) } else { ("highest", 1.0) };
    let signed = |point: &Point<'_>| sign * plot.value(point);
    let points = plot.points().filter(|(_, _, point)| plot.value(point).is_finite());
    let best = points.max_by(|one, other| signed(one.2).total_cmp(&signed(other.2)));
    let axis = if plot.rows.is_some() { &plot.x } else { &plot.y };
    let Some((name, _, point)) = best.filter(|_| axis.names.is_empty()) else {
        return String::new();
    };
    let of = point.subject.map(subject_name).filter(|of| of != name);
    let of = of.map_or_else(String::new, |of| format!(" on {of}"));
    let which = match plot.points().count() {
        1 => "the only value".to_owned(),
        all => format!("the {word} of {all} values"),
    };
    let (title, value) = (&axis.title, number(plot.value(point)));
    format!("{title}: {which} is {value}, of {name}{of}.")
}
