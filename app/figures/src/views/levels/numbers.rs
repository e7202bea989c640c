//! The levels in numbers and in words.

use sparsescope_core::symgs::Wavefront;

use super::smooth::sweeps;
use super::subject::Subject;
use crate::model::{Model, significant};
use crate::state::{Order, ViewState};
pub use crate::views::spy::digits;

/// Levels with fewer rows leave a warp, or a block of the maximum size, partly idle.
pub(super) const NARROW: [u32; 2] = [32, 1024];

/// The levels of an order in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    pub(super) rows: u64,
    pub(super) levels: usize,
    pub(super) widest: u32,
    /// Rows per level: how many can be computed in parallel, on average.
    pub(super) mean: f64,
    /// Rows in levels with fewer rows than [`NARROW`].
    pub(super) in_narrow: [u64; 2],
}

impl Numbers {
    pub fn of(wave: &Wavefront) -> Self {
        let sum = |fits: &dyn Fn(u32) -> bool| {
            wave.widths.iter().filter(|width| fits(**width)).map(|width| u64::from(*width)).sum()
        };
        let (rows, levels): (u64, usize) = (sum(&|_| true), wave.widths.len());
        Self {
            rows,
            levels,
            widest: wave.widths.iter().copied().max().unwrap_or(0),
            mean: wave.mean_width(),
            in_narrow: NARROW.map(|least| sum(&|width| width < least)),
        }
    }

    /// Describes the levels in sentences.
    pub fn words(&self, order: Order) -> Vec<String> {
        let [rows, widest] = [self.rows, u64::from(self.widest)].map(digits);
        let mean = significant(self.mean);
        let levels = counted(self.levels, order);
        let mut words = vec![match order {
            Order::Colors => format!(
                "{levels} for {rows} rows: rows of one colour do not depend on each other, so a sweep takes {} steps, in another order.",
                digits(self.levels as u64)
            ),
            _ => format!("{rows} rows in {levels}: a sweep cannot take fewer steps."),
        }];
        words.push(format!("Mean width {mean} rows (the average parallelism), widest {widest}."));
        let share = |of: u64| significant(of as f64 / self.rows.max(1) as f64 * 100.0);
        let [warp, block] = self.in_narrow.map(share);
        words.push(format!(
            "{warp} % of the rows are in {0} narrower than {1} (a warp), {block} % in {0} narrower than {2} (the largest block).",
            if order == Order::Colors { "colours" } else { "levels" },
            NARROW[0],
            digits(u64::from(NARROW[1])),
        ));
        if order != Order::Colors {
            words.push(format!(
                "Critical path: {} rows, each waiting for the previous one.",
                digits(self.levels as u64)
            ));
        }
        words
    }
}

/// The number of levels, or of colours.
fn counted(count: usize, order: Order) -> String {
    let word = match (order, count) {
        (Order::Colors, 1) => "colour",
        (Order::Colors, _) => "colours",
        (_, 1) => "level",
        _ => "levels",
    };
    format!("{} {word}", digits(count as u64))
}

/// Rows done before a step, and rows of the step.
pub fn progress(wave: &Wavefront, step: usize) -> [u64; 2] {
    let step = step.min(wave.widths.len());
    let (before, after) = wave.widths.split_at(step);
    let done = before.iter().map(|width| u64::from(*width)).sum();
    [done, after.first().map_or(0, |width| u64::from(*width))]
}

/// Describes the progress of a sweep.
pub fn progress_words(wave: &Wavefront, order: Order, step: usize) -> String {
    let [done, now] = progress(wave, step);
    let [rows, _] = progress(wave, wave.widths.len());
    if now == 0 {
        let all = counted(wave.widths.len(), order);
        return format!("All {all} are done, {} rows.", digits(rows));
    }
    words_of(wave, order, step, [now, done, rows - done - now])
}

/// A text that is at least as long as that of any step.
pub fn longest_progress(wave: &Wavefront, order: Order) -> String {
    let levels = wave.widths.len();
    let [rows, _] = progress(wave, levels);
    words_of(wave, order, levels, [rows; 3])
}

