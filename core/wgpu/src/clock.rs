//! Times of launches: by the device's timestamps around a pass, or by the wall clock around a submission.

use sparsescope_core::measure::clock_step_s;
use web_time::Instant;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::DeviceError;
use crate::families::Family;
use crate::grid::{Launch, Params};
use crate::options::ClockChoice;

/// Timestamp differences from which the resolution is determined.
const DIFFERENCES: u32 = 64;

/// Bytes per timestamp.
const STAMP: u64 = size_of::<u64>() as u64;

/// Precision of waiting for a submission, in seconds; browsers round the clock more coarsely.
const WALL_RESOLUTION_S: f64 = 10e-6;

/// A clock of a device.
pub(crate) struct Clock {
    hands: Hands,
    /// Times are multiples of this many seconds.
    pub(crate) resolution_s: f64,
}

enum Hands {
    Timestamps(Timestamps),
    /// Seconds of an empty submission.
    Wall(f64),
}

/// Timestamps before and after passes.
struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    copied: Buffer,
    scale: Scale,
}

/// The unit of timestamps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Nanoseconds per tick.
    period_ns: f64,
    /// Timestamps are rounded down to multiples of this many nanoseconds.
    rounding: Option<u64>,
}

impl Scale {
    /// The difference of two timestamps in units; `None` unless the second is later.
    fn difference(self, [before, after]: [u64; 2]) -> Option<u64> {
        let rounded = |raw: u64| match self.rounding {
            Some(to) => (raw as f64 * self.period_ns / to as f64).floor() as u64 * to,
            None => raw,
        };
        rounded(after).checked_sub(rounded(before)).filter(|&difference| difference > 0)
    }

    /// Seconds per unit.
    fn unit_s(self) -> f64 {
        match self.rounding {
            Some(_) => 1e-9,
            None => self.period_ns * 1e-9,
        }
    }
}

/// The greatest common divisor of all differences; `None` if there are none.
fn resolution(differences: impl IntoIterator<Item = u64>) -> Option<u64> {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    differences.into_iter().reduce(gcd)
}

impl Clock {
    /// The best available clock, unless another is requested.
    pub(crate) async fn new(device: &Device) -> Result<Self, DeviceError> {
        let rounding = match device.options.clock {
            ClockChoice::Best => None,
            ClockChoice::Rounded(to) => Some(to.max(1)),
            ClockChoice::Wall => return Self::wall(device).await,
        };
        if !device.has(wgpu::Features::TIMESTAMP_QUERY) {
            return Self::wall(device).await;
        }
        let scale = Scale { period_ns: f64::from(device.queue.get_timestamp_period()), rounding };
        let timestamps = Timestamps::new(device, scale).await?;
        match timestamps.resolution_s(device).await? {
            Some(resolution_s) => Ok(Self { hands: Hands::Timestamps(timestamps), resolution_s }),
            // Timestamps that never differ are useless.
            None => Self::wall(device).await,
        }
    }

    async fn wall(device: &Device) -> Result<Self, DeviceError> {
        let mut empty = [0.0; 9];
        for seconds in &mut empty {
            let encoder = device.encoder();
            let start = Instant::now();
            device.finish(Some(encoder.finish())).await?;
            *seconds = start.elapsed().as_secs_f64();
        }
        empty.sort_by(f64::total_cmp);
        let [_, _, _, _, median, ..] = empty;
        let resolution_s = WALL_RESOLUTION_S.max(clock_step_s());
        Ok(Self { hands: Hands::Wall(median), resolution_s })
    }

    /// Its description, as runs record it.
    pub(crate) fn name(&self) -> String {
        let resolution = self.resolution_s * 1e9;
        match self.hands {
            Hands::Timestamps(_) => format!("timestamps of {resolution:.0} ns"),
            Hands::Wall(_) => "wall clock without an empty submission".to_owned(),
        }
    }

    /// Seconds of `times` executions after one of `before`; `None` if the clock measures no difference.
    pub(crate) async fn time(
        &self,
        device: &Device,
        before: &[Launch],
        launches: &[Launch],
        times: u32,
    ) -> Result<Option<f64>, DeviceError> {
        let mut encoder = device.encoder();
        if !before.is_empty() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            before.iter().for_each(|launch| launch.record(&mut pass));
            drop(pass);
            if matches!(self.hands, Hands::Wall(_)) {
                // The wall clock starts once `before` is done.
                device.finish(Some(encoder.finish())).await?;
                encoder = device.encoder();
            }
        }
        let stamps = match &self.hands {
            Hands::Timestamps(timestamps) => Some(timestamps),
            Hands::Wall(_) => None,
        };
        {
            let timestamp_writes = stamps.map(|stamps| stamps.around(0));
            let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
            let mut pass = encoder.begin_compute_pass(&descriptor);
            for _ in 0..times {
                launches.iter().for_each(|launch| launch.record(&mut pass));
            }
        }
        match &self.hands {
            Hands::Timestamps(timestamps) => {
                let differences = timestamps.finish(device, encoder, 1).await?;
                let difference = differences.into_iter().next().flatten();
                Ok(difference.map(|units| units as f64 * timestamps.scale.unit_s()))
            }
            Hands::Wall(empty_s) => {
                let commands = encoder.finish();
                let start = Instant::now();
                device.finish(Some(commands)).await?;
                let seconds = start.elapsed().as_secs_f64() - empty_s;
                Ok(Some(seconds).filter(|&seconds| seconds > 0.0))
            }
        }
    }
}

