#version 300 es
// Two triangles over the whole viewport.

out highp vec2 corner;

void main() {
    highp vec2 at = vec2((0x34 >> gl_VertexID) & 1, (0x26 >> gl_VertexID) & 1);
    corner = at;
    gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
}
