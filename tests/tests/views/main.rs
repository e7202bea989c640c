//! Pictures of the views, drawn by a software adapter, which draws the same everywhere. `UPDATE_SNAPSHOTS=1
//! cargo test -p sparsescope-tests --test views` takes new ones; look at them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod glyphs;

use std::collections::BTreeMap;
use std::time::Duration;

use egui::vec2;
use egui_kittest::{Harness, SnapshotOptions};
use egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration, wgpu};
use image::RgbaImage;
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Figures;
use sparsescope_figures::figure::png;
use sparsescope_figures::lesson::Lessons;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::VIEWS;
use sparsescope_test_support::{Need, skip};
use sparsescope_views::shell::App;
use sparsescope_views::views::spy::gpu::native as gpu;

const EXAMPLE: &[u8] = include_bytes!("../../../app/example/cpu.zip");
const H200: &[u8] = include_bytes!("../../../app/example/gpu.zip");

/// With predictions, which the example lacks.
const PREDICTED: &[u8] = include_bytes!("../../golden/bundle-1.2.zip");

/// With symmetric sweeps.
const SWEEPS: &[u8] = include_bytes!("../../golden/bundle-1.4.zip");

/// With solves.
const SOLVES: &[u8] = include_bytes!("../../golden/bundle-1.6.zip");

/// With SpMVs shared by two GPUs.
const SHARED: &[u8] = include_bytes!("../../golden/bundle-1.10.zip");

/// With kernels predicted before they were tried, on an NVIDIA H200.
const NAMED: &[u8] = include_bytes!("../../golden/expected.zip");

/// A software adapter, or why there is none.
fn adapter() -> Result<RenderState, String> {
    let setup = egui_kittest::wgpu::default_wgpu_setup();
    let state = pollster::block_on(async {
        let instance = setup.new_instance().await;
        let configuration = WgpuConfiguration { wgpu_setup: setup, ..Default::default() };
        RenderState::create(&configuration, &instance, None, RendererOptions::PREDICTABLE).await
    });
    let state = state.map_err(|error| error.to_string())?;
    let info = state.adapter.get_info();
    match info.device_type {
        wgpu::DeviceType::Cpu => Ok(state),
        _ => Err(format!("the only adapter is no software one but {}", info.name)),
    }
}

/// The example with other times, like a second measurement.
fn again() -> Vec<u8> {
    let mut bundle = Bundle::read(EXAMPLE, &Limits::default()).unwrap();
    bundle.label = Some("Again".into());
    let nnz: BTreeMap<_, _> =
        bundle.matrices.iter().map(|m| (m.record.id.clone(), m.record.statistics.nnz)).collect();
    for (k, run) in bundle.runs.iter_mut().enumerate() {
        let factor = 0.7 + 0.1 * (k % 6) as f64;
        run.samples.iter_mut().for_each(|sample| *sample *= factor);
        let flops = 2.0 * nnz[&run.matrix] as f64;
        run.figures = Figures::from_samples(&run.samples, flops, run.costs.minimal_bytes);
        run.metric = None;
    }
    bundle.to_bytes().unwrap()
}

const SIZE: (f32, f32) = (1100.0, 700.0);

/// Software adapters round colours differently from CPU to CPU, by one or two steps of 255; this is how far
/// apart two colours may be.
const NEARLY: f32 = 1.5;

/// The example, or a bundle with predictions for the view of these, in this state; cells are drawn by the
/// adapter, or painted as an image.
fn harness(adapter: RenderState, state: &str, by_adapter: bool) -> Harness<'static, App> {
    sized(adapter, state, by_adapter, SIZE)
}

/// The same in a window of this size in pixels.
fn sized(
    adapter: RenderState,
    state: &str,
    by_adapter: bool,
    (width, height): (f32, f32),
) -> Harness<'static, App> {
    let mut app = App::new();
    let opened: &[(&str, &[u8])] = match state {
        of if of.contains("operation=solve") => &[("solves.zip", SOLVES)],
        of if of.contains("ranks=true") => &[("shared.zip", SHARED)],
        of if of.contains("view=predicted") => &[("example.zip", PREDICTED)],
        of if of.contains("view=best") => &[("h200.zip", H200), ("example.zip", EXAMPLE)],
        _ => &[("example.zip", EXAMPLE)],
    };
    opened.iter().for_each(|(name, bytes)| app.open_bytes(name, *bytes));
    app.set_state(ViewState::from_fragment(state).unwrap());
    drawn(adapter, app, by_adapter, (width, height))
}

