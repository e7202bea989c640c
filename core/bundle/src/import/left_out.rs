//! What a bundle says about runs that were left out on import.

use crate::Bundle;

/// Name prefix of the entries that hold these sentences.
pub(super) const LEFT_OUT: &str = "imported/left-out-";

impl Bundle {
    /// What was left out when results of other programs were imported: one sentence per file,
    /// without a final period.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let entries = self.others.iter().filter(|(name, _)| name.starts_with(LEFT_OUT));
        let sentences = entries.filter_map(|(_, sentence)| std::str::from_utf8(sentence).ok());
        // A bundle from elsewhere may hold anything.
        sentences.filter(|sentence| !sentence.chars().any(char::is_control))
    }
}
