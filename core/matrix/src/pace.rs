//! Whether long work runs in one go, or in steps that yield to whoever polls it, as the single-threaded
//! browser page needs.

use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// How long work runs before it yields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// To completion.
    #[default]
    AtOnce,
    /// In steps of a few milliseconds, one per poll of the future.
    InSteps,
}

/// Elements per step, for work that does little with each.
const STEP: usize = 1 << 13;

impl Pace {
    /// Ends a step.
    #[doc(hidden)]
    pub async fn rest(self) {
        let mut rested = self == Self::AtOnce;
        poll_fn(|_| match std::mem::replace(&mut rested, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Splits 0..`count` into pieces small enough for a step, or returns it whole if work does not yield.
    #[doc(hidden)]
    pub fn pieces(self, count: usize) -> impl Iterator<Item = Range<usize>> {
        let length = if self == Self::AtOnce { count.max(1) } else { STEP };
        (0..count).step_by(length).map(move |first| first..count.min(first + length))
    }
}

/// Ends a step with more work to do; the poller is woken at once.
#[doc(hidden)]
pub async fn set_down() {
    let mut is_over = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs work that never yields to completion.
#[doc(hidden)]
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let done = match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    };
    done.expect("work that is done at once never rests") // invariant
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn counted(pace: Pace) -> Vec<Range<usize>> {
        let mut done = Vec::new();
        for piece in pace.pieces(3 * STEP / 2) {
            done.push(piece);
            pace.rest().await;
        }
        done
    }

    #[test]
    fn work_rests_after_each_step_or_never() {
        let all = 0..3 * STEP / 2;
        assert_eq!(at_once(counted(Pace::AtOnce)), std::slice::from_ref(&all));
        let mut work = pin!(counted(Pace::InSteps));
        let mut context = Context::from_waker(Waker::noop());
        let mut polls = 0;
        let done = loop {
            polls += 1;
            if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
                break done;
            }
        };
        assert_eq!((polls, done), (3, vec![0..STEP, STEP..all.end]));
        assert_eq!(Pace::AtOnce.pieces(0).count() + Pace::InSteps.pieces(0).count(), 0);
    }
}
