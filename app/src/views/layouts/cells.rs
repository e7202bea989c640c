//! The cells of an array, and what each belongs to.

use egui::Rect;
use sparsescope_core::layout::Array;

/// What a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
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
    /// No part of the matrix: the end of an array of pointers, unused room.
    Free,
}

/// A cell of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) owner: Owner,
    /// A thicker line stands before it: a hack or another part begins.
    pub(super) begins: bool,
}

/// A place that a pointer finds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spot {
    pub(super) rect: Rect,
    pub(super) owner: Owner,
    /// What it is, in words.
    pub(super) name: String,
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

impl Owner {
    /// Whether it has to do with the entry (i, j).
    pub(super) fn concerns(self, (i, j): (usize, usize)) -> bool {
        match self {
            Self::Entry(row, col) | Self::Nothing(row, col) => (row, col) == (i, j),
            Self::Row(row) => row == i,
            Self::Col(col) => col == j,
            Self::Rows(first, end) => (first..end).contains(&i),
            Self::Padding(_) | Self::Free => false,
        }
    }

    /// The entry that a click on it points at.
    pub(super) fn entry(self) -> Option<(usize, usize)> {
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
