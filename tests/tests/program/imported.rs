//! Results of another program next to our own, through the command line.

use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::record::Verdict;
use sparsescope_tests::Program;

use crate::common::open;

const SECONDS: &str = include_str!("../../golden/ginkgo-seconds.json");
const PLAIN: &str = include_str!("../../golden/ginkgo-plain.json");
const GOOGLE: &str = include_str!("../../golden/google-benchmark.json");
const NVBENCH: &str = include_str!("../../golden/nvbench.json");

/// The matrix `five` of the imported results: ten nonzeros.
const FIVE: &str = "%%MatrixMarket matrix coordinate real general\n5 5 10\n1 1 2\n1 2 1\n2 2 2\n\
    2 3 1\n3 3 2\n3 4 1\n4 4 2\n4 5 1\n5 5 2\n5 1 1\n";

fn program() -> Program {
    let program = crate::common::program();
    program.write("five.mtx", FIVE);
    program.write("ginkgo.json", SECONDS);
    program.write("plain.json", PLAIN);
    let kernels = ["--kernels", "cpu/csr/serial", "--runs", "3", "-q"];
    program.succeed(&[&["bench", "five.mtx", "-o", "ours.zip"][..], &kernels].concat());
    program
}

#[test]
fn merging_puts_them_on_the_matrix_of_equal_name_and_size_and_says_so() {
    let p = program();
    // In either order.
    for files in [["ours.zip", "ginkgo.json"], ["ginkgo.json", "ours.zip"]] {
        let ran =
            p.run(&[&["merge"][..], &files, &["plain.json", "-o", "all.zip", "--force"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.err.contains("ginkgo.json: imported, not checked by Sparsescope; 1 of 1 matrix")
        );
        assert!(
            ran.err.contains("plain.json: imported, not checked by Sparsescope; 0 of 3 matrices")
        );
        let all = open(&p, "all.zip");
        assert_eq!(all.matrices.len(), 4);
        let five = all.matrices.iter().find(|m| m.record.name == "five").unwrap();
        assert!(!is_known_by_name(&five.record) && !five.record.statistics.formats.is_empty());
        let on_five: Vec<_> = all
            .runs
            .iter()
            .filter(|run| run.matrix == five.record.id && run.check.verdict == Verdict::Pass)
            .map(|run| (run.kernel.as_str(), run.check.by.as_deref()))
            .collect();
        let mut sorted = on_five.clone();
        sorted.sort_unstable();
        let expected = [
            ("cpu/csr/serial", None),
            ("vendor/ginkgo/coo", Some("Ginkgo")),
            ("vendor/ginkgo/csr", Some("Ginkgo")),
        ];
        assert_eq!(sorted, expected);
    }
}

#[test]
fn what_is_none_is_refused_in_one_sentence() {
    let p = program();
    p.write("broken.json", "[{\"spmv\":");
    let error = p.fail(1, &["merge", "ours.zip", "broken.json", "-o", "all.zip"]);
    assert!(
        error.contains("broken.json: cannot import results of Ginkgo's SpMV benchmark"),
        "{error}"
    );
    assert!(!p.path("all.zip").exists());
}

#[test]
fn they_are_compared_and_exported_like_a_bundle() {
    let p = program();
    let csv = p.succeed(&["export", "ginkgo.json", "--csv", "-"]);
    assert_eq!(csv.lines().count(), 1 + 5);
    assert!(csv.contains("five,real,false,5,5,10,spmv,vendor/ginkgo/csr,vendor,"), "{csv}");
    let compared = p.json(&["compare", "ginkgo.json", "ginkgo.json", "--json"]);
    assert_eq!(compared["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn nvbench_and_google_benchmark_stand_beside_ours_and_what_is_left_out_is_told() {
    let p = program();
    p.write("google.json", GOOGLE);
    p.write("nvbench.json", NVBENCH);
    let ran = p.run(&["merge", "ours.zip", "google.json", "nvbench.json", "-o", "all.zip"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for sentence in [
        "warning: google.json: 2 of 6 runs not imported: 1 without a matrix name",
        "(BM_SpMV_csr<double>/1024)",
        "warning: nvbench.json: 2 of 5 runs not imported: 1 without a matrix name",
        "google.json: imported, not checked by Sparsescope; 1 of 3 matrices",
        "nvbench.json: imported, not checked by Sparsescope; 1 of 2 matrices",
    ] {
        assert!(ran.err.contains(sentence), "{sentence}: {}", ran.err);
    }
    let all = open(&p, "all.zip");
    let five = all.matrices.iter().find(|m| m.record.name == "five").unwrap();
    assert!(!is_known_by_name(&five.record));
    let timed = |run: &&sparsescope_core::record::Run| {
        run.matrix == five.record.id && run.figures.is_some()
    };
    let by: Vec<_> = all.runs.iter().filter(timed).map(|run| run.check.by.as_deref()).collect();
    assert_eq!(by, [None, Some("Google Benchmark"), Some("nvbench"), Some("nvbench")]);
    assert_eq!(all.left_out().count(), 2);
}

#[test]
fn one_file_of_another_program_becomes_a_bundle_and_one_bundle_is_not_merged() {
    let p = program();
    p.write("nvbench.json", NVBENCH);
    p.succeed(&["merge", "nvbench.json", "-o", "imported.zip"]);
    assert_eq!(open(&p, "imported.zip").runs.len(), 4);
    p.fail(2, &["merge", "ours.zip", "-o", "all.zip"]);
}

#[test]
fn in_a_page_they_are_bundles_since_the_page_imports_less() {
    let p = program();
    p.write("nvbench.json", NVBENCH);
    // A dummy page.
    std::fs::create_dir(p.path("web")).unwrap();
    p.write("web/index.html", "");
    p.write("web/standalone.html", "<!-- sparsescope:bundles -->");
    let mut export = p.command(&["export", "nvbench.json", "--html", "page.html"]);
    assert!(export.env("SPARSESCOPE_WEB", p.path("web")).output().unwrap().status.success());
    let page = std::fs::read_to_string(p.path("page.html")).unwrap();
    // A base64 zip follows.
    assert!(page.contains("data-bundle=\"nvbench.json.zip\">UEsDB"), "{page:.200}");
}
