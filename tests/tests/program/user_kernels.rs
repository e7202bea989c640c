//! User kernels: `bench --kernel-file`, and what bundles store about them. Tests that need a GPU are in
//! `cuda-native/tests/gpu`.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::matrix::sha256;
use sparsescope_core::record::{Run, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::open;

/// The example of the documentation.
const EXAMPLE: &str = include_str!("../../../docs/examples/my-csr.cu");

const ID: &str = "user/my-csr/two_sums";

const BENCH: [&str; 9] = [
    "bench",
    "gen:poisson2d?n=9",
    "--runs",
    "2",
    "--kernels",
    "cpu/csr/serial",
    "--kernel-file",
    "my-csr.cu",
    "-q",
];

/// The program in a folder with the example.
fn program() -> Program {
    let p = crate::common::program();
    p.write("my-csr.cu", EXAMPLE);
    p
}

fn of_user(bundle: &Bundle) -> Vec<&Run> {
    bundle.runs.iter().filter(|run| run.kernel.starts_with("user/")).collect()
}

#[test]
fn without_a_gpu_its_runs_are_recorded_with_the_reason_and_its_source() {
    let p = program();
    let told = p.succeed(&[&BENCH[..], &["-o", "b.zip"]].concat());
    assert!(told.contains(ID) && told.contains("SPARSESCOPE_GPU=off"), "{told}");
    let bundle = open(&p, "b.zip");
    let runs = of_user(&bundle);
    // The block sizes of the header.
    let blocks: Vec<Option<u32>> = runs.iter().map(|run| run.block).collect();
    assert_eq!(blocks, [64, 128, 256].map(Some));
    for run in runs {
        assert_eq!(
            (run.check.verdict, run.origin.join("|")),
            (Verdict::Unsupported, "user".into())
        );
        assert!(run.check.reason.as_deref().unwrap().contains("GPUs are turned off"));
        let source = run.source.as_ref().unwrap();
        assert_eq!(
            (source.file.as_str(), &source.sha256),
            ("my-csr.cu", &sha256(EXAMPLE.as_bytes()))
        );
        assert_eq!((source.family.as_str(), source.mapping.as_str()), ("csr", "warp-per-row"));
        assert_eq!(bundle.source_text(source), Some(EXAMPLE));
    }
    assert_eq!(bundle.runs.iter().filter(|run| run.source.is_none()).count(), 1);
    let documents = sparsescope_tests::documents(&std::fs::read(p.path("b.zip")).unwrap());
    sparsescope_tests::follow_the_schema(&documents);

    p.succeed(&["export", "b.zip", "--csv", "b.csv", "--report", "report.html"]);
    assert!(std::fs::read_to_string(p.path("b.csv")).unwrap().contains(ID));
    p.succeed(&["compare", "b.zip", "b.zip"]);
}

#[test]
fn the_text_stays_out_where_it_is_asked_to() {
    let p = program();
    p.succeed(&[&BENCH[..], &["--no-source", "-o", "b.zip"]].concat());
    let bundle = open(&p, "b.zip");
    let source = of_user(&bundle)[0].source.clone().unwrap();
    assert_eq!(source.sha256, sha256(EXAMPLE.as_bytes()));
    assert_eq!((bundle.source_text(&source), bundle.others.len()), (None, 0));
    let without = ["bench", "gen:diagonal?m=9", "--no-source"];
    let ran = p.run(&without);
    assert!(ran.code == Some(2) && ran.err.contains("--kernel-file"), "{}", ran.err);
}

#[test]
fn a_file_that_is_no_kernel_is_told_with_place_and_expectation_before_anything_is_measured() {
    let p = program();
    let wrong = |code: i32, text: &str, more: &[&str]| {
        p.write("wrong.cu", text);
        let args = ["bench", "gen:diagonal?m=9", "--kernel-file", "wrong.cu"];
        p.fail(code, &[&args[..], more].concat())
    };
    let none = wrong(1, "int x;\n", &[]);
    assert!(
        none.contains("wrong.cu has no header: expected the line `// sparsescope kernel`"),
        "{none}"
    );
    let word = wrong(1, &EXAMPLE.replace("family: csr", "family: crs"), &[]);
    assert!(word.contains("wrong.cu, line 5: family is `crs`: expected one of csr, ell"), "{word}");
    let list = wrong(1, &EXAMPLE.replace("const u32* col", "const int* col"), &[]);
    assert!(list.contains("parameter 3 of two_sums is `const int* col`"), "{list}");
    let operation = wrong(2, EXAMPLE, &["--operation", "symgs"]);
    assert!(operation.contains("--kernel-file supports only spmv, not symgs"), "{operation}");
    let device = wrong(2, EXAMPLE, &["--backend", "cpu"]);
    assert!(device.contains("--backend excludes cuda"), "{device}");
    let twice = wrong(2, EXAMPLE, &["--kernel-file", "wrong.cu"]);
    assert!(twice.contains("and another file both define user/wrong/two_sums"), "{twice}");
    let missing = p.fail(1, &["bench", "gen:diagonal?m=9", "--kernel-file", "none.cu"]);
    assert!(missing.contains("cannot read none.cu"), "{missing}");
    assert_eq!(p.files(), ["my-csr.cu", "wrong.cu"]);
}

#[test]
fn what_the_compiler_says_is_shown_with_the_users_lines() {
    if compiler_is_missing() {
        skip!(Need::Nvrtc, "no NVRTC was found; SPARSESCOPE_CUDA_LIBRARIES can list its folders");
    }
    let p = program();
    p.write("broken.cu", EXAMPLE.replace("const u32 lane = ", "const u32 line = "));
    let ran = p.run(&["bench", "gen:diagonal?m=9", "--kernel-file", "broken.cu"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    // The first line that uses an undefined name.
    let line = 1 + EXAMPLE.lines().position(|line| line.contains("+ lane;")).unwrap();
    let place = format!("broken.cu({line}): error");
    assert!(
        ran.err.contains("broken.cu does not compile at `") && ran.err.contains(&place),
        "{}",
        ran.err
    );
    assert_eq!(p.files(), ["broken.cu", "my-csr.cu"]);
}

/// Whether the compiler is missing: then a source with an error is measured like any other.
fn compiler_is_missing() -> bool {
    let p = program();
    p.write("broken.cu", EXAMPLE.replace("return;", "return 1 +;"));
    let args = ["bench", "gen:diagonal?m=9", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    p.run(&[&args[..], &["--kernel-file", "broken.cu", "-o", "b.zip"]].concat()).code == Some(0)
}

#[test]
fn a_bundle_is_continued_with_the_same_files_alone() {
    let p = program();
    p.succeed(&[&BENCH[..], &["-o", "b.zip"]].concat());
    let mut bundle = open(&p, "b.zip");
    bundle.complete = false;
    bundle.runs.retain(|run| run.source.is_none());
    bundle.save(&p.path("b.zip"), true).unwrap();

    let error = p.fail(2, &["bench", "--resume", "b.zip"]);
    assert!(error.contains("pass the file my-csr.cu again with --kernel-file"), "{error}");
    p.write("my-csr.cu", EXAMPLE.replace("two sums", "2 sums"));
    let named = ["bench", "--resume", "b.zip", "--kernel-file", "my-csr.cu"];
    let error = p.fail(2, &named);
    let begin = &sha256(EXAMPLE.as_bytes())[..8];
    let sentence = format!(
        "my-csr.cu differs from the file that the bundle was started with (SHA-256: expected {begin}…"
    );
    assert!(error.contains(&sentence), "{error}");
    p.write("my-csr.cu", EXAMPLE);
    p.write("other.cu", EXAMPLE);
    let error = p.fail(2, &[&named[..], &["--kernel-file", "other.cu"]].concat());
    assert!(error.contains("the bundle was started without other.cu"), "{error}");
    let error = p.fail(2, &[&named[..], &["--no-source"]].concat());
    assert!(error.contains("--no-source"), "{error}");

    p.succeed(&[&named[..], &["-q"]].concat());
    let after = open(&p, "b.zip");
    assert!(after.complete);
    assert_eq!(of_user(&after).len(), 3);
    assert_eq!(after.source_text(of_user(&after)[0].source.as_ref().unwrap()), Some(EXAMPLE));
}

#[test]
fn kernels_of_one_name_and_other_texts_stay_apart() {
    let p = program();
    p.succeed(&[&BENCH[..], &["-o", "a.zip"]].concat());
    p.write("my-csr.cu", EXAMPLE.replace("two sums", "2 sums"));
    p.succeed(&[&BENCH[..], &["-o", "b.zip"]].concat());
    let told = p.run(&["compare", "a.zip", "b.zip"]);
    let said = format!("{}{}", told.out, told.err);
    assert!(said.contains(&format!("the source of {ID} differs: SHA-256")), "{said}");
    p.succeed(&["merge", "a.zip", "b.zip", "--prefer", "last", "-o", "c.zip"]);
    let merged = open(&p, "c.zip");
    assert_eq!((of_user(&merged).len(), merged.others.len()), (6, 2));
    assert!(
        of_user(&merged)
            .iter()
            .all(|run| { merged.source_text(run.source.as_ref().unwrap()).is_some() })
    );
    let ids: std::collections::BTreeSet<&str> =
        of_user(&merged).iter().map(|run| run.kernel.as_str()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
}
