// y = A x, A in CSR.

@group(0) @binding(1) var<storage, read> row_ptr: array<u32>;
@group(0) @binding(2) var<storage, read> col: array<u32>;
@group(0) @binding(3) var<storage, read> val: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// wgpu/csr/thread-per-row: one invocation per row.
@compute @workgroup_size(block)
fn csr_thread_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * block + local;
    if (row < params.rows) {
        let end = row_ptr[row + 1u];
        var sum = 0.0;
        for (var k = row_ptr[row]; k < end; k++) {
            sum += val[k] * x[col[k]];
        }
        y[GUARD + row] = sum;
    }
}

// Invocations that share a row.
const WARP: u32 = 32u;

var<workgroup> partial: array<f32, block>;

// wgpu/csr/shared-per-row: 32 invocations per row, whose sums are added in workgroup memory. Rows past the
// last have no nonzeros and store nothing, because every invocation has to reach the barriers.
@compute @workgroup_size(block)
fn csr_shared_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * (block / WARP) + local / WARP;
    let lane = local % WARP;
    let end = row_ptr[min(row + 1u, params.rows)];
    var sum = 0.0;
    for (var k = row_ptr[min(row, params.rows)] + lane; k < end; k += WARP) {
        sum += val[k] * x[col[k]];
    }
    partial[local] = sum;
    workgroupBarrier();
    for (var half = WARP / 2u; half > 0u; half /= 2u) {
        if (lane < half) {
            partial[local] += partial[local + half];
        }
        workgroupBarrier();
    }
    if (lane == 0u && row < params.rows) {
        y[GUARD + row] = partial[local];
    }
}
