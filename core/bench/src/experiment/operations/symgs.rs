//! A symmetric Gauss–Seidel iteration as a problem: the system and the initial x, in each precision.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::experiment::configuration::Configuration;
use crate::experiment::error::PrepareError;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use sparsescope_kernels::gate::{SweepBounds, half_sweeps, same_bits, undecided};
use sparsescope_kernels::symgs::{Coloring, Diagonal, Mode, relative_residual, serial};
use sparsescope_matrix::matrix::{Csr, Number, Precision, Real, permuted};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_matrix::parallel::*;
use sparsescope_model::kernel::parameters::MODE;
use sparsescope_model::kernel::{DeviceKind, KernelDescriptor, Mapping};
use sparsescope_record::{Check, History, Operation, Series, Verdict, Work};

/// A·x = b, and x before the first sweep.
#[derive(Debug)]
pub struct SymgsProblem {
    double: Arc<SymgsSide<f64>>,
    /// Rounded on first use; or the reason why rounding is impossible.
    single: Mutex<Option<Result<Arc<SymgsSide<f32>>, String>>>,
}

/// The problem in one precision.
#[derive(Debug)]
pub struct SymgsSide<T> {
    a: Arc<Csr<T>>,
    diagonal: Diagonal,
    b: Arc<Vec<T>>,
    start: Arc<Vec<T>>,
    sweeps: u32,
    references: Mutex<References<T>>,
    residuals: Mutex<BTreeMap<Order, Arc<Vec<f64>>>>,
    bounds: Mutex<BTreeMap<Mode, Arc<SweepBounds>>>,
    /// The rows, sorted by colour.
    by_color: Mutex<Option<Arc<Vec<u32>>>>,
}

/// Nonzeros visited in total by the sweeps of a residual history; their number stays within the limits below.
const HISTORY_ENTRIES: usize = 400_000_000;
const FEWEST_SWEEPS: usize = 2;
const MOST_SWEEPS: usize = 30;

/// Reference results, by mode and order.
type References<T> = BTreeMap<(Mode, Order), Arc<Vec<T>>>;

/// Order of the rows in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// As in the matrix.
    Natural,
    /// By colour, with the matrix renumbered.
    Colors,
    /// By colour, with the terms of a row in the order of the matrix: the same iteration, rounded
    /// differently.
    ByColor,
}

impl Order {
    fn of(configuration: &Configuration) -> Self {
        match (configuration.kernel.mapping, configuration.kernel.device) {
            (Mapping::Colors, DeviceKind::Cpu) => Self::Colors,
            (Mapping::Colors, DeviceKind::Cuda) => Self::ByColor,
            _ => Self::Natural,
        }
    }

    /// Whether the loops over rows in this order reproduce the kernel bit for bit. Other kernels in natural
    /// order add the terms of a row in another order.
    fn has_bits_of(self, kernel: &KernelDescriptor) -> bool {
        kernel.exact || self != Self::Natural
    }
}

impl SymgsProblem {
    /// Fails if the vectors that the problem keeps besides A need more than `limit`; called before the first
    /// of them is allocated. A one-line file may declare any number of columns.
    pub fn check_vectors(a: &Csr, limit: MemoryLimit) -> Result<(), MemoryError> {
        // b, x before, between and after, the results of the two loops and their bounds.
        limit.check("the sweep with b, x and its check", 8 * 7 * a.rows() as u128)
    }

    /// The problem of a square matrix of finite numbers with a nonzero diagonal, and finite vectors; fails
    /// with a sentence for anything else. Panics unless b and `start` have one element per row.
    pub fn new(a: Arc<Csr>, b: Vec<f64>, start: Vec<f64>) -> Result<Self, String> {
        Self::with_sweeps(a, b, start, 1)
    }

    /// The same with `sweeps` consecutive symmetric sweeps per execution.
    pub fn with_sweeps(
        a: Arc<Csr>,
        b: Vec<f64>,
        start: Vec<f64>,
        sweeps: u32,
    ) -> Result<Self, String> {
        if let Some(what) = not_finite(&a, [("b", &b), ("x", &start)]) {
            return Err(what);
        }
        let double = Arc::new(SymgsSide::new(a, b, start, sweeps)?);
        Ok(Self { double, single: Mutex::default() })
    }

    /// The system in f64.
    pub fn double(&self) -> &Arc<SymgsSide<f64>> {
        &self.double
    }

