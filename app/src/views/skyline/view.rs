//! The view: the points with the player, and the same as a table and as SVG.

use egui::{ScrollArea, Ui, vec2};

use super::board;
use super::look::Look;
use super::plot::{Plot, point};
use super::settings::settings;
use super::sheet::{self, Told};
use super::subject::Subject;
use crate::figure::{Figure, area};
use crate::model::Model;
use crate::state::ViewState;
use crate::views::player::{Words, player};
use crate::views::view::{View, kept, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "skyline",
    name: "Skyline",
    sentence: "Which points no other dominates, and who dominates the others.",
    settings,
    show,
    table,
    svg: Some(svg),
};

const WORDS: Words = Words {
    back: "Back a point",
    next: "Next point",
    done: "Points that were at work",
    all: "All points",
    all_shows: "Every point as it is in the end",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::of(model, state) {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let most = subject.cloud.picture.indices.len().min(super::walk::MOST) as u32;
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.skyline.step, most, &WORDS);
    });
    let now = state.clone();
    let told = told(ui, model, &subject, &now);
    if let Some(words) = told.step_words() {
        ui.label(words);
    }
    let room = ui.available_size() - vec2(16.0, 8.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.vertical(|ui| board::show(ui, model, &told, state, room));
    });
}

/// What is told, with what was found in the last frame where that is the same.
fn told<'a>(ui: &Ui, model: &Model, subject: &'a Subject, state: &'a ViewState) -> Told<'a> {
    let skyline = &state.skyline;
    let of = (subject.key.clone(), model.revision());
    let walk = skyline.step.map(|_| {
        let from = (of.clone(), skyline.algorithm);
        kept(ui, "steps of a skyline", from, || subject.walk(state))
    });
    let seen = (skyline.algorithm, skyline.step, skyline.dropped, skyline.alike);
    let looks =
        kept(ui, "looks of points", (of.clone(), seen), || subject.looks(walk.as_deref(), state));
    let corners = kept(ui, "staircase", (of, seen, subject.axes, skyline.staircase), || {
        sheet::corners(subject, &looks, state)
    });
    Told::new(subject, state, walk, looks, corners)
}

fn svg(model: &Model, state: &ViewState) -> String {
    let provenance = Subject::provenance(model, state);
    let Ok(subject) = Subject::of(model, state) else {
        let none = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
        return none.to_svg(VIEW.sentence, &provenance);
    };
    let figure = board::saved(&Told::at_once(&subject, state));
    figure.to_svg(&format!("Skyline of {}", subject.name), &provenance)
}

/// Every point that is drawn, and every cell of the density in which points lie.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = [
        "set",
        "what",
        "point",
        "x_dimension",
        "x",
        "y_dimension",
        "y",
        "is",
        "dominated_by",
        "points",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    let told = Told::at_once(&subject, state);
    let picture = &subject.cloud.picture;
    let plot = Plot::new(area(0.0, 0.0, 1000.0, 1000.0), picture, subject.axes, state.skyline.at);
    let [x_axis, y_axis] = subject.axes.map(|axis| axis.to_string());
    let number = |place: usize| picture.indices.get(place).map(u32::to_string).unwrap_or_default();
    for (place, look) in told.looks.of.iter().enumerate() {
        let Some([x, y]) = point(picture, subject.axes, place) else { continue };
        if *look == Look::Hidden || !plot.area().contains(plot.at([x, y])) {
            continue;
        }
        let is = match look {
            Look::Kept => "kept",
            Look::Now => "at work",
            Look::Waiting => "",
            Look::Dropped | Look::Hidden => "dominated",
        };
        lines.push(vec![
            subject.name.clone(),
            "point".into(),
            number(place),
            x_axis.clone(),
            x.to_string(),
            y_axis.clone(),
            y.to_string(),
            is.into(),
            told.dominator(place).map(number).unwrap_or_default(),
            "1".into(),
        ]);
    }
    if told.followed().is_none() && !state.skyline.alike {
        lines.extend(cells(&subject, &plot));
    }
    lines
}

/// The cells of the density in view, each at its middle.
fn cells(subject: &Subject, plot: &Plot) -> Vec<Vec<String>> {
    let picture = &subject.cloud.picture;
    let [x, y] = subject.axes;
    let Some(density) = picture.density(x.min(y), x.max(y)) else { return Vec::new() };
    let middle = |axis: usize, cell: usize| {
        let span = picture.axes.get(axis).map(|axis| axis.span(cell, density.cells));
        span.map_or(0.0, |span| span.start / 2.0 + span.end / 2.0)
    };
    let filled = density.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let line = |(place, count): (usize, &u32)| {
        let (first, second) = (place % density.cells, place / density.cells);
        let (along, up) = if x <= y { (first, second) } else { (second, first) };
        let at = [middle(x, along), middle(y, up)];
        plot.area().contains(plot.at(at)).then(|| {
            let [x_value, y_value] = at.map(|value| value.to_string());
            let empty = String::new;
            vec![
                subject.name.clone(),
                "density".into(),
                empty(),
                x.to_string(),
                x_value,
                y.to_string(),
                y_value,
                empty(),
                empty(),
                count.to_string(),
            ]
        })
    };
    filled.filter_map(line).collect()
}
