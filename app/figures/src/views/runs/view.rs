//! Every run in a sortable table.

use std::collections::BTreeMap;

use sparsescope_core::record::Better;

use super::columns::{COLUMNS, Cell, Column, at_point, columns};
use crate::figure::text_width;
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::theme::BODY;
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
    /// Run numbers, line by line, without the lines of groups.
    pub runs: Vec<usize>,
    /// The lines, those of groups included.
    pub lines: Vec<Line>,
    pub columns: Vec<&'static Column>,
    /// Title of the column of rates.
    pub rate: String,
    /// Whether smaller rates are better, as times are: they are then sorted in the opposite order.
    pub less: bool,
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The title of the runs below it, which have the subject and the number of columns of X of the first
    /// one; with the number of the fastest.
    Group { first: usize, best: Option<usize> },
    /// A run, by its number.
    Run(usize),
}

/// The runs that pass the filter, sorted as the state says; the sort is stable. A descending sort by the rate
/// begins with the best run, even if smaller rates are better.
pub fn rows(model: &Model, state: &ViewState) -> Rows {
    let runs = model.runs(&state.filter);
    let mut columns = columns(model, &runs, &state.columns);
    if state.grouped && columns.len() > 1 {
        columns.retain(|column| column.id != "matrix"); // it is the title of the group
    }
    let rate = rate_title(&runs);
    let less = runs.iter().find_map(RunOf::metric).is_some_and(|of| of.better == Better::Less);
    let mut sorted: Vec<usize> = runs.iter().map(|run| run.index).collect();
    if let Some(column) = COLUMNS.iter().find(|column| column.id == state.sort) {
        let cell = |run: &RunOf<'_>| match (column.cell)(run) {
            Cell::Number(value, text) if less && column.id == "gflops" => {
                Cell::Number(value.map(|value| -value), text)
            }
            cell => cell,
        };
        let mut cells: Vec<_> = runs.iter().map(|run| (cell(run), run.index)).collect();
        sparsescope_core::order::sort_by(&mut cells, |(one, _), (other, _)| {
            let order = one.compare(other);
            if state.descending { order.reverse() } else { order }
        });
        sorted = cells.into_iter().map(|(_, number)| number).collect();
    }
    if !state.grouped {
        let lines = sorted.iter().map(|number| Line::Run(*number)).collect();
        return Rows { runs: sorted, lines, columns, rate, less };
    }
    let (mut runs, mut lines) = (Vec::with_capacity(sorted.len()), Vec::new());
    for group in groups(model, &sorted) {
        let Some(first) = group.first() else { continue };
        lines.push(Line::Group { first: *first, best: best(model, &group) });
        lines.extend(group.iter().map(|number| Line::Run(*number)));
        runs.extend(group);
    }
    Rows { runs, lines, columns, rate, less }
}

/// The runs by subject and number of columns of X, in the order of the first run of each.
fn groups(model: &Model, sorted: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places = BTreeMap::new();
    for number in sorted {
        let Some(run) = model.run(*number) else { continue };
        let place = *places.entry((run.key(), run.run.vectors())).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(*number),
            None => groups.push(vec![*number]),
        }
    }
    groups
}

/// The number of the fastest of these runs, if one ranks.
fn best(model: &Model, runs: &[usize]) -> Option<usize> {
    let runs = runs.iter().filter_map(|number| model.run(*number));
    let best =
        runs.filter(RunOf::ranks).reduce(|best, run| if run.beats(&best) { run } else { best });
    best.map(|run| run.index)
}

/// The widths of each column's numbers before and after the decimal point, or of its texts, of all runs
/// that pass the filter: independent of their order, because formatting all cells takes long.
pub fn widths(model: &Model, state: &ViewState, columns: &[&Column]) -> Vec<[f32; 2]> {
    let runs = model.runs(&state.filter);
    let of = |column: &&Column| {
        let mut widest = [0.0_f32; 2];
        for run in &runs {
            let text = (column.cell)(run).text();
            let (before, after) = if column.number { at_point(&text) } else { (text.as_str(), "") };
            for (widest, part) in widest.iter_mut().zip([before, after]) {
                *widest = widest.max(text_width(part, BODY));
            }
        }
        widest
    };
    columns.iter().map(of).collect()
}

