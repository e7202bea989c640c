//! The view: the patterns with their controls, and the same as a table and as SVG.

use std::sync::Arc;

use egui::{ScrollArea, Ui, vec2};

use super::board;
use super::settings::settings;
use super::sheet::Told;
use super::subject::Subject;
use crate::figure::Figure;
use crate::model::Model;
use crate::set_up::{Part, SetUp};
use crate::state::ViewState;
use crate::views::player::{Words, player};
use crate::views::view::{View, kept, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "preconditioner",
    name: "Preconditioner",
    sentence: "How a factorised sparse approximate inverse is set up, from A to G.",
    settings,
    show,
    table,
    svg: Some(svg),
};

const WORDS: Words = Words {
    back: "Back a row",
    next: "Next row",
    done: "Row that is gathered",
    all: "No row",
    all_shows: "The patterns alone",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::of(model, state) {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let set_up = match subject.set_up.get(&subject.a, subject.asked, false) {
        Some(Ok(set_up)) => set_up,
        Some(Err(why)) => return nothing(ui, &refused(&subject, why)),
        None => {
            nothing(ui, "Setting up …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            return;
        }
    };
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.fsai.row, set_up.rows().saturating_sub(1) as u32, &WORDS);
        let row =
            state.fsai.row.map(|row| format!("Row {}", crate::views::spy::index(row as usize)));
        ui.label(row.as_deref().unwrap_or("Click a row."));
    });
    let from = (subject.key.clone(), model.revision(), subject.asked, state.fsai.row);
    let gathered = kept(ui, "gathered row", from, || gathered(set_up, state));
    let told = Told::new(&subject, set_up, (*gathered).clone(), state);
    let room = ui.available_size() - vec2(16.0, 8.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.vertical(|ui| board::show(ui, model, told, state, room));
    });
}

/// The system of the row that is asked for.
fn gathered(set_up: &SetUp, state: &ViewState) -> Option<Arc<crate::set_up::Gathered>> {
    set_up.gathered(state.fsai.row?).map(Arc::new)
}

fn refused(subject: &Subject, why: &str) -> String {
    format!("No set-up for {}: {why}.", subject.name)
}

fn svg(model: &Model, state: &ViewState) -> String {
    let none = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
    let provenance = Subject::provenance(model, state);
    let Ok(subject) = Subject::of(model, state) else {
        return none.to_svg(VIEW.sentence, &provenance);
    };
    let found = subject.set_up.get(&subject.a, subject.asked, true);
    let Some(Ok(set_up)) = found else { return none.to_svg(VIEW.sentence, &provenance) };
    let told = Told::new(&subject, set_up, gathered(set_up, state), state);
    let title = format!("Preconditioner of {}", subject.name);
    board::saved(&told, state).to_svg(&title, &provenance)
}

/// Every entry of A, of the pattern and of G.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["matrix", "row", "column", "a", "part", "g", "dropped"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    let Some(Ok(set_up)) = subject.set_up.get(&subject.a, subject.asked, true) else {
        return lines;
    };
    let value = |(col, val): (&[u32], &[f64]), j: u32| {
        let place = col.binary_search(&j).ok();
        place.and_then(|k| val.get(k)).map(f64::to_string).unwrap_or_default()
    };
    for i in 0..set_up.rows() {
        for cell in set_up.row(i) {
            let part = match cell.part {
                Part::Left => "left out",
                Part::Filtered => "not of the pattern",
                Part::Kept => "kept",
                Part::Second => "added",
                Part::Third => "added by power 3",
                Part::Merged => "merged",
            };
            lines.push(vec![
                subject.name.clone(),
                i.to_string(),
                cell.col.to_string(),
                value(set_up.a.row(i), cell.col),
                part.into(),
                value(set_up.g.row(i), cell.col),
                cell.dropped.to_string(),
            ]);
        }
    }
    lines
}
