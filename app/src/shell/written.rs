//! What a view shows, as the files that Save, `export` and whoever asks the page get.

use sparsescope_core::bundle::spreadsheet_cell;

use crate::model::Model;
use crate::state::ViewState;
use crate::views::{VIEWS, View};

/// The table that a link shows, as the text of a CSV file.
///
/// # Errors
/// Why there is none, in a sentence without its end.
pub fn table_of(model: &Model, link: &str) -> Result<String, String> {
    let (view, state) = shown(link)?;
    let text = table(view, model, &state).map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

/// The figure that a link shows, as SVG.
///
/// # Errors
/// Why there is none, in a sentence without its end.
pub fn svg_of(model: &Model, link: &str) -> Result<String, String> {
    let (view, state) = shown(link)?;
    let draw = view.svg.ok_or_else(|| format!("the view {} is no figure", view.id))?;
    Ok(draw(model, &state))
}

fn shown(link: &str) -> Result<(&'static View, ViewState), String> {
    let state = state_of(link)?;
    let view = VIEWS.iter().find(|view| view.id == state.view);
    let view = view.ok_or_else(|| format!("there is no view {}", state.view))?;
    Ok((view, state))
}

/// What a link says, of which the part after # counts; or what is wrong with it.
pub(crate) fn state_of(link: &str) -> Result<ViewState, String> {
    let fragment = link.rsplit('#').next().unwrap_or_default();
    ViewState::from_fragment(fragment)
        .ok_or_else(|| format!("{fragment} is not what a link holds: v1;key=value;…"))
}

/// The table of a view as CSV that a spreadsheet opens without running anything. What the view finds
/// in steps or beside drawing is waited for.
pub(crate) fn table(view: &View, model: &Model, state: &ViewState) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in (view.table)(model, state) {
        let cells = line.iter().map(|cell| spreadsheet_cell(cell).into_owned());
        writer.write_record(cells)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
