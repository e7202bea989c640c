//! What the executions of a library's kernel computed, as far as it must be checked.

/// The result of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Computed {
    pub(super) y: Vec<f64>,
    /// Of a solve: its iterations, and whether the library reports that it converged.
    pub(super) solved: (u64, bool),
}

impl Computed {
    /// Takes from a later result what differs more from the `first` one: every element by itself, since each has its
    /// own bound, or the whole solution of a solve, since only that has a residual. If the first result is
    /// right, a check of what is kept finds every element that is off by more than three times its bound, in
    /// whichever result; of solutions it finds gross errors.
    pub(super) fn keep_furthest(&mut self, later: Self, first: &[f64], is_solution: bool) {
        if is_solution {
            if later.distance_from(first) > self.distance_from(first) {
                *self = later;
            }
            return;
        }
        for ((kept, later), &first) in self.y.iter_mut().zip(later.y).zip(first) {
            if distance(later, first) > distance(*kept, first) {
                *kept = later;
            }
        }
    }

    /// How far a solution is from the `first` one; infinitely far if the solve did not converge.
    fn distance_from(&self, first: &[f64]) -> f64 {
        match self.solved {
            (_, false) => f64::INFINITY,
            _ => {
                self.y.iter().zip(first).map(|(y, first)| distance(*y, *first)).fold(0.0, f64::max)
            }
        }
    }
}

/// The difference of two numbers; infinite if only one is NaN.
fn distance(a: f64, b: f64) -> f64 {
    match a == b || (a.is_nan() && b.is_nan()) {
        true => 0.0,
        false if a.is_nan() || b.is_nan() => f64::INFINITY,
        false => (a - b).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(results: &[(&[f64], bool)], is_solution: bool) -> Computed {
        let mut all = results
            .iter()
            .map(|(y, converged)| Computed { y: y.to_vec(), solved: (1, *converged) });
        let mut kept = all.next().unwrap();
        let first = kept.y.clone();
        all.for_each(|later| kept.keep_furthest(later, &first, is_solution));
        kept
    }

    #[test]
    fn of_each_element_the_value_furthest_from_the_first_is_kept() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let results: [&[f64]; 4] = [
            &[1.0, 2.0, 3.0, inf, nan],
            &[1.5, 2.0, nan, inf, nan],
            &[0.8, 2.1, 3.0, 4.0, 5.0],
            &[1.0; 5],
        ];
        let results = results.map(|y| (y, true));
        // The last is further in the second element.
        let y = kept(&results, false).y;
        assert_eq!(y[..2], [1.5, 1.0]);
        assert!(y[2].is_nan());
        // The first of those that are infinitely far.
        assert_eq!(y[3..], [4.0, 5.0]);
    }

    #[test]
    fn of_solutions_the_furthest_is_kept_as_a_whole_and_first_of_all_one_that_did_not_converge() {
        let first: (&[f64], bool) = (&[1.0, 2.0], true);
        let near: (&[f64], bool) = (&[1.1, 2.0], true);
        let far: (&[f64], bool) = (&[1.0, 3.0], true);
        let ended: (&[f64], bool) = (&[1.0, 2.0], false);
        assert_eq!(kept(&[first, near, far, near], true).y, far.0);
        assert_eq!(kept(&[first, near, ended, far], true).solved, (1, false));
    }
}