    /// The system in f32, rounded on first use. Fails if a value is too large for f32 or a diagonal element
    /// too small, or, before allocating, if the copies need more than `limit`.
    pub fn single(&self, limit: MemoryLimit) -> Result<Arc<SymgsSide<f32>>, PrepareError> {
        let mut single = lock(&self.single);
        if single.is_none() {
            let checked = limit.check("A, b and x in f32", self.single_bytes().into());
            checked.map_err(|error| PrepareError::Refused(error.to_string()))?;
        }
        single
            .get_or_insert_with(|| self.rounded().map(Arc::new))
            .clone()
            .map_err(PrepareError::Refused)
    }

    /// The system in f32, which exists once a result was computed with it.
    fn known(&self) -> Option<Arc<SymgsSide<f32>>> {
        self.single(MemoryLimit::unlimited()).ok()
    }

    fn rounded(&self) -> Result<SymgsSide<f32>, String> {
        let SymgsSide { a, b, start, sweeps, .. } = &*self.double;
        let overflows = |value: &f64| value.is_finite() && !f32::rounded(*value).is_finite();
        if let Some(row) = (0..a.rows()).find(|&i| a.row(i).1.iter().any(overflows)) {
            return Err(format!("row {row} has a value too large for f32"));
        }
        for (name, vector) in [("b", b), ("x", start)] {
            if let Some(k) = vector.iter().position(overflows) {
                return Err(format!("element {k} of {name} is {:e}, too large for f32", vector[k]));
            }
        }
        let rounded =
            |vector: &[f64]| -> Vec<f32> { vector.iter().copied().map(f32::rounded).collect() };
        SymgsSide::new(Arc::new(a.map(f32::rounded)), rounded(b), rounded(start), *sweeps)
    }

    /// Bytes of A in CSR, b and x in f32.
    fn single_bytes(&self) -> u64 {
        let a = &self.double.a;
        let (values, bytes) = (a.nnz() as u64, Number::F32.bytes());
        a.bytes() - values * (Number::F64.bytes() - bytes) + 2 * a.rows() as u64 * bytes
    }
}

impl Problem for SymgsProblem {
    fn operation(&self) -> Operation {
        Operation::Symgs
    }

