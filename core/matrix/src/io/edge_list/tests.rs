use super::*;
use crate::io::{AnyMatrix, read_named_extent_as, read_named_matrix, read_named_matrix_as};
use crate::matrix::Csr;

const COUNTED: &str =
    "the vertices were counted from 1, because no 0 occurs; if they count from 0, use --base 0";

fn read_as(name: &str, text: &str, options: &ReadOptions) -> Result<MatrixFile, IoError> {
    let limit = MemoryLimit::bytes(1 << 20);
    read_named_matrix_as(name, text.as_bytes(), options, limit, Progress::none())
}

fn read(name: &str, text: &str) -> MatrixFile {
    read_as(name, text, &ReadOptions::default()).unwrap()
}

fn message(name: &str, text: &str) -> String {
    read_as(name, text, &ReadOptions::default()).unwrap_err().to_string()
}

fn matrix(size: (usize, usize), entries: &[(usize, usize, f64)]) -> Csr {
    Csr::from_triplets(size.0, size.1, entries).unwrap()
}

fn is(file: &MatrixFile, size: (usize, usize), entries: &[(usize, usize, f64)]) {
    assert_eq!(file.matrix.real().unwrap(), &matrix(size, entries));
}

#[test]
fn a_list_of_snap_counts_from_zero_if_a_zero_occurs() {
    let edges = "0\t1\n0\t2\n1\t3\n2\t3\n3\t0\n";
    let head = "# Directed graph: made-up\n# Nodes: 4 Edges: 5\n# FromNodeId\tToNodeId\n";
    let expected = [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0), (3, 0, 1.0)];
    for text in [edges.to_owned(), format!("{head}{edges}"), edges.replace('\n', "\r\n")] {
        let file = read("a.txt", &text);
        is(&file, (4, 4), &expected);
        assert_eq!((file.form, file.field), (MatrixForm::EdgesFrom0, Field::Pattern));
        assert_eq!(file.warnings, [""; 0], "{text}");
    }
    // A declared vertex without edges has a row; more vertices than declared have theirs as well.
    is(&read("a.txt", &format!("# Nodes: 6 Edges: 5\n{edges}")), (6, 6), &expected);
    let file = read("a.txt", &format!("# Nodes: 3 Edges: 9\n{edges}# the end\n"));
    is(&file, (4, 4), &expected);
    assert_eq!(file.warnings[0], "the file declares 9 edges, but has 5");
    assert!(file.warnings[1].starts_with("the file declares 3 nodes, but"), "{:?}", file.warnings);
}

#[test]
fn a_list_without_a_zero_counts_from_one_and_says_so() {
    let file = read("a.txt", "1 2\n1 3\n2 4\n3 4\n");
    is(&file, (4, 4), &[(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)]);
    assert_eq!((file.form, file.warnings), (MatrixForm::EdgesFrom1, vec![COUNTED.to_owned()]));
    // These may be triplets, whose first line has the sizes, unless the name says what they are.
    let both = "3 3 2\n1 2 5\n3 1 7\n";
    assert_eq!(read("a.txt", both).form, MatrixForm::Triplets);
    let file = read("a.edges", both);
    is(&file, (3, 3), &[(0, 1, 5.0), (2, 0, 7.0), (2, 2, 2.0)]);
    let doubt = "line 1 was read as an edge; if it holds the sizes of triplets, remove it";
    assert_eq!(file.warnings, [doubt, COUNTED]);
    assert_eq!(read("a.txt", "# c\n3 3 5\n0 0 1\n1 1 2\n").warnings, [doubt.replace('1', "2")]);
    assert_eq!(read("a.edges", "2 3\n1 2\n").warnings, [COUNTED]);
    assert!(message("a.txt", "3 3 2\n1 2 5\n").contains("declares 2 entries"));
}

