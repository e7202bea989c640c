//! The skyline operator through the whole program: the command, and `bench --operation skyline`.

use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::record::{Better, Operation, Verdict};
use sparsescope_core::skyline::PointsPicture;
use sparsescope_tests::Program;

use crate::common::{on_cpu, open, program};

/// Seven hotels by (quiet, near): two are copies, two are dominated.
const HOTELS: &str = "2 quiet near\n7\n1 9\n5 5\n5 5\n4 5\n9 -0.0\n9 0\n8 -1\n";

/// The contents of a text file after its first two lines.
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
    for kernel in on_cpu(Operation::Skyline) {
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
            // Equal values, each written as it was read.
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
    // The output can be read as points again, and all of them stay.
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
    for line in ["hotels.txt: 7 points in 2 dimensions", "cpu/skyline/fast", "5 (71.429 %)", "pass"]
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
fn the_name_of_a_file_decides_its_form_and_what_is_written_reads_back_as_the_same_points() {
    let p = program();
    // Two of four are dominated; as text, their sizes would be points of CSV.
    p.write("one.csv", "v\n3\n7\n7\n1\n");
    p.write("two.csv", "Park North;price\n1,5;9\n2;2,25\n0;0\n");
    for (file, k, d) in [("one.csv", 2, 1), ("two.csv", 2, 2)] {
        for name in ["k.csv", "k.csv.gz", "k.txt", "k", "k.points", "k.points.gz"] {
            p.succeed(&["skyline", file, "-o", name, "--force"]);
            let again = p.json(&["skyline", name, "--json"]);
            assert_eq!([&again["n"], &again["d"], &again["k"]], [k, d, k], "{file} {name}");
        }
        let kept = std::fs::read_to_string(p.path("k.csv")).unwrap();
        let names = if d == 1 { "v" } else { "\"Park North\",\"price\"" };
        assert_eq!(kept.lines().next(), Some(names));
    }
    for name in ["k.mtx", "k.json", "k.tsv.gz", "k.npy"] {
        let error = p.fail(2, &["skyline", "one.csv", "-o", name]);
        assert!(error.contains("the output is points as text or CSV or binary points"), "{error}");
        assert!(!p.path(name).exists());
    }
    let error = p.fail(2, &["skyline", "one.csv", "-o", "new.csv", "--paper-format"]);
    assert!(error.contains("--paper-format writes text"), "{error}");
    let spec = "points-independent?n=5&d=2";
    p.fail(2, &["generate", spec, "-o", "made.json"]);
    p.succeed(&["generate", spec, "-o", "made.csv"]);
    assert_eq!(p.json(&["skyline", "made.csv", "--json"])["n"], 5);
    p.fail(2, &["generate", "poisson2d?n=3", "-o", "a.csv"]);
    p.succeed(&["generate", "poisson2d?n=3", "-o", "a.mtx"]);
    for name in ["y.csv", "y.points", "y.zip"] {
        let error = p.fail(2, &["spmv", "a.mtx", "-o", name]);
        assert!(error.contains("the output is Matrix Market"), "{error}");
    }
    p.fail(2, &["solve", "a.mtx", "-o", "x.mtx", "--history", "h.json"]);
}

#[test]
fn what_was_taken_of_a_table_is_said_and_what_may_be_lost_is_refused() {
    let p = program();
    p.write("hotels.csv", "price,distance\n1,9\n5,5\n4,5\n9,0\n");
    let text = p.succeed(&["skyline", "hotels.csv"]);
    assert!(text.contains("header: price, distance; 4 points in 2 dimensions"), "{text}");
    let read = &p.json(&["skyline", "hotels.csv", "--json"])["read"];
    assert_eq!(read["header"], serde_json::json!(["price", "distance"]));
    assert_eq!((&read["form"], &read["separator"]), (&"csv".into(), &"commas".into()));
    for (text, at) in [("NA,9\n1,2\n2,1\n", 1), (",9\n1,2\n2,1\n", 1), ("0,O\n1,2\n", 2)] {
        p.write("bad.csv", text);
        let error = p.fail(1, &["skyline", "bad.csv", "--minimize"]);
        let place = format!("bad.csv: line 1: expected a number in column {at}, or a header");
        assert!(error.contains(&place), "{error}");
        let n = p.json(&["skyline", "bad.csv", "--header", "--json"])["n"].as_u64().unwrap();
        assert_eq!(n as usize, text.lines().count() - 1);
        p.fail(1, &["skyline", "bad.csv", "--no-header"]);
        let bench =
            ["bench", "bad.csv", "--operation", "skyline", "--kernels", "cpu/skyline/serial"];
        let once = ["--runs", "1", "--warmup", "0", "-o", "b.zip", "--force"];
        assert_eq!(p.run(&[&bench[..], &once].concat()).code, Some(1));
        p.succeed(&[&bench[..], &once, &["--header"]].concat());
        let bundle = open(&p, "b.zip");
        assert_eq!(bundle.subjects[0].record.sizes["points"], n);
    }
    p.write("one.csv", "1.5;2.5\n");
    assert_eq!(p.json(&["skyline", "one.csv", "--json"])["d"], 2);
    p.fail(2, &["skyline", "one.csv", "--header", "--no-header"]);
    p.fail(2, &["bench", "gen:diagonal?m=4", "--header"]);
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
    let is_heading = |line: &str| line.contains("subject") && line.contains("median");
    assert!(table.lines().any(is_heading), "{table}");
    let bundle = open(&p, "out.zip");
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
    assert_eq!(bundle.runs.len(), 2 * on_cpu(Operation::Skyline).map(threads).sum::<usize>());
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        assert!(run.work.unwrap().comparisons > 0, "{}", run.kernel);
        let metric = run.metric.as_ref().unwrap();
        assert_eq!((metric.unit.as_str(), metric.better), ("ms", Better::Less));
        let median = run.figures.as_ref().unwrap().median_s;
        assert!((metric.value / (median * 1e3) - 1.0).abs() < 1e-9);
    }
    // Speed-ups are relative to the reference.
    let serial = bundle.runs.iter().find(|run| run.kernel == "cpu/skyline/serial").unwrap();
    assert_eq!(serial.figures.as_ref().unwrap().speedup, Some(1.0));
    // A matrix is not a point set, and a suite of matrices has no points.
    let error = p.fail(2, &["bench", "--operation", "skyline", "--suite", "mini"]);
    assert!(error.contains("there is no suite and no list file `mini`"), "{error}");
    assert!(error.contains("; the suites are: points, rbox"), "{error}");
    let on_cpu = ["bench", "hotels.txt", "--operation", "skyline", "--backend", "cpu"];
    let error = p.fail(2, &[&on_cpu[..], &["--counting", "device,host"]].concat());
    assert!(error.contains("no selected kernel takes counting host"), "{error}");
}

