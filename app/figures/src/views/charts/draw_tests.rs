//! The drawing of a chart: legend, styles, axes.

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, vec2};
use sparsescope_core::record::Figures;

use super::draw;
use super::looks::Looks;
use super::plane::GUIDE;
use super::plot::{Data, Guide, Plot, Point, Scale};
use super::sheet::{Look, RADIUS, Sheet};
use super::tests::{bundle, model, run, state};
use super::view::plot;
use crate::figure::{Anchor, Figure, Hit, Shape, text_width};
use crate::model::Model;
use crate::state::ViewState;
use crate::theme::SMALL;

fn on_screen(model: &Model, plot: &Plot<'_>, state: &ViewState, size: [f32; 2]) -> Figure {
    let [width, height] = size;
    let looks = Looks::of(model, "spmv");
    draw::figure(plot, &looks, state, width, draw::For::Screen(height, None))
}

/// The texts among shapes, in their order.
fn words(shapes: &[Shape]) -> Vec<&str> {
    let texts = shapes.iter().filter_map(|shape| match shape {
        Shape::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_series_shown_alone_leaves_the_others_in_the_legend_and_its_look_as_it_is() {
    let model = model(&[("a", 1.0)]);
    let (all, alone) = (state("kernels"), state("kernels;only=cpu/hll/guided"));
    let data = [Data::of(&model, &all), Data::of(&model, &alone)];
    let [every, one] = [plot(&data[0]), plot(&data[1])];
    assert_eq!(one.names(), every.names());
    assert!(one.points().all(|(name, ..)| name == "cpu/hll/guided"));
    assert_eq!(one.points().count(), 3);
    // An unknown series name changes nothing.
    let other = state("kernels;only=cpu/none");
    let data = Data::of(&model, &other);
    assert_eq!(plot(&data).points().count(), every.points().count());
    let figure = on_screen(&model, &one, &alone, [900.0, 600.0]);
    let hit = |text: &str| figure.hits.iter().any(|hit| hit.text == text);
    assert!(hit("Show all series") && hit("Show only cpu/csr/nnz; Shift-click adds it"));
}

#[test]
fn several_series_are_isolated_by_a_list_and_older_links_stay_valid() {
    let model = model(&[("a", 1.0)]);
    let shown = |link: &str| {
        let state = state(link);
        let plot = plot(&Data::of(&model, &state));
        plot.series.keys().map(|(_, name, _)| name.clone()).collect::<Vec<_>>()
    };
    let two = ["cpu/csr/nnz", "cpu/hll/guided"];
    assert_eq!(shown("kernels;only=cpu/hll/guided,cpu/csr/nnz"), two);
    assert_eq!(shown("kernels;only=cpu/csr/nnz"), two[..1]);
}

#[test]
fn the_description_of_a_chart_has_its_axis_and_its_best_value() {
    let model = model(&[("a", 1.0)]);
    let message = |link: &str, of: &str| {
        let mut state = state(link);
        state.charts.of = of.into();
        let data = Data::of(&model, &state);
        on_screen(&model, &plot(&data), &state, [900.0, 600.0]).message
    };
    // Seven kernels on three matrices; the best is 45 times as fast as 2 GFLOPS.
    let kernels = message("kernels", "");
    assert!(kernels.starts_with("GFLOPS: the highest of 21 values is 90"), "{kernels}");
    assert!(kernels.ends_with(", of cuda/csr/vector-mining on large (stand-in)."), "{kernels}");
    // 17 runs on each of two matrices and 16 on the third, with a quarter of their speed-ups.
    for (measure, least) in
        [("worst row, error / bound", "0.125"), ("relative error |z − y| / |y|", "1.0e-16")]
    {
        let errors = message("errors", &format!("{measure} by kernel"));
        let expected = format!("{measure}: the lowest of 50 values is {least}, of ");
        assert!(errors.starts_with(&expected), "{errors}");
    }
}

/// The kernels of the model, and more ELLPACK kernels than have colours.
fn many() -> Model {
    let mut many = bundle("a", 1.0);
    for index in 0..3 {
        for k in 0..8 {
            let times = 0.3 + 0.01 * f64::from(k);
            many.runs.push(run(index, &format!("cpu/ell/own-{k}"), (1, None), times));
        }
    }
    super::tests::model_of(many)
}

#[test]
fn few_of_many_series_have_colour_and_the_others_are_grey_with_smaller_marks_of_7_points() {
    let (model, state) = (many(), state("kernels"));
    let plot = plot(&Data::of(&model, &state));
    assert_eq!(plot.names().len(), 15);
    let looks = Looks::of(&model, "spmv");
    let sheet = |bright| Sheet::new(&plot, &looks, state.theme.ink(), 900.0, (bright, None));
    let look = |bright, name: &str| {
        let sheet = sheet(bright);
        let (_, series) = sheet.painted().into_iter().find(|(own, _)| *own == name).unwrap();
        sheet.look(name, series)
    };
    let is_gray = |look: Look| look.color.r() == look.color.g() && look.color.g() == look.color.b();
    let [best, other] = ["cuda/csr/vector-mining", "cpu/ell/own-3"];
    let outline = 0.75;
    assert!(!is_gray(look(None, best)) && look(None, best).radius - outline >= 3.5);
    let quiet = look(None, other);
    assert!(is_gray(quiet) && quiet.radius < look(None, best).radius - outline);
    // Its outline has its colour.
    assert!(quiet.color == quiet.fill && quiet.radius + outline >= 3.5);
    assert!(look(None, other).line < look(None, best).line);
    // Pointed at, a grey one comes forward, and is painted last.
    assert!(!is_gray(look(Some(other), other)) && look(Some(other), other).radius > 3.5);
    assert_eq!(sheet(Some(other)).painted().last().map(|(name, _)| *name), Some(other));
    assert_eq!(sheet(None).painted().last().map(|(name, _)| *name), Some(best));
    // The selected run has a colour, too.
    let run = plot.points().find(|(name, ..)| *name == other).and_then(|(.., p)| p.run);
    let selected = (None, run.map(|run| run.index));
    let sheet = Sheet::new(&plot, &looks, state.theme.ink(), 900.0, selected);
    assert!(sheet.is_bold(other));
}

#[test]
fn an_outlier_is_an_arrow_at_the_edge_with_its_number() {
    let mut far = bundle("a", 1.0);
    for k in 0..30 {
        far.runs.push(run(0, &format!("cpu/ell/own-{k}"), (1, None), 1.0 + f64::from(k) * 0.01));
    }
    far.runs.retain(|run| run.backend == "cpu" && run.threads == 1 && run.matrix.contains("small"));
    far.runs.push(run(0, "cpu/ell/far", (1, None), 500.0));
    let (model, state) = (super::tests::model_of(far), state("kernels;log=false"));
    let plot = plot(&Data::of(&model, &state));
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    let texts = words(&figure.shapes);
    assert!(texts.contains(&"1000"), "{texts:?}");
    assert!(texts.contains(&"3") && !texts.contains(&"200"), "ticks of the others: {texts:?}");
}

/// The areas of the texts that match.
fn texts(figure: &Figure, is_it: impl Fn(&str) -> bool) -> Vec<Rect> {
    let area = |shape: &Shape| match shape {
        Shape::Text { pos, anchor, size, text, .. } if is_it(text) => {
            let width = text_width(text, *size);
            let left = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width * 0.5,
                Anchor::End => width,
            };
            Some(Rect::from_min_size(*pos - vec2(left, size * 0.5), vec2(width, *size)))
        }
        _ => None,
    };
    figure.shapes.iter().filter_map(area).collect()
}

fn are_apart(areas: &[Rect]) -> bool {
    let clear = |(place, one): (usize, &Rect)| {
        areas.iter().skip(place + 1).all(|other| !other.intersects(*one))
    };
    areas.iter().enumerate().all(clear)
}

/// The turned texts, each with points along its middle.
fn turned(figure: &Figure) -> Vec<(&str, Vec<Pos2>)> {
    let texts = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Turned { pos, angle, size, text, .. } => {
            let along = Vec2::angled(*angle);
            let steps = 0..=text_width(text, *size) as usize;
            let points: Vec<Pos2> = steps.map(|step| *pos + along * step as f32).collect();
            Some((text.as_str(), points))
        }
        _ => None,
    });
    texts.collect()
}

