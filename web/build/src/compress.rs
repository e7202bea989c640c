//! Compressed copies, for servers that send precompressed files.

use std::io::Write as _;

use anyhow::Context;

/// Compresses with gzip at the highest level.
pub(crate) fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).context("cannot gzip")
}

/// Compresses with brotli at the highest level; `quick` if the size does not matter.
pub(crate) fn brotli(mut bytes: &[u8], quick: bool) -> anyhow::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: if quick { 2 } else { 11 },
        lgwin: 24,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut bytes, &mut packed, &params)
        .context("cannot compress with brotli")?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn both_come_back_as_they_were() {
        let text = "sparse ".repeat(1000).into_bytes();
        let (mut gunzipped, mut unbrotlied) = (Vec::new(), Vec::new());
        let packed = gzip(&text).unwrap();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut gunzipped).unwrap();
        for quick in [false, true] {
            unbrotlied.clear();
            brotli::BrotliDecompress(&mut &brotli(&text, quick).unwrap()[..], &mut unbrotlied)
                .unwrap();
            assert_eq!(unbrotlied, text);
        }
        assert_eq!(gunzipped, text);
        assert!(packed.len() < text.len() / 10);
    }
}
