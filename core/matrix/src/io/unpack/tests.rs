//! Samples were written by Python's `gzip`, `bz2`, `lzma`, `tarfile` and `zipfile`, and by the program `zstd`.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::io::points::{read_named_points, read_named_points_extent};
use crate::io::vector::{self, Companion, read_companion};
use crate::io::{MatrixFile, MatrixForm, check_gzip, read_named_extent, read_named_matrix};
use crate::pace::at_once;

/// One matrix of one nonzero, in two members, streams or frames each.
const SAMPLES: [(&str, &[u8]); 6] = [
    ("gzip", include_bytes!("samples/members.gz")),
    ("bzip2", include_bytes!("samples/streams.bz2")),
    // Eight zero bytes lie between the streams.
    ("xz", include_bytes!("samples/streams.xz")),
    // A frame to be skipped lies between the others.
    ("Zstandard", include_bytes!("samples/frames.zst")),
    ("zip", include_bytes!("samples/matrix.zip")),
    ("zip", include_bytes!("samples/stored.zip")),
];

/// Four megabytes of blanks.
const BOMBS: [&[u8]; 4] = [
    include_bytes!("samples/bomb.bz2"),
    include_bytes!("samples/bomb.xz"),
    include_bytes!("samples/bomb.zst"),
    include_bytes!("samples/bomb.zip"),
];

/// A matrix and its right-hand side, each with a letter in place of a number.
const WRONG: [(&str, &[u8]); 5] = [
    ("a.zip", include_bytes!("samples/wrong.zip")),
    ("a.tar.gz", include_bytes!("samples/wrong.tar.gz")),
    ("a.tar.bz2", include_bytes!("samples/wrong.tar.bz2")),
    ("a.tar.xz", include_bytes!("samples/wrong.tar.xz")),
    ("a.tar.zst", include_bytes!("samples/wrong.tar.zst")),
];

const EDGES: &[u8] = include_bytes!("samples/edges.zip");
const LIMIT: u64 = 1 << 24;

fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn read(data: &[u8]) -> Result<MatrixFile, IoError> {
    read_named_matrix("a", data, MemoryLimit::bytes(LIMIT), Progress::none())
}

fn message(data: &[u8]) -> String {
    read(data).unwrap_err().to_string()
}

fn text(data: &[u8], limit: u64) -> Result<Vec<u8>, IoError> {
    let unpacked = unpack("a", data, MemoryLimit::bytes(limit), Progress::none());
    at_once(unpacked).map(|unpacked| unpacked.text.into_owned())
}

fn is_the_matrix(file: &MatrixFile) -> bool {
    file.matrix.real().unwrap().row(1) == (&[0][..], &[5.0][..])
}

#[test]
fn what_the_reference_programs_compressed_is_read() {
    for (kind, data) in SAMPLES {
        assert!(is_the_matrix(&read(data).unwrap()), "{kind}");
        let extent = read_named_extent("a", data).unwrap();
        assert_eq!((extent.rows, extent.cols, extent.entries), (2, 2, 1), "{kind}");
    }
    let said = "the archive also has other files: \"README.txt\"";
    assert_eq!(read(SAMPLES[4].1).unwrap().warnings, [said]);
}

