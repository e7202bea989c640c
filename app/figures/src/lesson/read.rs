//! Reads lessons: the file is untrusted, so sizes are limited, and an error is one sentence.

use serde_json::{Map, Value};

use super::{Lesson, Step};
use crate::state::{LAYOUTS, ViewState};

/// Maximum size of a file.
pub const MOST_BYTES: usize = 1 << 18;
/// Maximum number of steps per lesson, paragraphs per text, and choices.
const MOST_STEPS: usize = 100;
const MOST_PARTS: usize = 12;
/// Maximum number of characters of a title, of a paragraph, and of an address.
const TITLE: usize = 120;
const PARAGRAPH: usize = 1200;
const ADDRESS: usize = 4000;

const FORMAT: &str = "sparsescope-lesson";
const VERSION: u64 = 1;

/// The error in a lesson: a sentence without its full stop.
pub type LessonError = String;

type Read<T> = Result<T, LessonError>;

/// Returns whether to read a file as a lesson: it starts like a JSON object, or has the right name.
/// JSON that contains `"spmv"` or `"benchmarks"` holds another program's results, and so does a
/// list.
pub fn is_lesson(name: &str, bytes: &[u8]) -> bool {
    let names = |name: &str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    match bytes.trim_ascii_start().first() {
        Some(b'{') => !names("\"spmv\"") && !names("\"benchmarks\""),
        Some(b'[') => false,
        _ => name.to_ascii_lowercase().ends_with(".json"),
    }
}

impl Lesson {
    /// Reads a lesson.
    ///
    /// # Errors
    /// A sentence that says what is wrong, where, and what was expected.
    pub fn read(bytes: &[u8]) -> Read<Self> {
        if bytes.len() > MOST_BYTES {
            return Err(format!(
                "a lesson has at most {MOST_BYTES} bytes, this file has {}",
                bytes.len()
            ));
        }
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| format!("not a lesson: not a JSON file: {error}"))?;
        Self::from_json(&value)
    }

    /// Reads a lesson from its JSON.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_json(value: &Value) -> Read<Self> {
        let top = Part { at: "the lesson".into(), map: value.as_object() };
        let format = top.text("format", 100);
        if format.as_deref() != Ok(FORMAT) {
            return Err(format!("not a lesson: `format` is not `{FORMAT}`"));
        }
        match top.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(newer @ 2..) => {
                return Err(format!(
                    "the lesson has version {newer}, expected {VERSION}: use a newer Sparsescope"
                ));
            }
            _ => return Err(format!("the lesson: `version` is not the number {VERSION}")),
        }
        top.knows(&["format", "version", "id", "language", "title", "steps"])?;
        let id = top.text("id", 60)?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !id.chars().all(fits) {
            return Err(format!(
                "the lesson: `id` is `{id}`, expected lower-case letters, digits and -"
            ));
        }
        let steps = top.get("steps").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if steps.is_empty() || steps.len() > MOST_STEPS {
            return Err(format!("the lesson: `steps` is not a list of 1 to {MOST_STEPS} steps"));
        }
        let numbered = steps.iter().enumerate();
        Ok(Self {
            id,
            language: top.text("language", 20)?,
            title: top.text("title", TITLE)?,
            steps: numbered.map(|(k, step)| read_step(k + 1, step)).collect::<Read<_>>()?,
        })
    }
}

fn read_step(number: usize, value: &Value) -> Read<Step> {
    let part = Part { at: format!("step {number}"), map: value.as_object() };
    part.knows(&["title", "text", "ask", "choices", "right", "answer", "show", "then"])?;
    let has = |key| part.get(key).is_some();
    let step = Step {
        title: part.text("title", TITLE)?,
        text: part.texts("text")?,
        ask: if has("ask") { Some(part.text("ask", PARAGRAPH)?) } else { None },
        choices: if has("choices") { part.texts("choices")? } else { Vec::new() },
        right: None,
        answer: if has("answer") { part.texts("answer")? } else { Vec::new() },
        show: part.state("show")?,
        then: if has("then") { Some(part.state("then")?) } else { None },
    };
    let choices = step.choices.len();
    let needs = |missing: &str| Err(format!("{}: `{missing}` is missing", part.at));
    if step.ask.is_some() && step.answer.is_empty() {
        return needs("answer");
    }
    if step.ask.is_none() && (choices > 0 || step.hides()) {
        return needs("ask");
    }
    if choices == 0 && !has("right") {
        return Ok(step);
    }
    let right = part.get("right").and_then(Value::as_u64).unwrap_or(0) as usize;
    if choices < 2 || right == 0 || right > choices {
        let at = part.at;
        return Err(format!(
            "{at}: expected at least 2 `choices`, and `right` to be the number of one of them, from 1"
        ));
    }
    Ok(Step { right: Some(right - 1), ..step })
}

/// A JSON object and its name in error messages.
struct Part<'a> {
    at: String,
    map: Option<&'a Map<String, Value>>,
}

impl Part<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.map?.get(key)
    }

    /// Rejects unknown keys: usually typos.
    fn knows(&self, known: &[&str]) -> Read<()> {
        let Some(map) = self.map else {
            return Err(format!("{} is not a JSON object", self.at));
        };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!(
                "{}: `{key}` is unknown, expected one of {}",
                self.at,
                known.join(", ")
            )),
            None => Ok(()),
        }
    }

    fn text(&self, key: &str, most: usize) -> Read<String> {
        self.checked(key, self.get(key), most)
    }

    fn checked(&self, key: &str, value: Option<&Value>, most: usize) -> Read<String> {
        let text = value.and_then(Value::as_str).unwrap_or_default();
        match text.chars().count() {
            1.. if text.len() <= 4 * most && text.chars().count() <= most => Ok(text.into()),
            _ => Err(format!("{}: `{key}` is not a string of 1 to {most} characters", self.at)),
        }
    }

    /// A text, or a list of texts.
    fn texts(&self, key: &str) -> Read<Vec<String>> {
        let one = |value| self.checked(key, Some(value), PARAGRAPH);
        match self.get(key) {
            Some(Value::Array(list)) if (1..=MOST_PARTS).contains(&list.len()) => {
                list.iter().map(one).collect()
            }
            Some(Value::Array(_)) => {
                Err(format!("{}: `{key}` is not a list of 1 to {MOST_PARTS} strings", self.at))
            }
            other => self.checked(key, other, PARAGRAPH).map(|text| vec![text]),
        }
    }

    /// The view state of an address: the whole address, or the part after `#`.
    fn state(&self, key: &str) -> Read<ViewState> {
        let text = self.text(key, ADDRESS)?;
        let fragment = text.rsplit_once('#').map_or(text.as_str(), |(_, fragment)| fragment);
        let wrong =
            || format!("{}: `{key}` is not a link to a view, such as `v1;view=layouts`", self.at);
        let names_view = fragment.split(';').any(|part| part.starts_with("view="));
        let view = if names_view { String::new() } else { format!(";view={LAYOUTS}") };
        let state = ViewState::from_fragment(&format!("{fragment}{view}")).ok_or_else(wrong)?;
        if let Some(unknown) = ViewState::not_understood(fragment) {
            return Err(format!("{}: `{key}`: `{unknown}` is unknown here", self.at));
        }
        Ok(state)
    }
}
