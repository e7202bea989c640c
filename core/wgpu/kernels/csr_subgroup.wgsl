// y = A x, A in CSR, for devices with subgroups. Their size is known only here, and may differ from kernel to
// kernel: the grid is laid out for the smallest possible size, and loops over further rows if they are
// larger. Every subgroup makes as many rounds as the others of its workgroup.

@group(0) @binding(1) var<storage, read> row_ptr: array<u32>;
@group(0) @binding(2) var<storage, read> col: array<u32>;
@group(0) @binding(3) var<storage, read> val: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
// The actual subgroup size.
@group(0) @binding(6) var<storage, read_write> seen: array<u32>;

// wgpu/csr/subgroup-per-row: one subgroup per row, the sums of its invocations added by subgroupAdd.
@compute @workgroup_size(block)
fn csr_subgroup_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let group = group_of(id);
    if (group == 0u && local == 0u) {
        seen[0] = size;
    }
    // A workgroup may be smaller than a subgroup.
    let width = min(size, block);
    let at_once = block / width;
    // Workgroups of the grid beyond the last have nothing to do.
    let begin = select(params.rows, group * at_once, group < params.groups);
    for (var first = begin; first < params.rows; first += params.groups * at_once) {
        let row = first + local / width;
        let end = row_ptr[min(row + 1u, params.rows)];
        var sum = 0.0;
        for (var k = row_ptr[min(row, params.rows)] + lane; k < end; k += width) {
            sum += val[k] * x[col[k]];
        }
        sum = subgroupAdd(sum);
        if (lane == 0u && row < params.rows) {
            y[GUARD + row] = sum;
        }
    }
}
