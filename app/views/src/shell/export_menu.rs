//! What a view shows, as files and as text in the clipboard.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, Id, PopupCloseBehavior, Role, Ui, WidgetInfo};
#[cfg(target_family = "wasm")]
use sparsescope_figures::figure::pixels_of;
use sparsescope_figures::figure::{Print, for_file};
#[cfg(not(target_family = "wasm"))]
use sparsescope_figures::figure::{pdf, png as image};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::View;
use sparsescope_figures::written::{Form, figure, table};

#[cfg(target_family = "wasm")]
use super::export::Raster;
use super::export::{Export, Saved};

/// Widths of saved figures in millimetres.
const WIDTHS: [(&str, Option<f32>); 3] =
    [("As shown", None), ("85 mm", Some(85.0)), ("170 mm", Some(170.0))];
/// Sizes of their type in points, and the usual one.
const TYPE: [f32; 4] = [7.0, 8.0, 9.0, 10.0];
const USUAL: f32 = 8.0;

/// Draws the menu; requested files go into `saved`.
pub(super) fn show(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let name = match several {
        true => format!("Export of {}", view.name),
        false => "Export".to_owned(),
    };
    // Choosing a size does not close the menu.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let button = Button::new("Export").frame_when_inactive(false);
    let menu = MenuButton::from_button(button).config(config);
    let (button, _) = menu.ui(ui, |ui| items(ui, view, model, state, saved));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
}

/// An item that closes the menu.
fn item(ui: &mut Ui, text: &str, hover: &str) -> bool {
    let clicked = ui.button(text).on_hover_text(hover).clicked();
    if clicked {
        ui.close();
    }
    clicked
}

fn items(ui: &mut Ui, view: &View, model: &Model, state: &ViewState, saved: &mut Saved) {
    let file = |extension| format!("sparsescope-{}.{extension}", view.id);
    ui.weak("Table");
    if item(ui, "Save CSV", "The data shown, for a spreadsheet or a program") {
        match table(view, model, state) {
            Ok(bytes) => saved.exports.push(Export::new(file("csv"), bytes)),
            Err(error) => {
                saved.failures.push(format!("Could not save the table: {error}."));
            }
        }
    }
    for form in Form::ALL {
        let name = form.name();
        if item(ui, &format!("Copy {name}"), "The data shown, to paste into a document") {
            ui.ctx().copy_text(form.write(&(view.table)(model, state)));
            saved.copied.push(format!("Copied the table as {name}."));
        }
    }
    if view.svg.is_none() {
        return;
    }
    ui.separator();
    ui.weak("Figure");
    let print = size(ui);
    let svg = || figure(view, model, state, print).unwrap_or_default();
    if item(ui, "Save SVG", "For a paper or a web page; contains its fonts") {
        saved.exports.push(Export::new(file("svg"), for_file(&svg(), print).into_bytes()));
    }
    if item(ui, "Save PNG", "An image, for slides") {
        match png(file("png"), &svg(), print) {
            Ok(export) => saved.exports.push(export),
            Err(error) => saved.failures.push(error),
        }
    }
    #[cfg(not(target_family = "wasm"))]
    if item(ui, "Save PDF", "For a paper; contains its fonts") {
        saved.exports.push(Export::new(file("pdf"), pdf::file(&svg(), print)));
    }
}

/// The choice of a size on paper, the same for all views.
fn size(ui: &mut Ui) -> Option<Print> {
    let id = Id::unique("size of saved figures");
    let known: Option<(Option<f32>, f32)> = ui.data(|data| data.get_temp(id));
    let (mut width, mut type_pt) = known.unwrap_or((None, USUAL));
    ui.horizontal(|ui| {
        for (text, value) in WIDTHS {
            let choice = ui.selectable_label(width == value, text);
            if choice.on_hover_text("Width of the figure on paper").clicked() {
                width = value;
            }
        }
    });
    ui.add_enabled_ui(width.is_some(), |ui| {
        ui.horizontal(|ui| {
            for value in TYPE {
                let choice = ui.selectable_label(type_pt == value, format!("{value} pt"));
                let hover = "Size of the text of charts; other figures are scaled with their text";
                if choice.on_hover_text(hover).clicked() {
                    type_pt = value;
                }
            }
        });
    });
    ui.data_mut(|data| data.insert_temp(id, (width, type_pt)));
    width.map(|width_mm| Print { width_mm, type_pt })
}

#[cfg(not(target_family = "wasm"))]
fn png(name: String, svg: &str, print: Option<Print>) -> Result<Export, String> {
    let bytes =
        image::file(svg, print).map_err(|error| format!("Could not save the image: {error}."))?;
    Ok(Export::new(name, bytes))
}

#[cfg(target_family = "wasm")]
fn png(name: String, svg: &str, print: Option<Print>) -> Result<Export, String> {
    let size = pixels_of(svg, print).ok_or("Could not save the image: there is no figure.")?;
    let raster = Some(Raster { size, on_paper: print.is_some() });
    Ok(Export { raster, ..Export::new(name, for_file(svg, print).into_bytes()) })
}
