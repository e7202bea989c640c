//! Taking samples of runs that are ready, in rounds in which all of them take turns.

use web_time::Instant;

use super::progress::Progress;
use super::{Ending, Ready, Runner, Start, WARM_BY_ITSELF_S, failed};
use crate::experiment::configuration::Temperature;
use crate::experiment::plan::MedianGoal;
use crate::experiment::task::Watch;
use crate::pace::set_down;
use crate::record::{Until, Verdict};

/// Runs of different kernels interleave in this many rounds, so that drift of the machine hits
/// all of them alike.
pub(super) const ROUNDS: usize = 5;

/// Samples of each round when runs are sampled until their medians are known.
const UNTIL_ROUND: usize = 5;

/// The cancel flag is looked at this often, unless one sample alone takes longer.
pub(super) const BETWEEN_LOOKS_S: f64 = 0.1;

/// What is done with samples that are taken.
#[derive(Clone, Copy)]
enum Taken {
    /// They are counted and forgotten.
    WarmUp,
    /// They are kept.
    Samples,
    /// They are kept, and no more are taken once the run has been sampled for so many seconds.
    Within(f64),
}

impl Runner<'_> {
    /// Warms up, then takes the samples round by round.
    pub(super) async fn sample(
        &self,
        starts: &mut [Start<'_>],
        progress: &mut Progress<'_>,
    ) -> Ending {
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
            if self.take(one, n, Taken::WarmUp, progress).await == Ending::Cancelled {
                return Ending::Cancelled;
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
                if self.take(one, n, Taken::Samples, progress).await == Ending::Cancelled {
                    return Ending::Cancelled;
                }
            }
        }
        Ending::Complete
    }

    /// Takes samples in rounds until the median of each run is known as well as is asked. Only after
    /// a round is it looked which runs leave, the rest keep taking turns.
    async fn sample_until(
        &self,
        goal: MedianGoal,
        mut ready: Vec<&mut Ready<'_>>,
        progress: &mut Progress<'_>,
    ) -> Ending {
        while !ready.is_empty() {
            for one in &mut ready {
                let n = UNTIL_ROUND.min(one.samples.saturating_sub(one.run.samples.len()));
                let taken = Taken::Within(goal.at_most_s);
                if self.take(one, n, taken, progress).await == Ending::Cancelled {
                    return Ending::Cancelled;
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
        Ending::Complete
    }

    /// Takes `n` samples of a run, unless it fails.
    async fn take(
        &self,
        one: &mut Ready<'_>,
        n: usize,
        taken: Taken,
        progress: &mut Progress<'_>,
    ) -> Ending {
        progress.tell(one.configuration.kernel.id);
        let mut left = n;
        let is_over = |one: &Ready<'_>| matches!(taken, Taken::Within(most) if one.spent >= most);
        while left > 0 && one.run.check.verdict == Verdict::Pass && !is_over(one) {
            if self.cancelled() {
                return Ending::Cancelled;
            }
            let temperature = one.configuration.temperature;
            let chunk = chunk(left, temperature, one.pace);
            let start = Instant::now();
            let sampled = {
                let told = progress.telling();
                let tell = |share| told.tell(share);
                one.prepared.sample(chunk, temperature, &Watch::new(self.cancel, &tell)).await
            };
            let seconds = start.elapsed().as_secs_f64();
            one.pace = seconds / chunk as f64;
            match sampled {
                Ok(samples) => {
                    left -= chunk;
                    progress.done += samples.len();
                    match taken {
                        Taken::WarmUp => one.run.warmup += samples.len() as u32,
                        Taken::Samples | Taken::Within(_) => {
                            one.spent += seconds;
                            one.run.samples.extend(samples);
                        }
                    }
                }
                Err(error) => one.run.check = failed(&error),
            }
            set_down().await;
        }
        if !matches!(taken, Taken::Within(_)) {
            progress.done += left;
        }
        Ending::Complete
    }
}

/// Of `n` samples, those taken before the next look at the cancel flag, at a pace of so many seconds
/// a sample: one when cold; as many as possible when hot, since they come after one untimed product.
pub(super) fn chunk(n: usize, temperature: Temperature, pace: f64) -> usize {
    // A sample of many quick products takes longer than the one product that gave the first pace.
    const QUICKEST_S: f64 = 1e-4;
    match temperature {
        Temperature::Hot => ((BETWEEN_LOOKS_S / pace.max(QUICKEST_S)) as usize).clamp(1, n.max(1)),
        Temperature::Cold => 1,
    }
}
