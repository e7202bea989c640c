//! Files that ranks read in shares, and rows that are renumbered.

use super::*;

#[test]
fn rows_numbered_anew_by_a_rule_or_a_partition_file_give_the_same_matrix_and_solution() {
    let program = program!();
    program.succeed(&["generate", "gen:fem-hex?n=5&dof=3", "-o", "a.mtx"]);
    let rows = 5 * 5 * 5 * 3;
    let open = |name: &str| Bundle::open(&program.path(name), &Limits::default()).unwrap();
    let with = ["--runs", "2", "--threads", "1", "-q", "--force", "-o"];
    for matrix in ["gen:fem-hex?n=5&dof=3", "a.mtx"] {
        let one = ["bench", matrix, "--reorder", "rcm", "--kernels", "cpu/csr/serial"];
        program.succeed(&[&one[..], &with, &["one.zip"]].concat());
        let several = [&["bench", matrix, "--reorder", "rcm"], &with[..], &["b.zip"]].concat();
        let ran = run(&program, 3, &several);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let (one, several) = (open("one.zip"), open("b.zip"));
        let [one, other] = [&one, &several].map(|bundle| &bundle.matrices[0].record);
        assert_eq!(
            (&one.id, &one.sha256, &one.reordered),
            (&other.id, &other.sha256, &other.reordered)
        );
        assert!(several.runs.iter().all(|run| run.check.verdict == Verdict::Pass));

        // Rank 2 has every third row; rank 1 has none.
        let ranks: String = (0..rows).map(|row| if row % 3 == 0 { "2\n" } else { "0\n" }).collect();
        program.write("ranks.txt", &ranks);
        let args = [&["bench", matrix, "--partition", "ranks.txt"], &with[..], &["b.zip"]].concat();
        let ran = run(&program, 3, &args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let several = open("b.zip");
        let record = &several.matrices[0].record;
        let reordered = record.reordered.as_ref().unwrap();
        assert_eq!(
            (reordered.by.as_str(), reordered.profile),
            ("partition", one.reordered.as_ref().unwrap().profile)
        );
        for run in &several.runs {
            assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
            let shared = run.distributed.as_ref().unwrap();
            let of_ranks: Vec<u64> = shared.ranks.iter().map(|rank| rank.rows).collect();
            assert_eq!((shared.partition.as_str(), of_ranks), ("file", vec![250, 0, 125]));
        }
        // The solution is in the order of the file.
        let solve = ["solve", matrix, "--power", "1", "--b", "ones", "--json", "--force", "-o"];
        let one = solved(&Ran::of(
            program.command(&[&solve[..], &["one.mtx"]].concat()).output().unwrap(),
        ));
        let args = [&solve[..], &["x.mtx", "--partition", "ranks.txt"]].concat();
        let other = solved(&run(&program, 3, &args));
        assert_eq!(one["check"]["verdict"], other["check"]["verdict"]);
        let (a, b) = (numbers(&program, "one.mtx"), numbers(&program, "x.mtx"));
        let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7 * largest));
    }
    // A stored permutation gives the same matrix as the reordering, and no rank needs the whole matrix.
    program.succeed(&["info", "a.mtx", "--reorder", "rcm", "--write-permutation", "rcm.txt"]);
    let args = [&["bench", "a.mtx", "--permutation", "rcm.txt"], &with[..], &["b.zip"]].concat();
    let ran = run(&program, 3, &args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let [one, other] = ["one.zip", "b.zip"].map(|name| open(name).matrices[0].record.clone());
    assert_eq!(one.sha256, other.sha256);
    assert_eq!(other.reordered.unwrap().by, "permutation");
    program.write("ranks.txt", "0\n1\n");
    let args = ["bench", "a.mtx", "--partition", "ranks.txt", "-o", "c.zip", "-q"];
    let ran = run(&program, 2, &args);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("expected 375 lines, one per row, found 2"), "{}", ran.err);
    let told = program.fail(2, &args);
    assert!(told.contains("--partition needs several ranks"), "{told}");
}

