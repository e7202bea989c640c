//! `sparsescope export --report`: bundles as one page without scripts, for those who measured on a machine
//! without a display. It is HTML and well-formed XML, and references no external files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use ecolor::Color32;
use emath::vec2;
use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::kernel::reference;
use sparsescope_core::order;
use sparsescope_core::record::{
    Environment, MatrixRecord, Operation, Source, Subject, SubjectRecord, Verdict, and_vectors,
};
use sparsescope_figures::figure::{ColorImage, Figure, Provenance, Shape, area};
use sparsescope_figures::model::{
    Model, OpenBundle, RunOf, STAND_IN, bytes, display_name, metric_title, subject_name,
};
use sparsescope_figures::picture::Picture;
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::views::{Board, charts};

use super::figure::opened;
use super::markup::Html;
use super::page::{Cell, STYLE, table};
use super::table::{count, counted, seconds, three_digits};

/// Cells along the longer edge of a matrix's picture, and its size on the page.
const CELLS: usize = 160;
const PICTURE: f32 = 120.0;

/// The report of these bundles.
pub(super) fn of(bundles: &[PathBuf]) -> anyhow::Result<String> {
    Ok(page(&opened(bundles)?))
}

fn page(model: &Model) -> String {
    let all = Filter::everything();
    let runs = model.runs(&all);
    let (matrices, others) = (model.matrices(&all), model.others(&all));
    let labels: Vec<&str> = model.bundles().iter().map(OpenBundle::label).collect();
    let title = labels.join(", ");
    let devices: BTreeSet<&str> = runs.iter().map(|run| run.run.device.as_str()).collect();
    let devices: Vec<&str> = devices.into_iter().collect();
    let counts = [
        (matrices.len(), counted(matrices.len(), "matrix", "matrices")),
        (others.len(), counted(others.len(), "other subject", "other subjects")),
    ];
    let counts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let measured_on = format!(
        "{} on {}, measured on {}.",
        counted(runs.len(), "run", "runs"),
        counts.join(" and "),
        devices.join(" and "),
    );
    let drawn = all_charts(model);
    let mut best: HashMap<String, Vec<RunOf<'_>>> = HashMap::new();
    for run in model.best(&all).into_iter().filter(|run| run.run.hot) {
        best.entry(run.key()).or_default().push(run);
    }
    let mut subjects: Vec<(&str, Subject<'_>)> =
        matrices.iter().map(|matrix| (matrix.key, matrix.record.into())).collect();
    subjects.extend(&others);
    let about_each = |html: &mut Html, numbers: std::ops::Range<usize>| {
        for (number, (key, subject)) in subjects.iter().enumerate() {
            if numbers.contains(&number) {
                about(
                    html,
                    model,
                    number,
                    key,
                    *subject,
                    best.get(*key).map_or(&[][..], Vec::as_slice),
                );
            }
        }
    };
    type Chapter<'a> = (&'static str, &'static str, bool, &'a dyn Fn(&mut Html));
    let chapters: [Chapter<'_>; 5] = [
        ("fastest", "Fastest kernels", true, &|html| {
            fastest(html, model, &subjects);
            outcome(html, &runs);
        }),
        ("charts", "Charts", !drawn.is_empty(), &|html| {
            drawn.iter().for_each(|svg| figure(html, svg));
        }),
        ("matrices", "Matrices", !matrices.is_empty(), &|html| about_each(html, 0..matrices.len())),
        ("subjects", "Other subjects", !others.is_empty(), &|html| {
            about_each(html, matrices.len()..subjects.len());
        }),
        ("measured", "How this was measured", true, &|html| {
            model.bundles().iter().for_each(|open| measured(html, open));
        }),
    ];
    Html::page(&format!("Sparsescope: {title}"), STYLE, |html| {
        html.of_text("h1", &[], &title);
        html.of_text("p", &[], &measured_on);
        html.element("ul", &[], |html| {
            for (id, name, ..) in chapters.iter().filter(|(_, _, there, _)| *there) {
                let to = format!("#{id}");
                html.element("li", &[], |html| html.of_text("a", &[("href", to.as_str())], name));
            }
        });
        for (id, name, _, write) in chapters.iter().filter(|(_, _, there, _)| *there) {
            html.of_text("h2", &[("id", *id)], name);
            write(html);
        }
    })
}

