//! A chart as a figure.

use egui::pos2;

use super::plot::{Looks, Plot};
use super::sheet::{Sheet, wrap};
use super::{plane, rows};
use crate::figure::{Anchor, Figure};
use crate::state::ViewState;

/// The figure; its height fills `room` where it can.
pub(super) fn figure(
    plot: &Plot<'_>,
    looks: &Looks,
    state: &ViewState,
    width: f32,
    room: Option<f32>,
) -> Figure {
    let ink = state.theme.ink();
    let mut sheet = Sheet::new(plot, looks, ink, width);
    let top = sheet.legend() + 12.0;
    let foot = match plot.rows.as_ref() {
        Some(list) => rows::draw(&mut sheet, list, top, room),
        None => plane::draw(&mut sheet, top, room),
    };
    let mut y = foot;
    if room.is_none() {
        for line in wrap(&plot.note, width - 24.0) {
            sheet.text(pos2(12.0, y + 6.0), Anchor::Start, ink.text, &line);
            y += 18.0;
        }
    }
    sheet.figure.size.y = y;
    sheet.figure
}
