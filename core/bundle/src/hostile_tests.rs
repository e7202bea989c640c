//! Malicious bundles: each is refused with one sentence and nothing else happens.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::archive::Archive;
use super::*;
use sparsescope_matrix::matrix::sha256;

mod fields;

fn read(bytes: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::read(bytes, &Limits::default())
}

/// The message for a bundle that must be refused: one line, one sentence.
fn refusal(bytes: &[u8]) -> String {
    let message = read(bytes).expect_err("this bundle must be refused").to_string();
    assert!(!message.is_empty() && message.len() < 600, "{message}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    message
}

#[track_caller]
fn assert_refused(bytes: &[u8], expected: &str) {
    let message = refusal(bytes);
    assert!(message.contains(expected), "expected {expected:?}, got {message:?}");
}

/// One entry of a zip written byte by byte (PKWARE's APPNOTE 4.3), so that it can lie.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    crc: u32,
    /// As stored.
    data: Vec<u8>,
    /// Uncompressed size claimed in the headers.
    claimed: u32,
}

impl Entry {
    fn deflated(name: &str, content: &[u8]) -> Self {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        let data = encoder.finish().unwrap();
        Self { method: 8, data, ..Self::stored(name, content) }
    }

    fn stored(name: &str, content: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        Self {
            name: name.into(),
            flags: 0,
            method: 0,
            crc: crc.sum(),
            data: content.to_vec(),
            claimed: content.len() as u32,
        }
    }

    /// The fields common to both headers.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(20u16.to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0, 0, 0x21, 0]);
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend((self.data.len() as u32).to_le_bytes());
        bytes.extend(self.claimed.to_le_bytes());
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(entry.common());
        bytes.extend(&entry.name);
        bytes.extend(&entry.data);
        directory.extend(b"PK\x01\x02");
        directory.extend([20, 3]);
        directory.extend(entry.common());
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

type Parts = (Value, BTreeMap<String, Vec<u8>>);

/// The sample bundle as written.
static WRITTEN: LazyLock<Vec<u8>> = LazyLock::new(|| sample::bundle().to_bytes().unwrap());

/// Its manifest and other entries.
static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let archive = Archive::open(&WRITTEN, &Limits::default()).unwrap();
    let manifest = serde_json::from_slice(&archive.manifest).unwrap();
    (manifest, archive.contents().unwrap())
});

fn parts() -> Parts {
    PARTS.clone()
}

/// The entries of a zip that starts with the manifest.
fn entries_of(manifest: &Value, contents: &BTreeMap<String, Vec<u8>>) -> Vec<Entry> {
    let mut entries = vec![Entry::deflated("manifest.json", manifest.to_string().as_bytes())];
    entries.extend(contents.iter().map(|(name, content)| Entry::deflated(name, content)));
    entries
}

/// Corrects the checksums in the manifest, so that a forged bundle is consistent.
fn sign(manifest: &mut Value, contents: &BTreeMap<String, Vec<u8>>) {
    let info = |content: &Vec<u8>| json!({ "sha256": sha256(content), "bytes": content.len() });
    manifest["entries"] =
        contents.iter().map(|(name, content)| (name.clone(), info(content))).collect();
}

/// The sample bundle with one JSON document changed and the checksums corrected.
fn forged(entry: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut manifest, mut contents) = parts();
    let mut document: Value = serde_json::from_slice(&contents[entry]).unwrap();
    change(&mut document);
    contents.insert(entry.into(), document.to_string().into());
    sign(&mut manifest, &contents);
    zip(&entries_of(&manifest, &contents))
}

fn forged_manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut manifest, contents) = parts();
    change(&mut manifest);
    zip(&entries_of(&manifest, &contents))
}

/// The sample bundle with an additional entry and the checksums corrected.
fn with_entry(entry: Entry, content: &[u8]) -> Vec<u8> {
    let (mut manifest, contents) = parts();
    let name = String::from_utf8_lossy(&entry.name).into_owned();
    manifest["entries"][name] = json!({ "sha256": sha256(content), "bytes": content.len() });
    let mut entries = entries_of(&manifest, &contents);
    entries.push(entry);
    zip(&entries)
}

#[test]
fn the_zip_written_by_hand_is_read_when_it_is_honest() {
    let (manifest, contents) = parts();
    assert_eq!(read(&zip(&entries_of(&manifest, &contents))).unwrap(), sample::bundle());
    let stored: Vec<Entry> = entries_of(&manifest, &contents)
        .iter()
        .zip(std::iter::once(manifest.to_string().into_bytes()).chain(contents.into_values()))
        .map(|(entry, content)| Entry::stored(std::str::from_utf8(&entry.name).unwrap(), &content))
        .collect();
    assert_eq!(read(&zip(&stored)).unwrap(), sample::bundle());
}