fn words_of(wave: &Wavefront, order: Order, step: usize, rows: [u64; 3]) -> String {
    let all = counted(wave.widths.len(), order);
    let word = if order == Order::Colors { "Colour" } else { "Level" };
    let [now, ..] = rows;
    let rows_now = if now == 1 { "row" } else { "rows" };
    let ([now, done, waits], step) = (rows.map(digits), digits(step as u64));
    format!("{word} {step} of {all}: {now} {rows_now} at once; {done} done, {waits} waiting.")
}

/// Questions of lessons about the matrix, and about its levels, or its colours if these are shown.
const ASKED: [&str; 14] = [
    "name", "rows", "columns", "entries", "levels", "colours", "widest", "width", "narrow", "path",
    "step", "now", "done", "sweeps",
];

/// Returns whether this question exists for this view; settings may follow after `;`.
pub(in crate::views) fn is_known(asked: &str) -> bool {
    ASKED.contains(&asked.split(';').next().unwrap_or_default())
}

/// The answer for this state.
pub(in crate::views) fn number(
    asked: &str,
    model: &Model,
    state: &ViewState,
) -> Result<String, String> {
    let subject = Subject::of(model, state)?;
    let whole = |of: usize| digits(of as u64);
    match asked {
        "name" => return Ok(subject.name),
        "rows" | "columns" => return Ok(whole(subject.picture.pyramid.rows())),
        "entries" => return Ok(digits(subject.picture.pyramid.entries())),
        _ => {}
    }
    let waves = subject.waves(true)?;
    let order = match (asked, state.levels.order) {
        ("colours", _) => Order::Colors,
        // Refers to a sweep even if colours are shown.
        ("levels" | "path", Order::Colors) => Order::Forward,
        (_, order) => order,
    };
    let wave = waves.wave(order);
    let numbers = Numbers::of(wave);
    let [done, now] = progress(wave, state.levels.step.unwrap_or(0) as usize);
    Ok(match asked {
        "levels" | "colours" | "path" => whole(numbers.levels),
        "widest" => digits(u64::from(numbers.widest)),
        "width" => significant(numbers.mean),
        "narrow" => {
            let [narrow, _] = numbers.in_narrow;
            format!("{} %", significant(narrow as f64 / numbers.rows.max(1) as f64 * 100.0))
        }
        "step" => digits(u64::from(state.levels.step.unwrap_or(0))),
        "now" => digits(now),
        "done" => digits(done),
        "sweeps" => sweeps(&subject, waves, order)?.to_string(),
        _ => return Err("there is no such number".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(widths: &[u32]) -> Wavefront {
        Wavefront { widths: widths.to_vec(), path: Vec::new(), places: Vec::new() }
    }

    #[test]
    fn rows_in_narrow_levels_are_counted_and_the_mean_is_rows_over_levels() {
        let of = Numbers::of(&wave(&[1, 31, 32, 1023, 1024, 2000]));
        assert_eq!((of.rows, of.levels, of.widest), (4111, 6, 2000));
        assert_eq!(of.in_narrow, [32, 1087]);
        assert!((of.mean - 4111.0 / 6.0).abs() < 1e-12);
        assert_eq!(Numbers::of(&wave(&[])).mean, 0.0);
    }

    #[test]
    fn progress_adds_up_to_all_rows() {
        let wave = wave(&[2, 3, 1]);
        assert_eq!(progress(&wave, 0), [0, 2]);
        assert_eq!(progress(&wave, 2), [5, 1]);
        assert_eq!(progress(&wave, 3), [6, 0]);
        assert_eq!(progress(&wave, 99), [6, 0]);
        let words = progress_words(&wave, Order::Forward, 1);
        assert_eq!(words, "Level 1 of 3 levels: 3 rows at once; 2 done, 1 waiting.");
        assert_eq!(progress_words(&wave, Order::Colors, 3), "All 3 colours are done, 6 rows.");
        let longest = longest_progress(&wave, Order::Forward);
        assert_eq!(longest, "Level 3 of 3 levels: 6 rows at once; 6 done, 6 waiting.");
    }
}
