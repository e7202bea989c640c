//! Time of messages between pairs of ranks, and of reductions, without other traffic.

use std::collections::BTreeMap;
use std::time::Instant;

use rsmpi::traits::{Communicator, Destination, Source};

use super::reduction::{Reduction, WIDTH};
use super::world::World;
use sparsescope_record::{Link, PairTraffic};

/// Message size of the bandwidth measurement, in bytes.
const LARGE: usize = 4 << 20;
/// Maximum seconds to measure a pair with messages of one size; ranks that share cores are slow.
const LONGEST_S: f64 = 0.02;
/// Maximum round trips, of small and of large messages.
const SMALL_TURNS: usize = 100;
const LARGE_TURNS: usize = 5;
/// Maximum pairs to measure.
const MOST_PAIRS: usize = 256;

/// Latency and bandwidth of these pairs, assumed equal in both directions, measured one pair after another;
/// only the first 256 pairs are measured. Every rank has the result.
pub(super) fn measured(world: &World, pairs: &[(u32, u32)]) -> Vec<Link> {
    let mut links = Vec::new();
    for &(from, to) in pairs.iter().take(MOST_PAIRS) {
        world.barrier();
        let own = world.rank() as u32;
        let (mut latency, mut bandwidth) = (0.0, 0.0);
        if own == from {
            latency = turns(world, to, true, 8, SMALL_TURNS);
            bandwidth = LARGE as f64 / turns(world, to, true, LARGE, LARGE_TURNS);
        } else if own == to {
            turns(world, from, false, 8, SMALL_TURNS);
            turns(world, from, false, LARGE, LARGE_TURNS);
        }
        let (latency_s, bandwidth) = (Some(world.max(latency)), world.max(bandwidth));
        links.push(Link { from, to, bandwidth, latency_s });
        links.push(Link { from: to, to: from, bandwidth, latency_s });
    }
    links
}

/// Sends messages of `bytes` back and forth, at most `most` times; returns half the median round trip in
/// seconds. The rank that begins sends the other the number of round trips.
fn turns(world: &World, peer: u32, begins: bool, bytes: usize, most: usize) -> f64 {
    let peer = world.communicator().process_at_rank(peer as i32);
    let mut message = vec![0u8; bytes];
    let mut turn = || {
        let start = Instant::now();
        if begins {
            peer.send(&message[..]);
            peer.receive_into(&mut message[..]);
        } else {
            peer.receive_into(&mut message[..]);
            peer.send(&message[..]);
        }
        start.elapsed().as_secs_f64()
    };
    // The first round trip sets up connections.
    turn();
    let one = turn();
    let count = match begins {
        true => {
            let count = often(one, most);
            peer.send(&(count as u64));
            count
        }
        false => peer.receive::<u64>().0 as usize,
    };
    median((0..count).map(|_| turn() / 2.0).collect())
}

/// Number of repetitions, at least 3, after which something that takes `one` seconds has taken about
/// [`LONGEST_S`].
fn often(one: f64, most: usize) -> usize {
    ((LONGEST_S / one.max(1e-9)) as usize).clamp(3, most.max(3))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or_default()
}

/// The median time of a reduction of a few numbers over all ranks, in seconds.
pub(super) fn reduction(world: &World) -> f64 {
    let mut reduction = Reduction::new(world);
    let mut one = || {
        let start = Instant::now();
        reduction.sums([1.0; WIDTH]);
        start.elapsed().as_secs_f64()
    };
    world.barrier();
    one();
    let first = one();
    let count = often(world.max(first), SMALL_TURNS);
    world.max(median((0..count).map(|_| one()).collect()))
}

/// Messages of all ranks before one SpMV or in one iteration, by pair, on every rank; a rank may list another
/// more than once.
pub(super) fn traffic(world: &World, sent: impl Iterator<Item = (usize, u64)>) -> Vec<PairTraffic> {
    let mut by_peer = BTreeMap::new();
    for (peer, bytes) in sent {
        let (sum, messages) = by_peer.entry(peer as u64).or_insert((0, 0));
        *sum += bytes;
        *messages += 1;
    }
    let own: Vec<u64> =
        by_peer.into_iter().flat_map(|(peer, (sum, messages))| [peer, sum, messages]).collect();
    let mut pairs = Vec::new();
    for (from, list) in (0..).zip(world.all_lists(&own)) {
        for pair in list.chunks_exact(3) {
            if let [to, bytes, messages] = *pair {
                let (to, messages) = (to as u32, messages as u32);
                pairs.push(PairTraffic { from, to, bytes, messages });
            }
        }
    }
    pairs
}