/// The unit of the runs' rate.
fn rate_title(runs: &[RunOf<'_>]) -> String {
    let units = sparsescope_core::order::set(
        runs.iter().filter_map(|run| Some(run.metric()?.unit.as_str())),
    );
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
    use sparsescope_core::record::{Choice, Run};

    use super::super::columns::fitting;
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
    fn the_chosen_kernel_has_a_column_only_if_most_runs_have_one_and_empty_columns_have_none() {
        let (plain, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let mut auto = plain.clone();
        auto.costs.choice =
            Some(Choice { kernel: "cuda/csr/adaptive".into(), ..Choice::default() });
        let ids = |runs: Vec<Run>| -> Vec<&'static str> {
            let model = tests::model(runs, statistics.clone(), environment.clone());
            rows(&model, &ViewState::default()).columns.iter().map(|column| column.id).collect()
        };
        let few = ids(vec![auto.clone(), plain.clone()]);
        assert!(!few.contains(&"runs_kernel") && few.contains(&"setting"), "{few:?}");
        assert!(ids(vec![auto.clone(), auto, plain.clone()]).contains(&"runs_kernel"));
        assert!(!ids(vec![Run { block: None, ..plain }]).contains(&"setting"));
    }

    #[test]
    fn the_width_of_a_column_of_texts_is_that_of_its_longest() {
        let (run, statistics, environment) = tests::run("cpu/csr/nnz");
        let long = Run { kernel: "cpu/hll/compact".into(), ..run.clone() };
        let model = tests::model(vec![run, long], statistics, environment);
        let state = ViewState { columns: "kernel".into(), ..ViewState::default() };
        let columns = rows(&model, &state).columns;
        let expected = [text_width("cpu/hll/compact", BODY), 0.0];
        assert_eq!(widths(&model, &state, &columns), [expected]);
    }

    #[test]
    fn less_important_columns_leave_a_narrow_table_first() {
        let (run, statistics, environment) = tests::run("cpu/csr/nnz");
        let model = tests::model(vec![run], statistics, environment);
        let all = rows(&model, &ViewState::default()).columns;
        let ids = |room: f32| {
            let shown = fitting(&all, room, |_| 100.0);
            shown.iter().map(|column| column.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(900.0).len(), all.len());
        assert_eq!(ids(899.0).len(), all.len() - 1);
        assert_eq!(ids(499.0), ["matrix", "kernel", "gflops", "median_s"]);
        assert_eq!(ids(250.0), ["matrix", "kernel"]);
        assert_eq!(ids(0.0), ["matrix"]);
    }

    #[test]
    fn the_widest_number_of_many_runs_fits_its_column() {
        let (run, statistics, environment) = tests::run("cpu/csr/nnz");
        let mut runs = vec![run; 4001];
        runs[1].threads = 1_000_000;
        let model = tests::model(runs, statistics, environment);
        let state = ViewState { columns: "threads".into(), ..ViewState::default() };
        let columns = rows(&model, &state).columns;
        let expected = [text_width("1000000", BODY), 0.0];
        assert_eq!(widths(&model, &state, &columns), [expected]);
    }

    #[test]
    fn numbers_are_split_at_their_decimal_point() {
        for (text, parts) in [
            ("0.982", ("0", ".982")),
            ("3.82 µs", ("3", ".82 µs")),
            ("25 ns", ("25", " ns")),
            ("1.1e-16", ("1", ".1e-16")),
            ("-4", ("-4", "")),
            ("–", ("–", "")),
        ] {
            assert_eq!(at_point(text), parts);
        }
    }

    #[test]
    fn groups_have_the_order_of_their_first_runs_and_name_the_fastest() {
        let example = include_bytes!("../../../../example/cpu.zip");
        let mut model = Model::default();
        model.open("mini.zip", example).unwrap();
        let mut state = ViewState { grouped: true, ..ViewState::default() };
        let found = rows(&model, &state);
        assert!(found.columns.iter().all(|column| column.id != "matrix"));
        assert_eq!(found.runs.len(), model.count(&state.filter));
        let of = |line: &Line| match line {
            Line::Group { first, best } => Some((model.run(*first)?, model.run((*best)?)?)),
            Line::Run(_) => None,
        };
        let titles: Vec<_> = found.lines.iter().filter_map(of).collect();
        assert_eq!(titles.len(), model.matrices(&state.filter).len());
        // Sorted by the rate, the first run of a group is its fastest.
        for (first, best) in &titles {
            assert_eq!((first.key(), first.rate()), (best.key(), best.rate()));
        }
        assert!(titles.is_sorted_by(|(one, _), (other, _)| one.rate() >= other.rate()));
        state.grouped = false;
        let plain = rows(&model, &state);
        assert!(plain.lines.iter().all(|line| matches!(line, Line::Run(_))));
        assert_eq!(plain.columns[0].id, "matrix");
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
        // The faster one comes first.
        assert_eq!(cells(1), ["0.08", "40", "0.0000000002", "4", "0.2"]);
        assert_eq!(cells(2), ["0.001", "100", "0.0000000002", "4", ""]);
        assert_eq!(lines[1][place("check")], "limited by rounding");
        assert_eq!(lines[2][place("setting")], "1 thread; b a1; format a csr; tol 1e-10; x0 zero");
        assert_eq!(lines[1][place("method")], "FSAI, k = 2");
        assert!(shown.iter().all(|column| column.id != "median_s"), "it is their rate");
    }
}
