//! Where a format keeps the j-th stored slot of a row: the arithmetic shared by conversions,
//! kernels, tests and pictures.

/// Order in which the slots of an ELLPACK block follow one another.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The slots of a row are adjacent, as in the papers' CPU kernels.
    RowMajor,
    /// The j-th slots of adjacent rows are adjacent, so that a warp's loads coalesce.
    ColumnMajor,
}

impl Order {
    /// `row-major` or `column-major`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RowMajor => "row-major",
            Self::ColumnMajor => "column-major",
        }
    }
}

/// Slot arithmetic of a format, without its arrays. Slots are numbered from 0 in the order of the
/// `col` and `val` arrays; the first `row_len` slots of a row hold its nonzeros in ascending
/// column order, the others are padding.
pub trait SlotLayout {
    /// Stored slots, padding included.
    fn slots(&self) -> u64;
    /// Slots kept for `row`, padding included: the number of steps of a kernel that multiplies
    /// padding.
    fn row_slots(&self, row: usize) -> usize;
    /// Index of slot `j < row_slots(row)` of `row`.
    fn slot(&self, row: usize, j: usize) -> u64;
}
