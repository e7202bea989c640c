//! The scalars of a solve in device memory, and the launches that work on vectors.

use sparsescope_core::pcg::{Breakdown, Recurrence};

use super::sums::{SPAN, Sum, blocks_of, shape, span};
use crate::arguments::{
    PcgAdvance, PcgBegin, PcgDot, PcgFinish, PcgReduce, PcgScale, Reads, Writes,
};
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};

/// Indices and counts of a solve's scalars, words and numbers, as in `common.cuh`.
const NUMBERS: usize = 8;
const WORDS: usize = 4;
const NORM_B: usize = 0;
const BROKEN: usize = 6;
const OVER: usize = 0;
const DONE: usize = 1;
const REACHED: usize = 2;

/// Code of a solve that was told to stop.
const STOPPED: u32 = 8;

/// Numbers recorded per iteration: the previous residual, its α, and the β that led to it.
const TOLD: usize = 3;

/// What a sum is for, and the vector multiplied with the SpMV's result for it.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// No sum.
    Nothing,
    /// p·q, from which α follows.
    Alpha(&'a Buffer<f64>),
    /// r·z, from which β follows.
    Beta(&'a Buffer<f64>),
    /// A share of p·q, which several GPUs add up.
    Share(&'a Buffer<f64>),
}

impl<'a> Purpose<'a> {
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Alpha(_) | Self::Beta(_) => 1,
            Self::Share(_) => 2,
        }
    }

    pub(crate) fn with(self) -> Option<&'a Buffer<f64>> {
        match self {
            Self::Nothing => None,
            Self::Alpha(with) | Self::Beta(with) | Self::Share(with) => Some(with),
        }
    }
}

/// y = A·x, and what the sum with·y is for.
pub(crate) struct Product<'a> {
    pub(crate) x: &'a Buffer<f64>,
    pub(crate) y: &'a Buffer<f64>,
    pub(crate) purpose: Purpose<'a>,
}

/// What vector kernels use for z = K⁻¹·r.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    /// r itself.
    Plain,
    /// r times these reciprocals of the diagonal.
    Diagonal(&'a Buffer<f64>),
    /// This vector, computed by other kernels.
    Elsewhere(&'a Buffer<f64>),
}

/// The vectors of a solve, one element per row each.
pub(crate) struct Vectors<'a> {
    pub(crate) b: &'a Buffer<f64>,
    pub(crate) x: &'a Buffer<f64>,
    pub(crate) r: &'a Buffer<f64>,
    pub(crate) p: &'a Buffer<f64>,
    pub(crate) q: &'a Buffer<f64>,
}

/// The scalars of a solve, and the sums that they are computed from.
#[derive(Clone)]
pub(crate) struct Scalars {
    pub(super) rows: u32,
    pub(super) most: u32,
    pub(crate) numbers: Buffer<f64>,
    pub(crate) words: Buffer<u32>,
    pub(crate) told: Buffer<f64>,
    /// p·q, or a share of it.
    pub(super) product: Sum,
    /// r·r.
    pub(super) residual: Sum,
    /// r·z.
    pub(super) scaled: Sum,
}

/// The words that the host reads between iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Look {
    pub(crate) is_over: bool,
    /// Several GPUs were told to stop.
    pub(crate) is_stopped: bool,
    pub(crate) iterations: u32,
    /// Approximate ‖r‖/‖b‖.
    pub(crate) residual: f64,
}

impl Look {
    /// Number of words.
    pub(crate) const WORDS: usize = WORDS;

    pub(crate) fn of(words: &[u32]) -> Self {
        let word = |k: usize| words.get(k).copied().unwrap_or_default();
        let residual = f64::from(f32::from_bits(word(REACHED)));
        let (over, iterations) = (word(OVER), word(DONE));
        Self { is_over: over != 0, is_stopped: over == STOPPED, iterations, residual }
    }
}

/// The scalars of a finished solve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) converged: bool,
    pub(crate) iterations: usize,
    pub(crate) norm_b: f64,
    pub(crate) history: Vec<f64>,
    pub(crate) alphas: Vec<f64>,
    pub(crate) betas: Vec<f64>,
}

impl Ended {
    /// Adds x, the tolerance and the seconds of the solve.
    pub(crate) fn with(self, x: Vec<f64>, tol: f64, seconds: f64) -> Recurrence {
        Recurrence {
            x,
            iterations: self.iterations,
            converged: self.converged,
            cancelled: false,
            tol,
            norm_b: self.norm_b,
            history: self.history,
            seconds,
            alphas: self.alphas,
            betas: self.betas,
        }
    }