#[test]
fn commas_semicolons_and_names_of_columns_are_read() {
    let expected = [(0, 1, 0.5), (1, 2, 1.5)];
    for (text, names) in [
        ("src,dst,weight\n1,2,0.5\n2,3,1.5\n", ["src", "dst", "weight"]),
        ("src;dst;weight\n1 ;2; 0.5\n\n2;3;1.5", ["src", "dst", "weight"]),
        ("\"from\"\tto\tw\n1\t2\t0.5\n2\t3\t1.5\n", ["from", "to", "w"]),
        ("id;value;target;source\n9;0.5;2;1\n# c\n8;1.5;3;2\n", ["source", "target", "value"]),
    ] {
        for name in ["a.csv", "a.tsv.gz"] {
            let file = read(name, text);
            is(&file, (3, 3), &expected);
            assert_eq!(file.field, Field::Real);
            let [from, to, weight] = names;
            let said = format!(
                "line 1 was read as the names of the columns: from \"{from}\", to \"{to}\", weight \"{weight}\""
            );
            assert!(file.warnings[0].starts_with(&said), "{:?}", file.warnings);
            assert_eq!(file.warnings[1..], [COUNTED]);
        }
    }
    let file = read("a.csv", "source,target,timestamp\n1,2,1577836800\n2,3,1577836801\n");
    is(&file, (3, 3), &[(0, 1, 1.0), (1, 2, 1.0)]);
    assert!(file.warnings[0].ends_with("; not read: \"timestamp\""), "{:?}", file.warnings);
    assert_eq!(
        message("a.csv", "id,source,target\n1,1,2\n2,3\n"),
        "line 3: expected a row index from 1 to 2, found \"2,3\""
    );
    is(&read("a", "1,2,0.5\n# c\n2,3,1.5\n"), (3, 3), &expected);
}

#[test]
fn of_the_attributes_that_networkx_writes_the_weight_is_read() {
    let text = "0 1 {'weight': 0.5}\n1 2 {'color': 'a b', 'weight': 1.5}\n";
    for name in ["a.edgelist", "a.txt", "a"] {
        let file = read(name, text);
        is(&file, (3, 3), &[(0, 1, 0.5), (1, 2, 1.5)]);
        assert_eq!((file.field, file.warnings), (Field::Real, vec![]));
        let options = ReadOptions::default();
        let extent = read_named_extent_as(name, text.as_bytes(), &options).unwrap();
        assert_eq!((extent.rows, extent.entries), (3, 2));
    }
    let options = ReadOptions { compress_ids: true, ..ReadOptions::default() };
    let file = read_as("a", &text.replace("2 {", "9 {"), &options).unwrap();
    is(&file, (3, 3), &[(0, 1, 0.5), (1, 2, 1.5)]);
    let file = read("a.txt", "0 1 {}\n1 2 {}\n");
    is(&file, (3, 3), &[(0, 1, 1.0), (1, 2, 1.0)]);
    assert_eq!((file.field, file.warnings), (Field::Pattern, vec![]));
    let file = read("a.csv", "0,1,{'color': 'red', 'weight': 2}\n");
    is(&file, (2, 2), &[(0, 1, 2.0)]);
    assert_eq!(file.warnings, ["of the attributes after each edge, only the weight was read"]);
    let without = message("a.txt", "0 1 {'weight': 0.5}\n1 2 {}\n");
    assert!(without.starts_with("line 2: expected a number"), "{without}");
}

#[test]
fn the_first_lines_of_konect_decide() {
    let file = read("out.zoo", "% sym unweighted\n% 4 4 4\n1 2 \n1 3 \n2 4 \n3 4 \n");
    let one = [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)];
    let both: Vec<_> = one.iter().flat_map(|&(i, j, v)| [(i, j, v), (j, i, v)]).collect();
    is(&file, (4, 4), &both);
    assert_eq!((file.symmetry, file.warnings), (Symmetry::Symmetric, vec![]));
    let file = read("out.a", "% asym positive\n% 2 5 5\n1 2 3 1082040961\n4 1 2 1082040961\n");
    is(&file, (5, 5), &[(0, 1, 3.0), (3, 0, 2.0)]);
    assert_eq!(file.warnings, ["further numbers after 2 real entries were ignored"]);
    let file = read("out.b", "% bip unweighted\n% 3 2 3\n1 1\n1 3\n2 2\n");
    is(&file, (2, 3), &[(0, 0, 1.0), (0, 2, 1.0), (1, 1, 1.0)]);
    assert_eq!(
        message("out.b", "% bip unweighted\n% 1 2 3\n3 1\n"),
        "line 3: expected a row index from 1 to 2, found \"3\""
    );
    assert_eq!(
        message("out.a", "% sym unweighted\n0 1\n"),
        "line 2: expected a row index from 1 to 1, found \"0\""
    );
}

#[test]
fn numbers_in_quotes_are_read_below_the_names_of_the_columns() {
    let text = "\"source\",\"target\",\"weight\"\n\"1\",\"2\",1.5\n\"2\",\"3\",\"2.5\"\n";
    is(&read("a.csv", text), (3, 3), &[(0, 1, 1.5), (1, 2, 2.5)]);
    // Without names, the first edge is not taken for them.
    let error = message("a.csv", "\"1\",\"2\"\n2,3\n");
    assert!(error.starts_with("line 1: expected"), "{error}");
}

