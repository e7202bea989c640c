//! The JSON Schema against what the writer produces, and against documents that break it.

use serde_json::{Value, json};
use sparsescope_record::SCHEMA;

use super::archive::Archive;
use super::*;

/// A validator for one of the schema's documents.
fn validator(document: &str) -> jsonschema::Validator {
    validator_of(serde_json::from_str(JSON_SCHEMA).unwrap(), document)
}

fn validator_of(mut schema: Value, document: &str) -> jsonschema::Validator {
    assert!(schema["$defs"][document].is_object(), "no document {document}");
    schema["$ref"] = format!("#/$defs/{document}").into();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// The written documents: name in the schema, entry, content.
fn documents() -> Vec<(&'static str, String, Value)> {
    let bytes = sample::with_points().to_bytes().unwrap();
    let archive = Archive::open(&bytes, &Limits::default()).unwrap();
    let parse = |content: &[u8]| serde_json::from_slice::<Value>(content).unwrap();
    let mut documents = vec![("manifest", "manifest.json".into(), parse(&archive.manifest))];
    for (entry, content) in archive.contents().unwrap() {
        let kind = match entry.as_str() {
            "environment.json" => "environment",
            name if name.ends_with("runs.json") => "runs",
            name if name.ends_with("/matrix.json") => "matrix",
            name if name.ends_with("/levels.json") => "levels",
            name if name.ends_with("/subject.json") => "subject",
            name if name.ends_with("/points.json") => "points",
            name if name.starts_with("histories/") => "history",
            _ => continue,
        };
        documents.push((kind, entry, parse(&content)));
    }
    documents
}

fn document(kind: &str) -> Value {
    let is_main = |entry: &str| kind != "runs" || entry == "runs.json";
    documents().into_iter().find(|(of, entry, _)| *of == kind && is_main(entry)).unwrap().2
}

#[test]
fn the_schema_is_a_draft_2020_12_schema() {
    let schema: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    let title = format!("schema {}.{}", SCHEMA.major, SCHEMA.minor);
    assert!(schema["title"].as_str().unwrap().ends_with(&title));
}

#[test]
fn everything_that_the_writer_produces_follows_the_schema() {
    let documents = documents();
    assert_eq!(
        documents.len(),
        10,
        "manifest, environment, a history, levels, runs, two matrices, a subject, its picture and runs"
    );
    for (kind, entry, document) in documents {
        let errors: Vec<String> =
            validator(kind).iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{entry}: {errors:?}");
    }
}

/// The requirements of readers of schema 1.2 on a bundle: their JSON Schema, and that what they do
/// not know is outside their own folders, under safe names.
#[test]
fn readers_of_1_2_open_what_is_written() {
    let frozen: Value =
        serde_json::from_str(include_str!("frozen/bundle-1.2.schema.json")).unwrap();
    let mut on_matrices = None;
    for (kind, entry, document) in documents() {
        if matches!(kind, "subject" | "points" | "history") || entry.ends_with("/runs.json") {
            let folder = entry.split('/').next().unwrap();
            assert!(!["matrices", ""].contains(&folder), "{entry}");
            continue;
        }
        // In a matrix's folder, they accept any file.
        if kind == "levels" {
            continue;
        }
        let errors: Vec<String> = validator_of(frozen.clone(), kind)
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{entry}: {errors:?}");
        if kind == "runs" {
            on_matrices = document["runs"].as_array().map(Vec::len);
        }
    }
    assert_eq!(on_matrices, Some(6));
}

/// Their own checks, on what is written now and on the golden bundles.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "reads a file")]
fn the_frozen_reader_of_1_2_opens_what_is_written_now() {
    let golden = |minor: u32| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read(folder.join(format!("../../tests/golden/bundle-1.{minor}.zip"))).unwrap()
    };
    let written = sample::with_points().to_bytes().unwrap();
    for bytes in [written, golden(2), golden(3), golden(4), golden(5), golden(6), golden(7)] {
        frozen_reader_1_2::read(&bytes).unwrap();
    }
}

