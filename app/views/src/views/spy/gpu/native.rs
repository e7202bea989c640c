//! The cells drawn with wgpu.

use std::num::NonZeroU64;
use std::sync::Arc;

use egui::Context;
use egui_wgpu::wgpu;
use egui_wgpu::{Callback, CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use sparsescope_core::spy::TILE;
use sparsescope_figures::picture::Picture;

use super::{Call, KEPT, TABLE, Tiles, Uniforms, installed, texels};

/// Prepares the GPU for drawing cells; without this call they are painted as images. Rejects GPUs that cannot
/// hold the tiles of a large matrix.
pub fn install(context: &Context, state: &RenderState) {
    let layers = state.device.limits().max_texture_array_layers;
    if layers < TABLE * TABLE {
        return;
    }
    let pipeline = Pipeline::new(&state.device, state.target_format);
    state.renderer.write().callback_resources.insert(pipeline);
    installed(context, |_, call| Callback::new_paint_callback(call.area, call).into());
}

struct Pipeline {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    linear_output: bool,
    /// Newest last.
    uploaded: Vec<Uploaded>,
}

/// Counts of one matrix.
struct Uploaded {
    picture: Arc<Picture>,
    key: String,
    uniforms: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl CallbackTrait for Call {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        screen: &ScreenDescriptor,
        _: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        if let Some(pipeline) = resources.get_mut::<Pipeline>() {
            pipeline.prepare(device, queue, self, screen);
        }
        Vec::new()
    }

    fn paint(
        &self,
        _: egui::PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        let Some(pipeline) = resources.get::<Pipeline>() else { return };
        if let Some(uploaded) = pipeline.uploaded.iter().find(|of| of.key == self.key) {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &uploaded.group, &[]);
            pass.draw(0..6, 0..1);
        }
    }
}

impl Pipeline {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("spy.wgsl"));
        let texture = |binding, sample_type, view_dimension| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false },
            count: None,
        };
        let counts = wgpu::TextureSampleType::Float { filterable: false };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("cells"),
            entries: &[
                wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Uniform,
                        has_dynamic_offset: false,
                        min_binding_size: NonZeroU64::new(size_of::<Uniforms>() as u64),
                    },
                    count: None,
                },
                texture(1, wgpu::TextureSampleType::Uint, wgpu::TextureViewDimension::D2),
                texture(2, counts, wgpu::TextureViewDimension::D2Array),
                texture(3, counts, wgpu::TextureViewDimension::D2Array),
            ],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("cells"),
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("cells"),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                buffers: &[],
                compilation_options: Default::default(),
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("color"),
                targets: &[Some(format.into())],
                compilation_options: Default::default(),
            }),
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            multiview_mask: None,
            cache: None,
        });
        Self { pipeline, layout, linear_output: format.is_srgb(), uploaded: Vec::new() }
    }

    fn prepare(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        call: &Call,
        screen: &ScreenDescriptor,
    ) {
        let is_it = |of: &Uploaded| of.key == call.key && Arc::ptr_eq(&of.picture, &call.picture);
        if !self.uploaded.iter().any(is_it) {
            self.uploaded.retain(|of| of.key != call.key);
            if self.uploaded.len() == KEPT {
                self.uploaded.remove(0);
            }
            let uploaded = self.upload(device, queue, call);
            self.uploaded.push(uploaded);
        }
        let (size, pixels) = (screen.size_in_pixels, screen.pixels_per_point);
        let mut uniforms = call.uniforms.seen(call.area, size, pixels);
        uniforms.linear_output = u32::from(self.linear_output);
        if let Some(uploaded) = self.uploaded.iter().find(|of| is_it(of)) {
            queue.write_buffer(&uploaded.uniforms, 0, bytemuck::bytes_of(&uniforms));
        }
    }

    /// Uploads every tile that holds nonzeros.
    fn upload(&self, device: &wgpu::Device, queue: &wgpu::Queue, call: &Call) -> Uploaded {
        let tiles = Tiles::of(&call.picture);
        let [finest, coarser] = tiles.counts.each_ref().map(|tiles| {
            let extent = wgpu::Extent3d {
                width: TILE as u32,
                height: TILE as u32,
                depth_or_array_layers: layers(tiles.len() as u32),
            };
            let to = texture(device, "counts", wgpu::TextureFormat::R32Float, extent);
            for (layer, counts) in tiles.iter().enumerate() {
                let origin = wgpu::Origin3d { x: 0, y: 0, z: layer as u32 };
                write(queue, &to, origin, TILE as u32, bytemuck::cast_slice(&texels(counts)));
            }
            to
        });
        let extent =
            wgpu::Extent3d { width: TABLE, height: tiles.lines(), depth_or_array_layers: 1 };
        let table = texture(device, "tiles", wgpu::TextureFormat::R32Uint, extent);
        let lines = bytemuck::cast_slice(&tiles.table);
        write(queue, &table, wgpu::Origin3d::ZERO, tiles.lines(), lines);

        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("cells"),
            size: size_of::<Uniforms>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let array = |texture: &wgpu::Texture| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            })
        };
        let (finest, coarser) = (array(&finest), array(&coarser));
        let table = table.create_view(&wgpu::TextureViewDescriptor::default());
        let view = |binding, view| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::TextureView(view),
        };
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("cells"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() },
                view(1, &table),
                view(2, &finest),
                view(3, &coarser),
            ],
        });
        Uploaded { picture: call.picture.clone(), key: call.key.clone(), uniforms, group }
    }
}

fn texture(
    device: &wgpu::Device,
    label: &str,
    format: wgpu::TextureFormat,
    size: wgpu::Extent3d,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Writes whole lines of four-byte texels into one layer.
fn write(
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
    origin: wgpu::Origin3d,
    height: u32,
    bytes: &[u8],
) {
    let to = wgpu::TexelCopyTextureInfo {
        texture,
        mip_level: 0,
        origin,
        aspect: wgpu::TextureAspect::All,
    };
    let width = texture.width();
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(width * 4),
        rows_per_image: Some(height),
    };
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    queue.write_texture(to, bytes, layout, size);
}

/// Layers of a texture for this many tiles such that WebGL treats it as an array: one layer would be a plain
/// texture, and square ones in multiples of six would be cubes.
fn layers(tiles: u32) -> u32 {
    let layers = tiles.max(2);
    layers + u32::from(layers.is_multiple_of(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fill_an_array_never_cubes() {
        for tiles in 0..=TABLE * TABLE {
            let layers = layers(tiles);
            assert!(
                layers >= tiles && layers > 1 && !layers.is_multiple_of(6),
                "{tiles}: {layers}"
            );
            assert!(layers <= TABLE * TABLE);
        }
    }
}