/// The smallest distance between points of two lists.
fn distance(one: &[Pos2], other: &[Pos2]) -> f32 {
    let all = one.iter().flat_map(|a| other.iter().map(move |b| a.distance(*b)));
    all.fold(f32::INFINITY, f32::min)
}

/// The smallest distance between two of the texts.
fn nearest(texts: &[(&str, Vec<Pos2>)]) -> f32 {
    let all = texts.iter().enumerate().flat_map(|(place, (_, one))| {
        texts.iter().skip(place + 1).map(move |(_, other)| distance(one, other))
    });
    all.fold(f32::INFINITY, f32::min)
}

/// The roofline of some of the examples in this area, the names of its roofs, and its marks in colour.
fn roofline_of(
    examples: &[(&str, &[u8])],
    width: f32,
    height: f32,
) -> (Figure, Vec<String>, Vec<Pos2>) {
    let mut model = Model::default();
    for (name, bytes) in examples {
        model.open(name, bytes).unwrap();
    }
    let state = state("roofline");
    let plot = plot(&Data::of(&model, &state));
    let figure = on_screen(&model, &plot, &state, [width, height]);
    let looks = Looks::of(&model, "spmv");
    let sheet = Sheet::new(&plot, &looks, state.theme.ink(), width, (None, None));
    let is_bold = |hit: &&Hit| {
        let series = hit.series.as_deref().filter(|_| hit.run.is_some());
        series.is_some_and(|name| sheet.is_bold(name))
    };
    let marks = figure.hits.iter().filter(is_bold).map(|hit| hit.rect.center()).collect();
    let roofs = plot.guides.iter().map(|guide| guide.name.clone()).collect();
    (figure, roofs, marks)
}

