//! The report as a file: well-formed, complete and self-contained.

use std::path::Path;

use roxmltree::{Document, ParsingOptions};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_tests::Program;

use crate::common::program;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/example").join(name);
    path.to_str().unwrap().to_owned()
}

/// The report of these bundles.
fn report(p: &Program, bundles: &[&str]) -> String {
    p.succeed(&[&["export"][..], bundles, &["--report", "report.html", "--force"]].concat());
    std::fs::read_to_string(p.path("report.html")).unwrap()
}

/// Parses as XML, which is stricter than HTML.
pub(crate) fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).unwrap()
}

/// `golden/bundle-1.3.zip` holds runs of `increment`, an operation that the program no longer has.
#[test]
fn an_operation_that_the_program_does_not_know_is_shown_in_its_own_unit() {
    let p = program();
    p.write("b.zip", include_bytes!("../../golden/bundle-1.3.zip"));
    let runs = |state: &str| {
        let args = ["export", "b.zip", "--table", "-", "--view", "runs", "--state", state];
        p.succeed(&args)
    };
    let products = runs("v1");
    assert_eq!(products.lines().count(), 20);
    assert!(products.starts_with("matrix,") && products.contains(",gflops,"), "{products}");
    let increments = runs("v1;operation=increment");
    assert_eq!(increments.lines().count(), 13);
    assert!(increments.lines().next().unwrap().contains(",ns,"), "{increments}");
    assert!(!increments.contains("poisson2d"));
    let args = ["export", "b.zip", "--chart", "kernels", "--svg", "k.svg"];
    p.succeed(&[&args[..], &["--state", "v1;operation=increment"]].concat());
    let svg = std::fs::read_to_string(p.path("k.svg")).unwrap();
    assert!(svg.contains("lower is better"), "{svg}");
    let html = report(&p, &["b.zip"]);
    let document = parse(&html);
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/1999/xhtml", "h3")))
        .filter_map(|node| node.text())
        .collect();
    for title in ["spmv", "increment", "poisson2d?n=6", "vector?n=1000", "vector?n=100000"] {
        assert!(titles.contains(&title), "{title} in {titles:?}");
    }
}

#[test]
fn every_matrix_and_every_kernel_is_in_it_and_nothing_from_elsewhere() {
    let p = program();
    for name in ["cpu.zip", "gpu.zip"] {
        let file = example(name);
        let html = report(&p, &[&file]);
        let document = parse(&html);
        let cells: Vec<&str> = document
            .descendants()
            .filter(|node| ["td", "h3", "a"].contains(&node.tag_name().name()))
            .filter_map(|node| node.text())
            .collect();
        let bundle = Bundle::open(Path::new(&file), &Limits::default()).unwrap();
        for matrix in &bundle.matrices {
            let name = matrix.record.name.as_str();
            assert!(cells.iter().any(|cell| cell.starts_with(name)), "{name}");
        }
        for run in bundle.runs.iter().filter(|run| run.figures.is_some()) {
            assert!(cells.contains(&run.kernel.as_str()), "{}", run.kernel);
        }
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(!["script", "link", "iframe", "object"].contains(&node.tag_name().name()));
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(!name.starts_with("on") && name != "src", "{name}=\"{value}\"");
                let is_inside = value.starts_with('#') || value.starts_with("data:image/png");
                assert!(name != "href" || is_inside, "{name}=\"{value:.80}\"");
                if let Some(id) = value.strip_prefix('#').filter(|_| name == "href") {
                    assert!(
                        document.descendants().any(|node| node.attribute("id") == Some(id)),
                        "{id}"
                    );
                }
            }
        }
        assert!(!html.contains("url(") && !html.contains("@import"));
        let pictures = document.descendants().filter(|node| node.tag_name().name() == "image");
        assert_eq!(pictures.count(), bundle.matrices.len());
        assert!(html.len() < 2_000_000, "{name}: {} bytes", html.len());
    }
}

#[test]
fn it_begins_with_who_wins_as_the_first_view_does() {
    let p = program();
    let files = [example("gpu.zip"), example("cpu.zip")];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let html = report(&p, &files);
    let document = parse(&html);
    let first = document.descendants().find(|node| node.tag_name().name() == "table").unwrap();
    let texts = |row: roxmltree::Node<'_, '_>| {
        let of = row.descendants().filter(|node| node.is_text());
        of.map(|node| node.text().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rows = first.descendants().filter(|node| node.tag_name().name() == "tr");
    let rows: Vec<Vec<String>> = rows.skip(1).map(texts).collect();
    let table = [&["export"][..], &files, &["--table", "-", "--view", "best"]].concat();
    let table = p.succeed(&table);
    let lines: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), lines.len());
    for (row, line) in rows.iter().zip(&lines) {
        assert!(line.contains(&row[0].as_str()), "{row:?} {line:?}");
        assert!(line.contains(&row[2].as_str()), "{row:?} {line:?}");
    }
    assert!(html.contains(">vs vendor<"), "the H200 ran cuSPARSE");
}

#[test]
fn hostile_names_stay_text() {
    let p = program();
    let mut bundle = Bundle::open(Path::new(&example("cpu.zip")), &Limits::default()).unwrap();
    let hostile = "</title><script>alert(1)</script>&\u{1}\"'";
    bundle.label = Some(hostile.into());
    bundle.matrices[0].record.name = hostile.into();
    bundle.environments[0].cpu.model = hostile.into();
    bundle.runs[0].device = hostile.into();
    bundle.save(&p.path("hostile.zip"), true).unwrap();
    let html = report(&p, &["hostile.zip"]);
    assert!(!html.contains("<script"));
    let shown = hostile.replace('\u{1}', "");
    assert!(parse(&html).descendants().any(|node| node.text() == Some(&shown)));
}

#[test]
fn imported_runs_are_called_so_and_a_report_is_never_overwritten_unasked() {
    let p = program();
    p.write("ginkgo.json", include_str!("../../golden/ginkgo-seconds.json"));
    let html = report(&p, &["ginkgo.json", &example("cpu.zip")]);
    parse(&html);
    assert!(html.contains("<td>imported</td>") && html.contains("Sparsescope did not"));
    assert!(html.contains("not checked by Sparsescope"), "under the chart");
    let error = p.fail(1, &["export", "ginkgo.json", "--report", "report.html"]);
    assert!(error.contains("report.html already exists"), "{error}");
    assert_eq!(std::fs::read_to_string(p.path("report.html")).unwrap(), html);
}
