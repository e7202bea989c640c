//! The CG iteration, split into steps that several workers share.

use std::sync::atomic::{AtomicBool, Ordering};

use super::preconditioner::SweepSpace;
use super::share::{Divided, Number, Partial};
use super::team::{Step, Team};
use super::vectors::{self, block};
use super::{Operator, Preconditioner, Start, Symgs};
use sparsescope_matrix::memory::zeroed;

/// Maximum number of steps per iteration.
const STEPS: usize = 5;

/// The vectors and numbers of a solve between two iterations. x lags one iteration behind: its update is
/// applied when the next iteration reads p anyway, or by [`finish`](Self::finish).
pub(super) struct Iteration<'a> {
    a: &'a Operator,
    k: &'a Preconditioner,
    parallel: bool,
    team: Team,
    x: &'a mut [f64],
    r: Vec<f64>,
    /// K⁻¹·r; empty if that is r itself.
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// G·r, if there is a G.
    w: Vec<f64>,
    sweeps: SweepSpace,
    numbers: Numbers,
    sums: Sums,
}

/// What each step passes to the following ones.
#[derive(Debug, Default)]
struct Numbers {
    /// r·z for the next iteration.
    rz: Number,
    beta: Number,
    pq: Number,
    /// The multiple of p not yet added to x.
    alpha: Number,
    norm_r: Number,
    /// Whether the rest of the iteration can be skipped.
    stop: AtomicBool,
}

/// Partial sums per block: of vectors, of A's rows and of Gᵀ's rows.
#[derive(Debug)]
struct Sums {
    vectors: Partial,
    scaled: Partial,
    products: Partial,
    transposed: Partial,
}

impl<'a> Iteration<'a> {
    pub(super) fn new(
        a: &'a Operator,
        k: &'a Preconditioner,
        parallel: bool,
        x: &'a mut [f64],
    ) -> Self {
        let n = a.rows();
        let vector = |wanted: bool| zeroed(0.0, if wanted { n } else { 0 });
        let (g, gt) = match k {
            Preconditioner::Fsai(fsai) => (fsai.g().blocks(), fsai.gt().blocks()),
            _ => (0, 0),
        };
        let blocks = vectors::blocks(n);
        let most = blocks.max(a.blocks()).max(g).max(gt);
        let sums = Sums {
            vectors: Partial::new(blocks),
            scaled: Partial::new(blocks),
            products: Partial::new(a.blocks()),
            transposed: Partial::new(gt),
        };
        Self {
            a,
            k,
            parallel,
            team: Team::new(parallel, most, STEPS),
            x,
            r: vector(true),
            z: vector(!matches!(k, Preconditioner::None)),
            p: vector(true),
            q: vector(true),
            w: vector(matches!(k, Preconditioner::Fsai(_))),
            sweeps: SweepSpace::default(),
            numbers: Numbers::default(),
            sums,
        }
    }

    pub(super) fn rz(&self) -> f64 {
        self.numbers.rz.get()
    }

    pub(super) fn beta(&self) -> f64 {
        self.numbers.beta.get()
    }

    pub(super) fn pq(&self) -> f64 {
        self.numbers.pq.get()
    }

    pub(super) fn alpha(&self) -> f64 {
        self.numbers.alpha.get()
    }

    pub(super) fn p(&self) -> &[f64] {
        &self.p
    }

    pub(super) fn x(&self) -> &[f64] {
        self.x
    }

    pub(super) fn norm_r(&self) -> f64 {
        self.numbers.norm_r.get()
    }

    /// ‖v‖.
    pub(super) fn norm(&mut self, v: &[f64]) -> f64 {
        let (n, sums) = (v.len(), &self.sums.vectors);
        let work = |k| sums.put(k, vectors::dot(&v[block(n, k)], &v[block(n, k)]));
        if n == 0 {
            return 0.0;
        }
        self.team.run(&[Step { blocks: vectors::blocks(n), work: &work, after: &|| {} }]);
        self.sums.vectors.sum().sqrt()
    }

