//! Files of every kind, broken in many ways: each is read or refused, and nothing else happens. What
//! was read is written and read back unchanged. The fuzz targets in `fuzz/` exercise the same entry
//! points.

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use sparsescope_core::bundle::{Bundle, Journal, Limits};
use sparsescope_core::io::dense::{DenseFile, read_dense};
use sparsescope_core::io::numpy::write_npy;
use sparsescope_core::io::vector::Companion;
use sparsescope_core::io::{
    AnyMatrix, IoError, MatrixFile, Progress, ReadOptions, matrix_market, points, read_matrix,
    read_named_extent, read_named_extent_as, read_named_matrix, read_named_matrix_as, vector,
    write_rb,
};
use sparsescope_core::memory::MemoryLimit;

use damage::{mutated, mutation, repacked};
use seeds::*;

mod damage;
mod seeds;

/// Memory that a broken file may take: declared sizes must not matter.
const LIMIT: u64 = 1 << 22;

fn read(name: &str, bytes: &[u8]) -> Result<MatrixFile, IoError> {
    read_named_matrix(name, bytes, MemoryLimit::bytes(LIMIT), Progress::none())
}

/// Reads the vectors that the bytes may hold, alone or beside a matrix.
fn read_vectors(bytes: &[u8]) {
    let limit = MemoryLimit::bytes(LIMIT);
    for column in [None, Some(1), Some(2)] {
        let _ = vector::read_column(bytes, column, limit, Progress::none());
        for which in [Companion::RightSide, Companion::Start] {
            let _ = vector::read_companion(bytes, (which, column), limit, Progress::none());
        }
    }
}

/// Whatever the options, an edge list is read or refused.
fn holds_edges(bytes: &[u8]) {
    let limit = MemoryLimit::bytes(LIMIT);
    for name in ["a.edges", "a.csv", "out.a"] {
        for (base, undirected, compress_ids) in [
            (None, false, false),
            (Some(0), true, false),
            (Some(1), false, false),
            (None, true, true),
        ] {
            let options = ReadOptions { base, undirected, compress_ids, variable: None };
            holds(read_named_matrix_as(name, bytes, &options, limit, Progress::none()));
        }
    }
}

/// What was read is a matrix that reads back unchanged once written. A refusal is one line.
fn holds(read: Result<MatrixFile, IoError>) {
    match read {
        Ok(file) => {
            let mut text = Vec::new();
            match &file.matrix {
                AnyMatrix::Real(a) => matrix_market::write(a, &mut text, Progress::none()).unwrap(),
                AnyMatrix::Complex(a) => {
                    matrix_market::write(a, &mut text, Progress::none()).unwrap()
                }
            }
            let back = read_matrix(&text, MemoryLimit::unlimited(), Progress::none()).unwrap();
            // NaN is not equal to itself; its text is.
            assert_eq!(format!("{:?}", back.matrix), format!("{:?}", file.matrix));
            assert!(file.warnings.iter().all(|warning| !warning.contains('\n')));
        }
        Err(error) => is_one_line(&error),
    }
}

/// A refusal is one line.
fn is_one_line(error: &IoError) {
    let message = error.to_string();
    assert!(!message.is_empty() && !message.chars().any(char::is_control), "{message:?}");
    assert!(message.len() < 1000, "{message}");
}

/// A dense matrix that was read has the sizes that were declared, and reads back unchanged once written.
fn holds_dense(bytes: &[u8]) {
    let mut told = None;
    let mut fits = |rows: u64, cols: u64| {
        told = Some((rows, cols));
        true
    };
    match read_dense("X", bytes, &mut fits, MemoryLimit::bytes(LIMIT), Progress::none()) {
        Ok(file) => {
            let DenseFile { rows, cols, values, order, warnings } = file.unwrap();
            assert_eq!((told, values.len()), (Some((rows as u64, cols as u64)), rows * cols));
            assert!(warnings.iter().all(|warning| !warning.contains('\n')));
            if values.is_empty() {
                return;
            }
            let (mut written, all) = (Vec::new(), MemoryLimit::unlimited());
            write_npy(&values, Some(cols), order, &mut written, all, Progress::none()).unwrap();
            let back = read_dense("X", &written, &mut |_, _| true, all, Progress::none());
            let back = back.unwrap().unwrap();
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!((back.rows, back.cols, bits(&back.values)), (rows, cols, bits(&values)));
        }
        Err(error) => is_one_line(&error),
    }
}

