//! The factorised sparse approximate inverse, with the rows of G and Gᵀ distributed over the ranks.

use std::time::Instant;

use rayon::prelude::*;

use super::gathered::Gathered;
use super::vectors::BLOCK;
use crate::agreed::agreed;
use crate::exchange::Exchange;
use crate::plan::planned;
use crate::product::{Product, Spent};
use crate::world::World;
use sparsescope_kernels::fsai::{FsaiError, FsaiParameters, PatternRule, SetUp, factor_rows};
use sparsescope_matrix::distributed::{ExchangePlan, LocalMatrix, Partition, RowBlock};
use sparsescope_matrix::matrix::{Csr, FormatSpec};
use sparsescope_matrix::memory::MemoryLimit;

/// G and Gᵀ, each with its own halo.
pub(super) struct Factors {
    g: Factor,
    gt: Factor,
    /// Position in Gᵀ's y of each row of A; `None` where they are the same.
    back: Option<Vec<u32>>,
}

/// A matrix, and where its x comes from.
struct Factor {
    product: Product,
    /// Position, in the source vector, of each own element of x; `None` where they are the same.
    from: Option<Vec<u32>>,
    plan: ExchangePlan,
}

/// Parameters for making a factor.
#[derive(Clone, Copy)]
pub(super) struct Making<'m> {
    pub(super) world: &'m World,
    pub(super) local: &'m LocalMatrix,
    pub(super) partition: &'m Partition,
    pub(super) spec: FormatSpec,
    pub(super) pool: &'m rayon::ThreadPool,
    pub(super) near_bytes: u64,
    pub(super) limit: MemoryLimit,
}

impl Factors {
    /// Sets up G from the rank's rows of A and the rows of other ranks that patterns reach, and Gᵀ from G by
    /// sending each nonzero once, to the owner of its column. Reports what each phase took and made. `None`
    /// if any rank was cancelled; fails on all ranks together.
    pub(super) fn set_up(
        making: Making<'_>,
        parameters: &FsaiParameters,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<(Self, SetUp)>, String> {
        let Making { world, local, limit, .. } = making;
        let begun = Instant::now();
        let gathered = Gathered::of(world, local, making.partition, reach(parameters), limit)?;
        let gather_s = begun.elapsed().as_secs_f64();
        let (a, own) = (&gathered.a, gathered.own.clone());
        let rows = || factor_rows(a, own, parameters, limit, cancelled);
        let made = making.pool.install(rows);
        let made = made.map_err(|error| told(error, &gathered));
        let made = agreed(world, made)?;
        if world.any(made.is_none()) {
            return Ok(None);
        }
        let Some((g, mut report)) = made else { return Ok(None) };

        let begun = Instant::now();
        let of_whole = |&column: &u32| gathered.number(column as usize);
        let rows = making.partition.rows();
        let g = agreed(world, whole_columns(g, rows, of_whole))?;
        let gt = agreed(world, transposed(world, &g, making)?)?;
        report.phases.push(sparsescope_kernels::fsai::Phase {
            name: "transpose",
            seconds: begun.elapsed().as_secs_f64(),
        });

        let begun = Instant::now();
        let first_row = local.rows().start;
        let ready = |part: Csr| -> Result<(LocalMatrix, Factor), String> {
            let block = RowBlock::new(first_row, rows, part);
            let rank = world.rank();
            let never = false.into();
            let by = making.partition;
            let local = || LocalMatrix::new(&block, rank, by, by, limit, &never);
            let local = making.pool.install(local);
            let local = agreed(world, local)?;
            let factor = making.factor(&local)?;
            Ok((local, factor))
        };
        let (local_g, mut g) = ready(g)?;
        let (local_gt, mut gt) = ready(gt)?;
        g.from = places(&local_g, local);
        gt.from = places(&local_gt, &local_g);
        let back = places(local, &local_gt);
        let first = sparsescope_kernels::fsai::Phase { name: "gather", seconds: gather_s };
        report.phases.insert(0, first);
        report.phases.push(sparsescope_kernels::fsai::Phase {
            name: "plan",
            seconds: begun.elapsed().as_secs_f64(),
        });
        Ok(Some((Self { g, gt, back }, report)))
    }

    /// z = Gᵀ·(G·r).
    pub(super) fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Spent {
        let mut spent = self.g.multiply(r);
        spent += self.gt.multiply(self.g.product.y());
        place(&self.back, self.gt.product.y(), z);
        spent
    }

    /// Bytes sent to each other rank in one application, for one SpMV after the other.
    pub(super) fn bytes_sent(&self) -> impl Iterator<Item = (usize, u64)> {
        let of = |factor: &'_ Factor| factor.plan.bytes_sent(size_of::<f64>()).collect::<Vec<_>>();
        of(&self.g).into_iter().chain(of(&self.gt))
    }

    /// Bytes of both factors in their format.
    pub(super) fn bytes(&self) -> u64 {
        self.g.product.format_bytes + self.gt.product.format_bytes
    }
}

impl Factor {
    fn multiply(&mut self, x: &[f64]) -> Spent {
        place(&self.from, x, self.product.x_mut());
        self.product.run()
    }
}

impl Making<'_> {
    /// The rows of a factor in their format, with the messages of their halo.
    fn factor(self, local: &LocalMatrix) -> Result<Factor, String> {
        let plan = planned(self.world, local)?;
        let x = vec![0.0; local.own_cols()];
        let exchange = Exchange::new(self.world, plan.clone(), x, local.halo().len());
        let how = (self.pool.current_num_threads(), self.near_bytes);
        let Self { spec, limit, .. } = self;
        let product = || Product::new(local, exchange, (spec, true), how, limit);
        let product = self.pool.install(product);
        Ok(Factor { product: agreed(self.world, product)?, from: None, plan })
    }
}

