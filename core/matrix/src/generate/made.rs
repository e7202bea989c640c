//! Measures a generator's matrix row by row without keeping it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use super::assemble::GenerateError;
use super::spec::GeneratorSpec;
use crate::memory::MemoryLimit;

/// Statistics of a generated matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Made {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Nonzeros.
    pub nnz: u64,
    /// Longest row.
    pub max: u64,
    /// Average deviation of the row lengths in percent of their mean.
    pub percent_average_deviation: f64,
    /// Largest |i − j|, if columns were examined.
    pub bandwidth: Option<u64>,
    /// Fraction of nonzeros whose column lies in the same block of eight as the previous nonzero's in the
    /// row, so that one cache line of x serves both; set if columns were examined.
    pub same_line: Option<f64>,
}

/// Sums over rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    nnz: u64,
    max: u64,
    bandwidth: u64,
    same_line: u64,
}

impl Sums {
    fn of_row(i: usize, row: &mut [(u32, f64)]) -> Self {
        row.sort_unstable_by_key(|&(column, _)| column);
        let distance = |&(column, _): &(u32, f64)| (i as u64).abs_diff(u64::from(column));
        let pairs = row.iter().zip(row.iter().skip(1));
        Self {
            nnz: row.len() as u64,
            max: row.len() as u64,
            bandwidth: row.first().map(distance).max(row.last().map(distance)).unwrap_or(0),
            same_line: pairs.filter(|((a, _), (b, _))| a / 8 == b / 8).count() as u64,
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            nnz: self.nnz + other.nnz,
            max: self.max.max(other.max),
            bandwidth: self.bandwidth.max(other.bandwidth),
            same_line: self.same_line + other.same_line,
        }
    }
}

/// Runs the generator over all rows and measures them without keeping any. Columns are examined if the matrix
/// has at most `columns_up_to` nonzeros; rows of larger matrices are only counted where that is faster than
/// generating them.
pub fn measure_made(
    spec: &GeneratorSpec,
    columns_up_to: u64,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Made, GenerateError> {
    let rule = spec.rule(limit)?;
    let rows = rule.rows();
    limit.check("the row lengths of a matrix", 4 * rows as u128)?;
    let mut lengths = vec![0u32; rows];
    let columns = rule.most_entries() <= u128::from(columns_up_to);
    const CHUNK: usize = 4096;
    let sums = lengths
        .par_chunks_mut(CHUNK)
        .enumerate()
        .map(|(chunk, lengths)| {
            let mut sums = Sums::default();
            let mut row = Vec::new();
            if cancel.load(Ordering::Relaxed) {
                return sums;
            }
            for (i, length) in (chunk * CHUNK..).zip(lengths) {
                let found = match rule.row_len(i).filter(|_| !columns) {
                    Some(counted) => {
                        Sums { nnz: counted as u64, max: counted as u64, ..Sums::default() }
                    }
                    None => {
                        row.clear();
                        rule.row(i, &mut row);
                        Sums::of_row(i, &mut row)
                    }
                };
                *length = found.nnz as u32;
                sums = sums.join(found);
            }
            sums
        })
        .reduce(Sums::default, Sums::join);
    if cancel.load(Ordering::Relaxed) {
        return Err(GenerateError::Cancelled);
    }
    let mean = sums.nnz as f64 / rows as f64;
    let deviation: f64 = lengths.iter().map(|&l| (f64::from(l) - mean).abs()).sum();
    let share = |part: f64, of: u64| if of == 0 { 0.0 } else { part / of as f64 };
    Ok(Made {
        rows: rows as u64,
        cols: rule.cols() as u64,
        nnz: sums.nnz,
        max: sums.max,
        percent_average_deviation: 100.0 * share(deviation, sums.nnz),
        bandwidth: columns.then_some(sums.bandwidth),
        same_line: columns.then_some(share(sums.same_line as f64, sums.nnz)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;
    use crate::matrix::Statistics;

    #[test]
    fn the_figures_are_those_of_the_matrix() {
        for spec in [
            "fem-hex?n=5&dof=3",
            "fem-tet?nx=4&ny=5&nz=6&dof=3&m=353",
            "shaped?m=900&nnz=9000&max=20&dev=2000",
            "powerlaw?m=9000&nnz=30000&max=200",
            "road?m=5000",
        ] {
            let spec = GeneratorSpec::parse(spec).unwrap();
            let (limit, cancel) = (MemoryLimit::unlimited(), AtomicBool::new(false));
            let made = measure_made(&spec, u64::MAX, limit, &cancel).unwrap();
            let s = Statistics::of(&generate(&spec, limit, &cancel).unwrap());
            assert_eq!((made.rows, made.cols, made.nnz), (s.rows, s.cols, s.nnz));
            assert_eq!(made.max, s.row.max);
            assert_eq!(made.bandwidth, Some(s.lower_bandwidth.max(s.upper_bandwidth)));
            let counted = measure_made(&spec, 0, limit, &cancel).unwrap();
            assert_eq!(counted, Made { bandwidth: None, same_line: None, ..made });
            let difference = made.percent_average_deviation - s.row.percent_average_deviation;
            assert!(difference.abs() < 1e-9, "{difference}");
        }
    }
}
