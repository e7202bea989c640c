//! Settings of the view of winners.

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;

choice! {
    /// How the winners are shown.
    Form:
    /// The form that suits what is open.
    #[default]
    Auto "auto" "Automatic",
    /// Subjects by kernels.
    Heat "heat" "Heat map",
    /// One row per subject, with a strip of all competitors.
    List "list" "List",
    /// The kernels of each subject, ranked.
    Bars "bars" "Bars",
    /// The winner on each subject, against the baseline.
    Rates "rates" "Winners only",
    /// The rate against the size of the subject.
    Sizes "sizes" "Rate over size",
    /// The best kernel of each bundle, side by side.
    Compare "compare" "Compare bundles",
    /// The best kernels for a matrix, for its transpose, and for both.
    Pair "pair" "A and A'",
}

/// What winners are compared with, and how all kernels are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BestState {
    /// Baseline of the comparison: `vendor`, `serial` for the operation's reference, or the start of
    /// a bundle's SHA-256; empty for the best vendor kernel if there is any, else the reference.
    pub over: String,
    /// How the winners are shown.
    #[serde(rename = "as")]
    pub form: Form,
    /// Column that the list is sorted by; empty for the size.
    pub by: String,
    /// Descending order.
    pub down: bool,
    /// Show the subjects that are bound by launching.
    pub unfolded: bool,
    /// What the winners are ranked by, and which runs compete.
    pub ranking: Ranking,
}

/// Id of the view of winners.
pub(super) const BEST: &str = "best";

impl BestState {
    /// The settings of links of older versions that name none: the list of all subjects, compared
    /// with the reference.
    pub(super) fn of_old_links() -> Self {
        Self { over: "serial".into(), form: Form::List, unfolded: true, ..Self::default() }
    }

    pub(super) fn fields(&self) -> [(&'static str, String); 8] {
        let [by, error] = self.ranking.fields();
        [
            ("over", self.over.clone()),
            // Links of older versions; `as=heat` replaces it.
            ("heat", false.to_string()),
            ("as", self.form.id().into()),
            ("by", self.by.clone()),
            ("down", self.down.to_string()),
            ("launch", if self.unfolded { "open".into() } else { String::new() }),
            by,
            error,
        ]
    }

    /// Sets a value if the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "over" => self.over = value.into(),
            "heat" if value == "true" => self.form = Form::Heat,
            "as" => self.form = Form::from_id(value).unwrap_or(self.form),
            "by" => self.by = value.into(),
            "down" => self.down = value == "true",
            "launch" => self.unfolded = value == "open",
            _ => self.ranking.set(key, value),
        }
    }
}
