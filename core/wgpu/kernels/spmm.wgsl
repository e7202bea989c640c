// Y = A X, A in CSR; X and Y have several columns and are stored by rows.

@group(0) @binding(1) var<storage, read> row_ptr: array<u32>;
@group(0) @binding(2) var<storage, read> col: array<u32>;
@group(0) @binding(3) var<storage, read> val: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

// wgpu/spmm/row-split: adjacent invocations on adjacent columns of X, row after row. Each keeps the sums of 1,
// 2 or 4 columns, as far apart as there are invocations per row, so that a row loads adjacent elements of X.
@compute @workgroup_size(block)
fn spmm_row_split(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let lanes = params.lanes;
    let columns = params.count;
    let invocation = group_of(id) * block + local;
    let row = invocation / lanes;
    if (row < params.rows) {
        // The first exists; the others may lie beyond the last column.
        let own = vec4<u32>(invocation % lanes) + lanes * vec4<u32>(0u, 1u, 2u, 3u);
        let exists = own < vec4(columns);
        let end = row_ptr[row + 1u];
        var sum = vec4<f32>();
        for (var k = row_ptr[row]; k < end; k++) {
            let value = val[k];
            let row_of_x = col[k] * columns;
            sum.x += value * x[row_of_x + own.x];
            if (exists.y) {
                sum.y += value * x[row_of_x + own.y];
            }
            if (exists.z) {
                sum.z += value * x[row_of_x + own.z];
            }
            if (exists.w) {
                sum.w += value * x[row_of_x + own.w];
            }
        }
        let to = GUARD + row * columns;
        y[to + own.x] = sum.x;
        if (exists.y) {
            y[to + own.y] = sum.y;
        }
        if (exists.z) {
            y[to + own.z] = sum.z;
        }
        if (exists.w) {
            y[to + own.w] = sum.w;
        }
    }
}
