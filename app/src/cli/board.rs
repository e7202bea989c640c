//! `sparsescope board`: the results of a folder of bundles as one page without scripts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Metric, Operation, Run, and_vectors};
use sparsescope_figures::model::{STAND_IN, metric_title, subject_name};

use super::bundle_args::BoardArgs;
use super::compare::open;
use super::folder::bundles_in;
use super::markup::Html;
use super::outcome::{Outcome, sentence};
use super::output::{check_free, keep, say_written};
use super::page::{STYLE, cpu_name};
use super::table::{capitalised, counted, three_digits};

/// The page in the folder.
const PAGE: &str = "index.html";
/// The viewer in the folder, if it is there.
const VIEWER: &str = "viewer/index.html";

pub(super) fn run(args: &BoardArgs, quiet: bool) -> anyhow::Result<Outcome> {
    let page = args.folder.join(PAGE);
    check_free(&page, args.force)?;
    let (mut files, mut refused) = (Vec::new(), 0);
    for path in bundles_in(&args.folder)? {
        match accepted(&path) {
            Ok(bundle) => files.push((file_name(&path), bundle)),
            Err(why) => {
                refused += 1;
                eprintln!("error: left out: {why}");
            }
        }
    }
    if files.is_empty() {
        anyhow::bail!("{} has no bundle for the page", args.folder.display());
    }
    let has_viewer = args.folder.join(VIEWER).is_file();
    let board = Board::of(&files, has_viewer);
    keep(&page, args.force, board.page().as_bytes())?;
    let bundles = counted(files.len(), "bundle", "bundles");
    say_written(&page, quiet, &format!("{bundles}, a static page"));
    Ok(if refused == 0 { Outcome::Success } else { Outcome::CheckFailed })
}

/// Opens a bundle, which checks its checksums and that its figures follow from its samples; refuses one in which a run
/// failed its check.
fn accepted(path: &Path) -> Result<Bundle, String> {
    let bundle = open(path).map_err(|error| sentence(&error))?;
    match bundle.runs.iter().find(|run| run.has_failed()) {
        Some(run) => {
            let failed = if run.failure().is_some() { "failed" } else { "failed its check" };
            let why = run.reason().map_or(String::new(), |why| format!(": {why}"));
            Err(format!("{}: {} {failed}{why}", path.display(), run.kernel))
        }
        None => Ok(bundle),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The best run of a kernel on a matrix and a device.
struct Best<'a> {
    metric: &'a Metric,
    run: &'a Run,
    file: &'a str,
}

/// An operation, and the unit of its results.
type Rated<'a> = (&'a str, String);

/// The SHA-256 of a subject, and the number of columns of X.
type Product<'a> = (&'a str, Option<u32>);

/// The name of a subject, what is computed with it, and a kernel with its variant.
type Line<'a> = (String, Product<'a>, String);

/// A row as numbers: its matrix, its kernel, the devices with results.
type Row = (usize, usize, BTreeSet<usize>);

/// Matrices, kernels and devices.
type Part = [BTreeSet<usize>; 3];

/// The best runs by line and device.
type Lines<'a> = BTreeMap<Line<'a>, BTreeMap<String, Best<'a>>>;

/// What the page shows.
struct Board<'a> {
    tables: BTreeMap<Rated<'a>, Lines<'a>>,
    devices: Vec<String>,
    /// The subjects and kernels in order, with their numbers.
    subjects: BTreeMap<String, usize>,
    kernels: BTreeMap<String, usize>,
    files: usize,
    /// Whether numbers open their bundles in the viewer.
    has_viewer: bool,
}

