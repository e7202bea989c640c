//! What the GPUs of a team hold for one kernel: a part each, dropped together.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use super::rank::Rank;
use super::team::Team;
use crate::device::DeviceError;

/// A part of type `H` on each rank of this process.
pub(super) struct Held<H> {
    team: Arc<Team>,
    number: u64,
    _part: PhantomData<fn() -> H>,
}

impl<H: Any> Held<H> {
    /// The parts that the team's ranks hold under a number.
    pub(super) fn of(team: Arc<Team>, number: u64) -> Self {
        Self { team, number, _part: PhantomData }
    }

    /// Runs `work` on each part and returns the answers in order. No rank waits for another in it.
    pub(super) fn each<T: Send + 'static>(
        &self,
        work: impl Fn(&Rank, &mut H) -> Result<T, DeviceError> + Send + Sync + 'static,
    ) -> Result<Vec<T>, DeviceError> {
        let number = self.number;
        self.team.each(move |rank| rank.with::<H, T>(number, &work))
    }

    /// The same for work in which they wait for one another: if one fails, the others give up.
    pub(super) fn jointly<T: Send + 'static>(
        &self,
        work: impl Fn(&Rank, &mut H) -> Result<T, DeviceError> + Send + Sync + 'static,
    ) -> Result<Vec<T>, DeviceError> {
        self.jointly_watched(work, &mut || {})
    }

    /// The same; the waiting thread calls `meanwhile` from time to time.
    pub(super) fn jointly_watched<T: Send + 'static>(
        &self,
        work: impl Fn(&Rank, &mut H) -> Result<T, DeviceError> + Send + Sync + 'static,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Vec<T>, DeviceError> {
        let number = self.number;
        self.team.jointly_watched(move |rank| rank.with::<H, T>(number, &work), meanwhile)
    }
}

impl<H> Drop for Held<H> {
    fn drop(&mut self) {
        let number = self.number;
        // What cannot be released in order is dropped with the team.
        let _ = self.team.each(move |rank| rank.forget(number));
    }
}
