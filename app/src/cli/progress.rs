//! Progress on standard error: a bar in a terminal, otherwise a plain line now and then, nothing when quiet;
//! JSON for the window, which runs this program to measure.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::terminal::{one_line, say, visible_json};

/// Progress of a run, reported to the program that started it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Fraction of the whole that is done, 0 to 1.
    pub share: f64,
    /// The current matrix and kernel.
    pub what: String,
    /// Total number of runs.
    pub runs: usize,
}

/// Minimum interval between plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// Minimum interval between JSON lines: reading them must not disturb the measurement.
const BETWEEN_JSON: Duration = Duration::from_millis(450);
/// Work shorter than this prints no plain lines.
const BEFORE_FIRST_LINE: Duration = Duration::from_millis(500);

/// Shows the progress of work with a number of steps.
pub(super) struct Progress {
    shown: Shown,
    what: String,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines { started: Instant, next: Instant },
    Json { runs: usize, next: Instant },
}

impl Progress {
    /// Begins; shows nothing if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::no_length();
            let template = "{bar:24} {pos:>3}% {elapsed} left {eta} {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_length(100);
            // The bar ticks on its own thread, which the system may refuse.
            if std::thread::Builder::new().spawn(|| {}).is_ok() {
                bar.enable_steady_tick(Duration::from_millis(500));
            }
            Shown::Bar(bar)
        } else {
            let started = Instant::now();
            Shown::Lines { started, next: started + BEFORE_FIRST_LINE }
        };
        Self { shown, what: String::new() }
    }

    /// Begins work of `runs` runs, reported as JSON lines.
    pub(super) fn json(runs: usize) -> Self {
        Self { shown: Shown::Json { runs, next: Instant::now() }, what: String::new() }
    }

    /// Shows that a fraction `share` of the whole is done; `what` is in progress.
    pub(super) fn set(&mut self, share: f64, what: &str) {
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u64;
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(percent);
                if self.what != what {
                    bar.set_message(one_line(what).into_owned());
                }
            }
            Shown::Lines { started, next } => {
                let now = Instant::now();
                if now >= *next {
                    let elapsed = started.elapsed().as_secs_f64();
                    let left = match share {
                        share if share > 0.02 => {
                            format!(", about {:.0} s left", elapsed / share - elapsed)
                        }
                        _ => String::new(),
                    };
                    eprintln!("{percent:3}%  {elapsed:.0} s{left}: {what}");
                    *next = now + BETWEEN_LINES;
                }
            }
            Shown::Json { runs, next } => {
                let now = Instant::now();
                let told =
                    Told { share: share.clamp(0.0, 1.0), what: what.to_owned(), runs: *runs };
                if now >= *next
                    && let Ok(line) = serde_json::to_string(&told)
                {
                    say(&visible_json(&line));
                    *next = now + BETWEEN_JSON;
                }
            }
        }
        if self.what != what {
            self.what = what.to_owned();
        }
    }

    /// Prints a line without disturbing the bar.
    pub(super) fn line(&self, text: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(|| eprintln!("{text}")),
            _ => eprintln!("{text}"),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}
