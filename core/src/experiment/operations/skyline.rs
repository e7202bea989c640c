//! The skyline of a set of points as a problem: the points, and the certificate that results are held
//! against.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::resident::Resident;
use crate::gate::{Certificate, same_set};
use crate::matrix::Points;
use crate::memory::MemoryLimit;
use crate::parallel::lock;
use crate::record::{Check, Verdict, Work};
use crate::skyline::{Found, PointsPicture, serial};

/// Sets of at most so many points are decided by the serial kernel, too, before a result is believed.
const SERIAL_POINTS: usize = 20_000;

/// N points, of which those are kept that no other dominates.
#[derive(Debug)]
pub struct SkylineProblem {
    points: Arc<Points>,
    /// Of the first result that earned one.
    certificate: Mutex<Option<Arc<Certificate>>>,
}

impl SkylineProblem {
    /// Of these points, larger coordinates being better.
    pub fn new(points: Arc<Points>) -> Self {
        Self { points, certificate: Mutex::default() }
    }

    /// The points.
    pub fn points(&self) -> &Arc<Points> {
        &self.points
    }

    /// What shows that the points kept are the skyline; none before a result has been checked and
    /// passed.
    pub fn certificate(&self) -> Option<Arc<Certificate>> {
        lock(&self.certificate).clone()
    }

    /// The files of a picture of the points, its densities within `budget` bytes once deflated; none
    /// before a result has been certified.
    pub(in crate::experiment) fn files(&self, budget: u64) -> BTreeMap<String, Vec<u8>> {
        let Some(certificate) = self.certificate().filter(|_| budget > 0) else {
            return BTreeMap::new();
        };
        PointsPicture::of(self.points.view(), certificate.dominators()).to_files(budget)
    }

    pub(in crate::experiment) fn resident(&self, configuration: &Configuration) -> Vec<Resident> {
        let name = format!("what {} keeps of the points", configuration.kernel.id);
        vec![Resident { name, bytes: self.points.bytes() }]
    }

    /// The first result is certified, and every other compared with it.
    pub(in crate::experiment) fn check(&self, output: &Output) -> Option<Check> {
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

    pub(in crate::experiment) fn work(&self, output: &Output) -> Work {
        let comparisons = match output {
            Output::Points(found) => found.comparisons,
            Output::Vector(_) | Output::Single(_) | Output::Solution(_) | Output::Systems(_) => 0,
        };
        Work { comparisons, ..Work::default() }
    }
}
