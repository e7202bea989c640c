//! Text and fonts of a PDF.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::face::Face;
use super::file::File;
use crate::figure::{LIGHT_FACE, SEMIBOLD};

/// Shown for a character that no face has.
const UNKNOWN: char = '?';

/// A face, its name, and the glyphs used with their characters.
struct Font {
    name: &'static str,
    face: Face,
    used: BTreeMap<u16, char>,
}

/// The light and the semibold face.
pub(super) struct Fonts(Vec<Font>);

impl Fonts {
    pub(super) fn new() -> Self {
        let all = [("Sparsescope-Light", LIGHT_FACE), ("Sparsescope-Semibold", SEMIBOLD)];
        let font = |(name, data): (&'static str, &'static [u8])| {
            let face = Face::read(data).expect("the program's fonts are valid"); // invariant
            Font { name, face, used: BTreeMap::new() }
        };
        Self(all.into_iter().map(font).collect())
    }

    /// The operators that show a text, and its width. Characters that the face does not have are taken from
    /// the light one.
    pub(super) fn show(&mut self, text: &str, strong: bool, size: f32) -> (String, f32) {
        let (mut out, mut width, mut last) = (String::new(), 0, None);
        for letter in text.chars() {
            let choices = [(usize::from(strong), letter), (0, letter), (0, UNKNOWN)];
            let found = choices.into_iter().find_map(|(place, shown)| {
                let font = self.0.get_mut(place)?;
                let glyph = font.face.glyph(shown)?;
                font.used.insert(glyph, shown);
                Some((place, glyph, font.face.advance(glyph)))
            });
            let Some((place, glyph, advance)) = found else { continue };
            if last != Some(place) {
                let end = if last.is_some() { "> Tj " } else { "" };
                let _ = write!(out, "{end}/F{place} {size} Tf <");
                last = Some(place);
            }
            let _ = write!(out, "{glyph:04x}");
            width += advance;
        }
        if last.is_some() {
            out.push_str("> Tj ");
        }
        (out, width as f32 * size / 1000.0)
    }

    /// Writes the fonts used; returns their names and numbers.
    pub(super) fn write(self, file: &mut File) -> String {
        let mut names = String::new();
        for (place, font) in self.0.iter().enumerate().filter(|(_, font)| !font.used.is_empty()) {
            let number = font.write(file);
            let _ = write!(names, "/F{place} {number} 0 R ");
        }
        names
    }
}

impl Font {
    fn write(&self, file: &mut File) -> usize {
        let Self { name, face, used } = self;
        let data = file.add_stream(&format!("/Length1 {} ", face.data.len()), face.data);
        let [left, bottom, right, top] = face.bounds;
        let [ascent, descent] = face.heights;
        let descriptor = file.add_dictionary(&format!(
            "/Type /FontDescriptor /FontName /{name} /Flags 4 /ItalicAngle 0 /StemV 80 \
             /FontBBox [{left} {bottom} {right} {top}] /Ascent {ascent} /Descent {descent} \
             /CapHeight {ascent} /FontFile2 {data} 0 R"
        ));
        let widths = used.keys().map(|glyph| format!("{glyph} [{}] ", face.advance(*glyph)));
        let widths: String = widths.collect();
        let descendant = file.add_dictionary(&format!(
            "/Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity \
             /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
             /FontDescriptor {descriptor} 0 R /W [{widths}]"
        ));
        let characters = file.add_stream("", characters(used).as_bytes());
        file.add_dictionary(&format!(
            "/Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H \
             /DescendantFonts [{descendant} 0 R] /ToUnicode {characters} 0 R"
        ))
    }
}

/// The characters of glyphs, so that text can be searched and copied.
fn characters(used: &BTreeMap<u16, char>) -> String {
    let mut out = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapType 2 def\n\
         /CMapName /Adobe-Identity-UCS def\n\
         /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n\
         1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n",
    );
    let all: Vec<(&u16, &char)> = used.iter().collect();
    // A section has at most 100 entries.
    for part in all.chunks(100) {
        let _ = writeln!(out, "{} beginbfchar", part.len());
        for (glyph, letter) in part {
            let _ = writeln!(out, "<{glyph:04x}> <{}>", utf16(&letter.to_string()));
        }
        out.push_str("endbfchar\n");
    }
    out + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
}

fn utf16(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("{unit:04x}")).collect()
}

/// A text outside of the drawing.
pub(super) fn hex(text: &str) -> String {
    format!("<feff{}>", utf16(text))
}