/// The fastest kernel on each subject, over all bundles, by operation: the table at the top of the view.
fn fastest(html: &mut Html, model: &Model, subjects: &[(&str, Subject<'_>)]) {
    let operations = model.operations();
    let places: HashMap<&str, usize> =
        subjects.iter().enumerate().rev().map(|(number, (key, _))| (*key, number)).collect();
    let mut any = false;
    for operation in &operations {
        let heading = (operations.len() > 1).then_some(*operation);
        any |= fastest_of(html, model, (subjects, &places), operation, heading);
    }
    if !any {
        html.of_text("p", &[], "No run has a time that can be ranked.");
    }
}

/// The same for one operation, under this heading; returns whether there is any.
fn fastest_of(
    html: &mut Html,
    model: &Model,
    (subjects, places): (&[(&str, Subject<'_>)], &HashMap<&str, usize>),
    operation: &str,
    heading: Option<&str>,
) -> bool {
    let boards = model.products(operation).into_iter().map(|filter| {
        let over = |baseline: &str| {
            let mut state = ViewState { filter: filter.clone(), ..ViewState::default() };
            state.best.over = baseline.to_owned();
            Board::of(model, &state)
        };
        let (board, vendor) = (over("serial"), over("vendor"));
        let vendor = Some(vendor).filter(|vendor| vendor.versus != board.versus);
        (and_vectors(filter.vectors), board, vendor)
    });
    let boards: Vec<(String, Board, Option<Board>)> =
        boards.filter(|(_, board, _)| !board.rows.is_empty()).collect();
    let Some((_, any, _)) = boards.first() else { return false };
    let vendor = boards.iter().find_map(|(.., vendor)| vendor.as_ref());
    let times = |value: Option<f64>| {
        let text = value.map(|value| format!("{}×", three_digits(value)));
        Cell::Number(text.unwrap_or_else(|| "–".into()))
    };
    let mut lines = Vec::new();
    let rows = boards.iter().flat_map(|(vectors, board, vendor)| {
        let rows = board.rows.iter().enumerate();
        rows.map(move |(place, row)| {
            let against = vendor.as_ref().and_then(|vendor| vendor.rows.get(place)?.over);
            (vectors, row, against)
        })
    });
    let devices = boards.iter().any(|(_, board, _)| board.devices);
    for (vectors, row, against) in rows {
        let number = places.get(row.key.as_str()).copied().unwrap_or_default();
        let mut setting = row.setting.clone();
        if let Some(run) = model.run(row.run).filter(|run| run.run.precision != "f64") {
            setting = format!("{}, {setting}", run.run.precision);
        }
        if devices {
            setting += &format!(", {}", row.device);
        }
        let mut line = vec![
            Cell::Subject(number, row.name.clone() + vectors),
            Cell::Number(count(row.size)),
            Cell::Text(row.kernel.clone()),
            Cell::Number(three_digits(row.rate)),
            Cell::Number(row.pct_copy.map_or("–".into(), |share| format!("{share:.0}"))),
            times(row.lead),
            times(row.over),
        ];
        line.extend(vendor.map(|_| times(against)));
        line.extend([Cell::Text(setting), Cell::Long(row.why.clone())]);
        lines.push(line);
    }
    let keys = boards.iter().flat_map(|(_, board, _)| &board.rows);
    let keys: HashSet<&str> = keys.map(|row| row.key.as_str()).collect();
    let first = subjects.iter().find(|(key, _)| keys.contains(key));
    let on_matrices = matches!(first, Some((_, Subject::Matrix(_))));
    let (what, size) = if on_matrices { ("matrix", "nonzeros") } else { ("subject", "size") };
    let mut header =
        vec![what, size, "fastest kernel", &any.rate, "% of copy", "lead", &any.versus];
    header.extend(vendor.map(|vendor| vendor.versus.as_str()));
    header.extend(["setting", "why"]);
    let known = Operation::of(operation);
    let reference = known.map_or("the reference", |operation| reference(operation).id);
    let vendors = match vendor.is_some() {
        true => ". Vs vendor: speed-up over the best vendor library kernel",
        false => "",
    };
    let note = format!(
        "Checked runs with warm caches, in f64 unless marked f32, each kernel at its best setting, over all \
         bundles. Lead: speed-up over the runner-up. Vs serial: speed-up over {reference} on the same {what}{vendors}. \
         % of copy: minimal bytes per second, relative to the measured copy bandwidth."
    );
    if let Some(heading) = heading {
        html.of_text("h3", &[], heading);
    }
    table(html, &header, &lines);
    html.of_text("p", &[("class", "weak")], &note);
    boards.iter().for_each(|(_, board, _)| pairs(html, board, places));
    true
}

/// Who is fastest for A, for its transpose and for both, on the matrices that were multiplied by both.
fn pairs(html: &mut Html, board: &Board, places: &HashMap<&str, usize>) {
    let mut lines: Vec<Vec<Cell>> = Vec::new();
    let mut is_chosen = false;
    for row in board.best_of_pairs() {
        let number = places.get(row.key).copied().unwrap_or_default();
        let mut line = vec![Cell::Subject(number, row.name.to_owned())];
        for answer in row.answers {
            line.push(Cell::Text(answer.map_or("–".into(), |(kernels, numbers)| {
                is_chosen |= kernels.iter().any(|kernel| kernel.contains('*'));
                let kernels = kernels.iter().map(|kernel| board.short_title(kernel));
                format!("{}: {numbers}", kernels.collect::<Vec<_>>().join(" + "))
            })));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return;
    }
    let header = ["matrix", "fastest for A", "for A'", "for both", "for both from one copy of A"];
    table(html, &header, &lines);
    let chosen = if is_chosen { " *: chosen by an automatic kernel." } else { "" };
    let note = format!(
        "Median times of y = A·x, of y = A'·x, and of both on one device, with the memory of the arrays that the \
         kernels read.{chosen}"
    );
    html.of_text("p", &[("class", "weak")], &note);
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

/// The results of the checks, and why some runs have no time.
fn outcome(html: &mut Html, runs: &[RunOf<'_>]) {
    let of = |verdict: Verdict| runs.iter().filter(|run| run.run.check.verdict == verdict).count();
    let (passed, failed) = (of(Verdict::Pass), of(Verdict::Fail));
    let undecided = runs.iter().filter(|run| run.run.check.undecided).count();
    let limited = runs.iter().filter(|run| run.run.check.limited_by_rounding).count();
    let imported = runs.iter().filter(|run| run.run.check.by.is_some()).count();
    let mut text = format!(
        "{passed} of {} passed the check, {failed} failed, {} were skipped.",
        counted(runs.len(), "run", "runs"),
        runs.len() - passed - failed - undecided
    );
    if undecided > 0 {
        text += &format!(" {undecided} are undecided: rounding alone could explain any result.");
    }
    if limited > 0 {
        text += &format!(" {limited} of those that passed are limited by rounding and not ranked.");
    }
    if runs.iter().any(|run| run.subject.source() == Source::StandIn) {
        text += &format!(" {STAND_IN}");
    }
    if imported > 0 {
        text += &format!(
            " {imported} are imported: another program measured them, and Sparsescope did not check their results."
        );
    }
    html.of_text("p", &[], &text);
    let mut reasons: BTreeMap<(&str, &str), (usize, BTreeSet<String>)> = BTreeMap::new();
    let has_reason =
        |run: &&RunOf<'_>| run.run.check.badness() > 0 || run.run.check.reason.is_some();
    for run in runs.iter().filter(has_reason) {
        let reason = run.run.reason().unwrap_or("no reason given");
        let (number, of) = reasons.entry((run.run.kernel.as_str(), reason)).or_default();
        *number += 1;
        of.insert(run.name());
    }
    if reasons.is_empty() {
        return;
    }
    html.of_text("p", &[], "Not ranked:");
    html.element("ul", &[], |html| {
        for ((kernel, reason), (number, of)) in &reasons {
            let names: Vec<&str> = of.iter().map(String::as_str).collect();
            let runs = counted(*number, "run", "runs");
            html.of_text(
                "li",
                &[],
                &format!("{kernel} on {}: {reason} ({runs})", names.join(", ")),
            );
        }
    });
}

/// Every chart that has data, by operation.
fn all_charts(model: &Model) -> Vec<String> {
    let mut known = BTreeSet::new();
    let all = model
        .operations()
        .into_iter()
        .flat_map(|operation| charts::ids_for(operation).map(move |chart| (operation, chart)));
    let draw = |(operation, chart): (&str, &str)| {
        let mut state = ViewState { view: "chart".into(), ..ViewState::default() };
        state.filter.operation = operation.into();
        state.charts.chart = chart.into();
        charts::drawn(model, &state).filter(|svg| known.insert(svg.clone()))
    };
    all.filter_map(draw).collect()
}

/// A chart with its caption.
fn figure(html: &mut Html, svg: &str) {
    html.element("figure", &[("class", "chart")], |html| {
        html.element("figcaption", &[], |html| html.title_of(svg));
        html.element("div", &[("class", "wide")], |html| html.svg(svg));
    });
}

/// A subject: the picture of a matrix, its properties, and the best run of every kernel.
fn about(
    html: &mut Html,
    model: &Model,
    number: usize,
    key: &str,
    subject: Subject<'_>,
    best: &[RunOf<'_>],
) {
    let (picture, facts) = match subject {
        Subject::Matrix(record) => {
            let picture = model.picture(key).ok();
            (picture.and_then(|picture| thumbnail(&picture, record)), facts(record))
        }
        Subject::Other(record) => (None, other_facts(record)),
    };
    let id = format!("subject-{number}");
    html.element("div", &[("class", "matrix"), ("id", id.as_str())], |html| {
        html.of_text("h3", &[], &subject_name(subject));
        html.element("div", &[("class", "about")], |html| {
            html.svg(&picture.unwrap_or_default());
            html.element("p", &[], |html| {
                for (number, fact) in facts.iter().enumerate() {
                    if number > 0 {
                        html.empty("br", &[]);
                    }
                    html.text(fact);
                }
            });
        });
        for operation in model.operations() {
            let of = |run: &&RunOf<'_>| run.run.operation == operation;
            let of: Vec<RunOf<'_>> = best.iter().filter(of).copied().collect();
            for k in of.iter().map(|run| run.run.vectors()).collect::<BTreeSet<_>>() {
                let has_k = |run: &&RunOf<'_>| run.run.vectors() == k;
                kernels(html, model, of.iter().filter(has_k).copied().collect());
            }
        }
    });
}

/// The best run of every kernel of an operation on a subject, with one number of vectors.
fn kernels(html: &mut Html, model: &Model, mut runs: Vec<RunOf<'_>>) {
    let several = model.bundles().len() > 1;
    let goodness = |run: &RunOf<'_>| run.goodness().unwrap_or(f64::NEG_INFINITY);
    order::sort_by(&mut runs, |a, b| goodness(b).total_cmp(&goodness(a)));
    let Some(first) = runs.first() else { return };
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
    let kernels = counted(lines.len(), "kernel", "kernels") + &and_vectors(first.run.vectors());
    html.element("details", &[], |html| {
        html.of_text("summary", &[], &format!("{kernels}, each at its best setting"));
        table(html, &header, &lines);
    });
}

/// The properties of a subject that is not a matrix, one per line.
fn other_facts(record: &SubjectRecord) -> Vec<String> {
    let sizes: Vec<String> =
        record.sizes.iter().map(|(name, size)| format!("{} {name}", count(*size))).collect();
    let made = match &record.generator {
        Some(generator) => format!("generated by {generator}"),
        None => format!("{} {}", record.source.as_str(), record.kind),
    };
    vec![sizes.join(", "), made, format!("SHA-256 {:.16}", record.sha256)]
}

/// The properties of a matrix, one per line.
fn facts(record: &MatrixRecord) -> Vec<String> {
    let of = &record.statistics;
    let mut lines = vec![format!(
        "{} rows, {} columns, {} nonzeros",
        count(of.rows),
        count(of.cols),
        count(of.nnz)
    )];
    if of.row.max > 0 {
        lines.push(format!(
            "{} to {} nonzeros per row, {} on average",
            count(of.row.min),
            count(of.row.max),
            three_digits(of.row.mean)
        ));
    }
    lines.push(match (&record.generator, record.source) {
        (Some(generator), Source::StandIn) => {
            format!("a stand-in for the real matrix, generated by {generator}")
        }
        (Some(generator), _) => format!("generated by {generator}"),
        (None, source) => format!("{} matrix", source.as_str()),
    });
    lines.push(if is_known_by_name(record) {
        "known by name and size only".into()
    } else {
        format!("SHA-256 {:.16}", record.sha256)
    });
    lines
}

/// A small picture of the structure: darker means more nonzeros, on a logarithmic scale.
fn thumbnail(picture: &Picture, record: &MatrixRecord) -> Option<String> {
    let fits = |level: &&sparsescope_core::spy::Level| {
        level.rows().max(level.cols()) <= CELLS && level.rows().min(level.cols()) > 0
    };
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

/// A bundle: the origin of its numbers, and the machines.
fn measured(html: &mut Html, open: &OpenBundle) {
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
    html.of_text("h3", &[], open.label());
    html.element("table", &[], |html| {
        for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
            html.element("tr", &[], |html| {
                html.of_text("th", &[], name);
                html.of_text("td", &[("class", "long")], value);
            });
        }
    });
}

fn machine_lines(machine: &Environment) -> Vec<(&str, String)> {
    let cpu = &machine.cpu;
    let mut lines = vec![("CPU", cpu.model.clone())];
    if cpu.logical > 0 {
        let cores =
            cpu.physical.map(|cores| format!(", {}", counted(cores as usize, "core", "cores")));
        let logical = counted(cpu.logical as usize, "thread", "threads");
        lines.push(("threads", logical + &cores.unwrap_or_default()));
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
            lines.push(("GPU copy bandwidth", format!("{} GB/s", three_digits(copy / 1e9))));
        }
        let details = gpu.details.iter().map(|(name, value)| format!("{name} {value}"));
        lines.push(("GPU details", details.collect::<Vec<_>>().join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sparsescope_core::bundle::{Bundle, Limits};
    use sparsescope_figures::model::solved;

    use super::*;

    #[test]
    fn the_transpose_has_a_table_where_it_was_measured_too() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/cpu.zip");
        let mut bundle = Bundle::open(&path, &Limits::default()).unwrap();
        let mut transposed = bundle.runs.clone();
        transposed.retain(|run| run.kernel == "cpu/csr/serial");
        for run in &mut transposed {
            run.params.insert("op".into(), "t".into());
        }
        let shown = |bundle: &Bundle| {
            let mut model = Model::default();
            model.show_unfinished("cpu.zip", bundle.clone());
            let board = Board::of(&model, &ViewState::default());
            Html::of(|html| pairs(html, &board, &HashMap::new()))
        };
        assert_eq!(shown(&bundle), "");
        bundle.runs.extend(transposed);
        let html = shown(&bundle);
        assert_eq!(html.matches("<tr>").count(), 1 + bundle.matrices.len(), "{html}");
        assert!(html.contains(">csr/serial: "), "{html}");
    }

    #[test]
    fn solves_that_do_not_rank_are_told_and_are_the_fastest_nowhere() {
        let model = solved::model(solved::planted());
        let all = Filter::everything();
        let matrices = model.matrices(&all);
        let subjects: Vec<(&str, Subject<'_>)> =
            matrices.iter().map(|matrix| (matrix.key, matrix.record.into())).collect();
        let fastest = Html::of(|html| fastest(html, &model, &subjects));
        assert!(
            fastest.contains(solved::SERIAL) && !fastest.contains(solved::THREADS),
            "{fastest}"
        );
        assert!(!fastest.contains("vendor/cusparse"), "{fastest}");
        let told = Html::of(|html| outcome(html, &model.runs(&all)));
        assert!(told.contains("1 of those that passed are limited by rounding"), "{told}");
        assert!(told.contains("cpu/pcg/threads on m: the relative residual"), "{told}");
    }
}
