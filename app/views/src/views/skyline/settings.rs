//! The settings of the view.

use egui::{Button, ComboBox, DragValue, Role, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{
    Algorithm, PointsKind, PointsOf, Recipe, SkylineState, ViewState,
};
use sparsescope_figures::views::skyline::subject::Subject;

use crate::views::spy::choose;

/// Maximum number of points and dimensions in the fields; a link may ask for more.
const MOST_POINTS: u64 = 10_000;
const MOST_DIMENSIONS: u64 = 8;

pub(super) fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    let skyline = &mut state.skyline;
    points(ui, skyline);
    let before = skyline.algorithm;
    choose(ui, "Algorithm", &mut skyline.algorithm, Algorithm::ALL, Algorithm::name);
    if skyline.algorithm != before {
        skyline.step = skyline.step.map(|_| 0);
    }
}

pub(super) fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let found = Subject::shown(model, state).ok();
    let skyline = &mut state.skyline;
    if let Some(Subject { cloud, .. }) = &found {
        let count = cloud.picture.axes.len();
        for (k, what) in ["Horizontal", "Vertical"].into_iter().enumerate() {
            ui.horizontal(|ui| axis(ui, what, k, count, skyline));
        }
        if cloud.picture.dimensions > 1 {
            let mut on = skyline.staircase.unwrap_or(cloud.picture.dimensions == 2);
            let words = "Edge of the area that skyline points dominate in the two dimensions shown";
            if ui.checkbox(&mut on, "Staircase").on_hover_text(words).changed() {
                skyline.staircase = Some(on);
            }
        }
        if count > 2 {
            ui.checkbox(&mut skyline.pairs, "Pairs")
                .on_hover_text("A small plot for each pair of dimensions");
        }
        ui.horizontal(|ui| number(ui, skyline, cloud.picture.points));
    }
    ui.checkbox(&mut skyline.dropped, "Dominated points");
    ui.checkbox(&mut skyline.alike, "Hide result")
        .on_hover_text("Do not show which points are on the skyline");
    let whole = ui.add_enabled(skyline.at.is_some(), Button::new("Whole plot"));
    if whole.on_hover_text("Key 0 or double-click").clicked() {
        skyline.at = None;
    }
}

/// The choice of one of the two dimensions shown.
fn axis(ui: &mut Ui, what: &str, k: usize, count: usize, skyline: &mut SkylineState) {
    let before = skyline.axes;
    let Some(shown) = skyline.axes.get_mut(k) else { return };
    let name = |axis: u32| format!("dimension {axis}");
    ui.label(what);
    let combo = ComboBox::from_id_salt(what).selected_text(name(*shown)).show_ui(ui, |ui| {
        for axis in 0..count as u32 {
            ui.selectable_value(shown, axis, name(axis));
        }
    });
    let label = format!("{what}: {}", name(*shown));
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
    if skyline.axes != before {
        skyline.at = None;
    }
}

/// The selected point; none below 0.
fn number(ui: &mut Ui, skyline: &mut SkylineState, points: u32) {
    let mut number = skyline.point.map_or(-1, i64::from);
    ui.label("Point");
    let drag = DragValue::new(&mut number)
        .range(-1..=i64::from(points) - 1)
        .clamp_existing_to_range(false) // a link may ask for another
        .speed(0.2)
        .custom_formatter(|n, _| if n < 0.0 { "none".into() } else { format!("{n:.0}") });
    let field = ui.add(drag).on_hover_text("Select a point, like a click in the plot");
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Selected point"));
    if field.changed() {
        skyline.point = u32::try_from(number).ok();
    }
}

/// Which points are shown.
fn points(ui: &mut Ui, skyline: &mut SkylineState) {
    let recipe = match &skyline.of {
        PointsOf::Made(recipe) => *recipe,
        _ => Recipe::default(),
    };
    let few = match &skyline.of {
        few @ PointsOf::Few(_) => few.clone(),
        _ => PointsOf::Few(vec![vec![1.0, 4.0], vec![3.0, 3.0], vec![2.0, 2.0], vec![4.0, 1.0]]),
    };
    let mut all = vec![(PointsOf::Selected, "Selected set")];
    let made = |kind: &PointsKind| PointsOf::Made(Recipe { kind: *kind, ..recipe });
    all.extend(PointsKind::ALL.iter().map(|kind| (made(kind), kind.name())));
    all.push((few, "A few points"));
    let shown = all.iter().find(|(choice, _)| *choice == skyline.of).map_or("", |(_, name)| name);
    ui.label("Points");
    let mut of = skyline.of.clone();
    let combo = ComboBox::from_id_salt("points of").selected_text(shown);
    let combo = combo.show_ui(ui, |ui| {
        for (choice, name) in all {
            ui.selectable_value(&mut of, choice, name);
        }
    });
    let name = format!("Points: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    if let PointsOf::Made(Recipe { n, d, seed, .. }) = &mut of {
        let mut field =
            |value: &mut u64, range, speed: f64, words: [&str; 2], name: &'static str| {
                let [before, after] = words;
                let drag = DragValue::new(value).range(range).clamp_existing_to_range(false);
                let drag = drag.speed(speed).prefix(before).suffix(after);
                let field = ui.add(drag);
                field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name));
            };
        field(n, 1..=MOST_POINTS, 2.0, ["", " points"], "Number of points");
        field(d, 1..=MOST_DIMENSIONS, 0.05, ["", " dimensions"], "Dimensions");
        field(seed, 0..=u64::MAX >> 12, 0.1, ["seed ", ""], "Seed");
    }
    skyline.show(of);
}
