//! Percent-encoding of text in addresses (RFC 3986).

/// Letters, digits and these bytes have no special meaning in any part of an address.
const UNRESERVED: &[u8] = b"-_.~";

/// Encodes every byte except the unreserved ones and those of `plain`.
pub fn encode(text: &str, plain: &[u8]) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) || plain.contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Inverts [`encode`]; returns `None` if an escape is truncated or the bytes are not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            out.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_from_its_encoding() {
        for text in ["a b#c?.zip", "ä%2f", "plain-1.zip", "100 %/+&=", ""] {
            for plain in [&b""[..], b"/:,()"] {
                assert_eq!(decode(&encode(text, plain)).as_deref(), Some(text));
            }
        }
        assert_eq!(encode("a/b c+ä", b"/"), "a/b%20c%2B%C3%A4");
        assert_eq!(encode("a/b", b""), "a%2Fb");
    }

    #[test]
    fn what_was_never_encoded_is_refused() {
        for text in ["%", "%4", "%4g", "%ff", "a%C3"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
