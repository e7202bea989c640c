//! Numbers in the texts of lessons: `{sectors:cuda/csr/thread-per-row:val}` is replaced by the
//! model's count on the matrix that the step shows, so that text and picture always agree.

use std::fmt::Display;
use std::sync::Arc;

use sparsescope_core::experiment::format_size;
use sparsescope_core::kernel::{KernelDescriptor, kernel};
use sparsescope_core::layout::{
    Array, ArrayTraffic, COLUMNS_KERNEL, Counts, Request, columns_traffic,
};
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::Operation;

use super::arrays;
use super::grid::{Grid, share};
use super::walk::{Machine, Walk, built, number_of_columns};
use crate::lesson::{Lesson, Step, fill};
use crate::model::significant;
use crate::state::{LAYOUTS, LayoutsState, ViewState};
use crate::views::view::unbroken;

/// The texts of a step with their numbers filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// Paragraphs.
    pub text: Vec<String>,
    /// The question for the class.
    pub ask: Option<String>,
    /// The choices offered.
    pub choices: Vec<String>,
    /// Paragraphs that are hidden until the answer is revealed.
    pub answer: Vec<String>,
}

impl Texts {
    /// The texts of a step; the questions in braces are answered for the state shown next to the
    /// text.
    pub(super) fn of(
        step: &Step,
        answer: impl Fn(&str, &ViewState) -> Result<String, String>,
    ) -> Result<Self, String> {
        let fills = |texts: &[String], state: &ViewState| -> Result<Vec<String>, String> {
            let filled = |text: &String| -> Result<String, String> {
                let filled = fill(text, |asked| answer(asked, state))?;
                Ok(unbroken(&filled))
            };
            texts.iter().map(filled).collect()
        };
        let asked: Vec<String> = step.ask.iter().cloned().collect();
        Ok(Self {
            text: fills(&step.text, &step.show)?,
            ask: fills(&asked, &step.show)?.pop(),
            choices: fills(&step.choices, &step.show)?,
            answer: fills(&step.answer, step.then.as_ref().unwrap_or(&step.show))?,
        })
    }

    /// The texts of a step that shows layouts; `selected` is the matrix for steps that show the
    /// selected one.
    pub fn counted(step: &Step, selected: Option<&Csr<f64>>) -> Result<Self, String> {
        Self::of(step, |asked, state| number(asked, selected, &state.layouts))
    }

    /// This sentence instead of a step's texts.
    pub fn only(sentence: String) -> Self {
        Self { text: vec![sentence], ..Self::default() }
    }
}

/// Checks the numbers and kernels of those steps of a lesson that show layouts.
pub(crate) fn check(lesson: &Lesson) -> Result<(), String> {
    for (number, step) in lesson.steps.iter().enumerate() {
        let at = |why: String| format!("step {}: {why}", number + 1);
        if step.show.view != LAYOUTS {
            continue;
        }
        for state in [Some(&step.show), step.then.as_ref()].into_iter().flatten() {
            let layouts = &state.layouts;
            let Some(a) = layouts.small.matrix().map(Arc::new) else { continue };
            for id in [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty()) {
                Walk::of(&a, layouts, id).map_err(|why| at(format!("{id}: {why}")))?;
            }
            let word = |word: &&str| {
                !arrays::specs(layouts).iter().any(|s| arrays::is_word(s.name(), word))
            };
            if let Some(none) = layouts.formats.split(',').filter(|w| !w.is_empty()).find(word) {
                return Err(at(format!("there is no format {none}")));
            }
        }
        // Numbers of the selected matrix are only known once it is selected.
        let known = |state: &ViewState| state.layouts.small.matrix().is_some();
        if known(&step.show) && step.then.as_ref().is_none_or(known) {
            let texts = Texts::counted(step, None).map_err(at)?;
            let mut choices = texts.choices;
            sparsescope_core::order::sort(&mut choices);
            choices.dedup();
            if choices.len() < step.choices.len() {
                return Err(at("two choices are the same".into()));
            }
        }
    }
    Ok(())
}

/// Answers `quantity:subject:part;key=value`, with keys as in a link.
fn number(
    asked: &str,
    selected: Option<&Csr<f64>>,
    state: &LayoutsState,
) -> Result<String, String> {
    let mut parts = asked.split(';');
    let mut what = parts.next().unwrap_or_default().splitn(3, ':');
    let mut settings = state.clone();
    for part in parts {
        let nothing = || format!("`{part}` is unknown here");
        let (key, value) = part.split_once('=').ok_or_else(nothing)?;
        settings.set(key, value);
        if !settings.fields().iter().any(|(known, now)| *known == key && now == value) {
            return Err(nothing());
        }
    }
    let a = settings.small.matrix().or_else(|| selected.cloned());
    let a = Arc::new(a.ok_or("no matrix is selected")?);
    let quantity = what.next().unwrap_or_default();
    let (subject, part) = (what.next().unwrap_or_default(), what.next().unwrap_or_default());
    let found = if subject.is_empty() {
        of_settings(quantity, &settings).or_else(|| of_matrix(quantity, &a))
    } else if let Some(product) = subject.split_once(',').filter(|of| of.0 != COLUMNS_KERNEL) {
        of_columns(quantity, (&a, &settings), product, part)?
    } else if subject.contains('/') {
        of_kernel(quantity, &Walk::of(&a, &settings, subject)?, part, settings.step as usize)
    } else {
        of_format(quantity, &a, &settings, subject)?
    };
    found.ok_or_else(|| "there is no such number".into())
}

