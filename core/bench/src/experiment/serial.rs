//! A CPU backend for callers with a single thread that must stay responsive, such as the page: the serial
//! SpMV and SpMM kernels, in pieces too short to notice.

use std::collections::BTreeMap;
use std::sync::Arc;

use web_time::Instant;

use super::backend::{Availability, Backend, Prepared};
use super::configuration::{Configuration, Temperature};
use super::error::{KernelError, PrepareError};
use super::interruptions::Interruptions;
use super::operations::{Side, SpmmProblem, SpmmSide, SpmvProblem, SpmvSide};
use super::output::Output;
use super::problem::Problem;
use super::task::{Finished, Watch};
use super::ticket::{Executed, LastOutput, Sampled, SetUp, Ticket};
use crate::measure::clock_step_s;
use sparsescope_kernels::spmm;
use sparsescope_kernels::spmv::{Unscaled, csr, hll};
use sparsescope_matrix::matrix::{AnyFormat, Real};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::pace::set_down;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_model::kernel::parameters::VECTORS;
use sparsescope_record::Costs;

/// Maximum seconds per piece; a product that takes longer is refused.
const MOST_S: f64 = 50e-3;

/// Minimum seconds per sample; it is also at least a number of clock ticks, as far as the limit above allows.
const SHORTEST_SAMPLE_S: f64 = 1e-3;
const CLOCK_STEPS: f64 = 100.0;

/// Maximum products per sample.
const MOST_REPETITIONS: f64 = 100_000.0;

/// The serial SpMV and SpMM kernels on the calling thread.
pub struct SerialBackend {
    model: String,
    interruptions: Interruptions,
    /// Minimum seconds per sample.
    sample_s: f64,
}

impl SerialBackend {
    /// A backend for a CPU of this model; samples during which `interruptions` records one are taken again.
    pub fn new(model: String, interruptions: Interruptions) -> Self {
        let sample_s = (CLOCK_STEPS * clock_step_s()).clamp(SHORTEST_SAMPLE_S, MOST_S);
        Self { model, interruptions, sample_s }
    }
}

impl Backend for SerialBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        match kernel.id {
            "cpu/csr/serial" | "cpu/hll/serial" | "cpu/spmm/serial" => Availability::Available,
            _ => Availability::Missing("only serial kernels run on one thread".to_owned()),
        }
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.admit(configuration)?;
        if let Availability::Missing(reason) = self.availability(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        if configuration.temperature == Temperature::Cold {
            let reason = "cold-cache runs are not supported here".to_owned();
            return Err(PrepareError::Unsupported(reason));
        }
        if let Some(problem) = problem.of::<SpmmProblem>() {
            let k = SpmmProblem::vectors(configuration);
            return match problem.side(configuration, memory)? {
                SpmmSide::Double(side, x) => self.bind(configuration, &side, (Some(k), x), memory),
                SpmmSide::Single(side, x) => self.bind(configuration, &side, (Some(k), x), memory),
            };
        }
        let absent = || PrepareError::Unsupported("runs on matrices only".to_owned());
        let problem = problem.of::<SpmvProblem>().ok_or_else(absent)?;
        match problem.side(configuration.precision, memory)? {
            Side::Double(side) => {
                self.bind(configuration, &side, (None, Arc::clone(side.x())), memory)
            }
            Side::Single(side) => {
                self.bind(configuration, &side, (None, Arc::clone(side.x())), memory)
            }
        }
    }
}

impl SerialBackend {
    fn bind<'p, T: Real>(
        &'p self,
        configuration: &Configuration,
        side: &SpmvSide<T>,
        (columns, x): (Option<usize>, Arc<Vec<T>>),
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError>
    where
        Output: From<Vec<T>>,
    {
        let spec = SpmvProblem::spec(configuration);
        let made = side.format(spec, memory);
        let made = made.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let costs = Costs {
            conversion_s: made.seconds,
            format_bytes: made.matrix.bytes(),
            minimal_bytes: side.minimal_bytes(made.matrix.minimal_bytes(), columns.unwrap_or(1)),
            ..Costs::default()
        };
        let mut params = spec.in_force(&made.matrix);
        params.extend(columns.map(|k| (VECTORS.id().name().to_owned(), k.to_string())));
        Ok(Box::new(Product {
            backend: self,
            y: zeroed(T::ZERO, columns.unwrap_or(1) * made.matrix.rows()),
            x,
            columns,
            params,
            a: made.matrix,
            costs,
            once_s: None,
            repetitions: 1,
        }))
    }
}

