//! The cells drawn by the graphics adapter. The counts of a matrix are uploaded once, as tiles in
//! the layers of two textures; moving, zooming and recolouring change a few uniforms.

use std::num::NonZeroU64;
use std::sync::Arc;

use egui::{Color32, Context, Id, Rect};
use egui_wgpu::wgpu;
use egui_wgpu::{CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use sparsescope_core::spy::TILE;

use super::place::Place;
use super::shade::Shade;
use crate::picture::Picture;
use crate::state::Scale;

/// Matrices whose counts stay on the adapter.
const KEPT: usize = 2;
/// Most tiles along an edge of the finest level.
const TABLE: u32 = 16;

fn ready_id() -> Id {
    Id::unique("sparsescope cells on the adapter")
}

/// Prepares the adapter for drawing cells; without this call they are painted as images. Refuses
/// adapters that cannot hold the tiles of a large matrix.
pub fn install(context: &Context, state: &RenderState) {
    let layers = state.device.limits().max_texture_array_layers;
    if layers < TABLE * TABLE {
        return;
    }
    let pipeline = Pipeline::new(&state.device, state.target_format);
    state.renderer.write().callback_resources.insert(pipeline);
    context.data_mut(|data| data.insert_temp(ready_id(), true));
}

/// Whether [`install`] has been called.
pub(super) fn is_ready(context: &Context) -> bool {
    context.data(|data| data.get_temp(ready_id())).unwrap_or(false)
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

/// As in `spy.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    first: [f32; 2],
    shown: [f32; 2],
    cells: [f32; 2],
    table_row: u32,
    coarse: u32,
    scale: u32,
    linear_output: u32,
    max: f32,
    unused: f32,
    quantiles: [f32; 16],
    stops: [[f32; 4]; 16],
    empty: [f32; 4],
}

impl Uniforms {
    /// Of the part that is drawn of a picture in this area. The renderer ends the viewport where the
    /// screen does, and what is drawn fills the viewport.
    fn seen(mut self, area: Rect, screen: &ScreenDescriptor) -> Self {
        let pixels = screen.pixels_per_point;
        let info = egui::PaintCallbackInfo {
            viewport: area,
            clip_rect: area,
            pixels_per_point: pixels,
            screen_size_px: screen.size_in_pixels,
        };
        let viewport = info.viewport_in_pixels();
        let ends = |from: f32, to: f32| ((from * pixels).round(), (to * pixels).round());
        let part = |(from, to): (f32, f32), start: i32, length: i32| {
            let whole = (to - from).max(1.0);
            ((start as f32 - from) / whole, length as f32 / whole)
        };
        let x = part(ends(area.left(), area.right()), viewport.left_px, viewport.width_px);
        let y = part(ends(area.top(), area.bottom()), viewport.top_px, viewport.height_px);
        for (axis, (start, share)) in [x, y].into_iter().enumerate() {
            if let (Some(first), Some(shown)) = (self.first.get_mut(axis), self.shown.get_mut(axis))
            {
                *first += start * *shown;
                *shown *= share;
            }
        }
        self
    }
}

/// One picture to draw.
pub(super) struct Call {
    picture: Arc<Picture>,
    key: String,
    uniforms: Uniforms,
    /// Where it is drawn, in points: all of it, also what hangs over an edge of the window.
    area: Rect,
}

impl Call {
    /// The level of this number, at this place, in these colours.
    pub(super) fn new(
        picture: &Arc<Picture>,
        key: &str,
        number: usize,
        place: &Place,
        shade: &Shade,
    ) -> Self {
        let level = picture.pyramid.levels().get(number);
        let (rows, cols, shift) =
            level.map_or((0, 0, 0), |level| (level.rows(), level.cols(), level.shift()));
        let side = (1_u64 << shift) as f64;
        let (row, col) = place.origin();
        let (rows_per_point, cols_per_point) = place.per_point_each();
        let size = place.area.size();
        let color = |color: Color32| color.to_normalized_gamma_f32();
        let uniforms = Uniforms {
            first: [(col / side) as f32, (row / side) as f32],
            shown: [
                (cols_per_point * f64::from(size.x) / side) as f32,
                (rows_per_point * f64::from(size.y) / side) as f32,
            ],
            // The last cell may reach beyond the matrix, which ends where the matrix does.
            cells: [
                (picture.pyramid.cols() as f64 / side).min(cols as f64) as f32,
                (picture.pyramid.rows() as f64 / side).min(rows as f64) as f32,
            ],
            table_row: number as u32 * TABLE,
            coarse: u32::from(number > 0),
            scale: match shade.scale {
                Scale::Log => 0,
                Scale::Linear => 1,
                Scale::Percentile => 2,
            },
            linear_output: 0,
            max: shade.max,
            unused: 0.0,
            quantiles: shade.quantiles,
            stops: shade.stops.map(color),
            empty: color(shade.empty),
        };
        Self { picture: picture.clone(), key: key.into(), uniforms, area: place.area }
    }

    /// As a shape on a part of the screen.
    pub(super) fn shape(mut self, rect: Rect) -> egui::Shape {
        self.area = rect;
        egui_wgpu::Callback::new_paint_callback(rect, self).into()
    }
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
        let mut uniforms = call.uniforms.seen(call.area, screen);
        uniforms.linear_output = u32::from(self.linear_output);
        if let Some(uploaded) = self.uploaded.iter().find(|of| is_it(of)) {
            queue.write_buffer(&uploaded.uniforms, 0, bytemuck::bytes_of(&uniforms));
        }
    }

    /// Uploads every tile that holds entries.
    fn upload(&self, device: &wgpu::Device, queue: &wgpu::Queue, call: &Call) -> Uploaded {
        let levels = call.picture.pyramid.levels();
        let tiles = |from: usize, to: usize| {
            let of = levels.iter().take(to).skip(from);
            of.map(|level| level.tiles().count() as u32).sum::<u32>()
        };
        let textures = [tiles(0, 1), tiles(1, levels.len())].map(|count| {
            let extent = wgpu::Extent3d {
                width: TILE as u32,
                height: TILE as u32,
                depth_or_array_layers: layers(count),
            };
            texture(device, "counts", wgpu::TextureFormat::R32Float, extent)
        });
        let lines = TABLE * levels.len() as u32;
        let mut table = vec![0_u32; (TABLE * lines) as usize];
        let mut used = [0_u32; 2];
        for (number, level) in levels.iter().enumerate() {
            let which = usize::from(number > 0);
            let [finest, coarser] = &textures;
            let to = if which == 0 { finest } else { coarser };
            for ((tile_row, tile_col), counts) in level.tiles() {
                let counts: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
                let Some(layer) = used.get_mut(which) else { continue };
                let origin = wgpu::Origin3d { x: 0, y: 0, z: *layer };
                write(queue, to, origin, TILE as u32, bytemuck::cast_slice(&counts));
                *layer += 1;
                let place = (number * TABLE as usize + tile_row) * TABLE as usize + tile_col;
                if let Some(entry) = table.get_mut(place) {
                    *entry = *layer;
                }
            }
        }
        let extent = wgpu::Extent3d { width: TABLE, height: lines, depth_or_array_layers: 1 };
        let table_texture = texture(device, "tiles", wgpu::TextureFormat::R32Uint, extent);
        write(queue, &table_texture, wgpu::Origin3d::ZERO, lines, bytemuck::cast_slice(&table));

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
        let [finest, coarser] = &textures;
        let (finest, coarser) = (array(finest), array(coarser));
        let table = table_texture.create_view(&wgpu::TextureViewDescriptor::default());
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

/// Layers of a texture for so many tiles that WebGL takes for an array: one layer would be a plain
/// texture, and square ones in multiples of six would be cubes.
fn layers(tiles: u32) -> u32 {
    let layers = tiles.max(2);
    layers + u32::from(layers.is_multiple_of(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First cell and cells shown of 100 by 100 cells drawn into this area of 800 by 600 points.
    fn seen(area: Rect, pixels_per_point: f32) -> ([f32; 2], [f32; 2]) {
        let uniforms = Uniforms { shown: [100.0; 2], ..bytemuck::Zeroable::zeroed() };
        let size_in_pixels = [800.0, 600.0].map(|side| (side * pixels_per_point) as u32);
        let screen = ScreenDescriptor { size_in_pixels, pixels_per_point };
        let seen = uniforms.seen(area, &screen);
        let near = |cells: [f32; 2]| cells.map(|cells| (cells * 1e3).round() / 1e3);
        (near(seen.first), near(seen.shown))
    }

    #[test]
    fn what_hangs_over_an_edge_is_cut_off_not_squashed() {
        let rect = |x: f32, y: f32, width: f32, height: f32| {
            Rect::from_min_size(egui::pos2(x, y), egui::vec2(width, height))
        };
        for pixels in [1.0, 1.5, 2.0] {
            let inside = seen(rect(100.0, 100.0, 400.0, 400.0), pixels);
            assert_eq!(inside, ([0.0, 0.0], [100.0, 100.0]));
            let below = seen(rect(100.0, 500.0, 400.0, 400.0), pixels);
            assert_eq!(below, ([0.0, 0.0], [100.0, 25.0]));
            let above = seen(rect(100.0, -100.0, 400.0, 400.0), pixels);
            assert_eq!(above, ([0.0, 25.0], [100.0, 75.0]));
            let left = seen(rect(-200.0, 0.0, 400.0, 400.0), pixels);
            assert_eq!(left, ([50.0, 0.0], [50.0, 100.0]));
            let right = seen(rect(600.0, 0.0, 400.0, 400.0), pixels);
            assert_eq!(right, ([0.0, 0.0], [50.0, 100.0]));
            let both = seen(rect(0.0, -200.0, 800.0, 1000.0), pixels);
            assert_eq!(both, ([0.0, 20.0], [100.0, 60.0]));
            let wide = seen(rect(-800.0, 0.0, 4000.0, 100.0), pixels);
            assert_eq!(wide, ([20.0, 0.0], [20.0, 100.0]));
        }
    }

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
