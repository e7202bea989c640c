//! The ranks started by MPI, and their communication.

use rsmpi::Threading;
use rsmpi::collective::SystemOperation;
use rsmpi::datatype::{Equivalence, Partition, PartitionMut};
use rsmpi::environment::Universe;
use rsmpi::topology::SimpleCommunicator;
use rsmpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};

/// Maximum elements per message: MPI counts with 32 bits.
const MOST: usize = 1 << 26;

/// All ranks of the run. Dropping it finalises MPI, which waits for all ranks.
pub struct World {
    world: SimpleCommunicator,
    rank: usize,
    ranks: usize,
    /// The machine number of each rank.
    hosts: Vec<u32>,
    // Dropped last.
    _universe: Universe,
}

// SAFETY: MPI is initialised so that any thread may call it if no other does. A rank makes its calls in the order of
// all other ranks, hence one after another, whichever thread of it makes them.
unsafe impl Send for World {}

// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    /// Joins the ranks started by the launcher. Fails if MPI was already started, or allows calls only from
    /// the first thread.
    pub fn start() -> Result<Self, String> {
        let started = rsmpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI is already initialized")?;
        if threading < Threading::Serialized {
            return Err("this MPI library can be called from the main thread only; \
                MPI_THREAD_SERIALIZED is needed"
                .to_owned());
        }
        let world = universe.world();
        let (rank, ranks) = (world.rank() as usize, world.size() as usize);
        let mut hosts = vec![0u32; ranks];
        // The lowest rank of a machine represents it.
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

    /// Ranks on this machine, including this one.
    pub fn ranks_here(&self) -> usize {
        self.hosts.iter().filter(|host| **host == self.host()).count()
    }

    /// The position of this rank among those on its machine, from 0.
    pub fn place_here(&self) -> usize {
        self.hosts.iter().take(self.rank).filter(|host| **host == self.host()).count()
    }

    /// The machine number of each rank, from 0.
    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// Ends all ranks on all machines with this exit code, for errors that the others do not know of.
    pub fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }

    /// Waits until all ranks have arrived.
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

    /// The smallest of all ranks' numbers.
    pub(super) fn least(&self, own: u64) -> u64 {
        let mut least = own;
        self.world.all_reduce_into(&own, &mut least, SystemOperation::min());
        least
    }

    /// The sum of all ranks' numbers.
    pub fn sum(&self, own: u64) -> u64 {
        let mut sum = own;
        self.world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    }

    /// The elementwise sums of all ranks' numbers. All ranks pass the same count.
    pub fn sums(&self, own: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; own.len()];
        self.world.all_reduce_into(own, &mut sums[..], SystemOperation::sum());
        sums
    }

    /// The sum of all ranks' numbers, bitwise the same on every rank.
    pub fn total(&self, own: f64) -> f64 {
        let mut sum = own;
        self.world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    }

    /// Whether it is true on any rank.
    pub fn any(&self, own: bool) -> bool {
        self.most(own.into()) > 0
    }

    /// The objection of the lowest rank that has one, with its number unless all ranks object the same; `None`
    /// if no rank objects.
    pub fn objection(&self, own: Option<String>) -> Option<String> {
        let bytes: Vec<u64> = own.unwrap_or_default().bytes().map(u64::from).collect();
        let all = self.all_lists(&bytes);
        let (rank, first) = all.iter().enumerate().find(|(_, text)| !text.is_empty())?;
        let bytes: Vec<u8> = first.iter().map(|&byte| byte as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_of_all = all.iter().all(|other| other == first);
        Some(if is_of_all { text } else { format!("rank {rank}: {text}") })
    }

    /// The lists of all ranks, by rank, on every rank. For short lists.
    pub fn all_lists(&self, own: &[u64]) -> Vec<Vec<u64>> {
        let mut counts = vec![0i32; self.ranks];
        self.world.all_gather_into(&(own.len() as i32), &mut counts[..]);
        let starts = starts(&counts);
        let mut all = vec![0u64; total(&counts)];
        let mut into = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        self.world.all_gather_varcount_into(own, &mut into);
        cut(&all, &counts)
    }

    /// Sends each rank its list and returns the received ones, by rank. Fails if there are more elements than
    /// MPI can count.
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

    /// Passes the pieces of all ranks to rank 0, one rank after another, in order. On the other ranks, `give`
    /// passes pieces of any length to the function that it is called with.
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

    /// Distributes bytes from rank 0 to all ranks, including itself: `give` passes pieces to the function
    /// that it is called with, `take` receives a rank's own pieces, in order. Returns what `give` returns, on
    /// rank 0.
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

    /// All ranks' elements concatenated, on rank 0; `None` elsewhere.
    pub fn gathered<T: Equivalence + Copy + Default>(&self, own: &[T]) -> Option<Vec<T>> {
        let mut all = Vec::new();
        self.to_first(|give| give(own), &mut |piece: &[T]| all.extend_from_slice(piece));
        self.is_first().then_some(all)
    }

    /// A text from rank 0, on every rank.
    pub fn of_first(&self, text: &str) -> String {
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

/// The offset of each part when they are concatenated.
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
