//! The arrays that SpMV reads and writes: their names, lengths and addresses.

use crate::kernel::{COO_SPAN, Cut};
use sparsescope_matrix::matrix::{AnyFormat, Coded, CompactHll, Csr, Fours, RowPtr, Scalar};

/// Every array starts at a multiple of this many bytes, as `cudaMalloc` guarantees.
pub const ALIGNMENT: u64 = 256;

/// One of the arrays of a format, or of SpMV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Array {
    /// Offsets of the rows (CSR), or of the block rows (BSR).
    RowPtr,
    /// Nonzeros per row (ELLPACK, HYB, HLL).
    RowLen,
    /// First slot of each hack (HLL); column minus row of each diagonal (DIA).
    Offsets,
    /// Width of each hack (HLL).
    MaxNzr,
    /// Row at each position (HLL with sorted rows).
    RowOf,
    /// Row of each nonzero (COO).
    Row,
    /// First group of each hack (compact HLL, on a GPU).
    GroupPtr,
    /// Base column of the distances of a line of slots, four per group (compact HLL, on a GPU).
    Base,
    /// Distance of each slot's column from its base, or the lower half of the column (compact HLL,
    /// on a GPU).
    Low,
    /// Upper half of the column of each slot in wide groups (compact HLL, on a GPU).
    High,
    /// Index of each slot's value in the dictionary (compact HLL, on a GPU).
    Codes,
    /// The distinct values (compact HLL, on a GPU).
    Dictionary,
    /// Column of each slot, or of each block (BSR).
    Col,
    /// Value of each slot.
    Val,
    /// Offsets of the spilled rows (HLL with spilled rows).
    TailRowPtr,
    /// Row of each nonzero of the tail (HYB).
    TailRow,
    /// Column of each nonzero of the tail (HYB, HLL with spilled rows).
    TailCol,
    /// Value of each nonzero of the tail (HYB, HLL with spilled rows).
    TailVal,
    /// Row whose sum each span of coordinates carries over (COO, HYB, on a GPU).
    CarryRow,
    /// Sum that each span of coordinates carries over (COO, HYB, on a GPU).
    CarrySum,
    /// First row, part of that row and first nonzero of each tile, four words (CSR in tiles, on a
    /// GPU).
    Plan,
    /// Sum of each tile that is part of a row (CSR in tiles, on a GPU).
    PartSum,
    /// Number of finished parts of a row, at its first tile (CSR in tiles, on a GPU).
    Arrived,
    /// The input vector.
    X,
    /// The result vector.
    Y,
}

impl Array {
    /// All arrays, in the order in which tables list them.
    pub const ALL: [Self; 25] = [
        Self::RowPtr,
        Self::RowLen,
        Self::Offsets,
        Self::MaxNzr,
        Self::RowOf,
        Self::Row,
        Self::GroupPtr,
        Self::Base,
        Self::Low,
        Self::High,
        Self::Codes,
        Self::Dictionary,
        Self::Col,
        Self::Val,
        Self::TailRowPtr,
        Self::TailRow,
        Self::TailCol,
        Self::TailVal,
        Self::CarryRow,
        Self::CarrySum,
        Self::Plan,
        Self::PartSum,
        Self::Arrived,
        Self::X,
        Self::Y,
    ];

    /// Its position in [`ALL`](Self::ALL).
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name as in the formats' definitions: `row_ptr`, `col`, `tail_val`, …
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RowPtr => "row_ptr",
            Self::RowLen => "row_len",
            Self::Offsets => "offsets",
            Self::MaxNzr => "max_nzr",
            Self::RowOf => "row_of",
            Self::Row => "row",
            Self::GroupPtr => "group_ptr",
            Self::Base => "base",
            Self::Low => "low",
            Self::High => "high",
            Self::Codes => "codes",
            Self::Dictionary => "dictionary",
            Self::Col => "col",
            Self::Val => "val",
            Self::TailRowPtr => "tail_row_ptr",
            Self::TailRow => "tail_row",
            Self::TailCol => "tail_col",
            Self::TailVal => "tail_val",
            Self::CarryRow => "carry_row",
            Self::CarrySum => "carry_sum",
            Self::Plan => "plan",
            Self::PartSum => "part_sum",
            Self::Arrived => "arrived",
            Self::X => "x",
            Self::Y => "y",
        }
    }
}

/// Size and address of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// The array.
    pub array: Array,
    /// Number of elements.
    pub len: u64,
    /// Bytes per element.
    pub element_bytes: u32,
    /// Address of its first byte, a multiple of [`ALIGNMENT`]. The arrays are laid out one after
    /// another from 0.
    pub base: u64,
}

impl ArrayInfo {
    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.len * u64::from(self.element_bytes)
    }
}

/// Appends arrays one after another.
#[derive(Default)]
struct Shelf(Vec<ArrayInfo>);

