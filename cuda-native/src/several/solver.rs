//! Conjugate gradients on one rank: its rows, its parts of the vectors, and the steps of an
//! iteration, which compute the same scalars on every rank.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::distributed::LocalMatrix;
use sparsescope_core::experiment::solving::share_done;
use sparsescope_core::experiment::{DeviceSystem, Elements, RankRows};
use sparsescope_core::kernel::Applied;
use sparsescope_core::matrix::{AnyFormat, Csr};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Breakdown, OperatorFormat, SolveParameters, Start};

use super::exchange::Exchange;
use super::pace::Pace;
use super::product::{Took, in_order, order_of, part};
use super::rank::Rank;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError, row_count};
use crate::guarded::{GuardedVector, Written};
use crate::launch::{Graph, Step, enqueue};
use crate::pcg::{
    At, Ended, Form, Glance, Operator, Product, Purpose, Scalars, Shares, Source, Vectors,
};
use crate::upload::Uploads;

/// Iterations that are enqueued at once.
const BATCH: u32 = 8;

/// A rank's part of a solve, set up.
pub(crate) struct LocalSolver {
    reset: Vec<Step>,
    begin: Vec<Step>,
    iteration: Rc<[Step]>,
    finish: Vec<Step>,
    /// Requests a stop from this rank.
    stop: Step,
    graph: Option<Graph<Rc<[Step]>>>,
    looks: [Glance; 2],
    scalars: Scalars,
    x: GuardedVector<f64>,
    order: Vec<u32>,
    how: Arc<SolveParameters>,
}

/// The result of a solve on one rank.
pub(crate) struct Told {
    pub(crate) ended: Result<Ended, Breakdown>,
    /// The rank's part of x in the order of the whole matrix, or what is wrong with it.
    pub(crate) x: Result<Vec<f64>, String>,
    pub(crate) download_s: f64,
}

/// The costs of a setup on one rank.
pub(crate) struct SetUp {
    pub(crate) took: Took,
    /// Seconds of computing the reciprocals of the diagonal.
    pub(crate) diagonal_s: f64,
}

