//! One field of a bundle with another value: the first bytes say which field of which document, the rest is
//! the value, as JSON or as text. What is read is written, listed, compared and merged.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, from_value, json};
use sparsescope_core::bundle::{Bundle, Comparison, Conflicts, Limits, merge};

/// A bundle without pictures and matrices: compressing them takes most of the time.
static WHOLE: LazyLock<Bundle> = LazyLock::new(|| {
    let bytes = include_bytes!("../../tests/golden/bundle-1.10.zip");
    let read = Bundle::read(bytes, &Limits::default());
    let mut bundle = read.expect("a golden bundle can be read");
    bundle.matrices.iter_mut().for_each(|folder| folder.files.clear());
    bundle
});

/// Its documents that are changed.
static DOCUMENTS: LazyLock<[Value; 5]> = LazyLock::new(|| {
    let matrix = WHOLE.matrices.first().map(|folder| &folder.record);
    [
        json!(WHOLE.runs),
        json!(WHOLE.environments),
        json!(matrix),
        json!(WHOLE.producer),
        json!(WHOLE.plan),
    ]
});

/// The value at this place, counted through all of a document.
fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}

/// The bundle with this value in place of another; none where its types do not allow that.
fn with(document: u8, mut place: usize, value: Value) -> Option<Bundle> {
    let document = usize::from(document) % DOCUMENTS.len();
    let mut changed = DOCUMENTS[document].clone();
    *nth(&mut changed, &mut place)? = value;
    let mut bundle = WHOLE.clone();
    match document {
        0 => bundle.runs = from_value(changed).ok()?,
        1 => bundle.environments = from_value(changed).ok()?,
        2 => bundle.matrices.first_mut()?.record = from_value(changed).ok()?,
        3 => bundle.producer = from_value(changed).ok()?,
        _ => bundle.plan = Some(changed),
    }
    Some(bundle)
}

fuzz_target!(|data: &[u8]| {
    let [document, high, low, rest @ ..] = data else { return };
    let text = || Value::String(String::from_utf8_lossy(rest).into_owned());
    let value = serde_json::from_slice(rest).unwrap_or_else(|_| text());
    let place = usize::from(*high) << 8 | usize::from(*low);
    let Some(Ok(bytes)) = with(*document, place, value).map(|bundle| bundle.to_bytes()) else {
        return;
    };
    let bundle = Bundle::read(&bytes, &Limits::default()).expect("what is written can be read");
    bundle.results_csv().expect("what is read can be listed");
    let _ = Comparison::of(&WHOLE, &bundle).summary();
    let both = [WHOLE.clone(), bundle];
    let (producer, created) = (WHOLE.producer.clone(), WHOLE.created.clone());
    let _ = merge(&both, Conflicts::PreferLast, producer, created);
});
