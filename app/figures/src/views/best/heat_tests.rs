//! The heat map, of hand-made numbers and of the example.

use std::collections::BTreeSet;

use super::VIEW;
use super::baseline::is_vendors;
use super::board::{Board, Row};
use super::heat::draw;
use super::places::{Places, columns};
use super::rows::lines;
use super::tests::{example, model};
use super::view::automatic;
use crate::figure::{Shape, text_width};
use crate::state::{Form, Theme, ViewState};
use crate::theme::SMALL;

#[test]
fn the_heat_table_has_a_column_a_kernel_and_says_who_has_no_time() {
    let (model, mut state) = (model(), ViewState::default());
    state.best.form = Form::Heat;
    let lines = (VIEW.table)(&model, &state);
    assert_eq!(lines[0], ["matrix", "cpu/csr/nnz", "cpu/csr/serial", "vendor/mkl/csr"]);
    assert_eq!(lines[1], ["m", "1", "0.25", "0.5"]);
    let board = Board::of(&model, &state);
    assert_eq!(board.rows[0].without, [("cpu/ell/rows".to_owned(), "too large".to_owned())]);
    let svg = VIEW.svg.unwrap()(&model, &state);
    let title = "csr/nnz is fastest on m; Sparsescope's best kernel is 2.00× as fast as MKL";
    for words in [">1.60<", ">0.25<", ">csr/nnz<", ">mkl/csr<", title] {
        assert!(svg.contains(words), "{words} in {svg}");
    }
}

/// The place in an SVG of the first upright text that contains this.
fn upright(svg: &str, text: &str) -> usize {
    let mut at = svg.match_indices("rotate(-90)").map(|(at, _)| at);
    at.find(|at| svg[*at..].lines().next().unwrap().contains(text)).unwrap()
}

#[test]
fn the_heat_map_has_the_vendors_best_first_and_shows_folded_rows_when_asked() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    assert_eq!(automatic(&board, &state), Form::Heat);
    let svg = VIEW.svg.unwrap()(&model, &state);
    // After the winner of the first row, the one that wins most of the rows that are shown.
    let names = ["cusparse/", "bsr/warp", "hll/compact", "csr/adaptive"];
    let places = names.map(|name| upright(&svg, name));
    assert!(places.is_sorted(), "{places:?}");
    let last = svg.rfind("rotate(-90)").unwrap();
    assert!(svg[last..].lines().next().unwrap().contains("csr-alg2"), "another vendor's");
    assert!(svg.contains(">Cube_Coup_dt0<") && !svg.contains(">olm1000<"));
    assert!(svg.find(">Cube_Coup_dt0<") < svg.find(">thermal2<"), "the largest first");
    state.best.unfolded = true;
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">olm1000<"));
    assert!(upright(&svg, "csr/adaptive") < upright(&svg, "hll/compact"), "it wins most of all");
    // Narrow figures leave out why, and then the ratio.
    let shown = |width: f32, words: &str| {
        let figure = draw(&board, &state, width).figure;
        format!("{:?}", figure.shapes).contains(words)
    };
    assert!(shown(1200.0, "4×4 blocks") && shown(1200.0, "1.55×"));
    assert!(!shown(600.0, "4×4 blocks") && shown(600.0, "1.55×"));
    assert!(!shown(400.0, "1.55×") && shown(400.0, "Cube_Coup_dt0"));
}

#[test]
fn kernels_that_win_on_shown_rows_come_first_and_the_largest_matrix_has_its_winner_in_sight() {
    let (mut model, mut state) = (example(), ViewState::default());
    model.open("cpu.zip", include_bytes!("../../../../example/cpu.zip")).unwrap();
    let board = Board::of(&model, &state);
    let has_won = |row: &Row, kernel: &str| {
        row.runs.iter().any(|r| r.run == row.credited && r.kernel == kernel)
    };
    for unfolded in [true, false] {
        state.best.unfolded = unfolded;
        let rows: Vec<&Row> = lines(&board, &state).into_iter().flatten().collect();
        let columns = columns(&board, &state, 980.0);
        // After the winner of the first row.
        let ours = columns.iter().filter(|column| !is_vendors(column.kernel)).skip(1);
        let wins = ours.map(|of| rows.iter().filter(|row| has_won(row, of.kernel)).count());
        let wins: Vec<usize> = wins.collect();
        assert!(wins.is_sorted_by(|one, next| one >= next) && wins.contains(&0), "{wins:?}");
    }
    // The view in windows of 1280 and 1000 points, and on a phone that lies on its side or stands.
    let winner = state.theme.ink().winner;
    for width in [980.0, 700.0, 786.0, 374.0] {
        let figure = draw(&board, &state, width).figure;
        let mut outlines = figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points, color, .. } if *color == winner => Some(points),
            _ => None,
        });
        // After that of the legend.
        let first = outlines.nth(1).unwrap();
        let [right, top] = [first[1].x, first[1].y];
        assert!(right < width, "{width}: {right}");
        assert!(top < figure.head.as_ref().unwrap().y[1] + 44.0, "in the first row");
    }
}

