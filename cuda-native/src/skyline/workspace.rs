//! Memory that kernels use besides the points.

use std::cell::Cell;

use crate::arguments::Element;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};

/// Allocates, and counts the bytes.
pub(super) struct Workspace<'a> {
    device: &'a Device,
    spent: Cell<Spent>,
    bytes: Cell<u64>,
}

impl<'a> Workspace<'a> {
    pub(super) fn new(device: &'a Device) -> Self {
        Self { device, spent: Cell::default(), bytes: Cell::default() }
    }

    /// Allocates an array of this many elements.
    pub(super) fn array<T: Element>(
        &self,
        what: &str,
        len: usize,
    ) -> Result<Buffer<T>, DeviceError> {
        self.counted(Buffer::unset(self.device, what, len)?)
    }

    /// A copy of an array.
    pub(super) fn upload<T: Element>(
        &self,
        what: &str,
        host: &[T],
    ) -> Result<Buffer<T>, DeviceError> {
        self.counted(Buffer::of(self.device, what, host)?)
    }

    fn counted<T: Element>(&self, made: Buffer<T>) -> Result<Buffer<T>, DeviceError> {
        self.spent.set(self.spent.get() + made.spent());
        self.bytes.set(self.bytes.get() + made.bytes());
        Ok(made)
    }

    /// Time spent on creating all of them.
    pub(super) fn spent(&self) -> Spent {
        self.spent.get()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }
}
