//! Arrays of a matrix on the device, by format.

use std::time::Instant;

use sparsescope_core::matrix::{AnyFormat, Coded, CompactHll, Fours, Precision, RowOrder, RowPtr};
use sparsescope_core::parallel::Slices;

use crate::arguments::{Element, Stored};
use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError};
use crate::value::DeviceReal;

/// Row or slice offsets in the width that kernels use.
#[derive(Debug)]
pub(crate) enum Offsets {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

impl Offsets {
    pub(crate) fn of(device: &Device, what: &str, of: &RowPtr) -> Result<Self, DeviceError> {
        Ok(match of {
            RowPtr::Narrow(offsets) => Self::Narrow(Buffer::of(device, what, offsets)?),
            RowPtr::Wide(offsets) => Self::Wide(Buffer::of(device, what, offsets)?),
        })
    }

    /// Copies them to the host.
    pub(crate) fn to_host(&self, device: &Device) -> Result<RowPtr, DeviceError> {
        Ok(match self {
            Self::Narrow(buffer) => RowPtr::Narrow(buffer.to_host(device)?),
            Self::Wide(buffer) => RowPtr::Wide(buffer.to_host(device)?),
        })
    }

    /// Number of offsets.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(buffer) => buffer.len(),
            Self::Wide(buffer) => buffer.len(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Narrow(buffer) => buffer.bytes(),
            Self::Wide(buffer) => buffer.bytes(),
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        match self {
            Self::Narrow(buffer) => buffer.spent(),
            Self::Wide(buffer) => buffer.spent(),
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        match self {
            Self::Narrow(buffer) => buffer.memory(),
            Self::Wide(buffer) => buffer.memory(),
        }
    }
}

/// Columns and values of a format's slots.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    pub(crate) col: Buffer<u32>,
    pub(crate) val: Buffer<T>,
}

impl<T: Element> Slots<T> {
    pub(crate) fn of(device: &Device, col: &[u32], val: &[T]) -> Result<Self, DeviceError> {
        // Check both at once, so that a matrix that does not fit is refused before half of it is
        // copied.
        device.check_memory("the matrix", (size_of_val(col) + size_of_val(val)) as u64)?;
        let col = Buffer::of(device, "the columns", col)?;
        let val = Buffer::of(device, "the values", val)?;
        Ok(Self { col, val })
    }

    pub(crate) fn spent(&self) -> Spent {
        self.col.spent() + self.val.spent()
    }
}

/// Columns and values of a matrix whose values have half the bits of vectors and sums, in either
/// format.
#[derive(Debug)]
pub(crate) enum HalfSlots<T: DeviceReal> {
    Half(Slots<T::Half>),
    Other(Slots<T::OtherHalf>),
}

impl<T: DeviceReal> HalfSlots<T> {
    /// Fails for a precision that does not store such values. They are numbers of its format
    /// already.
    fn of(
        device: &Device,
        col: &[u32],
        val: &[T],
        precision: Precision,
    ) -> Result<Self, DeviceError> {
        match precision {
            _ if precision == <T::Half as Stored<T>>::TYPES => {
                Slots::of(device, col, &stored::<T, T::Half>(val)).map(Self::Half)
            }
            _ if precision == <T::OtherHalf as Stored<T>>::TYPES => {
                Slots::of(device, col, &stored::<T, T::OtherHalf>(val)).map(Self::Other)
            }
            _ => Err(DeviceError::Format(precision.as_str())),
        }
    }

    fn spent(&self) -> Spent {
        match self {
            Self::Half(slots) => slots.spent(),
            Self::Other(slots) => slots.spent(),
        }
    }
}

/// The values of a matrix as another type.
fn stored<T: DeviceReal, V: Stored<T>>(val: &[T]) -> Vec<V> {
    val.par_iter().map(|&value| V::of(value)).collect()
}

/// The arrays of a format on the device; `OfHalves` is CSR or BSR, whose values have half the bits.
#[derive(Debug)]
pub(crate) enum Arrays<T: DeviceReal> {
    Csr { row_ptr: Offsets, slots: Slots<T> },
    OfHalves { row_ptr: Offsets, slots: HalfSlots<T> },
    Coo { row: Buffer<u32>, slots: Slots<T> },
    Ell { row_len: Buffer<u32>, slots: Slots<T> },
    Hyb { row_len: Buffer<u32>, ell: Slots<T>, row: Buffer<u32>, tail: Slots<T> },
    Hll { offsets: Buffer<u64>, max_nzr: Buffer<u32>, slots: Slots<T> },
    Bsr { row_ptr: Offsets, slots: Slots<T> },
    Dia { offsets: Buffer<u64>, val: Buffer<T> },
    Compact(Box<Groups<T>>),
}

impl<T: DeviceReal> Arrays<T> {
    /// Time spent on uploading them.
    pub(crate) fn spent(&self) -> Spent {
        match self {
            Self::Csr { row_ptr, slots } => row_ptr.spent() + slots.spent(),
            Self::OfHalves { row_ptr, slots } => row_ptr.spent() + slots.spent(),
            Self::Coo { row, slots } => row.spent() + slots.spent(),
            Self::Ell { row_len, slots } => row_len.spent() + slots.spent(),
            Self::Hyb { row_len, ell, row, tail } => {
                row_len.spent() + ell.spent() + row.spent() + tail.spent()
            }
            Self::Hll { offsets, max_nzr, slots } => {
                offsets.spent() + max_nzr.spent() + slots.spent()
            }
            Self::Bsr { row_ptr, slots } => row_ptr.spent() + slots.spent(),
            Self::Dia { offsets, val } => offsets.spent() + val.spent(),
            Self::Compact(groups) => groups.spent(),
        }
    }

