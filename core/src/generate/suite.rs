//! Named suites of matrices.

/// A set of matrices that are run together.
#[derive(Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub what: &'static str,
    /// The matrices.
    pub entries: &'static [SuiteEntry],
}

/// One matrix of a suite.
#[derive(Debug)]
pub struct SuiteEntry {
    /// Its name.
    pub name: &'static str,
    /// Its generator.
    pub spec: &'static str,
    /// What it is like.
    pub what: &'static str,
}

/// Every suite.
pub fn suites() -> &'static [Suite] {
    SUITES
}

/// The suite of this name.
pub fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

/// The matrix of this name in any suite.
pub fn suite_entry(name: &str) -> Option<&'static SuiteEntry> {
    SUITES.iter().flat_map(|suite| suite.entries).find(|entry| entry.name == name)
}

const fn entry(name: &'static str, spec: &'static str, what: &'static str) -> SuiteEntry {
    SuiteEntry { name, spec, what }
}

#[rustfmt::skip]
static SUITES: &[Suite] = &[Suite {
    name: "mini",
    what: "ten different structures, done in under a minute on two cores",
    entries: &[
        entry("grid-5pt", "poisson2d?n=500", "2-D finite differences, five entries a row"),
        entry("grid-27pt", "stencil27?n=40", "3-D finite differences, 27 entries a row"),
        entry("fem-3dof", "fem-hex?n=24&dof=3", "3-D elasticity, blocks of 3 x 3, larger than most caches"),
        entry("banded", "banded?m=50000&half=500&row=20", "20 entries a row, all near the diagonal"),
        entry("scattered", "random?m=100000&row=10", "10 entries a row, anywhere"),
        entry("web", "powerlaw?m=200000&nnz=700000&max=250", "power-law row lengths, popular columns"),
        entry("road", "road?m=300000", "two or three neighbours, mostly near"),
        entry("circuit", "circuit?m=116835&nnz=766396&dense=114190", "short rows and one nearly dense, too large for ELLPACK"),
        entry("saddle-point", "kkt?n=24", "a control problem, two blocks of equations"),
        entry("diagonal", "diagonal?m=1000000", "one entry a row"),
    ],
}];
