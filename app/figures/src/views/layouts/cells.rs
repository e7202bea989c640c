//! The cells of an array, and their owners.

use std::ops::Range;

use emath::Rect;
use sparsescope_core::layout::Array;

/// The part of the matrix that a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The nonzero (i, j).
    Entry(usize, usize),
    /// An empty position of the dense picture.
    Nothing(usize, usize),
    /// Padding of a row.
    Padding(usize),
    /// A row: its pointer, its length, its element of y.
    Row(usize),
    /// A column: its element of x.
    Col(usize),
    /// Consecutive rows: for a hack's offset or width.
    Rows(usize, usize),
    /// A block: half-open ranges of its rows and columns.
    Block { rows: (usize, usize), cols: (usize, usize) },
    /// A diagonal: column minus row.
    Diagonal(i64),
    /// The k-th slot of each row of a hack.
    Line(usize),
    /// A value that several nonzeros may share.
    Value,
    /// A slot past the edge of the matrix.
    Outside,
    /// No part of the matrix: the end of an array of pointers, or unused space.
    Free,
}

/// A cell of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    /// The elements of the array that it stands for: a single one, or several that are elided.
    pub(super) elements: Range<u64>,
    pub(super) text: String,
    pub(super) owner: Owner,
    /// Draw a thicker line before it: a hack or another part starts.
    pub(super) begins: bool,
}

/// An area that reacts to the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    pub rect: Rect,
    pub owner: Owner,
    /// Its description.
    pub name: String,
}

/// An array of cells in one or more lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strip {
    pub(super) array: Array,
    pub(super) name: String,
    /// Bytes per element.
    pub(super) element: usize,
    pub(super) cells: Vec<Cell>,
}

impl Cell {
    /// Element `index` of an array.
    pub(super) fn new(index: usize, text: String, owner: Owner) -> Self {
        Self { elements: index as u64..index as u64 + 1, text, owner, begins: false }
    }

    /// Elements elided from the array, which belong to no row.
    pub(super) fn left_out(elements: Range<usize>) -> Self {
        let elements = elements.start as u64..elements.end as u64;
        Self { elements, text: "…".into(), owner: Owner::Free, begins: false }
    }

    /// Returns whether it stands for more than one element.
    pub(super) fn is_many(&self) -> bool {
        self.elements.end - self.elements.start > 1
    }

    /// Returns whether it stands for one of these elements.
    pub(super) fn is_among(&self, elements: &Range<u64>) -> bool {
        self.elements.start < elements.end && elements.start < self.elements.end
    }
}

impl Owner {
    /// The owner of the slot (i, j): outside the matrix, a nonzero, or empty.
    pub(super) fn of_slot((i, j): (usize, usize), is_inside: bool, is_stored: bool) -> Self {
        match (is_inside, is_stored) {
            (false, _) => Self::Outside,
            (true, true) => Self::Entry(i, j),
            (true, false) => Self::Padding(i),
        }
    }

    /// Returns whether it relates to the nonzero (i, j).
    pub(super) fn concerns(self, (i, j): (usize, usize)) -> bool {
        match self {
            Self::Entry(row, col) | Self::Nothing(row, col) => (row, col) == (i, j),
            Self::Row(row) => row == i,
            Self::Col(col) => col == j,
            Self::Rows(first, end) => (first..end).contains(&i),
            Self::Block { rows, cols } => {
                (rows.0..rows.1).contains(&i) && (cols.0..cols.1).contains(&j)
            }
            Self::Diagonal(offset) => j as i64 - i as i64 == offset,
            Self::Padding(_) | Self::Line(_) | Self::Value | Self::Outside | Self::Free => false,
        }
    }

    /// The nonzero that a click on it selects.
    pub fn entry(self) -> Option<(usize, usize)> {
        match self {
            Self::Entry(i, j) => Some((i, j)),
            _ => None,
        }
    }

    /// Describes the owner.
    pub(super) fn words(self) -> String {
        match self {
            Self::Entry(i, j) => format!("nonzero in row {i}, column {j}"),
            Self::Padding(row) => format!("padding of row {row}"),
            Self::Row(row) => format!("row {row}"),
            Self::Col(col) => format!("column {col}"),
            Self::Rows(first, end) => format!("rows {first} to {}", end.saturating_sub(1)),
            Self::Block { rows, cols } => format!(
                "block of rows {} to {}, columns {} to {}",
                rows.0,
                rows.1.saturating_sub(1),
                cols.0,
                cols.1.saturating_sub(1)
            ),
            Self::Diagonal(offset) => format!("diagonal of column = row {offset:+}"),
            Self::Line(slot) => format!("slot {slot} of every row of the hack"),
            Self::Value => "a value of the dictionary".into(),
            Self::Outside => "outside the matrix".into(),
            Self::Nothing(i, j) => format!("no nonzero in row {i}, column {j}"),
            Self::Free => "no row".into(),
        }
    }

    /// The row that determines its colour.
    pub(super) fn row(self) -> Option<usize> {
        match self {
            Self::Entry(row, _) | Self::Padding(row) | Self::Row(row) => Some(row),
            _ => None,
        }
    }
}