    /// A format as a precision stores it, whose values have been rounded to it.
    pub(crate) fn in_precision(
        device: &Device,
        host: &AnyFormat<T>,
        precision: Precision,
    ) -> Result<Self, DeviceError> {
        let (row_ptr, col, val) = match host {
            _ if precision.values() == precision.vectors() => return Self::of(device, host),
            AnyFormat::Csr(a) => (a.row_ptr(), a.col(), a.val()),
            AnyFormat::Bsr(a) => (a.row_ptr(), a.col(), a.val()),
            AnyFormat::HllCompact(a) => return Self::compact(device, a, precision),
            _ => return Self::of(device, host),
        };
        Ok(Self::OfHalves {
            slots: HalfSlots::of(device, col, val, precision)?,
            row_ptr: Offsets::of(device, "the row offsets", row_ptr)?,
        })
    }

    fn compact(
        device: &Device,
        a: &CompactHll<T>,
        precision: Precision,
    ) -> Result<Self, DeviceError> {
        Groups::of(device, a, precision).map(|groups| Self::Compact(Box::new(groups)))
    }

    pub(crate) fn of(device: &Device, host: &AnyFormat<T>) -> Result<Self, DeviceError> {
        let lengths = |of: &[u32]| Buffer::of(device, "the row lengths", of);
        Ok(match host {
            AnyFormat::Csr(a) => Arrays::Csr {
                slots: Slots::of(device, a.col(), a.val())?,
                row_ptr: Offsets::of(device, "the row offsets", a.row_ptr())?,
            },
            AnyFormat::Coo(a) => Arrays::Coo {
                slots: Slots::of(device, a.col(), a.val())?,
                row: Buffer::of(device, "the row indices", a.row())?,
            },
            AnyFormat::Ell(a) => Arrays::Ell {
                slots: Slots::of(device, a.col(), a.val())?,
                row_len: lengths(a.row_len())?,
            },
            AnyFormat::Hyb(a) => Arrays::Hyb {
                ell: Slots::of(device, a.ell().col(), a.ell().val())?,
                row_len: lengths(a.ell().row_len())?,
                tail: Slots::of(device, a.tail().col(), a.tail().val())?,
                row: Buffer::of(device, "the row indices", a.tail().row())?,
            },
            AnyFormat::Hll(a) => Arrays::Hll {
                slots: Slots::of(device, a.col(), a.val())?,
                offsets: Buffer::of(device, "the hack offsets", a.shape().offsets())?,
                max_nzr: Buffer::of(device, "the hack widths", a.shape().max_nzr())?,
            },
            AnyFormat::Bsr(a) => Arrays::Bsr {
                slots: Slots::of(device, a.col(), a.val())?,
                row_ptr: Offsets::of(device, "the offsets of rows of blocks", a.row_ptr())?,
            },
            AnyFormat::Dia(a) => {
                let offsets: Vec<u64> = a.offsets().iter().map(|&offset| offset as u64).collect();
                Arrays::Dia {
                    offsets: Buffer::of(device, "the offsets of diagonals", &offsets)?,
                    val: Buffer::of(device, "the diagonals", a.val())?,
                }
            }
            AnyFormat::CsrCompact(_) => return Err(DeviceError::Format("compact CSR")),
            AnyFormat::HllCompact(a) => Self::compact(device, a, T::PRECISION)?,
        })
    }
}

/// Column-major HLL for kernels that take rows in any order: rows in hacks, and rows kept apart.
pub(crate) struct Hacks<T> {
    pub(crate) order: RowOrder,
    /// Rows per hack.
    pub(crate) hack_size: usize,
    /// First slot of each hack, followed by the number of slots.
    pub(crate) offsets: Buffer<u64>,
    /// By position in the hacks.
    pub(crate) row_len: Buffer<u32>,
    /// The row of each position; empty where every row is at its own.
    pub(crate) row_of: Buffer<u32>,
    pub(crate) slots: Slots<T>,
    /// The rows kept apart, in CSR.
    pub(crate) tail_ptr: Buffer<u64>,
    pub(crate) tail: Slots<T>,
    /// Seconds spent on planning and on filling the slots.
    pub(crate) seconds: f64,
    /// Seconds spent on the device on transposing what they were made from; 0 if it was not.
    pub(crate) transposition_s: f64,
}

impl<T: DeviceReal> Hacks<T> {
    /// Stored slots, padding included.
    pub(crate) fn slot_count(&self) -> u64 {
        self.slots.val.len() as u64
    }

