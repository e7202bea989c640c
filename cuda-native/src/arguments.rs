//! Arguments of the kernels in `kernels/`: one argument list per signature, by type and name.

use std::fmt::Debug;

use cudarc::driver::DeviceRepr;
use sparsescope_core::matrix::{Offset, Precision, Real, bf16_bits, f16_bits};

use crate::buffer::{Buffer, Memory};
use crate::kernels::{Family, Variant};

/// An element of kernel arrays.
///
/// # Safety
/// Its layout is that of `C_TYPE` in the sources, and every bit pattern is valid.
pub unsafe trait Element: DeviceRepr + Send + Sync + 'static {
    /// The type in the sources, with `real` and `offset` as set by the build options.
    #[cfg(test)]
    const C_TYPE: &'static str;
}

/// Elements that kernels compute with but never index by: no value makes a kernel access other
/// memory.
pub trait Value: Element + Debug {}

/// Two values that a thread moves at once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Double2([f64; 2]);

// SAFETY: two f64, as in CUDA's own type.
unsafe impl DeviceRepr for Double2 {}

/// 128 bits, which a thread moves at once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Uint4([u32; 4]);

// SAFETY: four u32, as in CUDA's own type.
unsafe impl DeviceRepr for Uint4 {}

/// A bfloat16.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Bf16(u16);

// SAFETY: 16 bits, all of whose patterns are numbers.
unsafe impl DeviceRepr for Bf16 {}

/// An IEEE binary16.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F16(u16);

// SAFETY: as above.
unsafe impl DeviceRepr for F16 {}

macro_rules! elements {
    ($($type:ty = $name:literal,)*) => {$(
        // SAFETY: `common.cuh` and CUDA have these types in these widths; none has invalid bits.
        unsafe impl Element for $type {
            #[cfg(test)]
            const C_TYPE: &'static str = $name;
        }
    )*};
}
elements! {
    u8 = "u8", u16 = "u16", u32 = "u32", u64 = "u64", f32 = "float", f64 = "double", Double2 = "double2",
    Uint4 = "uint4", Bf16 = "bf16", F16 = "f16",
}

impl Value for f32 {}
impl Value for f64 {}
impl Value for Double2 {}
impl Value for Bf16 {}
impl Value for F16 {}

/// A value of a matrix as kernels load it and widen it to `T`, the type of vectors and sums.
pub trait Stored<T>: Value {
    /// The precision with these types.
    const TYPES: Precision;

    /// A value that this type has, or the nearest.
    fn of(value: T) -> Self;
}

impl Stored<f64> for f64 {
    const TYPES: Precision = Precision::F64;
    fn of(value: f64) -> Self {
        value
    }
}

impl Stored<f32> for f32 {
    const TYPES: Precision = Precision::F32;
    fn of(value: f32) -> Self {
        value
    }
}

impl Stored<f64> for f32 {
    const TYPES: Precision = Precision::F32F64;
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Stored<f32> for Bf16 {
    const TYPES: Precision = Precision::Bf16F32;
    fn of(value: f32) -> Self {
        Self(bf16_bits(value))
    }
}

impl Stored<f32> for F16 {
    const TYPES: Precision = Precision::F16F32;
    fn of(value: f32) -> Self {
        Self(f16_bits(value))
    }
}

/// An array that a kernel reads.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'a, T>(pub(crate) &'a Buffer<T>);

/// An array that a kernel writes and may read.
#[derive(Clone, Copy)]
pub(crate) struct Writes<'a, T>(pub(crate) &'a Buffer<T>);

/// One argument.
///
/// # Safety
/// The low bytes of `word` are a parameter of type `c_type`; `memory` keeps alive what they point
/// to.
pub(crate) unsafe trait Argument {
    fn word(&self) -> u64;
    fn memory(&self) -> Option<Memory> {
        None
    }
    #[cfg(test)]
    fn c_type() -> String
    where
        Self: Sized;
}

