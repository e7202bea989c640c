//! The device's memory: copy bandwidth, and flushing its caches.

use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::families::Family;
use crate::grid::{Launch, Params};
use crate::names::is_software;

/// Bytes of the arrays that are copied, several times as large as any cache.
const ARRAY: u64 = 256 << 20;

/// The same where the GPU is emulated on a CPU.
const ARRAY_IN_SOFTWARE: u64 = 32 << 20;

/// Maximum of these two in a page, which shares the browser with others.
const MOST_IN_PAGE: [u64; 2] = [128 << 20, 4 << 20];

/// Maximum bytes of a device's caches, as far as known.
const CACHES: u64 = 64 << 20;

/// Number of copies, of which the fastest counts.
const TRIES: u32 = 7;

const BLOCK: u32 = 256;

/// Workgroups that traverse an array together: enough for any device.
const GROUPS: u64 = 1 << 14;

/// Bytes per step of an invocation.
const STEP: u64 = 16;

/// Two arrays of `bytes`, or of the maximum size, and a kernel on them.
async fn launch(
    device: &Device,
    function: &'static str,
    bytes: u64,
) -> Result<(Vec<Launch>, u64), DeviceError> {
    let bytes = bytes.min(device.most_bytes()) / STEP * STEP;
    let sink_bytes = if function == "memory_copy" { bytes } else { 64 * STEP };
    let source = Buffer::new(device, "the measured memory", bytes).await?;
    let sink = Buffer::new(device, "the measured memory", sink_bytes).await?;
    let steps = bytes / STEP;
    let groups = GROUPS.min(steps.div_ceil(u64::from(BLOCK)));
    let params = Params { count: steps as u32, ..Params::default() };
    let entry = (Family::Memory, function, BLOCK);
    let launch = Launch::new(device, entry, groups, params, &[&source, &sink]).await?;
    Ok((launch.into_iter().collect(), bytes))
}

/// Bytes read and written per second by the fastest of a few copies, and the bytes of each array.
pub(crate) async fn copy_bandwidth(
    device: &Device,
    clock: &Clock,
) -> Result<(f64, u64), DeviceError> {
    let [mut own, mut software] = [ARRAY, ARRAY_IN_SOFTWARE];
    if cfg!(target_family = "wasm") {
        [own, software] = MOST_IN_PAGE;
    }
    let array = if is_software(&device.info) { software } else { own };
    let (copy, bytes) = launch(device, "memory_copy", array).await?;
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        // Several in a row, so that a coarse clock can measure them.
        const COPIES: u32 = 8;
        if let Some(seconds) = clock.time(device, &copy, &copy, COPIES).await? {
            best = best.min(seconds / f64::from(COPIES));
        }
    }
    match best.is_finite() {
        true => Ok((2.0 * bytes as f64 / best, bytes)),
        false => Err(DeviceError::NoTime(TRIES)),
    }
}

/// Launches that read twice as much as the caches hold.
pub(crate) async fn flusher(device: &Device) -> Result<Vec<Launch>, DeviceError> {
    Ok(launch(device, "memory_read", 2 * CACHES).await?.0)
}