impl Shelf {
    fn add(&mut self, array: Array, len: usize, element_bytes: usize) {
        let free = self.0.last().map_or(0, |last| last.base + last.bytes());
        let (len, base) = (len as u64, free.next_multiple_of(ALIGNMENT));
        self.0.push(ArrayInfo { array, len, element_bytes: element_bytes as u32, base });
    }

    fn add_slice<T>(&mut self, array: Array, slice: &[T]) {
        self.add(array, slice.len(), size_of::<T>());
    }

    fn add_offsets(&mut self, array: Array, offsets: &RowPtr) {
        self.add(array, offsets.len(), offsets.width().bytes());
    }
}

/// The arrays of a format, x and y. x has one element per matrix column, y one per row. Arrays that
/// do not exist are left out: the row order if every row is in its original place, an empty tail,
/// and the bitmaps of BSR and DIA that mark nonzeros, which SpMV never reads. Compact formats list
/// the arrays that lead to their rows.
pub fn arrays<T: Scalar>(a: &AnyFormat<T>) -> Vec<ArrayInfo> {
    laid_out(a, false, None).0
}

/// The arrays of a format, or those of its copy on a GPU.
fn laid_out<T: Scalar>(a: &AnyFormat<T>, on_device: bool, fours: Option<&Fours<T>>) -> Shelf {
    let mut shelf = Shelf::default();
    let tail = |shelf: &mut Shelf, tail: &Csr<T>| {
        if tail.rows() > 0 {
            match on_device {
                true => shelf.add(Array::TailRowPtr, tail.row_ptr().len(), WIDE_OFFSET as usize),
                false => shelf.add_offsets(Array::TailRowPtr, tail.row_ptr()),
            }
            shelf.add_slice(Array::TailCol, tail.col());
            shelf.add_slice(Array::TailVal, tail.val());
        }
    };
    match a {
        AnyFormat::Coo(a) => {
            shelf.add_slice(Array::Row, a.row());
            shelf.add_slice(Array::Col, a.col());
            shelf.add_slice(Array::Val, a.val());
        }
        AnyFormat::Csr(a) => {
            shelf.add_offsets(Array::RowPtr, a.row_ptr());
            shelf.add_slice(Array::Col, a.col());
            shelf.add_slice(Array::Val, a.val());
        }
        AnyFormat::Ell(a) => {
            shelf.add_slice(Array::RowLen, a.row_len());
            shelf.add_slice(Array::Col, a.col());
            shelf.add_slice(Array::Val, a.val());
        }
        AnyFormat::Hyb(a) => {
            shelf.add_slice(Array::RowLen, a.ell().row_len());
            shelf.add_slice(Array::Col, a.ell().col());
            shelf.add_slice(Array::Val, a.ell().val());
            if a.tail().nnz() > 0 {
                shelf.add_slice(Array::TailRow, a.tail().row());
                shelf.add_slice(Array::TailCol, a.tail().col());
                shelf.add_slice(Array::TailVal, a.tail().val());
            }
        }
        AnyFormat::Hll(a) => {
            shelf.add_slice(Array::RowLen, a.row_len());
            shelf.add_slice(Array::Offsets, a.shape().offsets());
            shelf.add_slice(Array::MaxNzr, a.shape().max_nzr());
            if let Some(row_of) = a.row_order().row_of() {
                shelf.add_slice(Array::RowOf, row_of);
            }
            shelf.add_slice(Array::Col, a.col());
            shelf.add_slice(Array::Val, a.val());
            tail(&mut shelf, a.tail());
        }
        AnyFormat::Bsr(a) => {
            shelf.add_offsets(Array::RowPtr, a.row_ptr());
            shelf.add_slice(Array::Col, a.col());
            shelf.add_slice(Array::Val, a.val());
        }
        AnyFormat::Dia(a) => {
            shelf.add_slice(Array::Offsets, a.offsets());
            shelf.add_slice(Array::Val, a.val());
        }
        AnyFormat::CsrCompact(a) => shelf.add_offsets(Array::RowPtr, a.row_ptr()),
        AnyFormat::HllCompact(a) if let Some(fours) = fours => regrouped(&mut shelf, a, fours),
        AnyFormat::HllCompact(a) => {
            shelf.add_slice(Array::RowLen, a.row_len());
            shelf.add_slice(Array::Offsets, a.shape().offsets());
            shelf.add_slice(Array::MaxNzr, a.shape().max_nzr());
        }
    }
    shelf.add(Array::X, a.cols(), T::BYTES);
    shelf.add(Array::Y, a.rows(), T::BYTES);
    shelf
}

/// Compact HLL in groups of four lines.
fn regrouped<T: Scalar>(shelf: &mut Shelf, a: &CompactHll<T>, fours: &Fours<T>) {
    if let Some(row_of) = a.row_order().row_of() {
        shelf.add_slice(Array::RowOf, row_of);
    }
    shelf.add_slice(Array::GroupPtr, fours.group_ptr());
    shelf.add_slice(Array::Base, fours.base());
    shelf.add_slice(Array::Low, fours.low());
    if !fours.high().is_empty() {
        shelf.add_slice(Array::High, fours.high());
    }
    match fours.values() {
        Coded::Plain(val) => shelf.add_slice(Array::Val, val),
        Coded::Byte { codes, table } => {
            shelf.add_slice(Array::Codes, codes);
            shelf.add_slice(Array::Dictionary, table);
        }
        Coded::Short { codes, table } => {
            shelf.add_slice(Array::Codes, codes);
            shelf.add_slice(Array::Dictionary, table);
        }
    }
}

