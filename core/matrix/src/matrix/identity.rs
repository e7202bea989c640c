//! A matrix's identity: the SHA-256 of its canonical CSR, the same on every platform.

use num_complex::Complex64;
use sha2::{Digest, Sha256};

use super::{Csr, Scalar};
use crate::pace::{Pace, at_once};

/// The bit pattern that every NaN is hashed as.
const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Bytes gathered before they are hashed.
const BUFFER: usize = 1 << 16;

/// A value that has a form in the canonical CSR: little-endian bits of `f64`.
pub trait CanonicalValue: Scalar {
    /// Appends the value: 8 bytes, or 16 (real part first) for complex. `f32` is widened, which
    /// is exact; zeros keep their sign; any NaN becomes `0x7ff8000000000000`.
    fn append_to(self, bytes: &mut Vec<u8>);
}

impl CanonicalValue for f64 {
    fn append_to(self, bytes: &mut Vec<u8>) {
        let bits = if self.is_nan() { NAN_BITS } else { self.to_bits() };
        bytes.extend_from_slice(&bits.to_le_bytes());
    }
}

impl CanonicalValue for f32 {
    fn append_to(self, bytes: &mut Vec<u8>) {
        f64::from(self).append_to(bytes);
    }
}

impl CanonicalValue for Complex64 {
    fn append_to(self, bytes: &mut Vec<u8>) {
        self.re.append_to(bytes);
        self.im.append_to(bytes);
    }
}

/// Lower-case hexadecimal SHA-256 of the canonical CSR, all little-endian: rows, columns, nnz and
/// the `rows + 1` row offsets as `u64`, then the columns as `u32`, then the values as `f64` bits
/// (see [`CanonicalValue`]). The stored width of the row offsets makes no difference.
pub fn identity<T: CanonicalValue>(a: &Csr<T>) -> String {
    at_once(identity_at(a, Pace::AtOnce))
}

/// Like [`identity`], in steps if `pace` asks for them.
pub async fn identity_at<T: CanonicalValue>(a: &Csr<T>, pace: Pace) -> String {
    let mut stream = Stream { hash: Sha256Hex::default(), buffer: Vec::with_capacity(BUFFER + 16) };
    for size in [a.rows(), a.cols(), a.nnz()] {
        stream.push(|bytes| bytes.extend_from_slice(&(size as u64).to_le_bytes()));
    }
    for offset in a.row_ptr().iter() {
        stream.push(|bytes| bytes.extend_from_slice(&offset.to_le_bytes()));
    }
    for piece in pace.pieces(a.nnz()) {
        for &col in &a.col()[piece] {
            stream.push(|bytes| bytes.extend_from_slice(&col.to_le_bytes()));
        }
        pace.rest().await;
    }
    for piece in pace.pieces(a.nnz()) {
        for &val in &a.val()[piece] {
            stream.push(|bytes| val.append_to(bytes));
        }
        pace.rest().await;
    }
    stream.finish()
}

/// Lower-case hexadecimal SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hash = Sha256Hex::default();
    hash.update(bytes);
    hash.finish()
}

/// SHA-256 of bytes that arrive piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Sha256Hex(Sha256);

impl Sha256Hex {
    /// Adds these bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The identity computed from arrays that arrive piece by piece, because no rank holds the whole matrix: all
/// row offsets after the first, then all columns, then all values.
pub struct IdentityStream(Stream);

impl IdentityStream {
    /// Starts the identity of a matrix of this size.
    pub fn new(rows: u64, cols: u64, nnz: u64) -> Self {
        let mut stream =
            Stream { hash: Sha256Hex::default(), buffer: Vec::with_capacity(BUFFER + 16) };
        for size in [rows, cols, nnz, 0] {
            stream.push(|bytes| bytes.extend_from_slice(&size.to_le_bytes()));
        }
        Self(stream)
    }

    /// Adds the next row offset.
    pub fn offset(&mut self, offset: u64) {
        self.0.push(|bytes| bytes.extend_from_slice(&offset.to_le_bytes()));
    }

    /// Adds the column of the next nonzero.
    pub fn column(&mut self, column: u32) {
        self.0.push(|bytes| bytes.extend_from_slice(&column.to_le_bytes()));
    }

    /// Adds the value of the next nonzero.
    pub fn value(&mut self, value: f64) {
        self.0.push(|bytes| value.append_to(bytes));
    }

