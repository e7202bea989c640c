//! Files of other programs. `python/forms/make.py` wrote those of `python/forms/files`, and what it gave to each
//! program is in `python/forms/expected.json`; SciPy writes more of them while the tests run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sparsescope_core::io::vector::{Companion, VectorFile};
use sparsescope_core::io::{
    AnyMatrix, IoError, Progress, ReadOptions, open_companion, open_extent, open_matrix,
    open_vector,
};
use sparsescope_core::matrix::{Csr, Scalar};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::{program, python_imports};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

fn limit() -> MemoryLimit {
    // The dictionary of xz -9 takes 64 MiB.
    MemoryLimit::bytes(1 << 28)
}

/// What a matrix holds: rows and columns, then row, column and the bits of the value per nonzero.
fn words(a: &AnyMatrix) -> String {
    match a {
        AnyMatrix::Real(a) => words_of(a, |v| format!("{:016x}", v.to_bits())),
        AnyMatrix::Complex(a) => {
            words_of(a, |v| format!("{:016x} {:016x}", v.re.to_bits(), v.im.to_bits()))
        }
    }
}

fn words_of<T: Scalar>(a: &Csr<T>, bits: impl Fn(&T) -> String) -> String {
    let mut words = format!("{} {}\n", a.rows(), a.cols());
    for i in 0..a.rows() {
        let (cols, values) = a.row(i);
        for (j, value) in cols.iter().zip(values) {
            writeln!(words, "{i} {j} {}", bits(value)).unwrap();
        }
    }
    words
}

/// The same of a matrix in `expected.json`.
fn expected_words(matrix: &Value) -> String {
    let mut words = format!("{} {}\n", matrix["rows"], matrix["cols"]);
    for entry in matrix["entries"].as_array().unwrap() {
        let (place, parts) = entry.as_array().unwrap().split_at(2);
        let bits: Vec<String> = parts.iter().map(|v| format!("{:016x}", bits(v))).collect();
        writeln!(words, "{} {} {}", place[0], place[1], bits.join(" ")).unwrap();
    }
    words
}

/// The bits of a number as Python's `float.hex` writes it.
fn bits(number: &Value) -> u64 {
    let text = number.as_str().unwrap();
    let (sign, text) = text.strip_prefix('-').map_or((0, text), |text| (1 << 63, text));
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (first, fraction) = digits.split_once('.').unwrap();
    let fraction = u64::from_str_radix(&format!("{fraction:0<13}"), 16).unwrap();
    let exponent: i64 = exponent.parse().unwrap();
    // Zero and what is below the smallest normal number begin with 0.
    let exponent = if first == "0" { 0 } else { (exponent + 1023) as u64 };
    sign | (exponent << 52) | fraction
}

#[test]
fn numbers_of_python_are_read_to_the_bit() {
    for (text, value) in [
        ("0x0.0p+0", 0.0),
        ("-0x0.0p+0", -0.0),
        ("0x1.8000000000000p+1", 3.0),
        ("-0x1.999999999999ap-4", -0.1),
        ("0x0.0000000000001p-1022", 5e-324),
        ("0x1.fffffffffffffp+1023", f64::MAX),
    ] {
        assert_eq!(bits(&text.into()), f64::to_bits(value), "{text}");
    }
}

