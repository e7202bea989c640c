//! One value per field, of types that no field expects.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

/// JSON pointers to the values of a document; for a list, only to the first and the last element.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            let ends = [0, items.len().saturating_sub(1)];
            for k in ends.iter().take(items.len()) {
                pointers(&items[*k], &format!("{at}/{k}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                pointers(value, &format!("{at}/{}", name.replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// One value per field: a bundle with it is either read, written, compared and merged, or refused
/// in one sentence.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
fn any_value_in_any_field_is_taken_or_refused_in_a_sentence() {
    let kinds = [
        Value::Null,
        true.into(),
        u64::MAX.into(),
        1e300.into(),
        (-1).into(),
        0.into(),
        0.5.into(),
        "NaN".into(),
        "".into(),
        "x".repeat(4096).into(),
        "x".repeat(5000).into(),
        "\0\u{1b}[2J\r\n\u{202e}".into(),
        json!([]),
        json!({}),
        json!([[[]]]),
    ];
    let whole = sample::with_points();
    let bytes = whole.to_bytes().unwrap();
    let archive = Archive::open(&bytes, &Limits::default()).unwrap();
    let manifest: Value = serde_json::from_slice(&archive.manifest).unwrap();
    let contents = archive.contents().unwrap();
    let mut taken = 0;
    let mut look = |manifest: &Value, contents: &BTreeMap<String, Vec<u8>>, what: &str| {
        let mut entries = vec![Entry::stored("manifest.json", manifest.to_string().as_bytes())];
        entries.extend(contents.iter().map(|(name, content)| Entry::stored(name, content)));
        let bytes = zip(&entries);
        let Ok(bundle) = read(&bytes) else {
            refusal(&bytes);
            return;
        };
        taken += 1;
        bundle.results_csv().expect(what);
        bundle.to_bytes().expect(what);
        Comparison::of(&whole, &bundle).summary();
        let both = [whole.clone(), bundle];
        let created = || "2026-02-01T12:00:00Z".to_owned();
        if let Err(error) = merge(&both, Conflicts::PreferLast, whole.producer.clone(), created()) {
            assert!(!error.to_string().contains(char::is_control), "{what}: {error}");
        }
    };
    let mut tried = 0;
    for (entry, content) in contents.iter().filter(|(name, _)| name.ends_with(".json")) {
        // Content that a bundle merely carries may be anything.
        let Ok(document) = serde_json::from_slice::<Value>(content) else { continue };
        let mut places = Vec::new();
        pointers(&document, "", &mut places);
        for (place, kind) in places.iter().flat_map(|place| kinds.iter().map(move |k| (place, k))) {
            let mut changed = document.clone();
            *changed.pointer_mut(place).unwrap() = kind.clone();
            let (mut manifest, mut contents) = (manifest.clone(), contents.clone());
            contents.insert(entry.clone(), changed.to_string().into());
            sign(&mut manifest, &contents);
            look(&manifest, &contents, &format!("{kind} at {place} of {entry}"));
            tried += 1;
        }
    }
    let mut places = Vec::new();
    pointers(&manifest, "", &mut places);
    for (place, kind) in places.iter().flat_map(|place| kinds.iter().map(move |k| (place, k))) {
        let mut changed = manifest.clone();
        *changed.pointer_mut(place).unwrap() = kind.clone();
        look(&changed, &contents, &format!("{kind} at {place} of the manifest"));
        tried += 1;
    }
    assert!(taken > 100 && tried > 10 * kinds.len(), "{taken} of {tried}");
}
