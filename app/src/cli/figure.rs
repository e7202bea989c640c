//! `sparsescope export --svg/--png/--pdf/--table`: what a view shows, without a window.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sparsescope_core::bundle::Limits;
use sparsescope_figures::figure::{Print, for_file, pdf};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::{VIEWS, View, charts, current};
use sparsescope_figures::written::{self, state_of, table};

use super::bundle_args::{ExportArgs, STATE};
use super::outcome::UsageError;
use super::output::{check_free, is_stdout, keep, say_written};
use super::table::counted;

/// Size of type on paper if none is given, in points.
const TYPE_PT: f32 = 8.0;

/// The figures requested, with the extension of their files.
fn requested(args: &ExportArgs) -> impl Iterator<Item = (&PathBuf, &'static str)> {
    let all = [(&args.svg, "svg"), (&args.png, "png"), (&args.pdf, "pdf")];
    all.into_iter().filter_map(|(path, ending)| Some((path.as_ref()?, ending)))
}

/// The size on paper requested.
fn print(args: &ExportArgs) -> Option<Print> {
    let type_pt = args.type_pt.unwrap_or(TYPE_PT);
    args.width_mm.map(|width_mm| Print { width_mm, type_pt })
}

/// Whether an output of this format is a folder of figures: its path does not have the extension of the format.
pub(super) fn is_folder(path: &Path, form: &str) -> bool {
    ["SVG", "PNG", "PDF"].contains(&form) && !is_file(path, form)
}

fn is_file(path: &Path, ending: &str) -> bool {
    is_stdout(path)
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// Figures with their names: the requested one, or every chart with something to draw.
fn figures(
    args: &ExportArgs,
    model: &Model,
    view: &View,
    state: &ViewState,
) -> Result<Vec<(String, String)>, UsageError> {
    let operation = state.filter.operation.as_str();
    if let Some(chart) = &args.chart {
        known(&format!("{operation} chart"), chart, charts::ids_for(operation))?;
    }
    let print = print(args);
    if view.svg.is_none() {
        let sentence = format!("the view {} is not a figure; --table exports its data", view.id);
        return Err(UsageError(sentence));
    }
    let all = requested(args).any(|(path, ending)| !is_file(path, ending));
    if !all || args.chart.is_some() || args.view.is_some() {
        let name = args.chart.as_deref().unwrap_or(view.id);
        let svg = written::figure(view, model, state, print).unwrap_or_default();
        return Ok(vec![(name.to_owned(), svg)]);
    }
    let charts = charts::ids_for(operation).map(|id| {
        let mut state = state.clone();
        (state.view, state.charts.chart) = ("chart".into(), id.into());
        (id, state)
    });
    let predicted = ViewState { view: "predicted".into(), ..state.clone() };
    let drawn = charts.chain([("predicted", predicted)]).filter_map(|(name, state)| {
        let svg = drawing(current(&state)?, model, &state, print)?;
        Some((name.to_owned(), svg))
    });
    Ok(drawn.collect())
}

/// What a view draws; nothing if its table has no lines.
fn drawing(view: &View, model: &Model, state: &ViewState, print: Option<Print>) -> Option<String> {
    let has_lines = (view.table)(model, state).len() > 1;
    has_lines.then(|| written::figure(view, model, state, print)).flatten()
}

/// What one option requested, drawn but not yet written.
pub(super) struct Drawn<'a> {
    /// The file or folder requested.
    path: &'a Path,
    is_folder: bool,
    files: Vec<(PathBuf, Vec<u8>)>,
    what: String,
}

impl<'a> Drawn<'a> {
    fn file(path: &'a Path, content: Vec<u8>, what: String) -> Self {
        Self { path, is_folder: false, files: vec![(path.to_owned(), content)], what }
    }

    /// Writes the file, or the folder with its files.
    pub(super) fn write(&self, force: bool, quiet: bool) -> anyhow::Result<()> {
        if self.is_folder {
            let cannot = || format!("cannot create {}", self.path.display());
            std::fs::create_dir_all(self.path).with_context(cannot)?;
        }
        for (file, content) in &self.files {
            keep(file, force, content)?;
        }
        say_written(self.path, quiet, &self.what);
        Ok(())
    }
}