const GPU: (&str, &[u8]) = ("gpu.zip", include_bytes!("../../../../example/gpu.zip"));
const CPU: (&str, &[u8]) = ("cpu.zip", include_bytes!("../../../../example/cpu.zip"));

#[test]
fn each_roof_of_two_bundles_has_its_name_at_its_line_clear_of_lines_and_marks_in_colour() {
    for width in [785.0, 1400.0] {
        let (figure, roofs, marks) = roofline_of(&[GPU, CPU], width, 480.0);
        assert!(roofs.len() >= 4, "a GPU, and two bandwidths for each CPU or both");
        assert!(marks.len() > 100, "{}", marks.len());
        let names = turned(&figure);
        assert!(nearest(&names) > 0.9 * SMALL, "{width}: {}", nearest(&names));
        let lines = figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points, width, .. } if *width == GUIDE => {
                let at = |step: u16| points[0].lerp(points[1], f32::from(step) / 1000.0);
                Some((0..=1000).map(at).collect::<Vec<_>>())
            }
            _ => None,
        });
        let lines: Vec<Vec<Pos2>> = lines.collect();
        assert_eq!(lines.len(), roofs.len());
        for (roof, own) in roofs.iter().zip(&lines) {
            let (_, name) = names.iter().find(|(text, _)| text == roof).unwrap();
            let others = lines.iter().filter(|line| *line != own);
            let other = others.map(|line| distance(name, line)).fold(f32::INFINITY, f32::min);
            let own = distance(name, own);
            assert!(own < 1.5 * SMALL || own < 0.5 * other, "{width}: {roof} is far away");
            assert!(own.min(other) >= 0.5 * SMALL, "{width}: {roof} crosses a line");
            // Half the height of letters, and a little space.
            assert!(distance(name, &marks) > 0.5 * SMALL + 2.0, "{width}: {roof} crosses a mark");
        }
    }
}

#[test]
fn on_a_phone_the_name_of_the_only_roof_is_clear_of_the_marks_in_colour() {
    let (figure, _, marks) = roofline_of(&[GPU], 366.0, 590.0);
    assert!(marks.len() > 50, "{}", marks.len());
    let names = turned(&figure);
    let [(_, name)] = &names[..] else { panic!("{names:?}") };
    // Half the height of letters, and a little space.
    assert!(distance(name, &marks) > 0.5 * SMALL + 2.0, "{}", distance(name, &marks));
}

