//! The skyline (Pareto front) of a set of points as a problem: the points, and the certificate that results
//! are checked against.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use sparsescope_kernels::gate::{Certificate, same_set};
use sparsescope_kernels::skyline::{Found, PointsPicture, serial};
use sparsescope_matrix::matrix::Points;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::parallel::lock;
use sparsescope_record::{Check, Operation, Verdict, Work};

/// The serial kernel confirms results on sets of at most this many points.
const SERIAL_POINTS: usize = 20_000;

/// N points, whose skyline is computed: those not dominated by any other.
#[derive(Debug)]
pub struct SkylineProblem {
    points: Arc<Points>,
    /// Certificate of the first result that earned one.
    certificate: Mutex<Option<Arc<Certificate>>>,
}

impl SkylineProblem {
    /// The problem of these points; larger coordinates are better.
    pub fn new(points: Arc<Points>) -> Self {
        Self { points, certificate: Mutex::default() }
    }

    /// The points.
    pub fn points(&self) -> &Arc<Points> {
        &self.points
    }

    /// Proof that the result is the skyline; `None` until a result has passed its check.
    pub fn certificate(&self) -> Option<Arc<Certificate>> {
        lock(&self.certificate).clone()
    }

    fn certified(&self, found: &Found) -> Result<Certificate, String> {
        let points = self.points.view();
        if points.len() <= SERIAL_POINTS {
            let expected = serial(points, MemoryLimit::of_machine(), &|| false);
            let expected = expected.map_err(|error| error.to_string())?.unwrap_or_default();
            if let Some(reason) = same_set(&expected.indices, &found.indices).reason {
                return Err(reason);
            }
        }
        Certificate::of(points, &found.indices, &AtomicBool::new(false))
    }
}

impl Problem for SkylineProblem {
    fn operation(&self) -> Operation {
        Operation::Skyline
    }

    fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    fn resident(&self, configuration: &Configuration, _: MemoryLimit) -> Vec<Resident> {
        vec![Resident::own("skyline points", configuration, self.points.bytes())]
    }

    /// Certifies the first result and compares every other with it.
    fn compare(&self, _: &Configuration, output: &Output) -> Option<Check> {
        let Output::Points(found) = output else { return None };
        if let Some(certificate) = self.certificate() {
            return Some(same_set(certificate.indices(), &found.indices));
        }
        Some(match self.certified(found) {
            Ok(certificate) => {
                let check = same_set(certificate.indices(), &found.indices);
                *lock(&self.certificate) = Some(Arc::new(certificate));
                check
            }
            Err(reason) => {
                Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() }
            }
        })
    }

    fn work(&self, output: &Output) -> Work {
        let comparisons = match output {
            Output::Points(found) => found.comparisons,
            _ => 0,
        };
        Work { comparisons, ..Work::default() }
    }

    /// The files of a plot of the points, with densities limited to `budget` bytes after deflate; none until
    /// a result has been certified.
    fn files(&self, budget: u64) -> BTreeMap<String, Vec<u8>> {
        let Some(certificate) = self.certificate().filter(|_| budget > 0) else {
            return BTreeMap::new();
        };
        PointsPicture::of(self.points.view(), certificate.dominators()).to_files(budget)
    }
}
