//! Reads and writes the JSON of a bundle's documents: floats that JSON cannot represent are an
//! error, never a silent `null`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::BundleError;
use sparsescope_record::printable;

/// Parses a document; `entry` names it in errors.
pub(super) fn parse<T: DeserializeOwned>(entry: &str, bytes: &[u8]) -> Result<T, BundleError> {
    serde_json::from_slice(bytes).map_err(|error| BundleError::Json {
        entry: printable(entry),
        detail: printable(&error.to_string()),
    })
}

/// A document as a JSON value; `whose` names it when a float is not finite.
/// No type of the schema ever writes `null` (absent fields are omitted), so a `null` is a float
/// that serde_json could not represent.
pub(super) fn value_of<T: Serialize>(whose: &str, document: &T) -> Result<Value, BundleError> {
    let value = serde_json::to_value(document).map_err(|error| BundleError::Inconsistent {
        whose: whose.into(),
        problem: format!("cannot be written as JSON: {error}"),
    })?;
    match path_of_null(&value) {
        Some(field) => {
            Err(BundleError::NotFinite { whose: whose.into(), field: printable(&field) })
        }
        None => Ok(value),
    }
}

/// Path of the first `null`, e.g. `figures.gflops` or `samples[3]`.
fn path_of_null(value: &Value) -> Option<String> {
    let join = |head: String, tail: String| match tail.as_str() {
        "" => head,
        _ if tail.starts_with('[') => head + &tail,
        _ => format!("{head}.{tail}"),
    };
    match value {
        Value::Null => Some(String::new()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(k, item)| Some(join(format!("[{k}]"), path_of_null(item)?))),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, field)| Some(join(name.clone(), path_of_null(field)?)))
        }
        _ => None,
    }
}

/// For readers: indented, one final newline.
pub(super) fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// On one line, one final newline.
pub(super) fn compact(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_record::{Bandwidth, Environment};

    #[test]
    fn a_float_that_is_not_finite_is_named_with_its_path() {
        let mut environment = Environment::default();
        assert!(value_of("environment `a`", &environment).is_ok());
        environment.bandwidth.push(Bandwidth {
            threads: 1,
            array_bytes: 8,
            copy: 1.0,
            triad: f64::NAN,
            read: 1.0,
        });
        let error = value_of("environment `a`", &environment).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`bandwidth[0].triad` of environment `a` is not a finite number"
        );
    }

    #[test]
    fn nesting_is_capped() {
        let deep = "[".repeat(100_000);
        let error = parse::<Value>("runs.json", deep.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("recursion limit"), "{error}");
    }

    #[test]
    fn floats_come_back_bit_for_bit() {
        for value in [0.1_f64 + 0.2, 5e-324, 1.7976931348623157e308, 1e23, 9.109_383_701_5e-31] {
            let text = compact(&value_of("x", &value).unwrap());
            assert_eq!(parse::<f64>("x", &text).unwrap().to_bits(), value.to_bits());
        }
    }
}
