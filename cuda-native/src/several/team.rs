//! GPUs that work together, one thread each: all in one process, or one in each of several
//! processes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sparsescope_core::record::GpuAbsence;

use super::peers::open_pool;
use super::rank::Rank;
use crate::device::{Device, DeviceError};
use crate::nccl::{Communicator, Nccl, UniqueId};

/// A job of a thread for its GPU.
type Job = Box<dyn FnOnce(&mut Rank) + Send>;

/// A rank's part of some work.
type Part = Box<dyn FnOnce(&mut Rank) -> Result<(), DeviceError> + Send>;

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
        let none: Vec<Option<T>> = std::iter::repeat_with(|| None).take(self.ranks).collect();
        let answers = Arc::new(Mutex::new(none));
        let part = || -> Part {
            let (work, answers) = (Arc::clone(&work), Arc::clone(&answers));
            let one = move |rank: &mut Rank| -> Result<(), DeviceError> {
                let answer = work(rank)?;
                if let Some(place) = lock(&answers).get_mut(rank.number()) {
                    *place = Some(answer);
                }
                Ok(())
            };
            Box::new(one)
        };
        self.run_parts(&part, jointly, meanwhile)?;
        Ok(std::mem::take(&mut *lock(&answers)).into_iter().flatten().collect())
    }

    /// Runs a part on each rank of this process. The answers are stored by the parts, so that this
    /// and its channels are compiled once and not for each type of answer.
    fn run_parts(
        &self,
        part: &dyn Fn() -> Part,
        jointly: bool,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), DeviceError> {
        let (ended, endings) = channel();
        // Only one thread hands out work at a time: with two, ranks could take it in different
        // orders.
        let jobs = lock(&self.jobs);
        for job in &*jobs {
            let (part, ended, failed) = (part(), ended.clone(), Arc::clone(&self.failed));
            let one = move |rank: &mut Rank| {
                let mut alarm = Alarm { failed, armed: true };
                let ending = part(rank);
                alarm.armed = jointly && ending.is_err();
                drop(alarm);
                let _ = ended.send(ending);
            };
            // A thread that has ended sends nothing, which is detected below.
            let _ = job.send(Box::new(one));
        }
        drop(ended);
        wait(&endings, jobs.len(), meanwhile)
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

/// Waits until all ranks have ended; if several failed, the first one that failed by itself.
fn wait(
    endings: &Receiver<Result<(), DeviceError>>,
    ranks: usize,
    meanwhile: &mut dyn FnMut(),
) -> Result<(), DeviceError> {
    let mut done = 0;
    let mut failure = None;
    loop {
        match endings.recv_timeout(BETWEEN_LOOKS) {
            Ok(Ok(())) => done += 1,
            Ok(Err(DeviceError::Elsewhere)) => {
                failure.get_or_insert(DeviceError::Elsewhere);
            }
            Ok(Err(error)) => {
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
        None if done < ranks => Err(DeviceError::Elsewhere),
        None => Ok(()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(endings: Vec<Result<(), DeviceError>>, ranks: usize) -> Result<(), DeviceError> {
        let (send, receive) = channel();
        endings.into_iter().for_each(|ending| send.send(ending).unwrap());
        drop(send);
        wait(&receive, ranks, &mut || {})
    }

    #[test]
    fn the_cause_of_a_failure_comes_before_its_effects() {
        assert_eq!(waited(vec![Ok(()), Ok(())], 2), Ok(()));
        let cause = DeviceError::Format("none");
        let failed = vec![Err(DeviceError::Elsewhere), Err(cause.clone()), Ok(())];
        assert_eq!(waited(failed, 3), Err(cause));
        // A thread that ended without an answer.
        assert_eq!(waited(vec![Ok(())], 2), Err(DeviceError::Elsewhere));
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
