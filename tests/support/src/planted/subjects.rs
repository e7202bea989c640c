//! The subjects for faults: a small problem of each operation, and its wrong results.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::dense::Solutions;
use sparsescope_core::experiment::{
    Backend, BatchedDenseProblem, Configuration, CpuBackend, Given, Output, ParameterLists,
    Problem, Settings, SkylineProblem, SolveProblem, SpmmProblem, SpmvProblem, SymgsProblem,
    SymgsSide, Watch,
};
use sparsescope_core::gate::SweepBounds;
use sparsescope_core::kernel::parameters::{MIN_FILL, MODE, TOL};
use sparsescope_core::kernel::{Mapping, reference};
use sparsescope_core::matrix::{Batch, Csr, Points, Real};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Precision};
use sparsescope_core::skyline::Found;
use sparsescope_core::symgs::{Mode, right_hand_side, starting_vector};

use super::fault::Fault;

/// Moves one element of a right result by three bounds of a configuration.
type Off = Box<dyn Fn(&Configuration, &mut Vec<f64>)>;

/// A problem and its wrong results.
pub(super) struct Subject {
    pub(super) operation: Operation,
    make: Box<dyn Fn() -> Box<dyn Problem>>,
    stale: Vec<f64>,
    /// The result of the transposed input, or why that is the input itself.
    transposed: Result<Vec<f64>, &'static str>,
    input: Vec<f64>,
    off: Off,
}

impl Subject {
    fn new<P: Problem>(
        make: impl Fn() -> P + 'static,
        other: &P,
        transposed: Result<&P, &'static str>,
        input: Vec<f64>,
        off: impl Fn(&Configuration, &mut Vec<f64>) + 'static,
    ) -> Self {
        Self {
            operation: other.operation(),
            make: Box::new(move || Box::new(make())),
            stale: result(other),
            transposed: transposed.map(|problem| result(problem)),
            input,
            off: Box::new(off),
        }
    }

    /// A new problem, without cached data.
    pub(super) fn problem(&self) -> Box<dyn Problem> {
        (self.make)()
    }

    /// Why it cannot have a fault.
    pub(super) fn lacks(&self, fault: Fault) -> Option<&'static str> {
        self.transposed.as_ref().err().filter(|_| fault == Fault::Transposed).copied()
    }

    /// Applies a fault to a right result.
    pub(super) fn spoilt(
        &self,
        fault: Fault,
        configuration: &Configuration,
        right: Output,
    ) -> Output {
        let is_points = matches!(right, Output::Points(_));
        let mut values = right.clone().in_f64();
        match fault {
            Fault::Zeros | Fault::RightOnce | Fault::WrongInSamples | Fault::WrongAfterwards => {
                match is_points {
                    true => values.clear(),
                    false => values.fill(0.0),
                }
            }
            Fault::Stale => values.clone_from(&self.stale),
            Fault::LastLost if is_points => values.truncate(values.len().saturating_sub(1)),
            Fault::LastLost => values.iter_mut().rev().take(1).for_each(|last| *last = 0.0),
            Fault::ThreeBounds => (self.off)(configuration, &mut values),
            Fault::NotANumber => {
                let none = if is_points { f64::from(u32::MAX) } else { f64::NAN };
                values.iter_mut().take(1).for_each(|first| *first = none);
            }
            Fault::Transposed => values = self.transposed.clone().unwrap_or(values),
            Fault::Input => values.clone_from(&self.input),
        }
        with_values(right, values)
    }
}

/// The same kind of result with other numbers; all systems have the same size.
fn with_values(right: Output, values: Vec<f64>) -> Output {
    match right {
        Output::Vector(_) => Output::Vector(values),
        Output::Single(_) => Output::Single(values.into_iter().map(|value| value as f32).collect()),
        Output::Sweep(both) => {
            let [x, between] = *both;
            Output::Sweep(Box::new([with_values(x, values), between]))
        }
        Output::Points(found) => {
            let indices = values.into_iter().map(|index| index as u32).collect();
            Output::Points(Found { indices, ..found })
        }
        Output::Solution(mut solution) => {
            solution.x = values;
            Output::Solution(solution)
        }
        Output::Systems(sizes) => {
            let with = |found: Solutions| Solutions { x: values.clone(), ..found };
            Output::Systems(sizes.into_iter().map(with).collect())
        }
    }
}

/// The reference kernel's result.
fn result(problem: &dyn Problem) -> Vec<f64> {
    let backend = CpuBackend::new();
    let all = Configuration::all(&[reference(problem.operation())], &settings());
    let configuration = all.first().expect("the reference can be run"); // invariant
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let mut prepared = backend
        .prepare(configuration, problem, MemoryLimit::unlimited())
        .expect("the reference takes every subject"); // invariant
    prepared.set_up(&watch).wait().expect("its setup is possible"); // invariant
    let output = prepared.output(&watch).wait().expect("it computes"); // invariant
    output.expect("nobody stops it").in_f64() // invariant
}

