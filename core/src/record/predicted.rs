//! What the layout model predicts of a product, and what follows from it.

use serde::{Deserialize, Serialize};

/// Bytes of a sector: what a GPU's memory moves at least.
pub const SECTOR: u64 = 32;

/// What one product asks of the memory, as the layout model (the crate's `layout`) has it: sectors and
/// lanes of a GPU's kernel, cache lines and shares of a processor's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// On a GPU, sectors of 32 bytes that the warps' loads ask for, hits in caches included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_sectors: Option<u64>,
    /// The same of their stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_sectors: Option<u64>,
    /// Distinct bytes of each request, summed: what lanes want of those sectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useful_bytes: Option<u64>,
    /// Lanes without work in a step of the inner loop, as a share of all, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
    /// On a processor, bytes of the distinct cache lines that each share of the work touches,
    /// summed over the shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// Steps of the share with the most over the mean of the shares; 1 is balanced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<f64>,
}

impl Predicted {
    /// Bytes moved by one product: those of the sectors, or of the cache lines; absent when
    /// neither is known.
    pub fn moved_bytes(&self) -> Option<u64> {
        let sectors = match (self.load_sectors, self.store_sectors) {
            (None, None) => return self.line_bytes,
            (loads, stores) => loads.unwrap_or(0).saturating_add(stores.unwrap_or(0)),
        };
        Some(sectors.saturating_mul(SECTOR))
    }

    /// Useful bytes as a share of the bytes moved, 0 to 1; absent when either is unknown.
    pub fn efficiency(&self) -> Option<f64> {
        let moved = self.moved_bytes().filter(|&moved| moved > 0)?;
        Some(self.useful_bytes? as f64 / moved as f64)
    }

    /// No more is useful than is moved, no more lanes are idle than there are, and no share is
    /// above all others and below their mean.
    pub(crate) fn is_possible(&self) -> bool {
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
        // A stranger's numbers do not overflow.
        let huge = Predicted { load_sectors: Some(u64::MAX), store_sectors: Some(9), ..none() };
        assert_eq!(huge.moved_bytes(), Some(u64::MAX));
    }
}
