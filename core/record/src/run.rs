//! `runs.json`: every run with its samples, its check and its costs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choice::Choice;
use super::distributed::Distributed;
use super::energy::Energy;
use super::figures::Figures;
use super::history::History;
use super::kernel_source::KernelSource;
use super::metric::{Metric, Work};
use super::predicted::Predicted;
use super::rounding::Rounding;
use super::solve::Solve;
use super::until::Until;

/// `runs.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Every run, in the order of the plan.
    pub runs: Vec<Run>,
}

/// One kernel on one matrix with one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Id of the matrix, or of the other subject in whose folder the run is stored (`subject` there).
    #[serde(alias = "subject")]
    pub matrix: String,
    /// `spmv`, `symgs`, …
    pub operation: String,
    /// Kernel id, e.g. `cpu/csr/nnz`.
    pub kernel: String,
    /// `paper:000` … `paper:004`, `ours`, `vendor`, `user`.
    pub origin: Vec<String>,
    /// The file of a user kernel; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<KernelSource>,
    /// `cpu` or `cuda`.
    pub backend: String,
    /// Model name of the device.
    pub device: String,
    /// Id of the environment.
    pub environment: String,
    /// Requested threads; 1 for a serial kernel.
    pub threads: u32,
    /// Non-empty parts of the work, if there can be fewer than threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// Threads per block, for GPU kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Whether caches were left as the previous execution left them (true) or flushed before each sample.
    pub hot: bool,
    /// `f64`, `f32`, or the formats of matrix and vectors: `f32:f64`, `bf16:f32`, `f16:f32`.
    pub precision: String,
    /// Actual parameters, e.g. `hack_size`, `hyb_width`.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Requested parameters, where they are not the defaults: they tell the run from others of its plan, even
    /// if it was refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, String>,
    /// Result of the check against the reference.
    pub check: Check,
    /// Every timed sample: seconds per execution. Empty unless the check passed.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Executions per sample (short ones are timed in groups and divided).
    #[serde(default)]
    pub repetitions: u32,
    /// Warm-up executions before the first sample.
    #[serde(default)]
    pub warmup: u32,
    /// Costs of preparation.
    #[serde(default)]
    pub costs: Costs,
    /// Figures derived from the samples; absent unless the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// Work of one execution; absent unless the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// The metric by which runs of this operation are compared; absent unless the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// How precisely its median was to be known, if that determined the number of samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Energy of one execution, if it was requested and can be read; absent unless the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Why its energy could not be measured, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_energy: Option<String>,
    /// Whether measuring it was cut short: it has fewer samples than requested or lacks its energy, and a
    /// resumed measurement repeats it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut_short: bool,
    /// What its checked execution recorded step by step. A bundle stores it as an entry of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// How the checked execution of a solver ended, even if it failed its check; absent for other operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solve: Option<Solve>,
    /// How several ranks shared the work; absent if one process on one device did all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distributed: Option<Distributed>,
}

impl Run {
    /// The kernel, and the one that it chose if it picks another: `cpu/spmv/auto: cpu/csr/simd`.
    pub fn kernel_as_run(&self) -> String {
        match &self.costs.choice {
            Some(choice) => format!("{}: {}", self.kernel, choice.kernel),
            None => self.kernel.clone(),
        }
    }

    /// Whether it ran on CPUs, of one process or of several ranks.
    pub fn is_on_cpu(&self) -> bool {
        self.backend == "cpu"
    }

    /// Billions of floating-point operations per second and watt, which is per joule.
    pub fn gflops_per_watt(&self) -> Option<f64> {
        let flops = self.work?.flops;
        let joules = self.energy.as_ref()?.joules;
        (flops > 0 && joules > 0.0).then(|| flops as f64 / joules / 1e9)
    }

    /// The format that its kernel reads: as recorded for a user kernel, otherwise the middle part of the
    /// kernel id.
    pub fn format(&self) -> &str {
        match &self.source {
            Some(source) => source.format(),
            None => self.kernel.split('/').nth(1).unwrap_or_default(),
        }
    }

    /// Whether its result is wrong, or its kernel failed and has none. A solver that did not reach the requested
    /// tolerance has failed its check, too, but reports that itself.
    pub fn has_failed(&self) -> bool {
        let gave_up = self.solve.as_ref().is_some_and(|solve| !solve.converged);
        self.check.verdict == Verdict::Fail && !gave_up
    }