    fn is_empty(&self) -> bool {
        self.double.a.rows() == 0
    }

    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        let (precision, a) = (configuration.precision, &self.double.a);
        let mut resident = Vec::new();
        if precision == Precision::F32 {
            let bytes = self.single_bytes();
            resident.push(Resident { name: "A, b and x in f32".to_owned(), bytes });
        }
        let kernel = configuration.kernel;
        if kernel.is_of_user_library() {
            resident.push(Resident::shared(configuration, a, memory));
        } else if kernel.device == DeviceKind::Cpu && kernel.mapping != Mapping::Serial {
            // A copy of the rows in their order; two if the structure is not symmetric.
            let bytes =
                2 * (a.nnz() as u64 * (4 + precision.values().bytes()) + 16 * a.rows() as u64);
            resident.push(Resident::own("rows", configuration, bytes));
        }
        resident
    }

    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        match (configuration.precision, output) {
            (Precision::F64, Output::Vector(x)) => self.double.check(configuration, x, None),
            (Precision::F32, Output::Single(x)) => self.known()?.check(configuration, x, None),
            (precision, Output::Sweep(both)) => match (precision, &**both) {
                (Precision::F64, [Output::Vector(x), Output::Vector(between)]) => {
                    self.double.check(configuration, x, Some(between))
                }
                (Precision::F32, [Output::Single(x), Output::Single(between)]) => {
                    self.known()?.check(configuration, x, Some(between))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The residual after each sweep, in standard mode (a smoother solves nothing), for kernels whose results
    /// match the loops bit for bit, so that the loops stand in for them. `None` once `cancel` is set.
    fn history(&self, configuration: &Configuration, cancel: &AtomicBool) -> Option<History> {
        let order = Order::of(configuration);
        let is_told = configuration.parameters.get(&MODE) == Mode::Standard
            && order.has_bits_of(configuration.kernel);
        let residuals = is_told.then(|| match configuration.precision.in_f64() {
            true => self.double.residuals(order, cancel),
            false => self.single(MemoryLimit::unlimited()).ok()?.residuals(order, cancel),
        });
        let (name, values) = ("relative residual".to_owned(), residuals??.to_vec());
        let series = vec![Series { name, values, every: 1, step: None }];
        Some(History { step: "sweep".to_owned(), series })
    }

    /// HPCG counts a multiplication and a subtraction per nonzero in each of the two sweeps.
    fn work(&self, _: &Output) -> Work {
        let sweeps = u64::from(self.double.sweeps);
        let flops = 4 * self.double.a.nnz() as u64 * sweeps;
        Work { flops, iterations: sweeps, ..Work::default() }
    }

    fn release(&self) {
        lock(&self.double.references).clear();
        lock(&self.double.residuals).clear();
        lock(&self.double.bounds).clear();
        *lock(&self.double.by_color) = None;
        // A rejection takes no memory, so its result can be kept.
        let mut single = lock(&self.single);
        *single = single.take().filter(Result::is_err);
    }
}

impl<T: Real> SymgsSide<T> {
    fn new(a: Arc<Csr<T>>, b: Vec<T>, start: Vec<T>, sweeps: u32) -> Result<Self, String> {
        assert_eq!((b.len(), start.len()), (a.rows(), a.rows()), "b and x have one element a row");
        let found = Diagonal::of(&a, MemoryLimit::of_machine());
        let diagonal = found.map_err(|error| error.to_string())?;
        let (b, start) = (Arc::new(b), Arc::new(start));
        Ok(Self {
            a,
            diagonal,
            b,
            start,
            sweeps,
            references: Mutex::default(),
            residuals: Mutex::default(),
            bounds: Mutex::default(),
            by_color: Mutex::default(),
        })
    }

    /// A, n × n.
    pub fn a(&self) -> &Arc<Csr<T>> {
        &self.a
    }

    /// Positions of its diagonal.
    pub fn diagonal(&self) -> &Diagonal {
        &self.diagonal
    }

    /// The right-hand side; shared with callers that copy it elsewhere and must recognise it later.
    pub fn b(&self) -> &Arc<Vec<T>> {
        &self.b
    }

    /// x before the first sweep; shared like `b`.
    pub fn start(&self) -> &Arc<Vec<T>> {
        &self.start
    }

    /// Minimal bytes that an execution moves: each sweep reads the nonzeros, b and x once, and writes x.
    #[cfg(not(target_family = "wasm"))]
    pub fn minimal_bytes(&self) -> u64 {
        let vectors = 3 * (T::BYTES * self.a.rows()) as u64;
        2 * u64::from(self.sweeps) * (self.a.bytes() + vectors)
    }

    /// Symmetric sweeps per execution.
    pub fn sweeps(&self) -> u32 {
        self.sweeps
    }

    /// Checks x after the sweeps; `between` is x between the halves of the only one, if it is known.
    fn check(
        &self,
        configuration: &Configuration,
        x: &[T],
        between: Option<&[T]>,
    ) -> Option<Check> {
        let order = Order::of(configuration);
        let mode = configuration.parameters.get(&MODE);
        let known = lock(&self.references).get(&(mode, order)).cloned();
        let expected = match known {
            Some(known) => known,
            None => {
                let made = Arc::new(self.reference(mode, order)?);
                lock(&self.references).insert((mode, order), Arc::clone(&made));
                made
            }
        };
        let has_length = |vector: &&[T]| vector.len() == self.a.rows();
        let overflow = expected.iter().position(|value| !value.is_finite());
        // Of several sweeps only the last is known, and rows that overflow say nothing.
        let is_one = self.sweeps == 1 && overflow.is_none() && has_length(&x);
        let between = between.filter(has_length).filter(|_| is_one);
        let check = match (order.has_bits_of(configuration.kernel), between) {
            (true, _) => same_bits(&expected, x),
            (false, Some(between)) => {
                let (a, vectors) = ((&*self.a, &self.diagonal), [&**self.start, between, x]);
                half_sweeps(a, mode, &self.b, vectors, &expected)
            }
            (false, None) => self.bounds(mode).check(&expected, x),
        };
        Some(match overflow {
            // All infinities count as equal, and all NaN.
            Some(row) if check.verdict == Verdict::Pass => {
                let value: f64 = expected[row].into();
                let reason = format!(
                    "the sweeps overflow: row {row} is {value:e} in the serial reference too"
                );
                undecided(row as u64, reason)
            }
            _ => check,
        })
    }

    fn bounds(&self, mode: Mode) -> Arc<SweepBounds> {
        let known = lock(&self.bounds).get(&mode).cloned();
        known.unwrap_or_else(|| {
            let (vectors, sweeps) = ((&**self.b, &**self.start), self.sweeps);
            let made = SweepBounds::new(&self.a, &self.diagonal, mode, vectors, sweeps);
            let made = Arc::new(made);
            lock(&self.bounds).insert(mode, Arc::clone(&made));
            made
        })
    }

    /// Result of the two loops with rows in this order; `None` if memory is insufficient.
    fn reference(&self, mode: Mode, order: Order) -> Option<Vec<T>> {
        let mut system = self.in_order(order)?;
        (0..self.sweeps).for_each(|_| system.sweep(mode));
        Some(system.natural())
    }

    /// ‖b − A·x‖₂ / ‖b‖₂ before the first sweep and after each, in standard mode, as long as they are finite;
    /// `None` if memory is insufficient for the rows in this order, or once `cancel` is set.
    fn residuals(&self, order: Order, cancel: &AtomicBool) -> Option<Arc<Vec<f64>>> {
        if let Some(known) = lock(&self.residuals).get(&order) {
            return Some(Arc::clone(known));
        }
        let mut system = self.in_order(order)?;
        let sweeps = (HISTORY_ENTRIES / self.a.nnz().max(1)).clamp(FEWEST_SWEEPS, MOST_SWEEPS);
        let mut residuals = Vec::with_capacity(sweeps + 1);
        for sweep in 0..=sweeps {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            if sweep > 0 {
                system.sweep(Mode::Standard);
            }
            let residual = relative_residual(&system.a, &system.b, &system.x);
            if !residual.is_finite() {
                break;
            }
            residuals.push(residual);
        }
        let residuals = Arc::new(residuals);
        lock(&self.residuals).insert(order, Arc::clone(&residuals));
        Some(residuals)
    }

    /// The system with its rows in this order; `None` if memory is insufficient.
    fn in_order(&self, order: Order) -> Option<System<T>> {
        let limit = MemoryLimit::of_machine();
        match order {
            Order::Natural => Some(System {
                a: Arc::clone(&self.a),
                diagonal: self.diagonal.clone(),
                b: self.b.to_vec(),
                x: self.start.to_vec(),
                order: None,
                visits: None,
            }),
            Order::ByColor => {
                let visits = Some(self.by_color(limit)?);
                Some(System { visits, ..self.in_order(Order::Natural)? })
            }
            Order::Colors => {
                let order = self.by_color(limit)?;
                let a = permuted(&self.a, &order, limit).ok()?;
                let diagonal = Diagonal::of(&a, limit).ok()?;
                let ordered = |vector: &[T]| -> Vec<T> {
                    order.iter().map(|&i| vector[i as usize]).collect()
                };
                let (b, x) = (ordered(&self.b), ordered(&self.start));
                Some(System { a: Arc::new(a), diagonal, b, x, order: Some(order), visits: None })
            }
        }
    }

    /// The rows sorted by colour, computed once; `None` if memory is insufficient.
    fn by_color(&self, limit: MemoryLimit) -> Option<Arc<Vec<u32>>> {
        let mut known = lock(&self.by_color);
        if known.is_none() {
            let colors = Coloring::greedy(&self.a, limit).ok()?;
            *known = Some(Arc::new(colors.groups().rows().to_vec()));
        }
        known.clone()
    }
}

/// Describes the first value that is not finite, in the matrix or in one of the named vectors.
fn not_finite(a: &Csr, vectors: [(&str, &Vec<f64>); 2]) -> Option<String> {
    let in_row = (0..a.rows()).into_par_iter().find_map_first(|row| {
        let (col, val) = a.row(row);
        let at = val.iter().position(|value| !value.is_finite())?;
        let (column, value) = (col[at], val[at]);
        Some(format!("row {row} has {value} in column {column} (0-based), which is not finite"))
    });
    in_row.or_else(|| {
        vectors.into_iter().find_map(|(name, vector)| {
            let k = vector.iter().position(|value| !value.is_finite())?;
            Some(format!("element {k} (0-based) of {name} is {}, which is not finite", vector[k]))
        })
    })
}

/// A·x = b with its rows in some order.
struct System<T> {
    a: Arc<Csr<T>>,
    diagonal: Diagonal,
    b: Vec<T>,
    x: Vec<T>,
    /// Row at each position; `None` for the matrix's own order.
    order: Option<Arc<Vec<u32>>>,
    /// The rows as the ascending sweep visits them; `None` for consecutive rows.
    visits: Option<Arc<Vec<u32>>>,
}

impl<T: Real> System<T> {
    fn sweep(&mut self, mode: Mode) {
        let Self { a, diagonal, b, x, visits, .. } = self;
        match visits {
            None => serial::symgs(a, diagonal, mode, b, x, 1),
            Some(visits) => serial::symgs_in_order(a, diagonal, visits, mode, b, x),
        }
    }

    /// x in the matrix's own order.
    fn natural(self) -> Vec<T> {
        let Some(order) = self.order else { return self.x };
        let mut x = self.x.clone();
        for (&i, value) in order.iter().zip(self.x) {
            x[i as usize] = value;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_model::kernel::{Origin, kernel};

    fn a(entries: &[(usize, usize, f64)]) -> Arc<Csr> {
        Arc::new(Csr::from_triplets(2, 2, entries).unwrap())
    }

    #[test]
    fn what_is_not_finite_is_refused_with_its_place() {
        let refusal = |entries: &[(usize, usize, f64)], b: [f64; 2], x: [f64; 2]| {
            SymgsProblem::new(a(entries), b.to_vec(), x.to_vec()).unwrap_err()
        };
        let ones = [1.0; 2];
        let nan = refusal(&[(0, 0, 1.0), (1, 0, f64::NAN), (1, 1, 1.0)], ones, ones);
        assert_eq!(nan, "row 1 has NaN in column 0 (0-based), which is not finite");
        let diagonal = [(0, 0, 1.0), (1, 1, 2.0)];
        let b = refusal(&diagonal, [1.0, f64::INFINITY], ones);
        assert_eq!(b, "element 1 (0-based) of b is inf, which is not finite");
        let x = refusal(&diagonal, ones, [f64::NAN, 1.0]);
        assert_eq!(x, "element 0 (0-based) of x is NaN, which is not finite");
        assert!(SymgsProblem::new(a(&diagonal), vec![1.0; 2], vec![1.0; 2]).is_ok());
    }

    #[test]
    fn sweeps_that_overflow_are_undecided_and_never_pass() {
        let problem = |small: f64| {
            let entries = [(0, 0, small), (1, 0, 1.0), (1, 1, 1.0)];
            SymgsProblem::new(a(&entries), vec![1.0; 2], vec![0.0; 2]).unwrap()
        };
        let configuration = Configuration::usual(kernel("cpu/symgs/serial").unwrap());
        let inf = f64::INFINITY;
        // 1 / 1e-310 overflows f64.
        let overflows = problem(1e-310);
        let check =
            |x: [f64; 2]| overflows.compare(&configuration, &Output::Vector(x.to_vec())).unwrap();
        let undecided = check([inf, -inf]);
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        let reason = undecided.reason.unwrap();
        assert!(reason.starts_with("the sweeps overflow: row 0 is inf"), "{reason}");
        assert_eq!(check([1.0, 0.0]).verdict, Verdict::Fail);
        let usual = problem(0.5).compare(&configuration, &Output::Vector(vec![2.0, -1.0])).unwrap();
        assert_eq!(usual.verdict, Verdict::Pass);
    }

    #[test]
    fn right_halves_pass_and_wrong_ones_fail_or_are_undecided_where_sweeps_overflow() {
        let kernel = Configuration::usual(kernel("cuda/symgs/nodes").unwrap());
        let check = |small: f64, [x, between]: [[f64; 2]; 2]| {
            let entries = [(0, 0, small), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)];
            let problem = SymgsProblem::new(a(&entries), vec![1.0; 2], vec![0.0; 2]).unwrap();
            let both = [x, between].map(|vector| Output::Vector(vector.to_vec()));
            problem.compare(&kernel, &Output::Sweep(Box::new(both))).unwrap()
        };
        // x_0 = 2, x_1 = −0.5; then x_0 = 3.
        let (right, first) = ([3.0, -0.5], [2.0, -0.5]);
        assert_eq!(check(0.5, [right, first]).verdict, Verdict::Pass);
        assert_eq!(check(0.5, [right, [2.0, -0.6]]).verdict, Verdict::Fail);
        assert_eq!(check(0.5, [[3.1, -0.5], first]).verdict, Verdict::Fail);
        assert_ne!(check(1e-310, [right, first]).verdict, Verdict::Pass);
    }

    #[test]
    fn a_library_on_any_device_shares_a_copy_of_the_matrix() {
        let diagonal = a(&[(0, 0, 1.0), (1, 1, 2.0)]);
        let problem = SymgsProblem::new(diagonal, vec![1.0; 2], vec![0.0; 2]).unwrap();
        for device in [DeviceKind::Cpu, DeviceKind::Cuda] {
            let library = KernelDescriptor {
                device,
                origin: &[Origin::User],
                mapping: Mapping::Library,
                ..*kernel("cpu/symgs/serial").unwrap()
            };
            let configuration = Configuration::usual(Box::leak(Box::new(library)));
            let resident = problem.resident(&configuration, MemoryLimit::unlimited());
            let bytes: Vec<u64> = resident.iter().map(|array| array.bytes).collect();
            // Two nonzeros of 12 bytes, and three row offsets of 4.
            assert_eq!(bytes, [36], "{device:?}");
        }
    }
}