#[test]
fn unknown_fields_and_entries_pass_and_entries_are_kept() {
    let newer = forged("runs.json", |runs| {
        runs["colour"] = "red".into();
        runs["runs"][0]["cache_misses"] = json!({ "l1": 12, "l2": null });
    });
    assert_eq!(read(&newer).unwrap(), sample::bundle());
    let minor = forged_manifest(|manifest| {
        manifest["schema"]["minor"] = 77.into();
        manifest["mood"] = "good".into();
    });
    assert_eq!(read(&minor).unwrap(), sample::bundle());

    let more = with_entry(Entry::deflated("skyline/points.bin", &[1, 2, 255]), &[1, 2, 255]);
    let bundle = read(&more).unwrap();
    assert_eq!(bundle.others["skyline/points.bin"], [1, 2, 255]);
    assert_eq!(read(&bundle.to_bytes().unwrap()).unwrap(), bundle);
}

#[test]
fn only_a_higher_major_is_refused_and_says_which_version_reads_it() {
    let expected =
        "the bundle has schema 2, but this version of Sparsescope reads only up to schema 1";
    assert_refused(&forged_manifest(|m| m["schema"]["major"] = 2.into()), expected);
    // Whatever else may have changed by then.
    let (_, contents) = parts();
    let manifest = json!({ "schema": { "major": 2 }, "everything": "else" });
    let mut entries = entries_of(&manifest, &contents);
    entries.push(Entry { method: 93, ..Entry::stored("a b", b"x") });
    assert_refused(&zip(&entries), expected);
}

#[test]
fn what_is_no_zip_or_no_bundle_is_named_so() {
    assert_refused(b"", "not a zip file");
    assert_refused(b"%%MatrixMarket matrix", "not a zip file");
    assert_refused(&zip(&[]), "not a zip file");
    assert_refused(
        &zip(&[Entry::stored("a.txt", b"x")]),
        "expected `manifest.json` as the first entry",
    );
    let (manifest, contents) = parts();
    let mut entries = entries_of(&manifest, &contents);
    entries.swap(0, 1);
    assert_refused(
        &zip(&entries),
        "expected `manifest.json` as the first entry, found `environment.json`",
    );
    let not_json = zip(&[Entry::stored("manifest.json", b"{\"schema\"")]);
    assert_refused(&not_json, "`manifest.json` does not match the bundle schema");
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let bytes = WRITTEN.as_slice();
    for cut in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        refusal(&bytes[..cut]);
    }
    assert_refused(&bytes[..bytes.len() / 2], "the bundle is truncated");
}

#[test]
fn bombs_are_refused_before_they_are_inflated() {
    // 4 MB of zeros in 4 kB, honestly declared.
    let zeros = vec![0; 4 << 20];
    let bomb = Entry::deflated("solvers/zeros", &zeros);
    assert_refused(
        &with_entry(bomb.clone(), &zeros),
        "`solvers/zeros` has a compression ratio of 10",
    );
    // The same, declared as 2 kB: no more than that is decompressed.
    let lying = Entry { claimed: 2000, ..bomb.clone() };
    assert_refused(&with_entry(lying, &zeros), "entry `solvers/zeros`");
    // Declared larger than it is.
    let boasting = Entry { claimed: 3, ..Entry::deflated("solvers/a", b"ab") };
    assert_refused(&with_entry(boasting, b"ab"), "does not have the 3 bytes");
    // Declared over the limit for one entry.
    let huge = Entry { claimed: u32::MAX - 1, ..bomb };
    assert_refused(&with_entry(huge, &zeros), "bytes, more than the limit of 134217728");
    // A document that would be many times larger when parsed.
    let list = format!("[{}0]", "0,".repeat(9 << 20));
    let plan = Entry::stored("plan.json", list.as_bytes());
    let (manifest, mut contents) = parts();
    contents.remove("plan.json");
    let mut entries = entries_of(&manifest, &contents);
    entries.push(plan);
    assert_refused(
        &zip(&entries),
        "`plan.json` has 18874371 bytes, more than the limit of 16777216",
    );
    // A zip bomb in the manifest itself.
    let manifest = Entry::deflated("manifest.json", &zeros);
    assert_refused(&zip(&[manifest]), "`manifest.json` has a compression ratio of 10");
}