/// y = A·x or Y = A·X, ready to run.
struct Product<'p, T> {
    backend: &'p SerialBackend,
    a: AnyFormat<T>,
    /// x, or X by rows.
    x: Arc<Vec<T>>,
    /// Columns of X; `None` in SpMV.
    columns: Option<usize>,
    y: Vec<T>,
    costs: Costs,
    params: BTreeMap<String, String>,
    /// Seconds of the last single product.
    once_s: Option<f64>,
    /// Products per sample.
    repetitions: u32,
}

impl<T: Real> Product<'_, T>
where
    Output: From<Vec<T>>,
{
    /// Seconds per product, over `products` in a row.
    fn time(&mut self, products: u32) -> f64 {
        let start = Instant::now();
        for _ in 0..products {
            let y = std::hint::black_box(&mut self.y);
            match (&self.a, self.columns) {
                (AnyFormat::Csr(a), None) => csr::serial(a, Unscaled, &self.x, y),
                (AnyFormat::Csr(a), Some(k)) => spmm::serial(a, k, &self.x, y),
                (AnyFormat::Hll(a), None) => hll::serial(a, Unscaled, &self.x, y),
                _ => {}
            }
        }
        start.elapsed().as_secs_f64() / f64::from(products.max(1))
    }

    /// Finds how many products make a sample long enough, by running more and more of them.
    async fn calibrate(&mut self) {
        let wanted = self.backend.sample_s;
        loop {
            let sample_s = self.time(self.repetitions) * f64::from(self.repetitions);
            set_down().await;
            let more = f64::from(self.repetitions) * (1.1 * wanted / sample_s.max(1e-6));
            let more = more.min(f64::from(self.repetitions) * 16.0).min(MOST_REPETITIONS);
            if sample_s >= wanted || more <= f64::from(self.repetitions) {
                return;
            }
            self.repetitions = more.ceil() as u32;
        }
    }

    async fn samples(&mut self, n: usize, watch: &Watch<'_>) -> Vec<f64> {
        if self.repetitions == 1 && self.once_s.is_none_or(|once| once < self.backend.sample_s) {
            self.calibrate().await;
        }
        let mut samples = Vec::with_capacity(n);
        self.time(1);
        // The timed execution must recompute whatever was there before.
        self.y.fill(T::NAN);
        let mut start = Instant::now();
        while samples.len() < n && !watch.is_cancelled() {
            let before = self.backend.interruptions.count();
            let seconds = self.time(self.repetitions);
            // The next one may not fit into the remaining time.
            let next_s = seconds * f64::from(self.repetitions);
            if start.elapsed().as_secs_f64() + next_s > MOST_S {
                set_down().await;
                start = Instant::now();
            }
            if self.backend.interruptions.count() == before {
                samples.push((seconds * 1e12).round() / 1e12);
            }
        }
        samples
    }
}

