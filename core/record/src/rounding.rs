//! Errors of results in fewer bits than f64.

use serde::{Deserialize, Serialize};

/// The error of a result z in fewer bits against y, the result in f64 from the values before they were rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounding {
    /// max |z − y| / max |y|.
    pub max: f64,
    /// ‖z − y‖₂ / ‖y‖₂.
    pub norm: f64,
    /// The most that `max` can be by the rounding of values and the lengths of rows.
    pub bound: f64,
}