/// Number of steps from a row that its pattern and the systems on it reach, and whether they may reach rows
/// after it.
fn reach(parameters: &FsaiParameters) -> (u32, bool) {
    match parameters.pattern {
        PatternRule::Recursive { power } => (power, false),
        PatternRule::Power { power } => (power, power > 1),
        PatternRule::Adaptive { steps, .. } => (steps + 1, false),
        PatternRule::Given(_) => (1, false),
    }
}

/// Replaces the row of an error by its number in the whole matrix.
fn told(error: FsaiError, gathered: &Gathered) -> FsaiError {
    match error {
        FsaiError::NotPositiveDefinite { row, size } => {
            FsaiError::NotPositiveDefinite { row: gathered.number(row) as usize, size }
        }
        error => error,
    }
}

/// The rank's rows of G with the column numbers of the whole matrix.
fn whole_columns(g: Csr, rows: u64, of_whole: impl Fn(&u32) -> u64) -> Result<Csr, String> {
    let narrow = |column: &u32| {
        let column = of_whole(column);
        u32::try_from(column)
            .map_err(|_| format!("column {column} of G exceeds the maximum of 4294967295"))
    };
    let col = g.col().iter().map(narrow).collect::<Result<Vec<u32>, String>>()?;
    let cols = rows as usize;
    let made = Csr::try_new(g.rows(), cols, g.row_ptr().clone(), col, g.val().to_vec());
    made.map_err(|error| error.to_string())
}

/// Words per nonzero in a message: row of Gᵀ, column, value.
const WORDS: usize = 3;

/// The rank's rows of Gᵀ. The nonzeros of a row arrive rank after rank, so that columns ascend. Fails on all
/// ranks together, except for the inner result.
fn transposed(world: &World, g: &Csr, making: Making<'_>) -> Result<Result<Csr, String>, String> {
    let Making { local, partition, limit, .. } = making;
    let first = local.rows().start;
    let needed = 2 * 8 * WORDS as u128 * g.nnz() as u128;
    agreed(world, limit.check("nonzeros of G sent to build Gᵀ", needed))?;
    let mut lists = vec![Vec::new(); world.ranks()];
    for i in 0..g.rows() {
        let (col, val) = g.row(i);
        for (&c, v) in col.iter().zip(val) {
            let column = u64::from(c);
            let words = [column, first + i as u64, v.to_bits()];
            lists[partition.owner(column)].extend(words);
        }
    }
    let lists: Vec<(usize, &[u64])> = lists.iter().map(Vec::as_slice).enumerate().collect();
    let received = world.exchange(&lists)?;
    let mut triplets = Vec::new();
    for entry in received.iter().flat_map(|list| list.chunks_exact(WORDS)) {
        if let [row, col, bits] = *entry {
            triplets.push(((row - first) as usize, col as usize, f64::from_bits(bits)));
        }
    }
    let cols = partition.rows() as usize;
    Ok(Csr::from_triplets(g.rows(), cols, &triplets).map_err(|error| error.to_string()))
}

/// Position of each own row of `to` in the order of `of`; `None` where they are the same.
fn places(to: &LocalMatrix, of: &LocalMatrix) -> Option<Vec<u32>> {
    let place = |k: usize| of.own_col(to.global_col(k)).unwrap_or_default();
    let places: Vec<u32> = (0..to.own_cols()).map(place).collect();
    let is_same = places.iter().zip(0..).all(|(&place, k)| place == k);
    (!is_same).then_some(places)
}

/// to_k = from at position `places[k]`.
fn place(places: &Option<Vec<u32>>, from: &[f64], to: &mut [f64]) {
    match places {
        None => to.copy_from_slice(from),
        Some(places) => {
            let blocks = (to.par_chunks_mut(BLOCK), places.par_chunks(BLOCK));
            blocks.into_par_iter().for_each(|(to, places)| {
                to.iter_mut().zip(places).for_each(|(to, &place)| *to = from[place as usize]);
            });
        }
    }
}
