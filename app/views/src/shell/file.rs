//! A file between reading and opening: reading a bundle takes longer than the page may go without a frame.

use sparsescope_core::bundle::{Bundle, BundleError, Limits};
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
        if is_matrix(name, &bytes) || !bytes.starts_with(b"PK") {
            return Self::Bytes(bytes);
        }
        let sha256 = sha256(&bytes);
        let limits = Limits::default();
        let read = in_turns(Bundle::read_in_steps(&bytes, &limits), turn).await;
        Self::Bundle(sha256, read.map(Box::new))
    }
}

/// Whether to read a file as a matrix: by its first bytes, or by its name if those are compressed.
pub(super) fn is_matrix(name: &str, bytes: &[u8]) -> bool {
    const ENDINGS: [&str; 11] =
        [".mtx", ".tar", ".tgz", ".txt", ".graph", ".tsv", ".csv", ".edges", ".el", ".npz", ".npy"];
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    bytes.starts_with(b"%%MatrixMarket") || ENDINGS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

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
