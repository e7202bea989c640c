//! The page on which a chart is chosen: all of them as small pictures, each with its question.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{
    Align, Color32, FontId, Id, Key, Layout, Modifiers, Painter, Pos2, Rect, RichText, Role,
    ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use sparsescope_figures::figure::Figure;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::state::charts::ChartState;
use sparsescope_figures::theme::{BODY, Ink, SMALL, SPACE, TITLE};
use sparsescope_figures::views::charts::chart::{Chart, Group};
use sparsescope_figures::views::charts::list::{current, offered};
use sparsescope_figures::views::charts::small::small;

use crate::paint::Paint;
use crate::style::strong;

/// Minimum width of a tile; two fit on a phone.
const TILE: f32 = 168.0;
/// Height of a picture, and of the texts below it.
const PICTURE: f32 = 108.0;
const TEXTS: f32 = 76.0;
/// Between tiles.
const GAP: f32 = 2.0 * SPACE;
const ROUND: f32 = 4.0;

/// The pictures of charts by id, or why there are none, for a state of the model and a width.
#[derive(Clone)]
struct Pictures {
    from: (u64, String, f32),
    of: BTreeMap<&'static str, Result<Arc<Figure>, &'static str>>,
}

fn id() -> Id {
    Id::unique("the page of charts")
}

/// Whether the page is open: until another chart is shown.
pub(super) fn is_open(ui: &Ui, state: &ViewState) -> bool {
    let id = id();
    let of: Option<&'static str> = ui.data(|data| data.get_temp(id));
    of == Some(current(state).id)
}

/// Opens or closes the page.
pub(super) fn set_open(ui: &Ui, state: &ViewState, open: bool) {
    let id = id();
    ui.data_mut(|data| match open {
        true => {
            data.insert_temp(id, current(state).id);
        }
        false => data.remove::<&'static str>(id),
    });
    ui.ctx().request_repaint();
}

/// Draws the page.
pub(super) fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let mut close = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    let columns = ((ui.available_width() + GAP) / (TILE + GAP)).floor().max(1.0);
    let width = ((ui.available_width() - SPACE + GAP) / columns - GAP).floor();
    let pictures = pictures(ui, model, state, width);
    let mut chosen = None;
    ui.horizontal(|ui| {
        ui.label(RichText::new("Choose a chart").font(strong(ui.ctx(), TITLE)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            close |= ui.button("Close").on_hover_text("Back to the chart (Esc)").clicked();
        });
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, GAP);
        for group in Group::ALL {
            let charts: Vec<&'static Chart> =
                offered(state).filter(|chart| chart.group == group).collect();
            if charts.is_empty() {
                continue;
            }
            ui.label(RichText::new(group.name()).font(strong(ui.ctx(), BODY)));
            for line in charts.chunks(columns as usize) {
                ui.horizontal(|ui| {
                    for chart in line {
                        let picture = pictures.of.get(chart.id);
                        if tile(ui, chart, width, current(state).id == chart.id, picture, state) {
                            chosen = Some(chart.id);
                        }
                    }
                });
            }
        }
    });
    if close || chosen.is_some() {
        set_open(ui, state, false);
    }
    if let Some(chosen) = chosen {
        chosen.clone_into(&mut state.charts.chart);
    }
}

/// The pictures drawn so far; each frame draws one more.
fn pictures(ui: &Ui, model: &Model, state: &ViewState, width: f32) -> Arc<Pictures> {
    let id = id().with("pictures");
    // Other settings of the current chart do not matter to the others.
    let charts = ChartState {
        cold: state.charts.cold,
        baseline: state.charts.baseline.clone(),
        ..ChartState::default()
    };
    let mut about = ViewState { charts, ..state.clone() };
    let from = (model.revision(), about.to_fragment(), width);
    let known: Option<Arc<Pictures>> = ui.data(|data| data.get_temp(id));
    let known = known.filter(|known| known.from == from);
    let mut all = known.unwrap_or_else(|| Arc::new(Pictures { from, of: BTreeMap::new() }));
    if let Some(chart) = offered(state).find(|chart| !all.of.contains_key(chart.id)) {
        chart.id.clone_into(&mut about.charts.chart);
        let drawn = small(model, &about, chart, vec2(width, PICTURE)).map(Arc::new);
        Arc::make_mut(&mut all).of.insert(chart.id, drawn);
        ui.data_mut(|data| data.insert_temp(id, all.clone()));
        ui.ctx().request_repaint();
    }
    all
}

