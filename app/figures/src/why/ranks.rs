//! Explains why a run of several ranks does not scale: waiting for each other.

use std::collections::HashMap;

use sparsescope_core::record::Distributed;

use super::{Reason, percent};
use crate::model::{RunOf, bytes, seconds, significant};

/// A smaller imbalance is ignored.
const BALANCED: f64 = 1.02;

impl RunOf<'_> {
    /// Imbalance, the halo over the speed of the links, and the latency of reductions.
    pub(super) fn shared_by_ranks(&self, shared: &Distributed, median_s: f64) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let imbalance = shared.imbalance();
        if imbalance > BALANCED {
            let most = significant(imbalance);
            let text = format!("the largest rank has {most} times the mean nonzeros");
            reasons.push((1.0 - 1.0 / imbalance, text));
        }
        let iterations = self.run.solve.as_ref().map_or(1, |solve| solve.iterations.max(1)) as f64;
        reasons.extend(halo(shared, median_s / iterations));
        if let (Some(reductions), Some(each_s)) = (shared.reductions, shared.reduction_s) {
            let share = f64::from(reductions) * each_s * iterations / median_s;
            let plural = if reductions == 1 { "" } else { "s" };
            let text = format!(
                "{reductions} reduction{plural} of {} per iteration take {} of its time",
                seconds(each_s),
                percent(share.min(1.0))
            );
            reasons.push((share.min(1.0), text));
        }
        if reasons.iter().all(|(share, _)| *share < super::LEAST) {
            reasons.extend(waiting(shared));
        }
        reasons
    }
}

/// The longest time of any rank for receiving its halo, if links were measured.
fn halo(shared: &Distributed, product_s: f64) -> Option<Reason> {
    let mut received = vec![(0.0, 0_u64); shared.ranks.len()];
    let mut links = HashMap::new();
    for link in &shared.links {
        links.entry((link.from, link.to)).or_insert(link);
    }
    for pair in &shared.pairs {
        // A measurement in the other direction uses the same wire.
        let link = links.get(&(pair.from, pair.to)).or_else(|| links.get(&(pair.to, pair.from)))?;
        let latency_s = f64::from(pair.messages) * link.latency_s.unwrap_or_default();
        if let Some((seconds, bytes)) = received.get_mut(pair.to as usize) {
            *seconds += pair.bytes as f64 / link.bandwidth + latency_s;
            *bytes = bytes.saturating_add(pair.bytes);
        }
    }
    let (halo_s, halo) = received.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let share = halo_s / product_s;
    let text = format!(
        "the links need {} for the {} that a rank receives, {} of its time unless overlapped",
        seconds(halo_s),
        bytes(halo),
        percent(share.min(1.0))
    );
    (share.is_finite() && halo > 0).then_some((share.min(1.0), text))
}

/// The mean waiting time of ranks, if no other measurement explains it.
fn waiting(shared: &Distributed) -> Option<Reason> {
    let sum = |of: fn(&sparsescope_core::record::RankShare) -> f64| -> f64 {
        shared.ranks.iter().map(of).sum()
    };
    let waiting = sum(|rank| rank.waiting_s);
    let share = waiting / (waiting + sum(|rank| rank.computing_s) + sum(|rank| rank.packing_s));
    let text = format!("its ranks wait for each other {} of the time", percent(share));
    share.is_finite().then_some((share, text))
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Link, PairTraffic, RankShare, Solve};

    use super::*;
    use crate::state::Filter;
    use crate::why::tests::{model, run};

    /// Two ranks with these nonzeros, which wait for this long and send each other 1 MB.
    fn shared(entries: [u64; 2], waiting_s: f64) -> Distributed {
        let rank = |entries| RankShare {
            rows: 50_000,
            entries,
            computing_s: 1e-3 - waiting_s,
            waiting_s,
            ..RankShare::default()
        };
        let pair = |from, to| PairTraffic { from, to, bytes: 1_000_000, messages: 1 };
        Distributed {
            transport: "mpi".into(),
            partition: "entries".into(),
            threads: 1,
            ranks: entries.map(rank).to_vec(),
            pairs: vec![pair(0, 1), pair(1, 0)],
            ..Distributed::default()
        }
    }

    /// Explains an SpMV of 1 ms, or a solve with this number of iterations.
    fn why(shared: Distributed, iterations: Option<u64>) -> String {
        let (mut run, statistics, environment) = run("cpu/csr/serial");
        run.distributed = Some(shared);
        run.solve = iterations.map(|iterations| Solve {
            iterations,
            converged: true,
            ended: "converged".into(),
            ..Solve::default()
        });
        let model = model(vec![run], statistics, environment);
        let all = model.runs(&Filter::default());
        all.first().map(RunOf::why).unwrap_or_default()
    }

    #[test]
    fn a_rank_with_most_of_the_entries_is_named() {
        let sentence = why(shared([600_000, 200_000], 0.0), None);
        assert!(
            sentence.contains("the largest rank has 1.50 times the mean nonzeros"),
            "{sentence}"
        );
    }

    #[test]
    fn the_halo_is_held_against_the_speed_of_the_links() {
        let mut slow = shared([400_000; 2], 0.0);
        // 1 MB at 2 GB/s is 500 us, half of 1 ms; a link measured in one direction counts for both.
        slow.links = vec![Link { from: 0, to: 1, bandwidth: 2e9, latency_s: None }];
        let sentence = why(slow.clone(), None);
        let expected = "the links need 500 µs for the 1 MB that a rank receives, 50 % of its time";
        assert!(sentence.contains(expected), "{sentence}");
        assert!(!sentence.contains("largest"), "{sentence}");
        slow.links[0].bandwidth = 200e9;
        assert!(!why(slow, None).contains("links"));
    }

    #[test]
    fn reductions_are_counted_by_iteration_and_waiting_is_told_where_nothing_explains_it() {
        let mut reduced = shared([400_000; 2], 0.0);
        (reduced.reductions, reduced.reduction_s) = (Some(2), Some(2e-5));
        // 10 iterations of 100 us, 2 reductions of 20 us each: 40 %.
        let sentence = why(reduced, Some(10));
        let expected = "2 reductions of 20 µs per iteration take 40 % of its time";
        assert!(sentence.contains(expected), "{sentence}");
        let sentence = why(shared([400_000; 2], 3e-4), None);
        assert!(sentence.contains("its ranks wait for each other 30 % of the time"), "{sentence}");
    }
}
