//! What kernels compute, in words, and how their speed is measured.

use super::metric::{Better, Metric, Work};

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// y = A·x.
    Spmv,
    /// One symmetric Gauss–Seidel iteration on A·x = b: a sweep over the rows in ascending order, and
    /// one in descending order.
    Symgs,
    /// The skyline (Pareto front) of N points in D dimensions: the points that no other dominates.
    Skyline,
    /// A·x = b for a symmetric positive definite A, by the conjugate gradient method.
    Solve,
    /// A_s·x_s = b_s for many small dense symmetric positive definite systems.
    BatchedDense,
    /// Y = A·X, where X has several columns.
    Spmm,
}

impl Operation {
    /// All operations, in the order in which lists show them.
    pub const ALL: &'static [Self] =
        &[Self::Spmv, Self::Symgs, Self::Skyline, Self::Solve, Self::BatchedDense, Self::Spmm];

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        self.row().as_str
    }

    /// Returns the operation with this word; `None` if this program does not know it.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.as_str() == word)
    }

    /// What it computes, in a line of help.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The word in the ids of its kernels; `None` if that is their format.
    pub fn in_ids(self) -> Option<&'static str> {
        self.row().in_ids
    }

    /// The word for one execution: `SpMV`.
    pub fn word(self) -> &'static str {
        self.row().one
    }

    /// The word for several executions: `SpMVs`.
    pub fn words(self) -> &'static str {
        self.row().several
    }

    /// The floating-point operations of one execution on a matrix with this many nonzeros; `None` if
    /// they do not follow from it.
    pub fn flops(self, nnz: u64) -> Option<u64> {
        Some(self.row().flops_per_nonzero?.saturating_mul(nnz))
    }

    /// The metric of executions with this work and this median time in seconds.
    pub fn metric(self, work: &Work, median_s: f64) -> Metric {
        (self.row().metric)(work, median_s)
    }

    fn row(self) -> &'static Row {
        let row = TABLE.iter().find(|row| row.operation == self);
        row.expect("the table has every operation") // invariant
    }
}

/// What is known about an operation.
struct Row {
    operation: Operation,
    as_str: &'static str,
    about: &'static str,
    in_ids: Option<&'static str>,
    one: &'static str,
    several: &'static str,
    flops_per_nonzero: Option<u64>,
    metric: fn(&Work, f64) -> Metric,
}

static TABLE: &[Row] = &[
    Row {
        operation: Operation::Spmv,
        as_str: "spmv",
        about: "Matrix-vector product, y = A·x",
        in_ids: None,
        one: "SpMV",
        several: "SpMVs",
        flops_per_nonzero: Some(2),
        metric: throughput,
    },
    Row {
        operation: Operation::Symgs,
        as_str: "symgs",
        about: "Symmetric Gauss–Seidel sweep",
        in_ids: Some("symgs"),
        one: "symmetric sweep",
        several: "symmetric sweeps",
        flops_per_nonzero: None,
        metric: throughput,
    },
    Row {
        operation: Operation::Skyline,
        as_str: "skyline",
        about: "Skyline (Pareto front) of a point set",
        in_ids: Some("skyline"),
        one: "skyline",
        several: "skylines",
        flops_per_nonzero: None,
        metric: |_, median_s| Metric::of("time", "ms", Better::Less, median_s * 1e3),
    },
    Row {
        operation: Operation::Solve,
        as_str: "solve",
        about: "Solution of A·x = b by conjugate gradients",
        in_ids: Some("pcg"),
        one: "solve",
        several: "solves",
        flops_per_nonzero: None,
        // Without the setup, which is reported separately: one setup may serve many solves.
        metric: |_, median_s| Metric::of("time to solution", "ms", Better::Less, median_s * 1e3),
    },
    Row {
        operation: Operation::BatchedDense,
        as_str: "batched-dense",
        about: "Many small dense symmetric positive definite systems",
        in_ids: Some("dense"),
        one: "batch",
        several: "batches",
        flops_per_nonzero: None,
        metric: throughput,
    },
    Row {
        operation: Operation::Spmm,
        as_str: "spmm",
        about: "Matrix times several vectors, Y = A·X",
        in_ids: Some("spmm"),
        one: "SpMM",
        several: "SpMMs",
        // They depend on the number of columns of X, too.
        flops_per_nonzero: None,
        metric: throughput,
    },
];

fn throughput(work: &Work, median_s: f64) -> Metric {
    Metric::of("throughput", "GFLOPS", Better::More, work.flops as f64 / median_s / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again_and_others_are_not() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::of(operation.as_str()), Some(operation));
        }
        assert_eq!(Operation::of("fft"), None);
        assert!(TABLE.iter().map(|row| row.operation).eq(Operation::ALL.iter().copied()));
    }

    #[test]
    fn products_are_rated_by_operations_a_second() {
        let metric = Operation::Spmv.metric(&Work { flops: 4_000_000, ..Work::default() }, 2e-3);
        assert_eq!((metric.unit.as_str(), metric.value), ("GFLOPS", 2.0));
        assert_eq!(metric.better, Better::More);
    }

    #[test]
    fn skylines_are_rated_by_their_time_for_comparisons_depend_on_the_kernel() {
        let metric = Operation::Skyline.metric(&Work { comparisons: 7, ..Work::default() }, 2e-3);
        assert_eq!((metric.unit.as_str(), metric.value, metric.better), ("ms", 2.0, Better::Less));
    }

    #[test]
    fn solves_are_rated_by_their_time_for_a_better_preconditioner_does_fewer_operations() {
        let work = Work { flops: 1_000, iterations: 7, ..Work::default() };
        let metric = Operation::Solve.metric(&work, 2e-3);
        assert_eq!((metric.unit.as_str(), metric.value, metric.better), ("ms", 2.0, Better::Less));
    }
}
