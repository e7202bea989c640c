//! `sparsescope export --svg/--png/--table`: what a view shows, without a window.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use sparsescope_core::io::{IoError, save};

use super::UsageError;
use super::args::ExportArgs;
use super::output::{is_stdout, overwrite, print};
use crate::figure::png;
use crate::model::Model;
use crate::shell::{PIXELS, csv_text};
use crate::state::ViewState;
use crate::views::{VIEWS, View, charts};

/// The files that are asked for.
pub(super) fn files(args: &ExportArgs) -> impl Iterator<Item = &PathBuf> {
    let table = args.table.iter().filter(|path| !is_stdout(path));
    args.svg.iter().chain(&args.png).chain(table)
}

/// Writes the figure and its table as far as they are asked for.
pub(super) fn write(args: &ExportArgs) -> anyhow::Result<()> {
    if files(args).next().is_none() && args.table.is_none() {
        return Ok(());
    }
    let (view, state) = wanted(args)?;
    let mut model = Model::default();
    for path in &args.bundles {
        let cannot = || format!("cannot open {}", path.display());
        let bytes = std::fs::read(path).with_context(cannot)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        model.open(&name, &bytes).with_context(cannot)?;
    }
    if args.svg.is_some() || args.png.is_some() {
        let draw = view.svg.ok_or_else(|| {
            UsageError(format!("the view {} is no figure; --table writes what it shows", view.id))
        })?;
        let svg = draw(&model, &state);
        if let Some(path) = &args.svg {
            keep(path, args.force, svg.as_bytes())?;
        }
        if let Some(path) = &args.png {
            let pixels = png::render(&svg, PIXELS)
                .map_err(|error| anyhow!("the image could not be made: {error}"))?;
            keep(path, args.force, &pixels)?;
        }
    }
    if let Some(path) = &args.table {
        let text = csv_text(&(view.table)(&model, &state)).context("cannot write the table")?;
        if is_stdout(path) {
            print(&String::from_utf8_lossy(&text))?;
        } else {
            keep(path, args.force, &text)?;
        }
    }
    Ok(())
}

/// The view and the state that the arguments name.
fn wanted(args: &ExportArgs) -> Result<(&'static View, ViewState), UsageError> {
    // All of a link may be given, of which the part after # counts.
    let fragment = args.state.rsplit('#').next().unwrap_or_default();
    let mut state = ViewState::from_fragment(fragment).ok_or_else(|| {
        UsageError(format!("--state {fragment} is not what a link holds: v1;key=value;…"))
    })?;
    if let Some(chart) = &args.chart {
        known("chart", chart, charts::ids())?;
        state.charts.chart.clone_from(chart);
        state.view = "chart".into();
    }
    if let Some(view) = &args.view {
        state.view.clone_from(view);
    }
    known("view", &state.view, VIEWS.iter().map(|view| view.id))?;
    let view = crate::views::current(&state);
    view.map(|view| (view, state)).ok_or_else(|| UsageError("there are no views".into()))
}

fn known<'a>(
    what: &str,
    word: &str,
    mut words: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), UsageError> {
    let all = words.clone().collect::<Vec<_>>().join(", ");
    match words.any(|known| known == word) {
        true => Ok(()),
        false => Err(UsageError(format!("there is no {what} {word}; there are {all}"))),
    }
}

fn keep(path: &Path, force: bool, bytes: &[u8]) -> Result<(), IoError> {
    save(path, overwrite(force), |out| {
        out.write_all(bytes).map_err(|error| IoError::System { doing: "write", error })
    })
    .map_err(|error| error.in_file(path))?;
    Ok(())
}
