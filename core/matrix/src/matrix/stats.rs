//! Statistics of a matrix: row lengths, structure, symmetry and the size of each format.

use crate::parallel::*;
use serde::{Deserialize, Serialize};

use super::{Csr, FormatSize, FormatSpec, Scalar};
use crate::pace::{Pace, at_once};

/// Row-length figures of an m-row matrix; all 0 without rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowLengths {
    /// Shortest row.
    pub min: u64,
    /// First quartile.
    pub q1: u64,
    /// Median.
    pub median: u64,
    /// Third quartile.
    pub q3: u64,
    /// Longest row.
    pub max: u64,
    /// nnz / m.
    pub mean: f64,
    /// Standard deviation (population).
    pub stddev: f64,
    /// The Cranfield paper's average deviation, 1/m Σ|x_i − mean|.
    pub average_deviation: f64,
    /// `average_deviation` in percent of the mean.
    pub percent_average_deviation: f64,
    /// Number of empty rows.
    pub empty: u64,
    /// `histogram[b]` counts rows of length 0 (b = 0) or 2^(b−1) ..= 2^b − 1.
    pub histogram: Vec<u64>,
}

/// Statistics of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Number of stored nonzeros.
    pub nnz: u64,
    /// nnz / (rows · cols); 0 for an empty matrix.
    pub density: f64,
    /// The papers' size class of nnz, e.g. `100k-500k`.
    pub nnz_class: String,
    /// Row lengths.
    pub row: RowLengths,
    /// Largest i − j over the nonzeros (below the diagonal); 0 when none.
    pub lower_bandwidth: u64,
    /// Largest j − i over the nonzeros (above the diagonal); 0 when none.
    pub upper_bandwidth: u64,
    /// Σ over rows of the distance from the first nonzero to the diagonal (0 for rows whose first
    /// nonzero lies right of it).
    pub profile: u64,
    /// Number of stored nonzeros on the diagonal.
    pub diagonal: u64,
    /// Share of off-diagonal nonzeros (i, j) whose mirror (j, i) is stored too; 1 when there are
    /// none. Only for square matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structural_symmetry: Option<f64>,
    /// Share of off-diagonal nonzeros whose mirror has the same value. Only for square matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numerical_symmetry: Option<f64>,
    /// Size of each format.
    pub formats: Vec<FormatSize>,
}

/// Upper bounds of the papers' size classes and their names; the last is unbounded.
const NNZ_CLASSES: [(u64, &str); 6] = [
    (10_000, "<10k"),
    (100_000, "10k-100k"),
    (500_000, "100k-500k"),
    (1_000_000, "500k-1M"),
    (2_500_000, "1M-2.5M"),
    (10_000_000, "2.5M-10M"),
];

/// The papers' size class of a number of nonzeros; a bound belongs to the class above it.
pub fn nnz_class(nnz: u64) -> &'static str {
    NNZ_CLASSES.iter().find(|&&(bound, _)| nnz < bound).map_or(">10M", |&(_, name)| name)
}

impl RowLengths {
    /// Statistics of the given row lengths.
    pub fn of(lengths: &[u32]) -> Self {
        let m = lengths.len();
        if m == 0 {
            return Self::default();
        }
        let mut sorted = lengths.to_vec();
        sorted.par_sort_unstable();
        // The value below which a quarter, half, … of the rows lie (nearest rank).
        let rank = |share: f64| u64::from(sorted[((m as f64 * share).ceil() as usize).max(1) - 1]);
        let total: u64 = lengths.iter().map(|&l| u64::from(l)).sum();
        let mean = total as f64 / m as f64;
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            lengths.iter().map(|&l| f(f64::from(l) - mean)).sum::<f64>() / m as f64
        };
        let average_deviation = mean_of(&f64::abs);
        let longest = sorted[m - 1];
        let mut histogram = vec![0u64; bucket(longest) + 1];
        for &l in lengths {
            histogram[bucket(l)] += 1;
        }
        Self {
            min: u64::from(sorted[0]),
            q1: rank(0.25),
            median: rank(0.5),
            q3: rank(0.75),
            max: u64::from(longest),
            mean,
            stddev: mean_of(&|d| d * d).sqrt(),
            average_deviation,
            percent_average_deviation: if total == 0 {
                0.0
            } else {
                100.0 * average_deviation / mean
            },
            empty: histogram[0],
            histogram,
        }
    }
}