#[test]
fn every_limit_is_enforced() {
    let bytes = WRITTEN.as_slice();
    let limits = Limits::default();
    for (limits, expected) in [
        (Limits { zip_bytes: 100, ..limits }, "bytes, more than the limit of 100"),
        (Limits { entries: 3, ..limits }, "the bundle has 11 entries, more than the limit of 3"),
        (Limits { entry_bytes: 2000, ..limits }, "entry `runs.json` has "),
        (Limits { document_bytes: 1000, ..limits }, "entry `manifest.json` has "),
        (Limits { total_bytes: 5000, ..limits }, "uncompressed bytes, more than the limit of 5000"),
        (Limits { ratio: 1, ratio_from: 10, ..limits }, ", more than the limit of 1"),
        (Limits { name_bytes: 13, ..limits }, "the name of an entry has "),
        (Limits { runs: 5, ..limits }, "the bundle has 6 runs, more than the limit of 5"),
    ] {
        let message = Bundle::read(bytes, &limits).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_directory_that_declares_too_many_entries_is_not_read() {
    let many: Vec<Entry> = (0..20_001).map(|k| Entry::stored(&format!("e{k}"), b"")).collect();
    assert_refused(&zip(&many), "the bundle has 20001 entries, more than the limit of 20000");
    let mut zip64 = WRITTEN.clone();
    let end = zip64.len() - 22;
    zip64[end + 8..end + 12].fill(0xff);
    assert_refused(&zip64, "zip64");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in
        ["../evil", "/etc/passwd", "a/../../b", "a\\b", "C:\\x", "a//b", "a/", "", "é\u{202e}"]
    {
        let bytes = with_entry(Entry::stored(name, b"x"), b"x");
        assert_refused(&bytes, "is not safe: expected a relative path");
    }
    let not_text = Entry { name: vec![0xff, 0xfe, 0], ..Entry::stored("x", b"x") };
    assert_refused(&with_entry(not_text, b"x"), "is not safe");
}

#[test]
fn entries_of_one_name_are_refused() {
    let twice = with_entry(Entry::stored("runs.json", b"{}"), b"{}");
    assert_refused(&twice, "two entries have the same name");
    let nearly = with_entry(Entry::stored("Runs.json", b"{}"), b"{}");
    assert_refused(&nearly, "occurs twice");
}

#[test]
fn encrypted_and_foreign_entries_are_refused() {
    let encrypted = Entry { flags: 1, ..Entry::stored("solvers/a", b"x") };
    assert_refused(&with_entry(encrypted, b"x"), "entry `solvers/a` is encrypted");
    // Deflate64, bzip2, LZMA, Zstandard, and AES, which is its own method.
    for method in [9, 12, 14, 93, 99] {
        let foreign = Entry { method, ..Entry::stored("solvers/a", b"x") };
        let message = refusal(&with_entry(foreign, b"x"));
        assert!(message.contains("expected deflate or none") || method == 99, "{message}");
    }
}

#[test]
fn headers_that_contradict_the_directory_are_refused() {
    let mut bytes = WRITTEN.clone();
    let at = memchr::memmem::find(&bytes, b"environment.json").unwrap();
    bytes[at] = b'E'; // in the local header only
    assert_refused(&bytes, "the bundle is damaged");
    let mut hidden = b"PK\x03\x04 something in front".to_vec();
    hidden.extend(WRITTEN.iter());
    refusal(&hidden);
}

#[test]
fn content_that_the_manifest_does_not_list_so_is_refused_by_name() {
    let (manifest, contents) = parts();
    let mut changed = contents.clone();
    // Same length as before, and with the zip's own checksum corrected.
    changed.get_mut("results.csv").unwrap()[300] ^= 1;
    let bytes = zip(&entries_of(&manifest, &changed));
    assert_refused(&bytes, "`results.csv` does not match its checksum");
    changed.insert("results.csv".into(), b"faster".to_vec());
    let bytes = zip(&entries_of(&manifest, &changed));
    assert_refused(&bytes, "`results.csv` does not match its checksum");

    let mut missing = contents.clone();
    missing.remove("solvers/cg.json");
    let bytes = zip(&entries_of(&manifest, &missing));
    assert_refused(&bytes, "entry `solvers/cg.json` is missing");

    let mut unlisted = contents.clone();
    unlisted.insert("extra.txt".into(), b"x".to_vec());
    let bytes = zip(&entries_of(&manifest, &unlisted));
    assert_refused(&bytes, "entry `extra.txt` is not listed");

    for needed in ["environment.json", "runs.json", "results.csv"] {
        let (mut manifest, mut contents) = (manifest.clone(), contents.clone());
        contents.remove(needed);
        sign(&mut manifest, &contents);
        let bytes = zip(&entries_of(&manifest, &contents));
        assert_refused(&bytes, &format!("entry `{needed}` is missing"));
    }
}

#[test]
fn numbers_beyond_all_measure_are_refused() {
    let matrix = "matrices/five-2fca02e9/matrix.json";
    let cost = |field: &'static str, value: f64| {
        forged("runs.json", |r| r["runs"][1]["costs"][field] = json!(value))
    };
    assert_refused(
        &cost("break_even", 1.7e308),
        "`costs.break_even` of runs[1] (cpu/csr/nnz on five-2fca02e9) is 1.7e308, more than 1e18",
    );
    assert_refused(&cost("conversion_s", 1e10), "is 1e10, more than 1e9");
    assert!(read(&cost("break_even", 1e18)).is_ok() && read(&cost("plan_s", 1e9)).is_ok());
    let cases = [
        forged("runs.json", |r| r["runs"][0]["samples"][0] = json!(1e300)),
        forged("runs.json", |r| r["runs"][0]["figures"]["speedup"] = json!(1e19)),
        forged("environment.json", |e| e["environments"][0]["bandwidth"][0]["copy"] = json!(1e19)),
        forged(matrix, |m| m["read_seconds"] = json!(1e19)),
        forged(matrix, |m| m["statistics"]["row"]["mean"] = json!(1e19)),
    ];
    for bytes in cases {
        assert_refused(&bytes, "more than 1e");
    }
    let mut bundle = sample::with_points();
    bundle.subjects[0].record.read_seconds = Some(1e10);
    let refused = bundle.to_bytes().unwrap_err().to_string();
    assert!(refused.contains("`read_seconds` of subject `cloud-9d1f7a55` is 1e10"), "{refused}");
    // There is no bound on how wrong a wrong result is.
    assert!(read(&forged("runs.json", |r| r["runs"][4]["check"]["worst"] = json!(1e300))).is_ok());
}

#[test]
fn documents_that_contradict_one_another_are_refused() {
    let matrix = "matrices/five-2fca02e9/matrix.json";
    let history = format!("histories/{}.json", "0".repeat(64));
    let told = br#"{"step":"iteration","series":[]}"#;
    let ended = |run: usize, check: Value| forged("runs.json", |r| r["runs"][run]["check"] = check);
    let energy = |joules: f64, windows: &[f64]| {
        json!({
            "joules": joules, "windows": windows, "method": "counter", "watts": 300.0,
            "idle_watts": 70.0, "seconds": 5.0
        })
    };
    let cases: [(Vec<u8>, &str); 27] = [
        (
            with_entry(Entry::deflated(&history, told), told),
            "is the history of a run that is not in the bundle",
        ),
        (
            forged("runs.json", |r| r["runs"][2]["matrix"] = "nowhere".into()),
            "runs[2] (cuda/hll/warp-per-row on nowhere) refers to the matrix `nowhere`",
        ),
        (
            forged("runs.json", |r| r["runs"][1]["environment"] = "moon".into()),
            "refers to the environment `moon`, which is not in the bundle",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["samples"][0] = json!(-1e-9)),
            "`samples[0]` of runs[0] (cpu/csr/serial on five-2fca02e9) is negative",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["samples"][0] = Value::Null),
            "`runs.json` does not match the bundle schema: invalid type: null",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["figures"]["median_s"] = json!(1e-9)),
            "`median_s` of runs[0]",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["figures"]["gflops"] = json!(900.0)),
            "`gflops` of runs[0] (cpu/csr/serial on five-2fca02e9) is 900, but its samples give",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["check"]["verdict"] = "fail".into()),
            "a timing although its check did not pass",
        ),
        (
            forged("runs.json", |r| drop(r["runs"].as_array_mut().unwrap().pop())),
            "declares 6 runs, but `runs.json` has 5",
        ),
        (forged("environment.json", |e| e["environments"][1]["id"] = "A".into()), "the id `A`"),
        (forged("environment.json", |e| e["environments"][1]["id"] = "/".into()), "not safe"),
        (
            forged("environment.json", |e| {
                e["environments"][0]["bandwidth"][0]["read"] = json!(-1.0)
            }),
            "`bandwidth.read` of environment `a` is negative: -1",
        ),
        (forged(matrix, |m| m["id"] = "other".into()), "has the id `other`"),
        (forged(matrix, |m| m["sha256"] = "no\nhash".into()), "has the identity `no\\u{a}hash`"),
        (forged(matrix, |m| m["source"] = "imagined".into()), "unknown variant `imagined`"),
        (
            forged_manifest(|m| m["matrices"] = json!(["five-2fca02e9"])),
            "folder `matrices/cant-2fca02e9` belongs to no matrix",
        ),
        (forged_manifest(|m| m["matrices"] = json!(["../../x"])), "the id `../../x` of matrices"),
        (
            ended(0, json!({ "verdict": "refused", "reason": "x", "undecided": true })),
            "a timing although its check did not pass",
        ),
        (
            ended(0, json!({ "verdict": "pass", "undecided": true })),
            "is undecided although its check was not refused",
        ),
        (
            ended(4, json!({ "verdict": "fail", "reason": "x", "undecided": true })),
            "is undecided although its check was not refused",
        ),
        (
            ended(4, json!({ "verdict": "fail", "reason": "x", "limited_by_rounding": true })),
            "is limited by rounding although its check did not pass",
        ),
        (
            ended(
                3,
                json!({
                    "verdict": "refused", "reason": "x", "undecided": true, "limited_by_rounding": true
                }),
            ),
            "is limited by rounding although its check did not pass",
        ),
        (
            ended(
                4,
                json!({
                    "verdict": "fail", "reason": "x",
                    "rounding": { "max": 0.0, "norm": 0.0, "bound": 1.0 }
                }),
            ),
            "has an error against f64 although its check did not pass",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["energy"] = energy(2.0, &[1.0, 2.0])),
            "has an energy of 2 J, but its windows give 1.5 J",
        ),
        (
            forged("runs.json", |r| r["runs"][0]["energy"] = energy(0.0, &[])),
            "has an energy that was measured in no window",
        ),
        (
            forged("runs.json", |r| r["runs"][4]["energy"] = energy(1.0, &[1.0])),
            "has an energy but no samples",
        ),
        (
            forged("runs.json", |r| {
                r["runs"][0]["energy"] = energy(1.0, &[1.0]);
                r["runs"][0]["no_energy"] = "x".into();
            }),
            "has both an energy and a reason for having none",
        ),
    ];
    for (bytes, expected) in cases {
        assert_refused(&bytes, expected);
    }
    // Readers of 1.2 refuse a run on anything but a matrix; a history is an unknown entry to them.
    let nowhere = forged("runs.json", |r| r["runs"][2]["matrix"] = "nowhere".into());
    assert!(super::frozen_reader_1_2::read(&nowhere).is_err());
    let kept = with_entry(Entry::deflated(&history, told), told);
    assert!(super::frozen_reader_1_2::read(&kept).is_ok());
}

