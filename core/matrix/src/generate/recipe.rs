//! Parses and writes `KIND?key=value&…`, for every family of kinds.

use std::collections::BTreeMap;
use std::fmt;

use super::keys::{DefaultValue, Key, Values};

/// A kind that recipes name.
pub(super) trait Named {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Its parameters.
    fn keys(&self) -> &'static [Key];

    /// `stencil27?n=…`: the required keys.
    fn usage(&self) -> String {
        let needed = self.keys().iter().filter(|key| key.default.is_none());
        let needed: Vec<String> = needed.map(|key| format!("{}=...", key.name)).collect();
        format!("{}?{}", self.name(), needed.join("&"))
    }
}

/// Text that is not a generator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such kind.
    #[error("unknown generator `{kind}`{hint}, expected one of: {known}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Kind { kind: String, hint: String, known: String },
    /// No such key.
    #[error("{kind} has no key `{key}`{hint}, expected one of: {known}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Key { kind: &'static str, key: String, hint: String, known: String },
    /// A key is given twice.
    #[error("{kind} has the key `{key}` twice")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Twice { kind: &'static str, key: String },
    /// A key is missing.
    #[error("{kind} needs the key `{key}` ({what}), as in {usage}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Missing { kind: &'static str, key: &'static str, what: &'static str, usage: String },
    /// A value is not a number or out of range.
    #[error("{key} is `{value}`, expected an integer from {min} to {max}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Value { key: &'static str, value: String, min: u64, max: u64 },
}

/// Parses the kind that `text` names, with an optional `gen:` prefix, and the values of all its
/// keys. Numbers may be written `1000000`, `1_000_000`, `1e6` or `1M`.
pub(super) fn parse<K: Named>(
    text: &str,
    kinds: &'static [K],
) -> Result<(&'static K, Values), SpecError> {
    let text = text.strip_prefix("gen:").unwrap_or(text);
    let (name, pairs) = text.split_once('?').unwrap_or((text, ""));
    let kind = kinds.iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = || kinds.iter().map(K::name);
        SpecError::Kind { kind: name.into(), hint: hint(name, names()), known: list(names()) }
    })?;
    let mut values = BTreeMap::new();
    for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = kind.keys().iter().find(|key| key.name == name).ok_or_else(|| {
            let names = || kind.keys().iter().map(|key| key.name);
            let (hint, known) = (hint(name, names()), list(names()));
            SpecError::Key { kind: kind.name(), key: name.into(), hint, known }
        })?;
        if values.insert(key.name, number(key, value)?).is_some() {
            return Err(SpecError::Twice { kind: kind.name(), key: name.into() });
        }
    }
    for key in kind.keys() {
        let value = match (values.get(key.name), key.default) {
            (Some(&value), _) | (None, Some(DefaultValue::Is(value))) => value,
            (None, Some(DefaultValue::SameAs(other))) => {
                values.get(other).copied().unwrap_or(key.min)
            }
            (None, None) => {
                let (key, what) = (key.name, key.what);
                let usage = kind.usage();
                return Err(SpecError::Missing { kind: kind.name(), key, what, usage });
            }
        };
        values.insert(key.name, value);
    }
    Ok((kind, Values(values)))
}

/// Writes `gen:KIND?key=value&…` with the keys in the kind's order, omitting defaults.
pub(super) fn write(f: &mut fmt::Formatter<'_>, kind: &impl Named, values: &Values) -> fmt::Result {
    write!(f, "gen:{}", kind.name())?;
    let value = |name: &str| values.value(name);
    let is_default = |key: &Key| match key.default {
        None => false,
        Some(DefaultValue::Is(default)) => value(key.name) == default,
        Some(DefaultValue::SameAs(other)) => value(key.name) == value(other),
    };
    let mut before = '?';
    for key in kind.keys().iter().filter(|key| !is_default(key)) {
        write!(f, "{before}{}={}", key.name, value(key.name))?;
        before = '&';
    }
    Ok(())
}

fn number(key: &Key, text: &str) -> Result<u64, SpecError> {
    let (min, max) = (key.min, key.max);
    let value = whole(text).filter(|value| (min..=max).contains(value));
    value.ok_or_else(|| SpecError::Value { key: key.name, value: text.into(), min, max })
}

/// Parses a whole number, which may contain `_`, an exponent or k, M, G.
fn whole(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    let suffix = [("k", 3), ("M", 6), ("G", 9)];
    let (digits, exponent) = suffix
        .iter()
        .find_map(|(s, e)| text.strip_suffix(s).map(|digits| (digits, *e)))
        .or_else(|| text.split_once(['e', 'E']).and_then(|(d, e)| Some((d, e.parse().ok()?))))
        .unwrap_or((&text, 0u32));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction_len = u32::try_from(fraction.len()).ok()?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && !whole.is_empty();
    let zeros = exponent.checked_sub(fraction_len).filter(|_| plain)?;
    let value: u64 = format!("{whole}{fraction}").parse().ok()?;
    value.checked_mul(10u64.checked_pow(zeros)?)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// ` (did you mean …?)` for a name that is close to a known one.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|k| (strsim::damerau_levenshtein(name, k), k)).min();
    match near {
        Some((1..=2, k)) => format!(" (did you mean `{k}`?)"),
        _ => String::new(),
    }
}
