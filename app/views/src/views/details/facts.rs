//! All facts about a run, in as many columns as fit.

use egui::{Grid, Label, RichText, Ui, vec2};
use sparsescope_figures::model::{Model, RunOf};
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::runs::facts::{Group, groups};

use crate::style::strong;
use crate::views::view::kept;

/// Least width of a column.
const COLUMN: f32 = 300.0;

pub(super) fn show(ui: &mut Ui, model: &Model, run: &RunOf<'_>) {
    let from = (model.revision(), run.index);
    let groups = kept(ui, "details: facts", from, || groups(run, run.flagged().as_ref()));
    let most = match ui.available_width() {
        width if width >= COLUMN * 3.0 => 3,
        width if width >= COLUMN * 2.0 => 2,
        _ => 1,
    };
    let columns = columns(&groups, most);
    ui.columns(columns.len().max(1), |uis| {
        for (ui, groups) in uis.iter_mut().zip(columns) {
            groups.iter().for_each(|group| show_group(ui, group));
        }
    });
}

fn show_group(ui: &mut Ui, group: &Group) {
    ui.add_space(SPACE);
    let font = strong(ui.ctx(), BODY);
    ui.label(RichText::new(group.title).font(font));
    // On a phone a line without buttons need not be as high as what a finger touches.
    let grid = Grid::new(("details", group.title)).num_columns(2).min_row_height(0.0);
    grid.spacing(vec2(SPACE * 1.5, SPACE * 0.5)).show(ui, |ui| {
        for fact in &group.facts {
            ui.weak(fact.name);
            let value = ui.add(Label::new(&fact.value).wrap());
            if !fact.hint.is_empty() {
                value.on_hover_text(&fact.hint);
            }
            ui.end_row();
        }
    });
}

/// The groups in at most this number of columns of about the same number of lines, in order.
fn columns(groups: &[Group], most: usize) -> Vec<&[Group]> {
    let lines = |group: &Group| group.facts.len() + 2;
    let height = groups.iter().map(lines).sum::<usize>().div_ceil(most.max(1));
    let mut columns = Vec::new();
    let mut left = groups;
    while !left.is_empty() {
        let mut filled = 0;
        let is_last = columns.len() + 1 == most;
        let fits = |group: &&Group| {
            let starts = filled == 0;
            filled += lines(group);
            // More than half of it is in this column.
            is_last || starts || filled <= height + lines(group) / 2
        };
        let count = left.iter().take_while(fits).count();
        let (column, rest) = left.split_at(count.max(1));
        columns.push(column);
        left = rest;
    }
    columns
}

#[cfg(test)]
mod tests {
    use sparsescope_figures::views::runs::facts::Fact;

    use super::*;

    #[test]
    fn groups_stay_whole_and_in_order() {
        let fact = Fact { name: "n", value: "v".into(), hint: String::new() };
        let group = |title, lines| Group { title, facts: vec![fact.clone(); lines] };
        let groups = [group("a", 6), group("b", 6), group("c", 2), group("d", 2)];
        let titles = |most: usize| {
            let columns = columns(&groups, most).into_iter();
            let titles = columns.map(|column| column.iter().map(|group| group.title).collect());
            titles.collect::<Vec<String>>()
        };
        assert_eq!(titles(1), ["abcd"]);
        assert_eq!(titles(2), ["ab", "cd"]);
        assert_eq!(titles(3), ["a", "b", "cd"]);
        assert!(columns(&[], 3).is_empty());
    }
}
