//! Bundles as an untrusted author may make them: with other values in every field that may hold them.

use std::collections::BTreeSet;

use serde_json::{Value, from_value, json};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::{MatrixRecord, SubjectRecord};

/// Objects whose keys are texts of the bundle, not field names.
const MAPS: [&str; 5] = ["details", "libraries", "params", "asked", "sizes"];

/// The bundle with another value at every place where a reader accepts it, and these places: paths in which
/// `*` stands for the elements of a list, and a `~` at the end for the keys of a map. `change` returns
/// another value for the current one, or none to keep it.
///
/// # Panics
/// If the records of a bundle cannot be written as JSON.
pub fn changed(
    bundle: &Bundle,
    change: impl Fn(&str, &Value) -> Option<Value>,
) -> (Bundle, Vec<String>) {
    let mut paths = BTreeSet::new();
    visit(&mut document(bundle), "", &mut |path, value| {
        if change(path, value).is_some() {
            paths.insert(path.to_owned());
        }
    });
    let (mut made, mut taken) = (bundle.clone(), Vec::new());
    for path in paths {
        let mut document = document(&made);
        visit(&mut document, "", &mut |at, value| {
            if let Some(other) = change(at, value).filter(|_| at == path) {
                *value = other;
            }
        });
        if let Some(next) = read(&document, &made) {
            made = next;
            taken.push(path);
        }
    }
    (made, taken)
}

/// All JSON of a bundle.
fn document(bundle: &Bundle) -> Value {
    let matrices: Vec<&MatrixRecord> =
        bundle.matrices.iter().map(|folder| &folder.record).collect();
    let subjects: Vec<&SubjectRecord> =
        bundle.subjects.iter().map(|folder| &folder.record).collect();
    json!({
        "producer": bundle.producer,
        "label": bundle.label,
        "plan": bundle.plan,
        "environments": bundle.environments,
        "matrices": matrices,
        "subjects": subjects,
        "runs": bundle.runs,
    })
}

/// The bundle with this document, written and read back; none if it is refused.
fn read(document: &Value, bundle: &Bundle) -> Option<Bundle> {
    let mut made = bundle.clone();
    let part = |name: &str| document.get(name).cloned().unwrap_or_default();
    made.producer = from_value(part("producer")).ok()?;
    made.label = from_value(part("label")).ok()?;
    made.plan = from_value(part("plan")).ok()?;
    made.environments = from_value(part("environments")).ok()?;
    let matrices: Vec<MatrixRecord> = from_value(part("matrices")).ok()?;
    for (folder, record) in made.matrices.iter_mut().zip(matrices) {
        folder.record = record;
    }
    let subjects: Vec<SubjectRecord> = from_value(part("subjects")).ok()?;
    for (folder, record) in made.subjects.iter_mut().zip(subjects) {
        folder.record = record;
    }
    made.runs = from_value(part("runs")).ok()?;
    Bundle::read(&made.to_bytes().ok()?, &Limits::default()).ok()
}

/// Passes every value that is neither a list nor an object to `show`, and the keys of maps.
fn visit(value: &mut Value, path: &str, show: &mut dyn FnMut(&str, &mut Value)) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(|item| visit(item, &format!("{path}.*"), show));
        }
        Value::Object(fields) if MAPS.iter().any(|map| path.ends_with(map)) => {
            let of = std::mem::take(fields);
            for (key, mut value) in of {
                let mut key = Value::String(key);
                show(&format!("{path}~"), &mut key);
                visit(&mut value, &format!("{path}.*"), show);
                fields.insert(key.as_str().unwrap_or_default().to_owned(), value);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                visit(value, &format!("{path}.{name}"), show);
            }
        }
        _ => show(path, value),
    }
}
