// The skyline of N points in D dimensions, larger coordinates being better: one thread per point,
// which compares it with all others in order until one dominates it (Fabri 2021, section 3). Each
// thread records whether its point is kept, how many comparisons it made and, unless the host
// counts, adds 1 to the number of skyline points.

// Records the result for point i after comparing it with `seen` points, possibly including itself.
__device__ inline void tell(
    u32 i, u32 seen, bool dominated, u32 counting, u8* kept, u32* count, u64* comparisons)
{
    kept[i] = !dominated;
    if (counting && !dominated) atomicAdd(count, 1);
    atomicAdd(comparisons, (u64)(seen - (i < seen)));
}

// cuda/skyline/row-major: points stored one after the other, N×D.
extern "C" __global__ void skyline_row_major(
    u32 points, u32 dimensions, u32 counting, const double* x, u8* kept, u32* count,
    u64* comparisons)
{
    const u64 i = thread_in_grid();
    if (i >= points) return;
    const double* q = x + i * dimensions;
    bool dominated = false;
    u32 j = 0;
    for (; j < points && !dominated; j++) {
        const double* p = x + (u64)j * dimensions;
        bool larger = false;
        u32 k = 0;
        for (; k < dimensions && p[k] >= q[k]; k++) larger |= p[k] > q[k];
        dominated = k == dimensions && larger;
    }
    tell((u32)i, j, dominated, counting, kept, count, comparisons);
}

// cuda/skyline/coalesced: coordinates stored dimension by dimension, D×N, so that the threads of a
// warp read adjacent values.
extern "C" __global__ void skyline_coalesced(
    u32 points, u32 dimensions, u32 counting, const double* x, u8* kept, u32* count,
    u64* comparisons)
{
    const u64 i = thread_in_grid();
    if (i >= points) return;
    const double* q = x + i;
    bool dominated = false;
    u32 j = 0;
    for (; j < points && !dominated; j++) {
        const double* p = x + j;
        bool larger = false;
        u64 at = 0;
        const u64 end = (u64)dimensions * points;
        for (; at < end && p[at] >= q[at]; at += points) larger |= p[at] > q[at];
        dominated = at == end && larger;
    }
    tell((u32)i, j, dominated, counting, kept, count, comparisons);
}

// Transposes N×D into D×N, in tiles of 32 × 32: blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256) skyline_transpose(
    u32 points, u32 dimensions, u32 across, const double* rows, double* columns)
{
    __shared__ double tile[WARP][WARP + 1];
    const u32 lane = threadIdx.x % WARP, first = threadIdx.x / WARP;
    const u32 point = blockIdx.x / across * WARP, dimension = blockIdx.x % across * WARP;
    for (u32 r = first; r < WARP; r += 8)
        if (point + r < points && dimension + lane < dimensions)
            tile[r][lane] = rows[(u64)(point + r) * dimensions + dimension + lane];
    __syncthreads();
    for (u32 r = first; r < WARP; r += 8)
        if (dimension + r < dimensions && point + lane < points)
            columns[(u64)(dimension + r) * points + point + lane] = tile[lane][r];
}
