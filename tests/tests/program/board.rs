//! The best results of a folder of bundles: `board`.

use std::io::{Cursor, Read, Write};

use sparsescope_core::record::{Source, Verdict};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::common::{open, program};
use crate::compare::{bench, with_times};
use crate::report::parse;

/// A bundle with another `results.csv`, in a consistent zip file.
fn with_other_results(bundle: Vec<u8>) -> Vec<u8> {
    let mut old = ZipArchive::new(Cursor::new(bundle)).unwrap();
    let mut new = ZipWriter::new(Cursor::new(Vec::new()));
    for k in 0..old.len() {
        let mut entry = old.by_index(k).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        let name = entry.name().unwrap().into_owned();
        if name == "results.csv" {
            content.push(b'\n');
        }
        new.start_file(name, SimpleFileOptions::default()).unwrap();
        new.write_all(&content).unwrap();
    }
    new.finish().unwrap().into_inner()
}

#[test]
fn the_best_results_link_their_bundles_and_bad_bundles_are_left_out() {
    let p = program();
    bench(&p, "m.zip", "cpu/csr/{serial,nnz}");
    std::fs::create_dir(p.path("results")).unwrap();
    with_times(&p, "m.zip", "results/a.zip", 1e-3, "cpu/csr/nnz", 0.5);
    with_times(&p, "m.zip", "results/b.zip", 1e-4, "none", 1.0);
    let mut other = open(&p, "results/b.zip");
    other.runs.iter_mut().for_each(|run| run.device = "Another <CPU>".into());
    other.matrices[0].record.source = Source::StandIn;
    other.save(&p.path("results/b.zip"), true).unwrap();
    assert_eq!(p.run(&["board", "results"]).code, Some(0));

    let read = || std::fs::read_to_string(p.path("results/index.html")).unwrap();
    let html = read();
    let document = parse(&html);
    let links = |file: &str| {
        let all = document.descendants().filter(|node| node.tag_name().name() == "a");
        all.filter(|node| node.attribute("href") == Some(file)).count()
    };
    // Two kernels on two matrices each.
    assert_eq!([links("a.zip"), links("b.zip")], [4, 4]);
    let cells = document.descendants().filter(|node| node.tag_name().name() == "td");
    let best = |class: &str| {
        let classes = class.split(' ').collect::<Vec<_>>();
        classes.contains(&"best")
    };
    let best = cells.filter(|cell| cell.attribute("class").is_some_and(best)).count();
    // On the CPU, nnz on either matrix. On the other device both kernels are equally fast up to noise: at least
    // one per matrix.
    assert!(best >= 4, "{html}");
    assert!(html.contains("Another &lt;CPU&gt;"), "{html}");
    assert!(html.contains("(stand-in)") && !html.contains("<script"), "{html}");
    let is_hidden = "body:has(#k :checked):has(#k1:not(:checked)) .k1 { display: none; }";
    assert!(html.contains(is_hidden) && !html.contains("checked=\"checked\""), "{html}");

    // A wrong result, a kernel without one, a file that was cut short, and one that was changed.
    let mut wrong = open(&p, "results/a.zip");
    let run = &mut wrong.runs[0];
    (run.samples, run.figures, run.metric, run.work) = (Vec::new(), None, None, None);
    run.check.verdict = Verdict::Fail;
    run.check.reason = Some("row 3 differs".into());
    wrong.save(&p.path("results/c.zip"), true).unwrap();
    wrong.runs[0].check.reason = Some("cpu/csr/serial failed: it crashed".into());
    wrong.save(&p.path("results/f.zip"), true).unwrap();
    let mut bytes = std::fs::read(p.path("results/a.zip")).unwrap();
    bytes.truncate(bytes.len() / 2);
    p.write("results/d.zip", bytes);
    let bytes = std::fs::read(p.path("results/a.zip")).unwrap();
    p.write("results/e.zip", with_other_results(bytes));
    assert!(p.fail(1, &["board", "results"]).contains("--force"));
    let ran = p.run(&["board", "results", "--force"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert_eq!(ran.err.matches("error: left out: ").count(), 4, "{}", ran.err);
    let wrong = "c.zip: cpu/csr/serial failed its check: row 3 differs";
    assert!(ran.err.contains(wrong), "{}", ran.err);
    let failed = "f.zip: cpu/csr/serial failed: it crashed";
    assert!(ran.err.contains(failed), "{}", ran.err);
    let changed = "e.zip: entry `results.csv` does not match its checksum";
    assert!(ran.err.contains(changed), "{}", ran.err);
    assert_eq!(read(), html, "the page has the same two bundles");

    // With the viewer beside them, numbers open their bundles in it.
    std::fs::create_dir(p.path("results/viewer")).unwrap();
    p.write("results/viewer/index.html", "the viewer");
    assert_eq!(p.run(&["board", "results", "--force"]).code, Some(3));
    let html = read();
    let opens = |file: &str| html.matches(&format!("viewer/index.html?bundle={file}\"")).count();
    assert_eq!([opens("..%2Fa.zip"), opens("..%2Fb.zip")], [4, 4], "{html}");
}
