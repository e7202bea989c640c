// y = A x, A in COO, nonzeros in row order (wgpu/coo/segmented).
//
// Each workgroup takes a span of ITEMS nonzeros per invocation. Their products are stored consecutively in
// workgroup memory; each invocation adds its own few from left to right, and a segmented scan over the
// invocations adds rows that extend over several of them. A row is stored by the span in which it begins,
// even if it continues beyond that span; the part of a span that continues a row of the previous span is
// carried, and added in a second pass in the order of spans. So there are no atomics, and the result is the
// same from run to run.

@group(0) @binding(1) var<storage, read> row_of: array<u32>;
@group(0) @binding(2) var<storage, read> col: array<u32>;
@group(0) @binding(3) var<storage, read> val: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
// For each span, the row that continues from the previous span, or NO_ROW, and the sum of its part here.
@group(0) @binding(6) var<storage, read_write> carry_row: array<u32>;
@group(0) @binding(7) var<storage, read_write> carry_sum: array<f32>;

const ITEMS: u32 = 4u;
const NO_ROW: u32 = 0xffffffffu;

var<workgroup> products: array<f32, block * ITEMS>;
var<workgroup> rows: array<u32, block * ITEMS>;
// The partial sum of each invocation's last row, and whether that row began in the invocation.
var<workgroup> open_sum: array<f32, block>;
var<workgroup> begins: array<u32, block>;

// Rows without nonzeros get a sum, too.
@compute @workgroup_size(block)
fn coo_zero(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let row = group_of(id) * block + local;
    if (row < params.rows) {
        y[GUARD + row] = 0.0;
    }
}

@compute @workgroup_size(block)
fn coo_segmented(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let span = group_of(id);
    let begin = span * block * ITEMS;
    for (var i = 0u; i < ITEMS; i++) {
        let at = i * block + local;
        let k = begin + at;
        var product = 0.0;
        var row = NO_ROW;
        if (k < params.count) {
            product = val[k] * x[col[k]];
            row = row_of[k];
        }
        products[at] = product;
        rows[at] = row;
    }
    workgroupBarrier();

    // The row that continues from the previous span.
    var shared_row = NO_ROW;
    if (begin > 0u && begin < params.count) {
        let before = row_of[begin - 1u];
        if (before == rows[0]) {
            shared_row = before;
        }
    }

    // The sum of this invocation's last row, from its first nonzero here.
    let first = local * ITEMS;
    let last = first + ITEMS - 1u;
    var sum = 0.0;
    var is_begun = 0u;
    var previous = NO_ROW;
    if (local > 0u) {
        previous = rows[first - 1u];
    }
    for (var i = first; i <= last; i++) {
        if (rows[i] != previous) {
            sum = 0.0;
            is_begun = 1u;
        }
        sum += products[i];
        previous = rows[i];
    }

    // Inclusive segmented scan: the sum of each invocation's last row up to its last nonzero.
    open_sum[local] = sum;
    begins[local] = is_begun;
    workgroupBarrier();
    for (var distance = 1u; distance < block; distance *= 2u) {
        var before = 0.0;
        var flag = 1u;
        if (local >= distance) {
            before = open_sum[local - distance];
            flag = begins[local - distance];
        }
        workgroupBarrier();
        if (local >= distance && begins[local] == 0u) {
            open_sum[local] += before;
            begins[local] = flag;
        }
        workgroupBarrier();
    }

    // Every row is finished by the invocation that has its last nonzero in the span.
    sum = 0.0;
    if (local > 0u) {
        sum = open_sum[local - 1u];
        if (rows[first] != rows[first - 1u]) {
            sum = 0.0;
        }
    }
    for (var i = first; i <= last; i++) {
        let row = rows[i];
        sum += products[i];
        var next = NO_ROW;
        if (i + 1u < block * ITEMS) {
            next = rows[i + 1u];
        }
        if (row != NO_ROW && row != next) {
            if (row == shared_row) {
                carry_sum[span] = sum;
            } else {
                y[GUARD + row] = sum;
            }
        }
        if (row != next) {
            sum = 0.0;
        }
    }
    if (local == 0u && begin < params.count) {
        carry_row[span] = shared_row;
    }
}

// One invocation per span: the first of the spans that carry to the same row adds for all of them.
@compute @workgroup_size(block)
fn coo_carry(
    @builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
) {
    let span = group_of(id) * block + local;
    let spans = params.lanes;
    if (span < spans) {
        let row = carry_row[span];
        var before = NO_ROW;
        if (span > 0u) {
            before = carry_row[span - 1u];
        }
        if (row != NO_ROW && row != before) {
            var sum = 0.0;
            for (var k = span; k < spans; k++) {
                if (carry_row[k] != row) {
                    break;
                }
                sum += carry_sum[k];
            }
            y[GUARD + row] += sum;
        }
    }
}