    /// Why the kernel has no result to check, such as a crash: what follows its name in the reason
    /// `KERNEL failed: …`, or the whole reason if that names a kernel that it chose. `None` if a result failed the
    /// check.
    pub fn failure(&self) -> Option<&str> {
        let reason = self.check.reason.as_deref().filter(|_| self.has_failed())?;
        let (kernel, why) = reason.split_once(" failed: ")?;
        match kernel == self.kernel {
            true => Some(why),
            false => (!kernel.contains(' ')).then_some(reason),
        }
    }

    /// The reason of its check, to stand beside the kernel's name.
    pub fn reason(&self) -> Option<&str> {
        self.failure().or(self.check.reason.as_deref())
    }

    /// Whether its times are ranked against others: it passed its check, and a solver met its tolerance after
    /// at least one iteration. Use this to pick a fastest run or a baseline.
    pub fn ranks(&self) -> bool {
        let has_iterated = self.solve.as_ref().is_none_or(|solve| solve.iterations > 0);
        self.check.verdict == Verdict::Pass && !self.check.limited_by_rounding && has_iterated
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// How a run's check ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every row within its bound.
    Pass,
    /// At least one row outside its bound; no timing is kept.
    Fail,
    /// Not run: too large, or an input that the kernel does not accept.
    Refused,
    /// Not run: not possible with this build or on this machine.
    #[default]
    Unsupported,
}

impl Verdict {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
        }
    }
}

/// A run's check against the reference, with its error measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// How it ended.
    pub verdict: Verdict,
    /// One sentence unless it passed; also if it passed limited by rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First row outside its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// Largest difference of a row in units of its bound; ≤ 1 passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// The Tor Vergata paper's s = 1/n Σ δ, δ = |z − y| where at least ε = 1e-10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s_paper: Option<f64>,
    /// ‖z − y‖₂ / ‖y‖₂.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rel_err: Option<f64>,
    /// The error against the result in f64, for runs in fewer bits that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Rounding>,
    /// Program that made the measurement, if not Sparsescope: the run is imported, and its verdict rests on
    /// the `rel_err` that this program recorded or, with the parameter `check=none`, on the mere presence of
    /// a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// For a refused run: it ran, but rounding alone may explain any result, so that no check can tell a
    /// right one from a wrong one. No timing is kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub undecided: bool,
    /// For a run that passed: its residual misses the tolerance, and rounding alone explains that. Its times
    /// are not ranked against those of runs that met the tolerance.
    #[serde(default, skip_serializing_if = "is_false")]
    pub limited_by_rounding: bool,
}

impl Check {
    /// The word used in tables: that of the verdict, or of the flags that qualify it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self { undecided: true, .. } => "undecided",
            Self { limited_by_rounding: true, .. } => "limited by rounding",
            Self { verdict, .. } => verdict.as_str(),
        }
    }

    /// Whether the kernel ran and its result was checked.
    pub fn was_run(&self) -> bool {
        self.undecided || matches!(self.verdict, Verdict::Pass | Verdict::Fail)
    }

    /// Severity: passed, limited by rounding, not run, undecided, failed.
    pub fn badness(&self) -> u8 {
        match self.verdict {
            Verdict::Pass => u8::from(self.limited_by_rounding),
            Verdict::Refused | Verdict::Unsupported => 2 + u8::from(self.undecided),
            Verdict::Fail => 4,
        }
    }

    /// Returns the worse of two checks of one kernel; if both ended the same way, the one with the larger
    /// error.
    pub fn worse(self, other: Self) -> Self {
        let further = other.worst > self.worst;
        let is_other = match other.badness().cmp(&self.badness()) {
            Ordering::Equal => further,
            order => order.is_gt(),
        };
        if is_other { other } else { self }
    }
}

/// Costs of preparing a kernel, apart from the executions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Conversion from CSR.
    pub conversion_s: f64,
    /// Partitioning and other plans.
    pub plan_s: f64,
    /// Bytes of the format's arrays.
    pub format_bytes: u64,
    /// Minimal bytes moved per execution.
    pub minimal_bytes: u64,
    /// Executions after which conversion and plan, as far as they take longer than those of the operation's
    /// reference, have paid off; absent if they never do within [`MOST_AMOUNT`](super::MOST_AMOUNT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_even: Option<f64>,
    /// On a GPU, the latency of an empty launch; only for executions so short that it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// On a GPU, the median time per execution when many are launched as one graph; only for short
    /// executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_s: Option<f64>,
    /// Permuting the vectors into the kernel's order and the result back, once; absent for kernels that work
    /// in the matrix's own order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permute_s: Option<f64>,
    /// On a GPU, uploading the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_s: Option<f64>,
    /// On a GPU, allocating device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocate_s: Option<f64>,
    /// On a GPU, downloading the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_s: Option<f64>,
    /// Cost of reading the clock twice, which is included in every execution that is timed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_s: Option<f64>,
    /// On a GPU, the resources of a multiprocessor that each launch of one execution uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<LaunchCost>,
    /// Chunks of samples that were retaken because the GPU was throttled meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retaken: Option<u32>,
    /// Chunks of samples that were still throttled after all retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u32>,
    /// The layout model's prediction for one execution; absent for kernels without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
    /// The choice of a kernel that picks another; its cost is included in `conversion_s` and `plan_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
}

