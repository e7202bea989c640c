//! The table of all kinds of generators.

use super::assemble::{GenerateError, Rule};
use super::dominant::Dominant;
use super::extent::{self, about, exact, rectangle};
use super::fem::Fem;
use super::graph::{Circuit, Road};
use super::keys::{DefaultValue, Key, MOST, SEED, Values, key, optional};
use super::kkt::Kkt;
use super::kmer::Kmer;
use super::powerlaw::PowerLaw;
use super::recipe::Named;
use super::scattered::{Banded, DenseRow, Diagonal, Uniform};
use super::shaped::Shaped;
use super::stencil::{Grid, Poisson2d, Stencil7, Stencil27};
use super::symmetric::Symmetric;
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Builds the rule for these values.
type MakeRule = fn(&Values, MemoryLimit) -> Result<Box<dyn Rule>, GenerateError>;

/// A kind of generator.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Description of the structure in one line.
    pub what: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
    /// Builds the rule for its rows; [`make`](Self::make) applies the keys that all kinds have.
    rule: MakeRule,
    /// The size of its matrix.
    pub(super) extent: fn(&Values) -> Extent,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Kind {
    /// Builds the rule for its rows.
    pub(super) fn make(
        &self,
        values: &Values,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Rule>, GenerateError> {
        let rule = (self.rule)(values, limit)?;
        Ok(if values.value(DOMINANT.name) == 1 { Box::new(Dominant(rule)) } else { rule })
    }

    /// `stencil27?n=…`: the required keys.
    pub fn usage(&self) -> String {
        Named::usage(self)
    }
}

impl Named for Kind {
    fn name(&self) -> &'static str {
        self.name
    }

    fn keys(&self) -> &'static [Key] {
        self.keys
    }
}

/// Every kind, in display order.
pub fn kinds() -> &'static [Kind] {
    KINDS
}

const DOMINANT: Key =
    optional("dominant", 0, 1, "1 for a diagonal of 1.1 times the sum of the others, and 1", 0);
const ROWS: Key = key("m", 1, MOST, "rows");
const DEVIATION: Key = key(
    "dev",
    0,
    1_000_000,
    "average deviation of the row lengths, in hundredths of a percent of their mean",
);
const SHORTEST: Key = optional("min", 0, MOST, "entries of the shortest row", 0);
const EDGE3: Key = key("n", 1, 1625, "grid points along each of three edges");
const LAYERS: Key = Key {
    name: "nz",
    what: "grid points along the third edge",
    min: 1,
    max: MOST,
    default: Some(DefaultValue::SameAs("n")),
};

