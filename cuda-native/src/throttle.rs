//! Throttling: why clocks are lowered, and retaking of affected chunks of samples.

/// Clock throttle reasons of a GPU, as NVML's bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reasons(pub(crate) u64);

/// Reasons that lower the clocks, by bit, and whether they are transient: heat, power and hardware
/// protection. Idling (0x01), user-set clocks (0x02) and display clocks (0x100) are left out: they
/// are intended.
const KNOWN: [(u64, &str, bool); 6] = [
    (0x04, "software power cap", true),
    (0x08, "hardware slowdown", true),
    (0x20, "software thermal slowdown", true),
    (0x40, "hardware thermal slowdown", true),
    (0x80, "hardware power brake", true),
    // The clocks of the slowest GPU of a group: the same for every sample.
    (0x10, "sync boost", false),
];

impl Reasons {
    /// The names of the reasons.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        KNOWN.iter().filter(move |(bit, ..)| self.0 & bit != 0).map(|&(_, name, _)| name)
    }

    /// Whether a time taken meanwhile is not representative of the GPU.
    pub(crate) fn is_throttled(self) -> bool {
        KNOWN.iter().any(|&(bit, _, passes)| passes && self.0 & bit != 0)
    }
}

/// How often a throttled chunk is retaken.
const MOST_RETAKEN: u32 = 3;

/// Throttling observed around the chunks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Throttling {
    /// Chunks retaken and chunks that stayed throttled; `None` if the GPU does not report its
    /// reasons.
    counts: Option<(u32, u32)>,
}

impl Throttling {
    /// Chunks retaken; `None` if the GPU does not report its reasons.
    pub(crate) fn retaken(&self) -> Option<u32> {
        self.counts.map(|(retaken, _)| retaken)
    }

    /// Chunks that stayed throttled.
    pub(crate) fn throttled(&self) -> Option<u32> {
        self.counts.map(|(_, throttled)| throttled)
    }

    /// Takes a chunk, again while the GPU is throttled before or after it, but at most three times
    /// and never once `stop` returns true.
    pub(crate) fn watch<T, E>(
        &mut self,
        mut reasons: impl FnMut() -> Option<Reasons>,
        mut chunk: impl FnMut() -> Result<T, E>,
        stop: &dyn Fn() -> bool,
    ) -> Result<T, E> {
        let mut tries = 0;
        loop {
            let before = reasons();
            let taken = chunk()?;
            let mut told = before.into_iter().chain(reasons()).peekable();
            if told.peek().is_none() {
                return Ok(taken);
            }
            let (retaken, given_up) = self.counts.get_or_insert_default();
            if !told.any(Reasons::is_throttled) || stop() {
                return Ok(taken);
            }
            if tries == MOST_RETAKEN {
                *given_up += 1;
                return Ok(taken);
            }
            *retaken += 1;
            tries += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_power_and_slowdown_throttle_and_idling_and_chosen_clocks_do_not() {
        for bit in [0x04, 0x08, 0x20, 0x40, 0x80] {
            assert!(Reasons(bit).is_throttled() && Reasons(bit | 0x01).is_throttled(), "{bit:x}");
            assert_eq!(Reasons(bit).names().count(), 1, "{bit:x}");
        }
        for bits in [0, 0x01, 0x02, 0x01 | 0x02, 0x100, 0x10, 1 << 40] {
            assert!(!Reasons(bits).is_throttled(), "{bits:x}");
        }
        assert_eq!(Reasons(0x01 | 0x02 | 0x100).names().count(), 0);
        let both: Vec<_> = Reasons(0x10 | 0x40).names().collect();
        assert_eq!(both, ["hardware thermal slowdown", "sync boost"]);
    }

    /// Takes a chunk whose tries are surrounded by these reasons; returns the number of tries.
    fn tries(throttling: &mut Throttling, reasons: &[u64], stop: bool) -> u32 {
        let mut left = reasons.iter();
        let mut tries = 0;
        let taken = throttling.watch(
            || left.next().copied().map(Reasons),
            || {
                tries += 1;
                Ok::<u32, ()>(tries)
            },
            &|| stop,
        );
        assert_eq!(left.next(), None, "every glance was asked for");
        assert_eq!(taken, Ok(tries), "the last try is the one that counts");
        tries
    }

    #[test]
    fn a_chunk_is_retaken_while_the_gpu_is_throttled_before_or_after_it() {
        let mut throttling = Throttling::default();
        assert_eq!(tries(&mut throttling, &[0, 0], false), 1);
        assert_eq!(throttling.counts, Some((0, 0)));
        assert_eq!(tries(&mut throttling, &[0, 0x20, 0x20, 0, 0, 0], false), 3);
        assert_eq!(throttling.counts, Some((2, 0)));
    }

    #[test]
    fn three_times_at_most_and_then_the_chunk_counts_as_throttled() {
        let mut throttling = Throttling::default();
        assert_eq!(tries(&mut throttling, &[0x04; 8], false), 4);
        assert_eq!(throttling.counts, Some((3, 1)));
        assert_eq!(tries(&mut throttling, &[0x04, 0, 0, 0], false), 2);
        assert_eq!(throttling.counts, Some((4, 1)));
    }

    #[test]
    fn stopping_and_failing_retake_nothing() {
        let mut throttling = Throttling::default();
        assert_eq!(tries(&mut throttling, &[0x04, 0x04], true), 1);
        let failed = throttling.watch(|| Some(Reasons(0x04)), || Err::<(), _>("no"), &|| false);
        assert_eq!((failed, throttling.counts), (Err("no"), Some((0, 0))));
    }

    #[test]
    fn a_gpu_that_tells_no_reasons_is_neither_throttled_nor_counted() {
        let mut throttling = Throttling::default();
        assert_eq!(throttling.watch(|| None, || Ok::<u32, ()>(7), &|| false), Ok(7));
        assert_eq!((throttling.retaken(), throttling.throttled()), (None, None));
        tries(&mut throttling, &[0x04; 8], false);
        assert_eq!((throttling.retaken(), throttling.throttled()), (Some(3), Some(1)));
    }
}
