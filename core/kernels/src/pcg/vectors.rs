//! Loops over a block of vectors. Sums use eight lanes, so that additions do not wait for one another; a
//! block gives the same sum regardless of who computes it.

use std::ops::Range;

/// Elements per block: the parts of all vectors of a step fit into a near cache.
pub const BLOCK: usize = 1 << 12;

/// Number of blocks of vectors with n elements.
pub(super) fn blocks(n: usize) -> usize {
    n.div_ceil(BLOCK)
}

/// The elements of a block of vectors with n elements.
pub(super) fn block(n: usize, block: usize) -> Range<usize> {
    block * BLOCK..n.min((block + 1) * BLOCK)
}

const LANES: usize = 8;

/// Σ f(a_i, b_i); f is called once per pair.
#[inline(always)]
fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += f(a[lane], b[lane]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| f(a, b)).sum();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

/// a·b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum(a, b, |a, b| a * b)
}

/// r −= αq; ‖r‖².
pub fn reduce(alpha: f64, q: &[f64], r: &mut [f64]) -> f64 {
    for (r, q) in r.iter_mut().zip(q) {
        *r -= alpha * q;
    }
    dot(r, r)
}

/// x += αp; p = z + βp.
pub(super) fn advance(alpha: f64, beta: f64, z: &[f64], x: &mut [f64], p: &mut [f64]) {
    for ((x, p), z) in x.iter_mut().zip(p).zip(z) {
        *x += alpha * *p;
        *p = z + beta * *p;
    }
}

/// z_i = d_i·r_i; r·z.
pub(super) fn scale(d: &[f64], r: &[f64], z: &mut [f64]) -> f64 {
    for ((z, r), d) in z.iter_mut().zip(r).zip(d) {
        *z = d * r;
    }
    dot(r, z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_added_once_whatever_the_length() {
        for n in 0..40u32 {
            let a: Vec<f64> = (1..=n).map(f64::from).collect();
            // Σ k² = n(n + 1)(2n + 1)/6, exact in binary.
            assert_eq!(dot(&a, &a), f64::from(n * (n + 1) * (2 * n + 1) / 6));
        }
        let covered: Vec<usize> = (0..blocks(10_000)).flat_map(|k| block(10_000, k)).collect();
        assert_eq!(covered, (0..10_000).collect::<Vec<_>>());
    }
}
