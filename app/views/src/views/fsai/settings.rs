//! The settings of the view.

use egui::{Button, ComboBox, DragValue, Role, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::fsai::{MOST_MERGING, MOST_POWER, PARTS};
use sparsescope_figures::state::{FsaiOf, FsaiState, Mesh, MeshOf, PatternWord, Stage, ViewState};

use crate::views::spy::choose;

/// Names of the parts, in the order of their words.
const PART_NAMES: [&str; 3] = ["Patterns", "Gathered row", "Text"];
/// Initial α when merging is turned on.
const MERGING: f64 = 1.05;

pub(super) fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    let fsai = &mut state.fsai;
    matrix(ui, fsai);
    choose(ui, "Stage", &mut fsai.stage, Stage::ALL, Stage::name);
    if fsai.rule != PatternWord::Adaptive {
        ui.label("k");
        let field = ui.add(DragValue::new(&mut fsai.power).range(1..=MOST_POWER).speed(0.02));
        let field = field.on_hover_text("Power of the pattern");
        field.widget_info(|| {
            WidgetInfo::labeled(Role::SpinButton, true, "k, the power of the pattern")
        });
    }
}

pub(super) fn more(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    let fsai = &mut state.fsai;
    ui.horizontal(|ui| {
        choose(ui, "Pattern", &mut fsai.rule, PatternWord::ALL, PatternWord::name);
    });
    let filter = |ui: &mut Ui, name: &str, what: &str, value: &mut f64| {
        ui.horizontal(|ui| {
            ui.label(name);
            let drag = DragValue::new(value).range(0.0..=1.0).speed(0.001).max_decimals(5);
            let field = ui.add(drag).on_hover_text(what);
            let name = format!("{name}: {what}");
            field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &name));
        });
    };
    let what = "Prefilter: keep off-diagonal nonzeros of A with a_ij² > δ a_ii a_jj";
    filter(ui, "δ", what, &mut fsai.prefilter);
    let what =
        "Postfilter: keep off-diagonal nonzeros of G with g² > τ times the sum over their row";
    filter(ui, "τ", what, &mut fsai.postfilter);
    let mut on = fsai.merge.is_some();
    let what = "Rows with similar patterns share one dense system";
    if ui.checkbox(&mut on, "Merging").on_hover_text(what).changed() {
        fsai.merge = on.then_some(MERGING);
    }
    if let Some(alpha) = &mut fsai.merge {
        ui.horizontal(|ui| {
            ui.label("α");
            let drag = DragValue::new(alpha).range(1.0..=MOST_MERGING).speed(0.01).max_decimals(3);
            let field = ui.add(drag).on_hover_text("A larger α merges more rows");
            field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "α of merging"));
        });
    }
    ui.menu_button("Shown", |ui| {
        let mut left: Vec<&str> = Vec::new();
        for (word, name) in PARTS.into_iter().zip(PART_NAMES) {
            let mut on = fsai.shows(word);
            ui.checkbox(&mut on, name);
            left.extend(on.then_some(word));
        }
        let every = left.len() == PARTS.len() || left.is_empty();
        fsai.parts = if every { String::new() } else { left.join(",") };
    });
    let whole = ui.add_enabled(state.spy.at.is_some(), Button::new("Whole matrix"));
    if whole.on_hover_text("Key 0 or double-click").clicked() {
        state.spy.at = None;
    }
}

/// The choice of the matrix.
fn matrix(ui: &mut Ui, fsai: &mut FsaiState) {
    let side = match fsai.of {
        FsaiOf::Mesh(of) => of.side,
        _ => 8,
    };
    let mut all =
        vec![(FsaiOf::Selected, "Selected matrix"), (FsaiOf::Small, "Small matrix from Layouts")];
    let of = |mesh: &Mesh| MeshOf { mesh: *mesh, side: side.min(mesh.most_side()) };
    all.extend(Mesh::ALL.iter().map(|mesh| (FsaiOf::Mesh(of(mesh)), mesh.name())));
    let shown = all.iter().find(|(choice, _)| *choice == fsai.of).map_or("", |(_, name)| name);
    let before = fsai.of;
    ui.label("Matrix");
    let combo = ComboBox::from_id_salt("preconditioner of").selected_text(shown);
    let combo = combo.show_ui(ui, |ui| {
        for (choice, name) in all {
            ui.selectable_value(&mut fsai.of, choice, name);
        }
    });
    let name = format!("Matrix: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    if let FsaiOf::Mesh(of) = &mut fsai.of {
        let drag = DragValue::new(&mut of.side).range(2..=of.mesh.most_side()).speed(0.1);
        let field = ui.add(drag.suffix(" per side"));
        field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Points per side"));
    }
    if fsai.of != before {
        fsai.row = None;
    }
}