    /// Whether another solve had the same numbers, bit for bit.
    pub(crate) fn has_bits_of(&self, other: &Self) -> bool {
        let bits = |of: &[f64]| of.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let all =
            |of: &Self| [bits(&[of.norm_b]), bits(&of.history), bits(&of.alphas), bits(&of.betas)];
        (self.converged, self.iterations) == (other.converged, other.iterations)
            && all(self) == all(other)
    }
}

impl Scalars {
    /// For vectors of this many elements, `most` iterations, and p·q and r·z of launches with this
    /// many blocks; 0 where vector kernels leave them.
    pub(crate) fn new(
        device: &Device,
        rows: u32,
        most: usize,
        (product, scaled): (u64, u64),
    ) -> Result<Self, DeviceError> {
        let fits = u32::try_from(most).ok().filter(|&most| most < u32::MAX);
        let most = fits.ok_or(DeviceError::TooLarge {
            what: "the number of iterations",
            found: most as u64,
            most: u64::from(u32::MAX) - 1,
        })?;
        let over_vectors = shape(rows).grid;
        let sum = |blocks| Sum::of(device, if blocks == 0 { over_vectors } else { blocks });
        Ok(Self {
            rows,
            most,
            numbers: Buffer::unset(device, "the scalars", NUMBERS)?,
            words: Buffer::unset(device, "the scalars", WORDS)?,
            told: Buffer::unset(device, "the residuals", TOLD * (most as usize + 1))?,
            product: sum(product)?,
            residual: sum(0)?,
            scaled: sum(scaled)?,
        })
    }

    /// Where a launch leaves its sum for a purpose.
    pub(super) fn sum_for(&self, purpose: Purpose<'_>) -> &Sum {
        match purpose {
            Purpose::Nothing | Purpose::Alpha(_) | Purpose::Share(_) => &self.product,
            Purpose::Beta(_) => &self.scaled,
        }
    }

