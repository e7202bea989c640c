//! The page's fonts are subsets: they have every character that the program itself writes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egui::FontId;
use egui::epaint::text::{Fonts, TextOptions};
use proc_macro2::{TokenStream, TokenTree};
use sparsescope::lesson::Lessons;
use sparsescope::model::Model;
use sparsescope::state::ViewState;
use sparsescope::views::texts_of;
use sparsescope_core::kernel::all_kernels;
use sparsescope_tests::{Links, Shown};

#[path = "../../web/src/fonts.rs"]
mod fonts;

/// Characters that texts hold, each with a place where it is.
#[derive(Default)]
struct Characters(BTreeMap<char, String>);

impl Characters {
    fn add(&mut self, text: &str, place: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            self.0.entry(c).or_insert_with(|| place.to_owned());
        }
    }

    /// The texts in a piece of a program, but for those of its tests and its documentation.
    fn add_literals(&mut self, tokens: TokenStream, place: &str) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let attribute = tokens.find(|token| matches!(token, TokenTree::Group(_)));
                    let text = attribute.map_or_else(String::new, |of| of.to_string());
                    if text.replace(char::is_whitespace, "") == "[cfg(test)]" {
                        // What follows ends with its body, or has none.
                        let ends = |token: &TokenTree| match token {
                            TokenTree::Group(group) => {
                                group.delimiter() == proc_macro2::Delimiter::Brace
                            }
                            TokenTree::Punct(mark) => mark.as_char() == ';',
                            _ => false,
                        };
                        let _ = tokens.find(ends);
                    }
                }
                TokenTree::Group(group) => self.add_literals(group.stream(), place),
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.add(&text.value(), place);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The files of a folder and of those in it that are no tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !name.ends_with("tests") {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_fonts_of_the_page_have_every_character_that_is_written() {
    let mut characters = Characters::default();
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/src");
    for path in sources(&app) {
        let text = std::fs::read_to_string(&path).unwrap();
        characters.add_literals(text.parse().unwrap(), &path.display().to_string());
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
            let texts = texts_of(step, &model, &state);
            let all = texts.text.iter().chain(&texts.ask).chain(&texts.choices);
            let place = format!("{}, step {}", lesson.id, page + 1);
            all.chain(&texts.answer).for_each(|text| characters.add(text, &place));
            characters.add(&format!("{}{}", lesson.title, step.title), &place);
        }
    }
    for kernel in all_kernels() {
        characters.add(kernel.id, kernel.id);
    }
    let mut fonts = Fonts::new(TextOptions::default(), fonts::definitions());
    let (text, signs) = (FontId::proportional(14.0), FontId::monospace(14.0));
    // Arrows of sorted columns ask for the other font, which alone has them.
    let font = |c: char| if ['▲', '▼'].contains(&c) { &signs } else { &text };
    let found = characters.0.iter();
    let missing: Vec<_> = found.filter(|(c, _)| !fonts.has_glyph(font(**c), **c)).collect();
    assert!(missing.is_empty(), "web/fonts lack {missing:?}: web/fonts/subset.py adds them");
    assert!(!fonts.has_glyph(&signs, '\u{5b57}'), "a character that no font of the page has");
}