/// What was read is also the same once written in columns.
fn holds_in_columns(bytes: &[u8]) {
    let file = read("a.rb", bytes);
    let mut written = Vec::new();
    if let Ok(MatrixFile { matrix, .. }) = &file
        && write_rb(matrix, &mut written, MemoryLimit::bytes(LIMIT), Progress::none()).is_ok()
    {
        let back = read_matrix(&written, MemoryLimit::unlimited(), Progress::none()).unwrap();
        assert_eq!(format!("{:?}", back.matrix), format!("{matrix:?}"));
    }
    holds(file);
    read_vectors(bytes);
}

/// Points that were read have all their coordinates; a refusal is one line.
fn holds_points(name: &str, bytes: &[u8]) {
    // Sizes are reported or refused, whatever follows them.
    let _ = points::read_named_points_extent(name, bytes);
    for id in [None, Some("1".to_owned())] {
        let columns =
            points::Columns { compared: vec!["2".to_owned()], id, ..points::Columns::default() };
        let how = (points::HeaderLine::Find, &columns);
        let limit = MemoryLimit::bytes(LIMIT);
        if let Ok((points, ..)) = points::read_columns(name, bytes, how, limit, Progress::none()) {
            assert!(points.is_empty() || points.dimensions() == 1);
        }
    }
    match points::read_named_points(name, bytes, MemoryLimit::bytes(LIMIT), Progress::none()) {
        Ok(points) => {
            assert_eq!(points.len() * points.dimensions(), points.coordinates().len());
            assert!(points.coordinates().iter().all(|value| !value.is_nan()));
            for (form, name) in [
                (points::PointsForm::Exact, "a"),
                (points::PointsForm::Csv, "a.csv"),
                (points::PointsForm::Binary, "a"),
            ] {
                if form == points::PointsForm::Csv && points.is_empty() {
                    continue;
                }
                let mut written = Vec::new();
                points::write(points.view(), form, &mut written, Progress::none()).unwrap();
                let limit = MemoryLimit::unlimited();
                let back = points::read_named_points(name, &written, limit, Progress::none());
                assert_eq!(back.unwrap().identity(), points.identity());
            }
        }
        Err(error) => is_one_line(&error),
    }
}

/// Whichever variable is chosen, a MATLAB file is read or refused.
fn holds_variables(bytes: &[u8]) {
    let bytes = bytes.get(1..).unwrap_or_default();
    for variable in [None, Some("A"), Some("Problem.A"), Some("b")] {
        let variable = variable.map(str::to_owned);
        let options = ReadOptions { variable, ..ReadOptions::default() };
        let limit = MemoryLimit::bytes(LIMIT);
        holds(read_named_matrix_as("a.mat", bytes, &options, limit, Progress::none()));
        let _ = read_named_extent_as("a.mat", bytes, &options);
    }
    read_vectors(bytes);
}

fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A tar archive of one file (POSIX.1-1988, `ustar`).
fn tar(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut archive = [&header[..], content].concat();
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    archive
}

#[test]
fn the_seeds_are_read() {
    for (k, seed) in SEEDS.iter().enumerate() {
        let name = if k < 8 { "a.mtx" } else { "a.txt" };
        assert!(read(name, seed.as_bytes()).is_ok(), "{seed}");
        assert!(read("a.tar.gz", &gz(&tar("a/a.mtx", SEEDS[0].as_bytes()))).is_ok());
    }
    for edges in EDGES {
        assert!(read("a.csv", edges.as_bytes()).is_ok(), "{edges}");
    }
    for triples in TRIPLES {
        assert!(read("a.triplets", triples.as_bytes()).is_ok(), "{triples:?}");
    }
    for array in ARRAYS {
        assert!(read("a.npz", array).is_ok());
    }
    for graph in GRAPHS {
        assert!(read("a.graph", graph.as_bytes()).is_ok(), "{graph}");
    }
    for packed in COMPRESSED {
        assert!(read("a.mtx", packed).is_ok());
    }
    for matlab in MATLAB {
        assert!(read("a.mat", &matlab[1..]).is_ok());
    }
    for text in BOEING {
        assert!(read("a.rb", text.as_bytes()).is_ok(), "{text}");
    }
    for (name, bytes) in STORED {
        assert!(read(name, bytes).is_ok(), "{name}");
    }
    for dense in DENSE {
        let limit = MemoryLimit::bytes(LIMIT);
        let read = read_dense("X", dense, &mut |_, _| true, limit, Progress::none());
        assert!(read.is_ok_and(|file| file.is_some()), "{}", String::from_utf8_lossy(dense));
    }
    assert!(Bundle::read(GOLDEN, &Limits::default()).is_ok());
}

