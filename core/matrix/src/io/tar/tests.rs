//! Tests with archives built block by block, as POSIX describes them.

use std::io::Write;

use super::*;
use crate::io::vector::{Companion, read_companion};
use crate::io::{MatrixFile, MatrixForm, Progress, read_named_extent, read_named_matrix};
use crate::matrix::Extent;

const TEXT: &str = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n";

fn header(name: &str, size: &str, kind: u8) -> Vec<u8> {
    let mut block = vec![0u8; BLOCK];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..107].copy_from_slice(b"0000644");
    block[124..124 + size.len()].copy_from_slice(size.as_bytes());
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    seal(&mut block);
    block
}

/// Writes the checksum.
fn seal(block: &mut [u8]) {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
}

fn padded(content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    bytes.resize(content.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    let size = format!("{:011o}", content.len());
    [header(name, &size, b'0'), padded(content)].concat()
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), vec![0; 2 * BLOCK]].concat()
}

fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Reads the archive both plain and compressed.
fn read(members: &[Vec<u8>]) -> Result<MatrixFile, IoError> {
    let plain = archive(members);
    let read = |data: &[u8]| {
        read_named_matrix("a.tar.gz", data, MemoryLimit::unlimited(), Progress::none())
    };
    let (one, other) = (read(&plain), read(&gz(&plain)));
    match (&one, &other) {
        (Ok(one), Ok(other)) => assert_eq!(one, other),
        (one, other) => assert_eq!(
            one.as_ref().unwrap_err().to_string(),
            other.as_ref().unwrap_err().to_string()
        ),
    }
    other
}

fn message(members: &[Vec<u8>]) -> String {
    read(members).unwrap_err().to_string()
}

#[test]
fn the_matrix_of_a_collection_archive_is_read_and_the_rest_is_named() {
    let vector = b"%%MatrixMarket matrix array real general\n2 1\n1\n2\n";
    let members = [
        header("West/", "00000000000", b'5'),
        file("West/West_b.mtx", vector),
        file("West/West.mtx", TEXT.as_bytes()),
        file("West/West_names.txt", b"names"),
    ];
    let found = read(&members).unwrap();
    assert_eq!(found.matrix.real().unwrap().row(1), (&[0][..], &[5.0][..]));
    let expected = "the archive also has other files: \"West/West_b.mtx\", \"West/West_names.txt\"";
    assert_eq!(found.warnings, [expected]);
    assert_eq!(read(&members[2..3]).unwrap().warnings, [""; 0]);
}

#[test]
fn a_lone_matrix_is_the_matrix_whatever_it_is_called() {
    let found = read(&[file("README", b"x"), file("other.mtx", TEXT.as_bytes())]).unwrap();
    assert_eq!(found.matrix.nnz(), 1);
    let found = read(&[file("./a/._a.mtx", b"x"), file("./a/b.mtx", TEXT.as_bytes())]).unwrap();
    assert_eq!(found.matrix.nnz(), 1);
}

#[test]
fn several_matrices_or_none_are_refused_by_name() {
    let two = [file("a/a.mtx", TEXT.as_bytes()), file("b/b.mtx", TEXT.as_bytes())];
    let expected =
        "expected one matrix in the archive, found several, including \"a/a.mtx\" and \"b/b.mtx\"";
    assert_eq!(message(&two), expected);
    let two = [file("a.mtx", TEXT.as_bytes()), file("b.mtx", TEXT.as_bytes())];
    assert!(message(&two).starts_with("expected one matrix in the archive, found several"));
    // A later member with the name of its folder decides.
    let three = [&two[..], &[file("c/c.mtx", TEXT.as_bytes())]].concat();
    assert_eq!(read(&three).unwrap().matrix.nnz(), 1);
    let none = [file("a/a.doc", b"x")];
    let expected = "expected a matrix such as NAME/NAME.mtx in the archive, found \"a/a.doc\"";
    assert_eq!(message(&none), expected);
}

