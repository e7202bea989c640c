//! Writers of `.npz` files that SciPy reads, and of `.npy` files.

use std::cell::RefCell;
use std::io::Write;

use num_complex::Complex64;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::array::MAGIC;
use crate::io::{AnyMatrix, IoError, Progress};
use crate::matrix::{NARROW_MAX, Order};
use crate::memory::MemoryLimit;

/// Values written at a time.
const WAVE: usize = 1 << 16;

/// Columns copied at a time: as many values as a cache line holds.
const COLUMNS: usize = 8;

/// Rows copied at a time: their lines stay in cache until these columns are copied.
const ROWS: usize = 64;

/// Maximum values of the columns that are copied.
const MOST: usize = 1 << 23;

/// Writes `a` in the layout csr, as `scipy.sparse.save_npz` writes a `csr_array`, compressed. Reads back bit for
/// bit.
pub fn write_npz(
    a: &AnyMatrix,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let failed = RefCell::new(None);
    let mut archive = ZipWriter::new_stream(Kept { out, failed: &failed, progress });
    put_members(a, &mut archive, &failed, progress)?;
    let finished = archive.finish().map(drop).map_err(std::io::Error::from);
    let failed = failed.into_inner().map_or(finished, Err);
    failed.map_err(|error| IoError::System { doing: "write", error })
}

/// Writes until the first failure, which it keeps: an archive that could not be finished would print the failure
/// when dropped.
struct Kept<'o> {
    out: &'o mut dyn Write,
    failed: &'o RefCell<Option<std::io::Error>>,
    progress: Progress<'o>,
}

