//! A file between reading and opening: reading a bundle takes longer than the page may go without a frame.

use sparsescope_core::bundle::{Bundle, BundleError, Limits};
use sparsescope_core::io::file_forms::is_matrix;
use sparsescope_core::matrix::sha256;

use crate::turns::in_turns;

/// A file that was read, for [`App::open_file`](super::App::open_file).
#[derive(Debug)]
pub enum File {
    /// A bundle, and the hash of its bytes.
    Bundle(String, Result<Box<Bundle>, BundleError>),
    /// The bytes of anything else.
    Bytes(Vec<u8>),
}

impl File {
    /// Reads a file of this name; awaits `turn` now and then, which lets input and drawing have theirs.
    pub async fn read(name: &str, bytes: Vec<u8>, turn: impl AsyncFn()) -> Self {
        if !bytes.starts_with(b"PK") || is_matrix(name, &bytes) {
            return Self::Bytes(bytes);
        }
        let sha256 = sha256(&bytes);
        let limits = Limits::default();
        let read = in_turns(Bundle::read_in_steps(&bytes, &limits), turn).await;
        Self::Bundle(sha256, read.map(Box::new))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use sparsescope_core::io::file_forms::FORMS;
    use sparsescope_figures::model::OpenBundle;

    use super::*;
    use crate::shell::App;

    const EXAMPLE: &[u8] = include_bytes!("../../../example/cpu.zip");

    fn read(name: &str, bytes: &[u8]) -> File {
        let turns = Cell::new(0);
        let read = File::read(name, bytes.to_vec(), async || turns.set(turns.get() + 1));
        let done = pin!(read).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(file) = done else { unreachable!("each turn ends at once") };
        file
    }

    /// Names, and files in `tests/python/forms/files` that other programs wrote.
    const MATRICES: [(&str, &str); 14] = [
        ("a.mtx", "scipy-real.mtx"),
        ("a.npz", "scipy-csr.npz"),
        ("a.npy", "numpy-c.npy"),
        ("a.rb", "rbio-rra.rb"),
        ("a.rua", "scipy.hb"),
        ("a.mat", "scipy-5-real.mat"),
        ("a.petsc", "petsc-real.petsc"),
        ("a.triplets", "../../../../fuzz/corpus/binary_triplets/real"),
        ("a.00000", "hypre.00000"),
        ("a.graph", "metis.graph"),
        ("a.gr", "dimacs.gr"),
        ("a.txt", "snap.txt"),
        ("a.zip", "repository.zip"),
        ("a.mtx.zst", "two-streams.mtx.zst"),
    ];

    #[test]
    fn a_matrix_of_every_form_opens_when_it_is_dropped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/forms/files");
        for (name, file) in MATRICES {
            let bytes = std::fs::read(folder.join(file)).unwrap();
            let mut app = App::new();
            assert!(app.state.matrix.is_none());
            app.open_file(name, read(name, &bytes));
            assert!(app.state.matrix.is_some(), "{name}");
        }
        // The page does not read HDF5.
        for form in FORMS.iter().filter(|form| form.name != "HDF5") {
            let has = |end: &&str| MATRICES.iter().any(|(name, _)| name.ends_with(end));
            assert!(form.extensions.iter().any(has), "{}", form.name);
        }
    }

    #[test]
    fn a_zip_without_a_bundle_is_left_to_the_readers_of_matrices() {
        for (name, entry) in [("a.npz", "data.npy"), ("a.zip", "a.mtx")] {
            let zip = [&b"PK\x03\x04"[..], &[0; 26], entry.as_bytes()].concat();
            assert!(matches!(read(name, &zip), File::Bytes(_)), "{name}");
            assert!(is_matrix(name, &zip), "{name}");
        }
        assert!(matches!(read("renamed.npz", EXAMPLE), File::Bundle(..)));
    }

    #[test]
    fn what_was_read_before_is_opened_as_its_bytes_are() {
        let cut = &EXAMPLE[..1000];
        let matrix = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
        let files: [(&str, &[u8]); 4] =
            [("cpu.zip", EXAMPLE), ("cut.zip", cut), ("one.mtx", matrix), ("notes.pdf", b"hello")];
        let (mut before, mut now) = (App::new(), App::new());
        for (name, bytes) in files {
            let is_bundle = matches!(read(name, bytes), File::Bundle(..));
            assert_eq!(is_bundle, name.ends_with(".zip"), "{name}");
            before.open_file(name, read(name, bytes));
            now.open_bytes(name, bytes);
        }
        let opened = |app: &App| -> Vec<(String, String, usize)> {
            let bundles = app.model().bundles().iter();
            let told = |open: &OpenBundle| {
                (open.file.clone(), open.sha256.clone(), open.bundle.runs.len())
            };
            bundles.map(told).collect()
        };
        assert_eq!(opened(&before), opened(&now));
        assert_eq!((opened(&before).len(), before.state()), (2, now.state()));
        assert!(before.has_file("cpu.zip") && !before.has_file("cut.zip"));
        // A zip that is no bundle.
        assert!(!matches!(read("a.npz", b"PK\x03\x04"), File::Bundle(..)));
        // Twice the same bundle.
        before.open_file("again.zip", read("again.zip", EXAMPLE));
        assert_eq!(before.model().bundles().len(), 2);
    }
}
