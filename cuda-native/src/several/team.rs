//! GPUs that work together, one thread each: all in one process, or one in each of several
//! processes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sparsescope_core::record::GpuAbsence;

use super::peers::open_pool;
use super::rank::Rank;
use crate::device::{Device, DeviceError};
use crate::nccl::{Communicator, Nccl, UniqueId};

/// A job of a thread for its GPU.
type Job = Box<dyn FnOnce(&mut Rank) + Send>;

/// The communicators of the halo and of sums.
type Ways = (Communicator, Communicator);

type FindsWays = dyn FnOnce(&Device) -> Result<Ways, DeviceError> + Send;

/// A rank of this process: its number, its GPU's index, and how it creates its communicators once
/// the GPU is open.
struct Member {
    rank: usize,
    ordinal: usize,
    ways: Box<FindsWays>,
}

/// Interval at which a waiting thread checks whether to continue.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The GPUs of this process in a team.
pub(crate) struct Team {
    /// Empty once it ends.
    jobs: Mutex<Vec<Sender<Job>>>,
    threads: Vec<JoinHandle<()>>,
    /// Total number of ranks, including those of other processes.
    ranks: usize,
    failed: Arc<AtomicBool>,
    next: AtomicU64,
}

impl Team {
    /// The first `ranks` GPUs: rank k uses GPU k.
    pub(crate) fn start(nccl: &Arc<Nccl>, ranks: usize) -> Result<Self, DeviceError> {
        let ordinals: Vec<usize> = (0..ranks).collect();
        let (halo, sums) = (nccl.communicators(&ordinals)?, nccl.communicators(&ordinals)?);
        let member = |(rank, ways): (usize, Ways)| Member {
            rank,
            ordinal: rank,
            ways: Box::new(move |device| {
                open_pool(device, ranks)?;
                Ok(ways)
            }),
        };
        Self::of(ranks, halo.into_iter().zip(sums).enumerate().map(member))
    }

    /// Rank `rank` of `ranks`, one process each, on the GPU `ordinal`. Waits for all of them; all
    /// must pass the same communicator IDs.
    pub(crate) fn join(
        nccl: &Arc<Nccl>,
        (rank, ranks): (usize, usize),
        ordinal: usize,
        [halo, sums]: [UniqueId; 2],
    ) -> Result<Self, DeviceError> {
        let nccl = Arc::clone(nccl);
        let ways = move |_: &Device| {
            Ok((nccl.join(halo, (rank, ranks))?, nccl.join(sums, (rank, ranks))?))
        };
        Self::of(ranks, [Member { rank, ordinal, ways: Box::new(ways) }])
    }

    fn of(ranks: usize, members: impl IntoIterator<Item = Member>) -> Result<Self, DeviceError> {
        let failed = Arc::new(AtomicBool::new(false));
        let (mut jobs, mut threads, mut opened) = (Vec::new(), Vec::new(), Vec::new());
        for member in members {
            let rank = member.rank;
            let (job, to_do) = channel();
            let (open, is_open) = channel();
            let failed = Arc::clone(&failed);
            let thread = std::thread::Builder::new().name(format!("GPU {rank}")).spawn(move || {
                match open_rank(member, ranks, failed) {
                    Ok(rank) => {
                        let _ = open.send(Ok(()));
                        work(rank, &to_do);
                    }
                    Err(error) => {
                        let _ = open.send(Err(error));
                    }
                }
            });
            let no_thread = |error: std::io::Error| {
                DeviceError::Arrays(format!("cannot start a thread for GPU {rank}: {error}"))
            };
            threads.push(thread.map_err(no_thread)?);
            jobs.push(job);
            opened.push(is_open);
        }
        let (jobs, next) = (Mutex::new(jobs), AtomicU64::new(0));
        let team = Self { jobs, threads, ranks, failed, next };
        let ended = || DeviceError::Arrays("the thread of a GPU ended".to_owned());
        for is_open in opened {
            is_open.recv().unwrap_or_else(|_| Err(ended()))?;
        }
        Ok(team)
    }

