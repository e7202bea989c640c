//! The contents of a view as files, for Save, `export` and scripts on the web page.

mod form;

use sparsescope_core::bundle::spreadsheet_cell;

use crate::figure::Print;
use crate::model::Model;
use crate::state::{Saved, ViewState};
use crate::views::{VIEWS, View, spy};

pub use form::Form;

/// The size of a small picture of a structure, in points.
const SMALL: [f32; 2] = [600.0, 480.0];
/// Its pixels per point, tried in this order.
const SMALL_PIXELS: [f32; 5] = [2.0, 1.0, 0.5, 0.25, 0.125];

/// The table of a link, as CSV.
///
/// # Errors
/// Why there is none, in a sentence without its full stop.
pub fn table_of(model: &Model, link: &str) -> Result<String, String> {
    let (view, mut state) = shown(link)?;
    model.settle_run(&mut state);
    let text = table(view, model, &state).map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| error.to_string())
}

/// The figure of a link, as SVG.
///
/// # Errors
/// Why there is none, in a sentence without its full stop.
pub fn svg_of(model: &Model, link: &str) -> Result<String, String> {
    let (view, mut state) = shown(link)?;
    model.settle_run(&mut state);
    let draw = view.svg.ok_or_else(|| format!("the view {} has no figure", view.id))?;
    Ok(draw(model, &state))
}

/// The same in at most this many bytes; nothing if it needs more. The structure of a matrix is drawn small, with as
/// many pixels as fit.
///
/// # Errors
/// As for [`svg_of`].
pub fn small_svg_of(model: &Model, link: &str, most: usize) -> Result<Option<String>, String> {
    let (view, mut state) = shown(link)?;
    model.settle_run(&mut state);
    let draw = view.svg.ok_or_else(|| format!("the view {} has no figure", view.id))?;
    for pixels in SMALL_PIXELS {
        state.spy.saved = Some(Saved { size: SMALL, pixels });
        let svg = draw(model, &state);
        if svg.len() <= most {
            return Ok(Some(svg));
        }
        if view.id != spy::VIEW.id {
            break;
        }
    }
    Ok(None)
}

/// The figure of a view as SVG, laid out for its size on paper if the view can do so; nothing if the view
/// has no figure.
pub fn figure(
    view: &View,
    model: &Model,
    state: &ViewState,
    print: Option<Print>,
) -> Option<String> {
    let draw = view.svg?;
    let mut state = state.clone();
    state.charts.width = print.map(Print::layout_width);
    Some(draw(model, &state))
}

fn shown(link: &str) -> Result<(&'static View, ViewState), String> {
    let state = state_of(link)?;
    let view = VIEWS.iter().find(|view| view.id == state.view);
    let view = view.ok_or_else(|| format!("there is no view {}", state.view))?;
    Ok((view, state))
}

/// The state of a link, i.e. of the part after #; or what is wrong with it.
pub fn state_of(link: &str) -> Result<ViewState, String> {
    let fragment = link.rsplit('#').next().unwrap_or_default();
    ViewState::from_fragment(fragment)
        .ok_or_else(|| format!("expected a link (v1;key=value;…), found {fragment}"))
}

