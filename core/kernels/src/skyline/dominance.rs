//! The dominance relation that all kernels evaluate.

/// Whether p dominates q: smaller in no coordinate and larger in at least one. Equal points do not dominate
/// each other, and −0 equals +0. p and q have the same number of coordinates, none of them NaN.
#[inline]
pub fn dominates(p: &[f64], q: &[f64]) -> bool {
    let mut larger = false;
    for (p, q) in p.iter().zip(q) {
        if p < q {
            return false;
        }
        larger |= p > q;
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_larger_coordinate_and_no_smaller_one_make_dominance() {
        let inf = f64::INFINITY;
        for (p, q, expected) in [
            ([1.0, 2.0], [1.0, 1.0], true),
            ([1.0, 1.0], [1.0, 2.0], false),
            ([1.0, 2.0], [2.0, 1.0], false),
            ([1.0, 1.0], [1.0, 1.0], false),
            ([0.0, 1.0], [-0.0, 1.0], false),
            ([-0.0, 1.0], [0.0, 1.0], false),
            ([inf, -inf], [inf, -inf], false),
            ([inf, 1.0], [inf, -inf], true),
            ([0.0, f64::from_bits(1)], [-0.0, 0.0], true),
        ] {
            assert_eq!(dominates(&p, &q), expected, "{p:?} {q:?}");
        }
    }
}