/// One of each operation.
pub(super) fn subjects() -> Vec<Subject> {
    vec![spmv(), symgs(), skyline(), solve(), dense(), spmm()]
}

const N: usize = 40;

/// The element that is off.
const ROW: usize = 17;

type Entries = Vec<(usize, usize, f64)>;

/// A matrix of N rows of 1 to 11 positive numbers, or its transpose.
fn matrix(entries: &Entries, transposed: bool) -> Arc<Csr> {
    let entries: Entries = match transposed {
        true => entries.iter().map(|&(i, j, value)| (j, i, value)).collect(),
        false => entries.clone(),
    };
    Arc::new(Csr::from_triplets(N, N, &entries).expect("the entries lie in the matrix")) // invariant
}

fn entries() -> Entries {
    let of_row = |i: usize| {
        let value = move |j: usize| 0.05 + 0.1 * ((i * 31 + j * 17) % 23) as f64;
        (0..1 + i * 7 % 11).map(move |j| (i, (i * 13 + j * 3) % N, value(j)))
    };
    (0..N).flat_map(of_row).collect()
}

/// Distinct numbers, which also differ from their reverse.
fn vector(backwards: bool) -> Vec<f64> {
    let element = |k: usize| 0.3 + 0.1 * (k * 7 % 11) as f64 + 0.01 * k as f64;
    let mut x: Vec<f64> = (0..N).map(element).collect();
    if backwards {
        x.reverse();
    }
    x
}

fn spmv() -> Subject {
    let of = |transposed: bool, backwards: bool| {
        let a = matrix(&entries(), transposed);
        SpmvProblem::new(a, vector(backwards))
    };
    let off = |configuration: &Configuration, y: &mut Vec<f64>| {
        y[ROW] += three_bounds(configuration, &vector(false));
    };
    Subject::new(
        move || of(false, false),
        &of(false, true),
        Ok(&of(true, false)),
        vector(false),
        off,
    )
}

/// Three bounds of the sum of a row of the matrix with x.
fn three_bounds(configuration: &Configuration, x: &[f64]) -> f64 {
    let a = matrix(&entries(), false);
    let (col, val) = a.row(ROW);
    let size: f64 = col.iter().zip(val).map(|(&c, v)| (v * x[c as usize]).abs()).sum();
    let (len, precision) = (col.len() as f64, configuration.precision);
    let number = precision.vectors();
    3.0 * len * (2.0 * number.unit_roundoff() * size + number.smallest())
}

/// The bound on the error of an element after a sweep.
fn sweep_bound<T: Real>(side: &SymgsSide<T>, mode: Mode) -> f64 {
    let vectors = (side.b().as_slice(), side.start().as_slice());
    SweepBounds::new(side.a(), side.diagonal(), mode, vectors, side.sweeps()).of_row(ROW)
}

fn symgs() -> Subject {
    let of = |transposed: bool, seed: u64| {
        let off_diagonal = entries().into_iter().filter(|&(i, j, _)| i != j);
        let all: Entries = off_diagonal.chain((0..N).map(|i| (i, i, 20.0))).collect();
        let (b, x) = (right_hand_side(N, seed), starting_vector(N, 1));
        let problem = SymgsProblem::new(matrix(&all, transposed), b, x);
        problem.expect("no diagonal is missing") // invariant
    };
    let problem = of(false, 1);
    let off = move |configuration: &Configuration, x: &mut Vec<f64>| {
        let (kernel, mode) = (configuration.kernel, configuration.parameters.get(&MODE));
        let has_bits = kernel.exact || kernel.mapping == Mapping::Colors;
        let value = x[ROW];
        x[ROW] = match (has_bits, configuration.precision.in_f64()) {
            (true, true) => value.next_up(),
            (true, false) => f64::from((value as f32).next_up()),
            (false, true) => value + 3.0 * sweep_bound::<f64>(problem.double(), mode),
            (false, false) => {
                let single = problem.single(MemoryLimit::unlimited());
                let single = single.expect("f32 holds every value"); // invariant
                value + 3.0 * sweep_bound::<f32>(&single, mode)
            }
        };
    };
    Subject::new(move || of(false, 1), &of(false, 2), Ok(&of(true, 1)), starting_vector(N, 1), off)
}

