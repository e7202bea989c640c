//! An open device: its limits, its errors, and waiting for it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use web_time::Instant;

use crate::answer::{Answer, answer, lock};
use crate::error::{DeviceError, one_line};
use crate::families::Pipelines;
use crate::options::Options;

/// Seconds after which a device that has not answered is given up.
const PATIENCE_S: u64 = 60;

/// naga counts the bytes of a binding in 31 bits.
const MOST_BINDING: u64 = i32::MAX as u64;

/// An open device.
pub(crate) struct Device {
    pub(crate) raw: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) info: wgpu::AdapterInfo,
    pub(crate) options: Options,
    pub(crate) pipelines: Pipelines,
    /// Whether kernels may use subgroups.
    pub(crate) has_subgroups: bool,
    /// Other properties to record, by name.
    pub(crate) told: BTreeMap<&'static str, String>,
    trouble: Arc<Trouble>,
}

/// Errors that the device reported unprompted.
#[derive(Default)]
struct Trouble {
    /// The first error that no scope caught.
    error: Mutex<Option<DeviceError>>,
    lost: Mutex<Option<String>>,
}

impl Device {
    /// Opens an adapter's device with all of its limits, and with timestamps and subgroups where available.
    pub(crate) async fn open(
        adapter: &wgpu::Adapter,
        options: Options,
    ) -> Result<Self, DeviceError> {
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sparsescope"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (raw, queue) = opened.map_err(|e| DeviceError::Closed(one_line(&e.to_string())))?;
        let trouble = Arc::<Trouble>::default();
        let told = Arc::clone(&trouble);
        raw.on_uncaptured_error(Arc::new(move |error| {
            lock(&told.error).get_or_insert(DeviceError::of("a command", error));
        }));
        let told = Arc::clone(&trouble);
        raw.set_device_lost_callback(move |reason, message| {
            let why = match message.is_empty() {
                true if reason == wgpu::DeviceLostReason::Destroyed => "it was closed".to_owned(),
                true => "the driver gave no reason".to_owned(),
                false => one_line(&message),
            };
            lock(&told.lost).get_or_insert(why);
        });
        let (pipelines, told) = Default::default();
        let has_subgroups = raw.features().contains(wgpu::Features::SUBGROUP);
        let info = adapter.get_info();
        Ok(Self { raw, queue, info, options, pipelines, has_subgroups, told, trouble })
    }

    /// Whether the device has a feature and it is enabled.
    pub(crate) fn has(&self, feature: wgpu::Features) -> bool {
        self.raw.features().contains(feature)
    }

    /// Maximum bytes of one array.
    pub(crate) fn most_bytes(&self) -> u64 {
        let limits = self.raw.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(MOST_BINDING)
    }

    /// Minimum subgroup size.
    pub(crate) fn least_subgroup(&self) -> u32 {
        self.info.subgroup_min_size.clamp(4, 128)
    }

    /// Whether it is lost.
    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.trouble.lost).is_some()
    }

    /// Declares the device lost after a failure that only a lost device gives: the driver may report the loss
    /// itself later, or not at all.
    pub(crate) fn lose(&self, why: String) -> DeviceError {
        DeviceError::Lost(lock(&self.trouble.lost).get_or_insert(why).clone())
    }

    /// Fails if the device is lost, or with the first error since the last call that no scope caught.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        if let Some(why) = lock(&self.trouble.lost).clone() {
            return Err(DeviceError::Lost(why));
        }
        lock(&self.trouble.error).take().map_or(Ok(()), Err)
    }

    /// Runs `work` in error scopes; `what` names what it makes, for the error.
    pub(crate) async fn scoped<R>(
        &self,
        what: &str,
        work: impl FnOnce() -> R,
    ) -> Result<R, DeviceError> {
        let filters = [
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
            wgpu::ErrorFilter::OutOfMemory,
        ];
        let scopes = filters.map(|filter| self.raw.push_error_scope(filter));
        let made = work();
        // Scopes close in reverse order.
        let [internal, validation, memory] = scopes;
        let (memory, validation, internal) = (memory.pop(), validation.pop(), internal.pop());
        let errors = [memory.await, validation.await, internal.await];
        if let Some(error) = errors.into_iter().flatten().next() {
            return Err(DeviceError::of(what, error));
        }
        self.check()?;
        Ok(made)
    }

    /// Waits for the result of a callback.
    pub(crate) async fn told<T>(&self, answer: Answer<T>) -> Result<T, DeviceError> {
        let start = Instant::now();
        poll_fn(|context| {
            #[cfg(not(target_family = "wasm"))]
            crate::native::rest(&self.raw);
            if let Some(told) = answer.take() {
                return Poll::Ready(self.check().map(|()| told));
            }
            if let Err(error) = self.check() {
                return Poll::Ready(Err(error));
            }
            if start.elapsed().as_secs() >= PATIENCE_S {
                return Poll::Ready(Err(DeviceError::Silent(PATIENCE_S)));
            }
            answer.wakes(context.waker());
            Poll::Pending
        })
        .await
    }

    /// Submits commands and waits until they are done.
    pub(crate) async fn finish(
        &self,
        commands: Option<wgpu::CommandBuffer>,
    ) -> Result<(), DeviceError> {
        self.queue.submit(commands);
        let (teller, done) = answer();
        self.queue.on_submitted_work_done(move || teller.tell(()));
        self.told(done).await
    }

    /// A command encoder.
    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// Features in use, by their WebGPU names.
    pub(crate) fn features(&self) -> BTreeMap<&'static str, bool> {
        [
            ("timestamp-query", self.has(wgpu::Features::TIMESTAMP_QUERY)),
            ("subgroups", self.has_subgroups),
        ]
        .into()
    }
}