/// Says how what is read of a file differs from what is expected.
fn check(path: &Path, file: &Value, matrices: &Value) -> Result<(), String> {
    let same = |what: &str, found: String, expected: String| match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected}, found {found}")),
    };
    let told = |error: IoError| error.to_string();
    let matrix = || open_matrix(path, limit(), Progress::none());
    let vector = || open_vector(path, None, limit(), Progress::none());
    let same_vector = |found: Result<VectorFile, IoError>, expected: &[Value]| {
        let found: Vec<u64> = found.map_err(told)?.values.iter().map(|v| v.to_bits()).collect();
        let expected: Vec<u64> = expected.iter().map(bits).collect();
        same("vector", format!("{found:x?}"), format!("{expected:x?}"))
    };
    if let Some(expected) = file["vector"].as_array() {
        return same_vector(vector(), expected);
    }
    if let Some(part) = file["refused"].as_str() {
        let error = match file["of"].as_str() {
            Some("vector") => vector().err(),
            _ => matrix().err(),
        };
        let sentence = error.map(told).unwrap_or_default();
        let sentence = sentence.strip_prefix(&format!("{}: ", path.display())).unwrap_or_default();
        if sentence.is_empty() || !sentence.contains(part) || sentence.lines().count() != 1 {
            return Err(format!("expected an error with {part:?}, found {sentence:?}"));
        }
        return Ok(());
    }
    let read = matrix().map_err(told)?;
    let expected = &matrices[file["matrix"].as_str().unwrap()];
    if let Some(form) = file["form"].as_str() {
        same("form", read.form.as_str().into(), form.into())?;
    }
    same("matrix", words(&read.matrix), expected_words(expected))?;
    if let Some(expected) = file["rhs"].as_array() {
        let rhs = (Companion::RightSide, None);
        same_vector(open_companion(path, rhs, limit(), Progress::none()), expected)?;
    }
    let extent = open_extent(path, &ReadOptions::default()).map_err(told)?;
    let size = format!("{} x {}", extent.rows, extent.cols);
    same("extent", size, format!("{} x {}", expected["rows"], expected["cols"]))?;
    let nonzeros = expected["entries"].as_array().unwrap().len() as u64;
    let stored = file["stored"].as_u64().unwrap_or(nonzeros);
    match extent.entries == stored || (extent.estimated && extent.entries > stored) {
        true => Ok(()),
        false => Err(format!("expected {stored} nonzeros, found {extent:?}")),
    }
}

#[test]
fn files_of_other_programs_hold_to_the_bit_what_those_were_given() {
    let folder = Path::new(PYTHON).join("forms");
    let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let files = expected["files"].as_object().unwrap();
    let folder = folder.join("files");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().into_string().unwrap()
    };
    let present: BTreeSet<String> = std::fs::read_dir(&folder).unwrap().map(name).collect();
    assert_eq!(present, files.keys().cloned().collect(), "the files and expected.json");
    let wrong: Vec<String> = files
        .iter()
        .filter_map(|(name, file)| {
            let wrong = check(&folder.join(name), file, &expected["matrices"]).err()?;
            Some(format!("{name}: {wrong}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

/// Runs the script of SciPy in the program's folder.
fn scipy(p: &Program, args: &[&str]) {
    let mut python = Command::new("python3");
    python.arg(Path::new(PYTHON).join("check_forms.py")).args(args).current_dir(p.folder());
    let ran = python.output().unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Checks that a file in the program's folder is read as what the script says of it.
fn assert_holds(p: &Program, name: &str) {
    let said = std::fs::read_to_string(p.path(&format!("{name}.words"))).unwrap();
    let read = open_matrix(&p.path(name), limit(), Progress::none());
    assert_eq!(words(&read.unwrap().matrix), said, "{name}");
}

#[test]
fn random_matrices_that_scipy_writes_are_read_to_the_bit() {
    if !python_imports("scipy.sparse") {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    scipy(&p, &["write", "30"]);
    let files = p.files();
    let said: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".words")).collect();
    assert!(said.len() > 200, "{} files", said.len());
    said.iter().for_each(|name| assert_holds(&p, name));
}

#[test]
fn scipy_reads_to_the_bit_what_the_program_converts() {
    if !python_imports("scipy.sparse") {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    scipy(&p, &["write", "6"]);
    let mut converted = Vec::new();
    for (k, ending) in (0..6).flat_map(|k| ["npz", "rb", "mtx", "petsc"].map(|e| (k, e))) {
        let (given, name) = (format!("{k}.mtx"), format!("{k}-converted.{ending}"));
        p.succeed(&["convert", &given, &name]);
        let said = std::fs::read(p.path(&format!("{given}.words"))).unwrap();
        p.write(&format!("{name}.words"), said);
        assert_holds(&p, &name);
        converted.push(name);
    }
    let names: Vec<&str> = converted.iter().map(String::as_str).collect();
    scipy(&p, &[&["read"], &names[..]].concat());
}
