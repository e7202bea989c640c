//! Sampling of prepared runs, in rounds in which they take turns.

use web_time::Instant;

use super::progress::Progress;
use super::{Ending, Ready, Runner, Start, failed};
use crate::experiment::agreement::OwnFailure;
use crate::experiment::configuration::Temperature;
use crate::experiment::plan::MedianGoal;
use crate::experiment::timing::WARM_BY_ITSELF_S;
use sparsescope_matrix::pace::set_down;
use sparsescope_record::{Until, Verdict};

/// Number of rounds in which runs of different kernels interleave, so that drift of the machine affects all
/// of them equally.
pub(super) const ROUNDS: usize = 5;

/// Samples per round when runs are sampled until their medians are known.
const UNTIL_ROUND: usize = 5;

/// Interval in seconds between checks of the cancel flag, unless a single sample takes longer.
pub(super) const BETWEEN_LOOKS_S: f64 = 0.1;

/// What to do with samples.
#[derive(Clone, Copy)]
enum Taken {
    /// Count and discard them.
    WarmUp,
    /// Keep them.
    Samples,
    /// Keep them, and stop once the run has been sampled for this many seconds.
    Within(f64),
}

impl Runner<'_> {
    /// Warms up, then takes the samples round by round.
    pub(super) async fn sample(
        &self,
        starts: &mut [Start<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<Ending, OwnFailure> {
        let warm_up = |one: &Ready<'_>| match one.pace > WARM_BY_ITSELF_S {
            true => 0,
            false => self.settings.warmup,
        };
        let mut ready: Vec<&mut Ready<'_>> = starts
            .iter_mut()
            .filter_map(|start| match start {
                Start::Ready(one) => Some(&mut **one),
                _ => None,
            })
            .collect();
        for one in &mut ready {
            let n = warm_up(one);
            if self.take(one, n, Taken::WarmUp, progress).await? == Ending::Cancelled {
                return Ok(Ending::Cancelled);
            }
        }
        if let Some(goal) = self.settings.until {
            return self.sample_until(goal, ready, progress).await;
        }
        for round in 1..=ROUNDS {
            for one in &mut ready {
                // The rounds share the samples evenly.
                let rounds = ROUNDS.min(one.samples);
                let n = match round > rounds {
                    true => 0,
                    false => one.samples * round / rounds - one.samples * (round - 1) / rounds,
                };
                if self.take(one, n, Taken::Samples, progress).await? == Ending::Cancelled {
                    return Ok(Ending::Cancelled);
                }
            }
        }
        Ok(Ending::Complete)
    }

    /// Samples in rounds until the median of each run is as precise as required. Runs leave only at the end
    /// of a round; the others keep taking turns.
    async fn sample_until(
        &self,
        goal: MedianGoal,
        mut ready: Vec<&mut Ready<'_>>,
        progress: &mut Progress<'_>,
    ) -> Result<Ending, OwnFailure> {
        while !ready.is_empty() {
            for one in &mut ready {
                let n = UNTIL_ROUND.min(one.samples.saturating_sub(one.run.samples.len()));
                let taken = Taken::Within(goal.at_most_s);
                if self.take(one, n, taken, progress).await? == Ending::Cancelled {
                    return Ok(Ending::Cancelled);
                }
            }
            ready.retain_mut(|one| {
                let taken = one.run.samples.len();
                let stays = one.run.check.verdict == Verdict::Pass
                    && taken < one.samples
                    && one.spent < goal.at_most_s
                    && !Until::of(goal.share, goal.at_most_s, &one.run.samples).met;
                if !stays {
                    progress.done += one.samples.saturating_sub(taken);
                    one.samples = taken;
                }
                stays
            });
        }
        Ok(Ending::Complete)
    }

    /// Takes `n` samples of a run, unless it fails.
    async fn take(
        &self,
        one: &mut Ready<'_>,
        n: usize,
        taken: Taken,
        progress: &mut Progress<'_>,
    ) -> Result<Ending, OwnFailure> {
        progress.tell(one.configuration.kernel.id);
        let mut left = n;
        let is_over = |one: &Ready<'_>| matches!(taken, Taken::Within(most) if one.spent >= most);
        while left > 0 && one.run.check.verdict == Verdict::Pass && !is_over(one) {
            if self.cancelled() {
                return Ok(Ending::Cancelled);
            }
            let temperature = one.configuration.temperature;
            let chunk = chunk(left, temperature, one.pace);
            let start = Instant::now();
            let sampled = {
                let told = progress.telling();
                let tell = |share| told.tell(share);
                one.prepared.sample(chunk, temperature, &self.watch(&tell)).await
            };
            let elapsed = start.elapsed().as_secs_f64();
            let sampled = self.together(&*one.prepared, sampled)?;
            let seconds = self.agreement.max(elapsed);
            one.pace = seconds / chunk as f64;
            match sampled {
                Ok(mut samples) => {
                    samples.truncate(self.agreement.min(samples.len() as u64) as usize);
                    left -= chunk;
                    progress.done += samples.len();
                    match taken {
                        Taken::WarmUp => one.run.warmup += samples.len() as u32,
                        Taken::Samples | Taken::Within(_) => {
                            one.spent += seconds;
                            let slowest = |sample| self.agreement.max(sample);
                            one.run.samples.extend(samples.into_iter().map(slowest));
                        }
                    }
                }
                Err(reason) => one.run.check = failed(reason),
            }
            set_down().await;
        }
        if !matches!(taken, Taken::Within(_)) {
            progress.done += left;
        }
        if one.run.check.verdict == Verdict::Pass && !one.run.samples.is_empty() {
            progress.observer.sampled(&one.run, &one.work);
        }
        Ok(Ending::Complete)
    }
}

/// Number of samples, of `n`, to take before the next check of the cancel flag, at `pace` seconds per sample:
/// one when cold; as many as possible when hot, since they share one untimed execution.
pub(super) fn chunk(n: usize, temperature: Temperature, pace: f64) -> usize {
    // A sample of many short executions takes longer than the one execution that gave the first pace.
    const QUICKEST_S: f64 = 1e-4;
    match temperature {
        Temperature::Hot => ((BETWEEN_LOOKS_S / pace.max(QUICKEST_S)) as usize).clamp(1, n.max(1)),
        Temperature::Cold => 1,
    }
}
