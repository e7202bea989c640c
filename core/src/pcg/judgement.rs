//! What a residual that was computed from x says of a solution: the one place where that is decided.

/// By how much the residual that a solver's recurrence reached may fall short of the true one.
const SLACK: f64 = 1.1;

/// Roundings of a residual, in units of ε·‖|A|·|x|‖.
const ROUNDINGS: f64 = 10.0;

/// Where rounding alone may be this part of ‖b‖, no residual tells a right solution from a wrong one.
const BLIND: f64 = 0.1;

/// What ‖b − A·x‖ says of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is at most 1.1·tol·‖b‖.
    Met,
    /// It is more, and the rounding floor explains the rest.
    LimitedByRounding,
    /// The rounding floor is a tenth of ‖b‖ or more: nothing can be said.
    Undecided,
    /// It is more than tolerance and rounding explain, or not finite.
    Missed,
}

impl Judgement {
    /// Of ‖b − A·x‖, the [`rounding_floor`] below it and ‖b‖, all in one unit.
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

    /// The most that ‖b − A·x‖ may be, which is [`Missed`](Self::Missed) beyond.
    pub fn bound(floor: f64, b: f64, tol: f64) -> f64 {
        SLACK * tol * b + floor
    }
}

/// 10·ε·‖|A|·|x|‖, ε = 2⁻⁵²: how far rounding alone may move ‖b − A·x‖.
pub fn rounding_floor(size: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * size
}

/// Whether a vector of this norm stands out of what rounding alone may be.
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
        // A floor of 0.2 is a tenth of ‖b‖; more than both explain is wrong for any floor.
        assert_eq!([of(0.0, 0.19), of(0.0, 0.2), of(0.1, 0.2)], [Met, Undecided, Undecided]);
        assert_eq!([of(0.3, 0.2), of(f64::NAN, 0.2)], [Missed, Missed]);
        assert_eq!(of(f64::INFINITY, f64::INFINITY), Missed);
        // x = 0 solves b = 0, and nothing else does.
        assert_eq!(Judgement::of(0.0, 0.0, 0.0, 1e-6), Met);
        assert_eq!(Judgement::of(1.0, 1e-15, 0.0, 1e-6), Missed);
    }
}
