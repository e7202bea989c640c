//! Device memory.

use bytemuck::Pod;
use web_time::Instant;

use crate::answer::answer;
use crate::device::Device;
use crate::error::DeviceError;

/// Bytes copied at once, to the device and back: a piece is held twice in host memory.
const PIECE: usize = 16 << 20;

/// Array sizes are multiples of four words.
const WHOLE: u64 = 16;

/// Time spent on memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) allocate_s: f64,
    pub(crate) upload_s: f64,
}

impl std::ops::Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            allocate_s: self.allocate_s + other.allocate_s,
            upload_s: self.upload_s + other.upload_s,
        }
    }
}

/// An array on the device.
pub(crate) struct Buffer {
    pub(crate) raw: wgpu::Buffer,
    /// Bytes in use.
    pub(crate) bytes: u64,
    pub(crate) spent: Spent,
}

impl Buffer {
    /// Allocates a zeroed buffer of this many bytes. Nothing is mapped.
    pub(crate) async fn new(
        device: &Device,
        what: &'static str,
        bytes: u64,
    ) -> Result<Self, DeviceError> {
        let most = device.most_bytes();
        let size = bytes.max(1).next_multiple_of(WHOLE);
        if size > most {
            return Err(DeviceError::TooLarge { what, bytes, most });
        }
        let start = Instant::now();
        let descriptor = wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        };
        let raw = device.scoped(what, || device.raw.create_buffer(&descriptor)).await?;
        let spent = Spent { allocate_s: start.elapsed().as_secs_f64(), upload_s: 0.0 };
        Ok(Self { raw, bytes, spent })
    }

    /// A copy of `host`.
    pub(crate) async fn of<T: Pod>(
        device: &Device,
        what: &'static str,
        host: &[T],
    ) -> Result<Self, DeviceError> {
        let mut made = Self::new(device, what, size_of_val(host) as u64).await?;
        let start = Instant::now();
        made.write(device, what, host).await?;
        made.spent.upload_s = start.elapsed().as_secs_f64();
        Ok(made)
    }

    /// Writes `host`, whose size is a multiple of 4, to the start of the buffer.
    pub(crate) async fn write<T: Pod>(
        &self,
        device: &Device,
        what: &'static str,
        host: &[T],
    ) -> Result<(), DeviceError> {
        let mut offset = 0;
        for piece in bytemuck::cast_slice::<T, u8>(host).chunks(PIECE) {
            let write = || device.queue.write_buffer(&self.raw, offset, piece);
            device.scoped(what, write).await?;
            device.finish(None).await?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Writes its elements before the next submission, without waiting.
    pub(crate) fn enqueue_write<T: Pod>(&self, device: &Device, host: &[T]) {
        device.queue.write_buffer(&self.raw, 0, bytemuck::cast_slice(host));
    }

    /// Reads its elements, and the seconds of copying them.
    pub(crate) async fn read<T: Pod>(&self, device: &Device) -> Result<(Vec<T>, f64), DeviceError> {
        self.read_first(device, self.bytes).await
    }

    /// Reads this many elements from its start.
    pub(crate) async fn read_first<T: Pod>(
        &self,
        device: &Device,
        all: u64,
    ) -> Result<(Vec<T>, f64), DeviceError> {
        let start = Instant::now();
        let mut elements = Vec::with_capacity(all as usize / size_of::<T>());
        let piece = all.min(PIECE as u64).max(1).next_multiple_of(WHOLE);
        let descriptor = wgpu::BufferDescriptor {
            label: Some("results"),
            size: piece,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let staging = device.scoped("results", || device.raw.create_buffer(&descriptor)).await?;
        let mut offset = 0;
        while offset < all {
            let bytes = piece.min(all - offset);
            let mut encoder = device.encoder();
            encoder.copy_buffer_to_buffer(&self.raw, offset, &staging, 0, bytes);
            device.queue.submit([encoder.finish()]);
            let (teller, mapped) = answer();
            staging.map_async(wgpu::MapMode::Read, ..bytes, |mapped| teller.tell(mapped));
            let failed = |reason: String| DeviceError::Internal { what: "results".into(), reason };
            if let Err(error) = device.told(mapped).await? {
                return Err(device.lose(format!("its results cannot be read: {error}")));
            }
            {
                let view = staging.get_mapped_range(..bytes).map_err(|e| failed(e.to_string()))?;
                elements.extend(bytemuck::pod_collect_to_vec::<u8, T>(&view));
            }
            staging.unmap();
            offset += bytes;
        }
        Ok((elements, start.elapsed().as_secs_f64()))
    }
}
