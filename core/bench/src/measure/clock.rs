//! Resolution of the program's clock. Browsers round it to 5 µs or a millisecond.

use std::time::Duration;

use web_time::Instant;

/// Clock steps observed.
const STEPS: usize = 8;

/// Maximum time to wait for the clock to advance.
const PATIENCE: Duration = Duration::from_millis(20);

/// The smallest observed difference between clock readings, in seconds.
pub fn clock_step_s() -> f64 {
    let start = Instant::now();
    let (mut before, mut least) = (start, PATIENCE);
    let mut steps = 0;
    while steps < STEPS && start.elapsed() < PATIENCE {
        let now = Instant::now();
        if now > before {
            least = least.min(now.duration_since(before));
            (before, steps) = (now, steps + 1);
        }
    }
    least.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_more_than_nothing_and_less_than_what_is_waited_for() {
        let step = clock_step_s();
        assert!(step > 0.0 && step < PATIENCE.as_secs_f64(), "{step}");
    }
}
