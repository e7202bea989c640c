//! Work that is cut into steps, between frames.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use web_time::Instant;

/// How long work runs before it yields.
const IN_A_TURN: Duration = Duration::from_millis(25);

/// Runs work that is cut into steps; awaits `turn` between them, which lets input and drawing have theirs.
pub(crate) async fn in_turns<T>(steps: impl Future<Output = T>, turn: impl AsyncFn()) -> T {
    let mut steps = pin!(steps);
    loop {
        let start = Instant::now();
        while start.elapsed() < IN_A_TURN {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(done) = steps.as_mut().poll(&mut context) {
                return done;
            }
        }
        turn().await;
    }
}
