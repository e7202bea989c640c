// Measures memory bandwidth and evicts other data from the caches. Four words per step.

@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> sink: array<vec4<u32>>;

// sink = source.
@compute @workgroup_size(block)
fn memory_copy(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let step = params.groups * block;
    for (var i = group_of(id) * block + local; i < params.count; i += step) {
        sink[i] = source[i];
    }
}

// Reads all of source and stores a value that depends on it.
@compute @workgroup_size(block)
fn memory_read(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let step = params.groups * block;
    let first = group_of(id) * block + local;
    var all = vec4<u32>(0u);
    for (var i = first; i < params.count; i += step) {
        all ^= source[i];
    }
    sink[first % 64u] = all;
}
