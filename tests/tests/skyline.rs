//! The skyline operator through the whole program: the command, and `bench --operation skyline`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, kernels};
use sparsescope_core::record::{Better, Operation, Verdict};
use sparsescope_core::skyline::PointsPicture;
use sparsescope_tests::Program;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"))
}

fn on_cpu() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Skyline).iter().filter(|k| k.device == DeviceKind::Cpu)
}

/// Seven hotels by (quiet, near): two are copies, two are dominated.
const HOTELS: &str = "2 quiet near\n7\n1 9\n5 5\n5 5\n4 5\n9 -0.0\n9 0\n8 -1\n";

/// What a file of text holds below its first two lines.
fn written(p: &Program, name: &str) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(p.path(name)).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    let sizes = format!("{} {}", lines.next().unwrap(), lines.next().unwrap());
    (sizes, lines.collect())
}

#[test]
fn every_kernel_keeps_the_hotels_that_none_dominates_with_all_copies_as_they_were_read() {
    let p = program();
    p.write("hotels.txt", HOTELS);
    p.write("hotels.csv", "quiet,near\n1,9\n5,5\n5,5\n4,5\n9,-0.0\n9,0\n8,-1\n");
    for kernel in on_cpu() {
        for file in ["hotels.txt", "hotels.csv"] {
            let how = ["skyline", file, "--kernel", kernel.id, "--threads", "2"];
            p.succeed(&[&how[..], &["-o", "kept.txt", "--force"]].concat());
            let (sizes, kept) = written(&p, "kept.txt");
            assert_eq!(sizes, "2 5", "{}", kernel.id);
            let numbers: Vec<f64> = kept
                .iter()
                .flat_map(|l| l.split_whitespace())
                .map(|n| n.parse().unwrap())
                .collect();
            assert_eq!(numbers, [1.0, 9.0, 5.0, 5.0, 5.0, 5.0, 9.0, -0.0, 9.0, 0.0]);
            // Equal, and each as it was read.
            assert!(numbers[7].is_sign_negative() && numbers[9].is_sign_positive());
        }
        let smaller =
            p.json(&["skyline", "hotels.txt", "--kernel", kernel.id, "--minimize", "--json"]);
        assert_eq!(
            (&smaller["k"], &smaller["minimized"]),
            (&3.into(), &true.into()),
            "{}",
            kernel.id
        );
    }
    // What was written is points again, and all of them stay.
    let again = p.json(&["skyline", "kept.txt", "--json"]);
    assert_eq!((&again["n"], &again["d"], &again["k"]), (&5.into(), &2.into(), &5.into()));
    p.succeed(&["skyline", "hotels.txt", "-o", "paper.txt", "--paper-format"]);
    assert_eq!(written(&p, "paper.txt").1[0].trim(), "1.000000 9.000000");
}

