//! Student's t distribution, through the incomplete beta function.

/// The probability that t exceeds this value with these degrees of freedom.
pub(super) fn tail(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    if !square.is_finite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    let sum = freedom + square;
    let half = 0.5 * incomplete_beta([freedom / sum, square / sum], [freedom / 2.0, 0.5]);
    if t > 0.0 { half } else { 1.0 - half }
}

/// The t that is exceeded with probability `p`, at most ½, with these degrees of freedom.
pub(super) fn quantile(p: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while tail(high, freedom) > p && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if tail(middle, freedom) > p { low = middle } else { high = middle }
    }
    high
}

/// The regularized incomplete beta function I_x(a, b), for [x, 1 − x] and [a, b].
fn incomplete_beta([x, rest]: [f64; 2], [a, b]: [f64; 2]) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The continued fraction converges quickly below the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - below_the_mean([rest, x], [b, a]);
    }
    below_the_mean([x, rest], [a, b])
}

/// The same by its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), which is
/// evaluated by Lentz's method.
fn below_the_mean([x, rest]: [f64; 2], [a, b]: [f64; 2]) -> f64 {
    const STEPS: u32 = 500;
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log(rest) - log_beta) / a;
    let (mut c, mut d) = (1.0, 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in (1..=STEPS).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            factor = c * d;
            fraction *= factor;
        }
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_and_quantiles_are_those_of_scipy() {
        // scipy.stats.t.sf(t, freedom)
        for (t, freedom, expected) in [
            (2.0, 5.0, 0.050969739414929174),
            (0.5, 1.0, 0.35241638234956674),
            (4.0, 2.5, 0.019506487920659125),
            (1.96, 1e6, 0.024998033792634926),
            (-1.0, 3.0, 0.8044988905221148),
            (8.0, 40.0, 3.952542055052269e-10),
            (0.0, 7.0, 0.5),
        ] {
            let found = tail(t, freedom);
            assert!((found / expected - 1.0).abs() < 1e-8, "{t}, {freedom}: {found}");
        }
        assert_eq!([tail(f64::INFINITY, 3.0), tail(f64::NEG_INFINITY, 3.0)], [0.0, 1.0]);
        // scipy.stats.t.isf(p, freedom)
        for (p, freedom, expected) in [
            (0.025, 10.0, 2.2281388519862753),
            (0.001, 3.0, 10.214531852407385),
            (0.05, 1.0, 6.313751514675044),
            (5e-5, 19.0, 4.897461588862168),
        ] {
            let found = quantile(p, freedom);
            assert!((found / expected - 1.0).abs() < 1e-8, "{p}, {freedom}: {found}");
        }
    }
}
