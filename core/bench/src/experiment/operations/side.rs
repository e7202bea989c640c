//! y = A·x in one precision: its operands, the reference result and every format built so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use web_time::Instant;

use sparsescope_kernels::gate::{Reference, Unrounded};
use sparsescope_matrix::matrix::{
    AnyFormat, Csr, FormatError, FormatSpec, Number, Order, Precision, Real, transposed,
};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::parallel::*;

/// y = A·x with values of one precision.
#[derive(Debug)]
pub struct SpmvSide<T> {
    a: Arc<Csr<T>>,
    x: Arc<Vec<T>>,
    reference: OnceLock<Reference>,
    unrounded: OnceLock<Unrounded>,
    formats: Mutex<BTreeMap<FormatSpec, Converted<T>>>,
    /// [`FormatSpec::build`] of this crate. A direct call would compile it, with all conversions, again in
    /// each crate that requests a format.
    build: Build<T>,
}

/// y = A·x in some precision, by the format of its vectors.
#[derive(Clone, Debug)]
pub enum Side {
    /// In f64.
    Double(Arc<SpmvSide<f64>>),
    /// In f32.
    Single(Arc<SpmvSide<f32>>),
}

impl Side {
    /// The problem with A and x rounded to a precision, ties to even: values that are too small become subnormal or
    /// 0, infinities and NaN of the input stay. Values in fewer bits than the vectors are kept in the format of the
    /// vectors, which has all of them. Fails as [`check_fit`].
    pub(super) fn rounded(
        a: &Csr,
        (x, column): (&Arc<Vec<f64>>, Option<usize>),
        precision: Precision,
    ) -> Result<Self, String> {
        check_fit(a, (x, column), precision)?;
        let values = precision.values();
        Ok(match precision.in_f64() {
            true => {
                let a = a.map(|value| values.rounded(value));
                Self::Double(Arc::new(SpmvSide::new(Arc::new(a), Arc::clone(x))))
            }
            false => {
                let a = a.map(|value| values.rounded(value) as f32);
                let x = x.iter().copied().map(f32::rounded).collect();
                Self::Single(Arc::new(SpmvSide::new(Arc::new(a), Arc::new(x))))
            }
        })
    }
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
    pub(super) fn new(a: Arc<Csr<T>>, x: Arc<Vec<T>>) -> Self {
        let (reference, unrounded, formats) = Default::default();
        Self { a, x, reference, unrounded, formats, build: FormatSpec::build }
    }

    /// A, m × n.
    pub fn a(&self) -> &Arc<Csr<T>> {
        &self.a
    }

    /// x, n elements; shared with callers that copy it elsewhere and must recognise it later.
    pub fn x(&self) -> &Arc<Vec<T>> {
        &self.x
    }

    /// The reference result for checks, computed on first use. Panics unless x has n elements.
    pub fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| Reference::new(&self.a, &self.x))
    }

    /// y from A and x before they were rounded, which `make` computes on first use.
    pub(super) fn unrounded(&self, make: impl FnOnce() -> Unrounded) -> &Unrounded {
        self.unrounded.get_or_init(make)
    }

    /// Minimal bytes that a product moves with X of k columns, where an SpMV moves `spmv`.
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

/// X of k columns, which is stored by rows, in an order.
pub(super) fn in_order<T: Real>(order: Order, x: Arc<Vec<T>>, k: usize) -> Arc<Vec<T>> {
    match order {
        Order::RowMajor => x,
        Order::ColumnMajor => Arc::new(transposed(&x, k)),
    }
}

/// Fails with a sentence if a precision overflows: a value of A or x, or a row whose terms may add up to more. x may be
/// this column of X.
pub(super) fn check_fit(
    a: &Csr,
    (x, column): (&[f64], Option<usize>),
    precision: Precision,
) -> Result<(), String> {
    let (values, vectors) = (precision.values(), precision.vectors());
    let overflows = |format: Number, value: f64| {
        (value.is_finite() && !format.rounded(value).is_finite()).then(|| too_large(format))
    };
    let of_x = |(k, &value): (usize, &f64)| overflows(vectors, value).map(|how| (k, value, how));
    if let Some((k, value, how)) = x.iter().enumerate().find_map(of_x) {
        let element = match column {
            Some(j) => format!("row {k}, column {j} of X"),
            None => format!("element {k} of x"),
        };
        return Err(format!("{element} is {value:e}, {how}"));
    }
    let of_y = column.map_or_else(String::new, |j| format!(", column {j} of Y,"));
    let most = vectors.largest();
    let beyond = (0..a.rows()).into_par_iter().find_map_first(|i| {
        let (col, val) = a.row(i);
        let of_row = |(c, &value): (&u32, &f64)| {
            overflows(values, value)
                .map(|how| format!("row {i} has {value:e} in column {c}, {how}"))
        };
        if let Some(reason) = col.iter().zip(val).find_map(of_row) {
            return Some(reason);
        }
        let terms = col.iter().zip(val).map(|(&c, &value)| (value * x[c as usize]).abs());
        let sum = terms.sum::<f64>();
        let is_beyond = sum.is_finite() && sum > most;
        is_beyond.then(|| {
            let how = too_large(vectors);
            format!("the terms of row {i}{of_y} add up to {sum:e}, {how}")
        })
    });
    beyond.map_or(Ok(()), Err)
}

