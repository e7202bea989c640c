// y = A x, A in ELLPACK with the same width for all rows.

@group(0) @binding(1) var<storage, read> row_len: array<u32>;
@group(0) @binding(2) var<storage, read> col: array<u32>;
@group(0) @binding(3) var<storage, read> val: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// wgpu/ell/thread-per-row: one invocation per row, slots row-major, padding multiplied.
@compute @workgroup_size(block)
fn ell_thread_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * block + local;
    if (row < params.rows) {
        let first = row * params.count;
        y[GUARD + row] = sum_of_slots(first, first + params.count);
    }
}

// wgpu/ell/column-major: one invocation per row, slots column-major, so that adjacent invocations load
// adjacent slots; stops at the row's length.
@compute @workgroup_size(block)
fn ell_column_major(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * block + local;
    if (row < params.rows) {
        let length = row_len[row];
        var sum = 0.0;
        for (var j = 0u; j < length; j++) {
            let slot = j * params.rows + row;
            sum += val[slot] * x[col[slot]];
        }
        y[GUARD + row] = sum;
    }
}