/// Histogram bucket of a row length: 0, 1, 2–3, 4–7, 8–15, …
fn bucket(len: u32) -> usize {
    (u32::BITS - len.leading_zeros()) as usize
}

/// The distance of nonzeros from the diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// Largest i − j over the nonzeros; 0 when none is below the diagonal.
    pub lower: u64,
    /// Largest j − i over the nonzeros; 0 when none is above it.
    pub upper: u64,
    /// Σ over rows of the distance from the first nonzero to the diagonal.
    pub profile: u64,
}

impl Band {
    /// The band of `a`.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let rows = (0..a.rows()).into_par_iter().map(|i| Self::of_row(a.row(i).0, i));
        rows.reduce(Self::default, Self::join)
    }

    /// The band of one row with these ascending columns.
    fn of_row(col: &[u32], i: usize) -> Self {
        let (Some(&first), Some(&last)) = (col.first(), col.last()) else {
            return Self::default();
        };
        let lower = (i as u64).saturating_sub(u64::from(first));
        Self { lower, upper: u64::from(last).saturating_sub(i as u64), profile: lower }
    }

    fn join(self, other: Self) -> Self {
        Self {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
            profile: self.profile + other.profile,
        }
    }
}

/// Sums that one pass over the nonzeros collects.
#[derive(Clone, Copy, Default)]
struct Structure {
    band: Band,
    diagonal: u64,
    mirrored: u64,
    equal: u64,
}

impl Structure {
    fn of_row<T: Scalar>(a: &Csr<T>, i: usize, square: bool) -> Self {
        let (col, val) = a.row(i);
        let mut s = Self { band: Band::of_row(col, i), ..Self::default() };
        for (&c, &v) in col.iter().zip(val) {
            let j = c as usize;
            if i == j {
                s.diagonal = 1;
            } else if square {
                let (mirror_col, mirror_val) = a.row(j);
                if let Ok(k) = mirror_col.binary_search(&(i as u32)) {
                    s.mirrored += 1;
                    s.equal += u64::from(mirror_val[k] == v);
                }
            }
        }
        s
    }

    fn join(self, other: Self) -> Self {
        Self {
            band: self.band.join(other.band),
            diagonal: self.diagonal + other.diagonal,
            mirrored: self.mirrored + other.mirrored,
            equal: self.equal + other.equal,
        }
    }
}

