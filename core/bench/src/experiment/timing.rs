//! How often an execution is repeated to be timed on a CPU, and which needs no warm-up.

/// Samples shorter than this are measured over several executions.
const SHORTEST_SAMPLE_S: f64 = 50e-6;

/// Maximum executions per sample.
const MOST_REPETITIONS: f64 = 10_000.0;

/// Executions longer than this need no warm-up.
pub const WARM_BY_ITSELF_S: f64 = 1.0;

/// Executions per sample on a CPU, for executions of `once` seconds.
pub fn repetitions(once: f64) -> u32 {
    (SHORTEST_SAMPLE_S / once.max(1e-9)).ceil().clamp(1.0, MOST_REPETITIONS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_executions_fill_fifty_microseconds_and_long_ones_are_timed_alone() {
        let times = [0.0, 1e-9, 1.1e-6, 2e-5, 50e-6, 1.0];
        assert_eq!(times.map(repetitions), [10_000, 10_000, 46, 3, 1, 1]);
    }
}
