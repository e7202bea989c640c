//! Tests of the readers and writers of points.

use std::io::Write;

use proptest::prelude::*;

use super::*;
#[cfg(not(target_family = "wasm"))]
use crate::io::{open_points, open_points_extent, save};
use crate::matrix::PointsExtent;

fn read(name: &str, text: &str) -> Result<Points, IoError> {
    read_named_points(name, text.as_bytes(), MemoryLimit::bytes(1 << 20), Progress::none())
}

fn message(name: &str, text: &str) -> String {
    read(name, text).unwrap_err().to_string()
}

#[test]
fn text_as_rbox_writes_it_is_read() {
    let points = read("a.txt", "2 rbox 3 D2\n3\n 0.5 -0.25\r\n\t1e-3   inf\n7 8\n").unwrap();
    assert_eq!((points.dimensions(), points.len(), points.is_empty()), (2, 3, false));
    assert_eq!(points.coordinates(), [0.5, -0.25, 1e-3, f64::INFINITY, 7.0, 8.0]);
    assert!(read("a.txt", "4\n0\n").unwrap().is_empty());
}

#[test]
fn lines_may_have_any_length() {
    let line = vec!["0.125"; 5000].join(" ");
    let points = read("a.txt", &format!("5000\n2\n{line}\n{line}")).unwrap();
    assert_eq!((points.dimensions(), points.len()), (5000, 2));
}

#[test]
fn csv_is_read_with_and_without_names() {
    let expected = [1.0, -2.5, 3.0, 4e2];
    for text in ["1,-2.5\n3,4e2\n", "price, size\n1, -2.5\r\n3,4e2", "\"1\",-2.5\n\n3,\"4e2\"\n"] {
        let points = read("A.CSV", text).unwrap();
        assert_eq!((points.dimensions(), points.coordinates()), (2, &expected[..]), "{text}");
    }
}

fn read_as(text: &str, header: HeaderLine) -> Result<(Points, PointsTaken), IoError> {
    let limit = MemoryLimit::bytes(1 << 20);
    read_points_as("a.csv", text.as_bytes(), header, limit, Progress::none())
}

#[test]
fn a_first_line_with_a_number_or_without_a_value_is_not_taken_for_names() {
    let either = |column: u32| {
        format!(
            "line 1: expected a number in column {column}, or a header with names in all columns (use --header to read this line as one), found"
        )
    };
    for (text, column, found) in [
        ("NA,9\n1,2\n2,1\n", 1, "\"NA\""),
        (",9\n1,2\n2,1\n", 1, "an empty field"),
        ("0,O\n1,2\n", 2, "\"O\""),
        ("price,\n1,2\n", 1, "\"price\""),
        ("price,NaN\n1,2\n", 1, "\"price\""),
        ("1O,2O\n1,2\n", 1, "\"1O\""),
        ("x,9\n", 1, "\"x\""),
        ("\u{200b}1\n2\n", 1, "\"<U+200B zero width space>1\""),
    ] {
        assert_eq!(message("a.csv", text), format!("{} {found}", either(column)), "{text:?}");
        let (points, taken) = read_as(text, HeaderLine::Names).unwrap();
        let lines = text.trim_end().lines().count();
        assert_eq!((points.len(), taken.header.is_some()), (lines - 1, true), "{text:?}");
        let error = read_as(text, HeaderLine::Point).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line 1: expected a number in column {column}, found")));
    }
    let (points, taken) = read_as("1,2\n3,4\n", HeaderLine::Names).unwrap();
    assert_eq!(points.coordinates(), [3.0, 4.0]);
    assert_eq!(taken.header.unwrap(), ["1", "2"]);
    let error = read_as("price,stars\n1,2\n", HeaderLine::Point).unwrap_err().to_string();
    assert_eq!(error, "line 1: expected a number in column 1, found \"price\"");
}

#[test]
fn a_table_without_points_is_one_only_where_its_names_were_asked_for() {
    assert_eq!(
        message("a.csv", "x,y\n"),
        "line 2: expected a point after the header line (use --header if there are no points), found the end of the file"
    );
    let (points, _) = read_as("x,y\n", HeaderLine::Names).unwrap();
    assert_eq!((points.dimensions(), points.len()), (2, 0));
}

