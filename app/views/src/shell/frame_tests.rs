//! The time of a frame with the maximum number of runs in a bundle.

use egui::{Event, Modifiers, MouseWheelSource, MouseWheelUnit, TouchPhase, pos2, vec2};
use egui_kittest::Harness;
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::Predicted;
use sparsescope_figures::model::visits;

use super::*;

const KERNELS: [&str; 5] = [
    "cpu/csr/nnz",
    "cpu/hll/threads",
    "cuda/csr/warp-shuffle",
    "cuda/hll/thread-per-hack",
    "vendor/cusparse/csr-alg1",
];

/// Runs of a few kernels on 401 matrices, some of them with a prediction.
fn many(runs: usize) -> Bundle {
    let mut model = Model::default();
    model.open("mini.zip", include_bytes!("../../../example/cpu.zip")).unwrap();
    let mut bundle = Bundle::clone(&model.bundles()[0].bundle);
    let run = bundle.runs.iter().find(|run| run.figures.is_some()).unwrap().clone();
    let line_bytes = Some(64_000_000);
    bundle.runs.clear();
    let folder = bundle.matrices.remove(0);
    bundle.matrices.clear();
    for number in 0..401 {
        let mut folder = folder.clone();
        folder.record.id = format!("m-{number}");
        folder.record.name = format!("matrix {number}");
        folder.record.sha256 = format!("{number:064x}").chars().rev().collect();
        folder.record.statistics.nnz += number;
        bundle.matrices.push(folder);
    }
    for number in 0..runs {
        let mut run = run.clone();
        run.matrix = format!("m-{}", number % 401);
        run.kernel = KERNELS[number % KERNELS.len()].into();
        run.threads = 1 + number as u32 / 401;
        run.costs.predicted =
            (number % 3 == 0).then(|| Predicted { line_bytes, ..Predicted::default() });
        bundle.runs.push(run);
    }
    bundle
}

#[test]
fn a_frame_looks_only_at_the_runs_that_are_seen() {
    let runs = Limits::default().runs as usize;
    let mut app = App::new();
    app.show_unfinished("many.zip", many(runs));
    assert_eq!(app.model().count(&Filter::default()), runs);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    for view in ["runs", "matrix"] {
        let state = format!("v1;view={view};run=250000;kernel={}", KERNELS[0]);
        harness.state_mut().set_state(ViewState::from_fragment(&state).unwrap());
        harness.run();
        harness.hover_at(pos2(800.0, 500.0));
        harness.step();
        visits::take();
        for _ in 0..20 {
            harness.event(Event::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta: vec2(0.0, -400.0),
                phase: TouchPhase::Move,
                source: MouseWheelSource::Wheel,
                modifiers: Modifiers::NONE,
            });
            harness.step();
        }
        let visited = visits::take();
        assert!((20..20 * 100).contains(&visited), "{view}: {visited} runs in 20 frames");
    }
}
