//! Bandwidth of each pair of GPUs, measured the way SpMVs send their halos.

use super::rank::Rank;
use super::team::Team;
use crate::buffer::Buffer;
use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::launch::{Step, enqueue};
use crate::nccl::Passage;

/// Bytes per message.
const BYTES: usize = 256 << 20;

/// Number of passes; the best one counts.
const PASSES: usize = 6;

/// A connection from one GPU to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairBandwidth {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Bytes per second, best of several passes.
    pub(crate) rate: f64,
    /// Seconds of sending one number, best of several passes.
    pub(crate) latency_s: f64,
}

impl PairBandwidth {
    /// As shown in the machine's details.
    pub(crate) fn told(&self) -> [(String, String); 2] {
        let Self { from, to, rate, latency_s } = self;
        let name = |what: &str| format!("gpu_{from}_to_{to}_{what}");
        let (rate, latency) = (format!("{rate:.0}"), format!("{latency_s:e}"));
        [(name("bytes_per_second"), rate), (name("latency_seconds"), latency)]
    }
}

/// Measures all pairs in each direction. `most` returns the maximum of a number over all processes;
/// with one process, its own.
pub(crate) fn pairs(
    team: &Team,
    most: &dyn Fn(f64) -> f64,
) -> Result<Vec<PairBandwidth>, DeviceError> {
    let ranks = team.ranks();
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    let mut all = Vec::new();
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let rate = BYTES as f64 / best(team, (from, to), BYTES / size_of::<f64>(), most)?;
        let latency_s = to_picoseconds(best(team, (from, to), 1, most)?);
        all.push(PairBandwidth { from, to, rate, latency_s });
    }
    Ok(all)
}

/// Seconds of sending this many numbers; the longer time of both sides, best of several passes.
fn best(
    team: &Team,
    (from, to): (usize, usize),
    count: usize,
    most: &dyn Fn(f64) -> f64,
) -> Result<f64, DeviceError> {
    let of_all = team.jointly(move |rank| {
        let device = rank.device();
        let mine = rank.number();
        let numbers = if mine == from || mine == to { count } else { 0 };
        let array = Buffer::<f64>::unset(device, "a bandwidth test array", numbers)?;
        enqueue(device, &[Step::zero(&array)])?;
        rank.finish()?;
        let one = |peer| vec![Passage { peer, elements: array.clone() }];
        let (sends, receives) = match mine {
            mine if mine == from => (one(to), Vec::new()),
            mine if mine == to => (Vec::new(), one(from)),
            _ => (Vec::new(), Vec::new()),
        };
        let pass = |_| send(rank, &sends, &receives);
        // The first one connects the two.
        (0..=PASSES).map(pass).collect::<Result<Vec<f64>, _>>()
    })?;
    let passes = (1..=PASSES).map(|pass| {
        let of_pass = of_all.iter().filter_map(|times| times.get(pass));
        most(of_pass.copied().fold(0.0, f64::max))
    });
    Ok(passes.fold(f64::INFINITY, f64::min))
}

fn send(rank: &Rank, sends: &[Passage], receives: &[Passage]) -> Result<f64, DeviceError> {
    rank.time(|| match sends.is_empty() && receives.is_empty() {
        true => Ok(()),
        false => rank.lane().communicator.exchange(rank.device(), sends, receives),
    })
}
