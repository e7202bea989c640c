// Halo exchange between GPUs: packs the elements of x that other GPUs' rows need.

// out[i] = x[list[i]].
extern "C" __global__ void halo_pack(u32 n, const u32* list, const real* x, real* out) {
    const u64 i = thread_in_grid();
    if (i < n) out[i] = x[list[i]];
}