impl<'a> Board<'a> {
    fn of(files: &'a [(String, Bundle)], has_viewer: bool) -> Self {
        let mut tables: BTreeMap<Rated<'a>, Lines<'a>> = BTreeMap::new();
        for (file, bundle) in files {
            let subjects = bundle.subjects_by_id();
            for run in bundle.runs.iter().filter(|run| run.ranks() && run.hot) {
                let (Some(&subject), Some(metric)) =
                    (subjects.get(run.matrix.as_str()), &run.metric)
                else {
                    continue;
                };
                let lines =
                    tables.entry((run.operation.as_str(), metric_title(metric))).or_default();
                let product = (subject.sha256(), run.vectors());
                let line = (subject_name(subject), product, run.kernel_and_precision());
                let cells = lines.entry(line).or_default();
                let device = device(bundle, run);
                let best = cells.get(&device);
                if best.is_none_or(|best| metric.gain_over(best.metric.value) > 1.0) {
                    cells.insert(device, Best { metric, run, file });
                }
            }
        }
        let lines = || tables.values().flatten();
        let devices: BTreeSet<String> =
            lines().flat_map(|(_, cells)| cells.keys().cloned()).collect();
        let subjects = numbered(lines().map(|((name, ..), _)| name.clone()).collect());
        let kernels = numbered(lines().map(|((.., kernel), _)| kernel.clone()).collect());
        let devices = devices.into_iter().collect();
        Self { tables, devices, subjects, kernels, files: files.len(), has_viewer }
    }

    fn page(&self) -> String {
        let groups: [(&str, char, Vec<&str>); 3] = [
            ("Matrices", 'm', self.subjects.keys().map(String::as_str).collect()),
            ("Kernels", 'k', self.kernels.keys().map(String::as_str).collect()),
            ("Devices", 'd', self.devices.iter().map(String::as_str).collect()),
        ];
        // If a box of a group is ticked, the others hide what has their names as classes.
        let rules = groups.iter().flat_map(|(_, letter, names)| {
            (0..names.len()).map(move |k| {
                let name = format!("{letter}{k}");
                let is_hidden = format!("body:has(#{letter} :checked):has(#{name}:not(:checked))");
                format!("{is_hidden} .{name} {{ display: none; }}\n")
            })
        });
        let style = format!("{STYLE}label {{ display: block; }} .best {{ font-weight: bold; }}\n");
        let style = style + &rules.collect::<String>() + &self.hidden();
        let stand_ins = self.subjects.keys().any(|name| name.ends_with(" (stand-in)"));
        let about = format!(
            "{}: the best setting of each kernel on each matrix and device, with warm caches. All results were \
             checked; * marks those that another program measured. {} Tick boxes to select matrices, kernels and \
             devices.",
            counted(self.files, "bundle", "bundles"),
            match self.has_viewer {
                true => "A number opens its bundle in the viewer.",
                false => "A number is a link to its bundle.",
            },
        );
        Html::page("Sparsescope: results", &style, |html| {
            html.of_text("h1", &[], "Results");
            html.of_text("p", &[], &about);
            if stand_ins {
                html.of_text("p", &[], STAND_IN);
            }
            for (title, letter, names) in &groups {
                html.element("details", &[("id", &*letter.to_string())], |html| {
                    html.of_text("summary", &[], &format!("{title} ({})", names.len()));
                    for (k, name) in names.iter().enumerate() {
                        let id = format!("{letter}{k}");
                        html.element("label", &[], |html| {
                            html.empty("input", &[("type", "checkbox"), ("id", &*id)]);
                            html.text(" ");
                            html.text(name);
                        });
                    }
                });
            }
            for (place, ((operation, unit), lines)) in self.tables.iter().enumerate() {
                let word = match Operation::of(operation) {
                    Some(known) => known.word(),
                    None => *operation,
                };
                html.element("section", &[("id", &*format!("t{place}"))], |html| {
                    html.of_text("h2", &[], &capitalised(word));
                    html.of_text("p", &[("class", "weak")], unit);
                    self.table(html, lines);
                });
            }
        })
    }

