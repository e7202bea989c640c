//! Every run in a sortable table.

use std::collections::BTreeSet;

use super::columns::{COLUMNS, Cell, Column, columns};
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::views::view::View;

pub(in crate::views) const VIEW: View = View {
    id: "runs",
    name: "Runs",
    sentence: "Every run that passes the filters. Click a heading to sort, a run for its details.",
    table,
    svg: None,
    of_operation: false,
    is_empty: crate::views::view::never,
};

/// The table without its cells: everything that requires visiting every run.
pub struct Rows {
    /// Run numbers, line by line.
    pub runs: Vec<usize>,
    pub columns: Vec<&'static Column>,
    /// Title of the column of rates.
    pub rate: String,
}

/// The runs that pass the filter, sorted as the state says; the sort is stable.
pub fn rows(model: &Model, state: &ViewState) -> Rows {
    let runs = model.runs(&state.filter);
    let columns = columns(model, &runs, &state.columns);
    let rate = rate_title(&runs);
    let Some(column) = COLUMNS.iter().find(|column| column.id == state.sort) else {
        return Rows { runs: runs.iter().map(|run| run.index).collect(), columns, rate };
    };
    let mut cells: Vec<_> = runs.iter().map(|run| ((column.cell)(run), run.index)).collect();
    crate::order::sort_by(&mut cells, |(one, _), (other, _)| {
        let order = one.compare(other);
        if state.descending { order.reverse() } else { order }
    });
    Rows { runs: cells.into_iter().map(|(_, number)| number).collect(), columns, rate }
}

/// The unit of the runs' rate.
fn rate_title(runs: &[RunOf<'_>]) -> String {
    let units: BTreeSet<&str> =
        runs.iter().filter_map(|run| Some(run.metric()?.unit.as_str())).collect();
    match units.len() {
        1 => units.into_iter().collect(),
        _ => "Rate".into(),
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let rows = rows(model, state);
    let id = |column: &Column| match column.id {
        "gflops" => rows.rate.to_lowercase(),
        id => id.to_owned(),
    };
    let mut lines = vec![COLUMNS.iter().map(id).collect::<Vec<_>>()];
    for run in rows.runs.into_iter().filter_map(|number| model.run(number)) {
        let cells = COLUMNS.iter().map(|column| match (column.cell)(&run) {
            Cell::Text(text) => text,
            Cell::Number(value, _) => value.map(|value| value.to_string()).unwrap_or_default(),
        });
        lines.push(cells.collect());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::solved;
    use crate::why::tests;

    #[test]
    fn columns_are_those_that_are_chosen_or_worth_their_place() {
        let (mut run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let plain = tests::model(vec![run.clone()], statistics.clone(), environment.clone());
        run.costs.predicted = Some(sparsescope_core::record::Predicted {
            load_sectors: Some(2_800_000),
            store_sectors: Some(200_000),
            useful_bytes: Some(24_000_000),
            ..Default::default()
        });
        let model = tests::model(vec![run], statistics, environment);
        const PREDICTIONS: [&str; 3] = ["load_sectors", "pct_useful", "predicted_gbs"];
        let ids = |state: &ViewState| {
            rows(&model, state).columns.iter().map(|column| column.id).collect::<Vec<_>>()
        };
        let mut state = ViewState::default();
        let usual =
            ["matrix", "kernel", "setting", "gflops", "gbs", "pct_copy", "speedup", "median_s"];
        assert_eq!(ids(&state), [&usual[..], &["check"]].concat());
        state.columns = "kernel,load_sectors,nonsense".into();
        assert_eq!(ids(&state), ["kernel", "load_sectors"]);
        state.columns = "nonsense".into();
        assert_eq!(ids(&state)[0], "matrix");
        // 3 M sectors are 96 MB, moved in 1 ms; 24 MB of them are useful.
        let lines = table(&model, &state);
        let cell = |id: &str| {
            let place = lines[0].iter().position(|column| column == id).unwrap();
            lines[1][place].as_str()
        };
        assert_eq!(PREDICTIONS.map(cell), ["2800000", "25", "96"]);
        assert!(table(&plain, &state)[1].iter().filter(|cell| cell.is_empty()).count() >= 3);
    }

    #[test]
    fn solves_have_columns_of_their_own_and_tell_how_they_ended() {
        let mut limited = solved::run(solved::SERIAL, &[], 40, &[("values", 80.0)]);
        limited.solve.as_mut().unwrap().ended = "limited by rounding".into();
        let model = solved::model(vec![
            limited,
            solved::run(solved::SERIAL, &[("precond", "jacobi")], 100, &[("diagonal", 1.0)]),
        ]);
        let state = ViewState::from_fragment("v1;operation=solve").unwrap();
        let shown = rows(&model, &state).columns;
        let own = ["set_up_s", "iterations", "true_residual", "condition", "density"];
        assert!(own.iter().all(|id| shown.iter().any(|column| column.id == *id)));
        let lines = table(&model, &state);
        let place = |id: &str| lines[0].iter().position(|column| column == id).unwrap();
        let cells = |line: usize| own.map(|id| lines[line][place(id)].as_str());
        // The slower one comes first.
        assert_eq!(cells(1), ["0.001", "100", "0.0000000002", "4", ""]);
        assert_eq!(cells(2), ["0.08", "40", "0.0000000002", "4", "0.2"]);
        assert_eq!(lines[2][place("check")], "limited by rounding");
        assert_eq!(lines[1][place("setting")], "1 thread; b a1; format a csr; tol 1e-10; x0 zero");
        assert_eq!(lines[2][place("method")], "FSAI k 2");
        assert!(shown.iter().all(|column| column.id != "median_s"), "it is their rate");
    }
}
