//! The cells drawn with WebGL 2, by the context that draws the page.

use std::sync::{Arc, Mutex, PoisonError};

use egui::epaint::PaintCallback;
use egui::{Context, Id};
use egui_glow::glow::{self, HasContext, PixelUnpackData};
use egui_glow::{CallbackFn, Painter};
use sparsescope_core::spy::TILE;
use sparsescope_figures::picture::Picture;

use super::{Call, KEPT, TABLE, Tiles, installed, texels};

/// Prepares the context for drawing cells; without this call they are painted as images. Rejects contexts
/// older than WebGL 2, which have no texture arrays.
pub fn install(context: &Context, gl: &glow::Context) {
    // SAFETY: the context is current, as every context of a page is; only state is changed that the
    // interface's painter sets before each use.
    let Some(program) = (unsafe { Program::new(gl) }) else { return };
    let kept = Arc::new(Mutex::new(Kept { program, uploaded: Vec::new() }));
    context.data_mut(|data| data.insert_temp(kept_id(), kept));
    installed(context, |context, call| {
        let kept = context.data(|data| data.get_temp::<Arc<Mutex<Kept>>>(kept_id()));
        let rect = call.area;
        let draw = move |info: egui::PaintCallbackInfo, painter: &Painter| {
            if let Some(kept) = &kept {
                kept.lock().unwrap_or_else(PoisonError::into_inner).draw(painter, &call, &info);
            }
        };
        PaintCallback { rect, callback: Arc::new(CallbackFn::new(draw)) }.into()
    });
}

fn kept_id() -> Id {
    Id::unique("sparsescope cells in WebGL")
}

/// Resources kept with the context.
struct Kept {
    program: Program,
    /// Newest last.
    uploaded: Vec<Uploaded>,
}

#[derive(Clone, Copy)]
struct Program {
    program: glow::Program,
    scene: glow::Buffer,
    /// Without attributes: the shader computes the corners from the vertex index.
    corners: glow::VertexArray,
}

/// Counts of one matrix.
struct Uploaded {
    picture: Arc<Picture>,
    key: String,
    /// In the order of [`SAMPLERS`], each with its target.
    textures: [(u32, glow::Texture); 3],
}

/// The samplers of the textures, each bound to the unit of its index.
const SAMPLERS: [&str; 3] = ["table", "finest", "coarser"];

impl Program {
    /// Returns none if the context rejects the program.
    ///
    /// # Safety
    /// The context is current.
    unsafe fn new(gl: &glow::Context) -> Option<Self> {
        // SAFETY: the context is current, and all objects used were made by it just before.
        unsafe {
            let program = gl.create_program().ok()?;
            for (kind, source) in [
                (glow::VERTEX_SHADER, include_str!("spy.vert.glsl")),
                (glow::FRAGMENT_SHADER, include_str!("spy.frag.glsl")),
            ] {
                let shader = gl.create_shader(kind).ok()?;
                gl.shader_source(shader, source);
                gl.compile_shader(shader);
                gl.attach_shader(program, shader);
                gl.delete_shader(shader);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                gl.delete_program(program);
                return None;
            }
            gl.use_program(Some(program));
            for (unit, name) in SAMPLERS.into_iter().enumerate() {
                let sampler = gl.get_uniform_location(program, name)?;
                gl.uniform_1_i32(Some(&sampler), unit as i32);
            }
            gl.uniform_block_binding(program, gl.get_uniform_block_index(program, "Scene")?, 0);
            let (scene, corners) = (gl.create_buffer().ok()?, gl.create_vertex_array().ok()?);
            Some(Self { program, scene, corners })
        }
    }
}