    /// Rules that hide rows, columns and tables of which the ticked boxes show no result.
    fn hidden(&self) -> String {
        let mut rules = String::new();
        let rows = self.tables.values().flat_map(BTreeMap::values);
        let rows: BTreeSet<_> = rows.map(|cells| self.devices_of(cells)).collect();
        for devices in rows.iter().filter(|devices| devices.len() < self.devices.len()) {
            let class = row_class(devices);
            rules += &format!("body:not({}) .{class} {{ display: none; }}\n", shown('d', devices));
        }
        let every: BTreeSet<usize> = (0..self.devices.len()).collect();
        for (place, lines) in self.tables.values().enumerate() {
            let rows = self.numbers(lines);
            if let Some(page) = self.page_without(&rows) {
                rules += &format!("{page} #t{place} {{ display: none; }}\n");
            }
            let devices: BTreeSet<usize> =
                rows.iter().flat_map(|(.., devices)| devices.iter().copied()).collect();
            // The only column of a table is as empty as the table.
            for k in devices.iter().filter(|_| devices.len() > 1) {
                let with_result = rows.iter().filter(|(.., devices)| devices.contains(k));
                let with_result: Vec<Row> = with_result
                    .map(|(matrix, kernel, _)| (*matrix, *kernel, every.clone()))
                    .collect();
                if let Some(page) = self.page_without(&with_result) {
                    rules += &format!("{page} #t{place} .d{k} {{ display: none; }}\n");
                }
            }
        }
        rules
    }

    /// The selector of a page whose ticked boxes show none of these rows; nothing if some are always shown.
    fn page_without(&self, rows: &[Row]) -> Option<String> {
        let all = [self.subjects.len(), self.kernels.len(), self.devices.len()];
        let parts = parts(rows).into_iter().map(|part| {
            let groups = ['m', 'k', 'd'].into_iter().zip(&part).zip(all);
            let lacking = groups.filter(|((_, has), all)| has.len() < *all);
            lacking.map(|((letter, has), _)| shown(letter, has)).collect::<String>()
        });
        let parts: Vec<String> = parts.collect();
        // A part with everything always shows results.
        let can_hide = parts.iter().all(|part| !part.is_empty());
        can_hide.then(|| format!("body:not({})", parts.join(", ")))
    }

    /// The matrix, the kernel and the devices of each row.
    fn numbers(&self, lines: &Lines<'_>) -> Vec<Row> {
        let rows = lines.iter().map(|((subject, _, kernel), cells)| {
            let (matrix, kernel) = (number(&self.subjects, subject), number(&self.kernels, kernel));
            (matrix, kernel, self.devices_of(cells))
        });
        rows.collect()
    }

    fn devices_of(&self, cells: &BTreeMap<String, Best<'_>>) -> BTreeSet<usize> {
        cells.keys().filter_map(|device| self.devices.binary_search(device).ok()).collect()
    }

