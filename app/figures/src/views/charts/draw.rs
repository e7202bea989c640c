//! A chart as a figure.

use emath::pos2;

use super::looks::Looks;
use super::plot::Plot;
use super::sheet::{Sheet, wrap};
use super::{plane, rows};
use crate::figure::{Anchor, Figure, elided};
use crate::state::ViewState;

/// Font size of a heading.
const HEADING: f32 = 16.0;
/// A legend taller than this fraction of the screen goes below the chart.
const LEGEND: f32 = 0.35;

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
    let mut sheet = Sheet::new(plot, looks, ink, width, bright);
    sheet.tells = room.is_some();
    let mut top = 14.0;
    if let For::File(heading) = whom {
        let text = elided(heading, width - 24.0, HEADING);
        sheet.figure.text(pos2(12.0, 18.0), Anchor::Start, HEADING, ink.text, &text);
        top = 44.0;
    }
    let top = sheet.bundles_legend(top);
    let bare = (sheet.figure.shapes.len(), sheet.figure.hits.len());
    let below = sheet.legend(top) + 12.0;
    let is_tall = room.is_some_and(|room| below - top > room * LEGEND);
    if is_tall {
        sheet.figure.shapes.truncate(bare.0);
        sheet.figure.hits.truncate(bare.1);
    }
    let top = if is_tall { top } else { below };
    let foot = match plot.rows.as_ref() {
        Some(list) => rows::draw(&mut sheet, list, top, room),
        None => plane::draw(&mut sheet, top, room),
    };
    let mut y = if is_tall { sheet.legend(foot + 14.0) + 12.0 } else { foot };
    if room.is_none() {
        for line in wrap(&plot.note, width - 24.0) {
            sheet.text(pos2(12.0, y + 6.0), Anchor::Start, ink.text, &line);
            y += 18.0;
        }
    }
    sheet.figure.size.y = y;
    sheet.figure
}
