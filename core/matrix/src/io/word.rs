//! Integers of a width that only a file says.

/// The bits of a number of 1, 2, 4 or 8 bytes; `None` if there are another number of them.
#[inline]
pub(super) fn bits(bytes: &[u8], is_big: bool) -> Option<u64> {
    let bits = match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => return None,
    };
    Some(if is_big { bits.swap_bytes() >> (64 - 8 * bytes.len()) } else { bits })
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn both_byte_orders_of_every_width_are_read() {
        let bytes = [0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08];
        for (width, little, big) in [
            (1, 0x81, 0x81),
            (2, 0x0281, 0x8102),
            (4, 0x0403_0281, 0x8102_0304),
            (8, 0x0807_0605_0403_0281, 0x8102_0304_0506_0708),
        ] {
            assert_eq!(bits(&bytes[..width], false), Some(little));
            assert_eq!(bits(&bytes[..width], true), Some(big));
        }
        assert_eq!([0, 3, 5].map(|width| bits(&bytes[..width], true)), [None; 3]);
    }
}
