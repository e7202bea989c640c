//! The page's fonts: those of the window, reduced to the characters of the interface. Others, such as names
//! in another script, are drawn with the browser's fonts.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};
use sparsescope_figures::figure::LIGHT_FACE;

/// `web/fonts/subset.py`, which made it, and its licence are in the same folder.
const MONOSPACE: &[u8] = include_bytes!("../fonts/Hack-subset-Sparsescope.ttf");

/// The same families as in egui's own fonts.
pub(crate) fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    for (name, data) in [("text", LIGHT_FACE), ("monospace", MONOSPACE)] {
        fonts.font_data.insert(name.into(), Arc::new(FontData::from_static(data)));
    }
    let families = [
        (FontFamily::Proportional, vec!["text"]),
        (FontFamily::Monospace, vec!["monospace", "text"]),
    ];
    for (family, names) in families {
        fonts.families.insert(family, names.into_iter().map(str::to_owned).collect());
    }
    fonts
}