fn skyline() -> Subject {
    const D: usize = 3;
    // Pseudo-random coordinates.
    let coordinate = |k: usize, seed: u64| {
        let mixed = (k as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64
    };
    let of = move |transposed: bool, seed: u64| {
        let place = |k: usize| if transposed { k % D * N + k / D } else { k };
        let coordinates = (0..N * D).map(|k| coordinate(place(k), seed)).collect();
        let points = Points::new(D, coordinates).expect("all coordinates are numbers"); // invariant
        SkylineProblem::new(Arc::new(points))
    };
    let off = |_: &Configuration, indices: &mut Vec<f64>| {
        let is_dropped = |i: &f64| !indices.contains(i);
        let dropped = (0..N).map(|i| i as f64).find(is_dropped);
        indices[0] = dropped.expect("one of the points is dominated"); // invariant
    };
    let all = (0..N).map(|i| i as f64).collect();
    Subject::new(move || of(false, 1), &of(false, 1000), Ok(&of(true, 1)), all, off)
}

fn solve() -> Subject {
    let a = || {
        let beside = (1..N).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        matrix(&(0..N).map(|i| (i, i, 2.5)).chain(beside).collect(), false)
    };
    let row_sums = move || (0..N).map(|i| a().row(i).1.iter().sum()).collect::<Vec<f64>>();
    let of = move |given: Given| {
        SolveProblem::new(a(), given).expect("A is symmetric") // invariant
    };
    let twice = row_sums().into_iter().map(|b| 2.0 * b).collect();
    let other = of(Given { b: Some(Arc::new(twice)), ..Given::default() });
    // A solution may have 1.1 times the tolerance, and the right one may use that much itself.
    let off = move |configuration: &Configuration, x: &mut Vec<f64>| {
        let tolerance = configuration.parameters.get(&TOL);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let bound = 1.1 * tolerance * norm(&row_sums());
        x[ROW] += 3.0 * bound / norm(a().row(ROW).1);
    };
    Subject::new(move || of(Given::default()), &other, Err("A is symmetric"), row_sums(), off)
}

fn dense() -> Subject {
    const UNKNOWNS: usize = 4;
    const SYSTEMS: usize = 3;
    // Diagonally dominant, so that every matrix is positive definite.
    let values = |scale: f64| -> Vec<f64> {
        let value = |k: usize| {
            let (s, i, j) = (k / 16, k / UNKNOWNS % UNKNOWNS, k % UNKNOWNS);
            if i == j { 6.0 + (s + i) as f64 } else { 0.3 + 0.1 * ((i + j + s) % 5) as f64 }
        };
        (0..UNKNOWNS * UNKNOWNS * SYSTEMS).map(|k| scale * value(k)).collect()
    };
    let of = move |scale: f64| {
        let batch = Batch::new(UNKNOWNS, values(scale)).expect("the matrices are whole"); // invariant
        BatchedDenseProblem::new(Arc::new(batch.into()))
    };
    let last_unit = (0..SYSTEMS).flat_map(|_| [0.0, 0.0, 0.0, 1.0]).collect();
    // ‖A·x − b‖ ≤ 8·n·ε·(‖A‖·‖x‖ + ‖b‖) in the maximum norm, of the first system.
    let off = move |_: &Configuration, x: &mut Vec<f64>| {
        let a = values(1.0);
        let rows = a.chunks(UNKNOWNS).take(UNKNOWNS);
        let norm = rows.map(|row| row.iter().sum()).fold(0.0, f64::max);
        let largest = x.iter().take(UNKNOWNS).fold(0.0, |most: f64, x| most.max(x.abs()));
        let bound = 8.0 * UNKNOWNS as f64 * f64::EPSILON * (norm * largest + 1.0);
        // The diagonal is the largest element of the first column.
        x[0] += 3.0 * bound / a[0];
    };
    Subject::new(move || of(1.0), &of(2.0), Err("every A is symmetric"), last_unit, off)
}

fn spmm() -> Subject {
    // The usual number of columns.
    const VECTORS: usize = 8;
    const COLUMN: usize = 5;
    // Column j of X.
    let column = |j: usize| vector(false).into_iter().map(move |x| x + 0.07 * j as f64);
    let x = move || -> Vec<f64> {
        let columns: Vec<Vec<f64>> = (0..VECTORS).map(|j| column(j).collect()).collect();
        (0..N)
            .flat_map(|i| columns.iter().map(move |column| column[i]).collect::<Vec<_>>())
            .collect()
    };
    let of = move |transposed: bool, backwards: bool| {
        let mut x = x();
        if backwards {
            x.reverse();
        }
        SpmmProblem::given(matrix(&entries(), transposed), VECTORS, x)
    };
    let off = move |configuration: &Configuration, y: &mut Vec<f64>| {
        let x: Vec<f64> = column(COLUMN).collect();
        y[ROW * VECTORS + COLUMN] += three_bounds(configuration, &x);
    };
    Subject::new(move || of(false, false), &of(false, true), Ok(&of(true, false)), x(), off)
}

/// A few samples of each kernel in both precisions.
pub(super) fn settings() -> Settings {
    let mut parameters = ParameterLists::default();
    parameters.set(MIN_FILL.id(), &[0]).expect("blocks may be empty"); // invariant
    Settings {
        runs: 2,
        until: None,
        warmup: 1,
        threads: vec![2],
        blocks: vec![128],
        cold: false,
        energy: false,
        seed: 42,
        precisions: Precision::ALL.to_vec(),
        parameters,
    }
}