#[test]
fn options_say_what_the_file_does_not() {
    let edges = "1 2 5\n2 9 6\n9 9 7\n";
    let options = ReadOptions { base: Some(0), ..ReadOptions::default() };
    let file = read_as("a.txt", edges, &options).unwrap();
    is(&file, (10, 10), &[(1, 2, 5.0), (2, 9, 6.0), (9, 9, 7.0)]);
    assert_eq!((file.form, file.warnings.len()), (MatrixForm::EdgesFrom0, 0));
    let options = ReadOptions { base: Some(1), ..ReadOptions::default() };
    let error = read_as("a.txt", "0 2\n", &options).unwrap_err().to_string();
    assert_eq!(error, "line 1: expected a row index from 1 to 2, found \"0\"");

    let options = ReadOptions { undirected: true, ..ReadOptions::default() };
    let file = read_as("a.txt", "# Undirected graph: a\n0 1 5\n2 2 4\n", &options).unwrap();
    is(&file, (3, 3), &[(0, 1, 5.0), (1, 0, 5.0), (2, 2, 4.0)]);
    assert_eq!(file.warnings, [""; 0]);
    let directed = read("a.txt", "# Undirected graph: a\n0 1 5\n2 2 4\n");
    assert_eq!(directed.matrix.nnz(), 2);
    assert!(directed.warnings[0].contains("use --undirected"), "{:?}", directed.warnings);
    let error = read_as("a", "% bip unweighted\n1 1\n", &options).unwrap_err().to_string();
    assert!(error.starts_with("line 1: expected a graph with one set of vertices"), "{error}");

    let error = read_as("a", "\n% bip unweighted\n1 1\n", &options).unwrap_err().to_string();
    assert!(error.starts_with("line 2: expected a graph with one set of vertices"), "{error}");
    let names = "# people\nalice bob\ncarol dave\n";
    for (name, text, expected) in [
        ("a.edges", names, "line 3: expected a vertex number, because names are not read"),
        (
            "a.dat",
            names.split_once('\n').unwrap().1,
            "line 1: expected a vertex number, because names are not read",
        ),
    ] {
        let error = read_as(name, text, &options).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        let extent = read_named_extent_as(name, text.as_bytes(), &options);
        assert_eq!(extent.unwrap_err().to_string(), error);
    }

    let options = ReadOptions { compress_ids: true, ..ReadOptions::default() };
    let far = "7 10000000000 5\n10000000000 8 6\r\n# 7 7 7\n8,8,7\n".replace(',', " ");
    let file = read_as("a.edges", &far, &options).unwrap();
    is(&file, (3, 3), &[(0, 2, 5.0), (1, 1, 7.0), (2, 1, 6.0)]);
    let file = read_as("a", "% bip unweighted\n5 900\n7 3\n", &options).unwrap();
    is(&file, (2, 2), &[(0, 1, 1.0), (1, 0, 1.0)]);
    let error = read_as("a.edges", "1 99999999999999999999\n", &options).unwrap_err().to_string();
    assert_eq!(error, "line 1: expected a vertex below 2^64 - 1, found a larger one");

    let banner = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    let error = read_as("a.mtx", banner, &options).unwrap_err().to_string();
    assert!(error.contains("found a file of the form \"Matrix Market\""), "{error}");
}

#[test]
fn new_ids_take_the_text_and_sixteen_bytes_per_line() {
    let options = ReadOptions { compress_ids: true, ..ReadOptions::default() };
    let text = "7 9\n".repeat(100);
    let read = |limit| {
        let limit = MemoryLimit::bytes(limit);
        read_named_matrix_as("a.edges", text.as_bytes(), &options, limit, Progress::none())
    };
    is(&read(2000).unwrap(), (2, 2), &[(0, 1, 100.0)]);
    let error = read(1999).unwrap_err().to_string();
    assert!(error.starts_with("the list of ids needs 1600 bytes"), "{error}");
}

#[test]
fn the_beginning_of_a_list_decides_only_what_the_whole_would() {
    // Longer than what is looked at first: sizes, many lines, and a last one.
    let triplets = |lines: usize| format!("9 9 {lines}\n{}", "1 2 5\n".repeat(300_000));
    for (text, form) in [
        (triplets(300_000) + "9 0 1\n", MatrixForm::EdgesFrom0),
        (triplets(5) + "10 9 1\n", MatrixForm::EdgesFrom1),
        ("1 2 5\n".to_owned() + &"10 9 1\n".repeat(300_000), MatrixForm::EdgesFrom1),
        ("9 9 400000\n".to_owned() + &"10 9 1\n".repeat(300_000), MatrixForm::EdgesFrom1),
        (triplets(400_000) + "9 0 1\n", MatrixForm::EdgesFrom0),
    ] {
        let limit = MemoryLimit::unlimited();
        let file = read_named_matrix("a.txt", text.as_bytes(), limit, Progress::none());
        assert_eq!(file.unwrap().form, form, "{:.20}", text);
    }
    // As many lines as the first one says are triplets, whatever their indices.
    let text = "9 9 300000\n".to_owned() + &"10 9 1\n".repeat(300_000);
    assert!(message("a.txt", &text).starts_with("line 2: expected a row index from 1 to 9"));
}

