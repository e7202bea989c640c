//! The drawing of a chart: legend, styles, axes.

use ecolor::Color32;
use sparsescope_core::record::Figures;

use super::draw;
use super::looks::Looks;
use super::plot::Data;
use super::tests::{bundle, model, state};
use super::view::plot;
use crate::figure::Shape;
use crate::model::Model;

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
    let looks = Looks::of(&model, "spmv");
    let figure = draw::figure(&one, &looks, &alone, 900.0, draw::For::Screen(600.0, None));
    let hit = |text: &str| figure.hits.iter().any(|hit| hit.text == text);
    assert!(hit("Show all series") && hit("Show only cpu/csr/nnz"));
}

#[test]
fn a_bundle_keeps_its_style_when_the_other_is_closed() {
    let mut model = model(&[("a", 1.0), ("b", 1.5)]);
    let state = state("kernels;kernel=cpu/csr/nnz");
    let hollow = |model: &Model| {
        let data = Data::of(model, &state);
        let plot = plot(&data);
        let looks = Looks::of(model, "spmv");
        let figure = draw::figure(&plot, &looks, &state, 900.0, draw::For::Screen(600.0, None));
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
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let looks = Looks::of(&model, "spmv");
    let figure = draw::figure(&plot, &looks, &state, 900.0, draw::For::Screen(100.0, None));
    let head = figure.head.unwrap();
    let texts: Vec<&str> = figure.shapes[head.shapes]
        .iter()
        .filter_map(|shape| match shape {
            Shape::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
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
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    assert!(plot.points().all(|(.., point)| point.at[0] < 0.02), "{:?}", plot.table());
    let looks = Looks::of(&model, "spmv");
    let figure = draw::figure(&plot, &looks, &state, 900.0, draw::For::Screen(600.0, None));
    let xs: Vec<f32> =
        figure.hits.iter().filter(|hit| hit.run.is_some()).map(|hit| hit.rect.center().x).collect();
    assert!(xs.len() == 3 && xs.iter().all(|x| *x == xs[0]), "{xs:?}");
    assert!(
        figure
            .shapes
            .iter()
            .all(|shape| !matches!(shape, Shape::Text { text, .. } if text == "0.001"))
    );
}
