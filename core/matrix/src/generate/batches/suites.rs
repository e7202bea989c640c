//! The named suites of batches.

/// Batches that are run together.
#[derive(Debug)]
pub struct BatchSuite {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub what: &'static str,
    /// The batches.
    pub entries: &'static [BatchEntry],
}

/// One batch of a suite.
#[derive(Debug)]
pub struct BatchEntry {
    /// Its name.
    pub name: &'static str,
    /// Its recipe.
    pub spec: &'static str,
}

/// Every suite.
pub fn batch_suites() -> &'static [BatchSuite] {
    SUITES
}

/// The batch of this name in any suite.
pub fn batch_suite_entry(name: &str) -> Option<&'static BatchEntry> {
    SUITES.iter().flat_map(|suite| suite.entries).find(|entry| entry.name == name)
}

const fn batch(name: &'static str, spec: &'static str) -> BatchEntry {
    BatchEntry { name, spec }
}

#[rustfmt::skip]
static SUITES: &[BatchSuite] = &[
BatchSuite {
    name: "batches",
    what: "systems of 8 to 200 unknowns, fewer of the large ones to keep runs short",
    entries: &[
        batch("spd-8", "spd-batch?n=8&count=20000"),
        batch("spd-12", "spd-batch?n=12&count=20000"),
        batch("spd-16", "spd-batch?n=16&count=20000"),
        batch("spd-20", "spd-batch?n=20&count=20000"),
        batch("spd-24", "spd-batch?n=24&count=20000"),
        batch("spd-28", "spd-batch?n=28&count=20000"),
        batch("spd-32", "spd-batch?n=32&count=5000"),
        batch("spd-36", "spd-batch?n=36&count=5000"),
        batch("spd-40", "spd-batch?n=40&count=5000"),
        batch("spd-44", "spd-batch?n=44&count=5000"),
        batch("spd-48", "spd-batch?n=48&count=5000"),
        batch("spd-52", "spd-batch?n=52&count=5000"),
        batch("spd-56", "spd-batch?n=56&count=2000"),
        batch("spd-60", "spd-batch?n=60&count=2000"),
        batch("spd-64", "spd-batch?n=64&count=2000"),
        batch("spd-68", "spd-batch?n=68&count=2000"),
        batch("spd-72", "spd-batch?n=72&count=2000"),
        batch("spd-76", "spd-batch?n=76&count=2000"),
        batch("spd-100", "spd-batch?n=100&count=1000"),
        batch("spd-128", "spd-batch?n=128&count=500"),
        batch("spd-200", "spd-batch?n=200&count=200"),
    ],
},
BatchSuite {
    name: "thesis-batches",
    what: "the sizes measured in the thesis, 20000 systems each (up to 0.9 GB)",
    entries: &[
        batch("thesis-8", "spd-batch?n=8&count=20000"),
        batch("thesis-12", "spd-batch?n=12&count=20000"),
        batch("thesis-16", "spd-batch?n=16&count=20000"),
        batch("thesis-20", "spd-batch?n=20&count=20000"),
        batch("thesis-24", "spd-batch?n=24&count=20000"),
        batch("thesis-28", "spd-batch?n=28&count=20000"),
        batch("thesis-32", "spd-batch?n=32&count=20000"),
        batch("thesis-36", "spd-batch?n=36&count=20000"),
        batch("thesis-40", "spd-batch?n=40&count=20000"),
        batch("thesis-44", "spd-batch?n=44&count=20000"),
        batch("thesis-48", "spd-batch?n=48&count=20000"),
        batch("thesis-52", "spd-batch?n=52&count=20000"),
        batch("thesis-56", "spd-batch?n=56&count=20000"),
        batch("thesis-60", "spd-batch?n=60&count=20000"),
        batch("thesis-64", "spd-batch?n=64&count=20000"),
        batch("thesis-68", "spd-batch?n=68&count=20000"),
        batch("thesis-72", "spd-batch?n=72&count=20000"),
        batch("thesis-76", "spd-batch?n=76&count=20000"),
    ],
}];
