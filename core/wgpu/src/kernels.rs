//! Builds pipelines from the kernel sources, once per workgroup size.

use std::sync::Arc;

use crate::answer::lock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::families::{Access, COMMON, Family, Pipeline};

impl Device {
    /// The kernel `function` of a family with workgroups of `block` invocations.
    pub(crate) async fn pipeline(
        &self,
        family: Family,
        function: &'static str,
        block: u32,
    ) -> Result<Arc<Pipeline>, DeviceError> {
        if family.needs_subgroups() && !self.has_subgroups {
            return Err(DeviceError::NoSubgroups(self.info.name.clone()));
        }
        if let Some(built) = lock(&self.pipelines.built).get(&(function, block)) {
            return Ok(Arc::clone(built));
        }
        let module = self.module(family).await?;
        let built = self.scoped(function, || self.build(family, &module, function, block)).await?;
        let built = Arc::new(built);
        lock(&self.pipelines.built).insert((function, block), Arc::clone(&built));
        Ok(built)
    }

    async fn module(&self, family: Family) -> Result<Arc<wgpu::ShaderModule>, DeviceError> {
        if let Some(module) = lock(&self.pipelines.modules).get(&family) {
            return Ok(Arc::clone(module));
        }
        let text = [family.enables(), COMMON, family.text()].concat();
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        };
        let create = || match self.options.checks {
            true => self.raw.create_shader_module(descriptor),
            // SAFETY: every index is a row below `rows`, a slot or an offset of a format, or a column of it.
            // The formats' `try_new` check that offsets ascend to the number of slots and that columns,
            // including those of padding, are less than n; x has n elements, y has `rows` between its guards,
            // each as many times as SpMM has columns, and the arrays are uploaded in full (`arrays.rs`). No array
            // has more than 2³¹ bytes (`most_bytes`), so that its indices have 32 bits. `common.wgsl` keeps
            // workgroup numbers below the sizes of their arrays. All loops end: they count up to such a bound. No
            // divisor is 0: hack sizes, workgroup and subgroup sizes, and the invocations per row are at least 1.
            false => unsafe {
                let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
                self.raw.create_shader_module_trusted(descriptor, unchecked)
            },
        };
        let module = Arc::new(self.scoped("the kernel source", create).await?);
        lock(&self.pipelines.modules).insert(family, Arc::clone(&module));
        Ok(module)
    }

    fn build(
        &self,
        family: Family,
        module: &wgpu::ShaderModule,
        function: &str,
        block: u32,
    ) -> Pipeline {
        let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
        entries.extend((1..).zip(family.arrays()).map(|(binding, access)| {
            let read_only = *access == Access::Reads;
            entry(binding, wgpu::BufferBindingType::Storage { read_only })
        }));
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let bindings = self.raw.create_bind_group_layout(&descriptor);
        let layout = self.raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&bindings)],
            ..Default::default()
        });
        let raw = self.raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(function),
            layout: Some(&layout),
            module,
            entry_point: Some(function),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[("block", f64::from(block))],
                zero_initialize_workgroup_memory: self.options.checks,
            },
            cache: None,
        });
        Pipeline { raw, bindings }
    }
}
