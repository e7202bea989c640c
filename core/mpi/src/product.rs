//! y = A·x on a rank: interior and boundary by the single-process kernels.

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Instant;

use super::exchange::Exchange;
use sparsescope_kernels::spmv::simd::{self, CsrPlan, HllPlan, Level, Tuning};
use sparsescope_matrix::distributed::LocalMatrix;
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatError, FormatSpec, Hll};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// Seconds of one or several executions on a rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) computing: f64,
    pub(super) packing: f64,
    pub(super) waiting: f64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.computing += other.computing;
        self.packing += other.packing;
        self.waiting += other.waiting;
    }
}

impl Spent {
    /// The mean per execution, where `executions` took this time together.
    pub(super) fn over(self, executions: u32) -> Self {
        let mean = |seconds: f64| seconds / f64::from(executions.max(1));
        let Self { computing, packing, waiting } = self;
        Self { computing: mean(computing), packing: mean(packing), waiting: mean(waiting) }
    }
}

/// A part of a rank's rows in the format of the kernel that multiplies it.
enum Part {
    Csr(Arc<Csr>, CsrPlan),
    Hll(Arc<Hll>, HllPlan),
}

/// A repeatable SpMV, on the pool that it was made for.
pub(super) struct Product {
    interior: Part,
    boundary: Part,
    /// Whether the interior is multiplied during the halo exchange.
    overlaps: bool,
    exchange: Exchange,
    y: Vec<f64>,
    inside: usize,
    /// Bytes of the format's arrays, and minimal bytes that one SpMV moves, with x and y.
    pub(super) format_bytes: u64,
    pub(super) minimal_bytes: u64,
    /// Parameters of the format.
    pub(super) params: std::collections::BTreeMap<String, String>,
}

impl Product {
    /// Converts a rank's rows to this format, for `threads` threads of the ambient pool, with x and the
    /// messages of its halo. Fails before allocating more than `limit`.
    pub(super) fn new(
        local: &LocalMatrix,
        exchange: Exchange,
        (spec, overlaps): (FormatSpec, bool),
        (threads, near_bytes): (usize, u64),
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let mut params = std::collections::BTreeMap::new();
        let (mut format_bytes, mut minimal_bytes) = (0, 0);
        let mut part = |a: &Arc<Csr>| {
            let made = spec.build(a, limit)?;
            params = spec.in_force(&made);
            format_bytes += made.bytes();
            minimal_bytes += made.minimal_bytes();
            let level = Level::of_machine();
            Ok::<Part, FormatError>(match made {
                AnyFormat::Hll(a) => {
                    let tuning = Tuning::new::<f64>(a.cols(), a.col(), level, near_bytes);
                    let plan = HllPlan::new(&a, threads, tuning);
                    Part::Hll(a, plan)
                }
                _ => {
                    let tuning = Tuning::new::<f64>(a.cols(), a.col(), level, near_bytes);
                    Part::Csr(Arc::clone(a), CsrPlan::new(a, threads, tuning))
                }
            })
        };
        let (interior, boundary) = (part(local.interior())?, part(local.boundary())?);
        // Both parts count the own elements of x, which exist once.
        minimal_bytes -= 8 * local.own_cols() as u64;
        let (y, inside) = (zeroed(0.0, local.own_rows()), local.interior().rows());
        Ok(Self {
            interior,
            boundary,
            overlaps,
            exchange,
            y,
            inside,
            format_bytes,
            minimal_bytes,
            params,
        })
    }

    /// Fills y and the halo with NaN, so that missing elements are detected.
    pub(super) fn spoil(&mut self) {
        self.y.fill(f64::NAN);
        self.exchange.spoil();
    }

    /// Executes once, with all other ranks.
    pub(super) fn run(&mut self) -> Spent {
        let begun = Instant::now();
        self.exchange.pack();
        let packed = Instant::now();
        self.exchange.start();
        let (inside, outside) = self.y.split_at_mut(self.inside);
        let mut computing = 0.0;
        if self.overlaps {
            let start = Instant::now();
            self.interior.multiply(self.exchange.own(), inside);
            computing += start.elapsed().as_secs_f64();
        }
        let start = Instant::now();
        self.exchange.wait();
        let waiting = start.elapsed().as_secs_f64();
        let start = Instant::now();
        if !self.overlaps {
            self.interior.multiply(self.exchange.own(), inside);
        }
        self.boundary.multiply(self.exchange.all(), outside);
        computing += start.elapsed().as_secs_f64();
        Spent { computing, packing: (packed - begun).as_secs_f64(), waiting }
    }

    /// Own elements of x, in the local order.
    pub(super) fn x_mut(&mut self) -> &mut [f64] {
        self.exchange.own_mut()
    }

    /// Own elements of x, and y, in the local order.
    pub(super) fn x_and_y(&self) -> (&[f64], &[f64]) {
        (self.exchange.own(), &self.y)
    }

    /// Copies these own elements of x and exchanges the halo; returns all of x that the rank's rows need.
    pub(super) fn with_halo(&mut self, own: &[f64]) -> &[f64] {
        self.exchange.own_mut().copy_from_slice(own);
        self.exchange.pack();
        self.exchange.start();
        self.exchange.all()
    }

    /// y, in the local order.
    pub(super) fn y(&self) -> &[f64] {
        &self.y
    }
}

impl Part {
    fn multiply(&self, x: &[f64], y: &mut [f64]) {
        match self {
            Self::Csr(a, plan) => simd::csr(a, plan, None, x, y),
            Self::Hll(a, plan) => simd::hll(a, plan, None, x, y),
        }
    }
}
