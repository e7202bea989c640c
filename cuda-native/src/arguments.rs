//! What the kernels of `kernels/` are given: an argument list for each signature, by type and name.

use cudarc::driver::DeviceRepr;
use sparsescope_core::matrix::{Offset, Real};

use crate::buffer::{Buffer, Memory};
use crate::kernels::{Family, Variant};

/// An element of arrays that kernels take.
///
/// # Safety
/// It is laid out as `C_TYPE` is in the sources, and any bits are one.
pub(crate) unsafe trait Element: DeviceRepr + 'static {
    /// The type in the sources, `real` and `offset` as the build options have them.
    #[cfg(test)]
    const C_TYPE: &'static str;
}

/// Elements that kernels compute with and never index by: whatever they hold, no kernel reads or
/// writes elsewhere for it.
pub(crate) trait Value: Element {}

/// Two values that a thread moves at once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Double2([f64; 2]);

// SAFETY: two f64, as in CUDA's own type.
unsafe impl DeviceRepr for Double2 {}

macro_rules! elements {
    ($($type:ty = $name:literal,)*) => {$(
        // SAFETY: `common.cuh` and CUDA have these types in these widths; none has invalid bits.
        unsafe impl Element for $type {
            #[cfg(test)]
            const C_TYPE: &'static str = $name;
        }
    )*};
}
elements! { u32 = "u32", u64 = "u64", f32 = "float", f64 = "double", Double2 = "double2", }

impl Value for f32 {}
impl Value for f64 {}
impl Value for Double2 {}

/// An array that a kernel reads.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'a, T>(pub(crate) &'a Buffer<T>);

/// An array that a kernel writes, and may read.
#[derive(Clone, Copy)]
pub(crate) struct Writes<'a, T>(pub(crate) &'a Buffer<T>);

/// One argument.
///
/// # Safety
/// The low bytes of `word` are what a parameter of the type `c_type` takes; `memory` keeps what
/// they point to.
unsafe trait Argument {
    fn word(&self) -> u64;
    fn memory(&self) -> Option<Memory> {
        None
    }
    #[cfg(test)]
    fn c_type() -> String;
}

// SAFETY: a number of 32 bits; device and host are little-endian.
unsafe impl Argument for u32 {
    fn word(&self) -> u64 {
        u64::from(*self)
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: a number of 64 bits.
unsafe impl Argument for u64 {
    fn word(&self) -> u64 {
        *self
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: a number of 64 bits.
unsafe impl Argument for f64 {
    fn word(&self) -> u64 {
        self.to_bits()
    }
    #[cfg(test)]
    fn c_type() -> String {
        Self::C_TYPE.to_owned()
    }
}

// SAFETY: an address of elements of that layout, in memory that is kept.
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

/// The argument list of some kernels.
///
/// # Safety
/// In `VARIANT` every one of `FUNCTIONS` has as many parameters as `words` gives words, each of its
/// word's type. `memory` keeps what they point to.
pub(crate) unsafe trait Arguments {
    /// The source, and what it is built for.
    const VARIANT: Variant;
    /// The functions with this list.
    const FUNCTIONS: &'static [&'static str];
    /// Each argument in the low bytes of a word.
    fn words(&self) -> Vec<u64>;
    /// The memory that they lie in.
    fn memory(&self) -> Vec<Memory>;
    /// Types and names of the parameters.
    #[cfg(test)]
    fn parameters() -> Vec<(String, &'static str)>;
}

/// Bits of CSR's row offsets: those of a type, or those that a source without offsets is built for.
macro_rules! offset_bits {
    () => {
        Variant::NO_OFFSETS
    };
    ($offset:ident) => {
        8 * <$offset as Offset>::BYTES as u32
    };
}

/// Precision of the values: that of a type, or the one that a source without values is built for.
macro_rules! precision {
    () => {
        Variant::NO_VALUES
    };
    ($value:ident) => {
        <$value as Real>::PRECISION
    };
}

macro_rules! arguments {
    ($(
        $(#[$doc:meta])*
        $name:ident <$($a:lifetime)? $(, real $value:ident)? $(, offset $offset:ident)?>
        of $family:ident [$($function:ident),+]
        ($($parameter:ident: $type:ty),*)
    )*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<$($a,)? $($value: Real + Value,)? $($offset: Offset + Element)?> {
            $(pub(crate) $parameter: $type),*
        }

        // SAFETY: the test below holds the list against the functions' signatures.
        unsafe impl<$($a,)? $($value: Real + Value,)? $($offset: Offset + Element)?> Arguments
            for $name<$($a,)? $($value,)? $($offset)?>
        {
            const VARIANT: Variant = Variant {
                family: Family::$family,
                precision: precision!($($value)?),
                offset_bits: offset_bits!($($offset)?),
            };
            const FUNCTIONS: &'static [&'static str] = &[$(stringify!($function)),+];
            fn words(&self) -> Vec<u64> {
                vec![$(self.$parameter.word()),*]
            }
            fn memory(&self) -> Vec<Memory> {
                let all: Vec<Option<Memory>> = vec![$(self.$parameter.memory()),*];
                all.into_iter().flatten().collect()
            }
            #[cfg(test)]
            fn parameters() -> Vec<(String, &'static str)> {
                vec![$((<$type as Argument>::c_type(), stringify!($parameter))),*]
            }
        }
    )*};
}

arguments! {
    /// y = A·x in CSR.
    Csr<'a, real T, offset O> of Csr [
        csr_thread_per_row, csr_warp_shuffle, csr_warp_shared, csr_warp_ldg, csr_vector_mining
    ] (
        rows: u32, row_ptr: Reads<'a, O>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in ELLPACK, as wide as the longest row.
    EllOfWidth<'a, real T> of Ell [ell_thread_per_row] (
        rows: u32, width: u32, col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>,
        y: Writes<'a, T>
    )

    /// y = A·x in ELLPACK, each row to its own length.
    EllOfLengths<'a, real T> of Ell [ell_column_major] (
        rows: u32, row_len: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// y = A·x in HLL.
    Hll<'a, real T> of Hll [hll_thread_per_hack, hll_thread_per_row, hll_warp_per_row] (
        rows: u32, hack_size: u32, hacks: u32, offsets: Reads<'a, u64>, max_nzr: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>
    )

    /// The same, which also has to know how long x is.
    HllSharedX<'a, real T> of Hll [hll_shared_x] (
        rows: u32, hack_size: u32, hacks: u32, offsets: Reads<'a, u64>, max_nzr: Reads<'a, u32>,
        col: Reads<'a, u32>, val: Reads<'a, T>, x: Reads<'a, T>, y: Writes<'a, T>, cols: u32
    )

