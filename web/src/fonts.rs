//! The page's fonts: those of the window, with the characters that the interface uses. What they
//! lack, such as a name in another script, is drawn with the browser's fonts.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

/// How `web/fonts/subset.py` made them, and their licences, lie beside them.
const TEXT: &[u8] = include_bytes!("../fonts/Ubuntu-Light-derivative-Sparsescope.ttf");
const MONOSPACE: &[u8] = include_bytes!("../fonts/Hack-subset-Sparsescope.ttf");

/// The families as egui's own fonts make them up.
pub(crate) fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    for (name, data) in [("text", TEXT), ("monospace", MONOSPACE)] {
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
