// What GPUs send to one another: elements of x that other GPUs' rows need, put side by side.

// out[i] = x[list[i]].
extern "C" __global__ void halo_pack(u32 n, const u32* list, const real* x, real* out) {
    const u64 i = thread_in_grid();
    if (i < n) out[i] = x[list[i]];
}
