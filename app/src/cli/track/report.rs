//! `sparsescope track report`: the history of every run as a page without scripts.

use sparsescope_core::bundle::{Bundle, Timeline};
use sparsescope_core::order;
use sparsescope_core::record::Environment;
use sparsescope_core::samples::Levels;
use sparsescope_figures::model::bytes;

use super::chart::chart;
use super::history::{dates, divided, history, time};
use super::levels::Row;
use crate::cli::markup::Html;
use crate::cli::outcome::Outcome;
use crate::cli::output::{check_form, check_free, keep, say_written};
use crate::cli::page::{Cell, STYLE, cpu_name, table};
use crate::cli::table::{counted, three_digits};
use crate::cli::track_args::TrackReportArgs;

/// The style of the drawings. They are white, and a narrow page has them between the cells of their rows.
const DRAWINGS: &str = "
td.long { min-width: 13rem; }
@media screen and (max-width: 48rem) {
  table:has(svg), table:has(svg) :is(tbody, tr, td) { display: block; }
  table:has(svg) tr { border-bottom: 1px solid var(--line); padding: 0.4rem 0; }
  table:has(svg) tr:first-child { display: none; }
  table:has(svg) td { border: 0; white-space: normal; }
  table:has(svg) td:nth-child(3)::before { content: 'newest: '; }
  td svg { max-width: 100%; height: auto; }
}
@media screen and (prefers-color-scheme: dark) { td svg { filter: invert(0.9) hue-rotate(180deg); } }
";

pub(super) fn run(args: &TrackReportArgs, quiet: bool) -> anyhow::Result<Outcome> {
    check_free(&args.output, args.force)?;
    check_form(&args.output, &["HTML"])?;
    let bundles = history(&args.folder)?;
    if bundles.is_empty() {
        anyhow::bail!("{} has no bundles, which end in .zip", args.folder.display());
    }
    let name = args.folder.file_name().unwrap_or(args.folder.as_os_str()).to_string_lossy();
    let html = page(&name, &bundles, args.anchor.anchor.as_deref());
    keep(&args.output, args.force, html.as_bytes())?;
    let bundles = counted(bundles.len(), "bundle", "bundles");
    say_written(&args.output, quiet, &format!("{bundles}, a static page"));
    Ok(Outcome::Success)
}

/// A line of the table.
fn cells(row: &Row<'_, '_>, dates: &[String]) -> Vec<Cell> {
    let Row { timeline, levels } = row;
    let newest = timeline.points.last().map(|point| point.location.value());
    let newest = newest.map(|value| time(value, timeline.is_relative));
    let change = match &levels[..] {
        [.., before, after] => {
            let date = row.last_change().and_then(|number| dates.get(number));
            let ratio = after.location.over(&before.location).value();
            let change = match ratio {
                ratio if ratio > 2.0 => format!("{} times as long", three_digits(ratio)),
                ratio if ratio > 1.0 => format!("{:.1} % slower", (ratio - 1.0) * 100.0),
                ratio => format!("{:.1} % faster", (1.0 - ratio) * 100.0),
            };
            format!("{change} since {}", date.map_or("", String::as_str))
        }
        _ => String::new(),
    };
    vec![
        Cell::Long(timeline.key.words(timeline.subject.name())),
        Cell::Svg(chart(timeline, levels, dates)),
        Cell::Text(newest.unwrap_or_default()),
        Cell::Long(change),
    ]
}

