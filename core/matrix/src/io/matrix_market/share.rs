//! A share of the lines of a `coordinate` file, for one of several readers that do not see each other's
//! lines.

use super::Header;
use super::body::Notes;
use super::coordinate;
use super::header::Format;
use crate::io::{Field, IoError, Progress, Symmetry};
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// The nonzeros of a share of the lines, in order. If the file stores one triangle, each off-diagonal nonzero
/// is followed by its mirror.
#[derive(Debug)]
pub struct FileShare {
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of the matrix.
    pub cols: u64,
    /// Number of lines with nonzeros of all shares together, as declared by the file.
    pub declared: u64,
    /// Number of lines of this share.
    pub lines: u64,
    /// Kind of values.
    pub field: Field,
    /// Symmetry.
    pub symmetry: Symmetry,
    /// Row, column, value; duplicates are kept.
    pub entries: Vec<(u32, u32, f64)>,
    /// Warnings for the user on how values were read.
    pub warnings: Vec<String>,
}

/// Reads the `k`-th of `shares` shares of about equal bytes, cut at line ends. Errors give the line number in
/// the file.
pub fn read_share(
    text: &[u8],
    (k, shares): (usize, usize),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<FileShare, IoError> {
    let header = Header::read(text)?;
    if header.format != Format::Coordinate {
        let expected = "a coordinate file, because several ranks read it in parallel".to_owned();
        return Err(IoError::Unexpected { line: 1, expected, found: "an array file".to_owned() });
    }
    let cut = |k: usize| {
        let body = (text.len() - header.body) as u128;
        let nominal = header.body + (body * k as u128 / shares.max(1) as u128) as usize;
        // A share begins after the first line end at or after the byte before it.
        let from = nominal.saturating_sub(1).max(header.body.saturating_sub(1));
        let tail = text.get(from..).unwrap_or_default();
        memchr::memchr(b'\n', tail).map_or(text.len(), |at| from + at + 1)
    };
    let begin = if k == 0 { header.body } else { cut(k) };
    let end = if k + 1 < shares { cut(k + 1) } else { text.len() };
    let header = Header { body: begin.min(end), ..header };
    let text = text.get(..end).unwrap_or(text);
    let most = (end - header.body) as u128 / 4 * 2;
    limit.check("this rank's share of the file", 16 * most.min(2 * u128::from(header.declared)))?;
    if header.field == Field::Complex {
        return Err(IoError::RealOnly);
    }
    let (entries, notes): (_, Notes) = at_once(coordinate::entries(text, &header, progress))?;
    if header.symmetry == Symmetry::SkewSymmetric && notes.off_symmetry > 0 {
        return Err(coordinate::skew_diagonal::<f64>(text, &header));
    }
    Ok(FileShare {
        rows: header.rows.into(),
        cols: header.cols.into(),
        declared: header.declared,
        lines: notes.entries,
        field: header.field,
        symmetry: header.symmetry,
        entries,
        warnings: notes.warnings(&header),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::matrix_market::read_bytes;
    use crate::matrix::Csr;

    fn shares(text: &str, shares: usize) -> Result<Vec<FileShare>, IoError> {
        let share = |k| {
            let limit = MemoryLimit::unlimited();
            read_share(text.as_bytes(), (k, shares), limit, Progress::none())
        };
        (0..shares).map(share).collect()
    }

    #[test]
    fn shares_of_any_number_make_the_matrix_of_the_file() {
        let mut symmetric =
            "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n9 9 14\n".to_owned();
        for k in 1..=9 {
            symmetric += &format!("{k} {k} 4.5\n");
        }
        symmetric += "3 1 -1\n\n9 2 0.25\n3 1 -2\n4 4 1e-3\n9 8 7";
        let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n";
        for text in [symmetric.as_str(), pattern] {
            let whole = read_bytes(text.as_bytes(), MemoryLimit::unlimited(), Progress::none());
            let whole = whole.unwrap().matrix.into_real().unwrap();
            for number in [1, 2, 3, 7, 40] {
                let shares = shares(text, number).unwrap();
                let lines: u64 = shares.iter().map(|share| share.lines).sum();
                assert_eq!(lines, shares[0].declared, "{number} shares");
                let triplets: Vec<_> = shares
                    .iter()
                    .flat_map(|share| &share.entries)
                    .map(|&(row, col, value)| (row as usize, col as usize, value))
                    .collect();
                let made = Csr::from_triplets(whole.rows(), whole.cols(), &triplets).unwrap();
                assert_eq!(made, whole, "{number} shares");
            }
        }
    }

    #[test]
    fn an_error_names_the_line_of_the_whole_file() {
        let text =
            "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 2\n3 3 x\n1 2 3\n";
        let error = shares(text, 3).unwrap_err().to_string();
        assert_eq!(error, "line 5: expected a number, found \"x\"");
        let text = "%%MatrixMarket matrix array real general\n1 1\n1\n";
        assert!(shares(text, 2).unwrap_err().to_string().contains("a coordinate file"));
    }
}
