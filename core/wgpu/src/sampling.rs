//! Number of SpMVs per sample, and sampling, for any clock.

/// Minimum seconds per sample; it is also at least a number of clock steps.
const SHORTEST_S: f64 = 1e-3;
const RESOLUTIONS: f64 = 100.0;

/// Maximum seconds of a sample of several SpMVs.
const LONGEST_S: f64 = 50e-3;

/// Maximum SpMVs per sample: all of them are recorded before the first one runs.
const MOST_PRODUCTS: u32 = 10_000;

/// Attempts per sample: the clock may measure no difference.
pub(crate) const MOST_TRIES: u32 = 32;

/// Something that can be timed.
pub(crate) trait Timed {
    /// Its error.
    type Error;

    /// Resolution of the times, in seconds.
    fn resolution_s(&self) -> f64;

    /// Seconds of `products` SpMVs in a row; `None` if the clock measures no difference.
    async fn time(&mut self, products: u32) -> Result<Option<f64>, Self::Error>;

    /// Overwrites the result, before whatever is timed next.
    async fn spoil(&mut self) -> Result<(), Self::Error>;

    /// Number of interruptions of the measurement so far: a sample during which one occurred is taken again.
    fn interruptions(&self) -> u32 {
        0
    }

    /// The error if the clock repeatedly measures no difference.
    fn no_time(&self, tries: u32) -> Self::Error;
}

/// SpMVs per sample, found by timing more and more of them.
pub(crate) async fn calibrate<T: Timed>(timed: &mut T) -> Result<u32, T::Error> {
    let wanted_s = (RESOLUTIONS * timed.resolution_s()).clamp(SHORTEST_S, LONGEST_S);
    let mut products = 1;
    for _ in 0..MOST_TRIES {
        let next = match timed.time(products).await? {
            Some(seconds) if seconds >= wanted_s || products == MOST_PRODUCTS => {
                let most = (f64::from(products) * LONGEST_S / seconds).floor().max(1.0);
                return Ok(products.min(most as u32));
            }
            Some(seconds) => {
                let enough = 1.1 * wanted_s / seconds * f64::from(products);
                (enough.ceil() as u32).clamp(products + 1, products.saturating_mul(16))
            }
            None if products == MOST_PRODUCTS => break,
            None => products.saturating_mul(8),
        };
        products = next.min(MOST_PRODUCTS);
    }
    Err(timed.no_time(MOST_TRIES))
}