impl<T: Real> Prepared for Product<'_, T>
where
    Output: From<Vec<T>>,
{
    fn set_up<'t>(&'t mut self, _: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::later(async {
            // The first product also loads the matrix into the caches.
            let first_s = self.time(1);
            set_down().await;
            let seconds = if first_s > MOST_S { self.time(1) } else { first_s };
            self.once_s = Some(seconds);
            match seconds > MOST_S {
                true => Err(PrepareError::Refused(format!(
                    "one product takes {seconds:.2} s; on the browser's main thread the limit is \
                    {MOST_S} s"
                ))),
                false => Ok(Finished::Done),
            }
        })
    }

    fn sample<'t>(&'t mut self, n: usize, _: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::later(async move { Ok(self.samples(n, watch).await) })
    }

    fn output<'t>(&'t mut self, _: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            self.y.fill(T::NAN);
            self.once_s = Some(self.time(1));
            Ok(Some(self.y.clone().into()))
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| Ok::<_, KernelError>(self.y.clone().into()))
    }

    fn once(&self) -> Option<f64> {
        self.once_s
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use sparsescope_matrix::matrix::{Csr, Precision};
    use sparsescope_model::kernel::kernel;
    use sparsescope_record::Verdict;

    fn matrix(rows: usize) -> Csr {
        let of_row = |i: usize| (0..i % 9).map(move |j| (i, (i * 7 + j) % rows, 0.1 + j as f64));
        let triplets: Vec<_> = (0..rows).flat_map(of_row).collect();
        Csr::from_triplets(rows, rows, &triplets).unwrap()
    }

    fn problem(rows: usize) -> SpmvProblem {
        let x = (0..rows).map(|j| 1.0 + (j % 5) as f64).collect();
        SpmvProblem::new(Arc::new(matrix(rows)), x)
    }

    fn configured(id: &str, precision: Precision) -> Configuration {
        Configuration { precision, ..Configuration::usual(kernel(id).unwrap()) }
    }

    #[test]
    fn both_products_are_right_in_both_precisions_and_have_as_many_samples_as_asked_for() {
        let backend = SerialBackend::new("one thread".into(), Interruptions::default());
        let never = AtomicBool::new(false);
        for rows in [1, 7, 3000] {
            let problem = problem(rows);
            for id in ["cpu/csr/serial", "cpu/hll/serial"] {
                for precision in [Precision::F64, Precision::F32] {
                    let one = configured(id, precision);
                    let mut prepared =
                        backend.prepare(&one, &problem, MemoryLimit::unlimited()).unwrap();
                    let watch = Watch::cancelled_by(&never);
                    assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
                    let output = prepared.output(&watch).wait().unwrap().unwrap();
                    assert_eq!(problem.check(&one, &output).verdict, Verdict::Pass, "{id} {rows}");
                    let samples = prepared.sample(4, Temperature::Hot, &watch).wait().unwrap();
                    assert!(samples.len() == 4 && samples.iter().all(|&s| s >= 0.0));
                    let sample_s = samples[3] * f64::from(prepared.repetitions());
                    assert!(rows < 3000 || sample_s > 0.1 * backend.sample_s, "{sample_s}");
                }
            }
        }
    }

    #[test]
    fn several_columns_are_multiplied_in_both_precisions_and_counted() {
        let backend = SerialBackend::new("one thread".into(), Interruptions::default());
        let never = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&never);
        let problem = SpmmProblem::drawn(Arc::new(matrix(300)), 42);
        for (precision, bytes) in [(Precision::F64, 8), (Precision::F32, 4)] {
            let one = configured("cpu/spmm/serial", precision);
            let mut prepared = backend.prepare(&one, &problem, MemoryLimit::unlimited()).unwrap();
            assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
            let output = prepared.output(&watch).wait().unwrap().unwrap();
            assert_eq!(problem.check(&one, &output).verdict, Verdict::Pass);
            assert_eq!(prepared.params()["vectors"], "8");
            // Row offsets, columns and values of A, and 8 columns of X and Y.
            let nnz = matrix(300).nnz() as u64;
            let expected = 4 * 301 + (4 + bytes) * nnz + bytes * 8 * 600;
            assert_eq!(prepared.costs().minimal_bytes, expected);
        }
    }

    #[test]
    fn a_sample_during_which_measuring_was_set_aside_is_taken_anew() {
        let interruptions = Interruptions::default();
        let backend = SerialBackend::new("one thread".into(), interruptions.clone());
        let problem = problem(3000);
        let one = configured("cpu/csr/serial", Precision::F64);
        let mut prepared = backend.prepare(&one, &problem, MemoryLimit::unlimited()).unwrap();
        let never = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&never);
        let mut sampled = prepared.sample(200, Temperature::Hot, &watch);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut polls = 0;
        let samples = loop {
            polls += 1;
            // As if the page had been hidden between two steps.
            interruptions.tell();
            let polled = std::pin::Pin::new(&mut sampled).poll(&mut context);
            if let std::task::Poll::Ready(samples) = polled {
                break samples.unwrap();
            }
        };
        assert!(samples.len() == 200 && polls > 4, "{polls} polls");
    }

    #[test]
    fn others_kernels_and_flushed_caches_are_left_out_in_a_sentence() {
        let backend = SerialBackend::new("one thread".into(), Interruptions::default());
        let problem = problem(5);
        let reason = |one: &Configuration| {
            let prepared = backend.prepare(one, &problem, MemoryLimit::unlimited());
            prepared.err().unwrap().to_string()
        };
        let threads = configured("cpu/csr/rows", Precision::F64);
        assert_eq!(reason(&threads), "only serial kernels run on one thread");
        let cold = configured("cpu/csr/serial", Precision::F64);
        let cold = Configuration { temperature: Temperature::Cold, ..cold };
        assert_eq!(reason(&cold), "cold-cache runs are not supported here");
    }
}