impl Write for Kept<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut failed = self.failed.borrow_mut();
        if failed.is_none() {
            *failed = self.out.write_all(bytes).err();
            self.progress.advance(bytes.len());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

type Archive<'o> = ZipWriter<StreamWriter<Kept<'o>>>;

fn put_members(
    a: &AnyMatrix,
    archive: &mut Archive<'_>,
    failed: &RefCell<Option<std::io::Error>>,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (row_ptr, col) = match a {
        AnyMatrix::Real(a) => (a.row_ptr(), a.col()),
        AnyMatrix::Complex(a) => (a.row_ptr(), a.col()),
    };
    let (rows, cols, stored) = (a.rows() as u64, a.cols() as u64, col.len() as u64);
    // SciPy has one type for both arrays.
    let is_narrow = rows.max(cols).max(stored) <= NARROW_MAX;
    let (index, width) = if is_narrow { ("<i4", 4) } else { ("<i8", 8) };
    let indices = |bytes: &mut Vec<u8>, k: usize| {
        let index = col.get(k).copied().map_or(0, u64::from);
        bytes.extend(index.to_le_bytes().iter().take(width));
    };
    let pointers = |bytes: &mut Vec<u8>, k: usize| {
        bytes.extend((row_ptr.get(k) as u64).to_le_bytes().iter().take(width));
    };
    let shape = |bytes: &mut Vec<u8>, k: usize| {
        bytes.extend((if k == 0 { rows } else { cols }).to_le_bytes());
    };
    let values = |bytes: &mut Vec<u8>, k: usize| match a {
        AnyMatrix::Real(a) => {
            bytes.extend(a.val().get(k).copied().unwrap_or_default().to_le_bytes());
        }
        AnyMatrix::Complex(a) => {
            let Complex64 { re, im } = a.val().get(k).copied().unwrap_or_default();
            bytes.extend(re.to_le_bytes().iter().chain(&im.to_le_bytes()));
        }
    };
    let number = if matches!(a, AnyMatrix::Real(_)) { "<f8" } else { "<c16" };
    let members: [(&str, &str, &[usize], &Append<'_>); 6] = [
        ("indices.npy", index, &[col.len()], &indices),
        ("indptr.npy", index, &[row_ptr.len()], &pointers),
        ("format.npy", "|S3", &[], &|bytes: &mut Vec<u8>, _| bytes.extend(b"csr")),
        ("shape.npy", "<i8", &[2], &shape),
        ("data.npy", number, &[col.len()], &values),
        ("_is_array.npy", "|b1", &[], &|bytes: &mut Vec<u8>, _| bytes.push(1)),
    ];
    for (name, descr, shape, append) in members {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .system(System::Unix)
            // Numbers of 16 bytes at most, and incompressible ones grow a little.
            .large_file(shape.first().is_some_and(|len| *len >= 1 << 27));
        let started = archive.start_file(name, options).map_err(std::io::Error::from);
        started.map_err(|error| IoError::System { doing: "write", error })?;
        put_array(archive, (descr, shape, Order::RowMajor), append, &|| {
            progress.check().map(|()| failed.borrow().is_none())
        })?;
    }
    Ok(())
}

/// Appends the bytes of the k-th value.
type Append<'a> = dyn Fn(&mut Vec<u8>, usize) + 'a;

/// Writes an array of this many columns, or of one dimension, whose values are given by rows, in this order. Reads back
/// bit for bit. Columns are copied within the limit, or in small parts if it allows no copy.
pub fn write_npy(
    values: &[f64],
    columns: Option<usize>,
    order: Order,
    out: &mut dyn Write,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let width = columns.unwrap_or(1);
    let rows = values.len().checked_div(width).unwrap_or(0);
    let shape: Vec<usize> = std::iter::once(rows).chain(columns).collect();
    let number = "<f8";
    match order {
        Order::RowMajor => {
            let append = |bytes: &mut Vec<u8>, k: usize| {
                bytes.extend(values.get(k).copied().unwrap_or_default().to_le_bytes());
            };
            put_array(out, (number, &shape, order), &append, &|| progress.check().map(|()| true))?;
        }
        Order::ColumnMajor => {
            put(out, &header(number, &shape, order))?;
            let allowed = usize::try_from(limit.get() / 8).unwrap_or(MOST);
            put_by_columns(values, [rows, width], allowed.min(MOST), out, progress)?;
        }
    }
    progress.advance(size_of_val(values));
    Ok(())
}

/// Writes values that are given by rows, column by column. Several columns are copied at a time, because reading one
/// value of each row takes as long as reading its cache line; but no more than `most` values.
fn put_by_columns(
    values: &[f64],
    [rows, columns]: [usize; 2],
    most: usize,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let rows = rows.max(1);
    let group = (most / rows).clamp(1, COLUMNS);
    // A column on its own can be written in parts.
    let at_once = if group > 1 { rows } else { rows.min(WAVE) };
    let mut copies = vec![Vec::new(); group];
    for first in (0..columns).step_by(group) {
        copies.truncate(columns - first);
        for wave in values.chunks(at_once * columns) {
            copies.iter_mut().for_each(Vec::clear);
            for block in wave.chunks(rows.min(ROWS) * columns) {
                for (column, copy) in (first..).zip(&mut copies) {
                    let of_column = block.iter().skip(column).step_by(columns);
                    copy.extend(of_column.flat_map(|value| value.to_le_bytes()));
                }
            }
            for copy in &copies {
                progress.check()?;
                put(out, copy)?;
            }
        }
    }
    Ok(())
}

fn put(out: &mut dyn Write, bytes: &[u8]) -> Result<(), IoError> {
    out.write_all(bytes).map_err(|error| IoError::System { doing: "write", error })
}

/// Writes header and values until `goes_on` denies or fails.
fn put_array(
    out: &mut dyn Write,
    (descr, shape, order): (&str, &[usize], Order),
    append: &Append<'_>,
    goes_on: &dyn Fn() -> Result<bool, IoError>,
) -> Result<(), IoError> {
    put(out, &header(descr, shape, order))?;
    let count: usize = shape.iter().product();
    let mut bytes = Vec::new();
    for begin in (0..count).step_by(WAVE) {
        if !goes_on()? {
            break;
        }
        bytes.clear();
        (begin..count.min(begin + WAVE)).for_each(|k| append(&mut bytes, k));
        put(out, &bytes)?;
    }
    Ok(())
}

/// Magic, version 1.0, the length of what follows, and a dictionary as Python prints it, padded to a multiple of
/// 64 bytes.
fn header(descr: &str, shape: &[usize], order: Order) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let fortran = if order == Order::ColumnMajor { "True" } else { "False" };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({sizes}), }}");
    let begin = MAGIC.len() + 4;
    let length = (begin + text.len() + 1).next_multiple_of(64) - begin;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use proptest::prelude::*;

    use super::*;
    use crate::io::{dense, read_named_matrix, vector};
    use crate::matrix::Csr;

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("full"))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_members_are_those_of_scipy() {
        let places = [(0, 0, 1.5), (0, 2, 2.0), (1, 2, -3.0)];
        let a = AnyMatrix::Real(Csr::from_triplets(2, 3, &places).unwrap());
        let mut data = Vec::new();
        write_npz(&a, &mut data, Progress::none()).unwrap();
        let contents = |data: &[u8]| {
            let mut archive = zip::ZipArchive::new(Cursor::new(data)).unwrap();
            let mut contents = Vec::new();
            for k in 0..archive.len() {
                let mut member = archive.by_index(k).unwrap();
                let mut content = Vec::new();
                member.read_to_end(&mut content).unwrap();
                contents.push((member.name_raw().to_vec(), content));
            }
            contents
        };
        // The same matrix, written by SciPy 1.17.
        let expected = include_bytes!("../../../../../fuzz/corpus/numpy/csr");
        assert_eq!(contents(&data), contents(expected));
        let error = write_npz(&a, &mut Full, Progress::none()).unwrap_err();
        assert_eq!(error.to_string(), "cannot write: full");
    }

    #[test]
    fn columns_are_written_one_after_another_whatever_the_shape() {
        let shapes = [[0, 3], [1, 1], [130, 1], [63, 9], [64, 8], [65, 17], [WAVE + 3, 3], [1, 20]];
        for [rows, columns] in shapes {
            let values: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
            let at = |k: usize| (k % rows * columns + k / rows) as f64;
            let expected: Vec<u8> = (0..values.len()).flat_map(|k| at(k).to_le_bytes()).collect();
            for most in [1, 200, MOST] {
                let mut data = Vec::new();
                put_by_columns(&values, [rows, columns], most, &mut data, Progress::none())
                    .unwrap();
                assert!(data == expected, "{rows} x {columns}, {most} values");
            }
        }
    }

    /// The largest part that is written at a time.
    #[derive(Default)]
    struct Largest(usize);

    impl Write for Largest {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.max(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn columns_are_copied_whole_only_within_the_memory_limit() {
        let rows = WAVE + 3;
        let values = vec![1.0; rows * 2];
        let largest = |limit: u64| {
            let (mut out, limit) = (Largest::default(), MemoryLimit::bytes(limit));
            write_npy(&values, Some(2), Order::ColumnMajor, &mut out, limit, Progress::none())
                .unwrap();
            out.0
        };
        let both = rows as u64 * 2 * 8;
        assert_eq!(largest(both), rows * 8);
        assert_eq!(largest(both - 1), WAVE * 8);
        assert_eq!(largest(0), WAVE * 8);
    }

    fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
        values.into_iter().map(|value| value.to_bits()).collect()
    }

    /// What a matrix holds; NaN is not equal to itself, but its bits are.
    fn held(a: &AnyMatrix) -> (Vec<usize>, Vec<u32>, Vec<u64>) {
        let (row_ptr, col, val) = match a {
            AnyMatrix::Real(a) => (a.row_ptr(), a.col(), bits(a.val())),
            AnyMatrix::Complex(a) => {
                (a.row_ptr(), a.col(), bits(a.val().iter().flat_map(|v| [&v.re, &v.im])))
            }
        };
        ((0..row_ptr.len()).map(|k| row_ptr.get(k)).collect(), col.to_vec(), val)
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_bit_for_bit(
            entries in prop::collection::btree_map((0usize..5, 0usize..7), any::<[u64; 2]>(), 0..20),
            is_complex in any::<bool>(),
        ) {
            let entry = |(&(i, j), &[re, im]): (&(usize, usize), &[u64; 2])| {
                (i, j, Complex64::new(f64::from_bits(re), f64::from_bits(im)))
            };
            let places: Vec<_> = entries.iter().map(entry).collect();
            let complex = Csr::from_triplets(5, 7, &places).unwrap();
            let a = match is_complex {
                true => AnyMatrix::Complex(complex),
                false => AnyMatrix::Real(complex.map(|value| value.re)),
            };
            let (limit, progress) = (MemoryLimit::bytes(1 << 20), Progress::none());
            let mut data = Vec::new();
            write_npz(&a, &mut data, progress).unwrap();
            let back = read_named_matrix("a.npz", &data, limit, progress).unwrap();
            prop_assert_eq!(held(&back.matrix), held(&a));

            let values: Vec<f64> = places.iter().flat_map(|(.., v)| [v.re, v.im]).collect();
            let mut data = Vec::new();
            write_npy(&values, None, Order::RowMajor, &mut data, limit, progress).unwrap();
            let back = vector::read_bytes(&data, limit, progress).unwrap();
            prop_assert_eq!(bits(&back), bits(&values));
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let mut data = Vec::new();
                write_npy(&values, Some(2), order, &mut data, limit, progress).unwrap();
                let mut fits = |rows: u64, cols: u64| (rows, cols) == (places.len() as u64, 2);
                let whole = dense::read_dense("a.npy", &data, &mut fits, limit, progress);
                let whole = whole.unwrap().unwrap();
                prop_assert_eq!((whole.order, bits(&whole.values)), (order, bits(&values)));
                let back = vector::read_column(&data, Some(2), limit, progress).unwrap().values;
                prop_assert_eq!(bits(&back), bits(places.iter().map(|(.., v)| &v.im)));
            }
        }
    }
}