#[test]
fn no_points_of_as_many_dimensions_as_there_may_be_are_written_and_more_are_refused() {
    let points = read("a.txt", "4294967295\n0\n").unwrap();
    assert_eq!((points.dimensions(), points.len()), (4_294_967_295, 0));
    for form in [PointsForm::Exact, PointsForm::Binary] {
        let text = written(&points, form);
        let back = read_named_points("a", &text, MemoryLimit::unlimited(), Progress::none());
        assert_eq!(back.unwrap(), points);
    }
    assert_eq!(
        message("a.txt", "4294967296\n0\n"),
        "line 1: expected the number of dimensions, from 1 to 4294967295, found \"4294967296\""
    );
}

#[test]
fn separators_and_decimal_commas_are_found_and_told() {
    for (text, words) in [
        ("price, distance\n1.5,2\n3,4\n", "CSV separated by commas; header: price, distance"),
        ("\u{feff}1,5;2\r\n3;4\r\n", "CSV separated by semicolons, decimal commas; no header"),
        ("1.5;2\n3;4\n", "CSV separated by semicolons; no header"),
        ("a b\tc\n1,5\t2\n3\t4\n", "CSV separated by tabs, decimal commas; header: a b, c"),
        ("1.5  2\n 3 4 \n", "CSV separated by blanks; no header"),
    ] {
        let (points, taken) = read_as(text, HeaderLine::Find).unwrap();
        assert_eq!((points.dimensions(), points.coordinates()), (2, &[1.5, 2.0, 3.0, 4.0][..]));
        assert_eq!(taken.to_string(), words);
    }
    assert_eq!(read("a.csv", "1.5;2.5\n").unwrap().coordinates(), [1.5, 2.5]);
    assert_eq!(read("a.csv", "v\n3\n7\n").unwrap().coordinates(), [3.0, 7.0]);
    for (text, expected) in [
        (
            "1,5;2\n3.5;4\n",
            "line 2: expected a decimal comma in column 1, as in the lines above, found \"3.5\"",
        ),
        ("1;2\n3,4\n", "line 2: expected 2 values separated by semicolons, as in line 1, found 1"),
        (
            "1,5 2,5\n",
            "line 1: expected a number in column 2, or a header with names in all columns (use --header to read this line as one), found \"5 2\"",
        ),
    ] {
        assert_eq!(message("a.csv", text), expected, "{text:?}");
    }
}

#[test]
fn a_name_that_begins_like_another_form_is_written_in_quotes() {
    for name in ["SSPOINTS", "LZIP\u{1}", "ARROW1\0\0", "SQLite format 3", "PAR1\u{15}"] {
        let text = format!("\n{name}\n1\n2\n");
        let (points, taken) = read_as(&text, HeaderLine::Find).unwrap();
        let names = taken.header.unwrap();
        assert_eq!(names, [name]);
        let mut text = Vec::new();
        write_table(points.view(), &names, &mut text, Progress::none()).unwrap();
        let (back, taken) = read_as(std::str::from_utf8(&text).unwrap(), HeaderLine::Find).unwrap();
        assert_eq!((back, taken.header.unwrap()), (points, names));
    }
}

#[test]
fn names_are_written_where_they_are_read_back_as_names() {
    let points = Points::new(2, vec![1.0, 2.0]).unwrap();
    for (names, kept) in [
        (["price", "stars"], true),
        (["a, b", "c \"d\"; e"], true),
        (["Park North", "x\ty"], true),
        (["1", "2"], false),
        (["x", "NA"], false),
        (["", "x"], false),
    ] {
        let names = names.map(str::to_owned);
        let mut text = Vec::new();
        write_table(points.view(), &names, &mut text, Progress::none()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (back, taken) = read_as(&text, HeaderLine::Find).unwrap();
        assert_eq!(back, points, "{text}");
        assert_eq!(taken.header, kept.then(|| names.to_vec()), "{text}");
    }
    let none = Points::new(2, Vec::new()).unwrap();
    let error = write(none.view(), PointsForm::Csv, &mut Vec::new(), Progress::none());
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("cannot write 0 points in 2 dimensions as CSV"), "{error}");
}

