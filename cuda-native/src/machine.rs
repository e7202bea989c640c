//! Shared by all prepared kernels of a backend: the device, and what is started or created on it on
//! first use.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use sparsescope_core::order;

use crate::cublas::Cublas;
use crate::cusolver::Cusolver;
use crate::cusparse::{Cusparse, CusparseOp};
use crate::device::{Device, DeviceError};
use crate::memory::{DeviceBandwidth, Memory, bandwidth};
use crate::meter::Meter;
use crate::nvml::Nvml;

/// A library, or why it is missing; `None` before first use.
type Started<L> = Mutex<Option<Result<Rc<L>, String>>>;

/// A device with its libraries and its memory meter.
pub(crate) struct Machine {
    // First, so that they are dropped before the device whose stream they use.
    cublas: Started<Cublas>,
    cusolver: Started<Cusolver>,
    cusparse_op: Started<CusparseOp>,
    cusparse: Started<Cusparse>,
    memory: Mutex<Option<Rc<Memory>>>,
    nvml: OnceCell<Option<Nvml>>,
    bandwidth: OnceCell<Result<DeviceBandwidth, DeviceError>>,
    meter: OnceCell<Result<Meter, String>>,
    device: Device,
}

impl Machine {
    pub(crate) fn new(device: Device) -> Self {
        let (cublas, cusolver, cusparse_op, cusparse) = Default::default();
        let (memory, nvml, bandwidth, meter) = Default::default();
        Self { cublas, cusolver, cusparse_op, cusparse, memory, nvml, bandwidth, meter, device }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// cuSPARSE, started on first use.
    pub(crate) fn cusparse(&self) -> Result<Rc<Cusparse>, String> {
        get_or_start(&self.cusparse, || Cusparse::start(&self.device))
    }

    /// cuSPARSE's SpMVOp, started on first use.
    pub(crate) fn cusparse_op(&self) -> Result<Rc<CusparseOp>, String> {
        get_or_start(&self.cusparse_op, || CusparseOp::start(self.cusparse()?))
    }

    /// The versions of cuBLAS and cuSOLVER, if they have been started.
    pub(crate) fn dense_libraries(&self) -> BTreeMap<String, String> {
        let cublas = started(&self.cublas).map(|library| library.version().to_owned());
        let cusolver = started(&self.cusolver).map(|library| library.version().to_owned());
        let named = [("cublas", cublas), ("cusolver", cusolver)].into_iter();
        order::map(named.filter_map(|(name, version)| Some((name.to_owned(), version?))))
    }

    /// cuBLAS, started on first use.
    pub(crate) fn cublas(&self) -> Result<Rc<Cublas>, String> {
        get_or_start(&self.cublas, || Cublas::start(&self.device))
    }

    /// cuSOLVER, started on first use.
    pub(crate) fn cusolver(&self) -> Result<Rc<Cusolver>, String> {
        get_or_start(&self.cusolver, || Cusolver::start(&self.device))
    }

    /// NVML, if present; started on first use.
    pub(crate) fn nvml(&self) -> Option<&Nvml> {
        self.nvml.get_or_init(|| Nvml::of(&self.device.properties().bus)).as_ref()
    }

    /// How the device's energy is read, or why it cannot be; the idle device is measured on first use.
    pub(crate) fn meter(&self) -> Result<Meter, String> {
        self.meter.get_or_init(|| Meter::of(&self.device.properties().name, self.nvml())).clone()
    }

    /// The device's memory bandwidth, measured on first use.
    pub(crate) fn bandwidth(&self) -> Result<DeviceBandwidth, DeviceError> {
        self.bandwidth.get_or_init(|| bandwidth(&self.device)).clone()
    }

    /// Flushes the caches and measures launch latency; created on first use.
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

/// The library, if it has been started.
fn started<L>(library: &Started<L>) -> Option<Rc<L>> {
    library.lock().unwrap_or_else(PoisonError::into_inner).clone()?.ok()
}

fn get_or_start<L>(
    library: &Started<L>,
    start: impl FnOnce() -> Result<Rc<L>, String>,
) -> Result<Rc<L>, String> {
    let mut started = library.lock().unwrap_or_else(PoisonError::into_inner);
    started.get_or_insert_with(start).clone()
}