impl LocalSolver {
    /// For what the rank holds.
    pub(crate) fn of(
        rank: &Rank,
        (local, plan): RankRows,
        system: &DeviceSystem,
        memory: MemoryLimit,
    ) -> Result<(Self, SetUp), DeviceError> {
        let device = rank.device();
        let own = local.own_rows();
        let rows = row_count(own)?;
        let begun = Instant::now();
        let inverse = match system.applied {
            Applied::Jacobi => Some(reciprocals(&local)?),
            _ => None,
        };
        let diagonal_s = begun.elapsed().as_secs_f64();
        let of_rows = |elements: &Elements| local.localised(&elements(local.rows()));
        let vector = |what, len| Buffer::<f64>::unset(device, what, len);
        let b = Buffer::of(device, "the right-hand side", &of_rows(&system.b))?;
        let start = match &system.start {
            Some(start) => Some(Buffer::of(device, "the starting vector", &of_rows(start))?),
            None => None,
        };
        let inverse = match inverse {
            Some(inverse) => Some(Buffer::of(device, "the reciprocals of the diagonal", &inverse)?),
            None => None,
        };
        let x = GuardedVector::new(device, own)?;
        let (r, q) = (vector("the vector r", own)?, vector("the vector q", own)?);
        let with_halo = vector("the vector p", local.local_cols())?;
        let p = part(&with_halo, 0..own)?;
        let v = Vectors { b: &b, x: x.elements(), r: &r, p: &p, q: &q };

        let uploads = Uploads::default();
        let operator = |of: &Arc<Csr>| {
            let (made, uploaded) = match system.format {
                OperatorFormat::Hll => (Operator::in_hacks(device, of, memory), Spent::default()),
                format => {
                    let csr = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(of)))?;
                    let uploaded = csr.copy().spent();
                    (Operator::of(device, Source::copied(csr)?, (format, false), memory), uploaded)
                }
            };
            let made = made.map_err(|error| DeviceError::Arrays(error.to_string()))?;
            let took = Took {
                conversion_s: made.conversion_s,
                spent: uploaded + made.spent,
                bytes: made.bytes,
            };
            Ok::<_, DeviceError>((made, took))
        };
        let (interior, first) = operator(local.interior())?;
        let (boundary, second) = operator(local.boundary())?;
        let scalars = Scalars::new(device, rows, system.how.max_iterations, (0, 0))?;
        let shares = Shares::new(device, rank.is_alone())?;
        let inside = local.interior().rows();
        let cols = [local.interior().cols(), local.boundary().cols()];
        let order = order_of(&local);
        // The host keeps nothing of the matrix.
        drop(local);

        // No programmatic dependent launch: the dependencies are partly NCCL's, and on two streams.
        let advance = |form| scalars.advance(device, false, form, &v).map(Step::in_turn);
        let product = |purpose: Purpose<'_>| {
            let rows_of = |operator: &Operator, rows: std::ops::Range<usize>, has_halo: bool| {
                if rows.is_empty() {
                    return Ok(Vec::new());
                }
                let [in_own, in_all] = cols;
                let x = part(&with_halo, 0..if has_halo { in_all } else { in_own })?;
                let y = part(&q, rows.clone())?;
                let with = match purpose.with() {
                    Some(with) => Some(part(with, rows)?),
                    None => None,
                };
                let scalars =
                    scalars.for_share(device, shares.of_product(has_halo), operator.blocks())?;
                let purpose = with.as_ref().map_or(Purpose::Nothing, Purpose::Share);
                let product = Product { x: &x, y: &y, purpose };
                let steps = operator.product(device, &scalars, &product)?;
                Ok::<Vec<_>, DeviceError>(steps.into_iter().map(Step::in_turn).collect())
            };
            let interior = rows_of(&interior, 0..inside, false)?;
            let boundary = rows_of(&boundary, inside..own, true)?;
            let exchange = Exchange::of(device, &plan, (&with_halo, own))?;
            exchange.around(rank, interior, boundary).map(|product| product.steps)
        };
        let form = inverse.as_ref().map_or(Form::Plain, Form::Diagonal);
        let conclude = |at| scalars.conclude(device, at, system.how.tol, &shares);
        let sum = || rank.sum(&shares.shares, &shares.totals);

        let mut reset = Vec::from(scalars.reset());
        reset.extend(shares.reset());
        reset.extend([Step::zero(&with_halo), Step::zero(&q)]);
        reset.push(match &start {
            Some(start) => Step::copy(v.x, start),
            None => Step::zero(v.x),
        });
        let mut begin = vec![scalars.share_begin(device, &shares, &v)?];
        begin.extend(sum());
        begin.push(conclude(At::Begin)?);
        match system.how.start {
            Start::Zero => {}
            Start::Preconditioned => {
                // p becomes z, since β is 0.
                begin.extend([advance(form)?, Step::copy(v.x, &p)]);
            }
            Start::Given(_) => begin.push(Step::copy(&p, v.x)),
        }
        if system.how.start != Start::Zero {
            begin.extend(product(Purpose::Nothing)?);
            begin.push(Step::zero(&with_halo));
        }
        begin.push(scalars.share_reduce(device, true, form, &shares, &v)?);
        begin.extend(sum());
        begin.push(conclude(At::Residual)?);

        let mut iteration = vec![advance(form)?];
        iteration.extend(product(Purpose::Share(&p))?);
        iteration.extend(sum());
        iteration.push(conclude(At::Product)?);
        iteration.push(scalars.share_reduce(device, false, form, &shares, &v)?);
        iteration.extend(sum());
        iteration.push(conclude(At::Residual)?);
        let iteration: Rc<[Step]> = iteration.into();

        let finish = vec![scalars.finish(device, &v)?];
        let looks = [Glance::new(device)?, Glance::new(device)?];
        let vectors = b.spent() + x.spent() + r.spent() + q.spent() + with_halo.spent();
        let vectors =
            Took { spent: vectors + scalars.spent(), bytes: scalars.bytes(), ..Took::default() };
        let took = first.and(second).and(vectors);
        let (stop, how, graph) = (shares.stop(), Arc::clone(&system.how), None);
        let made =
            Self { reset, begin, iteration, finish, stop, graph, looks, scalars, x, order, how };
        Ok((made, SetUp { took, diagonal_s }))
    }

    /// Runs an iteration on all ranks and records it as a graph: the run loads the kernels and
    /// connects the GPUs, which must not happen during graph capture. Returns why iterations are
    /// launched kernel by kernel, if they are not recorded.
    pub(crate) fn rehearse(&mut self, rank: &Rank) -> Result<Option<String>, DeviceError> {
        let device = rank.device();
        for steps in [&self.reset[..], &self.begin[..], &self.iteration[..]] {
            enqueue(device, steps)?;
        }
        rank.finish()?;
        match Graph::record(device, Rc::clone(&self.iteration), 1) {
            Ok(graph) => {
                self.graph = graph;
                Ok(None)
            }
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    /// Undoes the changes of a solve.
    pub(crate) fn reset(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &self.reset)
    }

    /// Solves, after a reset, in batches of iterations that are enqueued before it is known whether
    /// they are needed: once the solve is over their kernels do nothing. Returns false if it was
    /// stopped. All ranks enqueue the same batches: they read the same scalars, which include stop
    /// requests.
    pub(crate) fn solve(&mut self, rank: &Rank, pace: &Pace) -> Result<bool, DeviceError> {
        let Self {
            begin, iteration, finish, stop, graph, looks: [this, next], scalars, how, ..
        } = self;
        let (mut this, mut next, graph) = (this, next, &*graph);
        let device = rank.device();
        let mut wants_to_stop = false;
        let mut batch = |glance: &mut Glance| {
            if pace.is_stopped() && !std::mem::replace(&mut wants_to_stop, true) {
                enqueue(device, std::slice::from_ref(stop))?;
            }
            for _ in 0..BATCH {
                match graph {
                    Some(graph) => graph.launch()?,
                    None => enqueue(device, iteration)?,
                }
            }
            glance.ask(device, &scalars.words)
        };
        enqueue(device, begin)?;
        let mut first = None;
        batch(this)?;
        let finished = loop {
            batch(next)?;
            rank.wait_for(this.come())?;
            let look = this.look()?;
            if look.is_over {
                break !look.is_stopped;
            }
            let first = *first.get_or_insert(look.residual);
            pace.tell(share_done(look.iterations as usize, look.residual / first, how));
            std::mem::swap(&mut this, &mut next);
        };
        enqueue(device, finish)?;
        Ok(finished)
    }

    /// The result of the last solve.
    pub(crate) fn told(&self, rank: &Rank) -> Result<Told, DeviceError> {
        rank.finish()?;
        let ended = self.scalars.ended(rank.device())?;
        let (x, download_s) = self.x.read(rank.device())?;
        let x = x.map(|x| in_order(&self.order, &x.in_f64()));
        Ok(Told { ended, x, download_s })
    }
}

/// The reciprocals of the diagonal, by local row: the own columns are in the order of the rows.
fn reciprocals(local: &LocalMatrix) -> Result<Vec<f64>, DeviceError> {
    let inside = local.interior().rows();
    let of_row = |k: usize| {
        let (col, val) = match k.checked_sub(inside) {
            None => local.interior().row(k),
            Some(k) => local.boundary().row(k),
        };
        let place = u32::try_from(k).ok().and_then(|column| col.binary_search(&column).ok());
        let value = place.and_then(|place| val.get(place)).copied().unwrap_or(0.0);
        if value > 0.0 {
            return Ok(1.0 / value);
        }
        let row = local.global_row(k);
        Err(DeviceError::Arrays(format!(
            "the diagonal of row {row} is {value}, expected more than 0"
        )))
    };
    (0..local.own_rows()).map(of_row).collect()
}