#[test]
fn vectors_of_a_lone_matrix_are_not_further_matrices() {
    let matrix = file("West.mtx", TEXT.as_bytes());
    let [b, x0] = ["West_b.mtx", "West_x0.mtx"].map(|name| file(name, b"no matrix"));
    for members in [
        [b.clone(), matrix.clone(), x0.clone()],
        [matrix.clone(), b.clone(), x0.clone()],
        [b.clone(), x0, matrix.clone()],
    ] {
        let found = read(&members).unwrap();
        assert_eq!(found.matrix.nnz(), 1);
        assert!(found.warnings[0].contains("\"West_b.mtx\"") && found.warnings.len() == 1);
        let extent = read_named_extent("a.tar", &archive(&members)).unwrap();
        assert_eq!((extent.rows, extent.entries), (2, 1));
    }
    let other = file("other_b.mtx", TEXT.as_bytes());
    for members in [[matrix.clone(), b.clone(), other.clone()], [b, other, matrix]] {
        let said = message(&members);
        assert!(said.ends_with("\"West.mtx\" and \"other_b.mtx\""), "{said}");
    }
}

#[test]
fn a_matrix_of_any_form_is_found_by_its_name() {
    let readme = file("zoo/README.txt", b"x");
    let konect = file("zoo/out.zoo", b"% sym unweighted\n1 2\n1 3\n");
    let rb = "title\n2 1 1 0\npua 1 1 1 0\n(16I5)          (16I5)\n    1    2\n    1\n";
    let boeing = file("a/a.rb", rb.as_bytes());
    let text = file("a/a.csv", b"source,target\n0,2\n");
    let market = file("a/b.mtx", TEXT.as_bytes());
    for (members, form, size, nnz) in [
        (vec![readme.clone(), konect.clone()], MatrixForm::EdgesFrom1, 3, 4),
        (vec![konect.clone(), file("zoo/meta.zoo", b"x")], MatrixForm::EdgesFrom1, 3, 4),
        (vec![text.clone(), readme], MatrixForm::EdgesFrom0, 3, 1),
        (vec![text.clone(), konect.clone()], MatrixForm::EdgesFrom1, 3, 4),
        (vec![konect, boeing.clone(), text], MatrixForm::RutherfordBoeing, 1, 1),
        // Its right-hand side, and another matrix of the collection.
        (
            vec![file("a/a_b.rb", b"x"), boeing.clone(), file("a/a_Z.rb", b"x")],
            MatrixForm::RutherfordBoeing,
            1,
            1,
        ),
        (vec![boeing, market], MatrixForm::MatrixMarket, 2, 1),
        // As 10x Genomics ships it.
        (
            vec![
                file("b/barcodes.tsv.gz", &gz(b"AAAC-1\n")),
                file("b/matrix.mtx.gz", &gz(TEXT.as_bytes())),
            ],
            MatrixForm::MatrixMarket,
            2,
            1,
        ),
        // What is in it counts more than its name.
        (vec![file("b.mtx", rb.as_bytes())], MatrixForm::RutherfordBoeing, 1, 1),
    ] {
        let found = read(&members).unwrap();
        let sizes = (found.form, found.matrix.rows(), found.matrix.nnz());
        assert_eq!(sizes, (form, size, nnz), "{:?}", found.warnings);
        let extent = read_named_extent("a.tar.gz", &gz(&archive(&members))).unwrap();
        assert_eq!((extent.rows, extent.entries), (size as u64, nnz as u64));
    }
}

#[test]
fn names_are_never_paths_and_stay_on_one_line() {
    let hostile = ["../../../etc/cron.d/x", "/etc/passwd", "a\nb\u{1b}[2J"];
    let mut members = vec![file("m/m.mtx", TEXT.as_bytes())];
    members.extend(hostile.map(|name| file(name, b"x")));
    members.push(header("m/link.mtx", "00000000000", b'2'));
    let found = read(&members).unwrap();
    assert_eq!(found.warnings.len(), 1);
    assert!(!found.warnings[0].contains(['\n', '\u{1b}']), "{:?}", found.warnings);
}

