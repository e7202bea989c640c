//! The answer of a backend, which is ready at once or after polling. In the page nothing may block.

use std::future::Future;
use std::pin::Pin;
#[cfg(any(test, not(target_family = "wasm")))]
use std::task::Waker;
use std::task::{Context, Poll};

use super::error::{KernelError, PrepareError};
use super::output::Output;
use super::task::Finished;
use sparsescope_record::Energy;

/// An answer that is ready or will be; poll it until it is ready.
#[must_use = "an answer that is not asked for never comes"]
pub struct Ticket<'t, T>(Answer<'t, T>);

/// The end of a setup, or the reason why it failed.
pub type SetUp<'t> = Ticket<'t, Result<Finished, PrepareError>>;

/// Seconds per execution for each sample; fewer samples than requested when cancelled.
pub type Sampled<'t> = Ticket<'t, Result<Vec<f64>, KernelError>>;

/// The result of an execution; `None` when cancelled.
pub type Executed<'t> = Ticket<'t, Result<Option<Output>, KernelError>>;

/// The energy of one execution, or why it cannot be measured, as a sentence; `None` when cancelled.
pub type Metered<'t> = Ticket<'t, Result<Option<Energy>, String>>;

/// The result of the last execution.
pub type LastOutput<'t> = Ticket<'t, Result<Output, KernelError>>;

enum Answer<'t, T> {
    /// Ready, until it is taken.
    Ready(Option<T>),
    /// It comes later.
    Later(Pin<Box<dyn Future<Output = T> + 't>>),
}

impl<'t, T> Ticket<'t, T> {
    /// An answer that is ready.
    pub fn ready(answer: T) -> Self {
        Self(Answer::Ready(Some(answer)))
    }

    /// The answer of work that is done at once.
    pub fn at_once(work: impl FnOnce() -> T) -> Self {
        Self::ready(work())
    }

    /// The answer that `work` resolves to.
    pub fn later(work: impl Future<Output = T> + 't) -> Self {
        Self(Answer::Later(Box::pin(work)))
    }
}

#[cfg(any(test, not(target_family = "wasm")))]
impl<T: Unpin> Ticket<'_, T> {
    /// Polls until the answer is ready. Backends that answer later block while they are polled.
    pub fn wait(mut self) -> T {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(answer) = Pin::new(&mut self).poll(&mut context) {
                return answer;
            }
        }
    }
}

impl<T: Unpin> Future for Ticket<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Answer::Ready(answer) => answer.take().map_or(Poll::Pending, Poll::Ready),
            Answer::Later(work) => work.as_mut().poll(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_later_is_asked_for_until_it_is_there() {
        assert_eq!(Ticket::ready(3).wait(), 3);
        let mut asked = 0;
        let third = std::future::poll_fn(|_| {
            asked += 1;
            if asked == 3 { Poll::Ready("there") } else { Poll::Pending }
        });
        assert_eq!(Ticket::later(third).wait(), "there");
        assert_eq!(asked, 3);
    }
}
