//! The view: the points with the player, and the same as a table and as SVG.

use emath::vec2;

use super::look::Look;
use super::plot::{Plot, point};
use super::saved;
use super::sheet::Told;
use super::subject::Subject;
use crate::figure::{Figure, area};
use crate::model::Model;
use crate::state::ViewState;
use crate::views::view::View;

pub const VIEW: View = View {
    id: "skyline",
    name: "Skyline",
    sentence: "Which points are on the skyline (Pareto front), and which points dominate the others.",
    table,
    svg: Some(svg),
    of_operation: true,
    is_empty: super::subject::is_empty,
};

fn svg(model: &Model, state: &ViewState) -> String {
    let Ok(subject) = Subject::shown(model, state) else {
        let none = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
        return none.to_svg(VIEW.sentence, &Default::default());
    };
    let provenance = subject.provenance(model, state);
    let figure = saved::whole(&Told::at_once(&subject, state));
    figure.to_svg(&format!("Skyline of {}", subject.name), &provenance)
}

/// Every point drawn, and every nonempty cell of the density.
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
    let Ok(subject) = Subject::shown(model, state) else { return lines };
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
            Look::Now => "current",
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

/// The cells of the density in view, each by its centre.
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
