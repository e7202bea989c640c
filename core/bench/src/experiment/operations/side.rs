//! y = A·x in one precision: its operands, the reference result and every format built so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use web_time::Instant;

use sparsescope_kernels::gate::Reference;
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatError, FormatSpec, Precision, Real};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::parallel::*;

/// y = A·x with values of one precision.
#[derive(Debug)]
pub struct SpmvSide<T> {
    a: Arc<Csr<T>>,
    x: Arc<Vec<T>>,
    reference: Reference,
    formats: Mutex<BTreeMap<FormatSpec, Converted<T>>>,
    /// [`FormatSpec::build`] of this crate. A direct call would compile it, with all conversions, again in
    /// each crate that requests a format.
    build: Build<T>,
}

type Build<T> = fn(&FormatSpec, &Arc<Csr<T>>, MemoryLimit) -> Result<AnyFormat<T>, FormatError>;

/// A format converted from CSR, and the time of the conversion.
#[derive(Clone, Debug)]
pub struct Converted<T = f64> {
    /// The matrix.
    pub matrix: AnyFormat<T>,
    /// Seconds of the conversion; 0 for CSR itself.
    pub seconds: f64,
}

impl<T: Real> SpmvSide<T> {
    /// Computes the reference. Panics unless x has n elements.
    pub(super) fn new(a: Arc<Csr<T>>, x: Arc<Vec<T>>) -> Self {
        let reference = Reference::new(&a, &x);
        Self { a, x, reference, formats: Mutex::default(), build: FormatSpec::build }
    }

    /// A, m × n.
    pub fn a(&self) -> &Arc<Csr<T>> {
        &self.a
    }

    /// x, n elements; shared with callers that copy it elsewhere and must recognise it later.
    pub fn x(&self) -> &Arc<Vec<T>> {
        &self.x
    }

    /// The reference result for checks.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Minimal bytes that a product moves with X of k columns, where an SpMV moves `spmv`.
    #[cfg(not(target_family = "wasm"))]
    pub fn minimal_bytes(&self, spmv: u64, k: usize) -> u64 {
        spmv + (T::BYTES * (k - 1) * (self.a.rows() + self.a.cols())) as u64
    }

    /// A in the given format, converted on first use. Fails before allocating if it needs more than `limit`.
    pub fn format(
        &self,
        spec: FormatSpec,
        limit: MemoryLimit,
    ) -> Result<Converted<T>, FormatError> {
        if let Some(made) = lock(&self.formats).get(&spec) {
            return Ok(made.clone());
        }
        let start = Instant::now();
        let matrix = (self.build)(&spec, &self.a, limit)?;
        let seconds = match spec {
            FormatSpec::Csr => 0.0,
            _ => start.elapsed().as_secs_f64(),
        };
        let made = Converted { matrix, seconds };
        lock(&self.formats).insert(spec, made.clone());
        Ok(made)
    }

    /// Whether A already exists in the given format.
    #[cfg(not(target_family = "wasm"))]
    pub fn has(&self, spec: FormatSpec) -> bool {
        lock(&self.formats).contains_key(&spec)
    }

    /// Drops one format; its memory is freed once no kernel holds it.
    #[cfg(not(target_family = "wasm"))]
    pub fn forget(&self, spec: FormatSpec) {
        lock(&self.formats).remove(&spec);
    }

    /// Drops all formats.
    pub(super) fn release(&self) {
        lock(&self.formats).clear();
    }
}

/// A and x rounded to f32, ties to even: values that are too small become subnormal or 0, infinities and NaN
/// of the input stay. Fails as [`check_single`].
pub(super) fn rounded(a: &Csr, x: &[f64]) -> Result<(Csr<f32>, Vec<f32>), String> {
    check_single(a, x)?;
    Ok((a.map(f32::rounded), x.iter().copied().map(f32::rounded).collect()))
}

/// Fails with a sentence if f32 overflows: a value of A or x, or a row whose terms may add up to more.
pub(super) fn check_single(a: &Csr, x: &[f64]) -> Result<(), String> {
    let most = Precision::F32.largest();
    let overflows = |value: f64| value.is_finite() && !f32::rounded(value).is_finite();
    if let Some((k, value)) = x.iter().enumerate().find(|(_, value)| overflows(**value)) {
        return Err(format!("element {k} of x is {value:e}, too large for f32"));
    }
    let beyond = (0..a.rows()).into_par_iter().find_map_first(|i| {
        let (col, val) = a.row(i);
        if let Some((c, value)) = col.iter().zip(val).find(|(_, value)| overflows(**value)) {
            return Some(format!("row {i} has {value:e} in column {c}, too large for f32"));
        }
        let terms = col.iter().zip(val).map(|(&c, &value)| (value * x[c as usize]).abs());
        let sum = terms.sum::<f64>();
        let is_beyond = sum.is_finite() && sum > most;
        is_beyond.then(|| format!("the terms of row {i} add up to {sum:e}, too large for f32"))
    });
    beyond.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(a: &[(usize, usize, f64)], x: [f64; 2]) -> String {
        rounded(&Csr::from_triplets(2, 2, a).unwrap(), &x).unwrap_err()
    }

    #[test]
    fn what_f32_does_not_hold_is_named_with_its_row() {
        let large = refusal(&[(0, 0, 1.0), (1, 1, -1e39)], [1.0; 2]);
        assert_eq!(large, "row 1 has -1e39 in column 1, too large for f32");
        let x = refusal(&[(0, 0, 1.0)], [1.0, 1e39]);
        assert_eq!(x, "element 1 of x is 1e39, too large for f32");
        let sum = refusal(&[(0, 0, 1.0), (1, 0, 3e38), (1, 1, -3e38)], [1.0; 2]);
        assert_eq!(sum, "the terms of row 1 add up to 6e38, too large for f32");
        // Half a unit above the largest value is the first that rounds to infinity.
        let most = Precision::F32.largest();
        let first = most + 2f64.powi(103);
        assert!(refusal(&[(0, 0, first)], [0.0; 2]).starts_with("row 0 has"));
        let below = Csr::from_triplets(1, 1, &[(0, 0, first.next_down())]).unwrap();
        assert_eq!(rounded(&below, &[0.0]).unwrap().0.val(), [f32::MAX]);
    }

    #[test]
    fn values_are_the_nearest_and_what_is_not_finite_stays() {
        // 1 + 2⁻²⁴ lies half-way and rounds to the even 1.
        let values = [1.0 + 2f64.powi(-24), 1e-60, f64::INFINITY];
        let row: Vec<_> = values.iter().enumerate().map(|(j, &v)| (0, j, v)).collect();
        let a = Csr::from_triplets(1, 3, &row).unwrap();
        let (a, x) = rounded(&a, &[0.1, f64::NEG_INFINITY, 1.0]).unwrap();
        assert_eq!(a.val(), [1.0, 0.0, f32::INFINITY]);
        assert_eq!(x, [0.1f32, f32::NEG_INFINITY, 1.0]);
    }
}