/// The resources of a multiprocessor that a GPU launch uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchCost {
    /// Name of the kernel function.
    pub function: String,
    /// Registers per thread.
    pub registers: u32,
    /// Shared memory per block, static and dynamic together.
    pub shared_bytes: u64,
    /// Local memory per thread: spilled registers.
    pub local_bytes: u64,
    /// Resident blocks per multiprocessor.
    pub blocks_per_sm: u32,
    /// Threads of these blocks over the maximum of the multiprocessor, 0 to 1.
    pub occupancy: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(verdict: Verdict, undecided: bool, limited_by_rounding: bool) -> Check {
        Check { verdict, undecided, limited_by_rounding, ..Check::default() }
    }

    #[test]
    fn a_failed_check_is_worse_than_an_undecided_a_limited_and_a_passed_one() {
        let order = [
            check(Verdict::Pass, false, false),
            check(Verdict::Pass, false, true),
            check(Verdict::Refused, true, false),
            check(Verdict::Fail, false, false),
        ];
        for (k, better) in order.iter().enumerate() {
            for worse in &order[k..] {
                let worst = Some(if better == worse { 0.5 } else { 0.0 });
                let worse = Check { worst, ..worse.clone() };
                assert_eq!(better.clone().worse(worse.clone()), worse);
                assert_eq!(worse.clone().worse(better.clone()), worse);
            }
        }
        let words = order.map(|check| check.as_str());
        assert_eq!(words, ["pass", "limited by rounding", "undecided", "fail"]);
    }

    #[test]
    fn flops_per_watt_are_flops_per_joule_and_need_both() {
        let energy = Energy { joules: 0.5, ..Energy::default() };
        let work = Work { flops: 3_000_000_000, ..Work::default() };
        let run = Run { energy: Some(energy), work: Some(work), ..Run::default() };
        assert_eq!(run.gflops_per_watt(), Some(6.0));
        assert_eq!(Run { energy: None, ..run.clone() }.gflops_per_watt(), None);
        assert_eq!(Run { work: Some(Work::default()), ..run }.gflops_per_watt(), None);
    }

    #[test]
    fn a_kernel_that_failed_is_told_from_one_whose_result_is_wrong_by_its_reason() {
        let run = |verdict, reason: &str| {
            let check = Check { verdict, reason: Some(reason.to_owned()), ..Check::default() };
            Run { kernel: "user/a/b".to_owned(), check, ..Run::default() }
        };
        let crashed = run(Verdict::Fail, "user/a/b failed: it crashed: signal 11");
        assert_eq!(crashed.failure(), Some("it crashed: signal 11"));
        assert_eq!(crashed.reason(), crashed.failure());
        // The kernel that it chose.
        let chosen = run(Verdict::Fail, "cpu/hll/simd failed: it crashed");
        assert_eq!(chosen.failure(), Some("cpu/hll/simd failed: it crashed"));
        let reason = "3 of 9 rows are wrong, and a check failed: row 4";
        let wrong = run(Verdict::Fail, reason);
        assert_eq!((wrong.failure(), wrong.reason()), (None, Some(reason)));
        assert!(crashed.has_failed() && chosen.has_failed() && wrong.has_failed());
        let refused = run(Verdict::Refused, "user/a/b failed: no memory");
        assert_eq!((refused.failure(), refused.has_failed()), (None, false));
    }

    #[test]
    fn what_is_limited_undecided_or_did_not_iterate_is_not_wrong_and_does_not_rank() {
        let run = |check: Check, iterations: u64| {
            let solve = Solve { converged: true, iterations, ..Solve::default() };
            let run = Run { check, solve: Some(solve), ..Run::default() };
            (run.has_failed(), run.ranks())
        };
        assert_eq!(run(check(Verdict::Pass, false, false), 3), (false, true));
        assert_eq!(run(check(Verdict::Pass, false, false), 0), (false, false));
        assert_eq!(run(check(Verdict::Pass, false, true), 3), (false, false));
        assert_eq!(run(check(Verdict::Refused, true, false), 3), (false, false));
        assert_eq!(run(check(Verdict::Fail, false, false), 3), (true, false));
    }
}
