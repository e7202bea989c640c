//! The distinct values of a matrix, and codes for them.

use sparsescope_core::matrix::Offset;

use crate::arguments::{CsrDistinct, Element, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, row_count};
use crate::launch::{Launch, Shape, Step, enqueue, preset};

/// Maximum number of values in a table: as much as the caches nearest to the threads hold.
const MOST_DISTINCT: usize = 1 << 13;

/// Number of values that 8-bit codes can represent.
const OF_BYTE: usize = 1 << 8;

/// Threads per block, and adjacent values that a block takes.
const BLOCK: u32 = 256;
const OF_BLOCK: u64 = 1024;

/// Maximum number of blocks, and of those that take a sample.
const MOST_BLOCKS: u64 = 2048;
const SAMPLED: u64 = 64;

/// What the codes are for, in errors.
const CODES: &str = "the codes of values";

/// Distinct values in a hash table on the device.
pub(super) struct Distinct {
    /// The values that codes are indices of.
    values: Buffer<f64>,
    /// Bit patterns of values by their place in the table, and the code of each.
    pub(super) keys: Buffer<u64>,
    pub(super) index: Buffer<u32>,
    /// Number of the others than 0.
    count: Buffer<u32>,
    /// Whether a value was looked for that the table does not have.
    pub(super) missing: Buffer<u32>,
}

impl Distinct {
    /// A table of 0, the value of padding, whose code is 0 too; without places unless `encodes`.
    pub(super) fn new(device: &Device, encodes: bool) -> Result<Self, DeviceError> {
        let most = if encodes { MOST_DISTINCT } else { 0 };
        // SAFETY: the kernels take places of all ones as free, and count others than 0.
        let (keys, count, missing) = unsafe {
            (
                preset::<u64>(device, "a table of values", 2 * most, 0xff)?,
                preset::<u32>(device, "the number of distinct values", 1, 0)?,
                preset::<u32>(device, "whether a value is missing", 1, 0)?,
            )
        };
        let index = Buffer::unset(device, "a table of values", 2 * most)?;
        let values = Buffer::unset(device, "the distinct values", most)?;
        // 0 has the first place.
        if let (Some(key), Some(code), Some(value)) =
            (keys.part(0..1), index.part(0..1), values.part(0..1))
        {
            // SAFETY: the bits of 0 are a value's, and its code is that of the first value.
            let steps = unsafe {
                [Step::fill_numbers(&key, 0), Step::fill_numbers(&code, 0), Step::zero(&value)]
            };
            enqueue(device, &steps)?;
        }
        Ok(Self { values, keys, index, count, missing })
    }

    /// Adds the values of a matrix in CSR: all, or a sample from everywhere.
    pub(super) fn add<O: Offset + Element>(
        &self,
        device: &Device,
        (row_ptr, val): (&Buffer<O>, &Buffer<f64>),
        is_sample: bool,
    ) -> Result<(), DeviceError> {
        let all = val.len() as u64;
        let most = if is_sample { SAMPLED } else { MOST_BLOCKS };
        let grid = all.div_ceil(OF_BLOCK).clamp(1, most);
        let arguments = CsrDistinct {
            rows: row_count(row_ptr.len() - 1)?,
            apart: if is_sample { all.div_ceil(grid).max(1) } else { OF_BLOCK },
            row_ptr: Reads(row_ptr),
            val: Reads(val),
            capacity: self.keys.len() as u32,
            keys: Writes(&self.keys),
            index: Writes(&self.index),
            distinct: Writes(&self.values),
            count: Writes(&self.count),
        };
        let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
        // SAFETY: the last offset is the number of values; the table has `capacity` places, and half
        // as many values are stored.
        let launch = unsafe { Launch::new(device, "csr_setup_distinct", shape, &arguments)? };
        enqueue(device, &[Step::Launch(launch)])
    }

    /// The values; `None` if they are too many.
    pub(super) fn values(&self, device: &Device) -> Result<Option<Buffer<f64>>, DeviceError> {
        let found = self.count.to_host(device)?.first().map_or(0, |&count| count as usize);
        Ok(self.values.part(0..1 + found))
    }

    /// Room for the codes of this many slots, one bit of which tells between two windows.
    pub(super) fn codes(
        device: &Device,
        (values, windows): (&Buffer<f64>, u32),
        slots: usize,
    ) -> Result<Buffer<u8>, DeviceError> {
        let bytes = if are_bytes(windows, values.len()) { 1 } else { 2 };
        Buffer::unset(device, CODES, bytes * slots)
    }

    /// No codes.
    pub(super) fn no_codes(device: &Device) -> Result<Buffer<u8>, DeviceError> {
        Buffer::unset(device, CODES, 0)
    }

    /// Whether a value was missing, after all previous work.
    pub(super) fn is_missing(&self, device: &Device) -> Result<bool, DeviceError> {
        Ok(self.missing.to_host(device)?.iter().any(|&flag| flag != 0))
    }
}

/// Whether codes of this many values have 8 bits, one of which tells between two windows.
fn are_bytes(windows: u32, distinct: usize) -> bool {
    (if windows == 2 { 2 } else { 1 }) * distinct <= OF_BYTE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_the_same_limits() {
        let (_, common) = crate::kernels::COMMON;
        let (_, setup) = crate::Family::CsrSetup.source();
        assert!(common.contains(&format!(", OF_BYTE = {OF_BYTE};")));
        assert!(common.contains("return (windows == 2 ? 2 : 1) * distinct <= OF_BYTE;"));
        assert!(setup.contains(&format!("AT_ONCE = {};", OF_BLOCK / u64::from(BLOCK))));
        assert_eq!([(1, 256), (1, 257)].map(|(w, n)| are_bytes(w, n)), [true, false]);
        assert_eq!([(2, 128), (2, 129)].map(|(w, n)| are_bytes(w, n)), [true, false]);
    }
}