    /// Time spent on uploading them.
    pub(crate) fn spent(&self) -> Spent {
        let tail = self.tail_ptr.spent() + self.tail.spent();
        self.offsets.spent()
            + self.row_len.spent()
            + self.row_of.spent()
            + self.slots.spent()
            + tail
    }
}

/// Values in groups of four slots. Those of a dictionary have the type of vectors and sums in every
/// precision.
#[derive(Debug)]
pub(crate) enum GroupValues<T: DeviceReal> {
    Plain(Buffer<T>),
    Half(Buffer<T::Half>),
    OtherHalf(Buffer<T::OtherHalf>),
    Byte { codes: Buffer<u8>, dictionary: Buffer<T> },
    Short { codes: Buffer<u16>, dictionary: Buffer<T> },
}

impl<T: DeviceReal> GroupValues<T> {
    fn of(device: &Device, values: &Coded<T>, precision: Precision) -> Result<Self, DeviceError> {
        let (plain, codes, distinct) = ("the values", "the codes of values", "the distinct values");
        Ok(match values {
            Coded::Plain(val) if precision == <T::Half as Stored<T>>::TYPES => {
                Self::Half(Buffer::of(device, plain, &stored::<T, T::Half>(val))?)
            }
            Coded::Plain(val) if precision == <T::OtherHalf as Stored<T>>::TYPES => {
                Self::OtherHalf(Buffer::of(device, plain, &stored::<T, T::OtherHalf>(val))?)
            }
            Coded::Plain(val) => Self::Plain(Buffer::of(device, plain, val)?),
            Coded::Byte { codes: of, table } => Self::Byte {
                codes: Buffer::of(device, codes, of)?,
                dictionary: Buffer::of(device, distinct, table)?,
            },
            Coded::Short { codes: of, table } => Self::Short {
                codes: Buffer::of(device, codes, of)?,
                dictionary: Buffer::of(device, distinct, table)?,
            },
        })
    }

    fn spent(&self) -> Spent {
        match self {
            Self::Plain(val) => val.spent(),
            Self::Half(val) => val.spent(),
            Self::OtherHalf(val) => val.spent(),
            Self::Byte { codes, dictionary } => codes.spent() + dictionary.spent(),
            Self::Short { codes, dictionary } => codes.spent() + dictionary.spent(),
        }
    }
}

/// Compact HLL in groups of four slots.
#[derive(Debug)]
pub(crate) struct Groups<T: DeviceReal> {
    /// The row of each position; empty where every row is at its own.
    pub(crate) row_of: Buffer<u32>,
    pub(crate) group_ptr: Buffer<u32>,
    pub(crate) base: Buffer<u32>,
    pub(crate) low: Buffer<u16>,
    pub(crate) high: Buffer<u16>,
    pub(crate) values: GroupValues<T>,
    pub(crate) bytes: u64,
    /// Seconds spent on packing slots into groups.
    pub(crate) seconds: f64,
}

impl<T: DeviceReal> Groups<T> {
    fn of(device: &Device, a: &CompactHll<T>, precision: Precision) -> Result<Self, DeviceError> {
        let start = Instant::now();
        let fours = Fours::of(a).map_err(|error| DeviceError::Arrays(error.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        let saved = match fours.values() {
            Coded::Plain(val) => val.len() as u64 * (T::BYTES as u64 - precision.values().bytes()),
            Coded::Byte { .. } | Coded::Short { .. } => 0,
        };
        let bytes = fours.bytes() - saved;
        device.check_memory("the matrix", bytes)?;
        let values = GroupValues::of(device, fours.values(), precision)?;
        Ok(Self {
            row_of: Buffer::of(device, "the order of rows", a.row_order().row_of().unwrap_or(&[]))?,
            group_ptr: Buffer::of(device, "the groups of hacks", fours.group_ptr())?,
            base: Buffer::of(device, "the base columns", fours.base())?,
            low: Buffer::of(device, "the distances of columns", fours.low())?,
            high: Buffer::of(device, "the upper halves of columns", fours.high())?,
            values,
            bytes: bytes + a.row_order().bytes(),
            seconds,
        })
    }

    fn spent(&self) -> Spent {
        let columns = self.base.spent() + self.low.spent() + self.high.spent();
        self.row_of.spent() + self.group_ptr.spent() + columns + self.values.spent()
    }
}