#[test]
fn an_error_names_the_file_by_its_name_in_the_archive() {
    let wrong = TEXT.replace("2 1 5", "2 1 x");
    for (name, content, expected) in [
        ("a/a.mtx.gz", gz(wrong.as_bytes()), "member a/a.mtx.gz, line 3: expected "),
        ("a\n.mtx", wrong.into_bytes(), "member a<U+000A line feed>.mtx, line 3: expected "),
        ("a.rb", b"title\n".to_vec(), "member a.rb"),
    ] {
        let error = message(&[file(name, &content)]);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn long_names_of_both_kinds_are_understood() {
    let long = "x".repeat(120);
    let name = format!("{long}/{long}.mtx");
    let gnu = [
        header("././@LongLink", &format!("{:011o}", name.len() + 1), b'L'),
        padded(name.as_bytes()),
    ];
    let record = format!(" path={name}\n");
    // The length includes its own digits.
    let record = format!("{}{record}", record.len() + 3);
    let pax = [
        header("PaxHeaders/x", &format!("{:011o}", record.len()), b'x'),
        padded(record.as_bytes()),
    ];
    let decoy = file("decoy.mtx", b"not a matrix");
    for extended in [gnu.concat(), pax.concat()] {
        let members = [decoy.clone(), extended, file("cut.mtx", TEXT.as_bytes())];
        assert_eq!(read(&members).unwrap().matrix.nnz(), 1);
    }
    let mut prefixed = header("m.mtx", &format!("{:011o}", TEXT.len()), b'0');
    prefixed[345..346].copy_from_slice(b"m");
    seal(&mut prefixed);
    let members = [decoy, prefixed, padded(TEXT.as_bytes())];
    assert_eq!(read(&members).unwrap().matrix.nnz(), 1);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "a size has 32 bits")]
fn sizes_that_lie_allocate_nothing() {
    let mut huge = header("a/a.mtx", "00000000000", b'0');
    huge[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255]);
    seal(&mut huge);
    let limit = MemoryLimit::bytes(1 << 20);
    let read = |members: &[Vec<u8>]| {
        read_named_matrix("a.tar", &archive(members), limit, Progress::none()).unwrap_err()
    };
    let error = read(&[huge.clone()]).to_string();
    assert!(error.starts_with("member a/a.mtx: the matrix in the archive needs "), "{error}");
    assert_eq!(message(&[huge]), "the archive is damaged: it ends in the middle of member 1");
    let name = header("././@LongLink", "77777777777", b'L');
    assert!(message(&[name]).contains("has a name of 8589934591 bytes"));
}

#[test]
fn a_bomb_stops_at_the_memory_limit_and_is_skipped_without_memory() {
    let bomb = file("a/a.mtx", &vec![b' '; 8 << 20]);
    let limit = MemoryLimit::bytes(1 << 20);
    let small = file("b/b.mtx", TEXT.as_bytes());
    let read = |members: &[Vec<u8>]| {
        read_named_matrix("a.tar.gz", &gz(&archive(members)), limit, Progress::none())
    };
    let error = read(std::slice::from_ref(&bomb)).unwrap_err().to_string();
    assert!(error.contains("the matrix in the archive needs 8388608 bytes"), "{error}");
    let ignored = file("a/other.bin", &vec![0; 8 << 20]);
    assert_eq!(read(&[ignored, small]).unwrap().matrix.nnz(), 1);
}

#[test]
fn every_cut_and_every_changed_byte_is_read_or_refused_without_a_panic() {
    let whole = gz(&archive(&[file("a/a.mtx", TEXT.as_bytes()), file("a/a_b.mtx", b"x")]));
    let read = |data: &[u8]| {
        read_named_matrix("a.tar.gz", data, MemoryLimit::bytes(1 << 24), Progress::none())
    };
    assert!(read(&whole).is_ok());
    for cut in 0..whole.len() {
        assert!(read(&whole[..cut]).is_err(), "cut after {cut} bytes");
    }
    let plain = archive(&[file("a/a.mtx", TEXT.as_bytes())]);
    for at in 0..plain.len() {
        let mut changed = plain.clone();
        changed[at] ^= 0x81;
        let _ = read(&changed);
    }
}