    /// x₀, r = b − A·x₀ and ‖r‖. From `is_zero` (b = 0) on, x is 0.
    pub(super) fn begin(&mut self, b: &[f64], start: &Start, is_zero: bool) {
        if is_zero {
            self.x.fill(0.0);
            return;
        }
        self.r.copy_from_slice(b);
        if *start == Start::Preconditioned {
            self.precondition();
            let z = if self.z.is_empty() { &self.r } else { &self.z };
            self.x.copy_from_slice(z);
        }
        if *start != Start::Zero {
            self.a.product(self.x, &mut self.q, self.parallel);
            for (r, q) in self.r.iter_mut().zip(&self.q) {
                *r -= q;
            }
        }
        let r = std::mem::take(&mut self.r);
        let norm = self.norm(&r);
        self.r = r;
        self.numbers.norm_r.set(norm);
    }

    /// Computes z = K⁻¹·r and r·z.
    pub(super) fn precondition(&mut self) {
        if let Preconditioner::Symgs(symgs) = self.k {
            return self.sweep(symgs);
        }
        self.run(Part::Preconditioning);
    }

    /// Runs one iteration, except for the update of x by `alpha`. Once ‖r‖ is at most `goal`, z is not
    /// updated.
    pub(super) fn step(&mut self, goal: f64) {
        self.run(Part::Iteration { goal });
        if let Preconditioner::Symgs(symgs) = self.k
            && !self.numbers.stop.load(Ordering::Relaxed)
        {
            self.sweep(symgs);
        }
    }

    /// Applies the pending update x += αp.
    pub(super) fn finish(&mut self) {
        let alpha = self.numbers.alpha.get();
        for (x, p) in self.x.iter_mut().zip(&self.p) {
            *x += alpha * p;
        }
        self.numbers.alpha.set(0.0);
    }

    /// Runs a symmetric Gauss–Seidel sweep from zero and computes r·z.
    fn sweep(&mut self, symgs: &Symgs) {
        symgs.apply(self.parallel, &self.r, &mut self.z, &mut self.sweeps);
        let (n, r, z, sums) = (self.r.len(), &self.r, &self.z, &self.sums.vectors);
        let numbers = &self.numbers;
        let work = |k| sums.put(k, vectors::dot(&r[block(n, k)], &z[block(n, k)]));
        let after = || numbers.next(sums.sum());
        self.team.run(&[Step { blocks: vectors::blocks(n), work: &work, after: &after }]);
    }

