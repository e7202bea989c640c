//! x ← x + 1 in place on a vector: an operation that is not SpMV, on a subject that is not a matrix, whose
//! executions overwrite their input. It shows that the rest of the program assumes none of these.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Check, Costs, Operation, Verdict, Work};

/// x ← x + 1.
#[derive(Debug)]
pub struct IncrementProblem {
    x: Vec<f64>,
}

/// Adds 1 to the elements of a part, on one thread.
fn add_one(part: &mut [f64]) {
    part.iter_mut().for_each(|element| *element += 1.0);
}

struct Increment<'p> {
    input: &'p [f64],
    x: Vec<f64>,
    /// Elements per part.
    part: usize,
}

impl Task for Increment<'_> {
    fn is_in_place(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.x.copy_from_slice(self.input);
    }

    fn spoil(&mut self) {}

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        if watch.is_cancelled() {
            return Ok(Finished::Cancelled);
        }
        match self.part >= self.x.len() {
            true => add_one(&mut self.x),
            false => self.x.par_chunks_mut(self.part).for_each(add_one),
        }
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        Output::Vector(self.x.clone())
    }
}

/// Elements per part of a vector of `len` for `threads` threads.
type Part = fn(len: usize, threads: usize) -> usize;

const LAUNCHERS: &[(&str, Part)] = &[
    ("cpu/increment/serial", |len, _| len.max(1)),
    ("cpu/increment/parts", |len, threads| len.div_ceil(threads.max(1)).max(1)),
];

pub(in crate::experiment) fn launcher(id: &str) -> Option<Part> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, part)| part)
}

pub(in crate::experiment) fn bind<'p>(
    configuration: &Configuration,
    problem: &'p IncrementProblem,
) -> Result<Bound<'p>, PrepareError> {
    let part = launcher(configuration.kernel.id)
        .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
    let input = &problem.x;
    let part = part(input.len(), configuration.threads as usize);
    let bytes = size_of_val(input.as_slice()) as u64;
    let costs = Costs { format_bytes: bytes, minimal_bytes: 2 * bytes, ..Costs::default() };
    let parts = Some(input.len().div_ceil(part));
    let task = Box::new(Increment { input, x: input.clone(), part });
    Ok(Bound { task, parts, costs, params: BTreeMap::new() })
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
