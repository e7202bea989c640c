//! Where the collection stores a matrix: `BASE/MM/GROUP/NAME.tar.gz`; the index `BASE/files/ssstats.csv`
//! gives the group of a name.

use std::fmt;

use anyhow::bail;
use sparsescope_figures::percent;

use crate::cli::outcome::UsageError;

/// The SuiteSparse Matrix Collection by T. Davis and Y. Hu (ACM TOMS 38, 2011).
const BASE: &str = "https://sparse.tamu.edu";
/// The environment variable for another server with the same paths.
const VARIABLE: &str = "SPARSESCOPE_COLLECTION";
/// Maximum number of names that a message lists.
const NAMED: usize = 8;

/// A matrix as the user names it: `NAME` or `GROUP/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Name {
    pub(super) group: Option<String>,
    pub(super) name: String,
}

impl Name {
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, UsageError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (group, name) = match *parts.as_slice() {
            [name] => (None, name),
            [group, name] => (Some(group), name),
            _ => ("".into(), ""),
        };
        if !is_safe(name) || !group.is_none_or(is_safe) {
            let sentence = format!(
                "expected a matrix name, NAME or GROUP/NAME with letters, digits, `_`, `-`, `+` and `.`, found `{}`",
                text.escape_debug()
            );
            return Err(UsageError(sentence));
        }
        Ok(Self { group: group.map(str::to_owned), name: name.to_owned() })
    }
}

/// Whether this can be part of a URL and a path without leaving its folder.
fn is_safe(part: &str) -> bool {
    let is_safe_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    !part.is_empty()
        && part.len() <= 100
        && !part.starts_with('.')
        && part.chars().all(is_safe_char)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => write!(f, "{group}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A server that has the collection.
pub(super) struct Collection {
    base: String,
}

impl Collection {
    /// The server that the environment names, or the collection itself.
    pub(super) fn from_environment() -> Result<Self, UsageError> {
        let base = std::env::var(VARIABLE).ok().filter(|base| !base.trim().is_empty());
        let base = base.unwrap_or_else(|| BASE.to_owned());
        let base = base.trim().trim_end_matches('/').to_owned();
        if !(base.starts_with("https://") || base.starts_with("http://")) {
            let sentence = format!("{VARIABLE}: expected an http or https address, found `{base}`");
            return Err(UsageError(sentence));
        }
        Ok(Self { base })
    }

    /// Its address.
    pub(super) fn address(&self) -> &str {
        &self.base
    }

    /// Whether the server uses HTTPS; redirections must then use it too.
    pub(super) fn is_encrypted(&self) -> bool {
        self.base.starts_with("https://")
    }

    pub(super) fn archive_url(&self, group: &str, name: &str) -> String {
        format!("{}/MM/{}/{}.tar.gz", self.base, escaped(group), escaped(name))
    }

    pub(super) fn index_url(&self) -> String {
        format!("{}/files/ssstats.csv", self.base)
    }
}

/// Escapes a part of a URL, including plus, which some servers read as a blank.
fn escaped(part: &str) -> String {
    percent::encode(part, b"")
}

/// The group of a matrix in the index, which has a line `group,name,…` per matrix after two other lines.
pub(super) fn group_of(index: &str, name: &str) -> anyhow::Result<String> {
    let entries = || index.lines().filter_map(|line| line.trim().split_once(','));
    let entries =
        || entries().map(|(group, rest)| (group, rest.split(',').next().unwrap_or_default()));
    let groups: Vec<&str> = entries().filter(|(_, n)| *n == name).map(|(group, _)| group).collect();
    match groups.as_slice() {
        [group] if is_safe(group) => Ok((*group).to_owned()),
        [] => {
            let alike = |n: &str| n.eq_ignore_ascii_case(name) || strsim::jaro(n, name) > 0.9;
            let names: Vec<String> = entries()
                .filter(|(group, n)| alike(n) && is_safe(group) && is_safe(n))
                .map(|(group, n)| format!("{group}/{n}"))
                .take(NAMED)
                .collect();
            match names.is_empty() {
                true => bail!("the collection's index has no matrix with this name"),
                false => bail!(
                    "the collection's index has no matrix with this name; did you mean {}?",
                    names.join(", ")
                ),
            }
        }
        groups => bail!(
            "several groups of the collection have a matrix with this name: {}",
            groups
                .iter()
                .filter(|g| is_safe(g))
                .map(|g| format!("{g}/{name}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_or_two_safe_parts() {
        let name = |group: Option<&str>, name: &str| Name {
            group: group.map(str::to_owned),
            name: name.to_owned(),
        };
        assert_eq!(Name::parse("cant").unwrap(), name(None, "cant"));
        let parsed = Name::parse("Williams/cant").unwrap();
        assert_eq!(
            (parsed.to_string().as_str(), parsed),
            ("Williams/cant", name(Some("Williams"), "cant"))
        );
        assert!(Name::parse("JGD_Homology/n3c6-b1").is_ok() && Name::parse("a/b+1.2").is_ok());
        for bad in
            ["", "/", "a/", "/a", "a/b/c", "..", "../x", "a/..", "a b", "a?b", "a%2f", "é", "a\\b"]
        {
            let error = Name::parse(bad).unwrap_err().to_string();
            assert!(error.starts_with("expected a matrix name"), "{bad}: {error}");
        }
    }

    #[test]
    fn the_group_comes_from_the_index() {
        let index = "3\n31-Oct-2023 18:12:37\nHB,1138_bus,1138,1138,4054,1,0,1,1,1,1,power,4054\n\
            Williams,cant,62451,62451,4007383,1,0,0,1,1,1,FEM,4007383\r\nA,twin,1\nB,twin,1\n";
        assert_eq!(group_of(index, "1138_bus").unwrap(), "HB");
        assert_eq!(group_of(index, "cant").unwrap(), "Williams");
        let error = |name: &str| group_of(index, name).unwrap_err().to_string();
        assert!(error("twin").contains("A/twin, B/twin"), "{}", error("twin"));
        assert!(error("Cant").contains("did you mean Williams/cant"), "{}", error("Cant"));
        assert!(error("xyz").ends_with("no matrix with this name"), "{}", error("xyz"));
        assert!(group_of("../..,x,1\n", "x").is_err());
    }
}