/// The program in a window of this size in pixels.
fn drawn(
    adapter: RenderState,
    app: App,
    by_adapter: bool,
    (width, height): (f32, f32),
) -> Harness<'static, App> {
    let shown = adapter.clone();
    let mut installed = !by_adapter;
    let mut harness = Harness::builder()
        .with_size(vec2(width, height))
        .with_max_steps(1000) // drawing in parts takes more frames on a busy machine
        .renderer(egui_kittest::wgpu::WgpuTestRenderer::from_render_state(adapter))
        .build_ui_state(
            move |ui, app: &mut App| {
                if !std::mem::replace(&mut installed, true) {
                    gpu::install(ui.ctx(), &shown);
                }
                app.ui(ui);
            },
            app,
        );
    harness.run();
    // Pictures of matrices are made a few per frame, a little apart.
    for _ in 0..100 {
        let root = &harness.output().viewport_output[&egui::ViewportId::ROOT];
        if root.repaint_delay > Duration::from_millis(100) {
            break;
        }
        harness.step();
    }
    harness
}

fn picture(state: &str, by_adapter: bool) -> Result<RgbaImage, String> {
    harness(adapter()?, state, by_adapter).render()
}

#[test]
fn every_view_looks_as_it_did() {
    if let Err(why) = adapter() {
        skip!(Need::Adapter, "{why}");
    }
    let views = [
        ("chart", "v1"),
        ("chart-profile-window", "v1;chart=profile;theme=dark"),
        ("chart-roofline-projector", "v1;chart=roofline;theme=projector"),
        ("runs-dark", "v1;view=runs;theme=dark;sort=matrix;descending=false"),
        ("matrix", "v1;view=matrix;search=circuit"),
        ("structure", "v1;view=spy;search=web;parts=4;split=entries;hack=32"),
        ("structure-dark", "v1;view=spy;search=grid-27pt;theme=dark;at=2000,2000,900"),
        ("structure-projector", "v1;view=spy;search=saddle;theme=projector;map=viridis"),
        ("structure-ranks", "v1;view=spy;search=stencil7;ranks=true;rank=1"),
        ("structure-ranks-dark", "v1;view=spy;search=random;ranks=true;rank=0;theme=dark"),
        ("layouts", "v1;view=layouts;pick=3,4;small=8x0,3,7/1//2,3,4,5,6,7/0/5/6/7"),
        (
            "layouts-kernels",
            "v1;view=layouts;walk=cuda/csr/thread-per-row;beside=cuda/ell/column-major;step=1;theme=dark",
        ),
        (
            "layouts-diagonals",
            "v1;view=layouts;small=8x0,1/0,1,2/1,2,3/2,3,4/3,4,5/4,5,6/5,6,7/6,7;walk=cuda/dia/thread-per-row;step=2",
        ),
        (
            "layouts-blocks",
            "v1;view=layouts;small=8x0,1,4,5/0,1,4,5/2,3/2,3/0,1,4,5/0,1,4,5/6,7/6,7;walk=cuda/bsr/warp;step=1;theme=dark",
        ),
        ("layouts-compact", "v1;view=layouts;walk=cuda/hll/compact;step=2"),
        ("predicted", "v1;view=predicted"),
        ("levels-grid", "v1;view=levels;levels-of=grid9x8;path=true"),
    ];
    // As on a projector.
    let lessons = [
        ("lesson-asks", "v1;view=layouts;theme=projector", "coalescing", 1, false),
        ("lesson-tells", "v1;view=layouts;theme=projector", "coalescing", 1, true),
        ("layouts-threads", "v1;view=layouts;theme=projector", "balance", 3, true),
        ("lesson-levels", "v1;view=layouts;theme=projector", "gauss-seidel", 2, false),
        ("lesson-colours", "v1;view=layouts;theme=projector", "gauss-seidel", 5, true),
        ("lesson-skyline", "v1;view=layouts;theme=projector", "skyline", 5, false),
        ("lesson-gather", "v1;view=layouts;theme=projector", "preconditioner", 3, false),
        ("lesson-powers", "v1;view=layouts;theme=projector", "preconditioner", 4, true),
    ];
    let lessons = lessons.map(|(name, state, id, page, told)| {
        let mut state = ViewState::from_fragment(state).unwrap();
        Lessons::default().get(id).unwrap().show(page, told, &mut state);
        state.layouts.guess = told.then_some(0);
        (name, state.to_fragment(), (1024.0, 768.0))
    });
    // The fastest kernels, with usual, much and little space, and the details of a run.
    let sizes = [
        ("best", "v1;view=best;as=auto", (1280.0, 800.0)),
        (
            "best-dark",
            "v1;view=best;as=list;theme=dark;over=vendor;by=lead;down=true",
            (1920.0, 1080.0),
        ),
        ("best-projector", "v1;view=best;as=auto;theme=projector", (1024.0, 768.0)),
        ("best-phone", "v1;view=best;as=auto", (390.0, 844.0)),
        ("best-phone-flat", "v1;view=best;as=auto", (844.0, 390.0)),
        ("best-kernels", "v1;view=best;as=heat", (1280.0, 800.0)),
        ("runs-details", "v1;view=runs;run=20", (1280.0, 800.0)),
        ("runs-phone", "v1;view=runs;run=20", (390.0, 844.0)),
        ("best-solves", "v1;view=best;as=auto;operation=solve", (1280.0, 800.0)),
        ("runs-solves", "v1;view=runs;operation=solve;run=57", (1680.0, 800.0)),
    ];
    let sizes = sizes.map(|(name, state, size)| (name, state.to_owned(), size));
    let views = views.map(|(name, state)| (name, state.to_owned(), SIZE));
    let views = views.into_iter().chain(sizes);
    let mut results = egui_kittest::SnapshotResults::new();
    for (name, state, size) in views.chain(lessons) {
        let mut harness = sized(adapter().unwrap(), &state, true, size);
        harness.snapshot_options(
            name,
            &SnapshotOptions::new()
                .output_path("snapshots")
                .threshold(NEARLY)
                .max_failed_pixels(20),
        );
        results.extend_harness(&mut harness);
    }
}

