// Prepended to every family. y lies between guards in one binding, so that a store outside y is detected, and
// is not moved to the end of y by bounds checks.

const GUARD: u32 = 64u;

struct Params {
    // Rows of the matrix.
    rows: u32,
    // Nonzeros of COO, slots per row of ELLPACK, hacks of HLL, or columns of X in SpMM.
    count: u32,
    // Rows per hack, a power of two.
    hack_size: u32,
    // Invocations per row, where the host chooses.
    lanes: u32,
    // Number of workgroups, and their count in x: more than 65 535 are spread over x and y.
    groups: u32,
    across: u32,
    // Elements of x that a kernel may prefetch; pads the structure to a multiple of 16 bytes.
    cols: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// Invocations per workgroup.
override block: u32 = 128u;

// The number of a workgroup; in the last row of the grid it may exceed the last.
fn group_of(id: vec3<u32>) -> u32 {
    return id.y * params.across + id.x;
}
