//! The tables of a TrueType face that a PDF needs.

use std::collections::BTreeMap;

/// A face with its glyphs.
pub(super) struct Face {
    /// The file.
    pub(super) data: &'static [u8],
    /// Left, bottom, right and top of all glyphs, in thousandths of the size.
    pub(super) bounds: [i32; 4],
    /// Height above and below the base line, in thousandths of the size.
    pub(super) heights: [i32; 2],
    /// Widths by glyph, in thousandths of the size.
    advances: Vec<u32>,
    glyphs: BTreeMap<char, u16>,
}

impl Face {
    /// Reads a face; nothing if the file is not TrueType with the tables needed.
    pub(super) fn read(data: &'static [u8]) -> Option<Self> {
        let [head, hhea, hmtx, maxp, cmap] =
            [b"head", b"hhea", b"hmtx", b"maxp", b"cmap"].map(|tag| table(data, tag));
        let (head, hhea, hmtx) = (head?, hhea?, hmtx?);
        let units = u32::from(u16_at(head, 18)?).max(1);
        let thousandths = |at: &[u8], place| {
            let value = i32::from(u16_at(at, place)?.cast_signed());
            Some(value * 1000 / units.cast_signed())
        };
        let bounds = [36, 38, 40, 42].map(|place| thousandths(head, place));
        let [Some(left), Some(bottom), Some(right), Some(top)] = bounds else { return None };
        let last = u16_at(hhea, 34)?.checked_sub(1)?;
        let advances = (0..u16_at(maxp?, 4)?).map(|glyph| {
            let advance = u16_at(hmtx, 4 * usize::from(glyph.min(last)))?;
            Some(u32::from(advance) * 1000 / units)
        });
        Some(Self {
            data,
            bounds: [left, bottom, right, top],
            heights: [thousandths(hhea, 4)?, thousandths(hhea, 6)?],
            advances: advances.collect::<Option<_>>()?,
            glyphs: glyphs(cmap?)?,
        })
    }

    /// The glyph of a character.
    pub(super) fn glyph(&self, letter: char) -> Option<u16> {
        self.glyphs.get(&letter).copied()
    }

    /// The width of a glyph in thousandths of the size.
    pub(super) fn advance(&self, glyph: u16) -> u32 {
        self.advances.get(usize::from(glyph)).copied().unwrap_or_default()
    }
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

fn offset_at(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
}

/// The table of this name, to the end of the file.
fn table<'f>(data: &'f [u8], tag: &[u8; 4]) -> Option<&'f [u8]> {
    let entries = (0..u16_at(data, 4)?).map(|entry| 12 + 16 * usize::from(entry));
    let mut named = entries.filter(|at| data.get(*at..at + 4) == Some(&tag[..]));
    data.get(offset_at(data, named.next()? + 8)?..)
}

/// The glyphs of a character map in format 4: of all characters up to U+FFFF.
fn glyphs(cmap: &[u8]) -> Option<BTreeMap<char, u16>> {
    let entries = (0..u16_at(cmap, 2)?).map(|entry| 4 + 8 * usize::from(entry));
    let mut maps = entries.filter_map(|at| cmap.get(offset_at(cmap, at + 4)?..));
    let map = maps.find(|map| u16_at(map, 0) == Some(4))?;
    let twice = usize::from(u16_at(map, 6)?);
    let mut found = BTreeMap::new();
    for segment in (0..twice).step_by(2) {
        let end = u16_at(map, 14 + segment)?;
        let start = u16_at(map, 16 + twice + segment)?;
        let delta = u16_at(map, 16 + 2 * twice + segment)?;
        let place = 16 + 3 * twice + segment;
        let offset = usize::from(u16_at(map, place)?);
        for code in start..=end {
            let glyph = match offset {
                0 => code.wrapping_add(delta),
                _ => match u16_at(map, place + offset + 2 * usize::from(code - start))? {
                    0 => 0,
                    glyph => glyph.wrapping_add(delta),
                },
            };
            if let Some(letter) = char::from_u32(code.into()).filter(|_| glyph != 0) {
                found.insert(letter, glyph);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{LIGHT_FACE, SEMIBOLD, strong_width, text_width};

    #[test]
    fn letters_have_glyphs_as_wide_as_the_layout_takes_them_for() {
        type Width = fn(&str, f32) -> f32;
        let faces = [(LIGHT_FACE, text_width as Width), (SEMIBOLD, strong_width as Width)];
        for (data, width) in faces {
            let face = Face::read(data).unwrap();
            for letter in ' '..='~' {
                let found = face.advance(face.glyph(letter).unwrap()) as f32;
                let expected = width(&letter.to_string(), 1000.0);
                assert!((found - expected).abs() <= 0.01 * expected, "{letter}: {found}");
            }
            assert_eq!(face.glyph('\u{5b57}'), None);
            let [left, bottom, right, top] = face.bounds;
            assert!(left < right && bottom < 0 && top > 500, "{:?}", face.bounds);
            assert!(face.heights[0] > 0 && face.heights[1] < 0, "{:?}", face.heights);
        }
    }

    #[test]
    fn what_is_not_a_font_is_refused() {
        assert!(Face::read(b"").is_none());
        assert!(Face::read(b"\0\x01\0\0\0\x05 no tables here").is_none());
        for cut in [12, 100, 1000] {
            assert!(Face::read(&LIGHT_FACE[..cut]).is_none(), "{cut}");
        }
    }
}