/// Figures for the file, or for one file each in the folder.
fn placed<'a>(
    path: &'a Path,
    ending: &str,
    figures: &[(String, String)],
    force: bool,
    of: impl Fn(&str) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<Drawn<'a>> {
    if is_file(path, ending) {
        let svg = figures.first().map_or("", |(_, svg)| svg);
        return Ok(Drawn::file(path, of(svg)?, "1 figure".to_owned()));
    }
    let mut files = Vec::new();
    for (name, svg) in figures {
        let file = path.join(format!("{name}.{ending}"));
        if path.exists() {
            check_free(&file, force)?;
        }
        files.push((file, of(svg)?));
    }
    let what = counted(figures.len(), "figure", "figures");
    Ok(Drawn { path, is_folder: true, files, what })
}

/// Draws the figures and the table requested, and writes nothing: what is wrong with the arguments is found here.
pub(super) fn drawn(args: &ExportArgs) -> anyhow::Result<Vec<Drawn<'_>>> {
    let has_figures = requested(args).next().is_some();
    if args.width_mm.is_some() && !has_figures {
        return Err(UsageError("--width-mm is for --svg, --png and --pdf".into()).into());
    }
    let mut drawn = Vec::new();
    if !has_figures && args.table.is_none() {
        if args.view.is_some() || args.chart.is_some() || args.state != STATE {
            let sentence = "--state, --view and --chart are for --svg, --png, --pdf and --table";
            return Err(UsageError(sentence.to_owned()).into());
        }
        return Ok(drawn);
    }
    let binary = requested(args).find(|(path, ending)| is_stdout(path) && *ending != "svg");
    if let Some((path, ending)) = binary {
        let path = path.display();
        let sentence = format!(
            "--{ending} cannot go to standard output: expected a file or a folder, found {path}"
        );
        return Err(UsageError(sentence).into());
    }
    let (view, mut state) = wanted(args)?;
    let model = opened(&args.bundles)?;
    model.settle_run(&mut state);
    // Without an operation in the state, show the one that most runs in the bundles have.
    if !args.state.contains(";operation=")
        && let Some(main) = model.main_operation()
    {
        state.filter.operation = main.to_owned();
    }
    if has_figures {
        let figures = figures(args, &model, view, &state)?;
        let print = print(args);
        for (path, ending) in requested(args) {
            drawn.push(placed(path, ending, &figures, args.force, |svg| match ending {
                "png" => png(svg, print),
                "pdf" => Ok(pdf::file(svg, print)),
                _ => Ok(for_file(svg, print).into_bytes()),
            })?);
        }
    }
    if let Some(path) = &args.table {
        let text = table(view, &model, &state).context("cannot write the table")?;
        drawn.push(Drawn::file(path, text, format!("the table of the view {}", view.id)));
    }
    Ok(drawn)
}

/// The figure as PNG.
#[cfg(feature = "png")]
fn png(svg: &str, print: Option<Print>) -> anyhow::Result<Vec<u8>> {
    sparsescope_figures::figure::png::file(svg, print)
        .map_err(|error| anyhow::anyhow!("cannot render the image: {error}"))
}

/// This build cannot draw pixels.
#[cfg(not(feature = "png"))]
fn png(_: &str, _: Option<Print>) -> anyhow::Result<Vec<u8>> {
    anyhow::bail!(
        "this build cannot write PNG: use --svg or --pdf, run `cargo window export …` from the sources, \
         or build with `--features png`"
    )
}

/// Opens all of these bundles. A file larger than any bundle may be is read only as far as needed to show
/// that.
pub(super) fn opened(bundles: &[PathBuf]) -> anyhow::Result<Model> {
    let mut model = Model::default();
    let most = Limits::default().zip_bytes.saturating_add(1);
    for path in bundles {
        let cannot = || format!("cannot open {}", path.display());
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
        read.with_context(cannot)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        model.open(&name, &bytes).with_context(cannot)?;
    }
    Ok(model)
}

/// The view and the state from the arguments.
fn wanted(args: &ExportArgs) -> Result<(&'static View, ViewState), UsageError> {
    let mut state = state_of(&args.state).map_err(|why| UsageError(format!("--state {why}")))?;
    if let Some(chart) = &args.chart {
        known("chart", chart, charts::ids())?;
        state.charts.chart.clone_from(chart);
        state.view = "chart".into();
    }
    if let Some(view) = &args.view {
        state.view.clone_from(view);
    }
    known("view", &state.view, VIEWS.iter().map(|view| view.id))?;
    let view = current(&state);
    view.map(|view| (view, state)).ok_or_else(|| UsageError("there are no views".into()))
}

fn known<'a>(
    what: &str,
    word: &str,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), UsageError> {
    let words: Vec<&str> = words.collect();
    match words.contains(&word) {
        true => Ok(()),
        false => {
            let all = words.join(", ");
            Err(UsageError(format!("there is no {what} {word}; expected one of {all}")))
        }
    }
}
