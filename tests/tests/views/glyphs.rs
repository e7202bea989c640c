//! The page's fonts are subsets: they contain every character that the program itself writes.

use std::collections::BTreeMap;
use std::path::Path;

use egui::FontId;
use egui::epaint::text::{Fonts, TextOptions};
use sparsescope_core::kernel::all_kernels;
use sparsescope_figures::lesson::Lessons;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::texts_of;
use sparsescope_tests::{Links, Shown, texts};

#[path = "../../../web/src/fonts.rs"]
mod fonts;

/// Characters in texts, each with a place where it occurs.
#[derive(Default)]
struct Characters(BTreeMap<char, String>);

impl Characters {
    fn add(&mut self, text: &str, place: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            self.0.entry(c).or_insert_with(|| place.to_owned());
        }
    }
}

#[test]
fn the_fonts_of_the_page_have_every_character_that_is_written() {
    let mut characters = Characters::default();
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let roots = ["app/figures/src/lib.rs", "app/views/src/lib.rs"].map(Path::new);
    for found in roots.into_iter().flat_map(|root| texts(workspace, root).unwrap()) {
        characters.add(&found.text, &format!("{}:{}", found.file.display(), found.line));
    }
    let links = Links::read();
    let small = ["layouts", "levels", "skyline", "preconditioner"].map(|id| format!("view={id};"));
    for link in links.links.iter().filter(|link| small.iter().any(|view| link.contains(view))) {
        let shown = Shown::of(&links.fresh(), link);
        characters.add(&shown.table, link);
        characters.add(&shown.svg.unwrap_or_default(), link);
    }
    let model = Model::default();
    for lesson in Lessons::default().iter() {
        for (page, step) in (0..).zip(&lesson.steps) {
            let mut state = ViewState::default();
            lesson.show(page, true, &mut state);
            let filled = texts_of(step, &model, &state);
            let all = filled.text.iter().chain(&filled.ask).chain(&filled.choices);
            let place = format!("{}, step {}", lesson.id, page + 1);
            all.chain(&filled.answer).for_each(|text| characters.add(text, &place));
            characters.add(&format!("{}{}", lesson.title, step.title), &place);
        }
    }
    for kernel in all_kernels() {
        characters.add(kernel.id, kernel.id);
    }
    let mut fonts = Fonts::new(TextOptions::default(), fonts::definitions());
    let (text, signs) = (FontId::proportional(14.0), FontId::monospace(14.0));
    // Arrows of sorted columns use the other font, the only one that has them.
    let font = |c: char| if ['▲', '▼'].contains(&c) { &signs } else { &text };
    let found = characters.0.iter();
    let missing: Vec<_> = found.filter(|(c, _)| !fonts.has_glyph(font(**c), **c)).collect();
    assert!(missing.is_empty(), "the fonts lack {missing:?}: web/fonts/subset.py adds them");
    assert!(!fonts.has_glyph(&signs, '\u{5b57}'), "a character that no font of the page has");
}