impl Kept {
    fn draw(&mut self, painter: &Painter, call: &Call, info: &egui::PaintCallbackInfo) {
        let gl: &glow::Context = painter.gl();
        let uniforms = call.uniforms.seen(call.area, info.screen_size_px, info.pixels_per_point);
        let Some(textures) = self.uploaded(gl, call) else { return };
        let Program { program, scene, corners } = self.program;
        // SAFETY: the context is current while it paints; it made the program, buffer and textures. The
        // painter sets its own program, buffers, vertices and first texture again.
        unsafe {
            gl.use_program(Some(program));
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(scene));
            let bytes = bytemuck::bytes_of(&uniforms);
            gl.buffer_data_u8_slice(glow::UNIFORM_BUFFER, bytes, glow::DYNAMIC_DRAW);
            for (unit, (target, texture)) in textures.into_iter().enumerate() {
                gl.active_texture(glow::TEXTURE0 + unit as u32);
                gl.bind_texture(target, Some(texture));
            }
            gl.bind_vertex_array(Some(corners));
            gl.draw_arrays(glow::TRIANGLES, 0, 6);
            gl.bind_vertex_array(None);
        }
    }

    /// The textures of a picture, uploaded when it is drawn for the first time.
    fn uploaded(&mut self, gl: &glow::Context, call: &Call) -> Option<[(u32, glow::Texture); 3]> {
        let is_it = |of: &Uploaded| of.key == call.key && Arc::ptr_eq(&of.picture, &call.picture);
        if let Some(known) = self.uploaded.iter().find(|of| is_it(of)) {
            return Some(known.textures);
        }
        let others = |of: &Uploaded| of.key != call.key;
        let (mut kept, mut old): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.uploaded).into_iter().partition(others);
        let too_many = (kept.len() + 1).saturating_sub(KEPT);
        old.extend(kept.drain(..too_many));
        self.uploaded = kept;
        for (_, texture) in old.iter().flat_map(|of| of.textures) {
            // SAFETY: made by this context, and no longer drawn with.
            unsafe { gl.delete_texture(texture) };
        }
        // SAFETY: the context is current while it paints.
        let textures = unsafe { upload(gl, &call.picture) }?;
        let (picture, key) = (call.picture.clone(), call.key.clone());
        self.uploaded.push(Uploaded { picture, key, textures });
        Some(textures)
    }
}

/// Uploads every tile that holds nonzeros; returns none if the context has no more textures.
///
/// # Safety
/// The context is current.
unsafe fn upload(gl: &glow::Context, picture: &Picture) -> Option<[(u32, glow::Texture); 3]> {
    let tiles = Tiles::of(picture);
    let side = TILE as i32;
    // SAFETY: the context is current; every slice has as many texels as its part of the texture.
    unsafe {
        gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 4);
        let table = texture(gl, glow::TEXTURE_2D)?;
        let (width, lines) = (TABLE as i32, tiles.lines() as i32);
        gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::R32UI, width, lines.max(1));
        let entries = PixelUnpackData::Slice(Some(bytemuck::cast_slice(&tiles.table)));
        let (format, kind) = (glow::RED_INTEGER, glow::UNSIGNED_INT);
        gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, width, lines, format, kind, entries);

        let array = |counts: &[&[u64]]| {
            let target = glow::TEXTURE_2D_ARRAY;
            let array = texture(gl, target)?;
            let layers = counts.len().max(1) as i32;
            gl.tex_storage_3d(target, 1, glow::R32F, side, side, layers);
            for (layer, counts) in counts.iter().enumerate() {
                let texels = texels(counts);
                let texels = PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels)));
                let (layer, format) = (layer as i32, glow::RED);
                gl.tex_sub_image_3d(
                    target,
                    0,
                    0,
                    0,
                    layer,
                    side,
                    side,
                    1,
                    format,
                    glow::FLOAT,
                    texels,
                );
            }
            Some((target, array))
        };
        let [finest, coarser] = &tiles.counts;
        Some([(glow::TEXTURE_2D, table), array(finest)?, array(coarser)?])
    }
}

/// A bound texture whose texels are read without filtering.
///
/// # Safety
/// The context is current.
unsafe fn texture(gl: &glow::Context, target: u32) -> Option<glow::Texture> {
    // SAFETY: the context is current.
    unsafe {
        let texture = gl.create_texture().ok()?;
        gl.bind_texture(target, Some(texture));
        for filter in [glow::TEXTURE_MIN_FILTER, glow::TEXTURE_MAG_FILTER] {
            gl.tex_parameter_i32(target, filter, glow::NEAREST as i32);
        }
        Some(texture)
    }
}