fn text(number: impl Display) -> Option<String> {
    Some(number.to_string())
}

fn of_settings(quantity: &str, settings: &LayoutsState) -> Option<String> {
    text(match quantity {
        "hack" => settings.hack,
        "sigma" => settings.sigma,
        "threads" => settings.threads,
        _ => return None,
    })
}

fn of_matrix(quantity: &str, a: &Csr<f64>) -> Option<String> {
    text(match quantity {
        "rows" => a.rows(),
        "columns" => a.cols(),
        "entries" => a.nnz(),
        "longest" => (0..a.rows()).map(|i| a.row(i).0.len()).max()?,
        _ => return None,
    })
}

fn of_format(
    quantity: &str,
    a: &Csr<f64>,
    settings: &LayoutsState,
    word: &str,
) -> Result<Option<String>, String> {
    let spec = arrays::specs(settings).into_iter().find(|spec| arrays::is_word(spec.name(), word));
    let spec = spec.ok_or_else(|| format!("there is no format {word}"))?;
    let size = format_size(&spec, a).map_err(|error| error.to_string())?;
    Ok(match quantity {
        "bytes" => text(size.bytes),
        "slots" => text(size.slots),
        "padding" => text(size.slots - a.nnz() as u64),
        "slots-an-entry" => text(significant(size.padding)),
        _ => None,
    })
}

fn of_kernel(quantity: &str, walk: &Walk, part: &str, step: usize) -> Option<String> {
    if quantity == "steps" && part.is_empty() {
        return text(walk.len());
    }
    match &walk.machine {
        Machine::Grid(grid) => of_grid(quantity, grid, part, step),
        Machine::Threads(threads) => {
            let thread: Option<usize> = part.parse().ok();
            match quantity {
                "imbalance" => text(significant(threads.imbalance())),
                "slots" => text(threads.steps(thread)),
                "lines" => text(threads.lines(thread?, threads.len())),
                _ => None,
            }
        }
    }
}

/// For the whole product, or with the prefix `step-` for the current step; for all arrays or for one.
fn of_grid(quantity: &str, grid: &Grid, part: &str, step: usize) -> Option<String> {
    if quantity == "idle" {
        return text(share(grid.idle));
    }
    let Some(quantity) = quantity.strip_prefix("step-") else {
        return of_product(quantity, &grid.traffic, grid.operations, part);
    };
    let requests = grid.step(step)?.requests;
    let of = requests.iter().filter(|request| is_of(part, request.array));
    of_counts(quantity, of.map(Request::counts).sum())
}

/// Whether these are numbers of all arrays, or of this one.
fn is_of(part: &str, array: Array) -> bool {
    part.is_empty() || part == array.as_str()
}

/// For a whole product with this many operations.
fn of_product(
    quantity: &str,
    traffic: &[ArrayTraffic],
    operations: u64,
    part: &str,
) -> Option<String> {
    let of = traffic.iter().filter(|of| is_of(part, of.array));
    let all: Counts = of.flat_map(|of| [of.loads, of.stores]).sum();
    if quantity == "moved-per-operation" && operations > 0 {
        return text(significant(all.moved_bytes() as f64 / operations as f64));
    }
    of_counts(quantity, all)
}

/// For the whole product of A and this many columns by a kernel that cannot be stepped through.
fn of_columns(
    quantity: &str,
    (a, settings): (&Arc<Csr<f64>>, &LayoutsState),
    (id, columns): (&str, &str),
    part: &str,
) -> Result<Option<String>, String> {
    let unknown = || format!("{id} has no numbers for several columns");
    let is_product = |kernel: &&KernelDescriptor| kernel.operation == Operation::Spmm;
    let kernel = kernel(id).filter(is_product).ok_or_else(unknown)?;
    let k = number_of_columns(columns)?;
    let (_, format) = built(a, settings, kernel)?;
    let traffic = columns_traffic(kernel, &format, k).ok_or_else(unknown)?;
    Ok(of_product(quantity, &traffic, 2 * (a.nnz() * k) as u64, part))
}

fn of_counts(quantity: &str, all: Counts) -> Option<String> {
    match quantity {
        "requests" => text(all.requests),
        "sectors" => text(all.sectors),
        "useful" => text(all.useful_bytes),
        "moved" => text(all.moved_bytes()),
        "efficiency" => text(share(all.efficiency())),
        _ => None,
    }
    .filter(|_| all.requests > 0)
}
