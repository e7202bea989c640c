//! Determines what a file is from its content and name, and calls the reader for it.

use std::borrow::Cow;

use super::form::{self, form_of};
use super::unpack::{Layers, Unpacked, beside, unpack};
use super::{
    IoError, MatrixFile, MatrixForm, Progress, ReadOptions, edge_list, foreign, matrix_market,
    metis, tar, triplet_text,
};
use crate::memory::MemoryLimit;
use crate::pace::{Pace, at_once};

/// Reads a matrix from the bytes of a Matrix Market file or of an archive that contains one; compressed data
/// (gzip, bzip2, xz, Zstandard, zip) is decompressed first.
pub fn read_matrix(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    read_named_matrix("matrix.mtx", data, limit, progress)
}

/// Like [`read_matrix`], for a file called `name`, where endings such as `.gz` do not count. Unless the name
/// ends in `.mtx`, the file may also be plain triplet text: a line `rows columns entries` or `rows entries`,
/// then a line `row column value` per nonzero, an edge list, or a graph in METIS format; a graph that is valid
/// triplet text, too, needs a name that ends in `.graph` or `.metis`.
pub fn read_named_matrix(
    name: &str,
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    read_named_matrix_as(name, data, &ReadOptions::default(), limit, progress)
}

/// Like [`read_named_matrix`], with options; files of forms to which one of them does not apply are refused.
pub fn read_named_matrix_as(
    name: &str,
    data: &[u8],
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    at_once(read(name, data, options, limit, progress))
}

/// Like [`read_named_matrix`], in steps, so that the caller can do other work between polls. Archives are
/// unpacked in one step.
pub async fn read_named_matrix_in_steps(
    name: &str,
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    read(name, data, &ReadOptions::default(), limit, progress.at(Pace::InSteps)).await
}

async fn read(
    name: &str,
    data: &[u8],
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let mut unpacked = contents(name, data, limit, progress).await?;
    let member = unpacked.member.take();
    let read = read_unpacked(unpacked, options, limit).await;
    read.map_err(|error| error.in_member(member.as_deref()))
}

async fn read_unpacked(
    Unpacked { name, text, progress, warnings, .. }: Unpacked<'_>,
    options: &ReadOptions,
    limit: MemoryLimit,
) -> Result<MatrixFile, IoError> {
    let limit = beside(&text, limit);
    if let Some(stored) = form::stored(&name, &text) {
        options.form(stored.form)?;
        let mut file = (stored.read)(&text, options, limit, progress)?;
        file.warnings.splice(0..0, warnings);
        return Ok(file);
    }
    foreign::refuse(&text, "a matrix")?;
    let form = form_of(&name, &text, options, limit)?;
    let form = options.form(form).map_err(|error| edge_list::unfit(error, &text))?;
    let mut file = match form {
        MatrixForm::EdgesFrom0 | MatrixForm::EdgesFrom1 => {
            edge_list::read_text(text, options, limit, progress).await?
        }
        MatrixForm::Metis => metis::read_bytes(&text, limit, progress).await?,
        MatrixForm::Triplets => triplet_text::read_bytes(&text, limit, progress).await?,
        // The others have a reader of their own.
        _ => {
            let header = matrix_market::Header::read(&text)?;
            matrix_market::read_first(&text, &header, limit, progress).await?
        }
    };
    file.warnings.splice(0..0, warnings);
    Ok(file)
}

/// The contents of a file after decompressing it or, of a tar archive, those of the matrix in it.
async fn contents<'a>(
    name: &str,
    data: &'a [u8],
    limit: MemoryLimit,
    progress: Progress<'a>,
) -> Result<Unpacked<'a>, IoError> {
    let mut layers = Layers::of(name, data, limit, progress)?;
    if !tar::is_tar(&layers.start) {
        return layers.text(limit, progress).await;
    }
    let read = tar::read_matrix(&mut layers, limit);
    let tar::Member { name: member, content, warning } =
        read.map_err(|error| error.in_member(layers.member.as_deref()))?;
    let mut warnings = layers.warnings();
    warnings.extend(warning);
    // The member may be compressed, too.
    let left = MemoryLimit::bytes(limit.get().saturating_sub(content.len() as u64));
    let progress = progress.uncounted();
    let unpacked = unpack(&member, &content, left, progress).await;
    let Unpacked { name, text, warnings: more, .. } =
        unpacked.map_err(|error| error.in_member(Some(&member)))?;
    warnings.extend(more);
    let text = match text {
        Cow::Owned(text) => Some(text),
        Cow::Borrowed(_) => None,
    };
    let text = Cow::Owned(text.unwrap_or(content));
    Ok(Unpacked { name, member: Some(member), text, progress, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, data: &[u8]) -> Result<MatrixFile, IoError> {
        read_named_matrix(name, data, MemoryLimit::unlimited(), Progress::none())
    }

    #[test]
    fn a_name_that_promises_matrix_market_needs_the_banner_and_others_do_not() {
        let triplets = b"2 2 1\n2 1 5\n";
        for name in ["a.mtx", "a.MTX", "a.mtx.gz", "matrix.tar.mtx"] {
            let error = read(name, triplets).unwrap_err().to_string();
            assert!(error.starts_with("line 1: expected the banner"), "{name}: {error}");
        }
        for name in ["a.txt", "a.dat", "a", "a.mtx.txt", "a.gz"] {
            assert_eq!(read(name, triplets).unwrap().matrix.nnz(), 1, "{name}");
        }
    }

    #[test]
    fn a_banner_counts_whatever_the_file_is_called() {
        let symmetric = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n";
        assert_eq!(read("a.txt", symmetric).unwrap().matrix.nnz(), 2);
        // If the slip were taken for a comment, the file would become a general matrix.
        for slip in ["%%Matrix Market matrix", "% matrixmarket"] {
            let text = format!("{slip} coordinate real symmetric\n2 2 1\n2 1 5\n");
            let error = read("a.txt", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("line 1: expected the banner"), "{slip}: {error}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_zeros_after_gzip_data_are_ignored() {
        let text = b"\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n";
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        let packed = [encoder.finish().unwrap(), vec![0; 9]].concat();
        let said = "9 zero bytes after the end of the gzip data were ignored";
        for (data, warnings) in [(&text[..], vec![]), (&packed[..], vec![said.to_owned()])] {
            let file = read("a.mtx", data).unwrap();
            assert_eq!(file.matrix.real().unwrap().row(1), (&[0][..], &[5.0][..]));
            assert_eq!(file.warnings, warnings);
            let extent = crate::io::read_named_extent("a.mtx", data).unwrap();
            assert_eq!((extent.rows, extent.entries), (2, 1));
        }
    }

    #[test]
    fn what_is_no_matrix_is_named_under_any_name() {
        for (data, kind) in [
            (&b"<!DOCTYPE html>"[..], "HTML page"),
            (b"", "an empty file"),
            (b"version https://git-lfs", "Git LFS pointer"),
            (b"hello\n", "line 1: expected a matrix in one of these forms"),
        ] {
            let error = read("a.txt", data).unwrap_err().to_string();
            assert!(error.contains(kind), "{error}");
        }
    }
}
