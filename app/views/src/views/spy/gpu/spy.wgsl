// Colours the cells of one level of a matrix's pyramid. Textures and uniforms only, so that it
// runs wherever WebGL 2 does.

struct Scene {
    // Column and row of cells at the upper left corner, and how many the picture shows.
    first: vec2<f32>,
    shown: vec2<f32>,
    // Cells of the level.
    cells: vec2<f32>,
    // First line of the level in the table of tiles; 1 if the level is not the finest.
    table_row: u32,
    coarse: u32,
    // 0 logarithmic, 1 linear, 2 by rank.
    scale: u32,
    // 1 if the framebuffer takes linear colours.
    linear_output: u32,
    max: f32,
    unused: f32,
    quantiles: array<vec4<f32>, 4>,
    stops: array<vec4<f32>, 16>,
    empty: vec4<f32>,
}

@group(0) @binding(0) var<uniform> scene: Scene;
// Number of the layer that holds a tile's counts, from 1; 0 for a tile without nonzeros.
@group(0) @binding(1) var table: texture_2d<u32>;
// Counts of the finest level's tiles, and of all coarser levels'.
@group(0) @binding(2) var finest: texture_2d_array<f32>;
@group(0) @binding(3) var coarser: texture_2d_array<f32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) at: vec2<f32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    // Two triangles over the whole viewport.
    let at = vec2<f32>(f32((0x34u >> index) & 1u), f32((0x26u >> index) & 1u));
    return Corner(vec4<f32>(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0), at);
}

fn count_at(cell: vec2<i32>) -> f32 {
    let tile = vec2<i32>(cell.x >> 8u, cell.y >> 8u);
    let layer = i32(textureLoad(table, vec2<i32>(tile.x, tile.y + i32(scene.table_row)), 0).r);
    if (layer == 0) {
        return 0.0;
    }
    let within = vec2<i32>(cell.x & 255, cell.y & 255);
    if (scene.coarse == 1u) {
        return textureLoad(coarser, within, layer - 1, 0).r;
    }
    return textureLoad(finest, within, layer - 1, 0).r;
}

fn quantile(k: u32) -> f32 {
    return scene.quantiles[k / 4u][k % 4u];
}

// From 0 for one nonzero (or few) to 1 for the fullest cell.
fn position_of(count: f32) -> f32 {
    if (scene.scale == 2u) {
        var rank = 0.0;
        for (var k = 0u; k < 15u; k++) {
            let low = quantile(k);
            let high = quantile(k + 1u);
            if (count > low) {
                rank = f32(k) + min((count - low) / max(high - low, 1e-9), 1.0);
            }
        }
        return rank / 15.0;
    }
    if (scene.max <= 1.0) {
        return 1.0;
    }
    if (scene.scale == 1u) {
        return (count - 1.0) / (scene.max - 1.0);
    }
    return log(count) / log(scene.max);
}

fn linear(gamma: vec3<f32>) -> vec3<f32> {
    let low = gamma / 12.92;
    let high = pow((gamma + 0.055) / 1.055, vec3<f32>(2.4));
    return select(high, low, gamma < vec3<f32>(0.04045));
}

@fragment
fn color(corner: Corner) -> @location(0) vec4<f32> {
    let at = scene.first + corner.at * scene.shown;
    if (any(at < vec2<f32>(0.0)) || any(at >= scene.cells)) {
        discard;
    }
    let count = count_at(vec2<i32>(at));
    var out = scene.empty.rgb;
    if (count > 0.0) {
        let place = clamp(position_of(count), 0.0, 1.0) * 15.0;
        let low = min(u32(place), 14u);
        out = mix(scene.stops[low].rgb, scene.stops[low + 1u].rgb, place - f32(low));
    }
    if (scene.linear_output == 1u) {
        out = linear(out);
    }
    return vec4<f32>(out, 1.0);
}