/// [`arrays`] on a GPU plus what SpMV needs there: what spans of coordinates and parts of rows
/// carry over, and where tiles start. `fours` are made from `a` if it is compact HLL.
pub(super) fn arrays_of_product<T: Scalar>(
    a: &AnyFormat<T>,
    cut: &Cut,
    fours: Option<&Fours<T>>,
) -> Vec<ArrayInfo> {
    let mut shelf = laid_out(a, true, fours);
    let entries = match a {
        AnyFormat::Coo(a) => a.nnz(),
        AnyFormat::Hyb(a) => a.tail().nnz(),
        _ => 0,
    };
    let spans = entries.div_ceil(COO_SPAN as usize);
    if spans > 0 {
        shelf.add(Array::CarryRow, spans, size_of::<u32>());
        shelf.add(Array::CarrySum, spans, T::BYTES);
    }
    if let Some(tiles) = cut.tiles() {
        shelf.add(Array::Plan, 4 * (tiles.count() + 1), size_of::<u32>());
        if tiles.has_parts() {
            shelf.add(Array::PartSum, tiles.count(), T::BYTES);
            shelf.add(Array::Arrived, tiles.count(), size_of::<u32>());
        }
    }
    shelf.0
}

/// Bytes of an offset that is always 64-bit.
const WIDE_OFFSET: u32 = 8;

/// Bytes per element of an array of `a` on a GPU.
pub(super) fn element_bytes<T: Scalar>(a: &AnyFormat<T>, array: Array) -> u32 {
    match (array, a) {
        (Array::RowPtr, AnyFormat::Csr(a)) => a.row_ptr().width().bytes() as u32,
        (Array::RowPtr, AnyFormat::Bsr(a)) => a.row_ptr().width().bytes() as u32,
        (Array::Val | Array::TailVal | Array::X | Array::Y, _) => T::BYTES as u32,
        (Array::CarrySum | Array::PartSum | Array::Dictionary, _) => T::BYTES as u32,
        (Array::Codes, AnyFormat::HllCompact(a)) if matches!(a.values(), Coded::Byte { .. }) => 1,
        (Array::Low | Array::High | Array::Codes, _) => 2,
        (Array::Offsets | Array::TailRowPtr, _) => WIDE_OFFSET,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{FormatParams, KernelDescriptor, Mapping, kernels};
    use sparsescope_matrix::matrix::{FormatSpec, HllLayout, Order, examples};
    use sparsescope_matrix::memory::MemoryLimit;
    use sparsescope_record::Operation;
    use std::sync::Arc;

    #[test]
    fn arrays_lie_behind_one_another_and_their_elements_are_as_wide_as_told() {
        let a = Arc::new(examples::five_by_five());
        let sorted = HllLayout { sigma: 4, spill: Some(1), ..HllLayout::plain(4, Order::RowMajor) };
        let specs =
            FormatSpec::DEFAULTS.into_iter().filter(|s| !matches!(s, FormatSpec::Bsr { .. }));
        for spec in specs.chain([FormatSpec::Hll(sorted)]) {
            let format = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            let all = arrays(&format);
            let stored = all.iter().filter(|i| !matches!(i.array, Array::X | Array::Y));
            let stored: u64 = stored.map(ArrayInfo::bytes).sum();
            let is_whole = !matches!(
                format,
                AnyFormat::Dia(_) | AnyFormat::CsrCompact(_) | AnyFormat::HllCompact(_)
            );
            if is_whole {
                assert_eq!(stored, format.bytes(), "{}", spec.name());
            }
        }
        let params = FormatParams { sigma: 4, min_fill: Some(0), ..FormatParams::default() };
        let on_grid = |k: &&KernelDescriptor| matches!(k.mapping, Mapping::Grid(_));
        for kernel in kernels(Operation::Spmv).iter().filter(on_grid) {
            let spec = kernel.format().unwrap().with(&params);
            let format = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            let fours = match &format {
                AnyFormat::HllCompact(a) => Some(Fours::of(a).unwrap()),
                _ => None,
            };
            let all =
                arrays_of_product(&format, &Cut::new(kernel, &format, 32).unwrap(), fours.as_ref());
            for (info, next) in all.iter().zip(&all[1..]) {
                assert!(info.base % ALIGNMENT == 0 && next.base >= info.base + info.bytes());
            }
            for info in &all {
                assert_eq!(info.element_bytes, element_bytes(&format, info.array), "{info:?}");
            }
        }
        assert!(Array::ALL.iter().enumerate().all(|(k, array)| array.index() == k));
    }
}