#[test]
fn names_of_points_read_back_whatever_they_hold() {
    let odd = ["a;b", "c, \"d\"", "e\nf\tg", "7;8", "  ".trim(), "h\ri"];
    for names in [&odd[..], &odd[1..2], &["x;y", "z"]] {
        for column in ["hotel", "the;name"] {
            let points = Points::new(2, vec![0.5; 2 * names.len()]).unwrap();
            let of = |number, name: &str| Column {
                number,
                name: Some(name.to_owned()),
                minimized: false,
            };
            let chosen = Chosen {
                compared: vec![of(2, "price"), of(3, "stars; all")],
                id: Some(of(1, column)),
                ids: names.iter().map(|name| (*name).to_owned()).collect(),
            };
            let indices: Vec<u32> = (0..names.len() as u32).collect();
            let mut text = Vec::new();
            write_with_ids(points.view(), &indices, &chosen, &mut text, Progress::none()).unwrap();
            let words = |listed: &[&str]| listed.iter().map(|word| (*word).to_owned()).collect();
            let columns = Columns {
                compared: words(&["price", "stars; all"]),
                id: Some(column.to_owned()),
                ..Columns::default()
            };
            let how = (HeaderLine::Find, &columns);
            let limit = MemoryLimit::bytes(1 << 20);
            let back = read_columns("a.csv", &text, how, limit, Progress::none());
            let (back, taken, chosen) = back.unwrap();
            assert_eq!((back, chosen.ids), (points, words(names)));
            assert_eq!(taken.header.unwrap()[..2], ["row", column]);
        }
    }
}

#[test]
fn a_name_that_is_a_number_makes_the_first_line_a_header() {
    let of = |listed: &str, id: Option<&str>| Columns {
        compared: listed.split_terminator(',').map(str::to_owned).collect(),
        id: id.map(str::to_owned),
        ..Columns::default()
    };
    let text = "2018,2019,2020\n4,1,2\n6,2,1\n";
    let read = |columns: Columns| {
        let how = (HeaderLine::Find, &columns);
        read_columns("a.csv", text.as_bytes(), how, MemoryLimit::bytes(1 << 20), Progress::none())
    };
    let (points, taken, _) = read(of("2019", None)).unwrap();
    assert_eq!((points.coordinates(), taken.header.unwrap().len()), (&[1.0, 2.0][..], 3));
    let (points, _, chosen) = read(of("3", Some("2018"))).unwrap();
    assert_eq!(
        (points.coordinates(), &chosen.ids[..]),
        (&[2.0, 1.0][..], &["4", "6"].map(str::to_owned)[..])
    );
    assert_eq!(read(of("2", None)).unwrap().0.coordinates(), [2019.0, 1.0, 2.0]);
    assert_eq!(
        read(of("2021", None)).unwrap_err().to_string(),
        "line 1: expected a column named \"2021\", or 2021 columns, found 3 columns without names"
    );
}

#[test]
fn a_table_that_has_no_room_to_grow_is_refused() {
    let columns =
        Columns { compared: vec!["2".to_owned()], id: Some("1".to_owned()), ..Columns::default() };
    let text = "a,1\n".repeat(100);
    let read = |limit| {
        let how = (HeaderLine::Find, &columns);
        read_columns("a.csv", text.as_bytes(), how, MemoryLimit::bytes(limit), Progress::none())
    };
    // Lists of 4, 8, ... 128 numbers and texts, and what the 99 texts before the last take.
    let string = size_of::<String>() as u64;
    let needed = 128 * (8 + string) + 99 * 16;
    assert!(read(needed).is_ok());
    let error = read(needed - 1).unwrap_err().to_string();
    assert!(error.starts_with(&format!("the points needs {needed} bytes")), "{error}");
}

