//! Value types of SpMV on the device, one per precision.

use std::ffi::c_int;
use std::sync::Arc;

use sparsescope_core::experiment::{Output, Side, SpmvSide};
use sparsescope_core::matrix::Real;

use crate::arguments::{Bf16, F16, Stored, Value};

/// A value type of SpMV on the device.
pub trait DeviceReal: Real + Value + Stored<Self> {
    /// A format of a matrix's values with half the bits.
    type Half: Stored<Self>;
    /// The other one, or the same if there is only one.
    type OtherHalf: Stored<Self>;

    /// The constant for the type in CUDA's libraries.
    const DATA_TYPE: c_int;
    /// The factors 1 and 0, where libraries can read them.
    const FACTORS: &'static [Self; 2];
    /// The factors −1 and 1.
    const LESS: &'static [Self; 2];
    /// Value of a guard: a NaN that no arithmetic produces.
    const GUARD: Self;

    /// Whether it has the bits of a guard.
    fn is_guard(self) -> bool;

    /// Wraps a result.
    fn output(y: Vec<Self>) -> Output;

    /// The problem, if its vectors have this type.
    fn side(of: Side) -> Option<Arc<SpmvSide<Self>>>;
}

impl DeviceReal for f64 {
    type Half = f32;
    type OtherHalf = f32;

    const DATA_TYPE: c_int = 1;
    const FACTORS: &'static [Self; 2] = &[1.0, 0.0];
    const LESS: &'static [Self; 2] = &[-1.0, 1.0];
    const GUARD: Self = Self::from_bits(0x7ff8_dead_beef_cafe);

    fn is_guard(self) -> bool {
        self.to_bits() == Self::GUARD.to_bits()
    }

    fn output(y: Vec<Self>) -> Output {
        y.into()
    }

    fn side(of: Side) -> Option<Arc<SpmvSide<Self>>> {
        match of {
            Side::Double(side) => Some(side),
            Side::Single(_) => None,
        }
    }
}

impl DeviceReal for f32 {
    type Half = Bf16;
    type OtherHalf = F16;

    const DATA_TYPE: c_int = 0;
    const FACTORS: &'static [Self; 2] = &[1.0, 0.0];
    const LESS: &'static [Self; 2] = &[-1.0, 1.0];
    const GUARD: Self = Self::from_bits(0x7fde_cafe);

    fn is_guard(self) -> bool {
        self.to_bits() == Self::GUARD.to_bits()
    }

    fn output(y: Vec<Self>) -> Output {
        y.into()
    }

    fn side(of: Side) -> Option<Arc<SpmvSide<Self>>> {
        match of {
            Side::Single(side) => Some(side),
            Side::Double(_) => None,
        }
    }
}
