// Before every family. y lies between guards in one binding, so that a store beside it is seen, and is not
// moved to y's end by whoever checks indices.

const GUARD: u32 = 64u;

struct Params {
    // Rows of the matrix.
    rows: u32,
    // Entries of COO, slots a row of ELLPACK, or hacks of HLL.
    count: u32,
    // Rows a hack, a power of two.
    hack_size: u32,
    // Invocations that share a row, where that is the host's choice.
    lanes: u32,
    // Workgroups, and how many of them lie in x: more than 65 535 are spread over x and y.
    groups: u32,
    across: u32,
    // What of x a kernel may look at, to make the structure a multiple of 16 bytes.
    cols: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

// Invocations a workgroup.
override block: u32 = 128u;

// The number of a workgroup; of those in the last row of the grid some are beyond the last.
fn group_of(id: vec3<u32>) -> u32 {
    return id.y * params.across + id.x;
}
