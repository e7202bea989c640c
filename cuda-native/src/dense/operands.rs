//! What a kernel is bound to for the systems of one size, and the result of binding.

use super::found::Place;
use crate::arguments::Reads;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::Step;

/// Systems of one size on a device, and where their solutions go.
pub(super) struct Sized<'a> {
    pub(super) device: &'a Device,
    /// At least one.
    pub(super) systems: u32,
    /// Unknowns per system.
    pub(super) n: u32,
    /// n × n numbers per system.
    pub(super) a: &'a Buffer<f64>,
    /// n numbers per system; `None` if all are e_n.
    pub(super) b: Option<&'a Buffer<f64>>,
    pub(super) place: &'a Place,
}

impl<'a> Sized<'a> {
    /// Whether right-hand sides are given, and these, or a placeholder array that is not read.
    pub(super) fn right(&self) -> (u32, Reads<'a, f64>) {
        (self.b.is_some().into(), Reads(self.b.unwrap_or(self.a)))
    }
}

/// The steps for systems of one size.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) reset: Vec<Step>,
    pub(super) steps: Vec<Step>,
    pub(super) finish: Vec<Step>,
    pub(super) workspace_bytes: u64,
    pub(super) spent: Spent,
}

/// The number of systems, if kernels and libraries can count it.
pub(super) fn most_systems(systems: usize) -> Result<u32, DeviceError> {
    let most = i32::MAX as u32;
    let fitting = u32::try_from(systems).ok().filter(|&systems| systems <= most);
    let (what, found) = ("the number of systems", systems as u64);
    fitting.ok_or(DeviceError::TooLarge { what, found, most: most.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_systems_than_are_counted_to_are_refused() {
        assert_eq!(most_systems(20_000), Ok(20_000));
        assert_eq!(most_systems(i32::MAX as usize), Ok(i32::MAX as u32));
        let refused = most_systems(1 << 31).unwrap_err().to_string();
        assert!(refused.starts_with("the number of systems is 2147483648"), "{refused}");
    }
}