#[test]
fn padding_after_compressed_points_is_told() {
    let data = [gz(b"1,2\n"), vec![0; 3]].concat();
    let how = (HeaderLine::Find, &Columns::default());
    let read = read_columns("a.csv", &data, how, MemoryLimit::bytes(1 << 21), Progress::none());
    let told = "3 zero bytes after the end of the gzip data were ignored";
    assert_eq!(read.unwrap().1.warnings, [told]);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, expected) in [
        (
            "",
            "line 1: expected the number of dimensions, from 1 to 4294967295, found the end of the file",
        ),
        ("0\n1\n", "line 1: expected the number of dimensions, from 1 to 4294967295, found \"0\""),
        ("2\nx\n", "line 2: expected the number of points, found \"x\""),
        (
            "%%MatrixMarket matrix array real general\n2 1\n1\n2\n",
            "expected points, found a Matrix Market file (not supported): save the numbers as CSV",
        ),
        (
            "2\n1 1\n",
            "line 2: expected the end of the line after the number of points, found \"1\"",
        ),
        (
            "2\n2\n1 2\n3\n",
            "line 4: expected a number for coordinate 2 of 2 of point 2 of 2, found the end of the line",
        ),
        (
            "2\n2\n1 2\n",
            "line 4: expected a number for coordinate 1 of 2 of point 2 of 2, found the end of the file",
        ),
        (
            "2\n1\n1 nan\n",
            "line 3: expected a number for coordinate 2 of 2 of point 1 of 1, found \"nan\"",
        ),
        (
            "2\n1\n1 2 3\n",
            "line 3: expected the end of the line after the 2 coordinates of point 1, found \"3\"",
        ),
        (
            "2\n1\n1 1e400\n",
            "line 3: expected a number within the range of f64 for coordinate 2 of 2 of point 1 of 1, found \"1e400\"",
        ),
        ("2\n1\n1 2\n3 4\n", "line 4: expected the end of the file after 1 points, found \"3\""),
    ] {
        assert_eq!(message("a.txt", text), expected, "{text:?}");
    }
    for (text, expected) in [
        ("", "line 1: expected a line of CSV, found the end of the file"),
        ("1,2\n3\n", "line 2: expected 2 values separated by commas, as in line 1, found 1"),
        ("x,y\n3,y\n", "line 2: expected a number in column 2, found \"y\""),
        (
            "1;2\n3;1,5e400\n",
            "line 2: expected a number in column 2, found \"1,5e400\", which overflows f64",
        ),
        ("1,2\n3,NaN\n", "line 2: expected a number in column 2, found \"NaN\""),
    ] {
        assert_eq!(message("a.csv", text), expected, "{text:?}");
    }
}

#[test]
fn commas_in_the_first_line_tell_csv_where_the_name_does_not() {
    for text in ["x,y\n1,2\n3,4\n", "1,2\n3,4\n", "1.5,2\n3,4\n", "x;y\n1,5;2\n3;4\n"] {
        let expected = read_bytes("a.csv", text.as_bytes()).unwrap();
        assert_eq!(read_bytes("-", text.as_bytes()).unwrap(), expected, "{text:?}");
        let extent = read_named_points_extent("-", text.as_bytes()).unwrap();
        assert_eq!((extent.dimensions, extent.points), (2, 2), "{text:?}");
    }
    // Any text may follow the number of dimensions.
    assert_eq!(read_bytes("-", b"1 rbox, a; b\n1\n7\n").unwrap().coordinates(), [7.0]);
}

#[test]
fn what_is_declared_does_not_decide_what_is_allocated() {
    let error = message("a.txt", "200\n18446744073709551615\n");
    assert!(error.contains("points in 200 dimensions"), "{error}");
    let error = message("a.txt", "3999999999999999999999\n9999999999999999999\n");
    assert!(error.ends_with("from 1 to 4294967295, found \"3999999999999999999999\""), "{error}");
    let error = message("a.txt", "1000\n100\n1");
    assert!(error.starts_with("line 3: expected a number for coordinate 2 of 1000"), "{error}");
}

fn written(points: &Points, form: PointsForm) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(points.view(), form, &mut bytes, Progress::none()).unwrap();
    bytes
}

fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn read_bytes(name: &str, data: &[u8]) -> Result<Points, IoError> {
    read_named_points(name, data, MemoryLimit::bytes(1 << 24), Progress::none())
}

#[test]
fn text_is_written_with_the_shortest_decimals_or_as_the_paper_prints_it() {
    let points =
        Points::new(2, vec![0.1, -0.0, 1e300, f64::NEG_INFINITY, -2.5, 0.000_000_5]).unwrap();
    let exact = "2\n3\n0.1 -0.0\n1e+300 -inf\n-2.5 5e-7\n";
    assert_eq!(String::from_utf8(written(&points, PointsForm::Exact)).unwrap(), exact);
    // As printed by C's `%f`.
    let points = points.picked(&[0, 2]);
    let paper = "2\n2\n0.100000 -0.000000\n-2.500000 0.000000\n";
    assert_eq!(String::from_utf8(written(&points, PointsForm::Paper)).unwrap(), paper);
    assert_eq!(written(&points.picked(&[]), PointsForm::Exact), b"2\n0\n");
}

#[test]
fn the_binary_form_is_as_it_is_described() {
    // struct.pack('<8s2IQ4d', b'SSPOINTS', 1, 2, 2, 1.5, -0.0, inf, -2.25)
    let points = Points::new(2, vec![1.5, -0.0, f64::INFINITY, -2.25]).unwrap();
    let hex = "5353504f494e545301000000020000000200000000000000\
               000000000000f83f0000000000000080000000000000f07f00000000000002c0";
    let bytes = written(&points, PointsForm::Binary);
    assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), hex);
    for name in ["a", "a.csv", "a.txt"] {
        assert_eq!(read_bytes(name, &bytes).unwrap().identity(), points.identity(), "{name}");
        assert_eq!(read_bytes(name, &gz(&bytes)).unwrap().identity(), points.identity(), "{name}");
    }
}