/// Forbids fields that the schema does not describe.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let described = fields.contains_key("properties") && fields.contains_key("type");
            if described && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_field_that_is_written() {
    let mut closed: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    close(&mut closed);
    for (kind, entry, document) in documents() {
        let errors: Vec<String> = validator_of(closed.clone(), kind)
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{entry}: {errors:?}");
    }
    let mut extended = document("manifest");
    extended["colour"] = "red".into();
    assert!(!validator_of(closed, "manifest").is_valid(&extended), "the test can fail");
    assert!(validator("manifest").is_valid(&extended), "unknown fields pass");
}

#[test]
fn documents_that_break_a_rule_fail_the_schema() {
    let broken: [(&str, &str, Value); 48] = [
        ("points", "/points", json!(4_294_967_296_u64)),
        ("points", "/axes", json!(0)),
        ("points", "/density_cells", json!(3)),
        ("history", "/series/0/every", json!(0)),
        ("history", "/series/1/step", json!(7)),
        ("levels", "/shift", json!(33)),
        ("levels", "/rows", json!(-1)),
        ("manifest", "/schema/major", json!(-1)),
        ("manifest", "/created", json!("yesterday")),
        ("manifest", "/complete", json!("yes")),
        ("manifest", "/matrices/0", json!("../etc")),
        ("manifest", "/runs", json!(1.5)),
        ("manifest", "/entries/runs.json/sha256", json!("ABC")),
        ("manifest", "/entries", json!({})),
        ("environment", "/environments", json!({})),
        ("environment", "/environments/0/id", json!("")),
        ("environment", "/environments/0/cpu/logical", json!("8")),
        ("environment", "/environments/0/bandwidth/0/copy", json!(null)),
        ("matrix", "/source", json!("stand_in")),
        ("matrix", "/sha256", json!("0")),
        ("matrix", "/statistics/nnz", json!(-1)),
        ("matrix", "/statistics/row", json!(null)),
        ("runs", "/runs/0/samples/0", json!(-1e-6)),
        ("runs", "/runs/0/samples/0", json!(null)),
        ("runs", "/runs/0/samples/0", json!(1.1e9)),
        ("runs", "/runs/1/costs/break_even", json!(1.1e18)),
        ("runs", "/runs/2/source/sha256", json!("2fca")),
        ("runs", "/runs/2/source/mapping", json!(3)),
        ("runs", "/runs/1/costs/choice/trial_s", json!(-1e-9)),
        ("runs", "/runs/1/costs/choice/tried/0/least_s", json!("fast")),
        ("runs", "/runs/1/costs/choice/tried/0/expected_s", json!(-1e-6)),
        ("runs", "/runs/1/distributed/ranks", json!([])),
        ("runs", "/runs/1/distributed/ranks/0/waiting_s", json!(-1.0)),
        ("runs", "/runs/1/distributed/pairs/0/to", json!(0.5)),
        ("matrix", "/read_seconds", json!(1e10)),
        ("subject", "/read_seconds", json!(-1e-3)),
        ("runs", "/runs/1/costs/predicted/line_bytes", json!(0.5)),
        ("runs", "/runs/1/costs/predicted/imbalance", json!(0.9)),
        ("runs", "/runs/2/costs/predicted/idle_share", json!(1.5)),
        ("runs", "/runs/2/energy/joules", json!(-0.1)),
        ("runs", "/runs/2/energy/windows", json!([])),
        ("runs", "/runs/2/energy/seconds", json!(1e10)),
        ("runs", "/runs/1/no_energy", json!(true)),
        ("runs", "/runs/0/until/met", json!("almost")),
        ("runs", "/runs/0/until/reached", json!(-0.1)),
        ("runs", "/runs/0/check/verdict", json!("maybe")),
        ("runs", "/runs/0/check", json!({ "verdict": "fail", "reason": "timed anyway" })),
        ("runs", "/runs/3/check", json!({ "verdict": "refused" })),
    ];
    for (kind, pointer, value) in broken {
        let mut document = document(kind);
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
        assert!(!validator(kind).is_valid(&document), "{kind}{pointer} = {value} passes");
    }
    for (kind, parent, field) in [
        ("manifest", "", "entries"),
        ("matrix", "", "statistics"),
        ("runs", "/runs/0", "figures"),
        ("runs", "/runs/0", "samples"),
        ("runs", "/runs/0", "hot"),
    ] {
        let mut document = document(kind);
        let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.remove(field).unwrap();
        assert!(!validator(kind).is_valid(&document), "{kind} without {field} passes");
    }
}
