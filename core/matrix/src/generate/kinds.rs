//! The table of all kinds of generators.

use super::assemble::{GenerateError, Rule};
use super::dominant::Dominant;
use super::extent::{self, about, exact, rectangle};
use super::fem::Fem;
use super::graph::{Circuit, Road};
use super::keys::{DefaultValue, Key, MOST, SEED, Values, key, optional};
use super::kkt::Kkt;
use super::kmer::Kmer;
use super::lp::Lp;
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

const DOMINANT: Key = optional(
    "dominant",
    0,
    1,
    "1 to set the diagonal to 1.1 times the sum of absolute off-diagonals, plus 1",
    0,
);
const ROWS: Key = key("m", 1, MOST, "rows");
const DEVIATION: Key =
    key("dev", 0, 1_000_000, "average deviation of the row lengths, in 0.01 % of their mean");
const SHORTEST: Key = optional("min", 0, MOST, "nonzeros in the shortest row", 0);
const EDGE3: Key = key("n", 1, 1625, "grid points along each of the three edges");
const LAYERS: Key = Key {
    name: "nz",
    what: "grid points along the third edge",
    min: 1,
    max: MOST,
    default: Some(DefaultValue::SameAs("n")),
};

#[rustfmt::skip]
static KINDS: &[Kind] = &[
    Kind { name: "stencil7", what: "7-point finite differences on an n x n x nz grid",
        keys: &[EDGE3, LAYERS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Stencil7(grid(s)?))),
        extent: |s| { let (n, nz) = (s.wide("n"), s.wide("nz")); exact(n * n * nz, 7 * n * n * nz - 4 * n * nz - 2 * n * n) } },
    Kind { name: "stencil27", what: "27-point finite differences on an n x n x nz grid, as in HPCG",
        keys: &[EDGE3, LAYERS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Stencil27(grid(s)?))),
        extent: |s| { let (n, nz) = (s.wide("n"), s.wide("nz")); exact(n * n * nz, (3 * n - 2).pow(2) * (3 * nz - 2)) } },
    Kind { name: "poisson2d", what: "5-point finite differences on an n x n grid",
        keys: &[key("n", 1, 65_535, "grid points along each of the two edges"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Poisson2d(s.size("n")))),
        extent: |s| { let n = s.wide("n"); exact(n.pow(2), 5 * n.pow(2) - 4 * n) } },
    Kind { name: "fem-hex", what: "hexahedral finite elements on n x n x n nodes (elasticity with dof=3)",
        keys: &[key("n", 2, 1290, "nodes along each of the three edges"),
            Key { name: "dof", what: "unknowns per node", min: 1, max: 8, default: Some(DefaultValue::Is(1)) }, SEED, DOMINANT],
        rule: |s, _| {
            let (n, dof) = (s.size("n"), s.size("dof"));
            fits_rows(n as u128 * n as u128 * n as u128 * dof as u128)?;
            Ok(Box::new(Fem::hexahedra(n, dof, s.value("seed"))))
        },
        extent: |s| {
            let (n, dof) = (s.wide("n"), s.wide("dof"));
            exact(n.pow(3) * dof, (3 * n - 2).pow(3) * dof.pow(2))
        } },
    Kind { name: "fem-tet", what: "tetrahedral finite elements on nx x ny x nz nodes (elasticity with dof=3, flow with dof=1)",
        keys: &[key("nx", 2, MOST, "nodes along the first edge"), key("ny", 2, MOST, "nodes along the second edge"),
            key("nz", 2, MOST, "nodes along the third edge"),
            optional("dof", 1, 8, "unknowns per node", 1),
            optional("m", 0, MOST, "rows to keep, 0 for all", 0),
            optional("decades", 0, 12, "decades over which the stiffness varies", 2),
            optional("shift", 0, 1_000_000, "diagonal shift, in millionths of the diagonal", 1000), SEED, DOMINANT],
        rule: |s, _| {
            let nodes = ["nx", "ny", "nz"].map(|key| s.size(key));
            let rows = nodes.iter().map(|&n| n as u128).product::<u128>().saturating_mul(s.value("dof").into());
            let m = match s.size("m") { 0 => rows, m => rows.min(m as u128) };
            fits_rows(rows)?;
            let (decades, shift) = (s.value("decades") as f64, s.value("shift") as f64 / 1e6);
            Ok(Box::new(Fem::tetrahedra(nodes, m as usize, s.size("dof"), decades, shift, s.value("seed"))))
        },
        extent: extent::tetrahedra },
    Kind { name: "banded", what: "random columns near a full diagonal",
        keys: &[ROWS, key("half", 0, MOST, "maximum distance from the diagonal"), key("row", 1, MOST, "nonzeros per row"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Banded { m: s.size("m"), half: s.size("half"), row: s.size("row"), seed: s.value("seed") })),
        extent: extent::banded },
    Kind { name: "random", what: "random columns anywhere: the worst case for caches",
        keys: &[ROWS, key("row", 0, MOST, "nonzeros per row"),
            Key { name: "n", what: "columns", min: 1, max: MOST, default: Some(DefaultValue::SameAs("m")) }, SEED, DOMINANT],
        rule: |s, _| {
            let (m, n, row) = (s.size("m"), s.size("n"), s.size("row"));
            if row > n {
                return Err(GenerateError::Parameters(format!("a row of {row} nonzeros does not fit into {n} columns")));
            }
            Ok(Box::new(Uniform { m, n, row, seed: s.value("seed") }))
        },
        extent: |s| {
            let (m, n, row) = (s.wide("m"), s.wide("n"), s.wide("row"));
            extent::filled(s, m.min(n) * n.saturating_sub(row) / n, rectangle(m, n, m * row))
        } },
    Kind { name: "shaped", what: "any structure, by row lengths, block size, grid neighbours and bandwidth",
        keys: &[ROWS, key("nnz", 1, u64::MAX >> 1, "nonzeros"), key("max", 1, 65_535, "nonzeros in the longest row"),
            SHORTEST, DEVIATION,
            optional("dof", 1, 64, "unknowns per node, which form a dense block", 1),
            optional("nx", 0, 65_535, "nodes per grid line, 0 for a single line", 0),
            optional("ny", 0, 65_535, "lines per grid plane, 0 for a single plane", 0),
            Key { name: "half", what: "maximum distance from the diagonal", min: 0, max: MOST, default: Some(DefaultValue::SameAs("m")) },
            optional("scatter", 0, 1000, "nonzeros per thousand that lie anywhere in the band", 0),
            Key { name: "run", what: "consecutive rows of about the same length", min: 1, max: MOST, default: Some(DefaultValue::SameAs("dof")) },
            optional("sym", 0, 1, "1 for a symmetric matrix of dense blocks", 0), SEED, DOMINANT],
        rule: |s, limit| match s.value("sym") {
            0 => Ok(Box::new(Shaped::new(s, limit)?)),
            _ => Ok(Box::new(Symmetric::new(s, limit)?)),
        },
        extent: |s| match s.value("sym") {
            0 => exact(s.wide("m"), s.wide("nnz")),
            _ => about(s.wide("m"), s.wide("nnz")),
        } },
    Kind { name: "powerlaw", what: "a web graph: power-law row lengths, popular and nearby columns",
        keys: &[ROWS, key("nnz", 0, u64::MAX >> 1, "nonzeros"), key("max", 1, MOST, "nonzeros in the longest row"),
            SHORTEST, Key { default: Some(DefaultValue::Is(0)), ..DEVIATION },
            optional("near", 1, MOST, "maximum distance of nearby columns", 512), SEED, DOMINANT],
        rule: |s, limit| Ok(Box::new(PowerLaw::new(s, limit)?)),
        extent: |s| extent::filled(s, s.wide("m"), exact(s.wide("m"), s.wide("nnz"))) },
    Kind { name: "road", what: "a road network: two to four neighbours, mostly nearby",
        keys: &[ROWS, optional("max", 0, 24, "roads at the busiest crossing, 0 for a random number", 0), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Road::new(s.size("m"), s.size("max"), s.value("seed")))),
        extent: |s| extent::filled(s, s.wide("m"), about(s.wide("m"), s.wide("m") * 28 / 10)) },
    Kind { name: "circuit", what: "a circuit: short rows and one dense row and column",
        keys: &[ROWS, key("nnz", 1, u64::MAX >> 1, "nonzeros, within 1 %"), key("dense", 1, MOST, "nonzeros in the dense row"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Circuit::new(s.size("m"), s.size("nnz"), s.size("dense"), s.value("seed"))?)),
        extent: |s| about(s.wide("m"), s.wide("nnz")) },
    Kind { name: "kkt", what: "the saddle-point matrix [H A'; A 0] of a control problem on an n x n x n grid",
        keys: &[key("n", 1, 1290, "grid points along each of the three edges"), SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Kkt::new(s.size("n"), s.value("seed")))),
        extent: |s| extent::filled(s, s.wide("n").pow(3), extent::kkt(s.wide("n"))) },
    Kind { name: "kmer", what: "a k-mer graph, lower triangular: the diagonal and at most one nonzero left of it per row",
        keys: &[ROWS, optional("near", 0, MOST, "maximum distance of the nonzero left of the diagonal, 0 for no limit", 0),
            optional("p", 0, 1_000_000, "rows per million with a nonzero left of the diagonal", 998_817), SEED, DOMINANT],
        rule: |s, _| {
            let (m, near, probability) = (s.size("m"), s.size("near"), s.value("p") as f64 / 1e6);
            Ok(Box::new(Kmer { m, near, probability, seed: s.value("seed") }))
        },
        extent: |s| { let m = s.wide("m"); about(m, m + (m - 1) * s.wide("p") / 1_000_000) } },
    Kind { name: "lp", what: "constraints of a linear program: rectangular, power-law row lengths, a few columns that many rows share",
        keys: &[ROWS, key("n", 1, MOST, "columns"), key("nnz", 0, u64::MAX >> 1, "nonzeros"),
            key("max", 1, MOST, "nonzeros in the longest row"), SHORTEST, Key { default: Some(DefaultValue::Is(5000)), ..DEVIATION },
            Key { name: "half", what: "maximum distance of a short row's columns from the diagonal of the rectangle", min: 0, max: MOST, default: Some(DefaultValue::SameAs("n")) },
            optional("heavy", 0, 65_535, "columns that many rows share", 0),
            optional("fill", 0, 1000, "rows per thousand that have a nonzero in such a column", 100), SEED, DOMINANT],
        rule: |s, limit| Ok(Box::new(Lp::new(s, limit)?)),
        extent: |s| extent::filled(s, s.wide("m").min(s.wide("n")), rectangle(s.wide("m"), s.wide("n"), s.wide("nnz"))) },
    Kind { name: "diagonal", what: "one nonzero per row",
        keys: &[ROWS, SEED, DOMINANT],
        rule: |s, _| Ok(Box::new(Diagonal { m: s.size("m"), seed: s.value("seed") })),
        extent: |s| exact(s.wide("m"), s.wide("m")) },
    Kind { name: "dense-row", what: "tridiagonal, except for a full row in the middle",
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
            "the matrix would have {rows} rows, more than the maximum of {MOST}"
        ))),
    }
}
