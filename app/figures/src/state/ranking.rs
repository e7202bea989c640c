//! What the winners are ranked by, and which runs compete.

use serde::{Deserialize, Serialize};

choice! {
    /// What runs are ranked by.
    RankBy:
    /// The rate of their operation.
    #[default]
    Rate "rate" "Rate",
    /// The energy of one execution.
    Energy "energy" "Energy",
}

/// What runs are ranked by, and which of them compete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ranking {
    /// What they are ranked by.
    pub by: RankBy,
    /// With a limit, runs of every precision compete whose recorded relative error is at most this;
    /// without one, those in f64.
    pub max_error: Option<f64>,
}

impl Ranking {
    /// The limits offered; any other can be typed.
    pub const ERRORS: [f64; 3] = [1e-12, 1e-6, 1e-3];

    /// A limit as text.
    pub fn limit(text: &str) -> Option<f64> {
        text.trim().parse().ok().filter(|error: &f64| error.is_finite() && *error > 0.0)
    }

    pub(super) fn fields(self) -> [(&'static str, String); 2] {
        let error = self.max_error.map(|error| format!("{error:e}"));
        [("rank-by", self.by.id().into()), ("max-error", error.unwrap_or_default())]
    }

    /// Sets a value if the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "rank-by" => self.by = RankBy::from_id(value).unwrap_or(self.by),
            "max-error" if value.is_empty() => self.max_error = None,
            "max-error" => self.max_error = Self::limit(value).or(self.max_error),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ViewState;

    #[test]
    fn a_link_keeps_the_ranking_and_ignores_a_limit_that_is_no_positive_number() {
        let link = "v1;view=best;as=list;rank-by=energy;max-error=1e-12";
        let state = ViewState::from_fragment(link).unwrap();
        let expected = Ranking { by: RankBy::Energy, max_error: Some(1e-12) };
        assert_eq!(state.best.ranking, expected);
        assert_eq!(state.to_fragment(), link);
        for wrong in ["0", "-1e-6", "NaN", "inf", "small"] {
            let link = format!("v1;view=best;as=list;max-error={wrong}");
            assert_eq!(ViewState::from_fragment(&link).unwrap().best.ranking.max_error, None);
            let named = format!("max-error={wrong}");
            assert_eq!(ViewState::not_understood(&link), Some(named.as_str()));
        }
        assert_eq!(Ranking::limit(" 2.5E-7 "), Some(2.5e-7));
    }
}