    /// A row per matrix, number of vectors and kernel, a column per device with a result.
    fn table(&self, html: &mut Html, lines: &Lines<'_>) {
        let has_result = |(_, device): &(usize, &String)| {
            lines.values().any(|cells| cells.contains_key(*device))
        };
        let devices: Vec<(usize, &String)> =
            self.devices.iter().enumerate().filter(has_result).collect();
        // The best result of each variant of a product on each device.
        let mut leaders: HashMap<(&str, Product<'_>, String, &str), &Metric> = HashMap::new();
        for ((subject, product, _), cells) in lines {
            for (device, Best { metric, run, .. }) in cells {
                let leader =
                    leaders.entry((subject.as_str(), *product, run.variant(), device.as_str()));
                let leader = leader.or_insert(*metric);
                if metric.gain_over(leader.value) > 1.0 {
                    *leader = *metric;
                }
            }
        }
        html.element("div", &[("class", "wide")], |html| {
            html.element("table", &[], |html| {
                html.element("tr", &[], |html| {
                    html.of_text("th", &[], "matrix");
                    html.of_text("th", &[], "kernel");
                    for (k, device) in &devices {
                        html.of_text("th", &[("class", &*format!("number d{k}"))], device);
                    }
                });
                for ((subject, product, kernel), cells) in lines {
                    let class = format!(
                        "m{} k{} {}",
                        number(&self.subjects, subject),
                        number(&self.kernels, kernel),
                        row_class(&self.devices_of(cells)),
                    );
                    html.element("tr", &[("class", &*class)], |html| {
                        html.of_text("td", &[], &(subject.clone() + &and_vectors(product.1)));
                        html.of_text("td", &[], kernel);
                        for (k, device) in &devices {
                            let best = cells.get(*device);
                            let is_best = best.is_some_and(|Best { metric, run, .. }| {
                                let leader = leaders.get(&(
                                    subject.as_str(),
                                    *product,
                                    run.variant(),
                                    device.as_str(),
                                ));
                                leader.is_some_and(|leader| leader.gain_over(metric.value) <= 1.0)
                            });
                            self.cell(html, *k, best, is_best);
                        }
                    });
                }
            });
        });
    }

    fn cell(&self, html: &mut Html, column: usize, best: Option<&Best<'_>>, is_best: bool) {
        let mark = if is_best { " best" } else { "" };
        let class = format!("number d{column}{mark}");
        html.element("td", &[("class", &*class)], |html| {
            let Some(Best { metric, run, file }) = best else { return };
            let imported = if run.check.by.is_some() { "*" } else { "" };
            let text = format!("{}{imported}", three_digits(metric.value));
            let to = match self.has_viewer {
                true => format!("{VIEWER}?bundle={}", link(&format!("../{}", link(file)))),
                false => link(file),
            };
            html.of_text("a", &[("href", &*to)], &text);
        });
    }
}

/// The device of a run; a CPU with its number of cores, because a model's name may stand for several.
fn device(bundle: &Bundle, run: &Run) -> String {
    match bundle.environment(&run.environment) {
        Some(machine) if machine.cpu.model == run.device => cpu_name(&machine.cpu),
        _ => run.device.clone(),
    }
}

/// Names in order, with their numbers.
fn numbered(names: BTreeSet<String>) -> BTreeMap<String, usize> {
    names.into_iter().zip(0..).collect()
}

fn number(of: &BTreeMap<String, usize>, name: &str) -> usize {
    of.get(name).copied().unwrap_or_default()
}

/// A table as few parts: each matrix of a part has a row for each kernel of the part, with results of exactly its
/// devices.
fn parts(rows: &[Row]) -> Vec<Part> {
    let mut kernels: BTreeMap<(usize, &BTreeSet<usize>), BTreeSet<usize>> = BTreeMap::new();
    for (matrix, kernel, devices) in rows {
        kernels.entry((*matrix, devices)).or_default().insert(*kernel);
    }
    let mut matrices: BTreeMap<(BTreeSet<usize>, &BTreeSet<usize>), BTreeSet<usize>> =
        BTreeMap::new();
    for ((matrix, devices), kernels) in kernels {
        matrices.entry((kernels, devices)).or_default().insert(matrix);
    }
    let parts = matrices.into_iter();
    parts.map(|((kernels, devices), matrices)| [matrices, kernels, devices.clone()]).collect()
}

/// The selector of a page on which one of these boxes of a group is ticked, or none of the group.
fn shown(letter: char, boxes: &BTreeSet<usize>) -> String {
    let ticked: Vec<String> = boxes.iter().map(|k| format!("#{letter}{k}:checked")).collect();
    format!(":is(:not(:has(#{letter} :checked)), :has({}))", ticked.join(", "))
}

/// The class of rows with results of these devices.
fn row_class(devices: &BTreeSet<usize>) -> String {
    let devices: Vec<String> = devices.iter().map(usize::to_string).collect();
    format!("r{}", devices.join("-"))
}

/// A file beside the page as a link.
fn link(file: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    file.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use sparsescope_core::bundle::Limits;
    use sparsescope_core::record::Better;

    use super::*;

    /// Results in GFLOPS: of each of these kernels on each of these matrices.
    fn results(matrices: usize, kernels: usize) -> (String, Bundle) {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/cpu.zip");
        let mut bundle = Bundle::open(&example, &Limits::default()).unwrap();
        let matrix = bundle.matrices[0].clone();
        let mut rated = bundle.runs.iter().filter(|run| run.ranks() && run.hot);
        let mut run = rated.find(|run| run.metric.is_some()).unwrap().clone();
        (run.samples, run.costs.choice) = (Vec::new(), None);
        (bundle.matrices, bundle.runs) = (Vec::new(), Vec::new());
        for m in 0..matrices {
            let mut matrix = matrix.clone();
            matrix.record.id = format!("m{m}");
            (matrix.record.name, matrix.record.sha256) = (format!("m{m}"), format!("{m:064x}"));
            for k in 0..kernels {
                let mut run = run.clone();
                (run.matrix, run.kernel) = (matrix.record.id.clone(), format!("cpu/csr/k{k}"));
                let (name, unit) = ("throughput".to_owned(), "GFLOPS".to_owned());
                let value = 1.0 + k as f64;
                run.metric = Some(Metric { name, unit, value, better: Better::More });
                bundle.runs.push(run);
            }
            bundle.matrices.push(matrix);
        }
        ("results.zip".to_owned(), bundle)
    }

    #[test]
    fn a_page_of_many_results_takes_time_in_proportion_to_them() {
        let files = [results(300, 100)];
        let start = Instant::now();
        let page = Board::of(&files, false).page();
        // Comparing each of the 30 000 with each other would take longer.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert_eq!(page.matches("href=").count(), 30_000);
        // The last kernel is the fastest on each matrix.
        assert_eq!(page.matches(" best\">").count(), 300);
    }

    #[test]
    fn results_in_another_unit_have_a_table_of_their_own() {
        let (name, mut bundle) = results(1, 3);
        let slow = bundle.runs[2].metric.as_mut().unwrap();
        (slow.name, slow.unit, slow.better) = ("time".into(), "ms".into(), Better::Less);
        let page = Board::of(&[(name, bundle)], false).page();
        assert_eq!(page.matches("<h2>SpMV</h2>").count(), 2, "{page}");
        assert!(page.contains(">GFLOPS<") && page.contains(">time, ms (lower is better)<"));
        // The faster of two, and the only one.
        assert_eq!(page.matches(" best\">").count(), 2, "{page}");
    }

    #[test]
    fn cpus_of_one_model_with_different_numbers_of_cores_are_different_devices() {
        let (name, small) = results(1, 1);
        let mut large = small.clone();
        let cpu = &mut large.environments[0].cpu;
        cpu.logical = 2 * small.environments[0].cpu.logical;
        let expected = [cpu_name(&small.environments[0].cpu), cpu_name(cpu)];
        let files = [(name, small), ("large.zip".to_owned(), large)];
        let board = Board::of(&files, false);
        assert_eq!(
            board.devices.iter().cloned().collect::<BTreeSet<_>>(),
            BTreeSet::from(expected)
        );
        assert!(board.page().contains("Devices (2)"));
    }

    #[test]
    fn a_table_has_only_the_devices_of_its_results() {
        let (name, of_spmv) = results(1, 1);
        let mut of_sweeps = of_spmv.clone();
        of_sweeps.runs[0].operation = "symgs".into();
        of_sweeps.runs[0].device = "another".into();
        let files = [(name, of_spmv), ("sweeps.zip".to_owned(), of_sweeps)];
        let page = Board::of(&files, false).page();
        // Matrix, kernel and one device, in each of two tables.
        assert_eq!(page.matches("<th").count(), 2 * 3, "{page}");
    }

    #[test]
    fn a_table_with_nothing_of_what_is_ticked_is_hidden() {
        let (name, of_spmv) = results(1, 3);
        let mut of_sweeps = of_spmv.clone();
        of_sweeps.runs.iter_mut().for_each(|run| run.operation = "symgs".into());
        of_sweeps.runs[0].kernel = "cpu/symgs/other".into();
        let files = [(name, of_spmv), ("sweeps.zip".to_owned(), of_sweeps)];
        let page = Board::of(&files, false).page();
        // The first has kernels 0, 1 and 2, the second 1, 2 and 3; both have all matrices and devices.
        for (table, kernels) in [("t0", [0, 1, 2]), ("t1", [1, 2, 3])] {
            assert!(page.contains(&format!("<section id=\"{table}\">")), "{page}");
            let [a, b, c] = kernels.map(|k| format!("#k{k}:checked"));
            let shown = format!(":is(:not(:has(#k :checked)), :has({a}, {b}, {c}))");
            let rule = format!("body:not({shown}) #{table} {{ display: none; }}");
            assert!(page.contains(&rule), "{page}");
        }
        assert_eq!(page.matches("body:not(").count(), 2, "{page}");
    }

    #[test]
    fn rows_and_tables_without_results_of_what_is_ticked_are_hidden() {
        let (name, mut bundle) = results(2, 2);
        // Each matrix has results of one kernel, each on a device of its own.
        let mut k = 0;
        bundle.runs.retain(|_| {
            k += 1;
            k == 1 || k == 4
        });
        let cpu = cpu_name(&bundle.environments[0].cpu);
        bundle.runs[1].device = "another".into();
        let files = [(name, bundle)];
        let board = Board::of(&files, false);
        let page = board.page();
        let [other, cpu] =
            ["another".to_owned(), cpu].map(|name| board.devices.binary_search(&name).unwrap());
        let shown = |letter: char, k: usize| {
            format!(":is(:not(:has(#{letter} :checked)), :has(#{letter}{k}:checked))")
        };
        for (k, device) in [(0, cpu), (1, other)] {
            assert!(page.contains(&format!("<tr class=\"m{k} k{k} r{device}\">")), "{page}");
            let rule = format!("body:not({}) .r{device} {{ display: none; }}", shown('d', device));
            assert!(page.contains(&rule), "{page}");
        }
        let part =
            |k, device| [('m', k), ('k', k), ('d', device)].map(|(l, k)| shown(l, k)).concat();
        let rule =
            format!("body:not({}, {}) #t0 {{ display: none; }}", part(0, cpu), part(1, other));
        assert!(page.contains(&rule), "{page}");
    }

    #[test]
    fn the_column_of_a_device_without_results_of_what_is_ticked_is_hidden() {
        let (name, mut bundle) = results(2, 1);
        // Another device has a result of the first matrix only.
        let mut other = bundle.runs[0].clone();
        other.device = "another".into();
        bundle.runs.push(other);
        let files = [(name, bundle)];
        let board = Board::of(&files, false);
        let k = board.devices.iter().position(|device| device == "another").unwrap();
        let shown = ":is(:not(:has(#m :checked)), :has(#m0:checked))";
        let rule = format!("body:not({shown}) #t0 .d{k} {{ display: none; }}");
        let page = board.page();
        assert!(page.contains(&rule) && page.matches("#t0 .d").count() == 1, "{page}");
    }

    #[test]
    fn the_parts_of_a_table_have_its_rows_and_no_others() {
        let all = BTreeSet::from([0, 1]);
        let mut rows: Vec<Row> = Vec::new();
        for matrix in 0..6 {
            for kernel in 0..5 {
                // The odd matrices lack a kernel; a kernel has results of one device only.
                if matrix % 2 == 0 || kernel != 3 {
                    let devices = if kernel == 4 { BTreeSet::from([1]) } else { all.clone() };
                    rows.push((matrix, kernel, devices));
                }
            }
        }
        let parts = parts(&rows);
        // Of all matrices with kernel 4, of the even and of the odd ones with the others.
        assert_eq!(parts.len(), 3, "{parts:?}");
        let mut of_parts = Vec::new();
        for [matrices, kernels, devices] in parts {
            for matrix in matrices {
                of_parts.extend(kernels.iter().map(|kernel| (matrix, *kernel, devices.clone())));
            }
        }
        of_parts.sort();
        assert_eq!(of_parts, rows);
    }

    #[test]
    fn names_of_files_become_links_that_lead_to_them() {
        assert_eq!(link("a-1_b.zip"), "a-1_b.zip");
        assert_eq!(link("a b#?é.zip"), "a%20b%23%3F%C3%A9.zip");
    }
}