fn page(name: &str, bundles: &[Bundle], anchor: Option<&str>) -> String {
    let timelines = Timeline::all(bundles, anchor);
    let mut finder = Levels::default();
    let mut rows: Vec<Row<'_, '_>> =
        timelines.iter().map(|timeline| Row::of(timeline, &mut finder)).collect();
    // The newest changes first; the others in the order of their runs.
    order::sort_by(&mut rows, |a, b| b.last_change().cmp(&a.last_change()));
    let mut machines: Vec<&Environment> = Vec::new();
    for timeline in &timelines {
        if !machines.iter().any(|known| std::ptr::eq(*known, timeline.machine)) {
            machines.push(timeline.machine);
        }
    }
    let changed = rows.iter().filter(|row| row.last_change().is_some()).count();
    let dates = dates(bundles);
    let about = format!(
        "{} in {}{}; {} changed.",
        counted(rows.len(), "run", "runs"),
        counted(bundles.len(), "bundle", "bundles"),
        match &dates[..] {
            [first, .., last] => format!(", from {first} to {last}"),
            [only] => format!(" of {only}"),
            [] => String::new(),
        },
        if changed == 0 { "none".to_owned() } else { changed.to_string() },
    );
    let note = format!(
        "A point is a bundle: the mean of the logarithms of its times without a tenth at each end, with its 95 % \
         confidence interval. The scale is logarithmic. A band is a level, with the confidence interval of its \
         mean. A vertical line is a change of level: in 1 % of histories without a change, one is found. {}",
        divided(anchor)
    );
    let (title, style) = (format!("Sparsescope: history of {name}"), STYLE.to_owned() + DRAWINGS);
    Html::page(&title, &style, |html| {
        html.of_text("h1", &[], &format!("History of {name}"));
        html.of_text("p", &[], &about);
        html.of_text("p", &[("class", "weak")], &note);
        for machine in machines {
            html.of_text("h2", &[], &machine_name(machine));
            let of_machine = rows.iter().filter(|row| std::ptr::eq(row.timeline.machine, machine));
            let lines: Vec<Vec<Cell>> = of_machine.map(|row| cells(row, &dates)).collect();
            table(html, &["run", "history", "newest", "last change"], &lines);
        }
        html.of_text("h2", &[], "Bundles");
        let line = |bundle: &Bundle| {
            let producer = &bundle.producer;
            let program = format!("{} {}", producer.name, producer.version);
            let label = bundle.label.clone().unwrap_or_default();
            let runs = counted(bundle.runs.len(), "run", "runs");
            vec![
                Cell::Text(bundle.created.clone()),
                Cell::Long(label),
                Cell::Text(program),
                Cell::Text(runs),
            ]
        };
        let lines: Vec<Vec<Cell>> = bundles.iter().rev().map(line).collect();
        table(html, &["measured", "label", "program", "runs"], &lines);
    })
}

fn machine_name(machine: &Environment) -> String {
    let memory = match machine.memory_bytes {
        0 => String::new(),
        size => format!("{} of memory", bytes(size)),
    };
    let gpus = machine.gpus.iter().map(|gpu| match gpu.details.get("driver") {
        Some(driver) => format!("{} (driver {driver})", gpu.model),
        None => gpu.model.clone(),
    });
    let parts = [cpu_name(&machine.cpu), memory].into_iter().chain(gpus);
    let name = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    if name.is_empty() { "unknown machine".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use sparsescope_core::bundle::Limits;

    use super::*;

    #[test]
    fn thirty_noisy_bundles_are_a_page_of_all_their_runs_within_seconds() {
        const RUNS: usize = 100;
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/cpu.zip");
        let mut bundle = Bundle::open(&example, &Limits::default()).unwrap();
        bundle.runs.retain(|run| run.ranks() && !run.samples.is_empty());
        bundle.runs.truncate(RUNS);
        let mut state = 1_u64;
        // Up to 10 % slower.
        let mut noise = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            1.0 + 0.1 * (state >> 32) as f64 / f64::from(u32::MAX)
        };
        let mut bundles = Vec::new();
        for day in 1..=30 {
            let mut bundle = bundle.clone();
            bundle.created = format!("2026-03-{day:02}T12:00:00Z");
            for run in &mut bundle.runs {
                let level = noise();
                run.samples.iter_mut().for_each(|sample| *sample *= level * noise());
            }
            bundles.push(bundle);
        }
        let start = Instant::now();
        let html = page("main", &bundles, None);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert_eq!(html.matches("<svg").count(), RUNS);
        let about = "100 runs in 30 bundles, from 2026-03-01 to 2026-03-30; ";
        assert!(html.contains(about), "{html}");
    }
}
