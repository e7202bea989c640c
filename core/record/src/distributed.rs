//! How several ranks (processes, or GPUs of one process) shared the work of a run.

use serde::{Deserialize, Serialize};

/// Several ranks at one execution. Times are per execution, averaged over the timed ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distributed {
    /// How the halo is exchanged: `mpi`, `nccl`.
    pub transport: String,
    /// How the rows were distributed: `entries` (about equal nonzeros), `rows`, `file`.
    pub partition: String,
    /// Threads per rank; the run's `threads` are those of all ranks together.
    pub threads: u32,
    /// What each rank has and does, in rank order.
    pub ranks: Vec<RankShare>,
    /// Elements of x sent before one SpMV, or in one iteration of a solver, by pair of ranks; pairs that
    /// exchange nothing are omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairTraffic>,
    /// Seconds to build the exchange plan, once per matrix, on the slowest rank.
    pub plan_s: f64,
    /// Reductions over all ranks per iteration of a solver; absent for SpMV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reductions: Option<u32>,
    /// Seconds per reduction of one number over all ranks, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction_s: Option<f64>,
    /// Measurements between pairs of ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A rank's share of a matrix, and what it does in one execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankShare {
    /// Index of the host among those of the run, from 0: ranks of one host share its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<u32>,
    /// Its first row, in the numbering of the whole matrix.
    pub first_row: u64,
    /// Rows.
    pub rows: u64,
    /// Rows that need no element of x from another rank.
    pub interior_rows: u64,
    /// Nonzeros.
    pub entries: u64,
    /// Columns owned by other ranks: elements of x that it receives.
    pub halo: u64,
    /// Seconds of SpMV and, in a solver, of all other arithmetic.
    pub computing_s: f64,
    /// Seconds spent packing what is sent.
    pub packing_s: f64,
    /// Seconds in which it only waits for the others.
    pub waiting_s: f64,
}

/// What one rank sends to another before one SpMV, or in one iteration of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTraffic {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Bytes.
    pub bytes: u64,
    /// Messages.
    pub messages: u32,
}

/// Measurements from one rank to another while nothing else was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Bytes per second for large messages.
    pub bandwidth: f64,
    /// Seconds of the smallest message, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<f64>,
}

impl Distributed {
    /// Nonzeros of the rank with the most over the mean of all ranks; 1 is balanced, and also returned
    /// without nonzeros.
    pub fn imbalance(&self) -> f64 {
        let entries = || self.ranks.iter().map(|rank| rank.entries as f64);
        let (most, total) = (entries().fold(0.0, f64::max), entries().sum::<f64>());
        if total > 0.0 { most * self.ranks.len() as f64 / total } else { 1.0 }
    }

    /// Bytes sent by all ranks before one SpMV, or in one iteration.
    pub fn bytes(&self) -> u64 {
        self.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.bytes))
    }

    /// Messages sent by all ranks before one SpMV, or in one iteration.
    pub fn messages(&self) -> u64 {
        self.pairs.iter().map(|pair| u64::from(pair.messages)).sum()
    }

    /// The recorded times in seconds, by their names in files.
    #[doc(hidden)]
    pub fn times(&self) -> impl Iterator<Item = (&'static str, f64)> {
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

    /// The end of a sentence that describes a nonexistent rank, or more of something than is possible; `None`
    /// if all is consistent.
    #[doc(hidden)]
    pub fn problem(&self) -> Option<&'static str> {
        let ranks = self.ranks.len();
        let is_pair =
            |from: u32, to: u32| from != to && (from as usize) < ranks && (to as usize) < ranks;
        let pairs = self.pairs.iter().all(|pair| is_pair(pair.from, pair.to));
        let links = self.links.iter().all(|link| is_pair(link.from, link.to));
        if ranks == 0 {
            return Some("is a run on several ranks but lists none");
        }
        if !pairs || !links {
            return Some("has messages between ranks that it does not list");
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