proptest! {
    #[test]
    fn any_points_read_back_bit_for_bit_from_text_and_bytes(
        d in 1usize..9,
        bits in prop::collection::vec(any::<u64>(), 0..300),
    ) {
        let values = bits.into_iter().map(f64::from_bits).filter(|value| !value.is_nan());
        let mut values: Vec<f64> = values.collect();
        values.truncate(values.len() / d * d);
        let points = Points::new(d, values).unwrap();
        for (form, name) in
            [(PointsForm::Exact, "a.txt"), (PointsForm::Csv, "a.csv"), (PointsForm::Binary, "a")]
        {
            if form == PointsForm::Csv && points.is_empty() {
                continue;
            }
            let bytes = written(&points, form);
            let back = read_bytes(name, &bytes).unwrap();
            prop_assert_eq!(back.identity(), points.identity());
            let extent = read_named_points_extent(name, &bytes).unwrap();
            let (dimensions, count) = (d as u64, points.len() as u64);
            prop_assert_eq!(extent, PointsExtent { dimensions, points: count, estimated: false });
        }
    }
}

#[test]
fn more_points_than_are_written_at_once_are_written_in_their_order() {
    let points = Points::new(7, (0..1_400_000).map(f64::from).collect()).unwrap();
    for form in [PointsForm::Exact, PointsForm::Binary] {
        let bytes = written(&points, form);
        let back = read_named_points("a", &bytes, MemoryLimit::unlimited(), Progress::none());
        assert!(back.unwrap() == points, "{form:?}");
    }
}

#[test]
fn each_way_in_which_a_binary_file_is_damaged_has_its_sentence() {
    let whole = written(&Points::new(3, vec![0.0; 6]).unwrap(), PointsForm::Binary);
    let changed = |at: usize, bytes: &[u8]| {
        let mut damaged = whole.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        read_bytes("a", &damaged).unwrap_err().to_string()
    };
    let message = |data: &[u8]| read_bytes("a", data).unwrap_err().to_string();
    assert_eq!(
        message(&whole[..20]),
        "expected a binary point file with a header of 24 bytes, found 20 bytes"
    );
    let sizes = "expected 48 bytes after the header of the binary point file, \
                 for 2 points in 3 dimensions, found";
    assert_eq!(message(&whole[..71]), format!("{sizes} 47"));
    assert_eq!(message(&[&whole[..], b"x"].concat()), format!("{sizes} 49"));
    assert_eq!(changed(8, &[2]), "expected version 1 of the binary point format, found 2");
    assert_eq!(
        changed(12, &[0]),
        "expected at least 1 dimension in the binary point file, found 0"
    );
    assert_eq!(
        changed(12, &[0xff; 12]),
        "expected 633825299966540748124315451400 bytes after the header of the binary point file, \
         for 18446744073709551615 points in 4294967295 dimensions, found 48"
    );
    assert_eq!(
        changed(24 + 32, &f64::NAN.to_le_bytes()),
        "coordinate 1 of point 1 is NaN (0-based)"
    );
    let small = MemoryLimit::bytes(47);
    let error = read_named_points("a", &whole, small, Progress::none()).unwrap_err().to_string();
    assert!(error.starts_with("2 points in 3 dimensions needs 48 bytes"), "{error}");
}

#[test]
fn sizes_are_found_without_reading_what_follows_them() {
    let exact = |name: &str, data: &[u8]| {
        let extent = read_named_points_extent(name, data).unwrap();
        assert!(!extent.estimated, "{name}");
        (extent.dimensions, extent.points)
    };
    let text = b"3 rbox 9 D3\n 1000000\nno points at all\n";
    let binary = &written(&Points::new(4, vec![0.5; 40]).unwrap(), PointsForm::Binary)[..30];
    for (name, data, sizes) in [
        ("a.txt", &text[..], (3, 1_000_000)),
        ("a", binary, (4, 10)),
        ("a.csv", b"x,y\n1,2\n3,4", (2, 2)),
        ("a.csv", b"1,2\n", (2, 1)),
    ] {
        assert_eq!(exact(name, data), sizes, "{name}");
        assert_eq!(exact(name, &gz(data)), sizes, "{name}");
    }
    // Truncation after the sizes does not matter, truncation before them does.
    let noise = (0..1_000_000u32).flat_map(|k| k.wrapping_mul(2_654_435_761).to_le_bytes());
    let packed = gz(&text.iter().copied().chain(noise).collect::<Vec<_>>());
    assert_eq!(exact("a.txt.gz", &packed[..packed.len() / 2]), (3, 1_000_000));
    let message = |name, data| read_named_points_extent(name, data).unwrap_err().to_string();
    assert!(message("a.txt", &packed[..14]).starts_with("the gzip data is cut off"));
    assert_eq!(
        message("a.txt", b"3\n"),
        "line 2: expected the number of points, found the end of the file"
    );
}

