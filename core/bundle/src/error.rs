//! What can be wrong with a bundle, in one sentence each.

use std::path::PathBuf;

use sparsescope_record::SCHEMA;

/// A bundle or journal that cannot be read or written. Names and texts from a bundle are shortened
/// and their control characters escaped, so that a message stays on one line.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum BundleError {
    /// Not a zip.
    #[error("not a result bundle: not a zip file")]
    NotAZip,
    /// Starts like a zip but has no directory at its end.
    #[error("the bundle is truncated: the zip directory at the end of the file is missing")]
    Truncated,
    /// The zip's structure is inconsistent.
    #[error("the bundle is damaged: {detail}")]
    Damaged { detail: String },
    /// A cap of [`Limits`](super::Limits) is exceeded.
    #[error("{whose} has {found} {unit}, more than the limit of {limit}")]
    TooMuch { whose: String, found: u64, unit: &'static str, limit: u64 },
    /// An entry's compression ratio is higher than measurements can have.
    #[error("entry `{entry}` has a compression ratio of {ratio}, more than the limit of {limit}")]
    Ratio { entry: String, ratio: u64, limit: u64 },
    /// An entry's name could escape its folder, or is not valid on every system.
    #[error(
        "entry name `{entry}` is not safe: expected a relative path of letters, digits, `.`, `_` and `-`, separated by `/`"
    )]
    UnsafeName { entry: String },
    /// Two entries with the same name, ignoring case.
    #[error("entry `{entry}` occurs twice")]
    DuplicateEntry { entry: String },
    /// An entry is encrypted.
    #[error("entry `{entry}` is encrypted")]
    Encrypted { entry: String },
    /// An entry is neither deflated nor stored.
    #[error("entry `{entry}` has an unsupported compression method: expected deflate or none")]
    Method { entry: String },
    /// The zip does not start with the manifest.
    #[error("not a result bundle: expected `manifest.json` as the first entry, found `{entry}`")]
    ManifestNotFirst { entry: String },
    /// Written by a newer program in a format that this one would misread.
    #[error(
        "the bundle has schema {major}, but this version of Sparsescope reads only up to schema {}: update it",
        SCHEMA.major
    )]
    NewerMajor { major: u32 },
    /// An entry decompresses to more or fewer bytes than declared.
    #[error("entry `{entry}` does not have the {declared} bytes that the zip directory declares")]
    Size { entry: String, declared: u64 },
    /// An entry's content does not match the manifest.
    #[error("entry `{entry}` does not match its checksum in `manifest.json`")]
    Hash { entry: String },
    /// An entry that the manifest lists, or that the format requires, is missing.
    #[error("entry `{entry}` is missing")]
    MissingEntry { entry: String },
    /// The zip contains an entry that the manifest does not list.
    #[error("entry `{entry}` is not listed in `manifest.json`")]
    UnlistedEntry { entry: String },
    /// A document is not JSON or does not follow the schema.
    #[error("`{entry}` does not match the bundle schema: {detail}")]
    Json { entry: String, detail: String },
    /// A float that JSON cannot represent.
    #[error("`{field}` of {whose} is not a finite number")]
    NotFinite { whose: String, field: String },
    /// A negative time, size or error measure.
    #[error("`{field}` of {whose} is negative: {found}")]
    Negative { whose: String, field: String, found: f64 },
    /// A time or size beyond anything measurable.
    #[error("`{field}` of {whose} is {found:e}, more than {most:e}")]
    TooGreat { whose: String, field: String, found: f64, most: f64 },
    /// An id that is not a valid folder name on every system.
    #[error(
        "the id `{id}` of {whose} is not safe: expected letters, digits, `.`, `_` and `-`, not starting with `.`"
    )]
    UnsafeId { whose: &'static str, id: String },
    /// Two matrices or two environments with the same id, ignoring case.
    #[error("two {whose} have the id `{id}`")]
    DuplicateId { whose: &'static str, id: String },
    /// A run refers to something that the bundle does not contain.
    #[error("{whose} refers to the {what} `{id}`, which is not in the bundle")]
    UnknownReference { whose: String, what: &'static str, id: String },
    /// Figures that do not follow from the samples.
    #[error("`{field}` of {whose} is {found}, but its samples give {expected}")]
    Figures { whose: String, field: &'static str, found: f64, expected: f64 },
    /// Bundles to be merged hold different things under one name.
    #[error("{found} {what} differ between the bundles, including {}", examples.join("; "))]
    Conflict { found: usize, what: &'static str, examples: Vec<String> },
    /// A JSON file from which no results can be imported.
    #[error("cannot import results of {of}: {detail}")]
    Imported { of: &'static str, detail: String },
    /// Results of a program that the web page does not import.
    #[error(
        "the web page cannot import results of {of}: convert them with `sparsescope merge FILE.json -o BUNDLE.zip`"
    )]
    NotInPage { of: &'static str },
    /// Anything else that contradicts itself.
    #[error("{whose} {problem}")]
    Inconsistent { whose: String, problem: String },
    /// A line of a journal, counted from 1, is unusable.
    #[error("line {line} of the journal is damaged: {detail}")]
    Journal { line: u64, detail: String },
    /// Another program is writing the journal.
    #[error("{} is in use: another `sparsescope bench` is writing it", path.display())]
    InUse { path: PathBuf },
    /// The file to be written already exists.
    #[error("{} already exists", path.display())]
    Exists { path: PathBuf },
    /// The file system reports an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// Writing to the destination of a bundle fails.
    #[error("cannot write the bundle: {0}")]
    Write(std::io::Error),
}
