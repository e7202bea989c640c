//! The start page: HTML in the page itself, made of `app/example/landing.json`, so that it is shown before any
//! program is loaded.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::dist::{Dist, hashed_name};

/// Runs before the page is drawn: an address that names what to show goes there without the start page.
const GOES_ON: &str = "if(location.hash||/[?&](bundle=|embed)/.test(location.search)||parent!==window)document.documentElement.className=\"opens\"";

/// The start page of the hosted page.
pub(crate) struct Landing {
    /// Its element.
    pub(crate) html: String,
    /// The script of the head.
    pub(crate) script: String,
    /// What the policy says to allow this script.
    pub(crate) allowed: String,
    /// The names of the pictures.
    pub(crate) pictures: Vec<String>,
}

impl Landing {
    /// Reads the words and pictures in `examples`, and writes the pictures into `dist`.
    pub(crate) fn write(
        examples: &Path,
        lessons: &[Value],
        dist: &Dist,
        quick: bool,
    ) -> anyhow::Result<Self> {
        let path = examples.join("landing.json");
        let words: Value = serde_json::from_slice(&read(&path)?)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let mut pictures = Vec::new();
        let mut cards = String::new();
        for card in list(&words, "cards")? {
            let mut names = ["light", "dark"].map(str::to_owned);
            for name in &mut names {
                let file = format!("{}-{name}.svg", text(card, "picture")?);
                let bytes = read(&examples.join("landing").join(&file))?;
                let stem = file.trim_end_matches(".svg");
                *name = hashed_name(stem, "svg", &bytes);
                dist.write_packed(name, &bytes, quick)?;
            }
            let [light, dark] = &names;
            let opens = &card["opens"];
            writeln!(
                cards,
                "<a class=\"card\"{}>\
                 <picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\">\
                 <img src=\"{light}\" alt=\"\" width=\"372\" height=\"250\"></picture>\
                 <h2>{}</h2><p>{}</p><span>{} <span aria-hidden=\"true\">→</span></span></a>",
                opened(opens)?,
                escape(text(card, "title")?),
                escape(text(card, "text")?),
                escape(text(opens, "action")?),
            )?;
            pictures.extend(names);
        }
        let mut more = String::new();
        for door in list(&words, "more")? {
            link(&mut more, &opened(door)?, text(door, "action")?)?;
        }
        let mut taught = String::new();
        for lesson in lessons {
            let href = format!(" href=\"#v1;lesson={},0\"", escape(text(lesson, "id")?));
            link(&mut taught, &href, text(lesson, "title")?)?;
        }
        let [headline, sentence, open, drop, measure] =
            ["headline", "sentence", "open", "drop", "measure"].map(|key| text(&words, key));
        let html = format!(
            "<main id=\"landing\" tabindex=\"-1\">\n\
             <p class=\"name\">Sparsescope</p>\n\
             <h1>{}</h1>\n<p class=\"lead\">{}</p>\n\
             <div class=\"cards\">\n{cards}</div>\n\
             <div class=\"files\"><button id=\"open\">{}</button><p>{}</p>\
             <button id=\"measure\">{}</button></div>\n\
             <nav aria-label=\"More examples\"><h2>More examples</h2>{more}</nav>\n\
             <nav aria-label=\"Lessons\"><h2>Lessons</h2>{taught}</nav>\n\
             <footer><a href=\"notices.txt\" rel=\"license\">Licences of the code in this page</a></footer>\n\
             <noscript><p>This page needs JavaScript.</p></noscript>\n\
             </main>",
            escape(headline?),
            escape(sentence?),
            escape(open?),
            escape(drop?),
            escape(measure?),
        );
        let digest = BASE64_STANDARD.encode(Sha256::digest(GOES_ON));
        Ok(Self {
            html,
            script: format!("<script>{GOES_ON}</script>\n"),
            allowed: format!("'sha256-{digest}'"),
            pictures,
        })
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn text<'a>(of: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    of[key].as_str().with_context(|| format!("the start page needs a text `{key}`"))
}

fn list<'a>(of: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    of[key].as_array().with_context(|| format!("the start page needs a list `{key}`"))
}

/// The attributes of a link to what a card or an example opens. The link also works in a new tab.
fn opened(door: &Value) -> anyhow::Result<String> {
    let link = escape(text(door, "link")?);
    Ok(match door["example"].as_str() {
        Some(example) => {
            let example = escape(example);
            format!(" href=\"?bundle=examples/{example}.zip#{link}\" data-example=\"{example}\"")
        }
        None => format!(" href=\"#{link}\""),
    })
}

fn link(html: &mut String, attributes: &str, text: &str) -> std::fmt::Result {
    write!(html, "<a{attributes}>{}</a>", escape(text))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
