//! What all prepared kernels of a backend share: the device, and what is started or made on it when
//! first asked for.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use crate::cublas::Cublas;
use crate::cusparse::Cusparse;
use crate::device::{Device, DeviceError};
use crate::memory::Memory;
use crate::nvml::Nvml;

/// A device with its libraries and its memory meter.
pub(crate) struct Machine {
    // First, so that they go before the device whose stream they use.
    cusparse: Mutex<Option<Result<Rc<Cusparse>, String>>>,
    cublas: Mutex<Option<Result<Rc<Cublas>, String>>>,
    memory: Mutex<Option<Rc<Memory>>>,
    nvml: OnceCell<Option<Nvml>>,
    device: Device,
}

impl Machine {
    pub(crate) fn new(device: Device) -> Self {
        let (cusparse, cublas, memory, nvml) = Default::default();
        Self { cusparse, cublas, memory, nvml, device }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// cuSPARSE, started on first use.
    pub(crate) fn cusparse(&self) -> Result<Rc<Cusparse>, String> {
        let mut started = self.cusparse.lock().unwrap_or_else(PoisonError::into_inner);
        started.get_or_insert_with(|| Cusparse::start(&self.device)).clone()
    }

    /// cuBLAS, started on first use.
    pub(crate) fn cublas(&self) -> Result<Rc<Cublas>, String> {
        let mut started = self.cublas.lock().unwrap_or_else(PoisonError::into_inner);
        started.get_or_insert_with(|| Cublas::start(&self.device)).clone()
    }

    /// The management library, where it is; started on first use.
    pub(crate) fn nvml(&self) -> Option<&Nvml> {
        self.nvml.get_or_init(|| Nvml::of(&self.device.properties().bus)).as_ref()
    }

    /// What flushes the caches and measures the bandwidth, made on first use.
    pub(crate) fn memory(&self) -> Result<Rc<Memory>, DeviceError> {
        let mut made = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = made.as_ref() {
            return Ok(Rc::clone(memory));
        }
        let memory = Rc::new(Memory::new(&self.device)?);
        *made = Some(Rc::clone(&memory));
        Ok(memory)
    }
}