// SAFETY: a 32-bit number; device and host are little-endian.
unsafe impl Argument for u32 {
    fn word(&self) -> u64 {
        u64::from(*self)
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: a 64-bit number.
unsafe impl Argument for u64 {
    fn word(&self) -> u64 {
        *self
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: a 64-bit number.
unsafe impl Argument for f64 {
    fn word(&self) -> u64 {
        self.to_bits()
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: an address of elements of that layout, in memory that is kept alive.
unsafe impl<T: Element> Argument for Reads<'_, T> {
    fn word(&self) -> u64 {
        self.0.address()
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.0.memory())
    }
    #[cfg(test)]
    fn c_type() -> String {
        format!("const {}*", T::C_TYPE)
    }
}

// SAFETY: as above.
unsafe impl<T: Element> Argument for Writes<'_, T> {
    fn word(&self) -> u64 {
        self.0.address()
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.0.memory())
    }
    #[cfg(test)]
    fn c_type() -> String {
        format!("{}*", T::C_TYPE)
    }
}

/// The argument list of one or more kernels.
///
/// # Safety
/// In `VARIANT` each of `FUNCTIONS` has as many parameters as `list` returns arguments, each of its
/// argument's type.
pub(crate) unsafe trait Arguments {
    /// The source and its build options.
    const VARIANT: Variant;
    /// The functions with this list.
    const FUNCTIONS: &'static [&'static str];
    /// The arguments in order.
    fn list(&self) -> Vec<&dyn Argument>;
    /// Types and names of the parameters.
    #[cfg(test)]
    fn parameters() -> Vec<(String, &'static str)>;
}

/// Bits of CSR's row offsets: those of a type, or the default of a source without offsets.
macro_rules! offset_bits {
    () => {
        Variant::NO_OFFSETS
    };
    ($offset:ident) => {
        8 * <$offset as Offset>::BYTES as u32
    };
}

/// Precision of the values: that of a type, or of a type and that of stored values, or the default
/// of a source without values.
macro_rules! precision {
    () => {
        Variant::NO_VALUES
    };
    ($value:ident) => {
        <$value as Real>::PRECISION
    };
    ($value:ident $stored:ident) => {
        <$stored as Stored<$value>>::TYPES
    };
}

macro_rules! arguments {
    ($(
        $(#[$doc:meta])*
        $name:ident <
            $($a:lifetime)? $(, real $value:ident $(from $stored:ident)?)? $(, offset $offset:ident)?
        >
        of $family:ident [$($function:ident),+]
        ($($parameter:ident: $type:ty),*)
    )*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<
            $($a,)? $($value: Real + Value, $($stored: Stored<$value>,)?)?
            $($offset: Offset + Element)?
        > {
            $(pub(crate) $parameter: $type),*
        }

        // SAFETY: the test below compares the list with the functions' signatures.
        unsafe impl<
            $($a,)? $($value: Real + Value, $($stored: Stored<$value>,)?)?
            $($offset: Offset + Element)?
        > Arguments for $name<$($a,)? $($value, $($stored,)?)? $($offset)?>
        {
            const VARIANT: Variant = Variant {
                family: Family::$family,
                precision: precision!($($value $($stored)?)?),
                offset_bits: offset_bits!($($offset)?),
                width: Variant::NO_WIDTH,
                scale: Variant::NO_SCALE,
            };
            const FUNCTIONS: &'static [&'static str] = &[$(stringify!($function)),+];
            fn list(&self) -> Vec<&dyn Argument> {
                vec![$(&self.$parameter as &dyn Argument),*]
            }
            #[cfg(test)]
            fn parameters() -> Vec<(String, &'static str)> {
                vec![$((<$type as Argument>::c_type(), stringify!($parameter))),*]
            }
        }
    )*};
}

mod dense;
mod fsai;
mod pcg;
mod skyline;
mod spmv;

pub(crate) use dense::*;
pub(crate) use fsai::*;
pub(crate) use pcg::*;
pub(crate) use skyline::*;
pub(crate) use spmv::*;

arguments! {
    /// y = A·x in CSR.
    Csr<'a, real T from V, offset O> of Csr [
        csr_thread_per_row, csr_warp_shuffle, csr_warp_shared, csr_warp_ldg, csr_vector_mining,
        csr_lanes_2x4, csr_lanes_4x4, csr_lanes_8x6, csr_lanes_16x6, csr_lanes_32x6
    ] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, V>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in ELLPACK, all rows as wide as the longest.
    EllOfWidth<'a, real T> of Ell [ell_thread_per_row] (
        rows: u32, width: u32, col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>,
        y: Writes<'a, T>
    )

    /// y = A·x in ELLPACK, each row up to its own length.
    EllOfLengths<'a, real T> of Ell [ell_column_major] (
        rows: u32, row_len: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in HLL.
    Hll<'a, real T> of Hll [hll_thread_per_hack, hll_thread_per_row, hll_warp_per_row] (
        rows: u32, hack_size: u32, hacks: u32, offsets: Reads<'a, u64>, max_nzr: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same, plus the length of x.
    HllSharedX<'a, real T> of Hll [hll_shared_x] (
        rows: u32, hack_size: u32, hacks: u32, offsets: Reads<'a, u64>, max_nzr: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>, cols: u32
    )

    /// y ← beta·y.
    CooBegin<'a, real T> of Coo [coo_begin] (rows: u32, y: Writes<'a, T>)

    /// y ← y + A·x in COO, except the carries of spans.
    CooSegmented<'a, real T> of Coo [coo_segmented] (
        entries: u64, span: u64, row: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>, carry_row: Writes<'a, u32>,
        carry_sum: Writes<'a, T>
    )

    /// y ← y + the carries of spans.
    CooCarry<'a, real T> of Coo [coo_carry] (
        spans: u64, carry_row: Reads<'a, u32>, carry_sum: Reads<'a, T>, y: Writes<'a, T>
    )

    /// b = a.
    MemoryCopy<'a> of Memory [memory_copy] (
        pairs: u64, a: Reads<'a, Double2>, b: Writes<'a, Double2>
    )

    /// c = a + s·b.
    MemoryTriad<'a> of Memory [memory_triad] (
        pairs: u64, a: Reads<'a, Double2>, b: Reads<'a, Double2>, c: Writes<'a, Double2>, s: f64
    )

    /// Reads a, which is zero.
    MemoryRead<'a> of Memory [memory_read] (
        pairs: u64, a: Reads<'a, Double2>, never: Writes<'a, Double2>
    )

    /// Empty kernel.
    MemoryNothing<> of Memory [memory_nothing] ()

    /// One sweep in matrix order, one thread per row.
    SweepOfThreads<'a, real T, offset O> of Symgs [symgs_sync_free_thread] (
        rows: u32, backward: u32, form: u32, row_ptr: Reads<'a, O>, below: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, rhs: Reads<'a, T>, old: Reads<'a, T>,
        sums: Writes<'a, T>, out: Writes<'a, T>, ticket: Writes<'a, u32>,
        stuck: Writes<'a, u32>
    )

    /// One sweep in a given order, several lanes per row.
    SweepOfRows<'a, real T, offset O> of Symgs [symgs_sync_free_rows] (
        rows: u32, order: Reads<'a, u32>, backward: u32, form: u32, row_ptr: Reads<'a, O>,
        below: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>, rhs: Reads<'a, T>,
        old: Reads<'a, T>, sums: Writes<'a, T>, out: Writes<'a, T>, ticket: Writes<'a, u32>,
        stuck: Writes<'a, u32>
    )

    /// Right-hand sides of half a sweep without the elements that it finds.
    SweepRest<'a, real T, offset O> of SymgsNodes [symgs_nodes_rest] (
        rows: u32, backward: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, T>,
        rhs: Reads<'a, T>, old: Reads<'a, T>, sums: Writes<'a, T>
    )

    /// The other elements, one warp per node in a given order.
    SweepOfNodes<'a, real T, offset O> of SymgsNodes [symgs_nodes] (
        nodes: u32, node_ptr: Reads<'a, u32>, order: Reads<'a, u32>, backward: u32,
        row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, T>, sums: Reads<'a, T>,
        out: Writes<'a, T>, ticket: Writes<'a, u32>, stuck: Writes<'a, u32>
    )

    /// Marks the rows that are ready.
    Ready<'a, offset O> of SymgsPlan [symgs_ready] (
        rows: u32, backward: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, done: Reads<'a, u8>,
        ready: Writes<'a, u8>
    )

    /// Processes those rows.
    ReadyDone<'a, real T, offset O> of Symgs [symgs_ready_done] (
        rows: u32, backward: u32, smoother: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        val: Reads<'a, T>, rhs: Reads<'a, T>, old: Reads<'a, T>, out: Writes<'a, T>,
        ready: Reads<'a, u8>, done: Writes<'a, u8>, count: Writes<'a, u32>
    )

    /// Lists the rows that are ready.
    ReadyList<'a, offset O> of SymgsPlan [symgs_ready_list] (
        rows: u32, backward: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, done: Reads<'a, u8>,
        list: Writes<'a, u32>, count: Writes<'a, u32>
    )

    /// Processes the rows of the list.
    ReadyCompact<'a, real T, offset O> of Symgs [symgs_ready_compact] (
        listed: u32, list: Reads<'a, u32>, backward: u32, smoother: u32, row_ptr: Reads<'a, O>,
        col: Reads<'a, u32>, val: Reads<'a, T>, rhs: Reads<'a, T>, old: Reads<'a, T>,
        out: Writes<'a, T>, done: Writes<'a, u8>
    )

    /// CSR into slices.
    FillSlices<'a, real T, offset O> of Symgs [symgs_fill] (
        slices: u32, by_place: u32, row_at: Reads<'a, u32>, place_of: Reads<'a, u32>,
        row_ptr: Reads<'a, O>, below: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        before_ptr: Reads<'a, u32>, after_ptr: Reads<'a, u32>, before_col: Writes<'a, u32>,
        before_val: Writes<'a, T>, after_col: Writes<'a, u32>, after_val: Writes<'a, T>,
        diagonal: Writes<'a, T>
    )

    /// Some levels of one sweep.
    SweepOfLevels<'a, real T> of SymgsSlices [symgs_levels] (
        first: u32, last: u32, levels: u32, backward: u32, form: u32,
        level_ptr: Reads<'a, u32>, before_ptr: Reads<'a, u32>, before_col: Reads<'a, u32>,
        before_val: Reads<'a, T>, after_ptr: Reads<'a, u32>, after_col: Reads<'a, u32>,
        after_val: Reads<'a, T>, diagonal: Reads<'a, T>, rhs: Reads<'a, T>, old: Reads<'a, T>,
        sums: Writes<'a, T>, out: Writes<'a, T>, arrived: Writes<'a, u32>,
        stuck: Writes<'a, u32>
    )

    /// One colour, in place.
    SweepOfColor<'a, real T> of SymgsSlices [symgs_colored] (
        begin: u32, end: u32, backward: u32, form: u32, before_ptr: Reads<'a, u32>,
        before_col: Reads<'a, u32>, before_val: Reads<'a, T>, after_ptr: Reads<'a, u32>,
        after_col: Reads<'a, u32>, after_val: Reads<'a, T>, diagonal: Reads<'a, T>,
        rhs: Reads<'a, T>, sums: Writes<'a, T>, x: Writes<'a, T>
    )

    /// Reorders a vector from rows to places.
    ToPlaces<'a, real T> of SymgsSlices [symgs_to_places] (
        places: u64, row_at: Reads<'a, u32>, x: Reads<'a, T>, by_place: Writes<'a, T>
    )

    /// Reorders a vector from places to rows.
    FromPlaces<'a, real T> of SymgsSlices [symgs_from_places] (
        rows: u32, place_of: Reads<'a, u32>, by_place: Reads<'a, T>, x: Writes<'a, T>
    )

    /// One sweep over slices in level order.
    SweepOfSlices<'a, real T> of SymgsWaiting [
        symgs_sync_free_forward, symgs_sync_free_backward
    ] (
        slices: u32, form: u32, made_ptr: Reads<'a, u32>, made_col: Reads<'a, u32>,
        made_val: Reads<'a, T>, found_ptr: Reads<'a, u32>, found_col: Reads<'a, u32>,
        found_val: Reads<'a, T>, diagonal: Reads<'a, T>, rhs: Reads<'a, T>, old: Reads<'a, T>,
        sums: Writes<'a, T>, out: Writes<'a, T>, gates: Reads<'a, u32>, stuck: Writes<'a, u32>
    )

    /// Facts about each row and about all.
    PlanRows<'a, offset O> of SymgsPlan [symgs_plan_rows] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, seed: u64, below: Writes<'a, u32>,
        pending: Writes<'a, u32>, first: Writes<'a, u32>, firsts: Writes<'a, u32>,
        facts: Writes<'a, u64>
    )

    /// Levels and colours of a symmetric structure.
    PlanWave<'a, offset O> of SymgsPlan [symgs_plan_wave] (
        rows: u32, room: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        pending: Writes<'a, u32>, packed: Writes<'a, u32>, tails: Writes<'a, u32>,
        queue: Writes<'a, u32>, deepest: Writes<'a, u32>, stuck: Writes<'a, u32>
    )

    /// Counts the earlier rows that hold each row.
    PlanAbove<'a, offset O> of SymgsPlan [symgs_plan_above] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, pending: Writes<'a, u32>
    )

    /// Levels of any structure, or colours of one without nonzeros after the diagonal.
    PlanLevels<'a, offset O> of SymgsPlan [symgs_plan_levels] (
        rows: u32, colors: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>,
        pending: Writes<'a, u32>, pushed: Writes<'a, u32>, key: Writes<'a, u32>,
        highest: Writes<'a, u32>, ticket: Writes<'a, u32>, stuck: Writes<'a, u32>
    )

    /// Counts the nonzeros of each row whose columns come earlier in group order.
    PlanEarlier<'a, offset O> of SymgsPlan [symgs_plan_earlier] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, key: Reads<'a, u32>,
        earlier: Writes<'a, u32>
    )

    /// Slots of each slice.
    PlanWidths<'a, offset O> of SymgsPlan [symgs_plan_widths] (
        slices: u32, row_at: Reads<'a, u32>, row_ptr: Reads<'a, O>, below: Reads<'a, u32>,
        before: Writes<'a, u32>, after: Writes<'a, u32>
    )

    /// Queues with the rows without dependencies.
    OrderOpen<'a> of SymgsOrder [symgs_order_open] (
        rows: u32, first: Reads<'a, u32>, firsts: Reads<'a, u32>, queues: u32, room: u32,
        tails: Writes<'a, u32>, queue: Writes<'a, u32>
    )

    /// Level or colour of each row.
    OrderUnpack<'a> of SymgsOrder [symgs_order_unpack] (
        rows: u32, colors: u32, packed: Reads<'a, u32>, key: Writes<'a, u32>,
        highest: Writes<'a, u32>
    )

    /// Counts the rows with each number.
    OrderCount<'a> of SymgsOrder [symgs_order_count] (
        rows: u32, key: Reads<'a, u32>, counts: Writes<'a, u32>
    )

    /// Sums of blocks.
    OrderSums<'a> of SymgsOrder [symgs_order_sums] (
        n: u32, from: Reads<'a, u32>, sums: Writes<'a, u32>
    )

    /// Prefix sums of those.
    OrderStarts<'a> of SymgsOrder [symgs_order_starts] (n: u32, sums: Writes<'a, u32>)

    /// Exclusive prefix sum of all numbers.
    OrderScan<'a> of SymgsOrder [symgs_order_scan] (
        n: u32, from: Reads<'a, u32>, sums: Reads<'a, u32>, out: Writes<'a, u32>
    )

    /// Histogram of digits.
    OrderDigits<'a> of SymgsOrder [symgs_order_digits] (
        n: u32, key: Reads<'a, u32>, shift: u32, table: Writes<'a, u32>
    )

    /// Sorts rows by a digit.
    OrderSort<'a> of SymgsOrder [symgs_order_sort] (
        n: u32, shift: u32, numbered: u32, key: Reads<'a, u32>, from: Reads<'a, u32>,
        table: Reads<'a, u32>, key_out: Writes<'a, u32>, out: Writes<'a, u32>
    )

    /// Slices of each group.
    OrderSlices<'a> of SymgsOrder [symgs_order_slices] (
        groups: u32, group_ptr: Reads<'a, u32>, slices: Writes<'a, u32>
    )

    /// Row-to-place and place-to-row maps.
    OrderPlaces<'a> of SymgsOrder [symgs_order_places] (
        rows: u32, sorted: Reads<'a, u32>, key: Reads<'a, u32>, group_ptr: Reads<'a, u32>,
        slice_ptr: Reads<'a, u32>, row_at: Writes<'a, u32>, place_of: Writes<'a, u32>
    )

    /// Gates of each slice.
    OrderGates<'a> of SymgsOrder [symgs_order_gates] (
        levels: u32, back: u32, level_ptr: Reads<'a, u32>, slice_ptr: Reads<'a, u32>,
        forward: Writes<'a, u32>, backward: Writes<'a, u32>
    )
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
