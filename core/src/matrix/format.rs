//! A format with its parameters as a value, and a matrix in any format.

use std::sync::Arc;

use super::{
    Coo, Csr, EllShape, Ellpack, FormatError, FormatSize, Hll, HllLayout, Hyb, Order, Scalar,
    SlotLayout,
};
use crate::memory::MemoryLimit;

/// A format and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatSpec {
    /// Coordinates.
    Coo,
    /// Compressed sparse rows.
    Csr,
    /// ELLPACK.
    Ell {
        /// Order of the slots.
        order: Order,
    },
    /// ELLPACK plus COO.
    Hyb {
        /// Width of the ELLPACK part; Bell and Garland's rule when absent.
        width: Option<usize>,
        /// Order of the ELLPACK part's slots.
        order: Order,
    },
    /// Hacked ELLPACK.
    Hll(HllLayout),
}

impl FormatSpec {
    const HLL: HllLayout = HllLayout {
        hack_size: super::DEFAULT_HACK_SIZE,
        order: Order::RowMajor,
        sigma: 1,
        spill: None,
    };

    /// Every format with its default parameters, as `info` and the statistics list them.
    pub const DEFAULTS: [Self; 7] = [
        Self::Coo,
        Self::Csr,
        Self::Ell { order: Order::RowMajor },
        Self::Hyb { width: None, order: Order::RowMajor },
        Self::Hll(Self::HLL),
        Self::Hll(HllLayout { order: Order::ColumnMajor, ..Self::HLL }),
        Self::Hll(HllLayout {
            order: Order::ColumnMajor,
            sigma: super::DEFAULT_SIGMA,
            ..Self::HLL
        }),
    ];

    /// `coo`, `csr`, `ell`, `hyb`, `hll`; column-major orders have `-column-major` appended, sorted
    /// rows `-sigma`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Coo => "coo",
            Self::Csr => "csr",
            Self::Ell { order: Order::RowMajor } => "ell",
            Self::Ell { order: Order::ColumnMajor } => "ell-column-major",
            Self::Hyb { order: Order::RowMajor, .. } => "hyb",
            Self::Hyb { order: Order::ColumnMajor, .. } => "hyb-column-major",
            Self::Hll(layout) => match (layout.order, layout.sigma > 1) {
                (Order::RowMajor, false) => "hll",
                (Order::RowMajor, true) => "hll-sigma",
                (Order::ColumnMajor, false) => "hll-column-major",
                (Order::ColumnMajor, true) => "hll-column-major-sigma",
            },
        }
    }

    /// What `a` would occupy in this format, computed without building it. Sizes past `u64`
    /// saturate.
    pub fn size<T: Scalar>(&self, a: &Csr<T>) -> Result<FormatSize, FormatError> {
        let (rows, cols, nnz) = (a.rows(), a.cols(), a.nnz() as u64);
        let entry = 4 + T::BYTES as u128;
        let vectors = T::BYTES as u128 * (rows as u128 + cols as u128);
        let (slots, bytes, minimal_bytes) = match *self {
            Self::Csr => (nnz, u128::from(a.bytes()), u128::from(a.minimal_bytes())),
            Self::Coo => {
                let bytes = Coo::bytes_needed(a);
                (nnz, bytes, bytes + vectors)
            }
            Self::Ell { order } => {
                let shape = EllShape { rows, width: a.max_row_len(), order };
                let bytes = Ellpack::<T>::bytes_needed(rows, shape.width);
                (shape.slots(), bytes, Ellpack::<T>::minimal_bytes_of(&shape, cols))
            }
            Self::Hyb { width, order } => {
                let width = Hyb::width(a, width);
                let shape = EllShape { rows, width, order };
                let tail = Hyb::tail_len(a, width) as u64;
                let minimal = Ellpack::<T>::minimal_bytes_of(&shape, cols);
                let tail_bytes = u128::from(tail) * (4 + entry);
                (shape.slots() + tail, Hyb::bytes_needed(a, width), minimal + tail_bytes)
            }
            Self::Hll(layout) => {
                let (order, shape) = Hll::plan(a, layout)?;
                let slots = Hll::slots_of(a, &order, &shape);
                let minimal = Hll::minimal_bytes_of(a, &order, &shape);
                (slots, Hll::bytes_needed(a, &order, &shape), minimal)
            }
        };
        let saturate = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        Ok(FormatSize {
            format: self.name().to_owned(),
            bytes: saturate(bytes),
            slots,
            padding: if nnz == 0 { 1.0 } else { slots as f64 / nnz as f64 },
            minimal_bytes: saturate(minimal_bytes),
        })
    }

    /// Converts `a`. Fails before allocating when the result needs more than `limit`.
    pub fn build<T: Scalar>(
        &self,
        a: &Arc<Csr<T>>,
        limit: MemoryLimit,
    ) -> Result<AnyFormat<T>, FormatError> {
        Ok(match *self {
            Self::Csr => AnyFormat::Csr(Arc::clone(a)),
            Self::Coo => AnyFormat::Coo(Coo::from_csr(a, limit)?.into()),
            Self::Ell { order } => AnyFormat::Ell(Ellpack::from_csr(a, order, limit)?.into()),
            Self::Hyb { width, order } => {
                let width = Hyb::width(a, width);
                AnyFormat::Hyb(Hyb::from_csr(a, width, order, limit)?.into())
            }
            Self::Hll(layout) => AnyFormat::Hll(Hll::arranged(a, layout, limit)?.into()),
        })
    }
}

/// A matrix in one of the formats; cheap to clone.
#[derive(Clone, Debug)]
pub enum AnyFormat<T = f64> {
    /// Coordinates.
    Coo(Arc<Coo<T>>),
    /// Compressed sparse rows.
    Csr(Arc<Csr<T>>),
    /// ELLPACK.
    Ell(Arc<Ellpack<T>>),
    /// ELLPACK plus COO.
    Hyb(Arc<Hyb<T>>),
    /// Hacked ELLPACK.
    Hll(Arc<Hll<T>>),
}

impl<T: Scalar> AnyFormat<T> {
    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Coo(a) => a.bytes(),
            Self::Csr(a) => a.bytes(),
            Self::Ell(a) => a.bytes(),
            Self::Hyb(a) => a.bytes(),
            Self::Hll(a) => a.bytes(),
        }
    }

    /// Minimal bytes that one product moves.
    pub fn minimal_bytes(&self) -> u64 {
        match self {
            Self::Coo(a) => a.minimal_bytes(),
            Self::Csr(a) => a.minimal_bytes(),
            Self::Ell(a) => a.minimal_bytes(),
            Self::Hyb(a) => a.minimal_bytes(),
            Self::Hll(a) => a.minimal_bytes(),
        }
    }

    /// Back to CSR.
    pub fn to_csr(&self) -> Csr<T> {
        match self {
            Self::Coo(a) => a.to_csr(),
            Self::Csr(a) => Csr::clone(a),
            Self::Ell(a) => a.to_csr(),
            Self::Hyb(a) => a.to_csr(),
            Self::Hll(a) => a.to_csr(),
        }
    }
}
