//! Memory that a configuration uses.

/// An array that a configuration keeps in memory while it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Name of the array; configurations with the same name share it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}
