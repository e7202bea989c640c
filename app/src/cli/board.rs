//! `sparsescope board`: the results of a folder of bundles as one page without scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Metric, Run};
use sparsescope_figures::model::{STAND_IN, metric_title, subject_name};

use super::bundle_args::BoardArgs;
use super::compare::open;
use super::folder::bundles_in;
use super::markup::Html;
use super::outcome::{Outcome, sentence};
use super::output::{check_free, keep};
use super::page::STYLE;
use super::table::{counted, three_digits};

/// The page in the folder.
const PAGE: &str = "index.html";

pub(super) fn run(args: &BoardArgs) -> anyhow::Result<Outcome> {
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
    let board = Board::of(&files);
    keep(&page, args.force, board.page().as_bytes())?;
    let bundles = counted(files.len(), "bundle", "bundles");
    eprintln!("{}: {bundles}, a static page", page.display());
    Ok(if refused == 0 { Outcome::Success } else { Outcome::CheckFailed })
}

/// Opens a bundle, which checks its checksums and that its figures follow from its samples; refuses one with a
/// wrong result.
fn accepted(path: &Path) -> Result<Bundle, String> {
    let bundle = open(path).map_err(|error| sentence(&error))?;
    match bundle.runs.iter().find(|run| run.is_wrong()) {
        Some(run) => Err(format!("{}: {} computed a wrong result", path.display(), run.kernel)),
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

/// An operation, the name and the SHA-256 of a subject, and a kernel with its precision.
type Line<'a> = (&'a str, String, &'a str, String);

/// The best runs by line and device.
struct Board<'a> {
    lines: BTreeMap<Line<'a>, BTreeMap<&'a str, Best<'a>>>,
    devices: Vec<&'a str>,
    subjects: Vec<String>,
    kernels: Vec<String>,
    files: usize,
}

impl<'a> Board<'a> {
    fn of(files: &'a [(String, Bundle)]) -> Self {
        let mut lines: BTreeMap<Line<'a>, BTreeMap<&'a str, Best<'a>>> = BTreeMap::new();
        for (file, bundle) in files {
            let subjects = bundle.subjects_by_id();
            for run in bundle.runs.iter().filter(|run| run.ranks() && run.hot) {
                let (Some(&subject), Some(metric)) =
                    (subjects.get(run.matrix.as_str()), &run.metric)
                else {
                    continue;
                };
                let name = subject_name(subject);
                let line = (&*run.operation, name, subject.sha256(), run.kernel_and_precision());
                let cells = lines.entry(line).or_default();
                let best = cells.get(run.device.as_str());
                if best.is_none_or(|best| metric.gain_over(best.metric.value) > 1.0) {
                    cells.insert(&run.device, Best { metric, run, file });
                }
            }
        }
        let devices: BTreeSet<&str> =
            lines.values().flat_map(|cells| cells.keys().copied()).collect();
        let subjects: BTreeSet<String> = lines.keys().map(|(_, name, ..)| name.clone()).collect();
        let kernels: BTreeSet<String> = lines.keys().map(|(.., kernel)| kernel.clone()).collect();
        Self {
            lines,
            devices: devices.into_iter().collect(),
            subjects: subjects.into_iter().collect(),
            kernels: kernels.into_iter().collect(),
            files: files.len(),
        }
    }

    fn page(&self) -> String {
        let groups: [(&str, char, Vec<&str>); 3] = [
            ("Matrices", 'm', self.subjects.iter().map(String::as_str).collect()),
            ("Kernels", 'k', self.kernels.iter().map(String::as_str).collect()),
            ("Devices", 'd', self.devices.clone()),
        ];
        // A box that is not ticked hides what has its name as a class.
        let rules = groups.iter().flat_map(|(_, letter, names)| {
            (0..names.len()).map(move |k| {
                format!("body:has(#{letter}{k}:not(:checked)) .{letter}{k} {{ display: none; }}\n")
            })
        });
        let style = format!("{STYLE}label {{ display: block; }} .best {{ font-weight: bold; }}\n");
        let style = style + &rules.collect::<String>();
        let operations: BTreeSet<&str> =
            self.lines.keys().map(|(operation, ..)| *operation).collect();
        let stand_ins = self.subjects.iter().any(|name| name.ends_with(" (stand-in)"));
        let about = format!(
            "{}: the best setting of each kernel on each matrix and device, with warm caches. All results were \
             checked; * marks those that another program measured. A number opens its bundle.",
            counted(self.files, "bundle", "bundles"),
        );
        Html::page("Sparsescope: results", &style, |html| {
            html.of_text("h1", &[], "Results");
            html.of_text("p", &[], &about);
            if stand_ins {
                html.of_text("p", &[], STAND_IN);
            }
            for (title, letter, names) in &groups {
                html.element("details", &[], |html| {
                    html.of_text("summary", &[], title);
                    for (k, name) in names.iter().enumerate() {
                        let id = format!("{letter}{k}");
                        let checkbox = [("type", "checkbox"), ("id", &*id), ("checked", "checked")];
                        html.element("label", &[], |html| {
                            html.empty("input", &checkbox);
                            html.text(" ");
                            html.text(name);
                        });
                    }
                });
            }
            for operation in operations {
                html.of_text("h2", &[], operation);
                self.table(html, operation);
            }
        })
    }

    /// A row per matrix and kernel, a column per device.
    fn table(&self, html: &mut Html, operation: &str) {
        let of = || self.lines.iter().filter(move |((other, ..), _)| *other == operation);
        let unit = of().flat_map(|(_, cells)| cells.values()).next();
        let unit = unit.map_or(String::new(), |best| metric_title(best.metric));
        html.of_text("p", &[("class", "weak")], &unit);
        html.element("div", &[("class", "wide")], |html| {
            html.element("table", &[], |html| {
                html.element("tr", &[], |html| {
                    html.of_text("th", &[], "matrix");
                    html.of_text("th", &[], "kernel");
                    for (k, device) in self.devices.iter().enumerate() {
                        html.of_text("th", &[("class", &*format!("number d{k}"))], device);
                    }
                });
                for ((_, subject, sha256, kernel), cells) in of() {
                    let class = format!(
                        "m{} k{}",
                        place(&self.subjects, subject),
                        place(&self.kernels, kernel)
                    );
                    html.element("tr", &[("class", &*class)], |html| {
                        html.of_text("td", &[], subject);
                        html.of_text("td", &[], kernel);
                        for (k, device) in self.devices.iter().enumerate() {
                            let is_best = |best: &Best<'_>| {
                                self.is_best(operation, (subject.as_str(), *sha256), device, best)
                            };
                            self.cell(html, k, cells.get(device), is_best);
                        }
                    });
                }
            });
        });
    }

    fn cell(
        &self,
        html: &mut Html,
        column: usize,
        best: Option<&Best<'_>>,
        is_best: impl Fn(&Best<'_>) -> bool,
    ) {
        let mark = if best.is_some_and(is_best) { " best" } else { "" };
        let class = format!("number d{column}{mark}");
        html.element("td", &[("class", &*class)], |html| {
            let Some(Best { metric, run, file }) = best else { return };
            let imported = if run.check.by.is_some() { "*" } else { "" };
            let text = format!("{}{imported}", three_digits(metric.value));
            html.of_text("a", &[("href", &*link(file))], &text);
        });
    }

    /// Whether no kernel is faster on this subject and device at the same product in the same precision.
    fn is_best(
        &self,
        operation: &str,
        (subject, sha256): (&str, &str),
        device: &str,
        best: &Best<'_>,
    ) -> bool {
        let same = self.lines.iter().filter(|((other, name, identity, _), _)| {
            *other == operation && name == subject && *identity == sha256
        });
        let mut others = same.filter_map(|(_, cells)| cells.get(device));
        others.all(|other| {
            let is_other = other.run.variant() != best.run.variant();
            is_other || other.metric.gain_over(best.metric.value) <= 1.0
        })
    }
}

fn place(names: &[String], name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_default()
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
    use super::*;

    #[test]
    fn names_of_files_become_links_that_lead_to_them() {
        assert_eq!(link("a-1_b.zip"), "a-1_b.zip");
        assert_eq!(link("a b#?é.zip"), "a%20b%23%3F%C3%A9.zip");
    }
}