    fn run(&mut self, part: Part) {
        let n = self.r.len();
        let blocks = vectors::blocks(n);
        let (numbers, sums, a) = (&self.numbers, &self.sums, self.a);
        numbers.stop.store(false, Ordering::Relaxed);
        let goal = match part {
            Part::Iteration { goal } => goal,
            Part::Preconditioning => 0.0,
        };
        let [x, r, p] = [&mut *self.x, &mut self.r, &mut self.p].map(Divided::new);
        let [q, w] = [&mut self.q, &mut self.w].map(|v| Divided::new(v));
        let z = if self.z.is_empty() { r } else { Divided::new(&mut self.z) };
        let stopped = || numbers.stop.load(Ordering::Relaxed);

        // Every step writes only to its own block of a vector and reads in full only vectors that it does not
        // write; steps run one after another.
        let advance = |k| {
            let rows = block(n, k);
            // SAFETY: as above; this step does not write z, and z shares no elements with x or p.
            let (z, x, p) = unsafe { (&z.all()[rows.clone()], x.part(rows.clone()), p.part(rows)) };
            vectors::advance(numbers.alpha.get(), numbers.beta.get(), z, x, p);
        };
        let product = |k| {
            let rows = a.rows_of(k);
            // SAFETY: as above; p is not written.
            let (p, q) = unsafe { (p.all(), q.part(rows.clone())) };
            a.block(k, p, q);
            sums.products.put(k, vectors::dot(&p[rows], q));
        };
        let after_product = || {
            let pq = sums.products.sum();
            numbers.pq.set(pq);
            let is_sound = pq.is_finite() && pq > 0.0;
            numbers.alpha.set(if is_sound { numbers.rz.get() / pq } else { 0.0 });
            numbers.stop.store(!is_sound, Ordering::Relaxed);
        };
        let jacobi = match self.k {
            Preconditioner::Jacobi(jacobi) => Some(jacobi.inverse()),
            _ => None,
        };
        let scale = |k| {
            let Some(d) = jacobi else { return };
            let rows = block(n, k);
            // SAFETY: as above; with Jacobi, z and r are different vectors.
            let (r, z) = unsafe { (&r.part(rows.clone())[..], z.part(rows.clone())) };
            sums.scaled.put(k, vectors::scale(&d[rows], r, z));
        };
        let reduce = |k| {
            if stopped() {
                return;
            }
            let rows = block(n, k);
            {
                // SAFETY: as above; q is not written.
                let (q, r) = unsafe { (&q.all()[rows.clone()], r.part(rows)) };
                sums.vectors.put(k, vectors::reduce(numbers.alpha.get(), q, r));
            }
            scale(k);
        };
        let after_reduce = || {
            if stopped() {
                return;
            }
            let square = sums.vectors.sum();
            numbers.norm_r.set(square.sqrt());
            let enough = square.sqrt() <= goal;
            numbers.stop.store(enough, Ordering::Relaxed);
            match self.k {
                _ if enough => {}
                Preconditioner::None => numbers.next(square),
                Preconditioner::Jacobi(_) => numbers.next(sums.scaled.sum()),
                _ => {}
            }
        };
        let fsai = match self.k {
            Preconditioner::Fsai(fsai) => Some(fsai),
            _ => None,
        };
        let down = |k| {
            let Some(fsai) = fsai.filter(|_| !stopped()) else { return };
            // SAFETY: as above; r is not written.
            let (r, w) = unsafe { (r.all(), w.part(fsai.g().rows_of(k))) };
            fsai.g().block(k, r, w);
        };
        let up = |k| {
            let Some(fsai) = fsai.filter(|_| !stopped()) else { return };
            let rows = fsai.gt().rows_of(k);
            // SAFETY: as above; neither r nor w is written, and z and r are different vectors.
            let (r, w, z) = unsafe { (r.all(), w.all(), z.part(rows.clone())) };
            fsai.gt().block(k, w, z);
            sums.transposed.put(k, vectors::dot(&r[rows], z));
        };
        let after_up = || {
            if !stopped() {
                numbers.next(sums.transposed.sum());
            }
        };
        let nothing = || {};
        let norm = |k| {
            // SAFETY: as above; r is not written.
            let r = unsafe { &r.all()[block(n, k)] };
            sums.vectors.put(k, vectors::dot(r, r));
            scale(k);
        };
        let after_norm = || match self.k {
            Preconditioner::Jacobi(_) => numbers.next(sums.scaled.sum()),
            _ => numbers.next(sums.vectors.sum()),
        };
        let [g_blocks, gt_blocks] =
            fsai.map_or([0, 0], |fsai| [fsai.g().blocks(), fsai.gt().blocks()]);
        let steps = [
            Step { blocks, work: &advance, after: &nothing },
            Step { blocks: a.blocks(), work: &product, after: &after_product },
            Step { blocks, work: &reduce, after: &after_reduce },
            Step { blocks: g_blocks, work: &down, after: &nothing },
            Step { blocks: gt_blocks, work: &up, after: &after_up },
        ];
        match (part, fsai) {
            (Part::Iteration { .. }, Some(_)) => self.team.run(&steps),
            (Part::Iteration { .. }, None) => self.team.run(&steps[..3]),
            (Part::Preconditioning, Some(_)) => self.team.run(&steps[3..]),
            (Part::Preconditioning, None) => {
                self.team.run(&[Step { blocks, work: &norm, after: &after_norm }]);
            }
        }
    }
}

/// Which steps to run.
#[derive(Clone, Copy)]
enum Part {
    /// All steps.
    Iteration { goal: f64 },
    /// The steps that compute z from r.
    Preconditioning,
}

impl Numbers {
    /// Sets r·z of the next iteration, and β.
    fn next(&self, rz: f64) {
        let old = self.rz.get();
        self.beta.set(if old == 0.0 { 0.0 } else { rz / old });
        self.rz.set(rz);
    }
}