#[test]
fn the_first_screen_has_the_vendors_column_and_the_legend() {
    let (model, state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    // The view in a window of 1280 points, and on a phone.
    for width in [980.0, 374.0] {
        let figure = draw(&board, &state, width).figure;
        let head = figure.head.unwrap();
        let mut found = Vec::new();
        for shape in &figure.shapes[head.shapes.clone()] {
            match shape {
                Shape::Turned { pos, text, color, .. } if text.starts_with("cusparse/") => {
                    assert_eq!(*color, state.theme.ink().vendor);
                    found.extend((pos.x < width).then_some("vendor"));
                }
                Shape::Text { pos, text, .. } => {
                    let right = pos.x + text_width(text, SMALL);
                    assert!(right < width && head.y[0] < pos.y && pos.y < head.y[1], "{text}");
                    let named = ["Share of the best rate", "the winner, in GFLOPS", "not ranked"];
                    found.extend(named.into_iter().find(|name| name == text));
                }
                _ => {}
            }
        }
        let all = ["Share of the best rate", "the winner, in GFLOPS", "not ranked", "vendor"];
        assert!(all.iter().all(|one| found.contains(one)), "{width}: {found:?}");
    }
    let figure = draw(&board, &state, 980.0).figure;
    let is =
        |shape: &Shape, words: &str| matches!(shape, Shape::Text { text, .. } if text == words);
    let has = |words: &str| figure.shapes.iter().any(|shape| is(shape, words));
    assert!(has("0.25") && has("0.1"), "shares have no more digits than they need");
    let places = Places::of(&board, 980.0);
    let room = places.ratio.unwrap() - places.winner.unwrap()[1];
    assert!((60.0..80.0).contains(&room), "as wide as `cuSPARSE`, {room}");
}

#[test]
fn a_projector_of_1024_by_768_pixels_shows_seven_rows() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    state.theme = Theme::Projector;
    // Its points, less the margins beside the view, and the bars above it.
    let (width, height) = (1024.0 / 1.5 - 42.0, 768.0 / 1.5 - 122.0);
    let drawn = draw(&board, &state, width);
    let (seventh, _) = &drawn.thumbs[6];
    assert!(seventh.bottom() < height, "{} of {height}", seventh.bottom());
    let is_said = |shape: &Shape| matches!(shape, Shape::Text { text, .. } if text == "vs vendor");
    assert!(drawn.figure.shapes.iter().any(is_said), "what the ratios are to");
    // Other screens have rows of the height of a finger.
    state.theme = Theme::Light;
    let drawn = draw(&board, &state, width);
    assert!(drawn.thumbs[1].0.top() - drawn.thumbs[0].0.top() >= 44.0);
}

#[test]
fn cells_are_grey_for_colours_are_formats_or_what_is_selected() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    for theme in Theme::ALL {
        state.theme = theme;
        let shapes = draw(&board, &state, 1200.0).figure.shapes;
        let fills = shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { fill, .. } => Some([fill.r(), fill.g(), fill.b()]),
            _ => None,
        });
        let fills: BTreeSet<_> = fills.collect();
        assert!(fills.len() > 20, "{theme:?}: shares differ");
        assert!(fills.iter().all(|[r, g, b]| r == g && g == b), "{theme:?}: {fills:?}");
    }
}

#[test]
fn as_many_cells_are_outlined_in_a_column_as_the_headline_says_it_wins() {
    let (model, mut state) = (example(), ViewState::default());
    state.best.unfolded = true;
    let board = Board::of(&model, &state);
    let outlined = |kernel: &str| {
        let runs = |row: &Row| row.runs.iter().any(|r| r.run == row.credited && r.kernel == kernel);
        board.rows.iter().filter(|row| runs(row)).count()
    };
    assert_eq!((outlined("cuda/csr/adaptive"), outlined("cuda/hll/compact")), (9, 6));
    assert_eq!(outlined("cuda/spmv/auto"), 0, "what it picked was measured, too");
    let figure = draw(&board, &state, 2000.0).figure;
    let winner = state.theme.ink().winner;
    let is_outline =
        |shape: &&Shape| matches!(shape, Shape::Line { color, .. } if *color == winner);
    let outlines = figure.shapes.iter().filter(is_outline).count();
    assert_eq!(outlines, 30 + 1, "and the one of the legend");
}
