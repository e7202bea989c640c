//! Operands of products: matrices and x, copied once for all kernels that read them, and y between guards.

use std::sync::{Arc, Mutex, Weak};

use sparsescope_core::experiment::{Converted, Output};
use sparsescope_core::matrix::{Csr, FormatSpec};

use crate::answer::lock;
use crate::arrays::Arrays;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::DeviceError;

/// Guard elements before and after a result, which no kernel may write; as in `common.wgsl`.
const GUARD: usize = 64;

/// Content of the guards: no product results in exactly these bits.
const GUARD_BITS: u32 = 0xcafe_f00d;

/// The error if guards were overwritten.
pub(crate) const WROTE_BESIDE: &str = "it wrote outside its result";

/// Device copies of host data, kept for as long as a kernel uses them.
struct Copies<K, D>(Mutex<Vec<(K, Weak<D>)>>);

impl<K: PartialEq, D> Copies<K, D> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// The copy of `key`.
    fn get(&self, key: &K) -> Option<Arc<D>> {
        let mut all = lock(&self.0);
        all.retain(|(_, copy)| copy.strong_count() > 0);
        all.iter().find(|(of, _)| of == key).and_then(|(_, copy)| copy.upgrade())
    }

    fn put(&self, key: K, copy: D) -> Arc<D> {
        let copy = Arc::new(copy);
        lock(&self.0).push((key, Arc::downgrade(&copy)));
        copy
    }
}

/// A matrix on the device with the host's, whose address identifies it.
pub(crate) struct Matrix {
    pub(crate) arrays: Arrays,
    _host: Arc<Csr<f32>>,
}

/// x, or X by rows, on the device with the host's.
pub(crate) struct Vector {
    pub(crate) elements: Buffer,
    _host: Arc<Vec<f32>>,
}

/// Device copies that are still in use.
pub(crate) struct Uploads {
    matrices: Copies<(usize, FormatSpec), Matrix>,
    vectors: Copies<usize, Vector>,
}

impl Uploads {
    pub(crate) fn new() -> Self {
        Self { matrices: Copies::new(), vectors: Copies::new() }
    }

    /// A in the format converted from it.
    pub(crate) async fn matrix(
        &self,
        device: &Device,
        a: &Arc<Csr<f32>>,
        spec: FormatSpec,
        made: &Converted<f32>,
    ) -> Result<Arc<Matrix>, DeviceError> {
        let key = (Arc::as_ptr(a) as usize, spec);
        if let Some(copy) = self.matrices.get(&key) {
            return Ok(copy);
        }
        let arrays = Arrays::of(device, &made.matrix).await?;
        Ok(self.matrices.put(key, Matrix { arrays, _host: Arc::clone(a) }))
    }

    /// x.
    pub(crate) async fn x(
        &self,
        device: &Device,
        x: &Arc<Vec<f32>>,
    ) -> Result<Arc<Vector>, DeviceError> {
        let key = Arc::as_ptr(x) as usize;
        if let Some(copy) = self.vectors.get(&key) {
            return Ok(copy);
        }
        let elements = Buffer::of(device, "the vector x", x).await?;
        Ok(self.vectors.put(key, Vector { elements, _host: Arc::clone(x) }))
    }
}

/// y between guards, in one binding: bounds checks move accesses beyond a binding's end into it, so that
/// guards in other bindings would not detect them.
pub(crate) struct GuardedVector {
    pub(crate) with_guards: Buffer,
    elements: usize,
}

impl GuardedVector {
    pub(crate) async fn new(device: &Device, elements: usize) -> Result<Self, DeviceError> {
        let bytes = ((elements + 2 * GUARD) * size_of::<f32>()) as u64;
        let with_guards = Buffer::new(device, "the vector y", bytes).await?;
        Ok(Self { with_guards, elements })
    }

    /// Fills it with NaN, and initialises the guards.
    pub(crate) async fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        self.with_guards.write(device, "the vector y", &self.spoilt()).await
    }

    /// The same before the next submission, without waiting.
    pub(crate) fn enqueue_spoil(&self, device: &Device) {
        self.with_guards.enqueue_write(device, &self.spoilt());
    }

    fn spoilt(&self) -> Vec<u32> {
        let mut host = vec![GUARD_BITS; self.elements + 2 * GUARD];
        if let Some(elements) = host.get_mut(GUARD..GUARD + self.elements) {
            elements.fill(f32::NAN.to_bits());
        }
        host
    }

    /// The result, or what is wrong with it, and the seconds of copying.
    pub(crate) async fn read(
        &self,
        device: &Device,
    ) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (mut all, seconds) = self.with_guards.read::<u32>(device).await?;
        let after = all.split_off(GUARD + self.elements);
        let elements = all.split_off(GUARD);
        let is_intact = all.iter().chain(&after).all(|&word| word == GUARD_BITS);
        let result = match is_intact {
            true => Ok(elements.into_iter().map(f32::from_bits).collect::<Vec<f32>>().into()),
            false => Err(WROTE_BESIDE.to_owned()),
        };
        Ok((result, seconds))
    }
}