/// Draws a chart's picture, name and question; returns whether it was chosen.
fn tile(
    ui: &mut Ui,
    chart: &Chart,
    width: f32,
    is_current: bool,
    picture: Option<&Result<Arc<Figure>, &'static str>>,
    state: &ViewState,
) -> bool {
    let why = picture.and_then(|picture| picture.as_ref().err().copied());
    let sense = if why.is_none() { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(width, PICTURE + TEXTS), sense);
    let name = format!("Chart {}", chart.name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, why.is_none(), name.as_str()));
    if ui.is_rect_visible(rect) {
        let ink = state.theme.ink();
        let place = Rect::from_min_size(rect.min, vec2(width, PICTURE));
        match picture {
            Some(Ok(figure)) => {
                let clip = place.shrink(1.0).intersect(ui.clip_rect());
                figure.paint(&ui.painter().with_clip_rect(clip), place.min);
            }
            Some(Err(why)) => {
                let at = place.min + vec2(SPACE, SPACE);
                let font = FontId::proportional(SMALL);
                lines(ui.painter(), at, why, (font, ink.weak), width - 2.0 * SPACE, 5);
            }
            None => {}
        }
        let outline = outline(&ink, is_current, response.hovered(), response.has_focus());
        ui.painter().rect_stroke(place, ROUND, outline, StrokeKind::Inside);
        let (name, question) =
            if why.is_none() { (ink.text, ink.weak) } else { (ink.weak, ink.weak) };
        let at = pos2(rect.left(), place.bottom() + 0.5 * SPACE);
        let font = strong(ui.ctx(), BODY);
        let below = lines(ui.painter(), at, chart.name, (font, name), width, 1);
        let font = FontId::proportional(SMALL);
        let at = pos2(rect.left(), below);
        lines(ui.painter(), at, chart.sentence, (font, question), width, 3);
    }
    response.on_hover_text(why.unwrap_or(chart.sentence)).clicked()
}

/// The outline of a picture: thicker around the current chart and at the pointer.
fn outline(ink: &Ink, is_current: bool, hovered: bool, focused: bool) -> Stroke {
    match (is_current, hovered || focused) {
        (_, true) => Stroke::new(2.0, ink.text),
        (true, false) => Stroke::new(2.0, ink.accent),
        (false, false) => Stroke::new(1.0, ink.grid),
    }
}

/// Writes a text in at most this number of lines; returns its bottom.
fn lines(
    painter: &Painter,
    at: Pos2,
    text: &str,
    (font, color): (FontId, Color32),
    width: f32,
    most: usize,
) -> f32 {
    let mut job = LayoutJob::simple(text.to_owned(), font, color, width);
    job.wrap.max_rows = most;
    let galley = painter.layout_job(job);
    let bottom = at.y + galley.size().y;
    painter.galley(at, galley, color);
    bottom
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::shell::App;

    const EXAMPLE: &[u8] = include_bytes!("../../../../example/cpu.zip");

    fn with_page() -> Harness<'static, App> {
        let mut app = App::at(ViewState::from_fragment("v1;view=chart").unwrap());
        app.open_bytes("example.zip", EXAMPLE);
        let mut harness = Harness::builder()
            .with_size(vec2(1280.0, 800.0))
            .with_max_steps(200)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run();
        harness.get_by_label("Chart: Kernels by matrix").click();
        harness.run();
        harness
    }

    #[test]
    fn a_chart_is_chosen_by_its_picture() {
        let mut harness = with_page();
        let missing = |harness: &Harness<'_, App>| {
            let state = harness.state().state();
            let tile =
                |chart: &&Chart| harness.query_by_label(&format!("Chart {}", chart.name)).is_none();
            offered(state).filter(tile).map(|chart| chart.id).collect::<Vec<_>>()
        };
        assert_eq!(missing(&harness), [""; 0]);
        harness.get_by_label("Chart Serial kernels").click();
        harness.run();
        assert_eq!(harness.state().state().charts.chart, "serial");
        harness.get_by_label("Figure: Serial kernels");
        assert!(harness.query_by_label("Choose a chart").is_none());
    }

    #[test]
    fn escape_and_the_button_lead_back_to_the_chart() {
        for by_key in [true, false] {
            let mut harness = with_page();
            assert!(harness.query_by_label("Figure: Kernels by matrix").is_none());
            match by_key {
                true => harness.key_press(Key::Escape),
                false => harness.get_by_label("Close").click(),
            }
            harness.run();
            harness.get_by_label("Figure: Kernels by matrix");
            assert_eq!(harness.state().state().charts.chart, "kernels");
        }
    }

    #[test]
    fn a_chart_without_data_cannot_be_chosen() {
        let mut harness = with_page();
        harness.get_by_label("Chart Changes between bundles").click();
        harness.run();
        harness.get_by_label("Choose a chart");
        assert_eq!(harness.state().state().charts.chart, "kernels");
    }
}
