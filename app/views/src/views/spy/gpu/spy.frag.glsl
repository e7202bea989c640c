#version 300 es
// Colours the cells of one level of a matrix's pyramid, as `spy.wgsl` does.

precision highp float;
precision highp int;
precision highp usampler2D;
precision highp sampler2DArray;

layout(std140) uniform Scene {
    // Column and row of cells at the upper left corner, and how many the picture shows.
    vec2 first;
    vec2 shown;
    // Cells of the level.
    vec2 cells;
    // First line of the level in the table of tiles; 1 if the level is not the finest.
    uint table_row;
    uint coarse;
    // 0 logarithmic, 1 linear, 2 by rank.
    uint scale;
    // Always 0: a page's framebuffer takes colours as they are.
    uint linear_output;
    float most;
    float unused;
    vec4 quantiles[4];
    vec4 stops[16];
    vec4 empty;
} scene;

// Number of the layer that holds a tile's counts, from 1; 0 for a tile without nonzeros.
uniform usampler2D table;
// Counts of the finest level's tiles, and of all coarser levels'.
uniform sampler2DArray finest;
uniform sampler2DArray coarser;

in highp vec2 corner;
out vec4 color;

float count_at(ivec2 cell) {
    ivec2 tile = cell >> 8;
    int layer = int(texelFetch(table, ivec2(tile.x, tile.y + int(scene.table_row)), 0).r);
    if (layer == 0) {
        return 0.0;
    }
    ivec3 texel = ivec3(cell & 255, layer - 1);
    return scene.coarse == 1u ? texelFetch(coarser, texel, 0).r : texelFetch(finest, texel, 0).r;
}

// From 0 for one nonzero (or few) to 1 for the fullest cell.
float position_of(float count) {
    if (scene.scale == 2u) {
        float rank = 0.0;
        for (int k = 0; k < 15; k++) {
            float low = scene.quantiles[k / 4][k % 4];
            float high = scene.quantiles[(k + 1) / 4][(k + 1) % 4];
            if (count > low) {
                rank = float(k) + min((count - low) / max(high - low, 1e-9), 1.0);
            }
        }
        return rank / 15.0;
    }
    if (scene.most <= 1.0) {
        return 1.0;
    }
    if (scene.scale == 1u) {
        return (count - 1.0) / (scene.most - 1.0);
    }
    return log(count) / log(scene.most);
}

void main() {
    vec2 at = scene.first + corner * scene.shown;
    if (any(lessThan(at, vec2(0.0))) || any(greaterThanEqual(at, scene.cells))) {
        discard;
    }
    float count = count_at(ivec2(at));
    vec3 mixed = scene.empty.rgb;
    if (count > 0.0) {
        float place = clamp(position_of(count), 0.0, 1.0) * 15.0;
        int low = min(int(place), 14);
        mixed = mix(scene.stops[low].rgb, scene.stops[low + 1].rgb, place - float(low));
    }
    color = vec4(mixed, 1.0);
}