#[test]
fn on_a_phone_long_names_of_roofs_lose_their_device_and_keep_their_numbers() {
    let (figure, roofs, _) = roofline_of(&[GPU, CPU], 366.0, 590.0);
    let names = turned(&figure);
    let is_whole = |name: &str| roofs.iter().any(|roof| roof == name);
    let is_end = |name: &str| roofs.iter().any(|roof| roof.ends_with(&format!(": {name}")));
    assert!(names.len() >= 4, "{names:?}");
    assert!(names.iter().all(|(name, _)| is_whole(name) || is_end(name)), "{names:?}");
    assert!(names.iter().any(|(name, _)| !is_whole(name)), "there is no room for some");
}

#[test]
fn names_of_close_lines_are_apart() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline"));
    let mut plot = plot(&Data::of(&model, &state));
    let roof = |k: u32| {
        let high = 1.0 + 0.01 * f64::from(k);
        let name = format!("roof of a device with a long name {k}");
        Guide { ends: [[0.02, high], [0.2, 10.0 * high]], name }
    };
    plot.guides = (0..5).map(roof).collect();
    plot.x.most = None;
    for width in [900.0, 1400.0] {
        let figure = on_screen(&model, &plot, &state, [width, 600.0]);
        let names = turned(&figure);
        assert_eq!(names.len(), 5, "{width}");
        assert!(nearest(&names) > 0.9 * SMALL, "{width}: {}", nearest(&names));
    }
}

#[test]
fn names_of_close_vertical_lines_are_apart_and_inside_the_figure() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline"));
    let mut plot = plot(&Data::of(&model, &state));
    let line = |x: f64| Guide { ends: [[x, 1.0], [x, 50.0]], name: format!("a long name at {x}") };
    plot.guides = Vec::from([0.05, 0.051, 0.052, 0.053, 0.2].map(line));
    plot.x.most = None;
    for width in [500.0, 900.0] {
        let figure = on_screen(&model, &plot, &state, [width, 600.0]);
        let names = texts(&figure, |text| text.starts_with("a long name"));
        assert!(names.len() == 5 && are_apart(&names), "{width}: {names:?}");
        let is_inside = |area: &Rect| area.left() >= 0.0 && area.right() <= width;
        assert!(names.iter().all(is_inside), "{width}: {names:?}");
        let weak = state.theme.ink().weak;
        let heights = |of: f32| -> Vec<f32> {
            let upright = figure.shapes.iter().filter_map(|shape| match shape {
                Shape::Line { points, width, color } if (*width, *color) == (of, weak) => {
                    let [from, to] = [points[0], points[1]];
                    (from.x == to.x).then_some((from.y - to.y).abs())
                }
                _ => None,
            });
            upright.collect()
        };
        let (axis, lines) = (heights(1.0), heights(GUIDE));
        assert!(
            lines.len() == 5 && lines.iter().all(|line| *line == axis[0]),
            "{axis:?} {lines:?}"
        );
    }
}

#[test]
fn numbers_of_arrows_are_clear_of_lines_and_of_each_other() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline"));
    let mut plot = plot(&Data::of(&model, &state));
    let mut count = 0.0;
    for point in plot.series.values_mut().flat_map(|series| &mut series.points) {
        // Arrows at the left, each with a line to it.
        (point.at, point.range) = ([0.5, 10.0 * 3_f64.powf(count)], None);
        if count < 3.0 {
            point.range = Some([0.5, 0.0011 + 0.001 * count]);
        }
        count += 1.0;
    }
    (plot.x.least, plot.x.most, plot.y.least) = (Some(0.02), None, None);
    plot.guides.clear();
    let number = |text: &str| ["0.00110", "0.00210", "0.00310"].contains(&text);
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    let numbers = texts(&figure, number);
    assert!(numbers.len() == 3 && are_apart(&numbers), "{numbers:?}");
    let runs = figure.hits.iter().filter(|hit| hit.run.is_some());
    for y in runs.map(|hit| hit.rect.center().y) {
        assert!(numbers.iter().all(|area| !area.y_range().contains(y)), "{y}: {numbers:?}");
    }
}