/// Whether [`check_fit`] finds nothing, whatever x of elements up to `largest` it is given: in one pass over A for all
/// of them. The sums of products with 1 or more cover the values themselves.
pub(super) fn fits_with(a: &Csr, largest: f64, precision: Precision) -> bool {
    let most = precision.values().largest().min(precision.vectors().largest());
    let factor = largest.max(1.0);
    largest <= most
        && (0..a.rows()).into_par_iter().all(|i| {
            let terms = a.row(i).1.iter().map(|&value| value.abs() * factor);
            terms.sum::<f64>() <= most
        })
}

/// Says that a number is too large for a format, with the largest number of f16, which ends early.
pub(super) fn too_large(format: Number) -> String {
    let name = format.as_str();
    match format {
        Number::F16 => format!("too large for {name}, which ends at {}", format.largest()),
        Number::F64 | Number::F32 | Number::Bf16 => format!("too large for {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(a: &[(usize, usize, f64)], x: [f64; 2], precision: Precision) -> Result<Side, String> {
        let x = Arc::new(x.to_vec());
        Side::rounded(&Csr::from_triplets(2, 2, a).unwrap(), (&x, None), precision)
    }

    fn refusal(a: &[(usize, usize, f64)], x: [f64; 2]) -> String {
        side(a, x, Precision::F32).unwrap_err()
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
        let most = Number::F32.largest();
        let first = most + 2f64.powi(103);
        assert!(refusal(&[(0, 0, first)], [0.0; 2]).starts_with("row 0 has"));
        // Every x of elements up to 2.
        let fits = |value: f64, largest: f64| {
            let a = Csr::from_triplets(2, 2, &[(1, 0, 1.0), (1, 1, value)]).unwrap();
            fits_with(&a, largest, Precision::F32)
        };
        assert_eq!(
            [1e38, 3e38, first, f64::INFINITY, f64::NAN].map(|value| fits(value, 2.0)),
            [true, false, false, false, false]
        );
        assert!(!fits(1e39, 1e-9) && !fits(1e-9, 1e39) && !fits(0.0, f64::INFINITY));
        let below = side(&[(0, 0, first.next_down())], [0.0; 2], Precision::F32).unwrap();
        let Side::Single(below) = below else { panic!("f32") };
        assert_eq!(below.a().val(), [f32::MAX]);
    }

    #[test]
    fn what_16_bits_do_not_hold_is_refused_and_only_in_them() {
        let f16 = side(&[(1, 0, 65520.0)], [1.0; 2], Precision::F16F32).unwrap_err();
        assert_eq!(f16, "row 1 has 6.552e4 in column 0, too large for f16, which ends at 65504");
        side(&[(1, 0, 65519.0)], [1.0; 2], Precision::F16F32).unwrap();
        // x and sums are f32, which hold more.
        side(&[(1, 0, 65504.0), (1, 1, 65504.0)], [1e6; 2], Precision::F16F32).unwrap();
        let bf16 = side(&[(0, 1, 3.4e38)], [1.0; 2], Precision::Bf16F32).unwrap_err();
        assert_eq!(bf16, "row 0 has 3.4e38 in column 1, too large for bf16");
        side(&[(0, 1, 3.4e38)], [1e200; 2], Precision::F32F64).unwrap();
    }

    #[test]
    fn x_by_rows_is_not_copied_and_by_columns_has_its_elements_column_by_column() {
        let x: Arc<Vec<f64>> = Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(Arc::ptr_eq(&x, &in_order(Order::RowMajor, Arc::clone(&x), 2)));
        assert_eq!(*in_order(Order::ColumnMajor, x, 2), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn values_are_the_nearest_and_what_is_not_finite_stays() {
        // 1 + 2⁻²⁴ lies half-way and rounds to the even 1.
        let values = [1.0 + 2f64.powi(-24), 1e-60, f64::INFINITY];
        let row: Vec<_> = values.iter().enumerate().map(|(j, &v)| (0, j, v)).collect();
        let a = Csr::from_triplets(1, 3, &row).unwrap();
        let x = Arc::new(vec![0.1, f64::NEG_INFINITY, 1.0]);
        let Side::Single(single) = Side::rounded(&a, (&x, None), Precision::F32).unwrap() else {
            panic!("f32")
        };
        assert_eq!(single.a().val(), [1.0, 0.0, f32::INFINITY]);
        assert_eq!(**single.x(), [0.1f32, f32::NEG_INFINITY, 1.0]);
        // Only the matrix is rounded.
        let Side::Double(mixed) = Side::rounded(&a, (&x, None), Precision::F32F64).unwrap() else {
            panic!("f64")
        };
        assert_eq!(mixed.a().val(), [1.0, 0.0, f64::INFINITY]);
        assert!(Arc::ptr_eq(mixed.x(), &x));
        // Half-way between 1 and 1 + 2⁻⁷.
        let a = Csr::from_triplets(1, 1, &[(0, 0, 1.0 + 2f64.powi(-8))]).unwrap();
        let x = Arc::new(vec![0.1]);
        let Side::Single(narrow) = Side::rounded(&a, (&x, None), Precision::Bf16F32).unwrap()
        else {
            panic!("f32")
        };
        assert_eq!(narrow.a().val(), [1.0f32]);
        assert_eq!(**narrow.x(), [0.1f32]);
    }
}