#[test]
fn sizes_are_found_without_reading_what_follows_the_matrix() {
    let extent = |members: &[Vec<u8>]| {
        let plain = archive(members);
        let found = read_named_extent("a.tar.gz", &plain).unwrap();
        assert_eq!(read_named_extent("a.tar.gz", &gz(&plain)).unwrap(), found);
        (found.rows, found.entries)
    };
    let other = TEXT.replace("2 2 1", "3 3 7");
    assert_eq!(extent(&[file("A/A.mtx", TEXT.as_bytes())]), (2, 1));
    // The member with the name of its folder is found at any position; what follows it is not read.
    let members =
        [file("A/A_b.mtx", other.as_bytes()), file("A/A.mtx", TEXT.as_bytes()), vec![7; BLOCK]];
    assert_eq!(extent(&members), (2, 1));
    assert_eq!(extent(&[file("a.txt", b"no"), file("b.mtx", other.as_bytes())]), (3, 7));
}

#[test]
fn an_archive_without_the_sizes_of_one_matrix_says_so() {
    let message = |plain: &[u8]| {
        let sizes = |data: &[u8]| read_named_extent("a.tar.gz", data).unwrap_err().to_string();
        assert_eq!(sizes(&gz(plain)), sizes(plain));
        sizes(plain)
    };
    let whole = archive(&[file("A/A.mtx", TEXT.as_bytes())]);
    for cut in [BLOCK + 5, BLOCK + 46, BLOCK + 49] {
        let cut = message(&whole[..cut]);
        assert_eq!(cut, "the archive is damaged: it ends in the middle of member 1");
    }
    let cut = read_named_extent("a.tar.gz", &whole[..BLOCK + 52]).unwrap();
    assert_eq!(cut, Extent { rows: 2, cols: 2, entries: 1, estimated: false });
    let none = message(&archive(&[file("a.doc", b"no")]));
    let expected = "expected a matrix such as NAME/NAME.mtx in the archive, found \"a.doc\"";
    assert_eq!(none, expected);
    let two = message(&archive(&[file("a.mtx", b""), file("b.mtx", b"")]));
    assert!(two.starts_with("expected one matrix in the archive, found several"), "{two}");
    let banner = message(&archive(&[file("A/A.mtx", b"2 2 1\n")]));
    assert!(banner.starts_with("member A/A.mtx, line 1: expected the banner"), "{banner}");
}

#[test]
fn the_vectors_of_an_archive_are_found_by_the_name_of_the_matrix() {
    let array = |values: &str| {
        format!("%%MatrixMarket matrix array real general\n2 1\n{values}\n").into_bytes()
    };
    let members = [
        file("West/West_b.mtx", &array("1\n2")),
        file("West/other_b.mtx", &array("0\n0")),
        file("West/West_x.mtx", &array("3\n4")),
        file("West/West.mtx", TEXT.as_bytes()),
        file("West/West_x0.mtx", &array("5\n6")),
    ];
    let flat = [
        file("./._West_b.mtx", b"x"),
        file("./West_x.mtx", &array("3\n4")),
        file("./West_b.mtx", &array("1\n2")),
        file("./West.mtx", TEXT.as_bytes()),
        file("./West_x0.mtx", &array("5\n6")),
    ];
    let companion = |members: &[Vec<u8>], which| {
        let plain = archive(members);
        let read = |data: &[u8]| {
            let limit = MemoryLimit::unlimited();
            let read = read_companion(data, (which, None), limit, Progress::none());
            read.map(|file| file.values).map_err(|error| error.to_string())
        };
        assert_eq!(read(&plain), read(&gz(&plain)));
        read(&plain)
    };
    for members in [&members, &flat] {
        assert_eq!(companion(members, Companion::RightSide).unwrap(), [1.0, 2.0]);
        assert_eq!(companion(members, Companion::Start).unwrap(), [5.0, 6.0]);
        assert_eq!(companion(&members[..4], Companion::Start).unwrap(), [3.0, 4.0]);
    }
    let packed = [
        file("West/West.mtx.gz", &gz(TEXT.as_bytes())),
        file("West/West_b.mtx.gz", &gz(&array("1\n2"))),
    ];
    assert_eq!(companion(&packed, Companion::RightSide).unwrap(), [1.0, 2.0]);
    assert_eq!(
        companion(&members[3..4], Companion::RightSide).unwrap_err(),
        "expected NAME/NAME_b.mtx in the archive, found \"West/West.mtx\""
    );
}
