//! The named suites of matrices.

use super::paper::{PAPER, SOLVER};
use super::suite::{Suite, SuiteEntry};

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
    SuiteEntry { name, spec, what, wanted: None }
}

#[rustfmt::skip]
static SUITES: &[Suite] = &[
Suite {
    name: "mini",
    what: "ten different structures, under a minute on two cores",
    entries: &[
        entry("grid-5pt", "poisson2d?n=500", "2-D finite differences, 5 nonzeros per row"),
        entry("grid-27pt", "stencil27?n=40", "3-D finite differences, 27 nonzeros per row"),
        entry("fem-3dof", "fem-hex?n=24&dof=3", "3-D elasticity, 3 x 3 blocks, larger than most caches"),
        entry("banded", "banded?m=50000&half=500&row=20", "20 nonzeros per row, all near the diagonal"),
        entry("scattered", "random?m=100000&row=10", "10 nonzeros per row, anywhere"),
        entry("web", "powerlaw?m=200000&nnz=700000&max=250", "power-law row lengths, popular columns"),
        entry("road", "road?m=300000", "two or three neighbours, mostly nearby"),
        entry("circuit", "circuit?m=116835&nnz=766396&dense=114190", "short rows and one nearly dense row, too large for ELLPACK"),
        entry("saddle-point", "kkt?n=24", "a control problem, two blocks of equations"),
        entry("diagonal", "diagonal?m=1000000", "one nonzero per row"),
    ],
},
Suite {
    name: "sweeps",
    what: "eight matrices with a full diagonal, from fully parallel to fully sequential Gauss–Seidel sweeps",
    entries: &[
        entry("cube-27pt", "stencil27?n=48", "3-D, 27 nonzeros per row: levels grow, then shrink"),
        entry("cube-7pt", "stencil7?n=64", "3-D, 7 nonzeros per row, two colours"),
        entry("plate", "poisson2d?n=400", "2-D, 5 nonzeros per row: the levels are diagonals of the plate"),
        entry("elastic", "fem-hex?n=20&dof=3&dominant=1", "3-D elasticity, 3 x 3 blocks whose rows depend on each other"),
        entry("tangled", "random?m=100000&row=10&dominant=1", "10 nonzeros per row, anywhere, structurally unsymmetric"),
        entry("k-mer", "kmer?m=2000000", "a forest: each row depends on one earlier row, a few dozen levels"),
        entry("k-mer-near", "kmer?m=200000&near=100", "the same with nearby parents: thousands of narrow levels"),
        entry("chain", "kmer?m=100000&near=1&p=1000000", "each row depends on the previous one: no parallelism"),
    ],
},
Suite {
    name: "paper",
    what: "the 30 matrices of the papers, stand-ins for missing files",
    entries: PAPER,
},
Suite {
    name: "solver",
    what: "the three symmetric positive definite systems of the thesis, stand-ins for missing files",
    entries: SOLVER,
},
Suite {
    name: "scale",
    what: "one structure in six sizes, each four times the previous, to show how cost grows",
    entries: &[
        entry("grid-64", "poisson2d?n=64", "4 thousand rows"),
        entry("grid-128", "poisson2d?n=128", "16 thousand rows"),
        entry("grid-256", "poisson2d?n=256", "66 thousand rows"),
        entry("grid-512", "poisson2d?n=512", "262 thousand rows"),
        entry("grid-1024", "poisson2d?n=1024", "1 million rows"),
        entry("grid-2048", "poisson2d?n=2048", "4 million rows"),
    ],
},
Suite {
    name: "gpu",
    what: "22 structures whose SpMV takes a GPU more than 20 µs; the fixed list for GPU SpMV together with paper, solver and scale",
    entries: &[
        entry("heat-hex", "fem-hex?n=128", "distinct values: finite elements, 27 nonzeros per row"),
        entry("elastic-hex", "fem-hex?n=60&dof=3", "distinct values: 3-D elasticity, 3 x 3 blocks, up to 81 nonzeros per row"),
        entry("blocks-6", "fem-hex?n=40&dof=6", "distinct values: 6 x 6 blocks, up to 162 nonzeros per row"),
        entry("flow-tet", "fem-tet?nx=150&ny=150&nz=150", "distinct values: flow on tetrahedra, 15 nonzeros per row"),
        entry("band-near", "banded?m=4000000&half=500&row=20", "distinct values: 20 nonzeros per row, within 500 of the diagonal"),
        entry("band-far", "banded?m=2000000&half=200000&row=30", "distinct values: 30 nonzeros per row, within 200000 of the diagonal"),
        entry("random-1m", "random?m=1000000&row=16", "distinct values: 16 nonzeros per row, anywhere in an x that fits in a GPU's cache"),
        entry("random-4m", "random?m=4000000&row=16", "distinct values: 16 nonzeros per row, anywhere in a larger x"),
        entry("long-rows", "random?m=50000&row=1000&n=1000000", "distinct values: 1000 nonzeros per row, anywhere, few rows"),
        entry("uneven", "shaped?m=1000000&nnz=40000000&max=300&min=1&dev=8000&nx=1000", "distinct values: 1 to 300 nonzeros per row, different in adjacent rows"),
        entry("web-12m", "powerlaw?m=5000000&nnz=12000000&max=4700", "distinct values: power-law row lengths, few nonzeros per row"),
        entry("web-60m", "powerlaw?m=5000000&nnz=60000000&max=50000", "distinct values: the same with more nonzeros and longer rows"),
        entry("circuit-4m", "circuit?m=4000000&nnz=28000000&dense=1000000", "distinct values: short rows and one with a million nonzeros"),
        entry("saddle-100", "kkt?n=100", "distinct values on the diagonal: a control problem, two blocks of equations"),
        entry("k-mer-10m", "kmer?m=10000000", "distinct values: a forest, two nonzeros per row, one of them anywhere"),
        entry("diagonal-10m", "diagonal?m=10000000", "distinct values: one nonzero per row"),
        entry("cube-27-128", "stencil27?n=128", "few values: 3-D finite differences, 27 nonzeros per row"),
        entry("cube-27-170", "stencil27?n=170", "few values: the same, five million rows"),
        entry("cube-7-256", "stencil7?n=256", "few values: 3-D finite differences, 7 nonzeros per row"),
        entry("plate-3000", "poisson2d?n=3000", "few values: 2-D finite differences, 5 nonzeros per row"),
        entry("elastic-even", "fem-tet?nx=80&ny=80&nz=80&dof=3&decades=0", "few values: 3-D elasticity of one material, 3 x 3 blocks"),
        entry("road-4m", "road?m=4000000", "few values: two or three neighbours, mostly nearby"),
    ],
},
Suite {
    name: "lp",
    what: "ten generated matrices as large as constraints of linear programs in Mittelmann's benchmarks; for y = Ax and y = A'x (--op n,t)",
    entries: &[
        entry("pds-100-like", "lp?m=156000&n=514000&nnz=1096000&max=100&min=1&half=5000", "generated stand-in: a network, two nonzeros per column"),
        entry("rail4284-like", "lp?m=4284&n=1096894&nnz=11284032&max=56181&min=1&dev=9000&half=200000", "generated stand-in: set covering, few rows of thousands of nonzeros"),
        entry("stormg2-1000-like", "lp?m=528000&n=1377000&nnz=3460000&max=50&min=1&half=700&heavy=120&fill=2", "generated stand-in: a thousand scenarios that share 120 columns"),
        entry("cont11-like", "lp?m=1468000&n=1961000&nnz=5383000&max=5&min=2&dev=2000&half=1500", "generated stand-in: discretised optimal control, short rows of one length"),
        entry("dbic1-like", "lp?m=43200&n=226000&nnz=1082000&max=1500&min=1&dev=9000", "generated stand-in: columns anywhere, some long rows"),
        entry("spal-004-like", "lp?m=10200&n=321700&nnz=46168000&max=6000&min=1&dev=2500", "generated stand-in: thousands of nonzeros in every row, anywhere"),
        entry("ns1688926-like", "lp?m=32768&n=16587&nnz=1712128&max=500&min=1&dev=6000", "generated stand-in: more rows than columns, 52 nonzeros per row"),
        entry("degme-like", "lp?m=185500&n=659000&nnz=8127000&max=700&min=1&dev=4000&half=60000", "generated stand-in: more columns than rows, 44 nonzeros per row"),
        entry("neos3-like", "lp?m=512000&n=518000&nnz=2055000&max=20&min=2&half=2000&heavy=500&fill=4", "generated stand-in: nearly square, columns of thousands of nonzeros"),
        entry("dense-row-like", "lp?m=100000&n=300000&nnz=1200000&max=290000&min=2&half=20000&heavy=10&fill=500", "generated stand-in: a budget row with nearly all columns, columns in half of the rows"),
    ],
}];