#[test]
fn a_compressed_file_is_read_by_one_rank_and_is_the_same_matrix() {
    let program = program!();
    program.succeed(&["generate", "gen:powerlaw?m=900&nnz=5000&max=80", "-o", "a.mtx"]);
    program.succeed(&["generate", "gen:powerlaw?m=900&nnz=5000&max=80", "-o", "a.mtx.gz"]);
    let record = |name: &str| {
        let bundle = Bundle::open(&program.path(name), &Limits::default()).unwrap();
        bundle.matrices[0].record.clone()
    };
    for ranks in [1, 4, 7] {
        let args = ["--runs", "2", "--threads", "1", "-q", "--force", "-o"];
        let plain = run(&program, ranks, &[&["bench", "a.mtx"], &args[..], &["a.zip"]].concat());
        let packed =
            run(&program, ranks, &[&["bench", "a.mtx.gz"], &args[..], &["b.zip"]].concat());
        assert_eq!((plain.code, packed.code), (Some(0), Some(0)), "{}{}", plain.err, packed.err);
        assert!(
            packed.err.contains("rank 0: the file is compressed: this rank reads it"),
            "{}",
            packed.err
        );
        assert_eq!(record("a.zip").sha256, record("b.zip").sha256);
    }
    let text = std::fs::read_to_string(program.path("a.mtx")).unwrap();
    let lines = text.lines().count();
    let wrong: String = text
        .lines()
        .zip(1..)
        .map(
            |(line, number)| {
                if number == lines - 9 { "1 x 3\n".to_owned() } else { format!("{line}\n") }
            },
        )
        .collect();
    program.write("wrong.mtx", &wrong);
    assert!(Command::new("gzip").arg(program.path("wrong.mtx")).status().unwrap().success());
    let ran = run(&program, 4, &["bench", "wrong.mtx.gz", "-q", "-o", "c.zip"]);
    let expected = format!("wrong.mtx.gz: line {}: expected a column index", lines - 9);
    assert!(ran.err.contains(&expected), "{}", ran.err);
}

/// Duplicates, one triangle, an empty line and a last line without a line end.
#[test]
fn ranks_that_read_a_share_of_a_file_each_have_its_matrix() {
    let program = program!();
    let mut text =
        "%%MatrixMarket matrix coordinate integer symmetric\n% rows\n50 50 101\n".to_owned();
    for k in 1..=50 {
        text += &format!("{k} {k} {}\n", 2 * k);
    }
    text += "50 1 7\n\n50 1 8";
    for k in 2..=50 {
        text += &format!("\n{k} {} -1", k - 1);
    }
    program.write("a.mtx", &text);
    let with = ["--runs", "2", "--threads", "1", "-q", "-o"];
    let one = ["bench", "a.mtx", "--kernels", "cpu/csr/serial"];
    program.succeed(&[&one[..], &with, &["one.zip"]].concat());
    program.succeed(&["spmv", "a.mtx", "-o", "one.mtx"]);
    let record = |name: &str| {
        let bundle = Bundle::open(&program.path(name), &Limits::default()).unwrap();
        bundle.matrices[0].record.clone()
    };
    for ranks in [1, 3, 7] {
        let args = [&["bench", "a.mtx", "--force"], &with[..], &["ranks.zip"]].concat();
        let ran = run(&program, ranks, &args);
        assert_eq!(ran.code, Some(0), "{ranks} ranks: {}", ran.err);
        let (one, other) = (record("one.zip"), record("ranks.zip"));
        assert_eq!((&one.id, &one.sha256, one.source), (&other.id, &other.sha256, other.source));
        assert_eq!((&one.field, &one.symmetry), (&other.field, &other.symmetry));
        let args = ["spmv", "a.mtx", "--kernel", "mpi/csr/halo-overlap", "-o", "y.mtx", "--force"];
        assert_eq!(run(&program, ranks, &args).code, Some(0));
        let read = |name| std::fs::read(program.path(name)).unwrap();
        assert_eq!(read("y.mtx"), read("one.mtx"), "{ranks} ranks");
    }
    for (wrong, expected) in [
        (text.replace("17 17 34", "17 17 x"), "a.mtx: line 20: expected an integer, found \"x\""),
        (text.replace("101", "99"), "a.mtx: the size line declares 99 entries, found 101"),
    ] {
        program.write("a.mtx", &wrong);
        let args = ["spmv", "a.mtx", "--kernel", "mpi/csr/halo", "-o", "z.mtx"];
        let ran = run(&program, 3, &args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{}", ran.err);
    }
    assert!(!program.path("z.mtx").exists());
    let args = ["spmv", "grid-5pt", "--kernel", "mpi/csr/halo", "-o", "z.mtx"];
    let ran = run(&program, 2, &args);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
    assert!(errors(&ran)[0].ends_with("(did you mean suite:grid-5pt?)"), "{}", ran.err);
}