impl Timestamps {
    async fn new(device: &Device, scale: Scale) -> Result<Self, DeviceError> {
        let count = 2 * DIFFERENCES;
        let size = u64::from(count) * STAMP;
        let make = || {
            let queries = device.raw.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count,
            });
            let resolved = device.raw.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (queries, resolved)
        };
        let (queries, resolved) = device.scoped("the clock", make).await?;
        let copied = Buffer::new(device, "timestamps", size).await?;
        Ok(Self { queries, resolved, copied, scale })
    }

    /// The timestamps around pass `pass`.
    fn around(&self, pass: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * pass),
            end_of_pass_write_index: Some(2 * pass + 1),
        }
    }

    /// Submits, and returns the difference around each of the first passes.
    async fn finish(
        &self,
        device: &Device,
        mut encoder: wgpu::CommandEncoder,
        passes: u32,
    ) -> Result<Vec<Option<u64>>, DeviceError> {
        encoder.resolve_query_set(&self.queries, 0..2 * passes, &self.resolved, 0);
        let bytes = 2 * u64::from(passes) * STAMP;
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.copied.raw, 0, bytes);
        device.finish(Some(encoder.finish())).await?;
        let (stamps, _) = self.copied.read_first::<u64>(device, bytes).await?;
        let (pairs, _) = stamps.as_chunks::<2>();
        Ok(pairs.iter().map(|&pair| self.scale.difference(pair)).collect())
    }

    /// The resolution in seconds, from passes of different lengths.
    async fn resolution_s(&self, device: &Device) -> Result<Option<f64>, DeviceError> {
        const WORDS: u64 = 1 << 16;
        const BLOCK: u32 = 64;
        let source = Buffer::new(device, "the clock", WORDS * 4).await?;
        let sink = Buffer::new(device, "the clock", WORDS * 4).await?;
        let params = Params { count: (WORDS / 4) as u32, ..Params::default() };
        let entry = (Family::Memory, "memory_copy", BLOCK);
        let launch = Launch::new(device, entry, 16, params, &[&source, &sink]).await?;
        let mut encoder = device.encoder();
        for pass in 0..DIFFERENCES {
            let timestamp_writes = Some(self.around(pass));
            let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
            let mut recorded = encoder.begin_compute_pass(&descriptor);
            for _ in 0..=pass % 7 {
                launch.iter().for_each(|launch| launch.record(&mut recorded));
            }
        }
        let differences = self.finish(device, encoder, DIFFERENCES).await?;
        let units = resolution(differences.into_iter().flatten());
        Ok(units.map(|units| units as f64 * self.scale.unit_s()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolution_is_what_all_differences_are_multiples_of() {
        assert_eq!(resolution([300_000, 100_000, 700_000]), Some(100_000));
        assert_eq!(resolution([65_536 * 3, 65_536 * 5]), Some(65_536));
        assert_eq!(resolution([32, 96, 41]), Some(1));
        assert_eq!(resolution([]), None);
    }

    #[test]
    fn rounded_timestamps_differ_by_multiples_and_none_goes_back() {
        let scale = |rounding| Scale { period_ns: 2.0, rounding };
        assert_eq!(scale(None).difference([7, 10]), Some(3));
        assert_eq!(scale(None).difference([10, 10]), None);
        assert_eq!(scale(None).difference([10, 7]), None);
        // 99 999 ns and 100 001 ns, of which the first rounds to zero.
        let odd = Scale { period_ns: 1.0, rounding: Some(100_000) };
        assert_eq!(odd.difference([99_999, 100_001]), Some(100_000));
        assert_eq!(odd.difference([100_001, 199_999]), None);
        let rounded = scale(Some(65_536));
        let all = (1..64).filter_map(|k| rounded.difference([5 * k, 5 * k + 40_000 * k]));
        assert_eq!(resolution(all), Some(65_536));
        assert_eq!((scale(None).unit_s(), rounded.unit_s()), (2e-9, 1e-9));
    }
}
