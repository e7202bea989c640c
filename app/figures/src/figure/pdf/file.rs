//! The objects of a PDF file.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A PDF file that is being written. Objects have numbers from 1 on.
pub(super) struct File {
    objects: Vec<Vec<u8>>,
}

impl File {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new() }
    }

    /// Adds an object; returns its number.
    pub(super) fn add(&mut self, object: Vec<u8>) -> usize {
        self.objects.push(object);
        self.objects.len()
    }

    /// Adds a dictionary with these entries.
    pub(super) fn add_dictionary(&mut self, entries: &str) -> usize {
        self.add(format!("<< {entries} >>").into_bytes())
    }

    /// Adds a stream, compressed, with these further entries.
    pub(super) fn add_stream(&mut self, entries: &str, data: &[u8]) -> usize {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(data).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes all bytes"); // invariant
        let head =
            format!("<< {entries}/Filter /FlateDecode /Length {} >>\nstream\n", packed.len());
        let mut object = head.into_bytes();
        object.extend(packed);
        object.extend(b"\nendstream");
        self.add(object)
    }

    /// The whole file, with one page and the information on it.
    pub(super) fn finish(mut self, page: &str, info: &str) -> Vec<u8> {
        let pages = self.objects.len() + 2;
        let page = self.add_dictionary(&format!("{page} /Parent {pages} 0 R"));
        self.add_dictionary(&format!("/Type /Pages /Count 1 /Kids [{page} 0 R]"));
        let root = self.add_dictionary(&format!("/Type /Catalog /Pages {pages} 0 R"));
        let info = self.add_dictionary(info);
        // Bytes above 127 say that the file is not text.
        let mut out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let size = self.objects.len() + 1;
        let mut table = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for (number, object) in (1..).zip(self.objects) {
            let _ = writeln!(table, "{:010} 00000 n ", out.len());
            out.extend(format!("{number} 0 obj\n").into_bytes());
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let start = out.len();
        out.extend(table.into_bytes());
        let trailer = format!(
            "trailer\n<< /Size {size} /Root {root} 0 R /Info {info} 0 R >>\nstartxref\n{start}\n%%EOF\n"
        );
        out.extend(trailer.into_bytes());
        out
    }
}
