//! What a configuration keeps in memory.

/// An array that a configuration keeps in memory while it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// What it is; configurations that name the same share it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}
