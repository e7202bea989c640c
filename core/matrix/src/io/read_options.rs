//! How to read a file, where the file itself does not say it.

use super::{IoError, MatrixForm};

/// How to read an edge list, and which variable of a MATLAB or HDF5 file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The number of the first vertex of an edge list, 0 or 1; from the file if not given.
    pub base: Option<u32>,
    /// Whether to add the opposite of each edge of an edge list.
    pub undirected: bool,
    /// Whether to number the vertices of an edge list that have edges in order, without gaps.
    pub compress_ids: bool,
    /// The variable of a MATLAB or HDF5 file, or what is in it: `Problem.A`, `layers/counts`.
    pub variable: Option<String>,
}

impl ReadOptions {
    /// The form in which to read a text that looks like `form`: with an option for edge lists one of them,
    /// unless it is certainly something else.
    pub(super) fn form(&self, form: MatrixForm) -> Result<MatrixForm, IoError> {
        let Self { base, undirected, compress_ids, variable } = self;
        let has_edges = base.is_some() || *undirected || *compress_ids;
        let has_variables =
            matches!(form, MatrixForm::Matlab4 | MatrixForm::Matlab5 | MatrixForm::Hdf5);
        let expected = match form {
            _ if variable.is_some() && !has_variables => {
                "a MATLAB or HDF5 file, because a variable is given"
            }
            form if !has_edges => return Ok(form),
            MatrixForm::Triplets | MatrixForm::EdgesFrom0 | MatrixForm::EdgesFrom1 => {
                return Ok(MatrixForm::EdgesFrom1);
            }
            _ => "an edge list, because an option for edge lists is given",
        };
        let found = format!("a file of the form \"{}\"", form.as_str());
        Err(IoError::Unexpected { line: 1, expected: expected.to_owned(), found })
    }
}