    /// The digest of the whole matrix.
    pub fn finish(self) -> String {
        self.0.finish()
    }
}

/// Gathers small pieces, so that long blocks are hashed.
struct Stream {
    hash: Sha256Hex,
    buffer: Vec<u8>,
}

impl Stream {
    #[inline]
    fn push(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        append(&mut self.buffer);
        if self.buffer.len() >= BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hash.update(&self.buffer);
        self.hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::RowPtr;
    use crate::matrix::examples::five_by_five;

    // The digests below come from Python:
    //   import hashlib, struct
    //   def identity(m, n, row_ptr, col, val):   # val: floats, or (re, im) flattened
    //       h = hashlib.sha256(struct.pack('<3Q', m, n, len(col)))
    //       h.update(struct.pack(f'<{m + 1}Q', *row_ptr) + struct.pack(f'<{len(col)}I', *col))
    //       h.update(struct.pack(f'<{len(val)}d', *val)); return h.hexdigest()

    #[test]
    fn the_five_by_five_example_has_the_digest_that_python_computes() {
        // identity(5, 5, [0, 2, 4, 6, 8, 10], [0, 1, 1, 2, 1, 2, 2, 3, 3, 4],
        //          [3, 4, 5, 1, 1, 2, 2, 3, 1, 6])
        assert_eq!(
            identity(&five_by_five()),
            "2fca02e9f43587c2f5f8f764b859df50168797067783790bd23833c9c0ff470d"
        );
    }

    #[test]
    fn complex_values_enter_as_real_then_imaginary_part() {
        // identity(1, 2, [0, 2], [0, 1], [1.5, -2.0, 0.0, 1.0]), nnz = 2
        let a = Csr::from_triplets(
            1,
            2,
            &[(0, 0, Complex64::new(1.5, -2.0)), (0, 1, Complex64::new(0.0, 1.0))],
        )
        .unwrap();
        assert_eq!(
            identity(&a),
            "ddc0525f060f7c413653b5354562288dcb7ced6fa62b388e137f949edfdd35c6"
        );
    }

    #[test]
    fn an_empty_matrix_is_its_sizes_and_offsets() {
        // identity(0, 0, [0], [], [])
        let a = Csr::<f64>::from_triplets(0, 0, &[]).unwrap();
        assert_eq!(
            identity(&a),
            "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        );
    }

    fn one(value: f64) -> String {
        identity(&Csr::from_triplets(1, 1, &[(0, 0, value)]).unwrap())
    }

    #[test]
    fn arrays_that_come_piece_by_piece_have_the_digest_of_the_matrix() {
        let a = five_by_five();
        let mut stream = IdentityStream::new(5, 5, 10);
        a.row_ptr().iter().skip(1).for_each(|offset| stream.offset(offset));
        a.col().iter().for_each(|&column| stream.column(column));
        a.val().iter().for_each(|&value| stream.value(value));
        assert_eq!(stream.finish(), identity(&a));
    }

    #[test]
    fn every_nan_is_one_value_and_zeros_keep_their_sign() {
        // identity(1, 1, [0, 1], [0], [float('nan')])
        let nan = "d86e525703736135992a0629eb38f572f4fd5544042ba5a467422d6d29d31784";
        assert_eq!(one(f64::NAN), nan);
        assert_eq!(one(-f64::NAN), nan);
        assert_eq!(one(f64::from_bits(0x7ff0_0000_0000_0001)), nan);
        assert_ne!(one(0.0), one(-0.0));
        let empty = Csr::<f64>::from_triplets(1, 1, &[]).unwrap();
        assert_ne!(one(0.0), identity(&empty), "an explicit zero is an entry");
    }

    #[test]
    fn single_precision_is_widened() {
        let a = five_by_five();
        assert_eq!(identity(&a.map(|v| v as f32)), identity(&a));
    }

    #[test]
    fn the_width_of_the_row_offsets_makes_no_difference() {
        let a = five_by_five();
        let wide = RowPtr::Wide(a.row_ptr().iter().collect());
        let b = Csr::try_new(5, 5, wide, a.col().to_vec(), a.val().to_vec()).unwrap();
        assert_eq!(identity(&b), identity(&a));
    }

    #[test]
    fn a_matrix_longer_than_the_buffer_hashes_like_its_bytes_in_one_piece() {
        let m = 3 * BUFFER / 8 + 5;
        let triplets: Vec<_> = (0..m).map(|i| (i, (i * 7) % m, i as f64 - 0.5)).collect();
        let a = Csr::from_triplets(m, m, &triplets).unwrap();
        let mut bytes = Vec::new();
        for size in [m as u64; 3] {
            bytes.extend(size.to_le_bytes());
        }
        (0..=m as u64).for_each(|offset| bytes.extend(offset.to_le_bytes()));
        triplets.iter().for_each(|t| bytes.extend((t.1 as u32).to_le_bytes()));
        triplets.iter().for_each(|t| bytes.extend(t.2.to_le_bytes()));
        assert_eq!(identity(&a), sha256(&bytes));
    }
}