/// A generated matrix as the text of a file.
fn text_of(recipe: &str) -> Vec<u8> {
    let spec = GeneratorSpec::parse(recipe).unwrap();
    let a: Csr = generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap();
    let entries = (0..a.rows()).flat_map(|i| {
        let (col, val) = a.row(i);
        col.iter().zip(val).map(move |(j, value)| format!("{} {} {value}\n", i + 1, j + 1))
    });
    let size = format!("{} {} {}\n", a.rows(), a.cols(), a.nnz());
    let head = "%%MatrixMarket matrix coordinate real general\n".to_owned();
    (head + &size + &entries.collect::<String>()).into_bytes()
}

/// An arrow: a full last row and column.
fn arrow(n: usize) -> Vec<u8> {
    let mut text =
        format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n", 3 * n - 2);
    for i in 1..n {
        text += &format!("{i} {i} 4\n{i} {n} 1\n{n} {i} 1\n");
    }
    text += &format!("{n} {n} 4\n");
    text.into_bytes()
}

#[test]
fn levels_look_as_they_did() {
    if let Err(why) = adapter() {
        skip!(Need::Adapter, "{why}");
    }
    let stencil = text_of("stencil27?n=8");
    let tree = text_of("kmer?m=900&near=40");
    let wide = (1280.0, 800.0);
    let views = [
        ("levels", &stencil, "path=true", wide),
        ("levels-sweep", &stencil, "level=20;path=true;theme=dark", wide),
        ("levels-colours", &stencil, "level=3;colouring=true", wide),
        ("levels-tree", &tree, "path=true;theme=dark", (1024.0, 768.0)),
        ("levels-arrow", &arrow(300), "levels=backward;theme=projector", (1024.0, 768.0)),
        ("levels-close", &stencil, "at=60,60,20;path=true", (1024.0, 768.0)),
        ("levels-phone", &stencil, "level=20", (390.0, 844.0)),
    ];
    let mut results = egui_kittest::SnapshotResults::new();
    for (name, file, state, size) in views {
        let mut app = App::new();
        app.open_bytes("matrix.mtx", file.clone());
        let matrix = app.state().matrix.clone();
        let state = ViewState::from_fragment(&format!("v1;view=levels;{state}")).unwrap();
        app.set_state(ViewState { matrix, ..state });
        let mut harness = drawn(adapter().unwrap(), app, true, size);
        let options = SnapshotOptions::new().output_path("snapshots");
        harness.snapshot_options(name, &options.threshold(NEARLY).max_failed_pixels(20));
        results.extend_harness(&mut harness);
    }
}