#[test]
fn what_is_told_is_what_was_found() {
    let p = program();
    p.write("hotels.txt", HOTELS);
    let told = p.json(&["skyline", "hotels.txt", "--kernel", "cpu/skyline/serial", "--json"]);
    for (name, expected) in [("n", 7), ("d", 2), ("k", 5), ("threads", 1)] {
        assert_eq!(told[name], expected, "{name}");
    }
    assert_eq!((&told["kernel"], &told["backend"]), (&"cpu/skyline/serial".into(), &"cpu".into()));
    assert_eq!(told["check"]["verdict"], "pass");
    let [kernel, total] = ["seconds", "total_seconds"].map(|name| told[name].as_f64().unwrap());
    assert!(0.0 < kernel && kernel < total, "{kernel} {total}");
    assert!(told["comparisons"].as_u64().unwrap() >= 7);
    let text = p.succeed(&["skyline", "hotels.txt"]);
    for line in ["hotels.txt: 7 points of 2 dimensions", "cpu/skyline/fast", "5 (71.429 %)", "pass"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for (text, k) in [("3\n0\n", 0), ("1\n3\n2\n2\n1\n", 2), ("2\n1\ninf -inf\n", 1)] {
        p.write("small.txt", text);
        assert_eq!(p.json(&["skyline", "small.txt", "--json"])["k"], k, "{text}");
    }
}

#[test]
fn what_is_no_set_of_points_is_refused_in_a_sentence_and_nothing_is_written() {
    let p = program();
    for (text, expected) in [
        ("2\n2\n1 2\n3 nan\n", "coordinate 2 of 2 of point 2"),
        ("0\n1\n", "the number of dimensions, from 1"),
        ("2\n3\n1 2\n3 4\n", "coordinate 1 of 2 of point 3"),
        ("", "the number of dimensions"),
    ] {
        p.write("bad.txt", text);
        let error = p.fail(1, &["skyline", "bad.txt", "-o", "kept.txt"]);
        assert!(error.contains(expected), "{expected}\n{error}");
        assert!(!p.path("kept.txt").exists());
    }
    p.write("hotels.txt", HOTELS);
    p.write("kept.txt", "mine");
    let error = p.fail(1, &["skyline", "hotels.txt", "-o", "kept.txt"]);
    assert!(error.contains("--force"), "{error}");
    assert_eq!(std::fs::read_to_string(p.path("kept.txt")).unwrap(), "mine");
    let error = p.fail(2, &["skyline", "hotels.txt", "--kernel", "cpu/csr/serial"]);
    assert!(error.contains("computes spmv, not skyline"), "{error}");
    p.fail(1, &["skyline", "none.txt"]);
}

#[test]
fn generated_points_are_written_and_read_back_in_every_form() {
    let p = program();
    let spec = "points-anticorrelated?n=500&d=3";
    let keep = |points: &str, name: &str| {
        p.succeed(&["skyline", points, "-o", name]);
        std::fs::read(p.path(name)).unwrap()
    };
    let expected = keep(&format!("gen:{spec}"), "made.txt");
    for (k, name) in
        ["all.txt", "all.points", "all.txt.gz", "all.points.gz"].into_iter().enumerate()
    {
        p.succeed(&["generate", spec, "-o", name]);
        assert_eq!(keep(name, &format!("kept-{k}.txt")), expected, "{name}");
    }
    let list = p.succeed(&["generate", "--list"]);
    for name in ["points-independent?n=", "points-sphere?n=", "rbox: ", "anticorrelated-8d"] {
        assert!(list.contains(name), "{name}");
    }
}

#[test]
fn bench_measures_every_kernel_and_its_bundle_holds_the_points_apart_from_matrices() {
    let p = program();
    let spec = "gen:points-independent?n=2000&d=4";
    p.write("hotels.txt", HOTELS);
    let how = ["--operation", "skyline", "--runs", "3", "--threads", "1,2", "--backend", "cpu"];
    let table = p.succeed(&[&["bench", spec, "hotels.txt"], &how[..], &["-o", "out.zip"]].concat());
    let is_heading = |line: &str| line.contains("subject") && line.contains(" ms ");
    assert!(table.lines().any(is_heading), "{table}");
    let bundle = Bundle::open(&p.path("out.zip"), &Limits::default()).unwrap();
    assert!(bundle.matrices.is_empty() && bundle.complete);
    let kinds: Vec<_> =
        bundle.subjects.iter().map(|s| (s.folder.as_str(), s.record.kind.as_str())).collect();
    assert_eq!(kinds, [("skyline", "points"); 2]);
    let sizes = |name: &str| {
        let of = bundle.subjects.iter().find(|subject| subject.record.name.starts_with(name));
        ["points", "dimensions"].map(|size| of.unwrap().record.sizes[size])
    };
    assert_eq!([sizes("points-independent"), sizes("hotels")], [[2000, 4], [7, 2]]);
    for subject in &bundle.subjects {
        let picture = PointsPicture::from_files(&subject.files).unwrap().unwrap();
        assert_eq!(u64::from(picture.points), subject.record.sizes["points"]);
        assert!(picture.is_whole() && picture.clamped == 0);
    }
    let hotels = bundle.subjects.iter().find(|subject| subject.record.name.starts_with("hotels"));
    let hotels = PointsPicture::from_files(&hotels.unwrap().files).unwrap().unwrap();
    let dominators: Vec<_> = (0..7).map(|place| hotels.dominator(place)).collect();
    assert!(matches!(dominators[..], [None, None, None, Some(1 | 2), None, None, Some(4 | 5)]));
    let threads = |kernel: &KernelDescriptor| if kernel.takes.threads { 2 } else { 1 };
    assert_eq!(bundle.runs.len(), 2 * on_cpu().map(threads).sum::<usize>());
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        assert!(run.work.unwrap().comparisons > 0, "{}", run.kernel);
        let metric = run.metric.as_ref().unwrap();
        assert_eq!((metric.unit.as_str(), metric.better), ("ms", Better::Less));
        let median = run.figures.as_ref().unwrap().median_s;
        assert!((metric.value / (median * 1e3) - 1.0).abs() < 1e-9);
    }
    // The reference is what speed-ups relate to.
    let serial = bundle.runs.iter().find(|run| run.kernel == "cpu/skyline/serial").unwrap();
    assert_eq!(serial.figures.as_ref().unwrap().speedup, Some(1.0));
    // A matrix is no set of points, and a suite of matrices none of points.
    let error = p.fail(2, &["bench", "--operation", "skyline", "--suite", "mini"]);
    assert!(error.contains("there is no suite `mini`, nor a file of this name"), "{error}");
    assert!(error.contains("; there are: points, rbox"), "{error}");
    let on_cpu = ["bench", "hotels.txt", "--operation", "skyline", "--backend", "cpu"];
    let error = p.fail(2, &[&on_cpu[..], &["--counting", "device,host"]].concat());
    assert!(error.contains("no kernel selected takes counting host"), "{error}");
}
