//! Limits on the length of a bundle's texts. Every string of every document is checked, in any
//! field: a name of one megabyte would be repeated for each of thousands of runs.

use std::cell::RefCell;
use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use crate::{Bundle, BundleError, Limits};
use sparsescope_record::{MOST_REASON_BYTES, Producer, Subject, printable};

/// Names, ids, words and keys.
const TEXT_BYTES: u64 = 4 << 10;

/// Fields in which programs explain themselves.
const LONG: [&str; 2] = ["flags", "reason"];

/// Maximum bytes of names in a table of all runs: each line has the names of a subject, a kernel
/// and a device.
const TABLE_BYTES: u64 = 256 << 20;

impl Bundle {
    /// Checks that no text is longer than it needs to be, alone or repeated for each run. Skips the
    /// first `checked` runs, which were checked before.
    pub(super) fn check_texts(&self, checked: usize) -> Result<(), BundleError> {
        let Self { producer, created, label, plan, .. } = self;
        check("the bundle", &Head { producer, created, label, plan })?;
        for environment in &self.environments {
            check(&format!("environment `{}`", printable(&environment.id)), environment)?;
        }
        let mut longest = 0;
        for subject in self.all_subjects() {
            let whose = |what| format!("{what} `{}`", printable(subject.id()));
            match subject {
                Subject::Matrix(record) => check(&whose("matrix"), record)?,
                Subject::Other(record) => check(&whose("subject"), record)?,
            }
            longest = longest.max(subject.name().len());
        }
        for (index, run) in self.runs.iter().enumerate().skip(checked) {
            check(&super::check::run_name(index, run), run)?;
        }
        let of_runs = self.runs.iter().map(|run| run.kernel.len() + run.device.len());
        let line = (longest + of_runs.max().unwrap_or_default()) as u64;
        let names = line.saturating_mul(self.runs.len() as u64);
        Limits::default().check("the table of all runs", names, "bytes of names", TABLE_BYTES)
    }
}

/// What a bundle says about itself.
#[derive(Serialize)]
struct Head<'a> {
    producer: &'a Producer,
    created: &'a str,
    label: &'a Option<String>,
    plan: &'a Option<Value>,
}

/// A text that is too long: its field, its bytes, and the limit.
type TooLong = (String, u64, u64);

fn check(whose: &str, document: &impl Serialize) -> Result<(), BundleError> {
    let found = RefCell::new(None);
    let gauge = Gauge { found: &found, key: String::new(), is_key: false, bytes: 0 };
    // Nothing is written, and invalid JSON fails when it is written or read.
    let _ = document.serialize(&mut Serializer::with_formatter(io::sink(), gauge));
    match found.into_inner() {
        Some((field, bytes, limit)) => {
            let whose = format!("`{}` of {whose}", printable(&field));
            Limits::default().check(&whose, bytes, "bytes", limit)
        }
        None => Ok(()),
    }
}

/// A JSON formatter that writes nothing and counts the bytes of each string.
struct Gauge<'a> {
    /// The first text that was too long.
    found: &'a RefCell<Option<TooLong>>,
    /// Key of the current field or list.
    key: String,
    /// Whether the current string is a key.
    is_key: bool,
    bytes: u64,
}

impl Formatter for Gauge<'_> {
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        self.is_key = true;
        self.key.clear();
        Ok(())
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_key = false;
        Ok(())
    }

    fn begin_string<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.bytes = 0;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.bytes += fragment.len() as u64;
        if self.is_key {
            self.key.push_str(fragment);
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        _: &mut W,
        _: CharEscape,
    ) -> io::Result<()> {
        self.bytes += 1;
        Ok(())
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        let is_long = !self.is_key && LONG.contains(&self.key.as_str());
        let limit = if is_long { MOST_REASON_BYTES as u64 } else { TEXT_BYTES };
        if self.bytes > limit {
            self.found.borrow_mut().get_or_insert((self.key.clone(), self.bytes, limit));
        }
        Ok(())
    }

    /// Numbers are checked elsewhere, and printing them is slowest.
    fn write_f64<W: ?Sized + io::Write>(&mut self, _: &mut W, _: f64) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sparsescope_record::Run;

    fn refusal(change: impl FnOnce(&mut Bundle)) -> String {
        let mut bundle = sample::with_points();
        change(&mut bundle);
        bundle.to_bytes().unwrap_err().to_string()
    }

    #[test]
    fn a_text_may_have_so_many_bytes_wherever_it_stands() {
        let long = || "é\n".repeat(1366); // 3 bytes each: 2 more than 4096
        let too_long = "has 4098 bytes, more than the limit of 4096";
        let name = |b: &mut Bundle| b.matrices[0].record.name = long();
        assert_eq!(refusal(name), format!("`name` of matrix `five-2fca02e9` {too_long}"));
        let cases: [fn(&mut Bundle, String); 9] = [
            |b, text| b.label = Some(text),
            |b, text| b.producer.version = text,
            |b, text| b.environments[0].cpu.model = text,
            |b, text| drop(b.environments[0].libraries.insert(text, String::new())),
            |b, text| b.subjects[0].record.name = text,
            |b, text| b.runs[0].kernel = text,
            |b, text| b.runs[0].origin.push(text),
            |b, text| drop(b.runs[0].params.insert("a".into(), text)),
            |b, text| b.plan = Some(serde_json::json!({ "kernels": ["a", [text]] })),
        ];
        for case in cases {
            let found = refusal(|bundle| case(bundle, long()));
            assert!(found.contains(too_long) && found.len() < 600, "{found}");
            let mut bundle = sample::with_points();
            case(&mut bundle, "x".repeat(4096));
            assert!(bundle.check_texts(0).is_ok());
        }
    }

    #[test]
    fn reasons_may_be_longer() {
        let with = |bytes: usize| {
            let mut bundle = sample::bundle();
            bundle.runs[0].check.reason = Some("x".repeat(bytes));
            bundle.check_texts(0).map_err(|error| error.to_string())
        };
        assert_eq!(with(65_536), Ok(()));
        let expected =
            "`reason` of runs[0] (cpu/csr/serial on five-2fca02e9) has 65537 bytes, more than";
        assert!(with(65_537).unwrap_err().starts_with(expected));
    }

    #[test]
    fn names_that_each_run_repeats_are_counted_for_each() {
        let mut bundle = sample::bundle();
        bundle.matrices[0].record.name = "x".repeat(4096);
        bundle.runs = vec![Run::default(); 60_000];
        assert!(bundle.check_texts(60_000).is_ok());
        bundle.runs.resize(70_000, Run::default());
        let error = bundle.check_texts(70_000).unwrap_err().to_string();
        assert!(
            error.starts_with("the table of all runs has ") && error.contains("bytes of names")
        );
    }
}
