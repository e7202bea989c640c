//! What messages between pairs of ranks, and reductions, take while nothing else is sent.

use std::time::Instant;

use rsmpi::traits::{Communicator, Destination, Source};

use super::world::World;
use crate::record::{Link, PairTraffic};

/// Bytes of the messages that the bandwidth is measured with.
const LARGE: usize = 4 << 20;
/// Messages there and back: small ones, and large ones.
const SMALL_TURNS: usize = 100;
const LARGE_TURNS: usize = 5;
/// Pairs that are measured at most.
const MOST_PAIRS: usize = 256;

/// Latency and bandwidth of these pairs, both ways alike, one pair after another; of the first 256 where there
/// are more. Every rank has the result.
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

/// Sends so many bytes there and back so often; half the median of the turns, in seconds.
fn turns(world: &World, peer: u32, begins: bool, bytes: usize, turns: usize) -> f64 {
    let peer = world.communicator().process_at_rank(peer as i32);
    let mut message = vec![0u8; bytes];
    // The first turn sets connections up.
    let mut seconds: Vec<f64> = (0..=turns)
        .map(|_| {
            let start = Instant::now();
            if begins {
                peer.send(&message[..]);
                peer.receive_into(&mut message[..]);
            } else {
                peer.receive_into(&mut message[..]);
                peer.send(&message[..]);
            }
            start.elapsed().as_secs_f64() / 2.0
        })
        .skip(1)
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(turns / 2).copied().unwrap_or_default()
}

/// The median of many reductions of one number over all ranks, in seconds.
pub(super) fn reduction(world: &World) -> f64 {
    world.barrier();
    let mut seconds: Vec<f64> = (0..=SMALL_TURNS)
        .map(|_| {
            let start = Instant::now();
            world.total(1.0);
            start.elapsed().as_secs_f64()
        })
        .skip(1)
        .collect();
    seconds.sort_by(f64::total_cmp);
    world.max(seconds[SMALL_TURNS / 2])
}

/// Messages of all ranks before one product, by pair, on every rank.
pub(super) fn traffic(world: &World, sent: impl Iterator<Item = (usize, u64)>) -> Vec<PairTraffic> {
    let own: Vec<u64> = sent.flat_map(|(peer, bytes)| [peer as u64, bytes]).collect();
    let mut pairs = Vec::new();
    for (from, list) in (0..).zip(world.all_lists(&own)) {
        for pair in list.chunks_exact(2) {
            if let [to, bytes] = *pair {
                pairs.push(PairTraffic { from, to: to as u32, bytes, messages: 1 });
            }
        }
    }
    pairs
}