#[test]
fn what_is_wrong_is_one_sentence_with_its_line() {
    for (name, text, expected) in [
        ("a.edges", "", "expected a matrix, found an empty file"),
        ("a.edges", "1 2\nx 3\n", "line 2: expected a row index from 1 to 2, found \"x\""),
        ("a.edges", "1 2\n3\n", "line 2: expected a row index from 1 to 2, found \"3\""),
        ("a.edges", "1 2 5\n1 2\n", "line 2: expected a number, found the end of the line"),
        (
            "a.edges",
            "1 2\n1 2 5\n",
            "line 2: expected the end of the line after a pattern entry, found \"5\"",
        ),
        ("a.csv", "1,2\n1,,2\n", "line 2: expected a column index from 1 to 2, found \",2\""),
        (
            "a.csv",
            "from,to\nx,y\n",
            "line 2: expected a vertex number, because names are not read (--compress-ids numbers only numeric ids), found \"x,y\"",
        ),
        (
            "a.csv",
            "0.5,-1.5,2\n",
            "line 1: expected an edge \"from to\" or \"from to weight\" of an edge list, found \"0.5,-1.5,2\"",
        ),
        (
            "a.edges",
            "0 1\n4294967295 1\n",
            "line 2: expected a vertex up to 4294967294, or the option --compress-ids, found \"4294967295\"",
        ),
    ] {
        assert_eq!(message(name, text), expected, "{text:?}");
    }
    // What is declared or far away is not allocated.
    for text in ["% asym unweighted\n% 1 4000000000 4000000000\n1 1\n", "# a\n0 4000000000\n"] {
        assert!(message("a", text).contains("memory"), "{}", message("a", text));
    }
}

/// The matrix if all lines were kept as nonzeros in the only pass.
fn kept(text: &str, limit: u64) -> Option<MatrixFile> {
    let (limit, keep) = (MemoryLimit::bytes(limit), MemoryLimit::bytes(limit / 2));
    let (text, options) = (Cow::Borrowed(text.as_bytes()), ReadOptions::default());
    let plan = at_once(plan(text, &options, (limit, Some(keep)), Progress::none())).unwrap();
    at_once(plan.kept?.matrix(&plan.header, limit, Progress::none()))
}

const EDGES: u64 = 60_000;

/// Edges in any order and some of them several times, in more than one chunk of text.
fn edges() -> Vec<(u64, u64, f64)> {
    (0..EDGES).map(|k| (k * 7919 % 9973, k * k % 4001, (k % 8) as f64 + 0.1)).collect()
}

fn text_of(base: u64, has_weights: bool, separator: &str) -> String {
    text_of_edges(&edges(), base, has_weights, separator)
}

fn text_of_edges(
    edges: &[(u64, u64, f64)],
    base: u64,
    has_weights: bool,
    separator: &str,
) -> String {
    let line = |&(i, j, v): &(u64, u64, f64)| {
        let weight = if has_weights { format!("{separator}{v}") } else { String::new() };
        format!("{}{separator}{}{weight}\n", i + base, j + base)
    };
    edges.iter().map(line).collect()
}

/// The matrix of these lines, which count from 1, in a Matrix Market file.
fn matrix_market(lines: &str, size: u64, field: &str) -> AnyMatrix {
    let entries = lines.lines().count();
    let banner = format!("%%MatrixMarket matrix coordinate {field} general");
    let text = format!("{banner}\n{size} {size} {entries}\n{lines}");
    let limit = MemoryLimit::unlimited();
    read_named_matrix("a.mtx", text.as_bytes(), limit, Progress::none()).unwrap().matrix
}

