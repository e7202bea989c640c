//! The header of a user kernel: lines `// key: value` after the line `// sparsescope kernel`.

use super::error::UserKernelError;
use super::family::UserFamily;
use super::sharing::{MOST_SHARED, SharedBytes, VALUE_PER_THREAD};
use crate::kernel::grid::{GridMapping, LANES};

/// The first line of a header, without the slashes.
const MARK: &str = "sparsescope kernel";

/// Maximum number of threads per block on any GPU.
const MOST_BLOCK: u32 = 1024;

/// A way to assign rows to threads, by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MappingWord {
    pub(super) word: &'static str,
    pub(super) grid: GridMapping,
    /// It processes hacks: only for families that have them.
    needs_hacks: bool,
}

/// The mappings that a header may name: those whose grids depend only on the number of rows.
const MAPPINGS: [MappingWord; 3] = [
    MappingWord { word: "thread-per-row", grid: GridMapping::ThreadPerRow, needs_hacks: false },
    MappingWord { word: "warp-per-row", grid: GridMapping::WarpPerRow, needs_hacks: false },
    MappingWord { word: "thread-per-hack", grid: GridMapping::ThreadPerHack, needs_hacks: true },
];

/// The mapping for a word.
pub(super) fn grid_of(word: &str) -> Option<GridMapping> {
    MAPPINGS.iter().find(|mapping| mapping.word == word).map(|mapping| mapping.grid)
}

/// The contents of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) family: UserFamily,
    pub(super) mapping: MappingWord,
    pub(super) shared: SharedBytes,
    /// Allowed block sizes; empty if any requested size is fine.
    pub(super) blocks: Vec<u32>,
}

/// The keys, in the order in which messages list them.
const KEYS: [&str; 4] = ["family", "mapping", "shared", "block-sizes"];

/// The value of a key, and its line number.
struct Said<'a> {
    line: usize,
    value: &'a str,
}

/// The value of each of [`KEYS`], if given.
type All<'a> = [Option<Said<'a>>; KEYS.len()];

impl Header {
    /// Reads the header at the top of a source file.
    pub(super) fn of(file: &str, text: &str) -> Result<Self, UserKernelError> {
        let [family, mapping, shared, blocks] = all(file, text)?;
        let family = required(file, "family", family.as_ref(), &families(), UserFamily::of)?;
        let words = mappings(family);
        let mapping = required(file, "mapping", mapping.as_ref(), &words, |word| {
            let fits = |m: &&MappingWord| m.word == word && is_for(m, family);
            MAPPINGS.iter().find(fits).copied()
        })?;
        let expected = format!("a number of bytes up to {MOST_SHARED}, or {VALUE_PER_THREAD}");
        let shared = optional(file, "shared", shared.as_ref(), &expected, shared_bytes)?;
        let expected = format!("multiples of {LANES} up to {MOST_BLOCK}, separated by commas");
        let blocks = optional(file, "block-sizes", blocks.as_ref(), &expected, block_sizes)?;
        let shared = shared.unwrap_or(SharedBytes::Fixed(0));
        Ok(Self { family, mapping, shared, blocks: blocks.unwrap_or_default() })
    }
}

/// The lines of the header, by key.
fn all<'a>(file: &str, text: &'a str) -> Result<All<'a>, UserKernelError> {
    let comment = |line: &'a str| match line.trim() {
        "" => Some(""),
        line => line.strip_prefix("//").map(str::trim),
    };
    let lines = text.trim_start_matches('\u{feff}').lines();
    // Other comments may come first, such as a licence or the source's origin.
    let comments = lines.map(comment).zip(1..).take_while(|(comment, _)| comment.is_some());
    let mut lines = comments.filter_map(|(comment, line)| Some((comment?, line)));
    if !lines.any(|(comment, _)| comment == MARK) {
        return Err(UserKernelError::NoHeader { file: file.to_owned() });
    }
    let mut all: All<'a> = [const { None }; KEYS.len()];
    // An empty line or comment ends the header.
    for (text, line) in lines.take_while(|(comment, _)| !comment.is_empty()) {
        let pair = text.split_once(':').map(|(key, value)| (key.trim(), value.trim()));
        let place = pair.and_then(|(key, _)| KEYS.iter().position(|known| *known == key));
        let (Some((_, value)), Some(place)) = (pair, place) else {
            let expected = format!("KEY: VALUE with one of the keys {}", KEYS.join(", "));
            let (file, text) = (file.to_owned(), text.to_owned());
            return Err(UserKernelError::Line { file, line, text, expected });
        };
        if all[place].replace(Said { line, value }).is_some() {
            return Err(UserKernelError::Twice { file: file.to_owned(), line, key: KEYS[place] });
        }
    }
    Ok(all)
}

/// The value of a required key.
fn required<T>(
    file: &str,
    key: &'static str,
    said: Option<&Said<'_>>,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, UserKernelError> {
    let missing =
        || UserKernelError::Missing { file: file.to_owned(), key, expected: expected.to_owned() };
    optional(file, key, said, expected, read)?.ok_or_else(missing)
}

/// The value of an optional key.
fn optional<T>(
    file: &str,
    key: &'static str,
    said: Option<&Said<'_>>,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, UserKernelError> {
    let Some(&Said { line, value }) = said else { return Ok(None) };
    let wrong = || {
        let (file, found) = (file.to_owned(), value.to_owned());
        UserKernelError::Value { file, line, key, found, expected: expected.to_owned() }
    };
    read(value).map(Some).ok_or_else(wrong)
}

fn families() -> String {
    one_of(UserFamily::ALL.map(UserFamily::as_str))
}

/// The mappings that kernels of a family may use.
fn mappings(family: UserFamily) -> String {
    let known = MAPPINGS.iter().filter(|mapping| is_for(mapping, family));
    one_of(known.map(|mapping| mapping.word))
}

fn is_for(mapping: &MappingWord, family: UserFamily) -> bool {
    let has_hacks = matches!(family, UserFamily::Hll | UserFamily::HllColumnMajor);
    has_hacks || !mapping.needs_hacks
}

fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    format!("one of {}", words.into_iter().collect::<Vec<_>>().join(", "))
}

fn shared_bytes(value: &str) -> Option<SharedBytes> {
    if value == VALUE_PER_THREAD {
        return Some(SharedBytes::ValuePerThread);
    }
    let bytes = value.parse().ok().filter(|bytes| *bytes <= MOST_SHARED);
    bytes.map(SharedBytes::Fixed)
}

/// Sorted, without duplicates.
fn block_sizes(value: &str) -> Option<Vec<u32>> {
    let is_block =
        |block: &u32| (1..=MOST_BLOCK).contains(block) && u64::from(*block).is_multiple_of(LANES);
    let sizes = value.split(',').map(|size| size.trim().parse().ok().filter(is_block));
    let mut sizes = sizes.collect::<Option<Vec<u32>>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Some(sizes)
}