/// The fuzzing corpus (`fuzz/corpus`): each input that reached new code.
#[test]
fn what_the_fuzz_targets_begin_with_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let files = |target: &str| {
        let entries = std::fs::read_dir(corpus.join(target)).unwrap();
        let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert!(!paths.is_empty(), "{target}");
        paths
    };
    for (target, name) in [
        ("matrix_market", "a.mtx"),
        ("triplet_text", "a.txt"),
        ("archive", "a.tar"),
        ("compressed", "a.mtx"),
    ] {
        for path in files(target) {
            let bytes = std::fs::read(path).unwrap();
            holds(read(name, &bytes));
            read_vectors(&bytes);
        }
    }
    for path in files("edge_list") {
        holds_edges(&std::fs::read(path).unwrap());
    }
    for path in files("matlab") {
        holds_variables(&std::fs::read(path).unwrap());
    }
    for path in files("metis") {
        holds(read("a.graph", &std::fs::read(path).unwrap()));
    }
    for path in files("binary_triplets") {
        holds(read("a.triplets", &std::fs::read(path).unwrap()));
    }
    for path in files("numpy") {
        let bytes = std::fs::read(path).unwrap();
        holds(read("a.npz", &bytes));
        read_vectors(&bytes);
        holds_points("a.npy", &bytes);
    }
    for path in files("dense") {
        holds_dense(&std::fs::read(path).unwrap());
    }
    for path in files("boeing") {
        holds_in_columns(&std::fs::read(path).unwrap());
    }
    for (target, name) in [("petsc", "a.petsc"), ("hypre", "a.00000"), ("dimacs", "a.gr")] {
        for path in files(target) {
            let bytes = std::fs::read(path).unwrap();
            holds(read(name, &bytes));
            read_vectors(&bytes);
        }
    }
    for path in files("points") {
        let bytes = std::fs::read(path).unwrap();
        for name in ["a.txt", "a.csv"] {
            holds_points(name, &bytes);
        }
    }
    let limits = Limits::default();
    let bundles = files("bundle").into_iter().map(|path| Bundle::open(&path, &limits));
    let journals = files("journal").into_iter().map(|path| Journal::recover(&path, &limits));
    let mut whole = 0;
    for bundle in bundles.chain(journals).flatten() {
        let again = Bundle::read(&bundle.to_bytes().unwrap(), &limits).unwrap();
        assert_eq!(again, bundle);
        whole += 1;
    }
    assert!(whole >= 2, "{whole} bundles and journals can be read");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn broken_texts_are_read_or_refused_under_every_name(
        seed in prop::sample::select(&SEEDS[..]),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        for name in ["a.mtx", "a.txt"] {
            holds(read(name, &bytes));
        }
        read_vectors(&bytes);
    }

    #[test]
    fn broken_graphs_are_read_or_refused(
        seed in prop::sample::select(&GRAPHS[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        for name in ["a.graph", "a.txt"] {
            holds(read(name, &bytes));
        }
    }

    #[test]
    fn broken_binary_triplets_are_read_or_refused(
        seed in prop::sample::select(&TRIPLES[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        holds(read("a.triplets", &bytes));
        holds(read("a.triplets.gz", &gz(&bytes)));
    }

    #[test]
    fn broken_matlab_files_are_read_or_refused_whatever_is_chosen(
        seed in prop::sample::select(&MATLAB[..]),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        holds_variables(&mutated(seed, &mutations));
    }

    #[test]
    fn broken_files_in_columns_are_read_or_refused(
        seed in prop::sample::select(&BOEING[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        holds_in_columns(&mutated(seed.as_bytes(), &mutations));
    }

    #[test]
    fn broken_files_of_other_programs_are_read_or_refused(
        (name, seed) in prop::sample::select(&STORED[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        let bytes = mutated(seed, &mutations);
        let extent = read_named_extent(name, &bytes);
        let file = read(name, &bytes);
        if let Ok(file) = &file {
            let sizes = extent.map(|extent| (extent.rows, extent.cols)).ok();
            prop_assert_eq!(sizes, Some((file.matrix.rows() as u64, file.matrix.cols() as u64)));
        }
        holds(file);
        read_vectors(&bytes);
    }

    #[test]
    fn broken_edge_lists_are_read_or_refused_with_any_options(
        seed in prop::sample::select(&EDGES[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        holds_edges(&mutated(seed.as_bytes(), &mutations));
    }

    #[test]
    fn broken_arrays_are_read_or_refused(
        seed in prop::sample::select(&ARRAYS[..]),
        member in any::<Index>(),
        inside in prop::collection::vec(mutation(), 0..4),
        outside in prop::collection::vec(mutation(), 0..2),
    ) {
        let bytes = match seed.starts_with(b"PK") {
            true => repacked(seed, member, &inside),
            false => mutated(seed, &inside),
        };
        let bytes = mutated(&bytes, &outside);
        holds(read("a.npz", &bytes));
        read_vectors(&bytes);
        holds_dense(&bytes);
        holds_points("a.npy", &bytes);
    }

    #[test]
    fn broken_dense_matrices_are_read_or_refused(
        seed in prop::sample::select(&DENSE[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        holds_dense(&mutated(seed, &mutations));
    }

    #[test]
    fn broken_points_are_read_or_refused(
        seed in prop::sample::select(&POINTS[..]),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        for name in ["a.txt", "a.csv", "a.csv.gz"] {
            holds_points(name, &bytes);
        }
    }

    #[test]
    fn broken_archives_are_read_or_refused(
        seed in prop::sample::select(&SEEDS[..6]),
        inside in prop::collection::vec(mutation(), 0..3),
        outside in prop::collection::vec(mutation(), 0..3),
    ) {
        let archive = mutated(&tar("a/a.mtx", seed.as_bytes()), &inside);
        holds(read("a.tar", &archive));
        holds(read("a.tar.gz", &mutated(&gz(&archive), &outside)));
    }

    #[test]
    fn broken_compressed_data_is_read_or_refused(
        packed in prop::sample::select(&COMPRESSED[..]),
        inside in prop::collection::vec(mutation(), 1..4),
        around in prop::collection::vec(mutation(), 0..2),
    ) {
        let bytes = mutated(packed, &inside);
        holds(read("a.mtx", &bytes));
        read_vectors(&bytes);
        holds_points("a.csv", &bytes);
        holds(read("a.mtx", &mutated(&gz(&bytes), &around)));
    }

    #[test]
    fn the_number_of_threads_does_not_change_what_is_read(
        seed in prop::sample::select(&SEEDS[..]),
        mutations in prop::collection::vec(mutation(), 0..3),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            format!("{:?}", pool.install(|| read("a.txt", &bytes)))
        };
        prop_assert_eq!(with(1), with(3));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_broken_bundle_is_refused_or_is_a_bundle(
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        match Bundle::read(&mutated(GOLDEN, &mutations), &Limits::default()) {
            Ok(bundle) => {
                let again = bundle.to_bytes().unwrap();
                prop_assert_eq!(Bundle::read(&again, &Limits::default()).unwrap(), bundle);
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(!message.chars().any(char::is_control), "{message:?}");
            }
        }
    }

    #[test]
    fn broken_results_of_another_program_are_refused_or_are_a_bundle(
        seed in prop::sample::select(&RESULTS[..]),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let bytes = mutated(seed.as_bytes(), &mutations);
        let when = "2026-02-01T12:00:00Z".to_owned();
        match Bundle::read_any("A100/cuda/a.json", &bytes, when, &Limits::default()) {
            Ok(bundle) => {
                let again = bundle.to_bytes().unwrap();
                prop_assert_eq!(Bundle::read(&again, &Limits::default()).unwrap(), bundle);
            }
            Err(error) => {
                let message = error.to_string();
                prop_assert!(!message.chars().any(char::is_control), "{message:?}");
                prop_assert!(message.len() < 1000, "{message}");
            }
        }
    }
}