#[test]
fn lists_of_several_chunks_agree_with_the_same_matrix_market_file() {
    for (has_weights, field) in [(false, "pattern"), (true, "real")] {
        let expected = matrix_market(&text_of(1, has_weights, " "), 9973, field);
        for base in [0, 1] {
            for (separator, comment) in
                [(" ", ""), ("\t", "% c\n"), (",", "# c\n"), (",", ""), (" ; ", "\n  # c\n")]
            {
                let mut text = text_of(base, has_weights, separator);
                let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
                let middle = ends[ends.len() / 2] + 1;
                text.insert_str(middle, comment);
                for threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                    let file = pool.unwrap().install(|| kept(&text, 1 << 30)).unwrap();
                    assert_eq!(file.matrix, expected, "{base} {separator:?} {threads}");
                }
            }
        }
    }
}

#[test]
fn lists_whose_rows_ascend_agree_with_the_same_matrix_market_file() {
    let mut ascending = edges();
    ascending.sort_by_key(|edge| edge.0);
    // The last row begins in another chunk than it ends, or an edge stands before those of its row.
    let mut last_row = ascending.clone();
    last_row.iter_mut().skip(EDGES as usize / 2).for_each(|edge| edge.0 = 9972);
    let mut last_is_first = ascending.clone();
    last_is_first.rotate_left(1);
    let mut first_is_last = ascending.clone();
    first_is_last.rotate_right(1);
    for edges in [ascending, last_row, last_is_first, first_is_last] {
        for (has_weights, field) in [(false, "pattern"), (true, "real")] {
            let text = |base, separator| text_of_edges(&edges, base, has_weights, separator);
            let expected = matrix_market(&text(1, " "), 9973, field);
            for (base, separator) in [(0, " "), (1, ",")] {
                let file = kept(&text(base, separator), 1 << 30).unwrap();
                assert_eq!(file.matrix, expected, "{has_weights} {base}");
            }
        }
    }
}

#[test]
fn a_list_whose_nonzeros_cannot_be_kept_is_read_in_two_passes() {
    let options = ReadOptions::default();
    let read = |name, text: &str, limit| {
        let limit = MemoryLimit::bytes(limit);
        read_named_matrix_as(name, text.as_bytes(), &options, limit, Progress::none())
    };
    // 16 bytes per line do not fit into half of the limit.
    let (text, limit) = (text_of(0, true, ","), 32 * EDGES - 1);
    assert!(kept(&text, limit).is_none());
    let expected = matrix_market(&text_of(1, true, " "), 9973, "real");
    assert_eq!(read("a.csv", &text, limit).unwrap().matrix, expected);
    // Without weights, the same lines take half.
    assert!(kept(&text_of(0, false, ","), limit).is_some());
    // They fit, but not beside the offsets of all the rows.
    let last = |base: u64| format!("{} {base}\n", 3_000_000 + base);
    let text = text_of(0, false, " ") + &last(0);
    let limit = 4 * (3_000_001 + 1) + 12 * (EDGES + 1);
    assert!(kept(&text, limit).is_none());
    let expected = matrix_market(&(text_of(1, false, " ") + &last(1)), 3_000_001, "pattern");
    assert_eq!(read("a.edges", &text, limit).unwrap().matrix, expected);
    assert_eq!(kept(&text, limit + 8 * (EDGES + 1)).unwrap().matrix, expected);
    assert!(read("a.edges", &text, limit - 1).unwrap_err().to_string().contains("memory limit"));
}

#[test]
fn nonzeros_are_kept_only_if_every_line_is_one() {
    let file = kept("% asym positive\n% 2 5 5\n1 2 3 1082040961\n4 1 2 1082040961\n", 1000);
    let ignored = "further numbers after 2 real entries were ignored";
    assert_eq!(file.unwrap().warnings, [ignored]);
    assert_eq!(
        kept("0 1 1\n0 1 2\n", 1000).unwrap().warnings,
        ["1 entry repeats the position of an earlier one; their values were summed"]
    );
    for text in [
        "1 2\n3\n",
        "1 2 5\n1 2\n",
        "1 2 5\n1 2 x\n",
        "1 2\n1 2 5\n",
        "% asym unweighted\n0 1\n",
        "% bip unweighted\n% 1 2 3\n3 1\n",
        "% bip unweighted\n% 1 2 3\n1 4\n",
        "% sym unweighted\n1 2\n",
    ] {
        assert!(kept(text, 1000).is_none(), "{text}");
    }
}

#[test]
fn a_text_without_edges_is_no_matrix() {
    for (name, text) in
        [("a.txt", "# Title\n"), ("a.csv", "hello\n"), ("a.txt", "#!/bin/sh\necho hi\n")]
    {
        let message = message(name, text);
        assert!(message.contains(", found the end of the file"), "{text}: {message}");
    }
    let empty = read("a.txt", "# Nodes: 3 Edges: 0\n").matrix;
    assert_eq!((empty.rows(), empty.nnz()), (3, 0));
}