#[test]
fn arrows_with_one_value_in_a_row_have_one_number() {
    let (model, state) = (model(&[("a", 1.0)]), state("break-even"));
    let mut plot = plot(&Data::of(&model, &state));
    assert!(plot.points().filter(|(.., point)| point.at[1] == 0.0).count() > 2);
    for point in plot.series.values_mut().flat_map(|series| &mut series.points) {
        point.at[0] = if point.at[1] == 0.0 { 0.0 } else { 5.0 };
    }
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    assert_eq!(texts(&figure, |text| text == "0").len(), 1);
}

#[test]
fn of_arrows_with_the_same_number_in_a_row_the_first_with_room_has_it() {
    let (model, state) = (model(&[("a", 1.0)]), state("break-even"));
    let data = Data::of(&model, &state);
    let numbers = |lines: usize, values: &[f64]| {
        let mut plot = plot(&data);
        let first = plot.series.keys().next().cloned().unwrap();
        plot.series.retain(|key, _| *key == first);
        let points = &mut plot.series.get_mut(&first).unwrap().points;
        let bare = Point { label: String::new(), ..points[0].clone() };
        let point = |x: f64, range: Option<[f64; 2]>| Point { at: [x, 0.0], range, ..bare.clone() };
        // Lines to the left end of the axis, then arrows there.
        *points = (0..lines).map(|_| point(5.0, Some([1.0, 5.0]))).collect();
        points.extend(values.iter().map(|value| point(*value, None)));
        plot.x.least = Some(1.0);
        let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
        texts(&figure, |text| text == "0.500").len()
    };
    assert_eq!(numbers(0, &[0.4999]), 1);
    assert_eq!(numbers(0, &[0.4999, 0.50001]), 1, "they print the same");
    // Three lines are in the way of the first arrow's number, not of the second one's.
    assert_eq!(numbers(3, &[0.4999]), 0);
    assert_eq!(numbers(3, &[0.4999, 0.4999]), 1);
}

/// Values of one row, each of a series of its own; smaller ones are better.
fn in_a_row(values: &[f64]) -> Plot<'static> {
    let mut plot = Plot::rows(Scale::new("executions", true).lower());
    let row = plot.row(|| "m".to_owned(), "m");
    for (k, value) in values.iter().enumerate() {
        let point = Point { at: [*value, row], ..Point::default() };
        plot.add(0, &format!("cpu/series/{k:02}"), None, point);
    }
    plot
}

fn drawn(plot: &Plot<'_>, whom: draw::For<'_>) -> Figure {
    let looks = Looks::of(&Model::default(), "spmv");
    draw::figure(plot, &looks, &state("kernels"), 900.0, whom)
}

#[test]
fn marks_at_one_position_of_the_first_row_are_below_the_axis() {
    let figure = drawn(&in_a_row(&[2.0, 2.0, 2.0, 2.0]), draw::For::Screen(10.0, None));
    let marks =
        figure.hits.iter().filter(|hit| hit.matrix.is_empty() && hit.text.contains(" on m"));
    let tops: Vec<f32> = marks.map(|hit| hit.rect.center().y - RADIUS[0]).collect();
    let [_, axis] = figure.head.as_ref().unwrap().y;
    assert_eq!(tops.len(), 4);
    // The head ends a point below the axis.
    assert!(tops.iter().all(|top| *top >= axis - 1.5), "{axis}: {tops:?}");
}

#[test]
fn the_name_of_the_best_mark_is_behind_the_number_of_its_arrow() {
    let mut plot = in_a_row(&[0.0, 10.0, 20.0, 30.0]);
    plot.x.least = Some(1.0);
    let figure = drawn(&plot, draw::For::Screen(600.0, None));
    let of = |text: &str| texts(&figure, |other| other == text);
    // The other is in the legend.
    let (numbers, names) = (of("0"), of("cpu/series/00"));
    assert_eq!((numbers.len(), names.len()), (1, 2));
    let name = names.iter().min_by(|a, b| a.left().total_cmp(&b.left())).unwrap();
    assert!(name.left() > numbers[0].right(), "{name:?} {numbers:?}");
    assert!((name.center().y - numbers[0].center().y).abs() < 1.0, "in its row");
}

