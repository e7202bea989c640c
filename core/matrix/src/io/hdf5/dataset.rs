//! Datasets of numbers, read by the library with sizes that were checked.

use hdf5_pure::{Dataset, Datatype, DatatypeByteOrder, Error, File, FloatingPointLayout};

use crate::io::error::quoted;
use crate::io::matlab::array::{Numbers, Width, fault};
use crate::io::{IoError, Progress};
use crate::memory::MemoryLimit;

/// An open file.
pub(super) struct Source<'p> {
    pub(super) file: File,
    length: u64,
    /// What the file and the numbers read so far leave of the limit.
    left: MemoryLimit,
    progress: Progress<'p>,
}

/// The result of the library, with its error in one sentence.
pub(super) fn told<T>(result: Result<T, Error>) -> Result<T, IoError> {
    result.map_err(|error| {
        let visible = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
        let what: String = error.to_string().chars().take(200).map(visible).collect();
        IoError::Stored(format!("the HDF5 file is damaged or has parts that are not read: {what}"))
    })
}

impl<'p> Source<'p> {
    pub(super) fn open(
        data: &[u8],
        limit: MemoryLimit,
        progress: Progress<'p>,
    ) -> Result<Self, IoError> {
        // The library keeps bytes of its own.
        let length = data.len() as u64;
        limit.check("a copy of the HDF5 file", length.into())?;
        let file = told(File::from_bytes(data.to_vec()))?;
        let left = MemoryLimit::bytes(limit.get().saturating_sub(length));
        Ok(Self { file, length, left, progress })
    }

    /// All values of a dataset.
    pub(super) fn values(&mut self, data: &Data) -> Result<Values, IoError> {
        /// The most bytes that deflate makes of one.
        const EXPANSION: u64 = 1032;
        /// Bytes that are read between checks for cancellation.
        const WINDOW: u64 = 64 << 20;
        let Data { name, dataset, shape, kind } = data;
        let bytes = data.count().saturating_mul(kind.size);
        let most = self.length.saturating_mul(EXPANSION);
        let chunk = told(dataset.chunk_shape())?.unwrap_or_default();
        let chunk_bytes = product(&chunk).saturating_mul(kind.size);
        let chunks = shape.iter().zip(&chunk).map(|(size, part)| size.div_ceil((*part).max(1)));
        let chunks = chunks.fold(1, u64::saturating_mul);
        if bytes > most || chunks > self.length {
            let length = self.length;
            return Err(fault(
                name,
                &format!(
                    "its sizes mean {bytes} bytes, which a file of {length} bytes cannot hold"
                ),
            ));
        }
        // Complex values are stored together, then part by part. A window and a chunk are beside the values.
        let copies = if kind.parts.is_some() { 3 } else { 1 };
        let beside = u128::from(WINDOW.min(bytes)) + u128::from(chunk_bytes.min(most));
        let needed = u128::from(bytes) * copies + beside;
        self.left.check(format!("the variable {}", quoted(name.as_bytes())), needed)?;
        let mut stored = Vec::new();
        let rows = shape.first().copied().unwrap_or(1);
        let row = bytes.checked_div(rows).unwrap_or(0);
        if let Some(window) = WINDOW.checked_div(row) {
            // Whole chunks, so that none is decompressed twice.
            let chunk_rows = chunk.first().copied().unwrap_or(1).max(1);
            let window = window.max(1).checked_next_multiple_of(chunk_rows);
            let window = window.unwrap_or(rows);
            let mut begin = 0;
            while begin < rows {
                self.progress.check()?;
                let part = told(dataset.read_raw_rows(begin, window))?;
                match begin {
                    0 if window >= rows => stored = part,
                    0 => {
                        stored.reserve_exact(usize::try_from(bytes).unwrap_or_default());
                        stored.extend(part);
                    }
                    _ => stored.extend(part),
                }
                begin = begin.saturating_add(window);
            }
        }
        if stored.len() as u64 != bytes {
            let found = stored.len();
            return Err(fault(name, &format!("expected {bytes} bytes of values, found {found}")));
        }
        self.left = MemoryLimit::bytes(self.left.get().saturating_sub(bytes));
        Ok(Values::new(stored, *kind))
    }

    /// The numbers of a small dataset of sizes.
    pub(super) fn sizes(&mut self, data: &Data) -> Result<Vec<u64>, IoError> {
        if data.count() > 2 {
            return Err(fault(&data.name, &format!("expected 2 sizes, found {}", data.count())));
        }
        let values = self.values(data)?;
        let sizes = (0..data.count()).map(|k| values.real().index(k));
        let sizes: Option<Vec<u64>> = sizes.collect();
        sizes.ok_or_else(|| {
            fault(&data.name, "expected sizes, found a negative number or a fraction")
        })
    }
}

/// The word in a dataset that holds nothing but a short text.
pub(super) fn word(dataset: &Dataset) -> Result<Option<String>, IoError> {
    /// Bytes of the longest.
    const LONGEST: u32 = 64;
    let datatype = told(dataset.datatype())?;
    let is_short = matches!(datatype, Datatype::String { .. }) && datatype.type_size() <= LONGEST;
    let is_one = product(&told(dataset.shape())?) == 1 && told(dataset.chunk_shape())?.is_none();
    match is_short && is_one {
        true => Ok(told(dataset.read_string())?.into_iter().next()),
        false => Ok(None),
    }
}

fn product(sizes: &[u64]) -> u64 {
    sizes.iter().copied().fold(1, u64::saturating_mul)
}

/// How the values of a dataset are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    width: Width,
    is_big: bool,
    pub(super) is_logical: bool,
    /// Bytes per value.
    size: u64,
    /// Where in a complex value its real and imaginary part begin.
    parts: Option<(usize, usize)>,
}

