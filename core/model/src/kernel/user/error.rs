//! Why a file is not a user kernel, in one sentence each.

use super::family::UserFamily;
use sparsescope_record::MOST_SOURCE_BYTES;

/// The page that describes the files.
const DOCS: &str = "docs/your-own-kernel.md";

/// Why a file is not a user kernel. `file` is its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum UserKernelError {
    /// It is longer than any kernel.
    #[error("{file} has {bytes} bytes: a kernel source may have at most {MOST_SOURCE_BYTES}")]
    TooLong { file: String, bytes: usize },
    /// A compiler cannot show its name as it is.
    #[error(
        "the file name `{file}` contains a quote, a backslash or a control character: rename the \
        file"
    )]
    Name { file: String },
    /// It is not text.
    #[error("{file} is not UTF-8 text")]
    NoText { file: String },
    /// It does not start with a header.
    #[error(
        "{file} has no header: expected the line `// sparsescope kernel` in the comments at the \
        top, then lines such as `// family: csr` ({DOCS})"
    )]
    NoHeader { file: String },
    /// A line of the header is not a key and a value.
    #[error("{file}, line {line}: `{text}` is not a header line: expected {expected} ({DOCS})")]
    Line { file: String, line: usize, text: String, expected: String },
    /// A key has a value that it does not accept.
    #[error("{file}, line {line}: {key} is `{found}`: expected {expected}")]
    Value { file: String, line: usize, key: &'static str, found: String, expected: String },
    /// A key occurs twice.
    #[error("{file}, line {line}: {key} is given twice")]
    Twice { file: String, line: usize, key: &'static str },
    /// A required key is missing.
    #[error("{file}: the header has no {key}: expected a line `// {key}: …` with {expected}")]
    Missing { file: String, key: &'static str, expected: String },
    /// It has no function to launch.
    #[error(
        "{file} has no kernel function with C linkage: expected `extern \"C\" __global__ void \
        NAME(…)`"
    )]
    NoFunction { file: String },
    /// A function has too many or too few parameters.
    #[error(
        "{file}, line {line}: {function} has {found} parameters: kernels of family {family} take \
        {expected}"
    )]
    Count {
        file: String,
        line: usize,
        function: String,
        found: usize,
        family: &'static str,
        expected: String,
    },
    /// A parameter has the wrong type.
    #[error(
        "{file}, line {line}: parameter {place} of {function} is `{found}`: kernels of family {} \
        take `{expected}` there",
        family.as_str()
    )]
    Parameter {
        file: String,
        line: usize,
        function: String,
        place: usize,
        found: String,
        family: UserFamily,
        expected: String,
    },
    /// Its values have several types.
    #[error(
        "{file}, line {line}: {function} mixes value types: expected `real`, `double` or `float` \
        for all"
    )]
    Mixed { file: String, line: usize, function: String },
    /// The names of two functions differ only in case.
    #[error("{file} has two functions with the id {id}: names must differ in more than case")]
    SameId { file: String, id: String },
}