#[test]
fn a_long_name_is_refused_by_its_length() {
    let long =
        forged("matrices/five-2fca02e9/matrix.json", |m| m["name"] = "x".repeat(1 << 16).into());
    let expected = "`name` of matrix `five-2fca02e9` has 65536 bytes, more than the limit of 4096";
    assert_refused(&long, expected);
}

proptest! {
    #[test]
    fn flipped_bytes_never_panic_and_never_pass_unnoticed(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
    ) {
        let mut bytes = WRITTEN.clone();
        for (at, mask) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        // A byte without meaning for the content (a date, a permission) may differ.
        match read(&bytes) {
            Ok(back) => prop_assert_eq!(back, sample::bundle()),
            Err(_) => drop(refusal(&bytes)),
        }
    }

    #[test]
    fn flipped_bytes_of_a_signed_document_never_panic(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), which in 0usize..4,
    ) {
        let (mut manifest, mut contents) = parts();
        let name = ["runs.json", "environment.json", "plan.json", "matrices/cant-2fca02e9/matrix.json"][which];
        let content = contents.get_mut(name).unwrap();
        let at = at.index(content.len());
        content[at] = byte;
        sign(&mut manifest, &contents);
        let bytes = zip(&entries_of(&manifest, &contents));
        if read(&bytes).is_err() {
            refusal(&bytes);
        }
    }

    #[test]
    fn any_bytes_behind_a_zip_signature_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend(&tail);
        bytes.extend(b"PK\x05\x06");
        bytes.extend(&tail);
        refusal(&bytes);
    }
}