impl Kind {
    fn of(datatype: &Datatype) -> Option<Self> {
        let (datatype, is_logical) = match datatype {
            Datatype::Compound { size, members } => {
                let [real, imaginary] = members.as_slice() else { return None };
                let names = (real.name.as_str(), imaginary.name.as_str());
                let is_complex = matches!(names, ("real", "imag") | ("r", "i"))
                    && real.datatype == imaginary.datatype;
                let kind = Self::of_number(&real.datatype).filter(|_| is_complex)?;
                let within = |offset: &u64| offset.saturating_add(kind.size) <= u64::from(*size);
                let place = |offset: u64| usize::try_from(Some(offset).filter(within)?).ok();
                let parts = Some((place(real.byte_offset)?, place(imaginary.byte_offset)?));
                return Some(Self { size: u64::from(*size), parts, ..kind });
            }
            // True and false of h5py.
            Datatype::Enumeration { size, base_type, .. } if base_type.type_size() == *size => {
                (base_type.as_ref(), true)
            }
            other => (other, false),
        };
        Some(Self { is_logical, ..Self::of_number(datatype)? })
    }

    fn of_number(datatype: &Datatype) -> Option<Self> {
        let (width, order) = match datatype {
            Datatype::FixedPoint { size, byte_order, layout }
                if layout.bit_offset == 0
                    && u64::from(layout.bit_precision) == u64::from(*size) * 8 =>
            {
                let width = match (size, layout.signed) {
                    (1, true) => Width::I8,
                    (1, false) => Width::U8,
                    (2, true) => Width::I16,
                    (2, false) => Width::U16,
                    (4, true) => Width::I32,
                    (4, false) => Width::U32,
                    (8, true) => Width::I64,
                    (8, false) => Width::U64,
                    _ => return None,
                };
                (width, byte_order)
            }
            Datatype::FloatingPoint { size: 4, byte_order, layout }
                if *layout == FloatingPointLayout::IEEE754_BINARY32 =>
            {
                (Width::F32, byte_order)
            }
            Datatype::FloatingPoint { size: 8, byte_order, layout }
                if *layout == FloatingPointLayout::IEEE754_BINARY64 =>
            {
                (Width::F64, byte_order)
            }
            _ => return None,
        };
        let is_big = match order {
            DatatypeByteOrder::LittleEndian => false,
            DatatypeByteOrder::BigEndian => true,
            DatatypeByteOrder::Vax => return None,
        };
        let size = width.bytes() as u64;
        Some(Self { width, is_big, is_logical: false, size, parts: None })
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(self.width, Width::F32 | Width::F64)
    }
}

/// A dataset of numbers.
pub(super) struct Data {
    pub(super) name: String,
    dataset: Dataset,
    pub(super) shape: Vec<u64>,
    pub(super) kind: Kind,
}

impl Data {
    /// `None` if it holds something else.
    pub(super) fn of(name: String, dataset: Dataset) -> Result<Option<Self>, IoError> {
        let kind = Kind::of(&told(dataset.datatype())?);
        let shape = told(dataset.shape())?;
        Ok(kind.map(|kind| Self { name, dataset, shape, kind }))
    }

    /// Like [`of`](Self::of), for a dataset that has to hold numbers.
    pub(super) fn numbers(name: String, dataset: Dataset) -> Result<Self, IoError> {
        let not_numbers = fault(&name, "expected integers or numbers of f32 or f64, found others");
        Self::of(name, dataset)?.ok_or(not_numbers)
    }

    pub(super) fn count(&self) -> u64 {
        product(&self.shape)
    }

    /// The word of the attribute `MATLAB_class`.
    pub(super) fn class(&self) -> Result<Option<String>, IoError> {
        let attributes = told(self.dataset.attrs())?;
        let word = attributes.get("MATLAB_class").and_then(|word| word.as_str());
        Ok(word.map(str::to_owned))
    }
}

/// Values in memory.
pub(super) struct Values {
    kind: Kind,
    real: Vec<u8>,
    imaginary: Option<Vec<u8>>,
}

impl Values {
    /// No value.
    pub(super) fn none() -> Self {
        let kind =
            Kind { width: Width::F64, is_big: false, is_logical: false, size: 8, parts: None };
        Self::new(Vec::new(), kind)
    }

    fn new(stored: Vec<u8>, kind: Kind) -> Self {
        let Some((real, imaginary)) = kind.parts else {
            return Self { kind, real: stored, imaginary: None };
        };
        let size = usize::try_from(kind.size).unwrap_or(usize::MAX).max(1);
        let part = |begin: usize| -> Vec<u8> {
            let mut part = Vec::with_capacity(stored.len() / size * kind.width.bytes());
            for value in stored.chunks_exact(size) {
                let bytes = value.get(begin..).and_then(|rest| rest.get(..kind.width.bytes()));
                part.extend_from_slice(bytes.unwrap_or_default());
            }
            part
        };
        Self { kind, real: part(real), imaginary: Some(part(imaginary)) }
    }

    fn numbers<'a>(&self, bytes: &'a [u8]) -> Numbers<'a> {
        Numbers { bytes, width: self.kind.width, is_big: self.kind.is_big }
    }

    pub(super) fn real(&self) -> Numbers<'_> {
        self.numbers(&self.real)
    }

    pub(super) fn imaginary(&self) -> Option<Numbers<'_>> {
        self.imaginary.as_deref().map(|bytes| self.numbers(bytes))
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.real.len() + self.imaginary.as_ref().map_or(0, Vec::len)) as u64
    }
}
