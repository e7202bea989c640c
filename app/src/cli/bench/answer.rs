//! The answer of `bench`: who is fastest on each subject, and one sentence for all of them.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::bundle::Bundle;
use sparsescope_core::kernel::{KernelName, reference};
use sparsescope_core::order;
use sparsescope_core::record::{Operation, Subject, and_vectors};
use sparsescope_figures::model::{
    self, Model, RunOf, Standing, batch_extent, extent, subject_key, subject_name, subject_size,
};

use super::pairs::{self, short};
use super::summary::workers;
use crate::cli::table::{Column, DASH, Kind, fitted, joules, seconds, three_digits, wrapped};
use crate::cli::terminal::one_line;

/// A subject with the kernels that rank on it, as the view of winners ranks them.
struct Row<'m> {
    subject: Subject<'m>,
    /// The number of columns of X, for products with several vectors.
    vectors: Option<u32>,
    standing: Option<Standing<'m>>,
}

impl<'m> Row<'m> {
    fn of(model: &'m Model, bundle: &'m Bundle) -> Vec<Self> {
        let products = model.products(operation(bundle)).into_iter();
        let products = products.map(|filter| (filter.vectors, model.standings(&filter)));
        let products: Vec<_> = products.collect();
        let mut rows = Vec::new();
        for subject in bundle.all_subjects() {
            let key = subject_key(subject);
            let has_run = |k: Option<u32>| {
                let mut runs = bundle.runs.iter().filter(|run| run.matrix == subject.id());
                runs.any(|run| run.vectors() == k)
            };
            for (vectors, standings) in &products {
                if products.len() > 1 && !has_run(*vectors) {
                    continue;
                }
                let standing = standings.iter().find(|standing| standing.key == key).cloned();
                rows.push(Row { subject, vectors: *vectors, standing });
            }
        }
        rows
    }

    fn name(&self) -> String {
        subject_name(self.subject) + &and_vectors(self.vectors)
    }

    fn winner(&self) -> Option<&RunOf<'m>> {
        self.standing.as_ref()?.winner()
    }

    fn second(&self) -> Option<&RunOf<'m>> {
        self.standing.as_ref()?.second()
    }
}

/// The word of the operation of a bundle that `bench` wrote.
fn operation(bundle: &Bundle) -> &str {
    bundle.runs.first().map_or("", |run| run.operation.as_str())
}

/// A table with a line per subject of the only bundle of `model`, and the sentence, both in this room; names from files
/// are one line each.
pub(super) fn answer(model: &Model, colors: bool, room: Option<usize>) -> String {
    let Some(open) = model.bundles().first() else { return String::new() };
    let bundle: &Bundle = &open.bundle;
    let rows = Row::of(model, bundle);
    let device = common_device(&rows);
    let shared = common_settings(&rows);
    let table = fitted(&columns(&rows, bundle, (device, &shared)), colors, room);
    let chosen = shown(&rows).filter(|run| run.run.costs.choice.is_some());
    let chosen: BTreeSet<&str> = chosen.map(|run| short(&run.run.kernel, device)).collect();
    let chosen: String = chosen.iter().map(|auto| format!("* chosen by {auto}\n")).collect();
    let shared = match shared.is_empty() {
        true => String::new(),
        false => wrapped("Settings of all kernels: ", &one_line(&shared.join(", ")), "", room),
    };
    let sentence = sentence(&rows, bundle, device);
    let pairs = pairs::table(model, operation(bundle), device, (colors, room));
    format!("{table}{chosen}{shared}{pairs}\n{}", wrapped("", &one_line(&sentence), "", room))
}

/// The winners and runners-up of the rows.
fn shown<'r, 'm>(rows: &'r [Row<'m>]) -> impl Iterator<Item = &'r RunOf<'m>> {
    rows.iter().flat_map(|row| row.winner().into_iter().chain(row.second()))
}