    /// y ← y + A·x in COO, but for what spans carry.
    CooSegmented<'a, real T> of Coo [coo_segmented] (
        entries: u64, span: u64, row: Reads<'a, u32>, col: Reads<'a, u32>, val: Reads<'a, T>,
        x: Reads<'a, T>, y: Writes<'a, T>, carry_row: Writes<'a, u32>,
        carry_sum: Writes<'a, T>
    )

    /// y ← y + what spans carry.
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

    /// Nothing.
    MemoryNothing<> of Memory [memory_nothing] ()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Types and names of parameters.
    type Parameters = Vec<(String, String)>;

    /// Every kernel of a source, with its parameters.
    fn signatures(source: &str) -> BTreeMap<String, Parameters> {
        let begin = "extern \"C\" __global__ void ";
        assert_eq!(source.matches("__global__").count(), source.matches(begin).count());
        let kernels = source.split(begin).skip(1).map(|kernel| {
            let (name, rest) = kernel.split_once('(').unwrap();
            let (list, _) = rest.split_once(')').unwrap();
            let parameters = list.split(',').map(str::trim).filter(|p| !p.is_empty());
            let parameters = parameters.map(|parameter| {
                let (type_name, name) = parameter.rsplit_once(' ').unwrap();
                (type_name.to_owned(), name.to_owned())
            });
            (name.to_owned(), parameters.collect())
        });
        kernels.collect()
    }

    /// The functions with the list `A` and its parameters, as they stand in the sources.
    fn listed<A: Arguments>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
        let in_source = |type_name: String, name: &str| (type_name, name.to_owned());
        A::FUNCTIONS.iter().map(move |&function| {
            let parameters = A::parameters().into_iter().map(|(t, name)| in_source(t, name));
            ((A::VARIANT, function.to_owned()), parameters.collect())
        })
    }

    /// Those with values of one type.
    fn listed_with_values<T: Real + Value>() -> impl Iterator<Item = ((Variant, String), Parameters)>
    {
        listed::<Csr<'_, T, u32>>()
            .chain(listed::<Csr<'_, T, u64>>())
            .chain(listed::<EllOfWidth<'_, T>>())
            .chain(listed::<EllOfLengths<'_, T>>())
            .chain(listed::<Hll<'_, T>>())
            .chain(listed::<HllSharedX<'_, T>>())
            .chain(listed::<CooSegmented<'_, T>>())
            .chain(listed::<CooCarry<'_, T>>())
    }

    #[test]
    fn argument_lists_are_the_kernels_signatures_by_type_name_and_order() {
        let lists: Vec<_> = listed_with_values::<f64>()
            .chain(listed_with_values::<f32>())
            .chain(listed::<MemoryCopy<'_>>())
            .chain(listed::<MemoryTriad<'_>>())
            .chain(listed::<MemoryRead<'_>>())
            .chain(listed::<MemoryNothing>())
            .collect();
        let mut declared = Vec::new();
        for family in Family::ALL {
            for variant in family.variants() {
                // What the build options and `common.cuh` make of the types.
                let resolved = |type_name: &str| {
                    let offset = format!("u{}", variant.offset_bits);
                    type_name.replace("real", variant.real()).replace("offset", &offset)
                };
                for (name, parameters) in signatures(family.source().1) {
                    let parameters = parameters.into_iter().map(|(t, name)| (resolved(&t), name));
                    declared.push(((variant, name), parameters.collect::<Parameters>()));
                }
            }
        }
        let sorted = |mut all: Vec<((Variant, String), Parameters)>| {
            all.sort();
            all
        };
        assert_eq!(sorted(lists), sorted(declared));
    }

    #[test]
    fn a_signature_is_read_with_its_types_names_and_order() {
        let source = "__device__ real f(u32 a);\nextern \"C\" __global__ void g(\n    u64 n, \
                      const offset* p,\n    real* y)\n{}\nextern \"C\" __global__ void h() {}\n";
        let parameter = |t: &str, name: &str| (t.to_owned(), name.to_owned());
        let g =
            vec![parameter("u64", "n"), parameter("const offset*", "p"), parameter("real*", "y")];
        let expected = BTreeMap::from([("g".to_owned(), g), ("h".to_owned(), Vec::new())]);
        assert_eq!(signatures(source), expected);
    }
}
