//! Random numbers that depend only on the seed and the row: ChaCha8, one stream per row.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The random numbers of one row (or element, or edge).
pub(super) struct RowRandom(ChaCha8Rng);

impl RowRandom {
    /// The stream of `row` under `seed`.
    pub(super) fn new(seed: u64, row: usize) -> Self {
        Self::stream(seed, row as u64)
    }

    /// Any stream under `seed`.
    pub(super) fn stream(seed: u64, stream: u64) -> Self {
        let mut key = [0u8; 32];
        for (to, from) in key.iter_mut().zip(seed.to_le_bytes()) {
            *to = from;
        }
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(stream);
        Self(random)
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0 ..= 1 − 2⁻⁵³.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The mean of `terms` such numbers.
    pub(super) fn mean(&mut self, terms: usize) -> f64 {
        (0..terms).map(|_| self.unit()).sum::<f64>() / terms as f64
    }

    /// Two independent normal deviates with mean 0 and variance 1 (Marsaglia's polar method).
    pub(super) fn normals(&mut self) -> [f64; 2] {
        loop {
            let [a, b] = [2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0];
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * libm::log(square) / square).sqrt();
                return [a * scale, b * scale];
            }
        }
    }

    /// Uniform in 0 .. `n`, which is not 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Positive, log-uniform over `decades` decades around 1.
    pub(super) fn scale(&mut self, decades: f64) -> f64 {
        libm::exp((self.unit() - 0.5) * decades * std::f64::consts::LN_10)
    }
}

/// Adds columns given by `draw` until `columns` has `wanted` different ones. When draws keep hitting
/// the same columns, fills free columns below `cols` from the left.
pub(super) fn distinct(
    columns: &mut Vec<u32>,
    wanted: usize,
    cols: usize,
    mut draw: impl FnMut() -> usize,
) {
    let wanted = wanted.min(cols);
    for _ in 0..16 {
        let missing = wanted - columns.len();
        if missing == 0 {
            return;
        }
        columns.extend((0..missing).map(|_| draw() as u32));
        columns.sort_unstable();
        columns.dedup();
    }
    let taken = columns.clone();
    let free = (0..cols as u32).filter(|column| taken.binary_search(column).is_err());
    columns.extend(free.take(wanted - taken.len()));
}