    /// Where r·z is stored: the same as r·r without a preconditioner.
    fn scaled(&self, form: Form<'_>) -> &Sum {
        match form {
            Form::Plain => &self.residual,
            Form::Diagonal(_) | Form::Elsewhere(_) => &self.scaled,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        let sums = self.product.bytes() + self.residual.bytes() + self.scaled.bytes();
        self.numbers.bytes() + self.told.bytes() + self.words.bytes() + sums
    }

    pub(crate) fn spent(&self) -> Spent {
        let sums = self.product.spent() + self.residual.spent() + self.scaled.spent();
        self.numbers.spent() + self.told.spent() + self.words.spent() + sums
    }

    /// Resets them to before a solve.
    pub(crate) fn reset(&self) -> [Step; 2] {
        // SAFETY: words count from 0, which means not over.
        let words = unsafe { Step::fill_numbers(&self.words, 0) };
        [Step::zero(&self.numbers), words]
    }

    fn shape(&self) -> Shape {
        shape(self.rows)
    }

    /// r = b and ‖b‖.
    pub(crate) fn begin(
        &self,
        device: &Device,
        tol: f64,
        v: &Vectors<'_>,
    ) -> Result<Step, DeviceError> {
        let Sum { parts, counts, .. } = &self.residual;
        let (parts, counts) = (Writes(parts), Writes(counts));
        let (b, r, numbers) = (Reads(v.b), Writes(v.r), Writes(&self.numbers));
        let (n, span) = (self.rows, span(self.rows));
        let arguments = PcgBegin { n, span, tol, b, r, parts, counts, numbers };
        // SAFETY: a block takes a span of elements, none from n on, and vectors have n; the sums of
        // blocks have enough space.
        unsafe { Launch::new(device, "pcg_begin", self.shape(), &arguments) }.map(Step::Launch)
    }

    /// α, and r −= α·q with the parts of r·r; before the first iteration r −= q.
    pub(crate) fn reduce(
        &self,
        device: &Device,
        is_first: bool,
        form: Form<'_>,
        v: &Vectors<'_>,
    ) -> Result<Step, DeviceError> {
        let (number, inverse, _) = form.parts(v.r);
        let arguments = PcgReduce {
            n: self.rows,
            span: span(self.rows),
            is_first: u32::from(is_first),
            form: number,
            inverse: Reads(inverse),
            q: Reads(v.q),
            r: Writes(v.r),
            product_parts: self.product.count,
            product: Reads(&self.product.parts),
            residual: Writes(&self.residual.parts),
            residual_counts: Writes(&self.residual.counts),
            scaled: Writes(&self.scaled.parts),
            scaled_counts: Writes(&self.scaled.counts),
            numbers: Writes(&self.numbers),
            words: Writes(&self.words),
            told: Writes(&self.told),
        };
        // SAFETY: as above; r·z is left here where the diagonal is applied, and its sum is over
        // these blocks. There are as many parts of p·q as were left. An iteration is recorded
        // before `most` of them are done. It waits for others first.
        let launch =
            unsafe { Launch::new(device, "pcg_reduce", self.shape(), &arguments)?.ahead(device) };
        Ok(Step::Launch(launch))
    }

    /// ‖r‖ and β, from the parts of r·r and r·z if `concludes`; x += α·p and p = z + β·p unless
    /// that ends the solve.
    pub(crate) fn advance(
        &self,
        device: &Device,
        concludes: bool,
        form: Form<'_>,
        v: &Vectors<'_>,
    ) -> Result<Step, DeviceError> {
        let (number, inverse, z) = form.parts(v.r);
        let (residual, scaled) = (&self.residual, self.scaled(form));
        let arguments = PcgAdvance {
            n: self.rows,
            span: span(self.rows),
            form: number,
            most: self.most,
            inverse: Reads(inverse),
            z: Reads(z),
            x: Writes(v.x),
            p: Writes(v.p),
            residual_parts: if concludes { residual.count } else { 0 },
            residual: Reads(&residual.parts),
            scaled_parts: if concludes { scaled.count } else { 0 },
            scaled: Reads(&scaled.parts),
            numbers: Writes(&self.numbers),
            words: Writes(&self.words),
            told: Writes(&self.told),
        };
        // SAFETY: a block takes a span of elements, none from n on, and vectors have n; sums have
        // the stated number of parts. There is space for the record after `most` iterations. It
        // waits for others first.
        let launch =
            unsafe { Launch::new(device, "pcg_advance", self.shape(), &arguments)?.ahead(device) };
        Ok(Step::Launch(launch))
    }

    /// a·b for a purpose.
    pub(crate) fn dot(
        &self,
        device: &Device,
        purpose: Purpose<'_>,
        (a, b): (&Buffer<f64>, &Buffer<f64>),
    ) -> Result<Step, DeviceError> {
        let sum = self.sum_for(purpose);
        let arguments = PcgDot {
            n: self.rows,
            span: span(self.rows),
            purpose: purpose.number(),
            a: Reads(a),
            b: Reads(b),
            parts: Writes(&sum.parts),
            counts: Writes(&sum.counts),
            numbers: Writes(&self.numbers),
            words: Reads(&self.words),
        };
        // SAFETY: as for `begin`.
        // It waits for others first.
        let launch =
            unsafe { Launch::new(device, "pcg_dot", self.shape(), &arguments)?.ahead(device) };
        Ok(Step::Launch(launch))
    }

    /// Adds the last update to x.
    pub(crate) fn finish(&self, device: &Device, v: &Vectors<'_>) -> Result<Step, DeviceError> {
        let (p, x, numbers) = (Reads(v.p), Writes(v.x), Reads(&self.numbers));
        let arguments = PcgFinish { n: self.rows, span: span(self.rows), p, x, numbers };
        // SAFETY: as for `advance`.
        unsafe { Launch::new(device, "pcg_finish", self.shape(), &arguments) }.map(Step::Launch)
    }

    /// The result of a finished solve, or why it broke down.
    pub(crate) fn ended(&self, device: &Device) -> Result<Result<Ended, Breakdown>, DeviceError> {
        let words = self.words.to_host(device)?;
        let numbers = self.numbers.to_host(device)?;
        let iterations = Look::of(&words).iterations.min(self.most) as usize;
        let told = self.told.part(0..TOLD * (iterations + 1));
        let told = told.expect("the record of all iterations has its array"); // invariant
        Ok(ended(&words, &numbers, &told.to_host(device)?))
    }
}

impl<'a> Form<'a> {
    /// Its number in the kernels.
    fn number(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Diagonal(_) => 1,
            Self::Elsewhere(_) => 2,
        }
    }

    /// Its number, the reciprocals and the vector z; r stands in for those it does not have.
    pub(super) fn parts(self, r: &'a Buffer<f64>) -> (u32, &'a Buffer<f64>, &'a Buffer<f64>) {
        match self {
            Self::Plain => (self.number(), r, r),
            Self::Diagonal(inverse) => (self.number(), inverse, r),
            Self::Elsewhere(z) => (self.number(), r, z),
        }
    }
}

/// z = D⁻¹·r, one multiplication per thread, for solvers with the scalars on the host.
pub(crate) fn scale(
    device: &Device,
    rows: u32,
    inverse: &Buffer<f64>,
    (r, z): (&Buffer<f64>, &Buffer<f64>),
) -> Result<Step, DeviceError> {
    let (inverse, r, z) = (Reads(inverse), Reads(r), Writes(z));
    let arguments = PcgScale { n: rows, span: SPAN, inverse, r, z };
    // SAFETY: a block takes a span of elements, none from n on, and vectors have n.
    unsafe { Launch::new(device, "pcg_scale", blocks_of(SPAN, rows), &arguments) }.map(Step::Launch)
}

