//! What the layout model predicts for one execution, and what follows from it.

use serde::{Deserialize, Serialize};

/// Bytes per sector: the smallest unit that a GPU's memory moves.
pub const SECTOR: u64 = 32;

/// The memory accesses of one execution according to the layout model (module `layout`): sectors and lanes of
/// a GPU kernel, cache lines and shares of a CPU kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// On a GPU, 32-byte sectors requested by the loads of warps, including cache hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_sectors: Option<u64>,
    /// The same for their stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_sectors: Option<u64>,
    /// Distinct bytes of each request, summed: what lanes use of those sectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useful_bytes: Option<u64>,
    /// Lanes without work in a step of the inner loop, as a fraction of all lanes, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
    /// On a CPU, bytes of the distinct cache lines that each share of the work touches, summed over the
    /// shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// Steps of the largest share over the mean of all shares; 1 is balanced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<f64>,
}

impl Predicted {
    /// Bytes moved per execution: those of the sectors or of the cache lines; absent if neither is known.
    pub fn moved_bytes(&self) -> Option<u64> {
        let sectors = match (self.load_sectors, self.store_sectors) {
            (None, None) => return self.line_bytes,
            (loads, stores) => loads.unwrap_or(0).saturating_add(stores.unwrap_or(0)),
        };
        Some(sectors.saturating_mul(SECTOR))
    }

    /// Useful bytes as a fraction of the bytes moved, 0 to 1; absent if either is unknown.
    pub fn efficiency(&self) -> Option<f64> {
        let moved = self.moved_bytes().filter(|&moved| moved > 0)?;
        Some(self.useful_bytes? as f64 / moved as f64)
    }

    /// Whether the values are consistent: no more bytes are useful than moved, no more lanes are idle than
    /// exist, and the largest share is not below the mean.
    #[doc(hidden)]
    pub fn is_possible(&self) -> bool {
        self.efficiency().is_none_or(|share| share <= 1.0)
            && self.idle_share.is_none_or(|share| share <= 1.0)
            && self.imbalance.is_none_or(|most| most >= 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_have_32_bytes_and_lines_are_bytes_already() {
        let gpu = Predicted {
            load_sectors: Some(7),
            store_sectors: Some(3),
            useful_bytes: Some(80),
            ..Predicted::default()
        };
        assert_eq!((gpu.moved_bytes(), gpu.efficiency()), (Some(320), Some(0.25)));
        let cpu = Predicted { line_bytes: Some(640), ..Predicted::default() };
        assert_eq!((cpu.moved_bytes(), cpu.efficiency()), (Some(640), None));
        let nothing = Predicted::default();
        assert_eq!((nothing.moved_bytes(), nothing.efficiency()), (None, None));
        assert!(gpu.is_possible() && cpu.is_possible() && nothing.is_possible());
    }

    #[test]
    fn what_cannot_be_is_found() {
        let none = Predicted::default;
        let wrong = [
            Predicted { load_sectors: Some(1), useful_bytes: Some(33), ..none() },
            Predicted { idle_share: Some(1.01), ..none() },
            Predicted { imbalance: Some(0.99), ..none() },
        ];
        assert!(wrong.iter().all(|predicted| !predicted.is_possible()));
        // Untrusted numbers do not overflow.
        let huge = Predicted { load_sectors: Some(u64::MAX), store_sectors: Some(9), ..none() };
        assert_eq!(huge.moved_bytes(), Some(u64::MAX));
    }
}
