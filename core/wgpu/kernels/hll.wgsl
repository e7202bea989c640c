// y = A x, A in hacked ELLPACK. A hack's slots begin at offsets[hack]. The hack size is a power of two.

@group(0) @binding(1) var<storage, read> offsets: array<u32>;
// The width of each hack if hacks are row-major, the length of each row if they are column-major.
@group(0) @binding(2) var<storage, read> width: array<u32>;
@group(0) @binding(3) var<storage, read> col: array<u32>;
@group(0) @binding(4) var<storage, read> val: array<f32>;
@group(0) @binding(5) var<storage, read> x: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

// The dot product of the row at `local` of a row-major hack.
fn row_of_hack(hack: u32, local: u32) -> f32 {
    let slots = width[hack];
    let first = offsets[hack] + local * slots;
    return sum_of_slots(first, first + slots);
}

// wgpu/hll/thread-per-hack (the paper's v1): one invocation per hack, padding multiplied.
@compute @workgroup_size(block)
fn hll_thread_per_hack(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let hack = group_of(id) * block + local;
    if (hack < params.count) {
        let first = hack * params.hack_size;
        let end = min(first + params.hack_size, params.rows);
        for (var row = first; row < end; row++) {
            y[GUARD + row] = row_of_hack(hack, row - first);
        }
    }
}

// wgpu/hll/thread-per-row (the paper's v2): one invocation per row, padding multiplied.
@compute @workgroup_size(block)
fn hll_thread_per_row(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * block + local;
    if (row < params.rows) {
        y[GUARD + row] = row_of_hack(row / params.hack_size, row % params.hack_size);
    }
}

const WARP: u32 = 32u;

var<workgroup> partial: array<f32, block>;

// wgpu/hll/column-major: adjacent invocations on adjacent rows; if there are few rows, 2, 4 or 8 share one
// and each takes every 2nd, 4th or 8th slot. Stops at the row's length. Three slots are loaded before the
// first is used.
@compute @workgroup_size(block)
fn hll_column_major(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let lanes = params.lanes;
    let rows_at_once = WARP / lanes;
    let warp = group_of(id) * (block / WARP) + local / WARP;
    let row = warp * rows_at_once + local % rows_at_once;
    let share = local % WARP / rows_at_once;
    var sum = 0.0;
    if (row < params.rows) {
        let length = width[row];
        let hack_size = params.hack_size;
        let first = offsets[row / hack_size] + row % hack_size;
        var j = share;
        for (; j + 2u * lanes < length; j += 3u * lanes) {
            let a = first + j * hack_size;
            let b = a + lanes * hack_size;
            let c = b + lanes * hack_size;
            let col_a = col[a];
            let col_b = col[b];
            let col_c = col[c];
            let val_a = val[a];
            let val_b = val[b];
            let val_c = val[c];
            sum += val_a * x[col_a];
            sum += val_b * x[col_b];
            sum += val_c * x[col_c];
        }
        for (; j < length; j += lanes) {
            let slot = first + j * hack_size;
            sum += val[slot] * x[col[slot]];
        }
    }
    // Uniform: whether there is anything to add.
    if (lanes > 1u) {
        partial[local] = sum;
        workgroupBarrier();
        if (share == 0u) {
            for (var i = 1u; i < lanes; i++) {
                sum += partial[local + i * rows_at_once];
            }
        }
    }
    if (share == 0u && row < params.rows) {
        y[GUARD + row] = sum;
    }
}
