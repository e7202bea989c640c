//! The documents inside a bundle, read without the program's own reader.

use std::io::{Cursor, Read};

use sparsescope_core::bundle::JSON_SCHEMA;

/// Name and text of every text entry of a bundle, in order.
///
/// # Panics
/// If it is not a zip file.
pub fn documents(bundle: &[u8]) -> Vec<(String, String)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bundle)).expect("a zip"); // invariant of tests
    let mut documents = Vec::new();
    for k in 0..zip.len() {
        let mut entry = zip.by_index(k).expect("an entry"); // invariant of tests
        let name = entry.name().expect("a name").into_owned(); // invariant of tests
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("its content"); // invariant of tests
        if let Ok(text) = String::from_utf8(content)
            && !name.ends_with(".bin")
        {
            documents.push((name, text));
        }
    }
    documents
}

/// Validates every JSON document that the schema describes, and returns their number.
///
/// # Panics
/// If one does not follow the schema.
pub fn follow_the_schema(documents: &[(String, String)]) -> usize {
    let schema: serde_json::Value = serde_json::from_str(JSON_SCHEMA).expect("JSON"); // invariant
    let mut validated = 0;
    for (name, text) in documents {
        let kind = match name.as_str() {
            "manifest.json" => "manifest",
            "environment.json" => "environment",
            "runs.json" => "runs",
            name if name.ends_with("/runs.json") => "runs",
            name if name.ends_with("/subject.json") => "subject",
            name if name.ends_with("/points.json") => "points",
            name if name.ends_with("/flagged.json") => "flagged",
            name if name.ends_with("/matrix.json") => "matrix",
            name if name.ends_with("/spy.json") => "spy",
            name if name.ends_with("/levels.json") => "levels",
            name if name.starts_with("histories/") => "history",
            _ => continue,
        };
        let mut of_kind = schema.clone();
        of_kind["$ref"] = format!("#/$defs/{kind}").into();
        let document = serde_json::from_str(text).expect("JSON"); // invariant of tests
        let validator = jsonschema::validator_for(&of_kind).expect("a schema"); // invariant
        let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        validated += 1;
    }
    validated
}