#[test]
fn in_a_file_a_legend_much_longer_than_the_rows_is_below_them() {
    let legend = |count: usize| {
        let values: Vec<f64> = (1..=count).map(|k| k as f64).collect();
        let figure = drawn(&in_a_row(&values), draw::For::File("t"));
        let names = texts(&figure, |text| text.starts_with("cpu/series/"));
        let columns = sparsescope_core::order::set(names.iter().map(|name| name.left() as i32));
        (columns.len(), figure.size.y)
    };
    let (beside, height) = legend(30);
    assert!(beside <= 2 && height > 30.0 * 20.0, "one column: {beside}, {height}");
    let (below, height) = legend(60);
    assert!(below > 3 && height < 60.0 * 20.0 / 2.0, "several columns: {below}, {height}");
}

#[test]
fn numbers_of_arrows_are_clear_of_the_ticks() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline"));
    let mut plot = plot(&Data::of(&model, &state));
    let mut count = 0.0;
    for point in plot.series.values_mut().flat_map(|series| &mut series.points) {
        // Two arrows in the lower left corner.
        let is_far = count < 2.0;
        point.at = if is_far { [0.0011 + 0.001 * count, 10.0] } else { [0.5, 100.0] };
        point.range = None;
        count += 1.0;
    }
    (plot.x.least, plot.x.most, plot.y.least) = (Some(0.02), None, None);
    plot.guides.clear();
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    let runs = figure.hits.iter().filter(|hit| hit.run.is_some());
    let axis = runs.map(|hit| hit.rect.center().y).fold(0.0, f32::max);
    let numbers = texts(&figure, |text| ["0.00110", "0.00210"].contains(&text));
    assert!(numbers.len() == 1 && numbers[0].bottom() <= axis, "{axis}: {numbers:?}");
}

#[test]
fn a_chart_with_its_legend_below_fills_the_height() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline"));
    let plot = plot(&Data::of(&model, &state));
    let figure = on_screen(&model, &plot, &state, [360.0, 600.0]);
    assert!((580.0..=600.0).contains(&figure.size.y), "{}", figure.size.y);
}

#[test]
fn the_titles_of_axes_are_whole_on_a_phone() {
    let (model, state) = (model(&[("a", 1.0)]), state("deviation"));
    let plot = plot(&Data::of(&model, &state));
    let figure = on_screen(&model, &plot, &state, [320.0, 600.0]);
    let titles = texts(&figure, |text| text.contains("row lengths") || text.contains("(log"));
    assert!(titles.len() > 2, "one line for y, two for x: {titles:?}");
    assert!(titles.iter().all(|area| area.left() >= 0.0 && area.right() <= 320.0), "{titles:?}");
    assert!(are_apart(&titles), "{titles:?}");
}

#[test]
fn only_series_in_colour_have_lines_to_their_padding_and_the_axis_ends_with_the_data() {
    let (figure, ..) = roofline_of(&[GPU], 900.0, 600.0);
    let ink = state("roofline").theme.ink();
    let quiet = crate::theme::blend(ink.weak, ink.paper, 0.55);
    let lines = |of: &dyn Fn(Color32) -> bool| {
        let is_one = |shape: &&Shape| match shape {
            Shape::Line { points, color, .. } => of(*color) && points[0].y == points[1].y,
            _ => false,
        };
        figure.shapes.iter().filter(is_one).count()
    };
    assert_eq!(lines(&|color| color == quiet), 0);
    assert!(lines(&|color| ![ink.grid, ink.weak].contains(&color)) > 5, "those in colour have");
    // The rightmost point is near the right end of the axis.
    let xs = || figure.hits.iter().filter(|hit| hit.run.is_some()).map(|hit| hit.rect.center().x);
    let (first, last) = (xs().fold(f32::INFINITY, f32::min), xs().fold(0.0, f32::max));
    let axis = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, color, .. } if *color == ink.weak => points.last().map(|at| at.x),
        _ => None,
    });
    let end = axis.fold(0.0, f32::max);
    assert!(end - last < 0.15 * (last - first), "{first} to {last} of {end}");
}