#[test]
fn columns_are_chosen_with_a_direction_each_and_points_keep_their_rows_and_names() {
    let p = program();
    p.write(
        "hotels.csv",
        "hotel,price,stars,distance\nRiver,80,3,1.2\n\"Park, North\",120,5,0.4\nStation,60,2,2.0\nGarden,130,4,0.9\n",
    );
    // Garden costs more than Park and has fewer stars.
    let directed = ["skyline", "hotels.csv", "--minimize", "price", "--maximize", "stars"];
    for columns in [&["--columns", "price,stars"][..], &["--columns", "2,3"], &[]] {
        let how = [&directed[..], columns, &["--id", "hotel"]].concat();
        let told = p.json(&[&how[..], &["--json"]].concat());
        assert_eq!([&told["n"], &told["d"], &told["k"]], [4, 2, 3]);
        assert_eq!(told["rows"], serde_json::json!([1, 2, 3]));
        assert_eq!(told["ids"], serde_json::json!(["River", "Park, North", "Station"]));
        let column = |number: u32, name: &str, minimized: bool| serde_json::json!({ "number": number, "name": name, "minimized": minimized });
        let expected = [column(2, "price", true), column(3, "stars", false)];
        assert_eq!(told["columns"], serde_json::json!(expected));
        assert_eq!(told["minimized"], false);
        p.succeed(&[&how[..], &["-o", "k.csv", "--force"]].concat());
        let kept = std::fs::read_to_string(p.path("k.csv")).unwrap();
        assert_eq!(
            kept,
            "row,hotel,price,stars\n1,River,80.0,3.0\n2,\"Park, North\",120.0,5.0\n3,Station,60.0,2.0\n"
        );
        let text = p.succeed(&how);
        assert!(text.contains("price (smaller is better), stars (larger is better)"), "{text}");
        assert!(text.contains("rows        1 River; 2 Park, North; 3 Station"), "{text}");
    }
    // The cheapest alone; the nearest and the cheapest of three columns.
    let rows = |how: &[&str]| {
        p.json(&[&["skyline", "hotels.csv", "--json"][..], how].concat())["rows"].clone()
    };
    assert_eq!(rows(&["--minimize", "price"]), serde_json::json!([3]));
    assert_eq!(rows(&["--columns", "price", "--minimize"]), serde_json::json!([3]));
    assert_eq!(rows(&["--columns", "price"]), serde_json::json!([4]));
    // In all three columns, each hotel is better than each other in one.
    assert_eq!(rows(&["--id", "hotel", "--minimize"]), serde_json::json!([1, 2, 3, 4]));
    // The points may follow the option, whose columns are then all.
    p.write("three.csv", "1,2\n2,1\n3,3\n");
    let smaller = p.json(&["skyline", "--minimize", "three.csv", "--json"]);
    assert_eq!(smaller["rows"], serde_json::json!([1, 2]));
    let error = p.fail(2, &["info", "gen:diagonal?m=9", "--undirected"]);
    assert!(
        error.contains("and --variable need a file with a matrix, found gen:diagonal?m=9"),
        "{error}"
    );
    // What is not chosen may be text, and numbers do without a header.
    p.write("bare.csv", "River,80,3\nPark,120,5\nGarden,130,4\n");
    let told = p.json(&[
        "skyline",
        "bare.csv",
        "--minimize",
        "2",
        "--maximize",
        "3",
        "--id",
        "1",
        "--json",
    ]);
    assert_eq!(told["ids"], serde_json::json!(["River", "Park"]));
    p.write("three.txt", "3\n2\n1 2 3\n2 1 3\n");
    assert_eq!(
        p.json(&["skyline", "three.txt", "--columns", "1,3", "--json"])["rows"],
        serde_json::json!([2])
    );
    let wrong = p.fail(1, &["skyline", "hotels.csv", "--columns", "cost"]);
    assert_eq!(
        wrong,
        "error: hotels.csv: line 1: expected a column \"cost\", found the columns hotel, price, stars, distance"
    );
    let text = p.fail(1, &["skyline", "hotels.csv", "--columns", "hotel,price"]);
    assert!(
        text.contains("hotels.csv: line 2: expected a number in column 1, found \"River\""),
        "{text}"
    );
    let both = p.fail(1, &["skyline", "hotels.csv", "--minimize", "price", "--maximize", "2"]);
    assert!(both.contains("expected one direction per column"), "{both}");
    let form = p.fail(2, &["skyline", "hotels.csv", "--id", "hotel", "-o", "k.txt"]);
    assert!(form.contains("expected a name that ends in .csv, found k.txt"), "{form}");
    p.fail(1, &["skyline", "three.txt", "--id", "1"]);
}