#[test]
fn the_points_of_a_long_table_are_estimated() {
    let lines = (0..300_000).map(|k| format!("{k},{},{}\n", k * 7 % 1000, k % 10));
    let text = lines.collect::<String>().into_bytes();
    for data in [text.clone(), gz(&text)] {
        let extent = read_named_points_extent("a.csv", &data).unwrap();
        assert_eq!((extent.dimensions, extent.estimated), (3, true));
        let off = extent.points as f64 / 300_000.0 - 1.0;
        assert!(off.abs() < 0.15, "{}", extent.points);
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn files_are_opened_by_their_names_and_errors_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let points = Points::new(2, vec![0.25, 1.0, -3.0, f64::INFINITY]).unwrap();
    for (name, form) in [
        ("a.txt", PointsForm::Exact),
        ("a.txt.gz", PointsForm::Exact),
        ("a.points", PointsForm::Binary),
        ("a.points.gz", PointsForm::Binary),
        ("a.csv", PointsForm::Csv),
        ("a.csv.gz", PointsForm::Csv),
    ] {
        let path = folder.path().join(name);
        let put = |out: &mut dyn Write| write(points.view(), form, out, Progress::none());
        save(&path, crate::io::Overwrite::Never, put).unwrap();
        let how = (HeaderLine::Find, &Columns::default());
        let opened = open_points(&path, how, MemoryLimit::unlimited(), Progress::none());
        let (opened, ..) = opened.unwrap();
        assert_eq!(opened, points, "{name}");
        let extent = open_points_extent(&path, HeaderLine::Find).unwrap();
        assert_eq!((extent.dimensions, extent.points), (2, 2), "{name}");
    }
    let path = folder.path().join("b.csv.gz");
    std::fs::write(&path, gz(b"1,2\n3,x\n")).unwrap();
    let how = (HeaderLine::Find, &Columns::default());
    let opened = open_points(&path, how, MemoryLimit::unlimited(), Progress::none());
    let error = opened.unwrap_err();
    let expected = "b.csv.gz: line 2: expected a number in column 2, found \"x\"";
    assert!(error.to_string().ends_with(expected), "{error}");
    let error = open_points_extent(&folder.path().join("none"), HeaderLine::Find);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("none: cannot open the file: "), "{error}");
}

#[test]
fn a_wish_to_stop_is_heeded() {
    let points = Points::new(1, vec![0.5; 10_000]).unwrap();
    let cancel = true.into();
    let progress = Progress::none().cancelled_by(&cancel);
    let stopped = write(points.view(), PointsForm::Exact, &mut Vec::new(), progress);
    assert!(stopped.unwrap_err().is_cancelled());
    for form in [PointsForm::Exact, PointsForm::Binary] {
        let data = written(&points, form);
        let stopped = read_named_points("a", &data, MemoryLimit::unlimited(), progress);
        assert!(stopped.unwrap_err().is_cancelled(), "{form:?}");
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn what_rbox_makes_has_the_sizes_that_the_suite_says() {
    use sparsescope_test_need::{Need, has_rbox, skip};

    if !has_rbox() {
        skip!(Need::Rbox, "rbox (Qhull) is not installed");
    }
    let entries = crate::generate::points_suite("rbox").unwrap().entries;
    for entry in entries.iter().take(4) {
        let crate::generate::PointsRecipe::Rbox { arguments, .. } = entry.recipe else {
            panic!("{entry:?}")
        };
        let points = rbox(arguments, MemoryLimit::unlimited(), Progress::none()).unwrap();
        let extent = entry.extent().unwrap();
        let sizes = (points.dimensions() as u64, points.len() as u64);
        assert_eq!(sizes, (extent.dimensions, extent.points), "{entry:?}");
    }
}