#[rustfmt::skip]
static KINDS: &[Kind] = &[
    Kind { name: "stencil7", what: "finite differences on an n x n x nz grid, 7 points",
        keys: &[EDGE3, LAYERS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Stencil7(grid(s)?))),
        extent: |s| { let (n, nz) = (s.wide("n"), s.wide("nz")); exact(n * n * nz, 7 * n * n * nz - 4 * n * nz - 2 * n * n) } },
    Kind { name: "stencil27", what: "finite differences on an n x n x nz grid, 27 points, as in HPCG",
        keys: &[EDGE3, LAYERS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Stencil27(grid(s)?))),
        extent: |s| { let (n, nz) = (s.wide("n"), s.wide("nz")); exact(n * n * nz, (3 * n - 2).pow(2) * (3 * nz - 2)) } },
    Kind { name: "poisson2d", what: "finite differences on an n x n grid, 5 points",
        keys: &[key("n", 1, 65_535, "grid points along each of two edges"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Poisson2d(s.size("n")))),
        extent: |s| { let n = s.wide("n"); exact(n.pow(2), 5 * n.pow(2) - 4 * n) } },
    Kind { name: "fem-hex", what: "finite elements: hexahedra on n x n x n nodes (3 unknowns: elasticity)",
        keys: &[key("n", 2, 1290, "nodes along each of three edges"),
            Key { name: "dof", what: "unknowns a node", min: 1, max: 8, default: Some(DefaultValue::Is(1)) }, SEED, DOMINANT],
        rule: |s, _| {
            let (n, dof) = (s.size("n"), s.size("dof"));
            fits_rows(n as u128 * n as u128 * n as u128 * dof as u128)?;
            Ok(Box::new(Fem::hexahedra(n, dof, s.value("seed"))))
        },
        extent: |s| {
            let (n, dof) = (s.wide("n"), s.wide("dof"));
            exact(n.pow(3) * dof, (3 * n - 2).pow(3) * dof.pow(2))
        } },
    Kind { name: "fem-tet", what: "finite elements: tetrahedra on nx x ny x nz nodes (3 unknowns: elasticity; 1: flow)",
        keys: &[key("nx", 2, MOST, "nodes along the first edge"), key("ny", 2, MOST, "nodes along the second edge"),
            key("nz", 2, MOST, "nodes along the third edge"),
            optional("dof", 1, 8, "unknowns a node", 1),
            optional("m", 0, MOST, "rows kept, 0 for all", 0),
            optional("decades", 0, 12, "powers of ten over which the stiffness varies", 2),
            optional("shift", 0, 1_000_000, "millionths of the diagonal added to it", 1000), SEED, DOMINANT],
        rule: |s, _| {
            let nodes = ["nx", "ny", "nz"].map(|key| s.size(key));
            let rows = nodes.iter().map(|&n| n as u128).product::<u128>().saturating_mul(s.value("dof").into());
            let m = match s.size("m") { 0 => rows, m => rows.min(m as u128) };
            fits_rows(rows)?;
            let (decades, shift) = (s.value("decades") as f64, s.value("shift") as f64 / 1e6);
            Ok(Box::new(Fem::tetrahedra(nodes, m as usize, s.size("dof"), decades, shift, s.value("seed"))))
        },
        extent: extent::tetrahedra },
    Kind { name: "banded", what: "random columns near the diagonal, which is full",
        keys: &[ROWS, key("half", 0, MOST, "largest distance from the diagonal"), key("row", 1, MOST, "entries of a row"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Banded { m: s.size("m"), half: s.size("half"), row: s.size("row"), seed: s.value("seed") })),
        extent: extent::banded },
    Kind { name: "random", what: "random columns anywhere: the worst case for caches",
        keys: &[ROWS, key("row", 0, MOST, "entries of a row"),
            Key { name: "n", what: "columns", min: 1, max: MOST, default: Some(DefaultValue::SameAs("m")) }, SEED, DOMINANT],
        rule: |s, _| {
            let (m, n, row) = (s.size("m"), s.size("n"), s.size("row"));
            if row > n {
                return Err(GenerateError::Parameters(format!("a row of {row} entries does not fit into {n} columns")));
            }
            Ok(Box::new(Uniform { m, n, row, seed: s.value("seed") }))
        },
        extent: |s| {
            let (m, n, row) = (s.wide("m"), s.wide("n"), s.wide("row"));
            extent::filled(s, m.min(n) * n.saturating_sub(row) / n, rectangle(m, n, m * row))
        } },
    Kind { name: "shaped", what: "any structure by its figures: row lengths, blocks, neighbours on a grid, a band",
        keys: &[ROWS, key("nnz", 1, u64::MAX >> 1, "entries"), key("max", 1, 65_535, "entries of the longest row"),
            SHORTEST, DEVIATION,
            optional("dof", 1, 64, "neighbouring unknowns that form a block", 1),
            optional("nx", 0, 65_535, "nodes of a line, 0 for one line only", 0),
            optional("ny", 0, 65_535, "lines of a plane, 0 for one plane only", 0),
            Key { name: "half", what: "largest distance from the diagonal", min: 0, max: MOST, default: Some(DefaultValue::SameAs("m")) },
            optional("scatter", 0, 1000, "entries in a thousand that lie anywhere in the band", 0),
            Key { name: "run", what: "neighbouring rows of about the same length", min: 1, max: MOST, default: Some(DefaultValue::SameAs("dof")) },
            optional("sym", 0, 1, "1 for a symmetric matrix of full blocks", 0), SEED, DOMINANT],
        rule: |s, limit| match s.value("sym") {
            0 => Ok(Box::new(Shaped::new(s, limit)?)),
            _ => Ok(Box::new(Symmetric::new(s, limit)?)),
        },
        extent: |s| match s.value("sym") {
            0 => exact(s.wide("m"), s.wide("nnz")),
            _ => about(s.wide("m"), s.wide("nnz")),
        } },
    Kind { name: "powerlaw", what: "a web: row lengths by a power law, popular and near columns",
        keys: &[ROWS, key("nnz", 0, u64::MAX >> 1, "entries"), key("max", 1, MOST, "entries of the longest row"),
            SHORTEST, Key { default: Some(DefaultValue::Is(0)), ..DEVIATION },
            optional("near", 1, MOST, "near pages are numbered less than this apart", 512), SEED, DOMINANT],
        rule: |s, limit| Ok(Box::new(PowerLaw::new(s, limit)?)),
        extent: |s| extent::filled(s, s.wide("m"), exact(s.wide("m"), s.wide("nnz"))) },
    Kind { name: "road", what: "a road network: two to four neighbours, mostly near",
        keys: &[ROWS, optional("max", 0, 24, "roads that meet at the busiest crossing, 0 for as many as chance makes", 0), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Road::new(s.size("m"), s.size("max"), s.value("seed")))),
        extent: |s| extent::filled(s, s.wide("m"), about(s.wide("m"), s.wide("m") * 28 / 10)) },
    Kind { name: "circuit", what: "a circuit: short rows and one dense row and column",
        keys: &[ROWS, key("nnz", 1, u64::MAX >> 1, "entries, within 1 %"), key("dense", 1, MOST, "entries of the dense row"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Circuit::new(s.size("m"), s.size("nnz"), s.size("dense"), s.value("seed"))?)),
        extent: |s| about(s.wide("m"), s.wide("nnz")) },
    Kind { name: "kkt", what: "the saddle point [H A'; A 0] of a control problem on an n x n x n grid",
        keys: &[key("n", 1, 1290, "grid points along each of three edges"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Kkt::new(s.size("n"), s.value("seed")))),
        extent: |s| extent::filled(s, s.wide("n").pow(3), extent::kkt(s.wide("n"))) },
    Kind { name: "kmer", what: "the tree of a k-mer graph, lower triangular: the diagonal and at most one entry before it",
        keys: &[ROWS, optional("near", 0, MOST, "rows within which an entry's column is, 0 for any earlier one", 0),
            optional("p", 0, 1_000_000, "rows in a million that have such an entry", 998_817), SEED, DOMINANT],
        rule: |s, _| {
            let (m, near, probability) = (s.size("m"), s.size("near"), s.value("p") as f64 / 1e6);
            Ok(Box::new(Kmer { m, near, probability, seed: s.value("seed") }))
        },
        extent: |s| { let m = s.wide("m"); about(m, m + (m - 1) * s.wide("p") / 1_000_000) } },
    Kind { name: "diagonal", what: "one entry a row",
        keys: &[ROWS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Diagonal { m: s.size("m"), seed: s.value("seed") })),
        extent: |s| exact(s.wide("m"), s.wide("m")) },
    Kind { name: "dense-row", what: "tridiagonal but for one full row in the middle",
        keys: &[ROWS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(DenseRow(s.size("m")))),
        extent: |s| { let m = s.wide("m"); exact(m, 4 * m - 2 - m.min(3)) } },
];

fn grid(s: &Values) -> Result<Grid, GenerateError> {
    let (n, nz) = (s.size("n"), s.size("nz"));
    fits_rows(s.wide("n").pow(2).saturating_mul(s.wide("nz")))?;
    Ok(Grid { n, nz })
}

fn fits_rows(rows: u128) -> Result<(), GenerateError> {
    match rows <= u128::from(MOST) {
        true => Ok(()),
        false => Err(GenerateError::Parameters(format!(
            "the matrix would have {rows} rows; at most {MOST} are supported"
        ))),
    }
}