#[test]
fn vectors_beside_the_matrix_of_a_zip_archive_come_with_it() {
    let data = include_bytes!("samples/system.zip");
    let file = read(data).unwrap();
    assert!(is_the_matrix(&file));
    let said = "the archive also has other files: \"West/West_x.mtx\", \"West/West_b.mtx\"";
    assert_eq!(file.warnings, [said]);
    let companion = |data: &[u8], which, column| {
        let limit = MemoryLimit::bytes(LIMIT);
        let read = read_companion(data, (which, column), limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    assert_eq!(companion(data, Companion::Start, None).unwrap(), [3.0, 4.0]);
    assert_eq!(companion(data, Companion::RightSide, Some(2)).unwrap(), [7.0, 8.0]);
    let none = companion(SAMPLES[4].1, Companion::RightSide, None).unwrap_err();
    assert!(none.ends_with("found none"), "{none}");
    let flat = include_bytes!("samples/flat.zip");
    let file = read(flat).unwrap();
    assert!(is_the_matrix(&file));
    let said = "the archive also has other files: \"West_b.mtx\", \"West_x0.mtx\"";
    assert_eq!(file.warnings, [said]);
    assert_eq!(companion(flat, Companion::RightSide, None).unwrap(), [7.0, 8.0]);
    assert_eq!(companion(flat, Companion::Start, None).unwrap(), [3.0, 4.0]);
}

#[test]
fn an_error_in_an_archive_names_the_file_and_its_line() {
    let alone = message(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n2 x 5\n");
    assert!(alone.starts_with("line 3: expected ") && alone.ends_with("found \"x\""), "{alone}");
    let limit = MemoryLimit::bytes(LIMIT);
    for (name, data) in WRONG {
        let error = read_named_matrix(name, data, limit, Progress::none()).unwrap_err();
        assert_eq!(error.to_string(), format!("member West/West.mtx, {alone}"), "{name}");
        let in_file = error.in_file(std::path::Path::new(name)).to_string();
        assert_eq!(in_file, format!("{name}: member West/West.mtx, {alone}"));
        let wanted = (Companion::RightSide, None);
        let error = read_companion(data, wanted, limit, Progress::none()).unwrap_err().to_string();
        assert!(error.starts_with("member West/West_b.mtx, line 4: expected "), "{name}: {error}");
    }
}

#[test]
fn what_is_wrong_with_the_only_file_of_a_zip_archive_has_its_name() {
    let stored = include_bytes!("samples/stored.zip");
    let at = memchr::memmem::find(stored, b"2 1 5").unwrap();
    let mut changed = stored.to_vec();
    changed[at] = b'1';
    let damaged = message(&changed);
    let expected = "member a.mtx: the zip data is damaged after 58 decompressed bytes: ";
    assert!(damaged.starts_with(expected), "{damaged}");
    let limit = MemoryLimit::bytes(LIMIT);
    let no_points = read_named_points("p.zip", stored, limit, Progress::none()).unwrap_err();
    assert!(no_points.to_string().starts_with("member a.mtx"), "{no_points}");
    let no_extent = read_named_points_extent("p.zip", stored).unwrap_err();
    assert_eq!(no_extent.to_string(), no_points.to_string());
    // Bit 0 of the flags of each entry says that it is encrypted (APPNOTE 4.4.4).
    for header in [&b"PK\x03\x04"[..], b"PK\x01\x02"] {
        let at = memchr::memmem::find(&changed, header).unwrap();
        changed[at + if header[2] == 3 { 6 } else { 8 }] |= 1;
    }
    assert_eq!(message(&changed), "member a.mtx: the file is encrypted");
}

#[test]
fn a_tar_archive_is_named_where_no_matrix_is_expected() {
    // An empty file called `a`, with its checksum.
    let mut tar = vec![0; 1024];
    tar[0] = b'a';
    tar[156] = b'0';
    let sum = u32::from(b'a') + u32::from(b'0') + 8 * u32::from(b' ');
    tar[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let limit = MemoryLimit::bytes(LIMIT);
    for data in [tar.clone(), gz(&tar)] {
        let vector = vector::read_bytes(&data, limit, Progress::none()).unwrap_err();
        let found = "found a tar archive (not supported): unpack it first";
        assert_eq!(vector.to_string(), format!("expected a vector, {found}"));
        let points = read_named_points("a.csv", &data, limit, Progress::none()).unwrap_err();
        assert_eq!(points.to_string(), format!("expected points, {found}"));
    }
}

#[test]
fn bytes_after_zstandard_data_are_named_in_plain_words() {
    for more in [&b"x"[..], b"garbage"] {
        let error = message(&[SAMPLES[3].1, more].concat());
        let said = ": expected the header of a frame, found other bytes";
        assert!(error.ends_with(said), "{error}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    for (kind, data) in SAMPLES {
        for cut in 0..data.len() {
            assert!(read(&data[..cut]).is_err(), "{kind} cut after {cut} bytes");
        }
        let cut = message(&data[..data.len() - 3]);
        let what = if kind == "zip" { "archive" } else { "data" };
        let expected = format!("the {kind} {what} is cut off, or damaged");
        assert!(cut.starts_with(&expected), "{cut}");
    }
}

#[test]
fn a_changed_byte_is_noticed_or_does_not_matter() {
    for (kind, data) in SAMPLES {
        for at in 0..data.len() {
            for mask in [0x81, 0x04] {
                let mut changed = data.to_vec();
                changed[at] ^= mask;
                if let Ok(file) = read(&changed) {
                    assert!(is_the_matrix(&file), "{kind} at {at}");
                }
            }
        }
    }
}

#[test]
fn zeros_after_the_data_are_padding_and_other_bytes_are_refused() {
    for (kind, data) in &SAMPLES[..4] {
        let padded = [*data, &[0; 8]].concat();
        let said = format!("8 zero bytes after the end of the {kind} data were ignored");
        // Such padding belongs to the format of xz.
        let warnings = if *kind == "xz" { vec![] } else { vec![said] };
        assert_eq!(read(&padded).unwrap().warnings, warnings);
        for end in [&b"x"[..], b"\0\0\0\0x", b"\0\0\0\0\x1f\x8b"] {
            let error = message(&[*data, end].concat());
            let expected = format!("the {kind} data is damaged after ");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

#[test]
fn a_decompression_bomb_stops_at_the_memory_limit() {
    let gzipped = gz(&vec![b' '; 4 << 20]);
    for bomb in BOMBS.into_iter().chain([&gzipped[..]]) {
        assert!(bomb.len() < 1 << 16);
        let error = text(bomb, 2 << 20).unwrap_err().to_string();
        assert!(error.contains("the decompressed file needs 3145728 bytes"), "{error}");
        assert_eq!(text(bomb, 6 << 20).unwrap().len(), 4 << 20);
    }
}

#[test]
fn a_dictionary_beyond_the_limit_is_refused() {
    for (kind, data) in &SAMPLES[2..4] {
        let limit = MemoryLimit::bytes(100 << 10);
        let mut layers = Layers::of("a", data, limit, Progress::none()).unwrap();
        let error = layers.read_to_end(&mut Vec::new()).map_err(unreadable).unwrap_err();
        let expected = format!("decompressing the {kind} data needs more memory than the limit");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn layers_may_lie_in_layers() {
    for (kind, data) in &SAMPLES[..4] {
        assert!(is_the_matrix(&read(&gz(data)).unwrap()), "{kind}");
        assert_eq!(read_named_extent("a", &gz(data)).unwrap().entries, 1);
    }
    let mut data = b"2 2 1\n2 1 5\n".to_vec();
    for _ in 0..MOST_LAYERS {
        data = gz(&data);
        assert!(is_the_matrix(&read(&data).unwrap()));
    }
    assert_eq!(message(&gz(&data)), "expected at most 4 layers of compression, found more");
}

#[test]
fn names_count_without_the_endings_of_compressed_files() {
    for (name, inner) in [
        ("edges.csv.xz", "edges.csv"),
        ("ring.graph.BZ2", "ring.graph"),
        ("a.tar.gz.zst", "a.tar"),
        (".gz", ""),
        ("é.gz", "é"),
        ("gz", "gz"),
    ] {
        assert_eq!(inner_name(name), inner);
    }
    let frame = include_bytes!("samples/points.csv.zst");
    let limit = MemoryLimit::bytes(LIMIT);
    let points = read_named_points("p.csv.zst", frame, limit, Progress::none()).unwrap();
    assert_eq!(points.coordinates(), [1.0, 2.0, 3.0, 4.0]);
    let extent = read_named_points_extent("p.csv.zst", frame).unwrap();
    assert_eq!((extent.dimensions, extent.points, extent.estimated), (2, 2, false));
    // The name of a file in an archive counts more than that of the archive.
    let file = read_named_matrix("a.mtx.zip", EDGES, limit, Progress::none()).unwrap();
    assert_eq!((file.form, file.matrix.nnz()), (MatrixForm::EdgesFrom1, 2));
    let gzipped = gz(b"2 1\n2\n1\n");
    let graph = read_named_matrix("ring.graph.gz", &gzipped, limit, Progress::none()).unwrap();
    assert_eq!(graph.form, MatrixForm::Metis);
}

#[test]
fn a_zip_archive_of_several_files_is_refused_by_their_names() {
    let expected = "expected one file, or only one that is named like a matrix, in the zip archive, \
                    found \"a.txt\", \"b.txt\"";
    assert_eq!(message(include_bytes!("samples/two.zip")), expected);
}

#[test]
fn all_bytes_of_a_file_are_counted_and_reading_can_be_cancelled() {
    for (kind, data) in SAMPLES.into_iter().chain([("zip", EDGES)]) {
        let done = AtomicU64::new(0);
        let limit = MemoryLimit::bytes(LIMIT);
        let progress = Progress::none().counting(&done);
        read_named_matrix("a", data, limit, progress).unwrap();
        assert_eq!(done.load(Ordering::Relaxed), data.len() as u64, "{kind}");
        let cancel = AtomicBool::new(true);
        let progress = Progress::none().cancelled_by(&cancel);
        assert!(read_named_matrix("a", data, limit, progress).unwrap_err().is_cancelled());
    }
}

#[test]
fn the_room_for_a_text_stays_within_the_limit_and_what_is_made_of_it_has_the_rest() {
    let data = gz(&vec![b' '; 40 << 20]);
    let limit = MemoryLimit::bytes(48 << 20);
    let text = text(&data, limit.get()).unwrap();
    assert_eq!(text.len(), 40 << 20);
    assert!(text.capacity() as u64 <= limit.get(), "{}", text.capacity());
    assert_eq!(beside(&Cow::Owned(text), limit).get(), 8 << 20);
    assert_eq!(beside(&Cow::Borrowed(&data[..]), limit), limit);
}

#[test]
fn gzip_data_is_checked_to_its_end() {
    let mut data = gz("3 1 4 1 5 9 2 6 5 3 5\n".repeat(1000).as_bytes());
    let check = |data: &[u8]| check_gzip(&mut &*data, u64::MAX, Progress::none());
    assert_eq!(check(&data).unwrap(), 22_000);
    assert_eq!(check(&[&data[..], &[0; 300]].concat()).unwrap(), 22_000);
    assert!(check(&data[..data.len() - 1]).is_err());
    let checksum = data.len() - 6;
    data[checksum] ^= 1;
    assert!(matches!(check(&data), Err(IoError::Compressed { kind: "gzip", .. })));
}
