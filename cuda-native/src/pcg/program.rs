//! A solve as device steps; its iterations continue, as a graph where possible, until it is over.

use std::rc::Rc;

use cudarc::driver::{CudaEvent, sys};
use sparsescope_core::pcg::{SolveParameters, Start};

use super::glance::Glance;
use super::operator::Operator;
use super::preconditioner::Preconditioner;
use super::state::{Look, Product, Purpose, Scalars, Vectors};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};
use crate::launch::{Graph, Launch, Step, enqueue};

/// Iterations per graph, for graphs whose kernels return at once when the solve is over.
const OF_GRAPH: u32 = 8;

/// Iterations between two progress checks for other kernels.
const BETWEEN_LOOKS: u32 = 2;

/// The device steps of a solve, in order.
pub(super) struct Program {
    /// Undoes the changes of a solve.
    pub(super) reset: Vec<Step>,
    /// The first residual, its preconditioning, and the scalars that follow.
    begin: Vec<Step>,
    iteration: Rc<[Step]>,
    finish: Vec<Step>,
    /// Several iterations whose kernels return at once when the solve is over: the next ones are
    /// enqueued before it is known whether they are needed. `None` if an iteration has other
    /// kernels.
    graph: Option<Graph<Rc<[Step]>>>,
    looks: [Glance; 2],
    words: Buffer<u32>,
    /// A stream for progress checks, which the iterations do not wait for.
    beside: Device,
    asked: CudaEvent,
}

impl Program {
    /// For a system with these vectors; `start` has one element per row if the solver uses it as
    /// its start.
    pub(super) fn of(
        device: &Device,
        (a, k, scalars): (&Operator, &Preconditioner<'_>, &Scalars),
        v: &Vectors<'_>,
        how: &SolveParameters,
        start: Option<&Buffer<f64>>,
    ) -> Result<Self, DeviceError> {
        let mut reset = Vec::from(scalars.reset());
        reset.extend([Step::zero(v.p), Step::zero(v.q)]);
        reset.push(match start {
            Some(start) => Step::copy(v.x, start),
            None => Step::zero(v.x),
        });
        let form = k.form();
        let mut begin = vec![scalars.begin(device, how.tol, v)?];
        if how.start == Start::Preconditioned {
            // p becomes z, since β is 0.
            begin.extend(k.apply(device, scalars, v.r, false)?);
            begin.push(scalars.advance(device, false, form, v)?);
            begin.extend([Step::copy(v.x, v.p), Step::zero(v.p)]);
        }
        if how.start != Start::Zero {
            let product = Product { x: v.x, y: v.q, purpose: Purpose::Nothing };
            begin.extend(a.product(device, scalars, &product)?);
        }
        begin.push(scalars.reduce(device, true, form, v)?);
        begin.extend(k.apply(device, scalars, v.r, true)?);
        begin.push(scalars.advance(device, true, form, v)?);

        let product = Product { x: v.p, y: v.q, purpose: Purpose::Alpha(v.p) };
        let mut iteration = a.product(device, scalars, &product)?;
        iteration.push(scalars.reduce(device, false, form, v)?);
        iteration.extend(k.apply(device, scalars, v.r, true)?);
        iteration.push(scalars.advance(device, true, form, v)?);
        let iteration: Rc<[Step]> = iteration.into();

        // Loads the kernels, which must not happen during graph capture.
        enqueue(device, &reset)?;
        enqueue(device, &begin)?;
        enqueue(device, &iteration)?;
        device.synchronize()?;
        let graph = match k.ends_at_once() {
            true => Graph::record(device, Rc::clone(&iteration), OF_GRAPH)?,
            false => None,
        };
        let finish = vec![scalars.finish(device, v)?];
        let looks = [Glance::new(device)?, Glance::new(device)?];
        let (words, beside) = (scalars.words.clone(), device.beside()?);
        let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let asked = device.context().new_event(flags).doing("create an event")?;
        Ok(Self { reset, begin, iteration, finish, graph, looks, words, beside, asked })
    }

    /// The launches of an iteration, except those hidden in a step.
    pub(super) fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.iteration.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Fill(_) | Step::Copy(_) | Step::Call(_) => None,
        })
    }

    /// Runs a solve, after a reset; `watch` is shown the progress every few iterations and returns
    /// whether to continue. Returns false if it was stopped.
    pub(super) fn run(
        &mut self,
        device: &Device,
        watch: &mut dyn FnMut(Look) -> bool,
    ) -> Result<bool, DeviceError> {
        let Self { begin, iteration, finish, graph, words, beside, asked, .. } = self;
        let [this, next] = &mut self.looks;
        let (mut this, mut next, graph) = (this, next, &*graph);
        let go_on = |glance: &mut Glance| {
            match graph {
                Some(graph) => graph.launch()?,
                None => (0..BETWEEN_LOOKS).try_for_each(|_| enqueue(device, iteration))?,
            }
            // The copied words may already be of a later iteration: a solve that is over stays so.
            asked.record(device.stream()).doing("record an event")?;
            beside.stream().wait(asked).doing("wait for an event")?;
            glance.ask(beside, words)
        };
        enqueue(device, begin)?;
        go_on(this)?;
        let finished = loop {
            if graph.is_some() {
                go_on(next)?;
            }
            let look = this.look()?;
            if look.is_over {
                break true;
            }
            if !watch(look) {
                break false;
            }
            if graph.is_none() {
                go_on(next)?;
            }
            std::mem::swap(&mut this, &mut next);
        };
        if finished {
            // Before that, x needs no update.
            enqueue(device, finish)?;
        }
        Ok(finished)
    }
}
