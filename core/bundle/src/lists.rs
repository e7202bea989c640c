//! Limits on the length of a bundle's lists that are walked for each of its runs. Each limit is far
//! above what machines and kernels have.

use super::check::run_name;
use crate::{Bundle, BundleError, Limits};
use sparsescope_matrix::order::set;
use sparsescope_record::Subject;

const ENVIRONMENTS: u64 = 4096;
const BANDWIDTHS: u64 = 4096;
const GPUS: u64 = 1024;
const FORMATS: u64 = 256;
const OPERATIONS: u64 = 64;
const DEVICES: u64 = 256;
const SERIES: u64 = 256;
const PHASES: u64 = 256;

impl Bundle {
    /// Skips the first `checked` runs, which were checked before.
    pub(super) fn check_lists(&self, checked: usize) -> Result<(), BundleError> {
        let limits = Limits::default();
        let few =
            |whose: &str, found: usize, what, most| limits.check(whose, found as u64, what, most);
        few("the bundle", self.environments.len(), "environments", ENVIRONMENTS)?;
        for environment in &self.environments {
            let whose = format!("environment `{}`", environment.id);
            few(&whose, environment.bandwidth.len(), "bandwidths", BANDWIDTHS)?;
            few(&whose, environment.gpus.len(), "GPUs", GPUS)?;
        }
        for subject in self.all_subjects() {
            if let Subject::Matrix(record) = subject {
                let whose = format!("matrix `{}`", record.id);
                few(&whose, record.statistics.formats.len(), "formats", FORMATS)?;
            }
        }
        let operations = set(self.runs.iter().map(|run| run.operation.as_str()));
        few("the bundle", operations.len(), "operations", OPERATIONS)?;
        let devices = set(self.runs.iter().map(|run| run.device.as_str()));
        few("the bundle", devices.len(), "devices", DEVICES)?;
        for (index, run) in self.runs.iter().enumerate().skip(checked) {
            let series = run.history.as_ref().map_or(0, |history| history.series.len());
            let phases = run.solve.as_ref().map_or(0, |solve| solve.phases.len());
            if series as u64 > SERIES || phases as u64 > PHASES {
                let whose = run_name(index, run);
                few(&whose, series, "series", SERIES)?;
                few(&whose, phases, "phases", PHASES)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bundle, sample};
    use sparsescope_record::{Gpu, Run};

    #[test]
    fn lists_that_are_gone_through_for_each_run_have_limits() {
        type Change = fn(&mut Bundle);
        let cases: [(Change, &str); 3] = [
            (
                |b| b.environments[1].gpus = vec![Gpu::default(); 1025],
                "environment `b` has 1025 GPUs, more than the limit of 1024",
            ),
            (
                |b| {
                    let formats = &mut b.matrices[0].record.statistics.formats;
                    let first = formats[0].clone();
                    formats.resize(257, first);
                },
                "matrix `five-2fca02e9` has 257 formats, more than the limit of 256",
            ),
            (
                |b| {
                    let of = |k: usize| Run { operation: format!("o{k}"), ..b.runs[0].clone() };
                    b.runs = (0..65).map(of).collect();
                },
                "the bundle has 65 operations, more than the limit of 64",
            ),
        ];
        for (change, expected) in cases {
            let mut bundle = sample::bundle();
            change(&mut bundle);
            assert_eq!(bundle.check_lists(0).unwrap_err().to_string(), expected);
        }
    }
}