#[test]
fn a_change_that_is_not_sure_is_hollow_and_nothing_else_is() {
    let model = model(&[("before", 1.0), ("after", 2.0)]);
    let state = state("compare");
    let plot = plot(&Data::of(&model, &state));
    let sure: Vec<bool> = {
        let mut points: Vec<_> = plot.points().map(|(.., point)| point).collect();
        points.sort_by(|a, b| a.at[1].total_cmp(&b.at[1]));
        points.into_iter().map(|point| plot.is_sure(point)).collect()
    };
    assert!(sure.is_sorted_by(|one, next| one >= next), "clear ones first: {sure:?}");
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    let white = |shape: &&Shape| {
        matches!(shape, Shape::Polygon { fill, .. } | Shape::Circle { fill, .. }
            if *fill == Color32::WHITE)
    };
    let hollow = figure.shapes.iter().filter(white).count();
    let unclear = sure.iter().filter(|is_sure| !**is_sure).count();
    assert_eq!(hollow, unclear + 1, "and the one of the legend");
    let texts = words(&figure.shapes);
    let has = |words: &str| texts.iter().any(|text| text.contains(words));
    assert!(has("unclear: the interval contains 1") && !has("hollow:"));
    let explained = figure.hits.iter().filter(|hit| hit.text.contains("may be equal")).count();
    assert_eq!(explained, 2, "clear and unclear");
    assert!(has("cpu/hll/guided on small"), "rows have names");
}

#[test]
fn a_bundle_keeps_its_style_when_the_other_is_closed() {
    let mut model = model(&[("a", 1.0), ("b", 1.5)]);
    let state = state("kernels;kernel=cpu/csr/nnz");
    let hollow = |model: &Model| {
        let plot = plot(&Data::of(model, &state));
        let figure = on_screen(model, &plot, &state, [900.0, 600.0]);
        let white = |shape: &&Shape| matches!(shape, Shape::Polygon { fill, .. } if *fill == Color32::WHITE);
        figure.shapes.iter().filter(white).count()
    };
    assert_eq!(hollow(&model), 3, "those of the second");
    model.close(0);
    assert_eq!(hollow(&model), 3);
}

#[test]
fn the_axis_of_rows_stands_above_them_and_stays_in_sight() {
    let (model, state) = (model(&[("a", 1.0)]), state("kernels"));
    let plot = plot(&Data::of(&model, &state));
    let figure = on_screen(&model, &plot, &state, [900.0, 100.0]);
    let head = figure.head.unwrap();
    let texts = words(&figure.shapes[head.shapes]);
    assert!(texts.iter().any(|text| text.starts_with("GFLOPS")), "{texts:?}");
    let first = figure.hits.iter().filter(|hit| hit.run.is_some()).map(|hit| hit.rect.min.y);
    assert!(first.fold(f32::INFINITY, f32::min) > head.y[1]);
    // However little space there is, a row has 24 points.
    assert!(figure.size.y > head.y[1] + 3.0 * 24.0);
}

#[test]
fn what_lies_beyond_the_rooflines_beginning_is_an_arrow_at_it() {
    let mut padded = bundle("a", 1.0);
    for run in padded.runs.iter_mut().filter(|run| run.kernel == "cpu/ell/rows") {
        run.costs.minimal_bytes *= 100;
        let of = run.figures.as_ref().unwrap();
        let flops = (of.gflops * of.median_s * 1e9).round();
        run.figures = Figures::from_samples(&run.samples, flops, run.costs.minimal_bytes);
    }
    let mut model = Model::default();
    model.open("a", &padded.to_bytes().unwrap()).unwrap();
    let state = state("roofline;kernel=cpu/ell/rows");
    let plot = plot(&Data::of(&model, &state));
    assert!(plot.points().all(|(.., point)| point.at[0] < 0.02), "{:?}", plot.table());
    let figure = on_screen(&model, &plot, &state, [900.0, 600.0]);
    let xs: Vec<f32> =
        figure.hits.iter().filter(|hit| hit.run.is_some()).map(|hit| hit.rect.center().x).collect();
    assert!(xs.len() == 3 && xs.iter().all(|x| *x == xs[0]), "{xs:?}");
    assert!(!words(&figure.shapes).contains(&"0.001"));
}
