//! The binary files of bundles: unsigned integers in as few bytes as they need (LEB128), and their size once
//! deflated.

use std::io::Write;

/// Content up to this size may have any compression ratio.
pub const SMALL: usize = 1 << 20;

/// Highest compression ratio of larger content: readers take a higher one for an attack.
pub const HIGHEST_RATIO: u64 = 100;

/// Whether content stays within `budget` bytes once deflated, and within the compression ratio that readers
/// of bundles accept.
pub fn fits(content: &[u8], budget: u64) -> bool {
    let deflated = deflated_len(content);
    let plausible = content.len() <= SMALL || content.len() as u64 <= HIGHEST_RATIO * deflated;
    deflated <= budget && plausible
}

/// Size after deflating as the bundle does.
pub fn deflated_len(content: &[u8]) -> u64 {
    let mut encoder =
        flate2::write::DeflateEncoder::new(std::io::sink(), flate2::Compression::default());
    // A sink never fails.
    let _ = encoder.write_all(content).and_then(|()| encoder.try_finish());
    encoder.total_out()
}

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front, or returns what is wrong.
pub fn take(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("the data ends before the last number")?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number has more than 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_what_is_cut_or_too_long_is_refused() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&mut bytes.as_slice()), Ok(number));
            bytes.pop();
            assert!(take(&mut bytes.as_slice()).is_err(), "{number}");
        }
        assert!(take(&mut [0xff; 10].as_slice()).is_err());
    }
}
