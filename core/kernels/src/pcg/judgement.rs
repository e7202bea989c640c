//! What a residual computed from x implies for a solution; this is decided here only.

/// Factor by which the true residual may exceed the one that a solver's recurrence reached.
const SLACK: f64 = 1.1;

/// Rounding error of a residual, in units of ε·‖|A|·|x|‖.
const ROUNDINGS: f64 = 10.0;

/// If rounding alone may reach this fraction of ‖b‖, no residual distinguishes a right solution from a wrong
/// one.
const BLIND: f64 = 0.1;

/// What ‖b − A·x‖ implies for x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is at most 1.1·tol·‖b‖.
    Met,
    /// It is larger, but the rounding floor explains the difference.
    LimitedByRounding,
    /// The rounding floor is a tenth of ‖b‖ or more: no conclusion is possible.
    Undecided,
    /// It is larger than tolerance and rounding explain, or not finite.
    Missed,
}

impl Judgement {
    /// Judges ‖b − A·x‖ by its [`rounding_floor`] and ‖b‖, all in the same unit.
    pub fn of(residual: f64, floor: f64, b: f64, tol: f64) -> Self {
        let met = SLACK * tol * b;
        let is_explained = residual.is_finite() && residual <= met + floor;
        if !is_explained {
            Self::Missed
        } else if floor > 0.0 && !is_seen(floor, b) {
            Self::Undecided
        } else if residual <= met {
            Self::Met
        } else {
            Self::LimitedByRounding
        }
    }

    /// The largest ‖b − A·x‖ that is not [`Missed`](Self::Missed).
    pub fn bound(floor: f64, b: f64, tol: f64) -> f64 {
        SLACK * tol * b + floor
    }
}

/// 10·ε·‖|A|·|x|‖, ε = 2⁻⁵²: how far rounding alone may move ‖b − A·x‖.
pub fn rounding_floor(size: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * size
}

/// Whether a vector with this norm exceeds what rounding alone may cause.
pub fn is_seen(floor: f64, norm: f64) -> bool {
    floor < BLIND * norm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_floor_and_b_decide_in_this_order() {
        use Judgement::{LimitedByRounding, Met, Missed, Undecided};
        // ‖b‖ = 2 and tol = 1e-6: met up to 2.2e-6.
        let of = |residual, floor| Judgement::of(residual, floor, 2.0, 1e-6);
        assert_eq!([of(2.19e-6, 1e-9), of(2.21e-6, 1e-7)], [Met, LimitedByRounding]);
        assert_eq!([of(2.21e-6, 1e-9), of(2.21e-6, 0.0)], [Missed, Missed]);
        // A floor of 0.2 is a tenth of ‖b‖; a residual above both is wrong for any floor.
        assert_eq!([of(0.0, 0.19), of(0.0, 0.2), of(0.1, 0.2)], [Met, Undecided, Undecided]);
        assert_eq!([of(0.3, 0.2), of(f64::NAN, 0.2)], [Missed, Missed]);
        assert_eq!(of(f64::INFINITY, f64::INFINITY), Missed);
        // x = 0 is the only solution of b = 0.
        assert_eq!(Judgement::of(0.0, 0.0, 0.0, 1e-6), Met);
        assert_eq!(Judgement::of(1.0, 1e-15, 0.0, 1e-6), Missed);
    }
}
