use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::super::random::normal;
use super::*;

/// Samples of one bundle: `level` is the logarithm of their time.
fn measured(level: f64, noise: f64, samples: usize, random: &mut ChaCha8Rng) -> Location {
    let times: Vec<f64> = (0..samples).map(|_| (level + noise * normal(random)).exp()).collect();
    Location::of(&times).unwrap()
}

#[test]
fn a_measurement_against_one_other_is_the_test_of_yuen() {
    let before = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 100.0];
    let after = [12.0, 13.5, 14.0, 15.0, 16.0, 17.0, 19.0, 20.0, 22.0, 23.0, 24.0, 30.0];
    let [before, after] = [&before[..], &after].map(|times| Location::of(times).unwrap());
    let found = Shift::of(&[before], &after).unwrap();
    // scipy.stats.ttest_ind(log(after), log(before), equal_var=False, trim=0.1, alternative="greater")
    assert!((found.slower - 0.02703309566492628).abs() < 1e-9, "{}", found.slower);
    assert!((found.faster - (1.0 - found.slower)).abs() < 1e-12);
    assert_eq!(found.basis, Basis::Samples);
    let (low, high) = found.interval();
    assert!(low < found.ratio && found.ratio < high);
}

#[test]
fn a_measurement_against_many_others_is_judged_by_their_spread() {
    let at = |log| Location { log, certainty: None };
    let earlier = [0.01, 0.03, -0.02, 0.0, 0.015].map(at);
    let found = Shift::of(&earlier, &at(0.08)).unwrap();
    // scipy.stats.t.sf(3.58775426643583, 4), with the mean and standard deviation of `earlier`.
    assert!((found.slower - 0.01150393116453463).abs() < 1e-9, "{}", found.slower);
    assert!((found.ratio - (0.08f64 - 0.007).exp()).abs() < 1e-12);
    assert_eq!(found.basis, Basis::Spread);
    // Neither samples nor spread.
    assert_eq!(Shift::of(&earlier[..3], &at(0.08)), None);
    assert_eq!(Shift::of(&[], &at(0.08)), None);
    // Equal by chance, but with samples that are not.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let noisy = measured(0.0, 0.05, 10, &mut random);
    let found = Shift::of(&[noisy; 4], &measured(0.01, 0.05, 10, &mut random)).unwrap();
    assert!(found.slower > 1e-3, "{}", found.slower);
}

/// The share of 1000 checks of one run that find a slowdown, by the samples of two bundles.
fn power(slowdown: f64, noise: f64, samples: usize, rate: f64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let found = |_: &u32| {
        let before = measured(0.0, noise, samples, &mut random);
        let after = measured(slowdown.ln(), noise, samples, &mut random);
        Shift::of(&[before], &after).unwrap().slower <= rate
    };
    (0..1000).filter(found).count() as f64 / 1000.0
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
fn the_power_is_the_stated_one() {
    // The mean of 30 samples would find it in 74 %; leaving out a tenth at each end costs 3 %.
    let found = power(1.03, 0.05, 30, 0.05);
    assert!((0.66..0.76).contains(&found), "{found}");
    let alarms = power(1.0, 0.05, 30, 0.05);
    assert!((0.03..0.07).contains(&alarms), "{alarms}");
    // What four of five checks find.
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let pair = [(); 2].map(|()| measured(0.0, 0.05, 1000, &mut random));
    let expected = Shift::of(&pair[..1], &pair[1]).unwrap().detectable(0.05);
    let found = power(expected, 0.05, 1000, 0.05);
    assert!((0.76..0.84).contains(&found), "{found} at {expected}");
}

/// The share of 1000 checks with at least one alarm: 20 kernels and an anchor, 12 earlier bundles.
/// `slowdown` is that of the first kernel.
fn alarms(slowdown: f64, anchored: bool, rate: f64) -> f64 {
    const ROWS: usize = 20;
    let mut random = ChaCha8Rng::seed_from_u64(23);
    // All kernels of a bundle share 10 % of noise, each has 2 % of its own, and each sample 5 %.
    let mut bundle = |slowdown: f64| -> Vec<Location> {
        let machine = 0.1 * normal(&mut random);
        let mut row = |level: f64| {
            let level = level + machine + 0.02 * normal(&mut random);
            measured(level, 0.05, 10, &mut random)
        };
        let anchor = row(0.0);
        let rows = (0..ROWS).map(|k| row(if k == 0 { slowdown.ln() } else { 0.0 }));
        let relative = |row: Location| if anchored { row.over(&anchor) } else { row };
        rows.map(relative).collect()
    };
    let mut levels = Levels::default();
    let alarmed = |_: &u32| {
        let earlier: Vec<Vec<Location>> = (0..12).map(|_| bundle(1.0)).collect();
        let new = bundle(slowdown);
        let shift = |(k, new): (usize, &Location)| {
            let earlier: Vec<Location> = earlier.iter().map(|rows| rows[k]).collect();
            Shift::since_last_change(&earlier, new, &mut levels).unwrap().0.slower
        };
        let probabilities: Vec<f64> = new.iter().enumerate().map(shift).collect();
        holm(&probabilities, rate).contains(&true)
    };
    (0..1000).filter(alarmed).count() as f64 / 1000.0
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
fn false_alarms_are_as_rare_as_requested_over_all_rows_of_a_check() {
    // 1000 checks at 5 % have a standard deviation of 0.7 %: allow three of them.
    for anchored in [false, true] {
        for (rate, most) in [(0.05, 0.071), (0.01, 0.02)] {
            let found = alarms(1.0, anchored, rate);
            assert!(found <= most, "{found} at {rate}, with an anchor: {anchored}");
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
fn an_anchor_removes_the_noise_that_all_kernels_share() {
    let [without, with] = [false, true].map(|anchored| alarms(1.25, anchored, 0.05));
    assert!(without < 0.25 && with > 0.9, "{without} without, {with} with");
}

#[test]
fn hypotheses_are_rejected_in_the_order_of_their_probabilities() {
    // Holm 1979: the smallest against rate / 3, the next against rate / 2, the last against the rate.
    assert_eq!(holm(&[0.016, 0.05, 0.025], 0.05), [true; 3]);
    assert_eq!(holm(&[0.017, 0.001, 0.03], 0.05), [true, true, true]);
    assert_eq!(holm(&[0.026, 0.001, 0.03], 0.05), [false, true, false]);
    assert_eq!(holm(&[0.02, 0.02, 0.02], 0.05), [false; 3]);
    assert_eq!(holm(&[], 0.05), [false; 0]);
}
