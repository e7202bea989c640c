//! The start page: its words and what it opens, read from `app/example/landing.json`. The web page is built from
//! the same file.

use serde::Deserialize;

/// The words of the start page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Landing {
    /// The headline.
    pub headline: String,
    /// The sentence below it.
    pub sentence: String,
    /// The cards.
    pub cards: Vec<Card>,
    /// The text of the button that opens files.
    pub open: String,
    /// What else opens files.
    pub drop: String,
    /// The text of the button that measures.
    pub measure: String,
    /// More examples.
    pub more: Vec<Door>,
}

/// A card: a picture and a few words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The title.
    pub title: String,
    /// The text.
    pub text: String,
    /// The name of its picture in `app/example/landing`, without theme and extension.
    pub picture: String,
    /// What a click opens.
    pub opens: Door,
}

/// Something to open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Door {
    /// What it is called.
    pub action: String,
    /// The name of an example without its extension, if one is opened.
    #[serde(default)]
    pub example: Option<String>,
    /// The link to what is shown.
    pub link: String,
}

impl Landing {
    /// Reads the words.
    ///
    /// # Errors
    /// If the text is not valid.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}
