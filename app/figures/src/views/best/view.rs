//! The view: which form it takes, and each as a table and as SVG.

use super::board::{Board, Row};
use super::drawn::Drawn;
use super::{bars, compare, headline, heat, list, sizes, together};
use crate::model::{Model, RunOf};
use crate::operation::{Winners, presentation};
use crate::state::{Form, Ranking, ViewState};
use crate::views::charts::Looks;
use crate::views::provenance::provenance;
use crate::views::view::View;

pub(in crate::views) const VIEW: View = View {
    id: "best",
    name: "Best",
    sentence: "Which kernel wins on each matrix, and by how much: checked runs, warm caches, f64 unless stated.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty: crate::views::view::never,
};

/// Width of a saved figure.
const SAVED: f32 = 1200.0;

/// A heat map needs as many subjects and kernels.
const LEAST: usize = 3;

/// The form that suits what is shown.
pub fn automatic(board: &Board, state: &ViewState) -> Form {
    let operation = state.filter.operation.as_str();
    match (board.rows.len(), board.kernels.len()) {
        _ if board.compares => Form::Compare,
        (1, _) => Form::Bars,
        (rows, _) if has_pairs(board) && board.pairs.len() >= rows => Form::Pair,
        _ if presentation(operation).winners == Winners::Bars => Form::Bars,
        _ if sizes::chart(operation).is_some() && may_have_sizes(state) => Form::Sizes,
        (_, 1) => Form::Rates,
        (LEAST.., LEAST..) => Form::Heat,
        _ => Form::List,
    }
}

/// The form that is shown.
pub fn form(board: &Board, state: &ViewState) -> Form {
    match state.best.form {
        Form::Auto => automatic(board, state),
        Form::Compare if !has_bundles(board) => automatic(board, state),
        Form::Pair if !has_pairs(board) => automatic(board, state),
        Form::Sizes if !may_have_sizes(state) => automatic(board, state),
        chosen => chosen,
    }
}

/// Returns whether there are products by A and by its transpose.
pub fn has_pairs(board: &Board) -> bool {
    !board.pairs.is_empty()
}

/// Whether there is a chart over size: it shows rates of all runs.
pub fn may_have_sizes(state: &ViewState) -> bool {
    state.best.ranking == Ranking::default()
}

/// Returns whether there are bundles to compare.
pub fn has_bundles(board: &Board) -> bool {
    board.sides.len() > 1
}

/// What this form says in one sentence.
pub fn headline(form: Form, board: &Board) -> String {
    match form {
        Form::Compare => compare::headline(board),
        Form::Pair => together::headline(board),
        _ => headline::headline(board),
    }
}

/// What the headline holds for.
pub fn about(form: Form, board: &Board, unfolded: bool) -> String {
    match form {
        Form::Compare => compare::about(board),
        Form::Pair => together::about(board),
        // These show all rows.
        Form::Bars | Form::Rates | Form::Sizes => headline::about(board, true),
        Form::Auto | Form::Heat | Form::List => headline::about(board, unfolded),
    }
}

/// The figure in this form.
pub fn figure(form: Form, board: &Board, model: &Model, state: &ViewState, width: f32) -> Drawn {
    let looks = Looks::of(model, &state.filter.operation);
    let figure = match form {
        Form::Auto | Form::Heat => return heat::draw(board, state, width),
        Form::Compare => return compare::draw(board, state, width),
        Form::Pair => return together::draw(board, state, width),
        Form::List => list::figure(board, model, state, width),
        Form::Bars => bars::ranked(board, &looks, state, width),
        Form::Rates => bars::winners(board, &looks, state, width),
        Form::Sizes => sizes::figure(board, model, &looks, state, width)
            .unwrap_or_else(|| bars::winners(board, &looks, state, width)),
    };
    Drawn { figure, thumbs: Vec::new() }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let board = Board::of(model, state);
    // Links without a form have had the table of the list since the first version.
    match state.best.form {
        Form::Heat => return heat::table(&board),
        Form::Compare if has_bundles(&board) => return compare::table(&board),
        Form::Pair if has_pairs(&board) => return together::table(&board),
        _ => {}
    }
    let header = [
        "matrix", "size", "kernel", "setting", "device", "rate", "unit", "pct_copy", "second",
        "lead", "over", "why", "clause", "bundle",
    ];
    let mut header = header.map(str::to_owned).to_vec();
    header.extend(board.vectors.map(|_| "k".to_owned()));
    let mut lines = vec![header];
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in &board.rows {
        let clause = row.clause.text();
        let Row { name, kernel, setting, device, second, why, .. } = row.clone();
        let bundle = model.run(row.run).map(|run| run.bundle.label().to_owned());
        let bundle = bundle.unwrap_or_default();
        let (size, rate) = (row.size.to_string(), row.rate.to_string());
        let shares = [row.pct_copy, row.lead, row.over].map(number);
        let [pct_copy, lead, over] = shares;
        let unit = board.rate.clone();
        let mut line = vec![
            name, size, kernel, setting, device, rate, unit, pct_copy, second, lead, over, why,
            clause, bundle,
        ];
        line.extend(board.vectors.map(|k| k.to_string()));
        lines.push(line);
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let board = Board::of(model, state);
    let form = form(&board, state);
    let shown: Vec<usize> = match form {
        Form::Pair => {
            let answers = board.pairs.iter().flat_map(|row| &row.answers).flatten();
            answers.map(|answer| answer.run).collect()
        }
        Form::Compare => {
            let beside = board.rows.iter().flat_map(|row| row.beside(&board.sides));
            beside.flatten().map(|rival| rival.run).collect()
        }
        // Ratios to the winner and to the baseline are of the others' numbers, too.
        _ => board.rows.iter().flat_map(|row| &row.runs).map(|rival| rival.run).collect(),
    };
    let runs: Vec<RunOf<'_>> = shown.into_iter().filter_map(|number| model.run(number)).collect();
    let drawn = figure(form, &board, model, state, SAVED);
    let by = state.best.ranking.by;
    let title = if form == Form::Heat { heat::title(by) } else { VIEW.sentence };
    drawn.with_pictures(model, state).to_svg(title, &provenance(model, &runs))
}
