//! The recipe of a batch, and its generator.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::generate::assemble::GenerateError;
use crate::generate::keys::{Key, MOST, SEED, Values, key, optional};
use crate::generate::random::RowRandom;
use crate::generate::recipe::{self, Named, SpecError};
use crate::matrix::{Batch, BatchExtent, MOST_UNKNOWNS};
use crate::memory::{MemoryLimit, zeroed};
use crate::parallel::*;

/// A kind of generated batch.
#[derive(Debug)]
pub struct BatchKind {
    /// Its name.
    pub name: &'static str,
    /// Description of its matrices, in one line.
    pub what: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
}

impl BatchKind {
    /// `spd-batch?n=…&count=…`: the required keys.
    pub fn usage(&self) -> String {
        Named::usage(self)
    }
}

impl Named for BatchKind {
    fn name(&self) -> &'static str {
        self.name
    }

    fn keys(&self) -> &'static [Key] {
        self.keys
    }
}

/// Every kind, in display order.
pub fn batch_kinds() -> &'static [BatchKind] {
    KINDS
}

static KINDS: &[BatchKind] = &[BatchKind {
    name: "spd-batch",
    what: "small dense SPD systems: B times its transpose over n, plus the identity, B uniform in -1 to 1",
    keys: &[
        key("n", 1, MOST_UNKNOWNS as u64, "unknowns per system"),
        key("count", 1, MOST, "systems"),
        optional("bad", 0, MOST, "one system in this many is not positive definite, 0 for none", 0),
        SEED,
    ],
}];

/// A generator of batches and the values of all its keys.
#[derive(Clone, Debug)]
pub struct BatchSpec {
    kind: &'static BatchKind,
    values: Values,
}

impl BatchSpec {
    /// Parses `spd-batch?n=…&count=…`, with an optional `gen:` prefix. Numbers may be written
    /// `1000000`, `1_000_000`, `1e6` or `1M`; `bad` is at most `count`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (kind, values) = recipe::parse(text, batch_kinds())?;
        let [count, bad] = ["count", "bad"].map(|key| values.value(key));
        match bad <= count {
            true => Ok(Self { kind, values }),
            false => {
                Err(SpecError::Value { key: "bad", value: bad.to_string(), min: 0, max: count })
            }
        }
    }

    /// Number of systems and of their unknowns.
    pub fn extent(&self) -> BatchExtent {
        let [unknowns, systems] = ["n", "count"].map(|key| self.values.value(key));
        BatchExtent { unknowns, systems }
    }
}

/// Writes `gen:KIND?key=value&…` with the keys in the kind's order, omitting defaults.
impl fmt::Display for BatchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        recipe::write(f, self.kind, &self.values)
    }
}

/// Generates the matrices A_s = B·Bᵀ/n + I, where B has n rows, uniform in [−1, 1) and drawn row by row
/// from stream s of the seed. In every `bad`-th matrix (numbers `bad` − 1, 2·`bad` − 1, …, 0-based) the
/// last diagonal element is −1, so that it is not positive definite. Fails before allocating when all
/// matrices together need more than `limit`; ends early when `cancel` is set.
///
/// ```
/// use sparsescope_matrix::generate::{BatchSpec, generate_batch};
/// use sparsescope_matrix::memory::MemoryLimit;
/// let spec = BatchSpec::parse("spd-batch?n=8&count=100")?;
/// let batch = generate_batch(&spec, MemoryLimit::of_machine(), &false.into())?;
/// assert_eq!((batch.len(), batch.unknowns()), (100, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate_batch(
    spec: &BatchSpec,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Batch, GenerateError> {
    limit.check(spec.to_string(), spec.extent().bytes())?;
    let (n, count) = (spec.values.size("n"), spec.values.size("count"));
    let (bad, seed) = (spec.values.size("bad"), spec.values.value("seed"));
    let mut values = zeroed(0f64, n * n * count);
    values.par_chunks_mut(n * n).enumerate().for_each(|(s, a)| {
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        let mut random = RowRandom::new(seed, s);
        let b: Vec<f64> =
            std::iter::repeat_with(|| 2.0 * random.unit() - 1.0).take(n * n).collect();
        fill(a, &b, n);
        if bad > 0 && (s + 1).is_multiple_of(bad) {
            a.last_mut().into_iter().for_each(|corner| *corner = -1.0);
        }
    });
    if cancel.load(Ordering::Relaxed) {
        return Err(GenerateError::Cancelled);
    }
    Batch::new(n, values).map_err(|reason| GenerateError::Format { spec: spec.to_string(), reason })
}

/// Computes a = b·bᵀ/n + I, summing in the order of b's columns.
fn fill(a: &mut [f64], b: &[f64], n: usize) {
    for (i, (row, left)) in a.chunks_mut(n).zip(b.chunks(n)).enumerate() {
        for (j, (value, right)) in row.iter_mut().zip(b.chunks(n)).enumerate() {
            let sum = left.iter().zip(right).fold(0.0, |sum, (l, r)| sum + l * r);
            *value = sum / n as f64 + f64::from(u8::from(i == j));
        }
    }
}