/// Decodes the words, the numbers and the record of each iteration.
fn ended(words: &[u32], numbers: &[f64], told: &[f64]) -> Result<Ended, Breakdown> {
    let word = |k: usize| words.get(k).copied().unwrap_or_default();
    let number = |k: usize| numbers.get(k).copied().unwrap_or(f64::NAN);
    let (iterations, value) = (word(DONE) as usize, number(BROKEN));
    let overflow = |iteration, what| Breakdown::Overflow { iteration, what, value };
    let converged = match word(OVER) {
        1 => true,
        3 => return Err(overflow(iterations + 1, "p·Ap")),
        4 => return Err(Breakdown::NotPositive { iteration: iterations + 1 }),
        5 => return Err(overflow(iterations, "the residual")),
        6 => return Err(overflow(iterations, "r·z")),
        7 => return Err(Breakdown::Preconditioner { iteration: iterations, value }),
        _ => false,
    };
    let of_each = |k: usize| told.chunks(TOLD).filter_map(move |one| one.get(k).copied());
    Ok(Ended {
        converged,
        iterations,
        norm_b: number(NORM_B),
        history: of_each(0).take(iterations + 1).collect(),
        alphas: of_each(1).take(iterations).collect(),
        betas: of_each(2).skip(1).take(iterations.saturating_sub(1)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_each_iteration_is_sorted_out() {
        // Two iterations: three residuals, two α and one β between them; the rest is not written.
        let told = [1.0, 0.5, 0.0, 0.1, 0.25, 0.36, 0.01, f64::NAN, f64::NAN];
        let numbers = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        for (code, converged) in [(1, true), (2, false)] {
            let ended = ended(&[code, 2, 0, 0], &numbers, &told).unwrap();
            assert_eq!((ended.converged, ended.iterations, ended.norm_b), (converged, 2, 2.0));
            assert_eq!(ended.history, [1.0, 0.1, 0.01]);
            assert_eq!((ended.alphas, ended.betas), (vec![0.5, 0.25], vec![0.36]));
        }
        let at_once = super::ended(&[1, 0, 0, 0], &numbers, &[0.0, f64::NAN, f64::NAN]).unwrap();
        assert_eq!((at_once.history.as_slice(), at_once.alphas.len()), (&[0.0][..], 0));
        assert!(at_once.betas.is_empty());
    }

    #[test]
    fn what_broke_a_solve_has_the_processors_sentence() {
        let mut numbers = [0.0; NUMBERS];
        numbers[BROKEN] = -4.0;
        let sentence = |code| ended(&[code, 6, 0, 0], &numbers, &[]).unwrap_err().to_string();
        assert!(sentence(3).ends_with("in iteration 7: p·Ap is -4, which is not finite"));
        assert!(sentence(4).contains("in iteration 7: p·Ap is not positive"));
        assert!(sentence(5).contains("in iteration 6: the residual is -4"));
        assert!(sentence(6).contains("in iteration 6: r·z is -4"));
        assert!(sentence(7).contains("in iteration 6: r·z = -4e0 is not positive"));
    }

    #[test]
    fn a_look_between_iterations_tells_how_far_it_has_come() {
        let look = Look::of(&[0, 48, 0.5f32.to_bits(), 0]);
        let (iterations, residual) = (48, 0.5);
        assert_eq!(look, Look { iterations, residual, ..Look::default() });
        let of = |over| Look::of(&[over, 0, 0, 0]);
        assert!(
            of(4).is_over && !of(4).is_stopped && of(STOPPED).is_over && of(STOPPED).is_stopped
        );
    }

    #[test]
    fn the_numbers_of_both_sides_are_the_same() {
        let (_, common) = crate::kernels::COMMON;
        let numbers = format!("NORM_B = {NORM_B}, GOAL = 1, RZ = 2, BETA = 3, ALPHA = 4");
        for expected in [
            numbers,
            format!("BROKEN = {BROKEN},"),
            format!("OVER = {OVER}, DONE = {DONE}, REACHED = {REACHED};"),
            "RZ_BEFORE = 7;".to_owned(),
            "CONVERGED = 1, SPENT = 2, BAD_PRODUCT = 3, NO_PRODUCT = 4, BAD_RESIDUAL = 5"
                .to_owned(),
            "BAD_SCALED = 6,".to_owned(),
            format!("NO_SCALED = 7, STOPPED = {STOPPED};"),
            "FOR_NOTHING = 0, FOR_PARTS = 1, FOR_SHARE = 2;".to_owned(),
        ] {
            assert!(common.contains(&expected), "{expected}");
        }
        let (_, source) = crate::kernels::Family::Pcg.source();
        assert!(source.contains("PLAIN = 0, DIAGONAL = 1, ELSEWHERE = 2;"));
    }
}
