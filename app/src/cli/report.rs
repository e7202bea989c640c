//! `sparsescope export --report`: bundles as one page without script, for those who have measured
//! where there is no screen. It is HTML and well-formed XML, and refers to nothing outside itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Color32, ColorImage, vec2};
use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::kernel::reference;
use sparsescope_core::record::{
    Environment, MatrixRecord, Operation, Source, Subject, SubjectRecord, Verdict,
};

use super::figure::{drawing, opened};
use super::output::keep;
use super::table::{count, counted, seconds, three_digits};
use crate::figure::{Figure, Provenance, Shape, area, escape};
use crate::model::{Model, OpenBundle, RunOf, bytes, display_name, metric_title, subject_name};
use crate::picture::Picture;
use crate::state::{Filter, ViewState};
use crate::views::{Board, VIEWS, charts};

/// Cells along the longer edge of a matrix's picture, and how large it is drawn.
const CELLS: usize = 160;
const PICTURE: f32 = 120.0;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #d0d0d0; --weak: #5f5f5f; --link: #005a96; }
body { font: 15px/1.45 Helvetica, Arial, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.2rem; } a { color: var(--link); }
.weak { color: var(--weak); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92em; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.55rem 0.2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } td.long { white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
.number { text-align: right; }
figure { margin: 1.2rem 0; } figcaption { margin-bottom: 0.4rem; }
.chart svg { display: block; width: 100%; min-width: 44rem; height: auto; }
.matrix { border-top: 1px solid var(--line); padding-top: 0.8rem; margin-top: 1.2rem; }
.matrix h3 { margin: 0 0 0.4rem; }
.matrix .about { display: flex; flex-wrap: wrap; gap: 1rem; }
.matrix svg { background: #ffffff; border: 1px solid var(--line); }
@media (prefers-color-scheme: dark) {
  :root { --line: #4a4a4a; --weak: #a8a8a8; --link: #78bef5; }
  body { background: #181818; color: #ebebeb; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 9pt; color: #000000; background: #ffffff; }
  h2, h3 { break-after: avoid; } figure, .matrix, tr { break-inside: avoid; }
  .chart svg { min-width: 0; } .wide { overflow: visible; }
}
";

/// Writes the report; its size in bytes.
pub(super) fn write(bundles: &[PathBuf], path: &Path, force: bool) -> anyhow::Result<usize> {
    let model = opened(bundles)?;
    let html = page(&model);
    keep(path, force, html.as_bytes())?;
    Ok(html.len())
}

fn page(model: &Model) -> String {
    let all = Filter::everything();
    let runs = model.runs(&all);
    let (matrices, others) = (model.matrices(&all), model.others(&all));
    let labels: Vec<&str> = model.bundles().iter().map(OpenBundle::label).collect();
    let title = escape(&labels.join(", "));
    let devices: BTreeSet<&str> = runs.iter().map(|run| run.run.device.as_str()).collect();
    let devices: Vec<&str> = devices.into_iter().collect();
    let counts = [
        (matrices.len(), counted(matrices.len(), "matrix", "matrices")),
        (others.len(), counted(others.len(), "other subject", "other subjects")),
    ];
    let counts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let mut html = format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>Sparsescope: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n<p>{} on {}, measured on {}.</p>\n",
        counted(runs.len(), "run", "runs"),
        counts.join(" and "),
        escape(&devices.join(" and ")),
    );
    let drawn = all_charts(model);
    html += "<ul>\n";
    let chapters = [
        ("fastest", "Fastest kernels", true),
        ("charts", "Charts", !drawn.is_empty()),
        ("matrices", "Matrices", !matrices.is_empty()),
        ("subjects", "Other subjects", !others.is_empty()),
        ("measured", "How this was measured", true),
    ];
    for (id, name, _) in chapters.iter().filter(|(.., there)| *there) {
        put(&mut html, format_args!("<li><a href=\"#{id}\">{name}</a></li>\n"));
    }
    html += "</ul>\n";
    let best: Vec<RunOf<'_>> = model.best(&all).into_iter().filter(|run| run.run.hot).collect();
    let mut chapter = |place: usize, content: String| {
        if let Some((id, name, true)) = chapters.get(place) {
            put(&mut html, format_args!("<h2 id=\"{id}\">{name}</h2>\n{content}"));
        }
    };
    let mut subjects: Vec<(&str, Subject<'_>)> =
        matrices.iter().map(|matrix| (matrix.key, matrix.record.into())).collect();
    subjects.extend(&others);
    chapter(0, fastest(model, &subjects) + &outcome(&runs));
    chapter(1, drawn);
    let about = |(number, (key, subject)): (usize, &(&str, Subject<'_>))| {
        about(model, number, key, *subject, &best)
    };
    let mut numbered = subjects.iter().enumerate();
    chapter(2, numbered.by_ref().take(matrices.len()).map(about).collect());
    chapter(3, numbered.map(about).collect());
    chapter(4, model.bundles().iter().map(measured).collect());
    html + "</body>\n</html>\n"
}

/// Writing into a `String` does not fail, so the result is not looked at.
fn put(html: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = html.write_fmt(text);
}

/// What stands in a cell: numbers at the right end.
enum Cell {
    Text(String),
    Number(String),
    /// A sentence, in as many lines as it takes.
    Long(String),
    /// Markup of our own making.
    Made(String),
}

fn table(header: &[&str], lines: &[Vec<Cell>]) -> String {
    let mut html = String::from("<div class=\"wide\"><table>\n<tr>");
    let first = lines.first();
    for (column, name) in header.iter().enumerate() {
        let is_number = first
            .and_then(|line| line.get(column))
            .is_some_and(|cell| matches!(cell, Cell::Number(_)));
        let class = if is_number { " class=\"number\"" } else { "" };
        put(&mut html, format_args!("<th{class}>{name}</th>"));
    }
    html += "</tr>\n";
    for line in lines {
        html += "<tr>";
        for cell in line {
            match cell {
                Cell::Text(text) => put(&mut html, format_args!("<td>{}</td>", escape(text))),
                Cell::Number(text) => {
                    put(&mut html, format_args!("<td class=\"number\">{text}</td>"));
                }
                Cell::Long(text) => {
                    put(&mut html, format_args!("<td class=\"long\">{}</td>", escape(text)));
                }
                Cell::Made(made) => put(&mut html, format_args!("<td>{made}</td>")),
            }
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

/// Who wins on each subject, over all bundles, operation by operation: the table that the view
/// begins with.
fn fastest(model: &Model, subjects: &[(&str, Subject<'_>)]) -> String {
    let operations = model.operations();
    let mut html = String::new();
    for operation in &operations {
        let table = fastest_of(model, subjects, operation);
        if operations.len() > 1 && !table.is_empty() {
            put(&mut html, format_args!("<h3>{}</h3>\n", escape(operation)));
        }
        html += &table;
    }
    if html.is_empty() { "<p>No run has a time.</p>\n".into() } else { html }
}

/// The same of one operation.
fn fastest_of(model: &Model, subjects: &[(&str, Subject<'_>)], operation: &str) -> String {
    let over = |baseline: &str| {
        let mut state = ViewState { filter: Filter::all_of(operation), ..ViewState::default() };
        state.best.over = baseline.to_owned();
        Board::of(model, &state)
    };
    let board = over("");
    let vendor = over("vendor");
    let has_vendor = vendor.versus != board.versus;
    if board.rows.is_empty() {
        return String::new();
    }
    let times = |value: Option<f64>| {
        let text = value.map(|value| format!("{}×", three_digits(value)));
        Cell::Number(text.unwrap_or_else(|| "–".into()))
    };
    let mut lines = Vec::new();
    for (row, against) in board.rows.iter().zip(&vendor.rows) {
        let name = escape(&row.name);
        let number = subjects.iter().position(|(key, _)| *key == row.key).unwrap_or_default();
        let mut setting = row.setting.clone();
        if let Some(run) = model.run(row.run).filter(|run| run.run.precision != "f64") {
            setting = format!("{}, {setting}", run.run.precision);
        }
        if board.devices {
            setting += &format!(", {}", row.device);
        }
        let mut line = vec![
            Cell::Made(format!("<a href=\"#subject-{number}\">{name}</a>")),
            Cell::Number(count(row.size)),
            Cell::Text(row.kernel.clone()),
            Cell::Number(three_digits(row.rate)),
            Cell::Number(row.pct_copy.map_or("–".into(), |share| format!("{share:.0}"))),
            times(row.lead),
            times(row.over),
        ];
        line.extend(has_vendor.then(|| times(against.over)));
        line.extend([Cell::Text(setting), Cell::Long(row.why.clone())]);
        lines.push(line);
    }
    let first = subjects.iter().find(|(key, _)| board.rows.iter().any(|row| row.key == *key));
    let on_matrices = matches!(first, Some((_, Subject::Matrix(_))));
    let (what, size) = if on_matrices { ("matrix", "nnz") } else { ("subject", "size") };
    let rate = escape(&board.rate);
    let mut header = vec![what, size, "fastest kernel", &rate, "% of copy", "lead", &board.versus];
    header.extend(has_vendor.then_some(vendor.versus.as_str()));
    header.extend(["setting", "why"]);
    let known = Operation::of(operation);
    let reference = known.map_or("the reference", |operation| reference(operation).id);
    table(&header, &lines)
        + &format!(
            "<p class=\"weak\">Right results with warm caches, in f64, or in f32 (said so) of kernels that have \
             no other, each kernel at its best setting, over all bundles. Lead is over the second kernel, vs serial over {} on the \
             same {what}{}. % of copy relates the bytes that must move at least to the measured \
             copy bandwidth.</p>\n",
            escape(reference),
            if has_vendor { ", vs vendor over the best kernel of a vendor's library" } else { "" },
        )
}

/// Titles of [`figures`].
fn titles(rate: &str) -> [&str; 7] {
    ["setting", "median", rate, "GB/s", "% of copy", "speed-up", "check"]
}

fn figures(run: &RunOf<'_>) -> Vec<Cell> {
    let dash = || "–".to_owned();
    let of = run.run.figures.as_ref();
    let number = |text: Option<String>| Cell::Number(text.unwrap_or_else(dash));
    vec![
        number(Some(run.setting())),
        number(of.map(|of| seconds(of.median_s))),
        number(run.rate().map(three_digits)),
        number(run.gbs().map(three_digits)),
        number(run.pct_copy().map(|share| format!("{share:.0}"))),
        number(of.and_then(|of| of.speedup).map(|speedup| format!("{}×", three_digits(speedup)))),
        Cell::Text(run.verdict().into()),
    ]
}

/// How the checks ended, and why runs have no time.
fn outcome(runs: &[RunOf<'_>]) -> String {
    let of = |verdict: Verdict| runs.iter().filter(|run| run.run.check.verdict == verdict).count();
    let (passed, failed) = (of(Verdict::Pass), of(Verdict::Fail));
    let imported = runs.iter().filter(|run| run.run.check.by.is_some()).count();
    let mut html = format!(
        "<p>{passed} of {} passed their check, {failed} failed, {} were not run.",
        counted(runs.len(), "run", "runs"),
        runs.len() - passed - failed
    );
    if runs.iter().any(|run| run.subject.source() == Source::StandIn) {
        html += " A stand-in is a generated matrix in place of a real one.";
    }
    if imported > 0 {
        put(
            &mut html,
            format_args!(
                " {imported} of them are imported: another program measured them and vouches for \
                 their results, which Sparsescope did not check."
            ),
        );
    }
    html += "</p>\n";
    let mut reasons: BTreeMap<(&str, &str), (usize, BTreeSet<String>)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.run.check.verdict != Verdict::Pass) {
        let reason = run.run.check.reason.as_deref().unwrap_or("no reason was recorded");
        let (number, of) = reasons.entry((run.run.kernel.as_str(), reason)).or_default();
        *number += 1;
        of.insert(run.name());
    }
    if reasons.is_empty() {
        return html;
    }
    html += "<p>Without a time:</p>\n<ul>\n";
    for ((kernel, reason), (number, of)) in &reasons {
        let names: Vec<&str> = of.iter().map(String::as_str).collect();
        let line = format!("{kernel} on {}: {reason}", names.join(", "));
        let runs = counted(*number, "run", "runs");
        put(&mut html, format_args!("<li>{} ({runs})</li>\n", escape(&line)));
    }
    html + "</ul>\n"
}

/// Every chart that has something to show, each with its sentence, operation by operation.
fn all_charts(model: &Model) -> String {
    let mut html = String::new();
    let Some(view) = VIEWS.iter().find(|view| view.id == "chart") else { return html };
    let mut drawn = BTreeSet::new();
    let all = model
        .operations()
        .into_iter()
        .flat_map(|operation| charts::ids_for(operation).map(move |chart| (operation, chart)));
    for (operation, chart) in all {
        let mut state = ViewState { view: view.id.into(), ..ViewState::default() };
        state.filter.operation = operation.into();
        state.charts.chart = chart.into();
        let Some(svg) = drawing(view, model, &state) else { continue };
        if drawn.insert(svg.clone()) {
            // The title is the drawing's sentence, escaped already.
            let title = svg.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
            let sentence = title.map_or("", |(sentence, _)| sentence);
            put(
                &mut html,
                format_args!(
                    "<figure class=\"chart\"><figcaption>{sentence}</figcaption>\
                     <div class=\"wide\">{svg}</div></figure>\n"
                ),
            );
        }
    }
    html
}

/// A subject: the picture of a matrix, what is known of it, and every kernel at its best.
fn about(
    model: &Model,
    number: usize,
    key: &str,
    subject: Subject<'_>,
    best: &[RunOf<'_>],
) -> String {
    let (picture, facts) = match subject {
        Subject::Matrix(record) => {
            let picture = model.picture(key).ok();
            (picture.and_then(|picture| thumbnail(&picture, record)), facts(record))
        }
        Subject::Other(record) => (None, other_facts(record)),
    };
    let mut html = format!(
        "<div class=\"matrix\" id=\"subject-{number}\">\n<h3>{}</h3>\n<div class=\"about\">{}\n<p>{}</p></div>\n",
        escape(&subject_name(subject)),
        picture.unwrap_or_default(),
        facts.iter().map(|fact| escape(fact)).collect::<Vec<_>>().join("<br/>\n"),
    );
    for operation in model.operations() {
        let of = |run: &&RunOf<'_>| run.run.operation == operation && run.key() == key;
        html += &kernels(model, best.iter().filter(of).copied().collect());
    }
    html + "</div>\n"
}

/// Every kernel of an operation on a subject at its best.
fn kernels(model: &Model, mut runs: Vec<RunOf<'_>>) -> String {
    let several = model.bundles().len() > 1;
    let goodness = |run: &RunOf<'_>| run.goodness().unwrap_or(f64::NEG_INFINITY);
    runs.sort_by(|a, b| goodness(b).total_cmp(&goodness(a)));
    let Some(first) = runs.first() else { return String::new() };
    let rate = first.metric().map_or("rate".into(), metric_title);
    let mut header = vec!["kernel"];
    header.extend(titles(&rate));
    if several {
        header.push("bundle");
    }
    let line = |run: &RunOf<'_>| {
        let mut line = vec![Cell::Text(run.run.kernel_as_run())];
        line.extend(figures(run));
        if several {
            line.push(Cell::Text(run.bundle.label().into()));
        }
        line
    };
    let lines: Vec<Vec<Cell>> = runs.iter().map(line).collect();
    let kernels = counted(lines.len(), "kernel", "kernels");
    let list = table(&header, &lines);
    format!("<details><summary>{kernels}, each at its best</summary>\n{list}</details>\n")
}

/// What is known of a subject that is no matrix, a line a fact.
fn other_facts(record: &SubjectRecord) -> Vec<String> {
    let sizes: Vec<String> =
        record.sizes.iter().map(|(name, size)| format!("{} {name}", count(*size))).collect();
    let made = match &record.generator {
        Some(generator) => format!("made by {generator}"),
        None => format!("{} {}", record.source.as_str(), record.kind),
    };
    vec![sizes.join(", "), made, format!("SHA-256 {:.16}", record.sha256)]
}

/// What is known of a matrix, a line a fact.
fn facts(record: &MatrixRecord) -> Vec<String> {
    let of = &record.statistics;
    let mut lines = vec![format!(
        "{} rows, {} columns, {} entries",
        count(of.rows),
        count(of.cols),
        count(of.nnz)
    )];
    if of.row.max > 0 {
        lines.push(format!(
            "{} to {} entries a row, {} on average",
            count(of.row.min),
            count(of.row.max),
            three_digits(of.row.mean)
        ));
    }
    lines.push(match (&record.generator, record.source) {
        (Some(generator), Source::StandIn) => {
            format!("a stand-in for the real matrix, made by {generator}")
        }
        (Some(generator), _) => format!("made by {generator}"),
        (None, source) => format!("{} matrix", source.as_str()),
    });
    lines.push(if is_known_by_name(record) {
        "known by name and size only".into()
    } else {
        format!("SHA-256 {:.16}", record.sha256)
    });
    lines
}

/// A small picture of the structure: the darker, the more entries, logarithmically.
fn thumbnail(picture: &Picture, record: &MatrixRecord) -> Option<String> {
    let fits = |level: &&sparsescope_core::spy::Level| level.rows().max(level.cols()) <= CELLS;
    let level = picture.pyramid.levels().iter().find(fits)?;
    let (rows, cols, most) = (level.rows(), level.cols(), (level.max() as f32).ln_1p());
    let mut pixels = ColorImage::filled([cols, rows], Color32::WHITE);
    for (row, col, entries) in level.cells() {
        let share = if most > 0.0 { (entries as f32).ln_1p() / most } else { 1.0 };
        if let Some(pixel) = pixels.pixels.get_mut(row * cols + col) {
            *pixel = Color32::from_gray((150.0 * (1.0 - share)) as u8);
        }
    }
    let longest = rows.max(cols).max(1) as f32;
    let edge = |cells: usize| (PICTURE * cells as f32 / longest).max(4.0);
    let (width, height) = (edge(cols), edge(rows));
    let mut figure = Figure::new(vec2(width, height), Color32::WHITE);
    let rect = area(0.0, 0.0, width, height);
    figure.shapes.push(Shape::Image { rect, pixels: Arc::new(pixels) });
    let title = format!("Structure of {}", display_name(record));
    Some(figure.to_svg(&title, &Provenance::default()))
}

/// A bundle: where its numbers come from, and the machines.
fn measured(open: &OpenBundle) -> String {
    let bundle = &open.bundle;
    let producer = &bundle.producer;
    let mut lines = vec![
        ("file", open.file.clone()),
        ("SHA-256", open.sha256.clone()),
        ("measured by", format!("{} {}", producer.name, producer.version)),
    ];
    if let Some(revision) = &producer.revision {
        lines.push(("revision", revision.clone()));
    }
    if !bundle.created.is_empty() {
        lines.push(("measured", bundle.created.clone()));
    }
    if !bundle.complete {
        lines.push(("complete", "no, it was interrupted".into()));
    }
    for machine in &bundle.environments {
        lines.extend(machine_lines(machine));
    }
    let mut html = format!("<h3>{}</h3>\n<table>\n", escape(open.label()));
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        put(
            &mut html,
            format_args!(
                "<tr><th>{}</th><td class=\"long\">{}</td></tr>\n",
                escape(name),
                escape(value)
            ),
        );
    }
    html + "</table>\n"
}

fn machine_lines(machine: &Environment) -> Vec<(&str, String)> {
    let cpu = &machine.cpu;
    let mut lines = vec![("processor", cpu.model.clone())];
    if cpu.logical > 0 {
        let cores =
            cpu.physical.map(|cores| format!(", {}", counted(cores as usize, "core", "cores")));
        let logical = counted(cpu.logical as usize, "logical processor", "logical processors");
        lines.push(("processors", logical + &cores.unwrap_or_default()));
    }
    if machine.memory_bytes > 0 {
        lines.push(("memory", bytes(machine.memory_bytes)));
    }
    lines.push(("system", machine.os.clone()));
    let build = &machine.build;
    lines.push((
        "compiler",
        [&build.rustc, &build.target, &build.profile, &build.flags]
            .into_iter()
            .filter(|word| !word.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(", "),
    ));
    let copies = machine.bandwidth.iter().map(|with| {
        let threads = counted(with.threads as usize, "thread", "threads");
        format!("{} GB/s with {threads}", three_digits(with.copy / 1e9))
    });
    lines.push(("copy bandwidth", copies.collect::<Vec<_>>().join(", ")));
    for gpu in &machine.gpus {
        lines.push(("GPU", gpu.model.clone()));
        if let Some(copy) = gpu.copy {
            lines.push(("its copy bandwidth", format!("{} GB/s", three_digits(copy / 1e9))));
        }
        let details = gpu.details.iter().map(|(name, value)| format!("{name} {value}"));
        lines.push(("its details", details.collect::<Vec<_>>().join(", ")));
    }
    lines
}