#[test]
fn skylines_look_as_they_did() {
    if let Err(why) = adapter() {
        skip!(Need::Adapter, "{why}");
    }
    let wide = (1280.0, 800.0);
    let two = "points-of=points-anticorrelated?n=400&d=2";
    let views = [
        ("skyline", format!("{two};point=13"), wide),
        (
            "skyline-pairs",
            "points-of=points-anticorrelated?n=2000&d=8;dimensions=2,5;staircase=true;theme=dark"
                .into(),
            wide,
        ),
        (
            "skyline-steps",
            "points-of=points-independent?n=60&d=3;points-step=9;theme=projector".into(),
            (1024.0, 768.0),
        ),
        ("skyline-phone", "points-of=points-independent?n=300&d=4;point=3".into(), (390.0, 844.0)),
        ("skyline-many", "points-of=points-anticorrelated?n=10000&d=4".into(), wide),
    ];
    let mut results = egui_kittest::SnapshotResults::new();
    for (name, state, size) in views {
        let state = ViewState::from_fragment(&format!("v1;view=skyline;{state}")).unwrap();
        let mut harness = drawn(adapter().unwrap(), App::at(state), true, size);
        let options = SnapshotOptions::new().output_path("snapshots");
        harness.snapshot_options(name, &options.threshold(NEARLY).max_failed_pixels(20));
        results.extend_harness(&mut harness);
    }
}

#[test]
fn preconditioners_look_as_they_did() {
    if let Err(why) = adapter() {
        skip!(Need::Adapter, "{why}");
    }
    let wide = (1280.0, 800.0);
    let views = [
        ("preconditioner", "fsai-of=grid5x8;fsai-power=3", wide),
        ("preconditioner-row", "fsai-of=grid5x8;fsai-row=27", wide),
        ("preconditioner-merged", "fsai-of=grid9x8;fsai-merge=1.1;fsai-row=29;theme=dark", wide),
        (
            "preconditioner-filters",
            "fsai-of=weak5x10;fsai-delta=0.0004;fsai-power=2;fsai-tau=0.01;at=30,30,40",
            wide,
        ),
        (
            "preconditioner-cube",
            "fsai-of=grid7x9;fsai-power=3;fsai-row=500;theme=projector",
            (1024.0, 768.0),
        ),
        ("preconditioner-phone", "fsai-of=grid7x4;fsai-row=42", (390.0, 844.0)),
    ];
    let mut results = egui_kittest::SnapshotResults::new();
    for (name, state, size) in views {
        let link = format!("v1;view=preconditioner;{state}");
        let state = ViewState::from_fragment(&link).unwrap();
        let mut harness = drawn(adapter().unwrap(), App::at(state), true, size);
        let options = SnapshotOptions::new().output_path("snapshots");
        harness.snapshot_options(name, &options.threshold(NEARLY).max_failed_pixels(20));
        results.extend_harness(&mut harness);
    }
}