/// `names` is what labels leave out: the device and the settings of all rows.
fn columns(rows: &[Row<'_>], bundle: &Bundle, names: (&str, &[String])) -> Vec<Column> {
    let each = |cell: &dyn Fn(&Row<'_>, &RunOf<'_>) -> Option<String>| {
        let cells = rows.iter().map(|row| row.winner().and_then(|winner| cell(row, winner)));
        cells.map(|cell| cell.unwrap_or_else(|| DASH.to_owned())).collect::<Vec<_>>()
    };
    let (what, sizes) = match bundle.subjects.is_empty() {
        true => ("matrix", "nnz"),
        false => ("subject", "size"),
    };
    let metric = rows.iter().find_map(|row| row.winner()?.metric());
    let unit = metric.map_or("rate", |metric| metric.unit.as_str());
    let mut columns = vec![
        Column::new(Kind::Name, what, rows.iter().map(Row::name)),
        Column::new(Kind::Number, sizes, rows.iter().map(|row| size(row.subject))),
        Column::new(Kind::Best, "fastest", each(&|_, run| Some(label(run, names)))),
        Column::new(Kind::Number, "threads", each(&|_, run| Some(workers(run.run)))),
        Column::new(Kind::Number, "median", each(&|_, run| Some(seconds(run.figures()?.median_s)))),
    ];
    // A rate in milliseconds is the median again.
    columns.push(match unit {
        "ms" => Column::new(
            Kind::Number,
            "iterations",
            each(&|_, run| Some(run.solved()?.iterations.to_string())),
        ),
        unit => Column::new(Kind::Spare, unit, each(&|_, run| Some(three_digits(run.rate()?)))),
    });
    columns.extend([
        Column::new(
            Kind::Spare,
            "% of copy",
            each(&|_, run| Some(format!("{:.0}", run.pct_copy()?))),
        ),
        Column::new(
            Kind::Number,
            "speed-up",
            each(&|_, run| Some(format!("{}x", three_digits(run.figures()?.speedup?)))),
        ),
        Column::new(
            Kind::Number,
            "energy",
            each(&|_, run| Some(joules(run.run.energy.as_ref()?.joules))),
        ),
        Column::new(Kind::Name, "runner-up", each(&|row, _| Some(label(row.second()?, names)))),
        Column::new(
            Kind::Number,
            "behind",
            each(&|row, _| Some(behind(row.standing.as_ref()?.lead()?))),
        ),
    ]);
    columns.retain(Column::has_cells);
    columns
}

/// The time that the runner-up takes beyond the winner's.
fn behind(lead: f64) -> String {
    let more = (lead - 1.0) * 100.0;
    let decimals = usize::from(more < 10.0);
    format!("+{more:.decimals$} %")
}

/// Nonzeros of a matrix, points and dimensions of a point set, systems and unknowns of a batch.
fn size(subject: Subject<'_>) -> String {
    match extent(subject).or_else(|| batch_extent(subject)) {
        Some([many, each]) => format!("{} x {each}", model::count(many)),
        None => model::count(subject_size(subject)),
    }
}

/// The device in the ids of all kernels of the table, which then leaves it out; empty if there are several.
fn common_device<'r>(rows: &'r [Row<'_>]) -> &'r str {
    let devices: BTreeSet<&str> =
        shown(rows).filter_map(|run| KernelName::of(&run.run.kernel).device()).collect();
    match devices.len() {
        1 => devices.first().copied().unwrap_or_default(),
        _ => "",
    }
}

/// The settings of a product beside threads and precision.
fn settings(run: &RunOf<'_>) -> impl Iterator<Item = String> {
    let asked = run.run.asked.iter().filter(move |_| run.solved().is_none());
    // The row names the number of vectors.
    let asked = asked.filter(|(name, _)| *name != "vectors");
    asked.map(|(name, value)| format!("{name}={value}"))
}

/// The settings, and the precision, that all runs of the table have: it leaves them out.
fn common_settings(rows: &[Row<'_>]) -> Vec<String> {
    let all = |run: &RunOf<'_>| -> Vec<String> {
        let precision = (run.run.precision != "f64").then(|| run.run.precision.clone());
        settings(run).chain(precision).collect()
    };
    let mut of_runs = shown(rows).map(all);
    let first = of_runs.next().unwrap_or_default();
    of_runs.fold(first, |mut shared, of_run| {
        shared.retain(|setting| of_run.contains(setting));
        shared
    })
}

/// The kernel with its settings beside threads; for solves with the preconditioner, as the view of winners
/// names them.
fn label(run: &RunOf<'_>, (device, shared): (&str, &[String])) -> String {
    let kernel = short(&run.run.kernel, device);
    let mut words = match (run.solved(), &run.run.costs.choice) {
        (Some(_), _) => format!("{}, {kernel}", run.method()),
        (None, choice) => {
            let name = match choice {
                Some(choice) => format!("{}*", short(&choice.kernel, device)),
                None => kernel.to_owned(),
            };
            // Other settings of an automatic kernel are not those of the kernel that it chose.
            let is_named = |setting: &String| {
                choice.is_none() || ["op=", "scale="].iter().any(|own| setting.starts_with(*own))
            };
            let own = settings(run).filter(|setting| !shared.contains(setting));
            let own = own.filter(is_named).map(|setting| format!(" {setting}"));
            name + &own.collect::<String>()
        }
    };
    if run.run.precision != "f64" && !shared.contains(&run.run.precision) {
        words += &format!(" ({})", run.run.precision);
    }
    words
}

/// Which kernels win how often, and how much faster they are than the reference.
fn sentence(rows: &[Row<'_>], bundle: &Bundle, device: &str) -> String {
    if bundle.runs.is_empty() {
        return "Nothing was measured.".to_owned();
    }
    let winners: Vec<&RunOf<'_>> = rows.iter().filter_map(Row::winner).collect();
    if winners.is_empty() {
        return "No run has a time that can be ranked.".to_owned();
    }
    let mut wins: BTreeMap<String, usize> = BTreeMap::new();
    for winner in &winners {
        let kernel = short(&winner.run.kernel, device);
        let name = winner.solved().map_or_else(String::new, |_| format!("{}, ", winner.method()));
        *wins.entry(name + kernel).or_default() += 1;
    }
    let mut wins: Vec<(String, usize)> = wins.into_iter().collect();
    order::sort_by(&mut wins, |(_, a), (_, b)| b.cmp(a));
    let all = winners.len();
    let subjects = match bundle.subjects.is_empty() {
        _ if rows.len() > bundle.all_subjects().count() => "SpMMs",
        true => "matrices",
        false => "subjects",
    };
    let who = match &wins[..] {
        [(only, _)] if all == 1 => format!("{only} is fastest"),
        [(only, _)] => format!("{only} wins on all {all} {subjects}"),
        [(first, one), (second, other), ..] => {
            format!("{first} and {second} win on {} of {all} {subjects}", one + other)
        }
        [] => String::new(),
    };
    let on = match device {
        "cpu" => "On the CPU, ",
        "cuda" => "With CUDA, ",
        "wgpu" => "With wgpu, ",
        "mpi" => "With MPI, ",
        "nccl" => "With NCCL, ",
        _ => "",
    };
    let known = Operation::of(operation(bundle)).unwrap_or(Operation::Spmv);
    let serial = short(reference(known).id, device);
    let gains = winners.iter().filter_map(|run| run.figures()?.speedup);
    let [least, most] =
        gains.fold([f64::INFINITY, 0.0], |[least, most], gain| [least.min(gain), most.max(gain)]);
    let gain = match [least, most].map(three_digits) {
        _ if most == 0.0 => format!("; no speed-up, because {serial} was not measured"),
        _ if most <= 1.0 => String::new(),
        [_, most] if all == 1 => format!(", {most} times as fast as {serial}"),
        [least, most] if least == most => {
            format!("; the best are {most} times as fast as {serial}")
        }
        [least, most] => format!("; the best are {least} to {most} times as fast as {serial}"),
    };
    format!("{on}{who}{gain}.")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sparsescope_core::bundle::Limits;
    use sparsescope_core::record::{Check, Choice, Verdict};
    use sparsescope_figures::model::solved;
    use sparsescope_figures::state::Filter;

    use super::*;
    use crate::cli::bench::summary;
    use crate::cli::table::WIDTH;

    /// A bundle among the examples, in a model of its own.
    fn example(name: &str, change: impl FnOnce(&mut Bundle)) -> Model {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("example").join(name);
        let mut bundle = Bundle::open(&path, &Limits::default()).unwrap();
        change(&mut bundle);
        let mut model = Model::default();
        model.show_unfinished(name, bundle);
        model
    }

    /// The text with its lines joined, which may be broken between any words.
    fn joined(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_summary_of_the_default_suite_fits_on_one_screen() {
        // A fifth of the runs were refused, for four reasons with different numbers.
        let model = example("cpu.zip", |bundle| {
            for (number, run) in bundle.runs.iter_mut().enumerate().filter(|(n, _)| n % 5 == 0) {
                let reason = match number % 4 {
                    0 => format!("DIA would be {number} % full, less than 20 %"),
                    1 => format!("BSR of {number} x {number} blocks is less than 70 % full"),
                    2 => "the rows are not sorted".to_owned(),
                    _ => format!("it needs {number} GB, more than the memory limit of 16 GB"),
                };
                let verdict = Verdict::Refused;
                run.check = Check { verdict, reason: Some(reason), ..Check::default() };
                (run.figures, run.metric) = (None, None);
            }
        });
        let bundle = &model.bundles()[0].bundle;
        let text = answer(&model, false, None) + &summary::closing(bundle, false, None);
        // The end names bundle and report, and has at most three steps.
        assert!(text.lines().count() <= 40 - 7, "{text}");
        for matrix in &bundle.matrices {
            let lines = text.lines().filter(|line| line.starts_with(&matrix.record.name));
            assert_eq!(lines.count(), 1, "{text}");
        }
        let words = joined(&text);
        assert!(words.contains("On the CPU, ") && words.contains(" of 10 matrices; "), "{text}");
        assert!(words.contains(" times as fast as csr/serial."), "{text}");
        let refused = bundle.runs.iter().filter(|run| run.check.verdict == Verdict::Refused);
        let skipped = format!("{} skipped", refused.count());
        assert!(text.contains(&skipped), "{skipped} in {text}");
        for width in [80, WIDTH] {
            let room = Some(width);
            let text = answer(&model, false, room) + &summary::closing(bundle, false, room);
            let text = text + &summary::table(bundle, room);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn long_names_fit_too_and_numbers_are_those_of_the_view_of_winners() {
        for name in ["gpu.zip", "solvers.zip", "cpu.zip"] {
            let model = example(name, |_| {});
            let text = answer(&model, false, Some(WIDTH));
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            let open = &model.bundles()[0];
            let filter = Filter::all_of(operation(&open.bundle));
            for standing in model.standings(&filter) {
                let winner = standing.winner().unwrap();
                let median = seconds(winner.figures().unwrap().median_s);
                let lead = standing.lead().map(behind).unwrap_or_default();
                let is_it = |line: &str| line.contains(&median) && line.ends_with(&lead);
                assert!(text.lines().any(is_it), "{median} and {lead} in {text}");
            }
        }
    }

    #[test]
    fn a_chosen_kernel_is_named_with_a_scale_that_not_all_rows_have() {
        let model = example("cpu.zip", |bundle| {
            bundle.matrices.truncate(2);
            let ids: Vec<_> = bundle.matrices.iter().map(|one| one.record.id.clone()).collect();
            bundle.runs.retain(|run| run.kernel == "cpu/csr/nnz" && ids.contains(&run.matrix));
            for run in &mut bundle.runs {
                let values = if run.matrix == ids[0] { ["on", "2"] } else { ["off", "3"] };
                run.asked = [("compact", values[0]), ("scale", values[1])]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into();
                let kernel = "cpu/hll/simd".to_owned();
                run.costs.choice = Some(Choice { kernel, ..Choice::default() });
            }
        });
        let text = answer(&model, false, None);
        for scale in ["hll/simd* scale=2 ", "hll/simd* scale=3 "] {
            assert!(text.contains(scale), "{scale}in {text}");
        }
        assert!(!text.contains("compact"), "{text}");
    }

    #[test]
    fn only_the_winner_stands_out() {
        let model = example("cpu.zip", |_| {});
        let (plain, colored) = (answer(&model, false, None), answer(&model, true, None));
        assert!(!plain.contains('\u{1b}'), "{plain}");
        assert_eq!(colored.matches("\u{1b}[1;32m").count(), 10, "{colored}");
        assert_eq!(colored.replace("\u{1b}[1;32m", "").replace("\u{1b}[0m", ""), plain);
    }

    #[test]
    fn solves_that_do_not_rank_win_nowhere() {
        let model = solved::model(solved::planted());
        let text = answer(&model, false, None);
        let line = text.lines().nth(1).unwrap();
        assert!(line.contains("Jacobi, pcg/serial") && line.contains("100"), "{text}");
        assert!(text.contains("iterations") && !text.contains("GFLOPS"), "{text}");
        assert!(!text.contains("pcg/threads") && !text.contains("vendor/"), "{text}");
    }

    #[test]
    fn a_second_table_has_the_transpose_where_it_was_measured_too() {
        let title = "fastest for A'";
        assert!(!answer(&example("cpu.zip", |_| {}), false, Some(WIDTH)).contains(title));
        let with_transpose = |choice: Option<Choice>| {
            example("cpu.zip", |bundle| {
                bundle.runs.iter_mut().for_each(|run| run.costs.choice = None);
                let mut transposed = bundle.runs.clone();
                transposed.retain(|run| run.kernel == "cpu/csr/serial");
                for run in &mut transposed {
                    run.params.insert("op".into(), "t".into());
                    run.costs.choice = choice.clone();
                }
                bundle.runs.extend(transposed);
            })
        };
        let chosen = Choice { kernel: "cpu/hll/simd".into(), ..Choice::default() };
        let text = answer(&with_transpose(Some(chosen)), false, None);
        assert!(text.contains("  hll/simd*  "), "{text}");
        assert!(text.contains("\n* chosen by an automatic kernel\n"), "{text}");
        let model = with_transpose(None);
        let text = answer(&model, false, Some(WIDTH));
        assert!(!text.contains("chosen by") && !text.contains('µ'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let (_, below) = text.split_once(title).expect("a second table");
        for matrix in &model.bundles()[0].bundle.matrices {
            let is_it = |line: &&str| line.starts_with(&matrix.record.name);
            let lines: Vec<&str> = below.lines().filter(is_it).collect();
            assert!(lines.len() == 1 && lines[0].contains("csr/serial"), "{text}");
        }
    }

    #[test]
    fn runs_in_f32_alone_rank_and_are_marked() {
        let model = example("cpu.zip", |bundle| {
            bundle.runs.iter_mut().for_each(|run| run.precision = "f32".into());
        });
        let text = answer(&model, false, None);
        assert!(text.contains("csr/"), "{text}");
        assert!(text.contains("\nSettings of all kernels: f32\n"), "{text}");
        assert!(!text.contains("f32)"), "{text}");
    }

    /// The answer for two kernels on a matrix, with a hack size of 8 and these values of another parameter.
    fn with_settings(parameter: &str, [of_nnz, of_rows]: [&str; 2]) -> String {
        let model = example("cpu.zip", |bundle| {
            bundle.matrices.truncate(1);
            let matrix = bundle.matrices[0].record.id.clone();
            let kernels = ["cpu/csr/nnz", "cpu/csr/rows"];
            bundle.runs.retain(|run| run.matrix == matrix && kernels.contains(&&*run.kernel));
            for run in &mut bundle.runs {
                let value = if run.kernel == "cpu/csr/nnz" { of_nnz } else { of_rows };
                run.asked = [(parameter, value), ("hack_size", "8")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into();
            }
        });
        answer(&model, false, None)
    }

    #[test]
    fn settings_that_all_rows_have_are_named_once_below_them() {
        let text = with_settings("op", ["t", "t"]);
        assert!(text.contains("\nSettings of all kernels: hack_size=8, op=t\n"), "{text}");
        assert_eq!(text.matches('=').count(), 2, "{text}");
        let text = with_settings("op", ["n", "t"]);
        assert!(text.contains("csr/nnz op=n ") && text.contains("csr/rows op=t "), "{text}");
        assert!(text.contains("\nSettings of all kernels: hack_size=8\n"), "{text}");
    }

    #[test]
    fn without_the_reference_there_is_no_speed_up() {
        let model = example("cpu.zip", |bundle| {
            bundle.runs.retain(|run| run.kernel == "cpu/csr/nnz");
            for figures in bundle.runs.iter_mut().filter_map(|run| run.figures.as_mut()) {
                figures.speedup = None;
            }
        });
        let text = answer(&model, false, None);
        assert!(joined(&text).contains("csr/nnz wins on all 10 matrices; no speed-up"), "{text}");
        assert!(!text.contains("runner-up"), "{text}");
    }

    #[test]
    fn products_with_several_vectors_have_a_row_for_each_number_of_them() {
        let model = example("cpu.zip", |bundle| {
            bundle.matrices.truncate(1);
            let matrix = bundle.matrices[0].record.id.clone();
            let wanted = ["cpu/csr/nnz", "cpu/csr/serial"];
            bundle.runs.retain(|run| run.matrix == matrix && wanted.contains(&&*run.kernel));
            for run in &mut bundle.runs {
                run.operation = "spmm".into();
                let k = if run.kernel == wanted[0] { "8" } else { "32" };
                for params in [&mut run.params, &mut run.asked] {
                    params.insert("vectors".into(), k.into());
                }
            }
        });
        let text = answer(&model, false, None);
        let name = &model.bundles()[0].bundle.matrices[0].record.name;
        for (k, kernel) in [("8", "csr/nnz"), ("32", "csr/serial")] {
            let is_it = |line: &&str| line.contains(&format!("{name}, k = {k} "));
            let lines: Vec<&str> = text.lines().filter(is_it).collect();
            assert!(lines.len() == 1 && lines[0].contains(kernel), "{text}");
        }
        assert!(joined(&text).contains(" win on 2 of 2 SpMMs"), "{text}");
        assert!(!text.contains("runner-up") && !text.contains("vectors="), "{text}");
        // A matrix has rows only for the numbers of vectors that were planned on it.
        let model = example("cpu.zip", |bundle| {
            bundle.runs.retain(|run| run.kernel == "cpu/csr/nnz");
            let first = bundle.runs[0].matrix.clone();
            for run in &mut bundle.runs {
                run.operation = "spmm".into();
                let k = if run.matrix == first { "8" } else { "32" };
                run.params.insert("vectors".into(), k.into());
            }
        });
        let text = answer(&model, false, None);
        assert_eq!((text.matches(", k = 8 ").count(), text.matches(", k = 32 ").count()), (1, 9));
    }
}
