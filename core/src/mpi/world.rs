//! The ranks that MPI has started, and what they tell one another.

use rsmpi::Threading;
use rsmpi::collective::SystemOperation;
use rsmpi::datatype::{Equivalence, Partition, PartitionMut};
use rsmpi::environment::Universe;
use rsmpi::topology::SimpleCommunicator;
use rsmpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};

/// Elements of a message at most: MPI counts with 32 bits.
const MOST: usize = 1 << 26;

/// All ranks of the run. Dropped, it ends MPI, for which it waits for all ranks.
pub struct World {
    world: SimpleCommunicator,
    rank: usize,
    ranks: usize,
    /// Of each rank, the number of its machine.
    hosts: Vec<u32>,
    // Ended last.
    _universe: Universe,
}

impl World {
    /// Joins the ranks that the launcher has started. Fails when MPI was started before, or lets no other thread
    /// than the first one call it.
    pub fn start() -> Result<Self, String> {
        let started = rsmpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI has been started before")?;
        if threading < Threading::Serialized {
            return Err("this MPI lets no thread but the first call it".to_owned());
        }
        let world = universe.world();
        let (rank, ranks) = (world.rank() as usize, world.size() as usize);
        let mut hosts = vec![0u32; ranks];
        // The lowest rank of a machine stands for it.
        let first = {
            let machine = world.split_shared(0);
            let mut first = 0u32;
            machine.all_reduce_into(&(rank as u32), &mut first, SystemOperation::min());
            first
        };
        world.all_gather_into(&first, &mut hosts[..]);
        let mut machines = hosts.clone();
        machines.sort_unstable();
        machines.dedup();
        let number = |first: &u32| machines.iter().position(|known| known == first);
        let hosts = hosts.iter().map(|first| number(first).unwrap_or_default() as u32).collect();
        Ok(Self { world, rank, ranks, hosts, _universe: universe })
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Whether this is rank 0, which prints and writes.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// The number of this rank's machine.
    pub(super) fn host(&self) -> u32 {
        self.hosts[self.rank]
    }

    /// Ranks on this machine, this one among them.
    pub fn ranks_here(&self) -> usize {
        self.hosts.iter().filter(|host| **host == self.host()).count()
    }

    /// The place of this rank among those on its machine, from 0.
    pub fn place_here(&self) -> usize {
        self.hosts.iter().take(self.rank).filter(|host| **host == self.host()).count()
    }

    /// Of each rank, the number of its machine, from 0.
    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// Ends all ranks, wherever they are, with this exit code: for errors that the others do not know of.
    pub fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }

    /// Waits until all ranks are here.
    pub fn barrier(&self) {
        self.world.barrier();
    }

    /// The largest of all ranks' numbers.
    pub fn max(&self, own: f64) -> f64 {
        let mut most = own;
        self.world.all_reduce_into(&own, &mut most, SystemOperation::max());
        most
    }

    /// The largest of all ranks' numbers.
    pub fn most(&self, own: u64) -> u64 {
        let mut most = own;
        self.world.all_reduce_into(&own, &mut most, SystemOperation::max());
        most
    }

    /// The sum of all ranks' numbers.
    pub fn sum(&self, own: u64) -> u64 {
        let mut sum = own;
        self.world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    }

