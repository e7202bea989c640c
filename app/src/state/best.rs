//! Settings of the view that says who wins.

use serde::{Deserialize, Serialize};

/// What winners are compared with, and how all kernels are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BestState {
    /// What winners are compared with: `vendor`, or the start of a bundle's SHA-256; empty for the
    /// operation's reference.
    pub over: String,
    /// A table of all kernels in place of the list.
    pub heat: bool,
}

impl BestState {
    pub(super) fn fields(&self) -> [(&'static str, String); 2] {
        [("over", self.over.clone()), ("heat", self.heat.to_string())]
    }

    /// Takes a value if the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "over" => self.over = value.into(),
            "heat" => self.heat = value == "true",
            _ => {}
        }
    }
}
