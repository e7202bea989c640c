//! x ← x + 1 in place on a vector: an operation that is not SpMV, on a subject that is not a matrix, whose
//! executions overwrite their input. It shows that the rest of the program assumes none of these.

use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Check, Operation, Verdict, Work};

/// x ← x + 1.
#[derive(Debug)]
pub struct IncrementProblem {
    x: Vec<f64>,
}

impl IncrementProblem {
    /// The problem of this vector.
    pub fn new(x: Vec<f64>) -> Self {
        Self { x }
    }

    /// The problem of the vector 0, 1, 2, … of `len` elements, the default without a file.
    pub fn counting(len: usize) -> Self {
        Self::new((0..len).map(|k| k as f64).collect())
    }

    /// SHA-256 of the elements as little-endian f64.
    pub fn identity(&self) -> String {
        let bytes: Vec<u8> = self.x.iter().flat_map(|element| element.to_le_bytes()).collect();
        sparsescope_matrix::matrix::sha256(&bytes)
    }

    /// x before the increment.
    pub fn x(&self) -> &[f64] {
        &self.x
    }
}

impl Problem for IncrementProblem {
    fn operation(&self) -> Operation {
        Operation::Increment
    }

    fn is_empty(&self) -> bool {
        false
    }

    fn resident(&self, _: &Configuration, _: MemoryLimit) -> Vec<Resident> {
        let bytes = size_of_val(self.x.as_slice()) as u64;
        vec![Resident { name: "a copy of x".to_owned(), bytes }]
    }

    /// Compares bit by bit: incremented once, not twice.
    fn compare(&self, _: &Configuration, output: &Output) -> Option<Check> {
        let Output::Vector(found) = output else { return None };
        let differs = |(found, x): (&f64, &f64)| found.to_bits() != (x + 1.0).to_bits();
        let row = match found.len() == self.x.len() {
            true => found.iter().zip(&self.x).position(differs),
            false => Some(found.len().min(self.x.len())),
        };
        let (verdict, reason) = match row {
            None => (Verdict::Pass, None),
            Some(row) => {
                (Verdict::Fail, Some(format!("element {row} is not its old value plus 1")))
            }
        };
        let worst = row.is_none().then_some(0.0);
        let row = row.map(|row| row as u64);
        Some(Check { verdict, reason, row, worst, ..Check::default() })
    }

    fn work(&self, _: &Output) -> Work {
        Work { flops: self.x.len() as u64, ..Work::default() }
    }
}
