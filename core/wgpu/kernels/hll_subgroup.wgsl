// y = A x, A in hacked ELLPACK with row-major hacks, for devices with subgroups. As in csr_subgroup.wgsl the
// grid is laid out for the smallest possible subgroups.

@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> width: array<u32>;
@group(0) @binding(3) var<storage, read> col: array<u32>;
@group(0) @binding(4) var<storage, read> val: array<f32>;
@group(0) @binding(5) var<storage, read> x: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
// The actual subgroup size.
@group(0) @binding(7) var<storage, read_write> seen: array<u32>;

// wgpu/hll/subgroup-per-row (the paper's v4): one subgroup per row, the sums of its invocations added by
// subgroupAdd, padding multiplied.
@compute @workgroup_size(block)
fn hll_subgroup_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let group = group_of(id);
    if (group == 0u && local == 0u) {
        seen[0] = size;
    }
    // A workgroup may be smaller than a subgroup.
    let share = min(size, block);
    let at_once = block / share;
    // Workgroups of the grid beyond the last have nothing to do.
    let begin = select(params.rows, group * at_once, group < params.groups);
    for (var first = begin; first < params.rows; first += params.groups * at_once) {
        let row = first + local / share;
        var sum = 0.0;
        if (row < params.rows) {
            let hack = row / params.hack_size;
            let slots = width[hack];
            let start = offsets[hack] + row % params.hack_size * slots;
            for (var j = lane; j < slots; j += share) {
                sum += val[start + j] * x[col[start + j]];
            }
        }
        sum = subgroupAdd(sum);
        if (lane == 0u && row < params.rows) {
            y[GUARD + row] = sum;
        }
    }
}
