//! Settings of the view of winners.

use serde::{Deserialize, Serialize};

/// What winners are compared with, and how all kernels are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BestState {
    /// Baseline of the comparison: `vendor`, or the start of a bundle's SHA-256; empty for the
    /// operation's reference.
    pub over: String,
    /// Show a table of all kernels instead of the list.
    pub heat: bool,
    /// Column that the list is sorted by; empty for the size.
    pub by: String,
    /// Descending order.
    pub down: bool,
}

impl BestState {
    pub(super) fn fields(&self) -> [(&'static str, String); 4] {
        [
            ("over", self.over.clone()),
            ("heat", self.heat.to_string()),
            ("by", self.by.clone()),
            ("down", self.down.to_string()),
        ]
    }

    /// Sets a value if the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "over" => self.over = value.into(),
            "heat" => self.heat = value == "true",
            "by" => self.by = value.into(),
            "down" => self.down = value == "true",
            _ => {}
        }
    }
}