/// Every chart as it is saved.
#[test]
fn every_chart_looks_as_it_did() {
    let again = again();
    let (cpu, gpu, both, two) = (&[EXAMPLE][..], &[H200][..], &[H200, EXAMPLE], &[EXAMPLE, &again]);
    let (sweeps, solves, shared) = (&[SWEEPS][..], &[SOLVES][..], &[SHARED][..]);
    let charts: [(&str, &[&[u8]], &str); 35] = [
        ("kernels", gpu, "search=th"),
        ("kernels", two, "search=web;theme=dark"),
        ("format", cpu, "of=hll;theme=dark"),
        ("serial", two, ""),
        ("csr-hll", gpu, "search=e"),
        ("parallel", cpu, "log=false"),
        ("four", gpu, "search=a;theme=dark"),
        ("threads", two, ""),
        ("csr-hll-threads", cpu, ""),
        ("matrix-threads", cpu, "search=road"),
        ("speedup", cpu, ""),
        ("efficiency", cpu, "of=cpu/hll/guided"),
        ("blocks", gpu, ""),
        ("best-block", gpu, "theme=dark"),
        ("deviation", both, ""),
        ("roofline", cpu, ""),
        ("roofline", both, "theme=projector"),
        ("profile", cpu, "tau=2;theme=dark"),
        ("samples", cpu, "search=web"),
        ("bytes", cpu, ""),
        ("hot-cold", gpu, ""),
        ("expected", &[NAMED], ""),
        ("conversion", cpu, ""),
        ("break-even", gpu, "search=m;cold=true"),
        ("compare", two, ""),
        ("compare", two, "search=web;log=false"),
        ("convergence", sweeps, "operation=symgs;search=stencil"),
        ("convergence-time", sweeps, "operation=symgs;search=stencil;theme=dark"),
        ("parallelism", sweeps, "operation=symgs"),
        ("convergence", solves, "operation=solve;search=fem"),
        ("set-up-and-solve", solves, "operation=solve;search=fem;theme=dark"),
        ("spectrum", solves, "operation=solve;search=poisson"),
        ("rank-times", shared, ""),
        ("traffic", shared, "search=stencil;theme=dark"),
        ("strong-scaling", shared, ""),
    ];
    let view = VIEWS.iter().find(|view| view.id == "chart").unwrap();
    let mut results = egui_kittest::SnapshotResults::new();
    for (k, (chart, bundles, more)) in charts.into_iter().enumerate() {
        let first = charts.iter().position(|other| other.0 == chart) == Some(k);
        let name = format!("chart-{chart}{}", if first { "" } else { "-more" });
        let state = ViewState::from_fragment(&format!("v1;chart={chart};{more}")).unwrap();
        let mut model = Model::default();
        for bundle in bundles {
            model.open("example.zip", bundle).unwrap();
        }
        let png = png::render(&(view.svg.unwrap())(&model, &state), 0.75).unwrap();
        let picture = image::load_from_memory(&png).unwrap().to_rgba8();
        let options = SnapshotOptions::new().output_path("snapshots").max_failed_pixels(20);
        results.add(egui_kittest::try_image_snapshot_options(&picture, name, &options));
    }
}

/// A class sees every step of a lesson as a whole: pictures of all of them, for inspection.
#[test]
#[ignore = "draws hundreds of pictures into the folder that SPARSESCOPE_SCREENSHOTS names"]
fn every_step_of_every_lesson_as_a_picture() {
    let folder = std::env::var_os("SPARSESCOPE_SCREENSHOTS").map(std::path::PathBuf::from);
    let folder = folder.expect("SPARSESCOPE_SCREENSHOTS names no folder");
    let only = std::env::var("SPARSESCOPE_ONLY").unwrap_or_default();
    for (theme, width, height) in [
        ("projector", 1024.0, 768.0),
        ("projector", 1280.0, 800.0),
        ("light", 1024.0, 768.0),
        ("light", 1280.0, 800.0),
    ] {
        for lesson in Lessons::default().iter() {
            for (page, step) in (0..).zip(&lesson.steps) {
                for told in [false, true].into_iter().filter(|told| !told || step.hides()) {
                    let end = if told { "-told" } else { "" };
                    let name = format!("{theme}-{width}-{}-{page}{end}.png", lesson.id);
                    if !name.contains(&only) {
                        continue;
                    }
                    let mut state = ViewState::from_fragment(&format!("v1;theme={theme}")).unwrap();
                    lesson.show(page, told, &mut state);
                    let mut harness =
                        sized(adapter().unwrap(), &state.to_fragment(), true, (width, height));
                    harness.render().unwrap().save(folder.join(name)).unwrap();
                }
            }
        }
    }
}

#[test]
fn the_adapter_draws_the_cells_that_are_painted_without_it() {
    if let Err(why) = adapter() {
        skip!(Need::Adapter, "{why}");
    }
    for state in [
        "v1;view=spy;search=web",
        "v1;view=spy;search=circuit;scale=linear;map=viridis",
        "v1;view=spy;search=fem;scale=percentile;theme=dark",
        "v1;view=spy;search=grid-27pt;at=2000,2000,300",
        "v1;view=spy;search=road;stretch=true;map=ink;at=250000,250000,100000",
    ] {
        let (drawn, painted) = (picture(state, true).unwrap(), picture(state, false).unwrap());
        let apart = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| {
            a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 3)
        };
        let differing = drawn.pixels().zip(painted.pixels()).filter(|pair| apart(*pair)).count();
        // Where the edge of a cell is in the middle of a pixel, rounding decides.
        let few = drawn.pixels().len() / 500;
        assert!(differing <= few, "{state}: {differing} pixels of {}", drawn.pixels().len());
        let colors: std::collections::BTreeSet<_> = drawn.pixels().map(|pixel| pixel.0).collect();
        assert!(colors.len() > 10, "{state}: only {} colours", colors.len());
    }
}