    /// The sums of all ranks' numbers, place by place. All have as many.
    pub fn sums(&self, own: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; own.len()];
        self.world.all_reduce_into(own, &mut sums[..], SystemOperation::sum());
        sums
    }

    /// The sum of all ranks' numbers, the same bits on every rank.
    pub fn total(&self, own: f64) -> f64 {
        let mut sum = own;
        self.world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    }

    /// Whether it is so on any rank.
    pub fn any(&self, own: bool) -> bool {
        self.most(own.into()) > 0
    }

    /// What a rank has to say against going on, the lowest one's where several have; nothing where none has.
    pub fn objection(&self, own: Option<String>) -> Option<String> {
        let said = own.map(|text| {
            let who = if self.ranks == 1 { String::new() } else { format!("rank {}: ", self.rank) };
            who + &text
        });
        let bytes: Vec<u64> = said.unwrap_or_default().bytes().map(u64::from).collect();
        let all = self.all_lists(&bytes);
        let first = all.into_iter().find(|text| !text.is_empty())?;
        let bytes: Vec<u8> = first.into_iter().map(|byte| byte as u8).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The lists of all ranks, by rank, on every rank. For short ones.
    pub fn all_lists(&self, own: &[u64]) -> Vec<Vec<u64>> {
        let mut counts = vec![0i32; self.ranks];
        self.world.all_gather_into(&(own.len() as i32), &mut counts[..]);
        let starts = starts(&counts);
        let mut all = vec![0u64; total(&counts)];
        let mut into = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        self.world.all_gather_varcount_into(own, &mut into);
        cut(&all, &counts)
    }

    /// Sends each rank the list that is for it and returns those that came, by rank. Fails when there are more
    /// elements than MPI counts.
    pub fn exchange(&self, lists: &[(usize, &[u64])]) -> Result<Vec<Vec<u64>>, String> {
        let mut counts = vec![0i32; self.ranks];
        let mut ordered: Vec<&(usize, &[u64])> = lists.iter().collect();
        ordered.sort_by_key(|(peer, _)| *peer);
        let most = i32::MAX as usize;
        let elements: usize = ordered.iter().map(|(_, list)| list.len()).sum();
        for (peer, list) in &ordered {
            counts[*peer] = list.len().min(most) as i32;
        }
        let mut coming = vec![0i32; self.ranks];
        self.world.all_to_all_into(&counts[..], &mut coming[..]);
        let comes: usize = coming.iter().map(|&count| count as usize).sum();
        let too_many = elements > most || comes > most;
        if let Some(why) = self.objection(too_many.then(|| {
            format!(
                "a message of {} elements is too long for MPI; use more ranks",
                elements.max(comes)
            )
        })) {
            return Err(why);
        }
        let sent: Vec<u64> = ordered.iter().flat_map(|(_, list)| list.iter().copied()).collect();
        let (from, into) = (starts(&counts), starts(&coming));
        let mut received = vec![0u64; comes];
        self.world.all_to_all_varcount_into(
            &Partition::new(&sent[..], &counts[..], &from[..]),
            &mut PartitionMut::new(&mut received[..], &coming[..], &into[..]),
        );
        Ok(cut(&received, &coming))
    }

    /// Lets rank 0 take the pieces of all ranks, one rank after another, in order; the others give theirs.
    /// `give` hands pieces of any length to the function that it is called with.
    pub fn to_first<T: Equivalence + Copy + Default>(
        &self,
        give: impl FnOnce(&mut dyn FnMut(&[T])),
        take: &mut dyn FnMut(&[T]),
    ) {
        if self.is_first() {
            give(take);
            let mut buffer = Vec::new();
            for rank in 1..self.ranks {
                let from = self.world.process_at_rank(rank as i32);
                loop {
                    let (length, _) = from.receive::<u64>();
                    if length == 0 {
                        break;
                    }
                    buffer.resize(length as usize, T::default());
                    from.receive_into(&mut buffer[..]);
                    take(&buffer);
                }
            }
        } else {
            let first = self.world.process_at_rank(0);
            let mut send = |piece: &[T]| {
                for message in piece.chunks(MOST) {
                    first.send(&(message.len() as u64));
                    first.send(message);
                }
            };
            give(&mut send);
            first.send(&0u64);
        }
    }

    /// Lets rank 0 hand bytes out to all ranks, itself among them: `give` hands pieces to the function that it is called
    /// with, `take` gets a rank's own, in order. What `give` returns, on rank 0.
    pub fn hand_out<R>(
        &self,
        give: impl FnOnce(&mut dyn FnMut(usize, &[u8])) -> R,
        take: &mut dyn FnMut(&[u8]),
    ) -> Option<R> {
        let first = self.world.process_at_rank(0);
        if !self.is_first() {
            let mut buffer = Vec::new();
            loop {
                let (length, _) = first.receive::<u64>();
                if length == 0 {
                    return None;
                }
                buffer.resize(length as usize, 0);
                first.receive_into(&mut buffer[..]);
                take(&buffer);
            }
        }
        let mut send = |rank: usize, piece: &[u8]| {
            let to = self.world.process_at_rank(rank as i32);
            for message in piece.chunks(MOST) {
                match rank {
                    0 => take(message),
                    _ => {
                        to.send(&(message.len() as u64));
                        to.send(message);
                    }
                }
            }
        };
        let given = give(&mut send);
        for rank in 1..self.ranks {
            self.world.process_at_rank(rank as i32).send(&0u64);
        }
        Some(given)
    }

    /// Rank 0's numbers on every rank.
    pub fn numbers_from_first(&self, numbers: Vec<u32>) -> Vec<u32> {
        let first = self.world.process_at_rank(0);
        let mut length = numbers.len() as u64;
        first.broadcast_into(&mut length);
        let mut numbers = numbers;
        numbers.resize(length as usize, 0);
        for piece in numbers.chunks_mut(MOST) {
            first.broadcast_into(piece);
        }
        numbers
    }

    /// All ranks' elements one after another, on rank 0; nothing elsewhere.
    pub fn gathered<T: Equivalence + Copy + Default>(&self, own: &[T]) -> Option<Vec<T>> {
        let mut all = Vec::new();
        self.to_first(|give| give(own), &mut |piece: &[T]| all.extend_from_slice(piece));
        self.is_first().then_some(all)
    }

    /// A text of rank 0 on every rank.
    pub fn from_first(&self, text: &str) -> String {
        let mut length = text.len() as u64;
        let first = self.world.process_at_rank(0);
        first.broadcast_into(&mut length);
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(length as usize, 0);
        first.broadcast_into(&mut bytes[..]);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn communicator(&self) -> &SimpleCommunicator {
        &self.world
    }
}

/// Where each part begins when they lie one after another.
fn starts(counts: &[i32]) -> Vec<i32> {
    let mut end = 0;
    let next = |&count: &i32| {
        let start = end;
        end += count;
        start
    };
    counts.iter().map(next).collect()
}

fn total(counts: &[i32]) -> usize {
    counts.iter().map(|&count| count as usize).sum()
}

fn cut(all: &[u64], counts: &[i32]) -> Vec<Vec<u64>> {
    let mut left = all;
    let next = |&count: &i32| {
        let (part, rest) = left.split_at(count as usize);
        left = rest;
        part.to_vec()
    };
    counts.iter().map(next).collect()
}
