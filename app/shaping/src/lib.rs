//! Finds the glyph and the width of each character, in place of the shaper `harfrust`, and with the same names:
//! those that `epaint` and `usvg` use. The program's fonts are cut down to characters that stand alone. They
//! have neither ligatures nor kerning, so that both shapers place the same glyphs. Characters of other scripts
//! are not in the fonts: a browser draws them. A shaper for every script would be a twelfth of the page.

use skrifa::MetadataProvider;
use skrifa::charmap::MappingIndex;
use skrifa::instance::{LocationRef, Size};
pub use skrifa::{FontRef, Tag};
use unicode_segmentation::UnicodeSegmentation;

/// What is known about a font before any text.
pub struct ShaperData {
    mapping: MappingIndex,
}

impl ShaperData {
    /// Looks for the font's map of characters.
    pub fn new(font: &FontRef<'_>) -> Self {
        Self { mapping: MappingIndex::new(font) }
    }

    /// Begins a shaper for the same font.
    pub fn shaper<'a>(&'a self, font: &'a FontRef<'a>) -> ShaperBuilder<'a> {
        ShaperBuilder { data: self, font }
    }
}

/// A shaper to be built.
pub struct ShaperBuilder<'a> {
    data: &'a ShaperData,
    font: &'a FontRef<'a>,
}

impl<'a> ShaperBuilder<'a> {
    /// Does nothing: the fonts have no variations.
    pub fn instance(self, _: Option<&ShaperInstance>) -> Self {
        self
    }

    /// The shaper.
    pub fn build(self) -> Shaper<'a> {
        let Self { data, font } = self;
        Shaper { data, font }
    }
}

/// A place in the design space of a variable font.
#[derive(Clone, Copy, Debug)]
pub struct Variation {
    /// The axis.
    pub tag: Tag,
    /// The place on it.
    pub value: f32,
}

/// A variable font at some place.
pub struct ShaperInstance;

impl ShaperInstance {
    /// Does nothing: the fonts have no variations.
    pub fn from_variations(_: &FontRef<'_>, _: impl IntoIterator) -> Self {
        Self
    }
}

/// A feature of a font, such as kerning.
#[derive(Clone, Copy, Debug)]
pub struct Feature;

impl Feature {
    /// No feature: the fonts have none.
    pub fn new(_: Tag, _: u32, _: impl std::ops::RangeBounds<usize>) -> Self {
        Self
    }
}

/// How to shape a text; there are no options.
#[derive(Default)]
pub struct ShapeOptions;

impl ShapeOptions {
    /// No options.
    pub fn new() -> Self {
        Self
    }

    /// Does nothing: the fonts have no features.
    pub fn features(self, _: &[Feature]) -> Self {
        self
    }
}

/// In which direction a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As in all scripts of the fonts.
    LeftToRight,
    /// Not used by any script of the fonts.
    RightToLeft,
}

/// Where a text stands in its paragraph, which makes no difference here.
#[derive(Clone, Copy, Debug)]
pub struct BufferFlags;

impl BufferFlags {
    /// At the begin.
    pub const BEGINNING_OF_TEXT: Self = Self;
    /// At the end.
    pub const END_OF_TEXT: Self = Self;

    /// In the middle.
    pub fn empty() -> Self {
        Self
    }
}

impl std::ops::BitOrAssign for BufferFlags {
    fn bitor_assign(&mut self, _: Self) {}
}

/// A text to be shaped.
#[derive(Default)]
pub struct UnicodeBuffer {
    text: String,
    glyphs: GlyphBuffer,
}

impl UnicodeBuffer {
    /// Without text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does nothing.
    pub fn set_flags(&mut self, _: BufferFlags) {}

    /// Appends text.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Does nothing: text runs from left to right.
    pub fn set_direction(&mut self, _: Direction) {}

    /// Does nothing: text runs from left to right.
    pub fn guess_segment_properties(&mut self) {}
}

/// A glyph and its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlyphInfo {
    /// The glyph's number in the font; 0 if the font lacks the character.
    pub glyph_id: u32,
    /// Where the grapheme cluster of the character begins in the text, in bytes.
    pub cluster: u32,
}

/// Where a glyph is placed, in units of the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlyphPosition {
    /// Its width.
    pub x_advance: i32,
    /// Always 0.
    pub x_offset: i32,
    /// Always 0.
    pub y_offset: i32,
}

/// The glyphs of a text.
#[derive(Default)]
pub struct GlyphBuffer {
    infos: Vec<GlyphInfo>,
    positions: Vec<GlyphPosition>,
    text: String,
}

impl GlyphBuffer {
    /// Number of glyphs.
    #[expect(clippy::len_without_is_empty, reason = "only what is used")]
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// The glyphs.
    pub fn glyph_infos(&self) -> &[GlyphInfo] {
        &self.infos
    }

    /// Their places.
    pub fn glyph_positions(&self) -> &[GlyphPosition] {
        &self.positions
    }

    /// The memory for the next text.
    pub fn clear(mut self) -> UnicodeBuffer {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        self.infos.clear();
        self.positions.clear();
        UnicodeBuffer { text, glyphs: self }
    }
}

/// Turns text in a font into glyphs.
pub struct Shaper<'a> {
    data: &'a ShaperData,
    font: &'a FontRef<'a>,
}

impl Shaper<'_> {
    /// The glyphs of a text, one per character.
    pub fn shape(&self, buffer: UnicodeBuffer, _: ShapeOptions) -> GlyphBuffer {
        let UnicodeBuffer { text, mut glyphs } = buffer;
        let map = self.data.mapping.charmap(self.font);
        let metrics = self.font.glyph_metrics(Size::unscaled(), LocationRef::default());
        for (cluster, characters) in text.grapheme_indices(true) {
            for character in characters.chars() {
                let glyph = map.map(character).unwrap_or_default();
                let width = metrics.advance_width(glyph).unwrap_or_default();
                let cluster = cluster as u32;
                glyphs.infos.push(GlyphInfo { glyph_id: glyph.to_u32(), cluster });
                let x_advance = width as i32;
                glyphs.positions.push(GlyphPosition { x_advance, x_offset: 0, y_offset: 0 });
            }
        }
        glyphs.text = text;
        glyphs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_become_their_glyphs_with_the_widths_of_the_font() {
        let font = include_bytes!("../../figures/fonts/Ubuntu-Light-derivative-Sparsescope.ttf");
        let font = FontRef::new(font).unwrap();
        let data = ShaperData::new(&font);
        let shape = |text: &str, mut buffer: UnicodeBuffer| {
            buffer.push_str(text);
            data.shaper(&font).instance(None).build().shape(buffer, ShapeOptions::new())
        };
        let shaped = shape("A\u{4e00}1", UnicodeBuffer::new());
        let infos = shaped.glyph_infos();
        assert_eq!(infos.iter().map(|info| info.cluster).collect::<Vec<_>>(), [0, 1, 4]);
        assert!(infos[0].glyph_id > 0 && infos[2].glyph_id > 0 && infos[1].glyph_id == 0);
        // The advance widths of A and 1 in the table hmtx; the font has 1000 units per em.
        let widths: Vec<i32> = shaped.glyph_positions().iter().map(|at| at.x_advance).collect();
        assert_eq!((widths[0], widths[2]), (641, 564));
        let again = shape("1", shaped.clear());
        assert_eq!(again.glyph_infos().len(), 1);
    }
}
