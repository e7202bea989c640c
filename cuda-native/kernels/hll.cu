// y = A x, A in hacked ELLPACK with row-major hacks: the four kernels of the Tor Vergata paper.
// A hack's slots begin at offsets[hack]; its rows are max_nzr[hack] slots wide. Padding is
// multiplied. The hack size is a power of two.

// cuda/hll/thread-per-hack (v1): one thread per hack.
extern "C" __global__ void hll_thread_per_hack(
    u32 rows, u32 hack_size, u32 hacks, const u64* offsets, const u32* max_nzr, const u32* col,
    const real* val, const real* x, real* y)
{
    const u64 hack = thread_in_grid();
    if (hack >= hacks) return;
    const u64 first = hack * hack_size;
    const u32 width = max_nzr[hack];
    for (u64 row = first; row < first + hack_size && row < rows; row++) {
        const u64 start = offsets[hack] + (row - first) * width;
        real sum = 0;
        for (u32 j = 0; j < width; j++) sum += val[start + j] * x[col[start + j]];
        put_row(y, row, sum);
    }
}

// cuda/hll/thread-per-row (v2): one thread per row.
extern "C" __global__ void hll_thread_per_row(
    u32 rows, u32 hack_size, u32 hacks, const u64* offsets, const u32* max_nzr, const u32* col,
    const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 hack = row / hack_size;
    const u32 width = max_nzr[hack];
    const u64 start = offsets[hack] + row % hack_size * width;
    real sum = 0;
    for (u32 j = 0; j < width; j++) sum += val[start + j] * x[col[start + j]];
    put_row(y, row, sum);
}

// cuda/hll/shared-x (v3): as v2, with the first elements of x, one per thread, in shared memory.
extern "C" __global__ void hll_shared_x(
    u32 rows, u32 hack_size, u32 hacks, const u64* offsets, const u32* max_nzr, const u32* col,
    const real* val, const real* x, real* y, u32 cols)
{
    extern __shared__ real first_of_x[];
    const u32 kept = blockDim.x < cols ? blockDim.x : cols;
    if (threadIdx.x < kept) first_of_x[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 hack = row / hack_size;
    const u32 width = max_nzr[hack];
    const u64 start = offsets[hack] + row % hack_size * width;
    real sum = 0;
    for (u32 j = 0; j < width; j++) {
        const u32 c = col[start + j];
        sum += val[start + j] * (c < kept ? first_of_x[c] : x[c]);
    }
    put_row(y, row, sum);
}

// cuda/hll/warp-per-row (v4): one warp per row, shuffle reduction, shifts and masks for divisions.
extern "C" __global__ void hll_warp_per_row(
    u32 rows, u32 hack_size, u32 hacks, const u64* offsets, const u32* max_nzr, const u32* col,
    const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid() >> 5;
    const u32 lane = threadIdx.x & (WARP - 1);
    if (row >= rows) return;
    const u64 hack = row >> (__ffs(hack_size) - 1);
    const u32 width = max_nzr[hack];
    const u64 start = offsets[hack] + (row & (hack_size - 1)) * width;
    real sum = 0;
    for (u64 j = lane; j < width; j += WARP) sum += val[start + j] * x[col[start + j]];
    sum = warp_sum(sum);
    if (lane == 0) put_row(y, row, sum);
}
