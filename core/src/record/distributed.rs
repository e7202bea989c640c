//! What a run of several ranks (processes, or GPUs of one process) tells of how they shared the work.

use serde::{Deserialize, Serialize};

/// Several ranks at one execution. Times are those of one execution, the mean of the timed ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distributed {
    /// What the halo travels by: `mpi`, `nccl`.
    pub transport: String,
    /// How the rows were shared out: `entries` (about equal entries), `rows`, `file`.
    pub partition: String,
    /// Threads of each rank; the run's `threads` are those of all ranks together.
    pub threads: u32,
    /// What each rank has and does, in the order of the ranks.
    pub ranks: Vec<RankShare>,
    /// Elements of x sent before one product, or in one iteration of a solver, by pair of ranks, those that exchange nothing left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairTraffic>,
    /// Seconds that making the exchange plan took, once for a matrix, on the slowest rank.
    pub plan_s: f64,
    /// Reductions over all ranks in one iteration of a solver; none in a product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reductions: Option<u32>,
    /// Seconds of one reduction of a number over all ranks, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction_s: Option<f64>,
    /// What was measured between pairs of ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A rank's part of a matrix, and what it does in one execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankShare {
    /// Number of the host among those of the run, from 0: ranks of one host share its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<u32>,
    /// First of its rows, as the whole matrix numbers them.
    pub first_row: u64,
    /// Rows.
    pub rows: u64,
    /// Rows that need no element of x of another rank.
    pub interior_rows: u64,
    /// Entries.
    pub entries: u64,
    /// Columns that other ranks own: elements of x that it receives.
    pub halo: u64,
    /// Seconds multiplying, and in a solver all other arithmetic.
    pub computing_s: f64,
    /// Seconds gathering what is sent.
    pub packing_s: f64,
    /// Seconds in which it does nothing but wait for the others.
    pub waiting_s: f64,
}

/// What one rank sends another before one product, or in one iteration of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTraffic {
    /// Who sends.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// Bytes.
    pub bytes: u64,
    /// Messages.
    pub messages: u32,
}

/// What was measured from one rank to another while nothing else was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Who sends.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// Bytes per second of large messages.
    pub bandwidth: f64,
    /// Seconds of the smallest message, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<f64>,
}

impl Distributed {
    /// Entries of the rank with the most over the mean of all ranks; 1 is balanced, also where there are none.
    pub fn imbalance(&self) -> f64 {
        let entries = || self.ranks.iter().map(|rank| rank.entries as f64);
        let (most, total) = (entries().fold(0.0, f64::max), entries().sum::<f64>());
        if total > 0.0 { most * self.ranks.len() as f64 / total } else { 1.0 }
    }

    /// Bytes that all ranks send before one product, or in one iteration.
    pub fn bytes(&self) -> u64 {
        self.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.bytes))
    }

    /// Messages of all ranks before one product, or in one iteration.
    pub fn messages(&self) -> u64 {
        self.pairs.iter().map(|pair| u64::from(pair.messages)).sum()
    }

    /// Seconds that it tells, by their names in files.
    pub(crate) fn times(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let of_ranks = self.ranks.iter().flat_map(|rank| {
            [
                ("distributed.ranks.computing_s", rank.computing_s),
                ("distributed.ranks.packing_s", rank.packing_s),
                ("distributed.ranks.waiting_s", rank.waiting_s),
            ]
        });
        let latencies = self.links.iter().filter_map(|link| link.latency_s);
        of_ranks
            .chain([("distributed.plan_s", self.plan_s)])
            .chain(self.reduction_s.map(|seconds| ("distributed.reduction_s", seconds)))
            .chain(latencies.map(|seconds| ("distributed.links.latency_s", seconds)))
    }

    /// A sentence's end when it tells of ranks that there are not, or of more of something than there can be.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let ranks = self.ranks.len();
        let is_pair =
            |from: u32, to: u32| from != to && (from as usize) < ranks && (to as usize) < ranks;
        let pairs = self.pairs.iter().all(|pair| is_pair(pair.from, pair.to));
        let links = self.links.iter().all(|link| is_pair(link.from, link.to));
        if ranks == 0 {
            return Some("is of several ranks and has none");
        }
        if !pairs || !links {
            return Some("tells of messages between ranks that it does not have");
        }
        let within = |rank: &RankShare| rank.interior_rows <= rank.rows;
        (!self.ranks.iter().all(within)).then_some("has a rank with more interior rows than rows")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[u64]) -> Distributed {
        let rank = |&entries: &u64| RankShare { rows: 1, entries, ..RankShare::default() };
        Distributed { ranks: entries.iter().map(rank).collect(), ..Distributed::default() }
    }

    #[test]
    fn imbalance_is_the_most_over_the_mean() {
        assert_eq!(of(&[30, 10, 20]).imbalance(), 1.5);
        assert_eq!(
            (of(&[7, 7]).imbalance(), of(&[0, 0]).imbalance(), of(&[]).imbalance()),
            (1.0, 1.0, 1.0)
        );
    }

    #[test]
    fn what_all_ranks_send_is_summed_and_cannot_overflow() {
        let pair = |from, to, bytes| PairTraffic { from, to, bytes, messages: 2 };
        let pairs = vec![pair(0, 1, 80), pair(1, 0, 8)];
        let run = Distributed { pairs, ..of(&[1, 1]) };
        assert_eq!((run.bytes(), run.messages(), run.problem()), (88, 4, None));
        let huge = Distributed { pairs: vec![pair(0, 1, u64::MAX); 2], ..of(&[1, 1]) };
        assert_eq!(huge.bytes(), u64::MAX);
    }

    #[test]
    fn ranks_that_there_are_not_are_found() {
        let pair = |from, to| PairTraffic { from, to, bytes: 8, messages: 1 };
        for pairs in [vec![pair(0, 2)], vec![pair(1, 1)]] {
            assert!(Distributed { pairs, ..of(&[1, 1]) }.problem().is_some());
        }
        let links = vec![Link { from: 3, to: 0, ..Link::default() }];
        assert!(Distributed { links, ..of(&[1, 1]) }.problem().is_some());
        assert!(of(&[]).problem().is_some());
        let mut wide = of(&[1]);
        wide.ranks[0].interior_rows = 2;
        assert!(wide.problem().is_some());
    }
}
