//! What a bundle says of runs that were left out when it was imported.

use crate::bundle::Bundle;

/// How names of entries begin that hold these sentences.
pub(super) const LEFT_OUT: &str = "imported/left-out-";

impl Bundle {
    /// What was left out when results of other programs were imported: a sentence without its end
    /// for each file.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let entries = self.others.iter().filter(|(name, _)| name.starts_with(LEFT_OUT));
        let sentences = entries.filter_map(|(_, sentence)| std::str::from_utf8(sentence).ok());
        // A stranger's bundle may hold anything.
        sentences.filter(|sentence| !sentence.chars().any(char::is_control))
    }
}
