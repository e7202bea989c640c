//! Where a format keeps the j-th stored slot of a row: the arithmetic shared by conversions,
//! kernels, tests and pictures.

use super::Scalar;
use crate::memory::zeroed;
use crate::parallel::*;

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

/// Rows, or columns, whose elements [`transposed`] copies while they are in a cache.
const TILE: usize = 64;

/// Bytes that [`transposed`] needs besides its result for a matrix of these rows and columns: the list of the pieces of
/// all columns.
pub fn transposing_bytes(rows: usize, columns: usize) -> u128 {
    let of_tile = columns as u128 * size_of::<&mut [u8]>() as u128;
    match columns > rows {
        true => 0,
        false => rows.div_ceil(TILE) as u128 * (of_tile + size_of::<Vec<&mut [u8]>>() as u128),
    }
}

/// The elements by columns of a dense matrix that is stored by rows of `columns` elements. With the
/// number of rows instead, those by rows of a matrix that is stored by columns.
pub fn transposed<T: Scalar>(elements: &[T], columns: usize) -> Vec<T> {
    let columns = columns.max(1);
    let rows = (elements.len() / columns).max(1);
    let mut made = zeroed(T::ZERO, elements.len());
    let fill = |column: &mut [T], of_rows: &[T], j: usize| {
        column.iter_mut().zip(of_rows.iter().skip(j).step_by(columns)).for_each(|(to, &x)| *to = x);
    };
    if columns > rows {
        made.par_chunks_mut(TILE * rows).enumerate().for_each(|(tile, of_columns)| {
            for (j, column) in of_columns.chunks_mut(rows).enumerate() {
                fill(column, elements, tile * TILE + j);
            }
        });
        return made;
    }
    // The pieces of all columns, by tile of the rows.
    let mut tiles: Vec<Vec<&mut [T]>> = Vec::with_capacity(rows.div_ceil(TILE));
    tiles.resize_with(rows.div_ceil(TILE), || Vec::with_capacity(columns));
    for column in made.chunks_mut(rows) {
        tiles.iter_mut().zip(column.chunks_mut(TILE)).for_each(|(tile, piece)| tile.push(piece));
    }
    tiles.into_par_iter().zip(elements.par_chunks(TILE * columns)).for_each(|(tile, of_rows)| {
        tile.into_iter().enumerate().for_each(|(j, piece)| fill(piece, of_rows, j));
    });
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_by_rows_is_stored_by_columns_and_back() {
        let by_rows: Vec<f64> = (0..130 * 3).map(f64::from).collect();
        let by_columns = transposed(&by_rows, 3);
        let expected = (0..3).flat_map(|j| (0..130).map(move |i| f64::from(3 * i + j)));
        assert_eq!(by_columns, expected.collect::<Vec<_>>());
        assert_eq!(transposed(&by_columns, 130), by_rows);
        // A tile and no more, and as many rows as columns.
        let square: Vec<f64> = (0..64 * 64).map(f64::from).collect();
        let turned = transposed(&square, 64);
        assert_eq!([turned[1], turned[64]], [64.0, 1.0]);
        assert_eq!(transposed(&turned, 64), square);
        assert!(transposed::<f32>(&[], 0).is_empty());
    }

    #[test]
    fn the_pieces_of_all_columns_are_counted_where_there_are_fewer_columns_than_rows() {
        let [piece, list] = [size_of::<&mut [f64]>(), size_of::<Vec<&mut [f64]>>()];
        // Two tiles of 64 rows and one of two.
        assert_eq!(transposing_bytes(130, 3), 3 * (3 * piece + list) as u128);
        assert_eq!([transposing_bytes(3, 130), transposing_bytes(0, 5)], [0; 2]);
    }
}