impl Statistics {
    /// Statistics of `a`, in parallel on the ambient thread pool.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Self {
        at_once(Self::at(a, Pace::AtOnce))
    }

    /// Like [`of`](Self::of), in steps if `pace` asks for them.
    pub async fn at<T: Scalar>(a: &Csr<T>, pace: Pace) -> Self {
        let (m, n, nnz) = (a.rows(), a.cols(), a.nnz());
        let square = m == n;
        let lengths: Vec<u32> = (0..m).into_par_iter().map(|i| a.row_len(i) as u32).collect();
        let mut s = Structure::default();
        for rows in pace.pieces(m) {
            let of_rows = rows.into_par_iter().map(|i| Structure::of_row(a, i, square));
            s = s.join(of_rows.reduce(Structure::default, Structure::join));
            pace.rest().await;
        }
        let row = RowLengths::of(&lengths);
        let mut formats = Vec::new();
        for format in FormatSpec::DEFAULTS {
            pace.rest().await;
            formats.extend(format.size_at(a, pace).await.ok());
        }
        let off_diagonal = nnz as u64 - s.diagonal;
        let share = |count: u64| match off_diagonal {
            0 => 1.0,
            total => count as f64 / total as f64,
        };
        let cells = m as f64 * n as f64;
        Self {
            rows: m as u64,
            cols: n as u64,
            nnz: nnz as u64,
            density: if cells == 0.0 { 0.0 } else { nnz as f64 / cells },
            nnz_class: nnz_class(nnz as u64).to_owned(),
            row,
            lower_bandwidth: s.band.lower,
            upper_bandwidth: s.band.upper,
            profile: s.band.profile,
            diagonal: s.diagonal,
            structural_symmetry: square.then(|| share(s.mirrored)),
            numerical_symmetry: square.then(|| share(s.equal)),
            formats,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    #[test]
    fn the_thesis_example_has_the_figures_worked_out_by_hand() {
        let s = Statistics::of(&examples::four_by_four());
        assert_eq!((s.rows, s.cols, s.nnz), (4, 4, 9));
        assert_eq!(s.density, 9.0 / 16.0);
        assert_eq!((s.row.min, s.row.max, s.row.mean), (2, 3, 2.25));
        // Deviations from 2.25: three of 0.25 and one of 0.75.
        assert_eq!(s.row.average_deviation, 1.5 / 4.0);
        assert_eq!(s.row.stddev, (0.75f64 / 4.0).sqrt());
        assert_eq!(s.row.percent_average_deviation, 100.0 * 0.375 / 2.25);
        assert_eq!(s.row.histogram, [0, 0, 4]);
        assert_eq!((s.lower_bandwidth, s.upper_bandwidth, s.profile), (2, 1, 4));
        assert_eq!(s.diagonal, 4);
        // Off the diagonal: (0,1) (1,2) (2,0) (2,3) (3,1); no mirror is stored.
        assert_eq!(s.structural_symmetry, Some(0.0));
    }

    #[test]
    fn symmetry_counts_pattern_and_values_apart() {
        let a = examples::dense(&[[1.0, 2.0, 3.0], [2.0, 0.0, 0.0], [4.0, 5.0, 0.0]]);
        let s = Statistics::of(&a);
        // (0,1)~(1,0) equal; (0,2)~(2,0) unequal; (2,1) has no mirror.
        assert_eq!(s.structural_symmetry, Some(4.0 / 5.0));
        assert_eq!(s.numerical_symmetry, Some(2.0 / 5.0));
        let wide = examples::dense(&[[1.0, 2.0]]);
        assert_eq!(Statistics::of(&wide).structural_symmetry, None);
    }

    #[test]
    fn sizes_follow_the_formulas_for_minimal_bytes() {
        let s = Statistics::of(&examples::five_by_five());
        let of = |name: &str| s.formats.iter().find(|f| f.format == name).unwrap();
        let (m, n, nnz) = (5, 5, 10);
        assert_eq!(of("coo").minimal_bytes, 16 * nnz + 8 * m + 8 * n);
        assert_eq!(of("csr").minimal_bytes, 12 * nnz + 4 * (m + 1) + 8 * m + 8 * n);
        assert_eq!(of("ell").minimal_bytes, 12 * m * 2 + 8 * m + 8 * n);
        assert_eq!(of("hyb").minimal_bytes, 12 * m * 2 + 8 * m + 8 * n);
        // One hack of 32 in row-major order stores five rows, in column-major order 32.
        assert_eq!((of("hll").slots, of("hll-column-major").slots), (10, 64));
        assert_eq!(of("hll-column-major").padding, 6.4);
    }

    #[test]
    fn size_classes_are_those_of_the_papers_charts() {
        let classes = [9_999, 10_000, 499_999, 500_000, 2_499_999, 9_999_999, 10_000_000];
        let names: Vec<_> = classes.into_iter().map(nnz_class).collect();
        let expected = ["<10k", "10k-100k", "100k-500k", "500k-1M", "1M-2.5M", "2.5M-10M", ">10M"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_few_entries_among_three_million_empty_rows_are_found() {
        let rows = 3_000_000;
        let entries = [(7, 7, 1.0), (7, 8, 2.0), (1_500_000, 2, 3.0), (rows - 1, 0, 4.0)];
        let s = Statistics::of(&Csr::from_triplets(rows, rows, &entries).unwrap());
        assert_eq!((s.nnz, s.row.empty, s.row.max, s.diagonal), (4, rows as u64 - 3, 2, 1));
        assert_eq!((s.lower_bandwidth, s.upper_bandwidth), (rows as u64 - 1, 1));
        let slots = |name: &str| s.formats.iter().find(|f| f.format == name).unwrap().slots;
        // Almost all rows are empty: HYB keeps every nonzero in its COO part.
        assert_eq!((slots("ell"), slots("hyb"), slots("csr-compact")), (2 * rows as u64, 4, 4));
        // Three hacks of 32 rows have nonzeros, one of width 2; the last one is full.
        assert_eq!((slots("hll"), slots("hll-column-major")), (32 * 4, 32 * 4));
    }

    #[test]
    fn a_matrix_without_rows_or_entries_has_finite_figures() {
        for a in [Csr::<f64>::from_triplets(0, 0, &[]), Csr::from_triplets(3, 4, &[])] {
            let s = Statistics::of(&a.unwrap());
            assert!(s.density == 0.0 && s.row.percent_average_deviation == 0.0);
            assert!(s.formats.iter().all(|f| f.padding == 1.0));
        }
    }
}
