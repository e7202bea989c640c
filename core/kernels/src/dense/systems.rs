//! Batches of systems A_s·x_s = b_s and their solutions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use sparsescope_matrix::matrix::BatchView;

/// The kind of right-hand sides of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rhs {
    /// The last unit vector e_n for all, as in setting up a factorised sparse approximate inverse.
    LastUnit,
    /// Uniform in [−1, 1), from a seed.
    Random,
}

impl Rhs {
    /// Both.
    pub const ALL: [Self; 2] = [Self::LastUnit, Self::Random];

    /// The name used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LastUnit => "last-unit",
            Self::Random => "random",
        }
    }
}

/// Right-hand sides as passed to kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RightHandSides<'a> {
    /// e_n for all.
    LastUnit,
    /// n numbers per system, system after system.
    Given(&'a [f64]),
}

/// Systems as passed to kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Systems<'a> {
    matrices: BatchView<'a>,
    right: RightHandSides<'a>,
}

impl<'a> Systems<'a> {
    /// Combines matrices and right-hand sides. Panics unless there are n numbers for each.
    pub fn new(matrices: BatchView<'a>, right: RightHandSides<'a>) -> Self {
        if let RightHandSides::Given(b) = right {
            assert_eq!(b.len(), matrices.len() * matrices.unknowns(), "n numbers for each system");
        }
        Self { matrices, right }
    }

    /// Number of unknowns per system, n.
    pub fn unknowns(self) -> usize {
        self.matrices.unknowns()
    }

    /// Number of systems.
    pub fn len(self) -> usize {
        self.matrices.len()
    }

    /// Whether there are no systems.
    pub fn is_empty(self) -> bool {
        self.matrices.is_empty()
    }

    /// The matrix of a system, row-major. Panics if there is no such system.
    #[inline]
    pub fn matrix(self, s: usize) -> &'a [f64] {
        self.matrices.matrix(s)
    }

    /// Copies the right-hand side of a system. Panics if there is no such system or `to` is too short.
    #[inline]
    pub fn copy_right(self, s: usize, to: &mut [f64]) {
        let n = self.unknowns();
        match self.right {
            RightHandSides::LastUnit => {
                to[..n].fill(0.0);
                to[n - 1] = 1.0;
            }
            RightHandSides::Given(b) => to[..n].copy_from_slice(&b[s * n..][..n]),
        }
    }

    /// Whether all right-hand sides are e_n.
    #[inline]
    pub fn are_last_units(self) -> bool {
        self.right == RightHandSides::LastUnit
    }
}

/// The results of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solutions {
    /// n numbers per system, system after system; NaN where it is flagged.
    pub x: Vec<f64>,
    /// For each system, whether it was found not to be positive definite.
    pub flagged: Vec<bool>,
}

impl Solutions {
    /// Allocates space for the solutions of `systems` systems of n unknowns, none of them solved.
    pub fn room_for(unknowns: usize, systems: usize) -> Self {
        let mut solutions =
            Self { x: vec![0.0; unknowns * systems], flagged: vec![false; systems] };
        solutions.spoil();
        solutions
    }

    /// Bytes needed for the solutions.
    pub fn bytes(unknowns: usize, systems: usize) -> u64 {
        systems as u64 * (8 * unknowns as u64 + 1)
    }

    /// Fills the solutions with NaN and clears all flags.
    pub fn spoil(&mut self) {
        self.x.fill(f64::NAN);
        self.flagged.fill(false);
    }

    /// The indices of the flagged systems, ascending.
    pub fn flagged(&self) -> impl Iterator<Item = usize> {
        let flags = self.flagged.iter().enumerate();
        flags.filter(|(_, flagged)| **flagged).map(|(s, _)| s)
    }
}

/// First stream number of the right-hand sides; the streams of the matrices themselves are their indices.
const FIRST_STREAM: u64 = 1 << 63;

/// Right-hand sides of `systems` systems of n unknowns, uniform in [−1, 1): system s uses the upper 53 bits
/// of the 64-bit words of ChaCha8's stream 2⁶³ + s.
pub fn random_right_hand_sides(unknowns: usize, systems: usize, seed: u64) -> Vec<f64> {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut b = Vec::with_capacity(unknowns * systems);
    for s in 0..systems as u64 {
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(FIRST_STREAM + s);
        let words = std::iter::repeat_with(|| random.next_u64() >> 11).take(unknowns);
        b.extend(words.map(|word| word as f64 / (1u64 << 52) as f64 - 1.0));
    }
    b
}
