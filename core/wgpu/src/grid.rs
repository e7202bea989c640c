//! A kernel launch: its workgroups, its parameters and its arrays.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::DeviceError;
use crate::families::{Family, Pipeline};

/// Kernel parameters, as declared in `common.wgsl`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Params {
    pub(crate) rows: u32,
    pub(crate) count: u32,
    pub(crate) hack_size: u32,
    pub(crate) lanes: u32,
    pub(crate) groups: u32,
    pub(crate) across: u32,
    pub(crate) cols: u32,
    pub(crate) unused: u32,
}

/// A kernel with its arrays, which can be launched repeatedly.
pub(crate) struct Launch {
    pipeline: Arc<Pipeline>,
    bindings: wgpu::BindGroup,
    grid: [u32; 2],
}

/// Spreads `groups` workgroups over two dimensions of at most `most`: columns, and rows.
fn spread(groups: u32, most: u32) -> [u32; 2] {
    let down = groups.div_ceil(most.max(1)).max(1);
    [groups.div_ceil(down), down]
}

impl Launch {
    /// `groups` workgroups of `block` invocations; `None` if there are no workgroups.
    pub(crate) async fn new(
        device: &Device,
        (family, function, block): (Family, &'static str, u32),
        groups: u64,
        params: Params,
        arrays: &[&Buffer],
    ) -> Result<Option<Self>, DeviceError> {
        if groups == 0 {
            return Ok(None);
        }
        let most = device.raw.limits().max_compute_workgroups_per_dimension;
        let groups = u32::try_from(groups).map_err(|_| DeviceError::TooLarge {
            what: "the grid",
            bytes: groups,
            most: u64::from(u32::MAX),
        })?;
        let pipeline = device.pipeline(family, function, block).await?;
        let grid = spread(groups, most);
        let params = Params { groups, across: grid[0], ..params };
        let bind = || {
            let uniform = device.raw.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sizes"),
                size: size_of::<Params>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            device.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&params));
            let resources = std::iter::once(&uniform).chain(arrays.iter().map(|array| &array.raw));
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            device.raw.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(function),
                layout: &pipeline.bindings,
                entries: &entries,
            })
        };
        let bindings = device.scoped(function, bind).await?;
        Ok(Some(Self { pipeline, bindings, grid }))
    }

    /// Records the launch in a pass.
    pub(crate) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y] = self.grid;
        pass.set_pipeline(&self.pipeline.raw);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(x, y, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workgroups_than_fit_into_one_dimension_are_spread_over_two() {
        const MOST: u32 = 65_535;
        assert_eq!(spread(1, MOST), [1, 1]);
        assert_eq!(spread(MOST, MOST), [MOST, 1]);
        for groups in [MOST + 1, 100_003, 1 << 20, 4_000_000_000] {
            let [across, down] = spread(groups, MOST);
            assert!(across <= MOST && down <= MOST);
            let all = u64::from(across) * u64::from(down);
            // Covers all workgroups, with fewer extra ones than rows.
            assert!((u64::from(groups)..u64::from(groups) + u64::from(down)).contains(&all));
        }
    }
}