/// `n` samples of `products` SpMVs each, after one SpMV that is not counted and whose result is overwritten;
/// fewer once `stop` returns true.
pub(crate) async fn samples<T: Timed>(
    timed: &mut T,
    n: usize,
    products: u32,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<f64>, T::Error> {
    let mut samples = Vec::with_capacity(n);
    if !stop() {
        timed.time(1).await?;
        timed.spoil().await?;
    }
    while samples.len() < n && !stop() {
        let before = timed.interruptions();
        let seconds = sample(timed, products).await?;
        if timed.interruptions() == before {
            samples.push(seconds);
        }
    }
    Ok(samples)
}

/// Seconds per SpMV, over `products` in a row.
async fn sample<T: Timed>(timed: &mut T, products: u32) -> Result<f64, T::Error> {
    for _ in 0..MOST_TRIES {
        if let Some(seconds) = timed.time(products).await? {
            return Ok(to_picoseconds(seconds / f64::from(products)));
        }
    }
    Err(timed.no_time(MOST_TRIES))
}

/// No clock is more precise.
pub(crate) fn to_picoseconds(seconds: f64) -> f64 {
    (seconds * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use sparsescope_core::experiment::Ticket;

    use super::*;

    /// SpMVs of a fixed duration, timed by a clock that rounds down.
    struct Rounded {
        product_s: f64,
        resolution_s: f64,
        now: f64,
        /// Requested numbers of SpMVs, 0 where the result was overwritten.
        asked: Vec<u32>,
    }

    impl Timed for Rounded {
        type Error = u32;

        fn resolution_s(&self) -> f64 {
            self.resolution_s
        }

        async fn time(&mut self, products: u32) -> Result<Option<f64>, u32> {
            self.asked.push(products);
            let rounded = |at: f64| (at / self.resolution_s + 1e-9).floor() * self.resolution_s;
            let begin = self.now;
            self.now += f64::from(products) * self.product_s;
            Ok(Some(rounded(self.now) - rounded(begin)).filter(|&seconds| seconds > 0.0))
        }

        async fn spoil(&mut self) -> Result<(), u32> {
            self.asked.push(0);
            Ok(())
        }

        fn no_time(&self, tries: u32) -> u32 {
            tries
        }
    }

    /// One SpMV per second, with interruptions during the second and the third.
    struct Hidden {
        taken: u32,
    }

    impl Timed for Hidden {
        type Error = u32;

        fn resolution_s(&self) -> f64 {
            1e-9
        }

        async fn time(&mut self, _: u32) -> Result<Option<f64>, u32> {
            self.taken += 1;
            Ok(Some(f64::from(self.taken)))
        }

        async fn spoil(&mut self) -> Result<(), u32> {
            Ok(())
        }

        fn interruptions(&self) -> u32 {
            self.taken.clamp(1, 3)
        }

        fn no_time(&self, tries: u32) -> u32 {
            tries
        }
    }

    #[test]
    fn a_sample_during_which_measuring_was_set_aside_is_taken_anew() {
        let mut hidden = Hidden { taken: 0 };
        let taken = Ticket::later(async move { samples(&mut hidden, 2, 1, &|| false).await });
        // The first SpMV is not counted.
        assert_eq!(taken.wait(), Ok(vec![4.0, 5.0]));
    }

    fn calibrated(product_s: f64, resolution_s: f64) -> Result<u32, u32> {
        let mut clock = Rounded { product_s, resolution_s, now: 0.0, asked: Vec::new() };
        Ticket::later(async move { calibrate(&mut clock).await }).wait()
    }

    #[test]
    fn a_sample_is_a_millisecond_and_a_hundred_times_the_clocks_resolution_but_50_ms_at_most() {
        for resolution_s in [1e-9, 65_536e-9, 100e-6] {
            let wanted = (100.0_f64 * resolution_s).max(1e-3);
            for product_s in [3e-6, 7e-5, 1.3e-3, 0.012] {
                let products = calibrated(product_s, resolution_s).unwrap();
                let sample_s = f64::from(products) * product_s;
                assert!(
                    sample_s >= wanted - resolution_s,
                    "{product_s} {resolution_s}: {sample_s}"
                );
                assert!(sample_s <= 50e-3 + resolution_s, "{product_s} {resolution_s}: {sample_s}");
            }
        }
        // A single longer SpMV is a sample.
        assert_eq!(calibrated(0.3, 1e-9), Ok(1));
        // The maximum, even though they are too short.
        assert_eq!(calibrated(1e-9, 1e-9), Ok(MOST_PRODUCTS));
    }

    #[test]
    fn differences_of_nothing_are_no_samples() {
        let mut clock = Rounded { product_s: 40e-6, resolution_s: 100e-6, now: 0.0, asked: vec![] };
        let taken =
            Ticket::later(async { samples(&mut clock, 4, 1, &|| false).await }).wait().unwrap();
        // About every third SpMV ends after the next step of the clock.
        assert_eq!(taken, [100e-6; 4]);
        assert!(clock.asked.len() > 8);
        // A stopped clock ends the run.
        assert_eq!(calibrated(0.0, 100e-6), Err(MOST_TRIES));
    }

    #[test]
    fn the_result_is_spoilt_right_before_the_first_sample() {
        let mut clock = Rounded { product_s: 1e-3, resolution_s: 1e-9, now: 0.0, asked: vec![] };
        let taken = Ticket::later(async { samples(&mut clock, 3, 7, &|| false).await }).wait();
        assert_eq!(taken.unwrap().len(), 3);
        assert_eq!(clock.asked, [1, 0, 7, 7, 7]);
    }

    #[test]
    fn stopping_ends_the_sampling() {
        let mut clock = Rounded { product_s: 1e-3, resolution_s: 1e-9, now: 0.0, asked: vec![] };
        let looks = std::cell::Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) >= 3;
        let taken = Ticket::later(async { samples(&mut clock, 9, 1, &stop).await }).wait().unwrap();
        assert_eq!(taken.len(), 2);
    }
}
