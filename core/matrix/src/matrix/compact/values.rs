//! Options for storing the values of compact formats.

/// How the values of a compact format are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueCoding {
    /// As 8- or 16-bit codes if the matrix has few enough distinct values and that is smaller, else
    /// plainly.
    #[default]
    Auto,
    /// Plain values.
    Plain,
    /// 8-bit codes: at most 256 distinct values.
    Byte,
    /// 16-bit codes: at most 65 536 distinct values.
    Short,
}

impl ValueCoding {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Plain, Self::Byte, Self::Short];

    /// `auto`, `plain`, `8` or `16`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Plain => "plain",
            Self::Byte => "8",
            Self::Short => "16",
        }
    }
}
