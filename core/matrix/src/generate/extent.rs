//! Computes the size of a recipe's matrix from its keys alone.

use super::keys::Values;
use crate::matrix::Extent;

/// An exact number of nonzeros of a square matrix.
pub(super) fn exact(rows: u128, entries: u128) -> Extent {
    rectangle(rows, rows, entries)
}

/// An exact number of nonzeros of any matrix.
pub(super) fn rectangle(rows: u128, cols: u128, entries: u128) -> Extent {
    let [rows, cols, entries] = [rows, cols, entries].map(|n| n.try_into().unwrap_or(u64::MAX));
    Extent { rows, cols, entries, estimated: false }
}

/// An approximate number of nonzeros of a square matrix.
pub(super) fn about(rows: u128, entries: u128) -> Extent {
    Extent { estimated: true, ..exact(rows, entries) }
}

/// The extent of a matrix in which about `missing` rows lack the diagonal, which is filled if the
/// matrix is to be diagonally dominant.
pub(super) fn filled(spec: &Values, missing: u128, extent: Extent) -> Extent {
    if spec.value("dominant") == 0 {
        return extent;
    }
    let missing = u64::try_from(missing).unwrap_or(u64::MAX);
    Extent { entries: extent.entries.saturating_add(missing), estimated: true, ..extent }
}

/// Nodes of a box, and pairs (u, v) of nodes that share an element, including u = v.
pub(super) fn tetrahedra(spec: &Values) -> Extent {
    let [x, y, z] = ["nx", "ny", "nz"].map(|key| spec.wide(key));
    let (dof, m) = (spec.wide("dof"), spec.wide("m"));
    let nodes = x * y * z;
    let edges = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
    let faces = (x - 1) * (y - 1) * z + (x - 1) * y * (z - 1) + x * (y - 1) * (z - 1);
    let bricks = (x - 1) * (y - 1) * (z - 1);
    let (rows, entries) = (nodes * dof, (nodes + 2 * (edges + faces + bricks)) * dof * dof);
    match m {
        0 => exact(rows, entries),
        m if m >= rows => exact(rows, entries),
        m => about(m, entries.saturating_mul(m) / rows),
    }
}

/// Exact where every row's window is wide enough.
pub(super) fn banded(spec: &Values) -> Extent {
    let [m, half, row] = ["m", "half", "row"].map(|key| spec.wide(key));
    match row <= m.min(half + 1) {
        true => exact(m, m * row),
        false => about(m, m * row.min(2 * half + 1).min(m)),
    }
}

/// States, controls and constraints; the diagonal of the first two, and the operator of the
/// constraints with its mirror.
pub(super) fn kkt(n: u128) -> Extent {
    let unknowns = n.pow(3) + 6 * n.pow(2);
    // Pairs of points on a line that are equal or adjacent: 3n - 2.
    let line = 3 * n - 2;
    exact(unknowns + n.pow(3), unknowns + 2 * (line.pow(3) + 6 * line.pow(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{DEFAULT_SEED, GeneratorSpec, measure_made, suites};
    use crate::memory::MemoryLimit;

    fn made(spec: &str) -> (Extent, Extent) {
        let spec = GeneratorSpec::parse(spec).unwrap();
        let made = measure_made(&spec, 0, MemoryLimit::unlimited(), &false.into()).unwrap();
        let said = spec.extent();
        let made = Extent {
            rows: made.rows,
            cols: made.cols,
            entries: made.nnz,
            estimated: said.estimated,
        };
        (said, made)
    }

    #[test]
    fn what_is_said_to_be_exact_is_what_is_made() {
        for spec in [
            "stencil7?n=1",
            "stencil7?n=6",
            "stencil27?n=1",
            "stencil27?n=6",
            "stencil27?n=5&nz=2",
            "stencil7?n=6&nz=3",
            "poisson2d?n=1",
            "poisson2d?n=9",
            "fem-hex?n=5&dof=3",
            "fem-tet?nx=4&ny=3&nz=5&dof=3",
            "fem-tet?nx=4&ny=3&nz=5&dof=2&m=200",
            "banded?m=200&half=9&row=10",
            "random?m=150&n=90&row=7",
            "shaped?m=300&nnz=3000&max=25&dev=3000&dof=2&nx=9&scatter=100&half=70",
            "powerlaw?m=500&nnz=2000&max=90",
            "powerlaw?m=500&nnz=2000&max=90&min=1&dev=8000",
            "kkt?n=1",
            "kkt?n=4",
            "lp?m=300&n=90&nnz=2400&max=80&min=1&half=6&heavy=3&fill=900",
            "diagonal?m=50",
            "dense-row?m=1",
            "dense-row?m=2",
            "dense-row?m=3",
            "dense-row?m=41",
            "dense-row?m=41&dominant=1",
            "stencil7?n=6&dominant=1",
        ] {
            let (said, made) = made(spec);
            assert_eq!(said, made, "{spec}");
            assert!(!said.estimated, "{spec}");
        }
    }

    #[test]
    fn estimates_say_so_and_are_near() {
        for spec in [
            "fem-tet?nx=14&ny=13&nz=15&dof=3&m=5000",
            "banded?m=2000&half=9&row=15",
            "shaped?m=3000&nnz=30000&max=24&dev=3000&dof=2&nx=9&scatter=100&half=70&sym=1",
            "road?m=10000",
            "circuit?m=3000&nnz=20000&dense=2000",
            "kmer?m=1",
            "kmer?m=9000&p=500000",
            "kkt?n=4&dominant=1",
            "powerlaw?m=5000&nnz=20000&max=90&dominant=1",
            "random?m=1500&n=900&row=7&dominant=1",
            "road?m=10000&dominant=1",
        ] {
            let (said, made) = made(spec);
            assert!(said.estimated, "{spec}");
            assert_eq!((said.rows, said.cols), (made.rows, made.cols), "{spec}");
            let share = said.entries as f64 / made.entries as f64;
            assert!((share - 1.0).abs() < 0.06, "{spec}: {share}");
        }
    }

    #[test]
    fn every_recipe_of_the_suites_says_how_large_its_matrix_is() {
        for entry in suites().iter().flat_map(|suite| suite.entries) {
            let said = GeneratorSpec::parse(entry.spec).unwrap().extent();
            let Some(wanted) = entry.wanted else { continue };
            assert_eq!((said.rows, said.cols), (wanted.rows, wanted.cols), "{}", entry.name);
            let share = said.entries as f64 / wanted.nnz as f64;
            assert!((share - 1.0).abs() < 0.02, "{}: {share}", entry.name);
        }
    }

    #[test]
    fn the_largest_recipes_overflow_nothing() {
        for spec in ["stencil27?n=1625", "random?m=4294967295&row=4294967295", "kkt?n=1290"] {
            let said =
                GeneratorSpec::parse(&format!("{spec}&seed={DEFAULT_SEED}")).unwrap().extent();
            assert!(said.entries > 4_000_000_000, "{spec}");
        }
        let all = "fem-tet?nx=4294967295&ny=4294967295&nz=4294967295&dof=8";
        assert!(GeneratorSpec::parse(&format!("{all}&m=4G")).unwrap().extent().estimated);
        assert_eq!(GeneratorSpec::parse(all).unwrap().extent().entries, u64::MAX);
    }
}
