//! The cells of an array, and what each belongs to.

use std::ops::Range;

use emath::Rect;
use sparsescope_core::layout::Array;

/// What a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The entry (i, j).
    Entry(usize, usize),
    /// An empty place of the dense picture.
    Nothing(usize, usize),
    /// Padding of a row.
    Padding(usize),
    /// A row: its pointer, its length, its element of y.
    Row(usize),
    /// A column: its element of x.
    Col(usize),
    /// Consecutive rows: a hack's offset or width.
    Rows(usize, usize),
    /// A block: its first row and the one after its last, and its columns likewise.
    Block { rows: (usize, usize), cols: (usize, usize) },
    /// A diagonal: column minus row.
    Diagonal(i64),
    /// A slot of this number of each row of a hack.
    Line(usize),
    /// A value that entries may share.
    Value,
    /// A slot past the edge of the matrix.
    Outside,
    /// No part of the matrix: the end of an array of pointers, unused room.
    Free,
}

/// A cell of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    /// The elements of the array that it stands for: one, or some that are left out.
    pub(super) elements: Range<u64>,
    pub(super) text: String,
    pub(super) owner: Owner,
    /// A thicker line stands before it: a hack or another part begins.
    pub(super) begins: bool,
}

/// A place that a pointer finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    pub rect: Rect,
    pub owner: Owner,
    /// What it is, in words.
    pub name: String,
}

/// An array of cells in one or more lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strip {
    pub(super) array: Array,
    pub(super) name: String,
    /// Bytes of an element.
    pub(super) element: usize,
    pub(super) cells: Vec<Cell>,
}

impl Cell {
    /// Element `index` of an array.
    pub(super) fn new(index: usize, text: String, owner: Owner) -> Self {
        Self { elements: index as u64..index as u64 + 1, text, owner, begins: false }
    }

    /// Elements that no row has.
    pub(super) fn left_out(elements: Range<usize>) -> Self {
        let elements = elements.start as u64..elements.end as u64;
        Self { elements, text: "…".into(), owner: Owner::Free, begins: false }
    }

    /// Whether it stands for more than one element.
    pub(super) fn is_many(&self) -> bool {
        self.elements.end - self.elements.start > 1
    }

    /// Whether it stands for one of these elements.
    pub(super) fn is_among(&self, elements: &Range<u64>) -> bool {
        self.elements.start < elements.end && elements.start < self.elements.end
    }
}

impl Owner {
    /// The slot of (i, j): past the edge of the matrix, or with an entry or without.
    pub(super) fn of_slot((i, j): (usize, usize), is_inside: bool, is_stored: bool) -> Self {
        match (is_inside, is_stored) {
            (false, _) => Self::Outside,
            (true, true) => Self::Entry(i, j),
            (true, false) => Self::Padding(i),
        }
    }

    /// Whether it has to do with the entry (i, j).
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

    /// The entry that a click on it points at.
    pub fn entry(self) -> Option<(usize, usize)> {
        match self {
            Self::Entry(i, j) => Some((i, j)),
            _ => None,
        }
    }

    /// What it belongs to, in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Entry(i, j) => format!("entry in row {i}, column {j}"),
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
            Self::Line(slot) => format!("slot {slot} of each row of the hack"),
            Self::Value => "a value that codes stand for".into(),
            Self::Outside => "outside the matrix".into(),
            Self::Nothing(i, j) => format!("no entry in row {i}, column {j}"),
            Self::Free => "no row".into(),
        }
    }

    /// The row that it has its colour from.
    pub(super) fn row(self) -> Option<usize> {
        match self {
            Self::Entry(row, _) | Self::Padding(row) | Self::Row(row) => Some(row),
            _ => None,
        }
    }
}
