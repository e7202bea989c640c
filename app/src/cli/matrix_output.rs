//! Matrices written in the form that the extension of the file says.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use sparsescope_core::io::binary_triplets::write_triplets;
use sparsescope_core::io::file_forms::{FORMS, FileForm};
use sparsescope_core::io::numpy::write_npz;
use sparsescope_core::io::{
    AnyMatrix, Field, IoError, Progress, matrix_market, write_petsc, write_rb,
};
use sparsescope_core::memory::MemoryLimit;

use super::interrupt::Interrupt;
use super::outcome::UsageError;
use super::output::{
    check_form, check_free, is_stdout, matrix_form, overwrite, save, say_written, watched,
};
use super::table::{count, counted};

type Writer = fn(&AnyMatrix, &mut dyn Write, Progress<'_>) -> Result<(), IoError>;

/// The writers of forms other than Matrix Market, by the first extension of the form.
const WRITERS: [(&str, Writer); 4] = [
    ("npz", write_npz),
    ("rb", |a, out, progress| write_rb(a, out, MemoryLimit::of_machine(), progress)),
    ("petsc", write_petsc),
    ("triplets", write_triplets),
];

/// The forms that have a writer.
fn written() -> impl Iterator<Item = &'static FileForm> {
    FORMS.iter().filter(|form| form.is_written)
}

/// Fails unless a file name says in which form a matrix is written. Standard output is Matrix Market.
pub(super) fn check_extension(path: &Path) -> Result<(), UsageError> {
    if is_stdout(path) || matrix_form(path).is_some_and(|form| form.is_written) {
        return Ok(());
    }
    let named = |form: &FileForm| Some(format!(".{} ({})", form.extensions.first()?, form.name));
    let forms: Vec<String> = written().filter_map(named).collect();
    Err(UsageError(format!(
        "expected a file to write that ends in one of {}, found {}",
        forms.join(", "),
        path.display()
    )))
}

/// A file to write a matrix to.
pub(super) struct MatrixOutput<'p> {
    path: &'p Path,
    /// Writes the form, unless it is Matrix Market.
    writer: Option<Writer>,
    symmetric: bool,
    force: bool,
}

impl<'p> MatrixOutput<'p> {
    /// The file at this path; with `symmetric`, one triangle. Fails if it must not be written; called before long
    /// work. A name without the extension of a form means Matrix Market.
    pub(super) fn new(path: &'p Path, symmetric: bool, force: bool) -> anyhow::Result<Self> {
        check_free(path, force)?;
        check_form(path, &written().map(|form| form.name).collect::<Vec<_>>())?;
        let form = matrix_form(path);
        let extension = form.and_then(|form| form.extensions.first());
        let writer = WRITERS.iter().find(|(name, _)| Some(name) == extension);
        if let (true, Some(form), Some(_)) = (symmetric, form, writer) {
            let (path, name) = (path.display(), form.name);
            let sentence = format!(
                "--symmetric writes one triangle as Matrix Market, but the extension of {path} means {name}"
            );
            return Err(UsageError(sentence).into());
        }
        Ok(Self { path, writer: writer.map(|(_, writer)| *writer), symmetric, force })
    }

    /// Writes a matrix whose values are of this kind, if they still are, and says what was written.
    pub(super) fn write(
        &self,
        a: &AnyMatrix,
        field: Field,
        interrupt: &Interrupt,
        quiet: bool,
    ) -> anyhow::Result<()> {
        if let (true, AnyMatrix::Complex(_)) = (self.symmetric, a) {
            bail!("--symmetric writes real matrices only, but the matrix is complex");
        }
        let what = format!("writing {}", self.path.display());
        watched(interrupt, quiet, &what, None, |progress| {
            save(self.path, overwrite(self.force), |out| self.write_to(a, field, out, progress))
        })?;
        let (rows, cols) = (count(a.rows() as u64), count(a.cols() as u64));
        let nonzeros = counted(a.nnz(), "nonzero", "nonzeros");
        say_written(self.path, quiet, &format!("{rows} x {cols}, {nonzeros}"));
        Ok(())
    }

    fn write_to(
        &self,
        a: &AnyMatrix,
        field: Field,
        out: &mut dyn Write,
        progress: Progress<'_>,
    ) -> Result<(), IoError> {
        if let Some(write) = self.writer {
            return write(a, out, progress);
        }
        let a = match a {
            AnyMatrix::Real(a) => a,
            AnyMatrix::Complex(a) => return matrix_market::write(a, out, progress),
        };
        let write = |field: Field, out: &mut dyn Write| match self.symmetric {
            true => matrix_market::write_symmetric(a, field, out, progress),
            false => matrix_market::write_field(a, field, out, progress),
        };
        match write(field, out) {
            // Sums of duplicates are not a pattern, and some integer files hold other numbers.
            Err(IoError::NotOfField { .. }) => write(Field::Real, out),
            written => written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_is_written_has_a_writer() {
        let extensions = |form: &FileForm| form.extensions.first().copied();
        let forms: Vec<&str> = written().filter_map(extensions).collect();
        let writers = WRITERS.iter().map(|(extension, _)| *extension);
        let mut writers: Vec<&str> = std::iter::once("mtx").chain(writers).collect();
        let mut sorted = forms.clone();
        sorted.sort_unstable();
        writers.sort_unstable();
        assert_eq!(writers, sorted);
    }

    #[test]
    fn an_extension_of_no_written_form_is_refused_with_a_list() {
        for name in ["a.mtx", "a.MTX.gz", "a.triplets", "a.triplets.gz", "-"] {
            assert!(check_extension(Path::new(name)).is_ok(), "{name}");
        }
        for name in ["a", "a.txt", "a.mat", "a.gz", "mtx"] {
            let error = check_extension(Path::new(name)).unwrap_err().to_string();
            let end = format!(".triplets (binary triplets), found {name}");
            assert!(error.contains("one of .mtx (Matrix Market), "), "{error}");
            assert!(error.ends_with(&end), "{error}");
        }
    }
}