    /// Number of GPUs in the team.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Whether a rank could not continue while others waited for it: the team is unusable then.
    pub(crate) fn is_broken(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// A new number under which ranks store something.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs a job on each rank of this process and returns the answers in order. No rank waits for
    /// another in it.
    pub(crate) fn each<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank) -> Result<T, DeviceError> + Send + Sync + 'static,
    ) -> Result<Vec<T>, DeviceError> {
        self.run(work, false, &mut || {})
    }

    /// The same for work in which they wait for one another: if one fails, the others give up.
    pub(crate) fn jointly<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank) -> Result<T, DeviceError> + Send + Sync + 'static,
    ) -> Result<Vec<T>, DeviceError> {
        self.run(work, true, &mut || {})
    }

    /// The same; the waiting thread calls `meanwhile` from time to time.
    pub(crate) fn jointly_watched<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank) -> Result<T, DeviceError> + Send + Sync + 'static,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Vec<T>, DeviceError> {
        self.run(work, true, meanwhile)
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank) -> Result<T, DeviceError> + Send + Sync + 'static,
        jointly: bool,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Vec<T>, DeviceError> {
        let work = Arc::new(work);
        let (answer, answers) = channel();
        // Only one thread hands out work at a time: with two, ranks could take it in different
        // orders.
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        for job in &*jobs {
            let (work, answer, failed) =
                (Arc::clone(&work), answer.clone(), Arc::clone(&self.failed));
            let one = move |rank: &mut Rank| {
                let mut alarm = Alarm { failed, armed: true };
                let answered = work(rank);
                alarm.armed = jointly && answered.is_err();
                drop(alarm);
                let _ = answer.send((rank.number(), answered));
            };
            // A thread that has ended sends no answer, which is detected below.
            let _ = job.send(Box::new(one));
        }
        drop(answer);
        collect(&answers, jobs.len(), meanwhile)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.jobs.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// On drop, signals the others that work in which they may wait was left; also after a panic.
struct Alarm {
    failed: Arc<AtomicBool>,
    armed: bool,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if self.armed {
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}

fn open_rank(
    Member { rank, ordinal, ways }: Member,
    ranks: usize,
    failed: Arc<AtomicBool>,
) -> Result<Rank, DeviceError> {
    let absent = |absence: GpuAbsence| DeviceError::Arrays(absence.to_string());
    let device = Device::open(ordinal).map_err(absent)?;
    let ways = ways(&device)?;
    Rank::new(device, ways, (rank, ranks), failed)
}

fn work(mut rank: Rank, to_do: &Receiver<Job>) {
    while let Ok(job) = to_do.recv() {
        job(&mut rank);
    }
}

/// The answers of all ranks, in order; if several failed, the first one that failed by itself.
fn collect<T>(
    answers: &Receiver<(usize, Result<T, DeviceError>)>,
    ranks: usize,
    meanwhile: &mut dyn FnMut(),
) -> Result<Vec<T>, DeviceError> {
    let mut all = Vec::with_capacity(ranks);
    let mut failure = None;
    loop {
        match answers.recv_timeout(BETWEEN_LOOKS) {
            Ok((rank, Ok(answer))) => all.push((rank, answer)),
            Ok((_, Err(DeviceError::Elsewhere))) => {
                failure.get_or_insert(DeviceError::Elsewhere);
            }
            Ok((_, Err(error))) => {
                if failure.as_ref().is_none_or(|known| *known == DeviceError::Elsewhere) {
                    failure = Some(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => meanwhile(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match failure {
        Some(error) => Err(error),
        None if all.len() < ranks => Err(DeviceError::Elsewhere),
        None => {
            all.sort_by_key(|&(rank, _)| rank);
            Ok(all.into_iter().map(|(_, answer)| answer).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(
        answers: Vec<(usize, Result<u32, DeviceError>)>,
        ranks: usize,
    ) -> Result<Vec<u32>, DeviceError> {
        let (send, receive) = channel();
        answers.into_iter().for_each(|answer| send.send(answer).unwrap());
        drop(send);
        collect(&receive, ranks, &mut || {})
    }

    #[test]
    fn answers_come_in_the_order_of_ranks_and_the_cause_of_a_failure_before_its_effects() {
        assert_eq!(collected(vec![(1, Ok(11)), (0, Ok(10))], 2), Ok(vec![10, 11]));
        let cause = DeviceError::Format("none");
        let failed = vec![(0, Err(DeviceError::Elsewhere)), (1, Err(cause.clone())), (2, Ok(1))];
        assert_eq!(collected(failed, 3), Err(cause));
        // A thread that ended without an answer.
        assert_eq!(collected(vec![(0, Ok(1))], 2), Err(DeviceError::Elsewhere));
    }

    #[test]
    fn an_alarm_rings_unless_it_is_put_off() {
        let failed = Arc::new(AtomicBool::new(false));
        drop(Alarm { failed: Arc::clone(&failed), armed: false });
        assert!(!failed.load(Ordering::Relaxed));
        drop(Alarm { failed: Arc::clone(&failed), armed: true });
        assert!(failed.load(Ordering::Relaxed));
    }
}
