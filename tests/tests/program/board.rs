//! The best results of a folder of bundles: `board`.

use sparsescope_core::record::{Source, Verdict};

use crate::common::{open, program};
use crate::compare::{bench, with_times};
use crate::report::parse;

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
    assert!(html.contains("body:has(#k1:not(:checked)) .k1 { display: none; }"), "{html}");

    // A wrong result, and a file that was cut short.
    let mut wrong = open(&p, "results/a.zip");
    let run = &mut wrong.runs[0];
    (run.samples, run.figures, run.metric, run.work) = (Vec::new(), None, None, None);
    run.check.verdict = Verdict::Fail;
    run.check.reason = Some("row 3 differs".into());
    wrong.save(&p.path("results/c.zip"), true).unwrap();
    let mut bytes = std::fs::read(p.path("results/a.zip")).unwrap();
    bytes.truncate(bytes.len() / 2);
    p.write("results/d.zip", bytes);
    assert!(p.fail(1, &["board", "results"]).contains("--force"));
    let ran = p.run(&["board", "results", "--force"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert_eq!(ran.err.matches("error: left out: ").count(), 2, "{}", ran.err);
    assert!(ran.err.contains("c.zip: cpu/csr/serial computed a wrong result"), "{}", ran.err);
    assert_eq!(read(), html, "the page has the same two bundles");
}
