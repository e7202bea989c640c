//! The view: the board with or without a lesson beside it, and the same as a table and as SVG.

use std::sync::Arc;

use egui::{Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use super::board::Spot;
use super::cells::Owner;
use super::scene::scene;
use super::settings::settings;
use super::subject::Subject;
use super::walk::{Kept, most, walks};
use super::{arrays, panel, teach};
use crate::figure::{Figure, Provenance};
use crate::model::Model;
use crate::state::{LayoutsState, Small, ViewState};
use crate::views::view::{View, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "layouts",
    name: "Layouts",
    sentence: "Where each format keeps every entry of a small matrix. Click an entry to find it everywhere.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Scales at which a lesson's board is drawn, until all of it can be seen.
const SCALES: [f32; 9] = [1.4, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7, 0.62, 0.56];

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = Subject::of(model, state);
    let a = subject.as_ref().ok().map(|subject| Arc::new(subject.a.clone()));
    let walks = a.map(|a| walks(Some(ui.ctx()), &a, &state.layouts)).unwrap_or_default();
    let id = state.layouts.lesson.as_ref().map(|(id, _)| id.clone());
    let lesson = id.as_ref().and_then(|id| model.lessons.get(id)).cloned();
    if let Some(lesson) = lesson {
        let selected = subject.as_ref().ok().filter(|_| state.layouts.small == Small::Selected);
        let steps = (!walks.is_empty()).then(|| most(&walks));
        let (text, rest) = teach::places(ui);
        let beside = |rect| egui::UiBuilder::new().max_rect(rect);
        let texts = panel::counted(ui, &lesson, state, selected.map(|subject| &subject.a));
        ui.scope_builder(beside(text), |ui| panel::show(ui, &lesson, texts, state, steps));
        ui.scope_builder(beside(rest), |ui| drawn(ui, subject, state, &walks, &SCALES));
        return;
    }
    if let Some(id) = id {
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("The lesson `{id}` is not open: drop its file here."));
            if ui.button("Leave").clicked() {
                state.layouts.lesson = None;
            }
        });
    }
    drawn(ui, subject, state, &walks, &[1.0]);
}

/// The board, at the largest of these scales at which all of it can be seen.
fn drawn(
    ui: &mut Ui,
    subject: Result<Subject, String>,
    state: &mut ViewState,
    walks: &[Kept],
    scales: &[f32],
) {
    let subject = match subject {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let space = ui.available_size() - vec2(14.0, 0.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let mut boards = scales.iter().map(|&scale| {
            let width = if scales.len() > 1 { space.x / scale } else { space.x.max(380.0) };
            scene(&subject, state, walks, width, scale)
        });
        let fits = |(figure, _): &(Figure, _)| figure.size.x <= space.x && figure.size.y <= space.y;
        let found = boards.by_ref().find(fits);
        let smallest = scales.last().copied().unwrap_or(1.0);
        let width = (space.x / smallest).max(380.0);
        let (figure, spots) =
            found.unwrap_or_else(|| scene(&subject, state, walks, width, smallest));
        let corner = ui.cursor().min;
        figure.show(ui, &format!("Memory layouts of {}", subject.title));
        for (index, spot) in spots.iter().enumerate() {
            let id = ui.scope_id().with(("spot", index));
            let place = ui.interact(spot.rect.translate(corner.to_vec2()), id, Sense::click());
            place.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spot.name));
            if place.has_focus() {
                let stroke = egui::Stroke::new(2.0, ui.visuals().hyperlink_color);
                ui.painter().rect_stroke(place.rect, 0.0, stroke, egui::StrokeKind::Outside);
            }
            if place.on_hover_text(&spot.name).clicked() {
                click(spot, &mut state.layouts);
            }
        }
    });
}

/// Points at an entry, or changes what is drawn by hand.
fn click(spot: &Spot, layouts: &mut LayoutsState) {
    let in_picture = spot.name.starts_with("Entry ") || matches!(spot.owner, Owner::Nothing(..));
    let at = match spot.owner {
        Owner::Entry(i, j) | Owner::Nothing(i, j) => Some((i, j)),
        _ => None,
    };
    if let (Small::Drawn(pattern), Some((i, j)), true) = (&mut layouts.small, at, in_picture) {
        pattern.toggle(i, j);
        layouts.pick = pattern.has(i, j).then_some((i as u32, j as u32));
        return;
    }
    if let Some((i, j)) = spot.owner.entry() {
        let pick = Some((i as u32, j as u32));
        layouts.pick = if layouts.pick == pick { None } else { pick };
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["format", "array", "index", "value", "belongs to"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    for panel in arrays::panels(&Arc::new(subject.a.clone()), &state.layouts) {
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            for (index, cell) in strip.cells.iter().enumerate() {
                let (index, owner) = (index.to_string(), cell.owner.words());
                let line = [&panel.id, &strip.name, &index, &cell.text, &owner];
                lines.push(line.map(String::clone).to_vec());
            }
        }
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let Ok(subject) = Subject::of(model, state) else {
        return Figure::new(vec2(1.0, 1.0), state.theme.ink().paper)
            .to_svg(VIEW.sentence, &Provenance::default());
    };
    let walks = walks(None, &Arc::new(subject.a.clone()), &state.layouts);
    let (figure, _) = scene(&subject, state, &walks, 1000.0, 1.0);
    figure.to_svg(&format!("Memory layouts of {}", subject.title), &Provenance::default())
}
