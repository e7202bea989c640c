//! Saving what a view shows as files.

use egui::{Role, Ui, WidgetInfo};
#[cfg(not(target_family = "wasm"))]
use sparsescope_figures::figure::png as image;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::View;
use sparsescope_figures::written::table;

use super::export::Export;
use super::pane::Saved;

/// Draws the controls; requested files go into `saved`.
pub(super) fn show(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let file = |extension| format!("sparsescope-{}.{extension}", view.id);
    let mut button = |text: &str, hover: &str| {
        let button = ui.button(text);
        if several {
            let name = format!("{text} of {}", view.name);
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
        }
        button.on_hover_text(hover).clicked()
    };
    if button("Save CSV", "The data shown, as a table") {
        match table(view, model, state) {
            Ok(bytes) => saved.exports.push(Export::new(file("csv"), bytes)),
            Err(error) => {
                saved.failures.push(format!("Could not save the table: {error}."));
            }
        }
    }
    let Some(svg) = view.svg else { return };
    if button("Save SVG", "The figure, for a paper") {
        saved.exports.push(Export::new(file("svg"), svg(model, state).into_bytes()));
    }
    if button("Save PNG", "The figure as an image, for slides") {
        match png(file("png"), svg(model, state)) {
            Ok(export) => saved.exports.push(export),
            Err(error) => saved.failures.push(error),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn png(name: String, svg: String) -> Result<Export, String> {
    let bytes = image::render(&svg, image::PIXELS)
        .map_err(|error| format!("Could not save the image: {error}."))?;
    Ok(Export::new(name, bytes))
}

#[cfg(target_family = "wasm")]
fn png(name: String, svg: String) -> Result<Export, String> {
    Ok(Export { rasterise: true, ..Export::new(name, svg.into_bytes()) })
}