/// The table of a view as CSV, safe to open in a spreadsheet: no cell is executed as a formula.
/// Waits for what the view computes in steps or in the background.
pub fn table(view: &View, model: &Model, state: &ViewState) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in (view.table)(model, state) {
        let cells = line.iter().map(|cell| spreadsheet_cell(cell).into_owned());
        writer.write_record(cells)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use sparsescope_core::matrix::{Csr, Statistics};
    use sparsescope_core::record::{Check, Verdict};
    use sparsescope_core::spy::{Pyramid, RowProfile, to_files};

    use super::*;
    use crate::model::solved;
    use crate::views::charts::{ids, ids_for};
    use crate::why;

    /// The links for which program and web page are compared.
    const LINKS: &str = include_str!("../../../tests/browser/links.json");

    #[test]
    fn program_and_page_are_compared_on_every_view_and_every_chart() {
        let list: Value = serde_json::from_str(LINKS).unwrap();
        let (mut views, mut charts) = (BTreeSet::new(), BTreeSet::new());
        for kind in ["links", "drawn"] {
            for link in list[kind].as_array().unwrap() {
                let link = link.as_str().unwrap();
                assert_eq!(ViewState::not_understood(link), None, "{link}");
                assert!(link.contains(";operation="), "{link} names no operation");
                let (view, state) = shown(link).unwrap();
                if view.id == "chart" {
                    let chart = state.charts.chart;
                    assert!(ids_for(&state.filter.operation).any(|id| id == chart), "{link}");
                    charts.extend((kind == "links").then_some(chart));
                }
                views.extend((kind == "links").then_some(view.id));
            }
        }
        let views = VIEWS.iter().map(|view| view.id).filter(|id| !views.contains(id));
        let missing: Vec<&str> = views.chain(ids().filter(|id| !charts.contains(*id))).collect();
        assert_eq!(missing, [""; 0], "tests/browser/links.json names no link of these");
    }

    /// A matrix of n × n with about this many nonzeros. Nothing in it repeats: such pixels are hard to compress.
    fn scatter(n: usize, nonzeros: u64) -> Model {
        let places = (0..nonzeros).map(|k| {
            let at = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let at = (at ^ (at >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            ((at >> 40) as usize % n, (at >> 8) as u32 as usize % n)
        });
        let places: BTreeSet<(usize, usize)> = places.collect();
        let nonzeros: Vec<_> = places.iter().map(|&(i, j)| (i, j, 1.0)).collect();
        let a = Csr::from_triplets(n, n, &nonzeros).unwrap();
        let files = to_files(&Pyramid::of(&a), &RowProfile::of(&a), 1 << 20);
        let (rows, cols, nnz) = (n as u64, n as u64, nonzeros.len() as u64);
        let statistics = Statistics { rows, cols, nnz, ..Statistics::default() };
        let (_, _, environment) = why::tests::run("cpu/csr/nnz");
        why::tests::model_with(Vec::new(), statistics, environment, files)
    }

    #[test]
    fn the_structure_of_a_matrix_is_drawn_in_the_bytes_that_there_are() {
        let model = scatter(3000, 90_000);
        let link = "v1;view=spy";
        assert!(svg_of(&model, link).unwrap().len() > 60_000);
        let small = small_svg_of(&model, link, 60_000).unwrap().unwrap();
        let title = "<title>Structure of m: 3\u{202f}000 × 3\u{202f}000, ";
        assert!(small.len() <= 60_000 && small.contains(title), "{}", small.len());
        assert_eq!(small_svg_of(&model, link, 500).unwrap(), None);
        assert!(small_svg_of(&model, "v1;view=runs", 60_000).is_err());
    }

    #[test]
    fn a_scatter_of_any_size_has_a_small_figure() {
        let sizes = [(300, 30_000), (5000, 100_000), (20_000, 100_000), (1_000_000, 100_000)];
        for (n, nonzeros) in sizes {
            let small = small_svg_of(&scatter(n, nonzeros), "v1;view=spy", 60_000).unwrap();
            assert!(small.is_some_and(|svg| svg.len() <= 60_000), "{n}, {nonzeros}");
        }
    }

    #[test]
    fn a_solve_that_is_in_no_file_is_drawn_whether_it_converged_or_not() {
        let measured = solved::run(solved::SERIAL, &[], 40, &[]);
        let mut untimed = measured.clone();
        (untimed.figures, untimed.metric, untimed.samples) = (None, None, Vec::new());
        let mut gave_up = untimed.clone();
        gave_up.check = Check { verdict: Verdict::Fail, ..Check::default() };
        gave_up.solve.as_mut().unwrap().converged = false;
        let cases = [
            (measured, "b.zip: CPU, measured 2026", true),
            (untimed, "<desc></desc>", false),
            (gave_up, "<desc></desc>", false),
        ];
        for (run, source, has_time) in cases {
            let model = solved::model(vec![run]);
            let drawn = |chart: &str| {
                let link = format!("v1;view=chart;chart={chart};operation=solve");
                small_svg_of(&model, &link, 60_000).unwrap().unwrap()
            };
            let svg = drawn("convergence");
            assert!(svg.contains("FSAI, k = 2"), "{svg}");
            assert!(svg.contains(source) && !svg.contains("unfinished"), "{svg}");
            assert_eq!(drawn("convergence-time").contains("FSAI, k = 2"), has_time);
        }
    }

    #[test]
    fn a_link_without_a_table_or_a_figure_is_told_why() {
        let model = Model::default();
        let table = |link: &str| table_of(&model, link).unwrap_err();
        assert_eq!(table("v2;view=runs"), "expected a link (v1;key=value;…), found v2;view=runs");
        assert_eq!(table("v1;view=moon"), "there is no view moon");
        assert_eq!(svg_of(&model, "v1;view=runs").unwrap_err(), "the view runs has no figure");
        let rows =
            table_of(&model, "https://localhost/?x#v1;view=levels;levels-of=grid5x2").unwrap();
        // Rows 0, 1 and 2, 3 of two by two points: the sum of a point's coordinates is its level.
        let header = "matrix,order,level,rows,rows_before,path_row";
        assert_eq!(rows.lines().next(), Some(header));
        let widths: Vec<_> =
            rows.lines().skip(1).map(|line| line.split(',').rev().nth(2)).collect();
        assert_eq!(widths, [Some("1"), Some("2"), Some("1")]);
    }
}
