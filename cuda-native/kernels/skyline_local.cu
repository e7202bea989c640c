// The skyline with each thread's own point in its own array, of at most WIDTH coordinates.

// Records the result for point i after comparing it with `seen` points, possibly including itself.
__device__ inline void tell(
    u32 i, u32 seen, bool dominated, u32 counting, u8* kept, u32* count, u64* comparisons)
{
    kept[i] = !dominated;
    if (counting && !dominated) atomicAdd(count, 1);
    atomicAdd(comparisons, (u64)(seen - (i < seen)));
}

// cuda/skyline/row-major-local, cuda/skyline/coalesced-local: the own point in local memory, since
// the loops are not unrolled. Coordinate k of point j is at j·after + k·beside.
__device__ inline void in_local_memory(
    u32 points, u32 dimensions, u64 after, u64 beside, u32 counting, const double* x, u8* kept,
    u32* count, u64* comparisons)
{
    const u64 i = thread_in_grid();
    if (i >= points) return;
    double q[WIDTH];
#pragma unroll 1
    for (u32 k = 0; k < dimensions; k++) q[k] = x[i * after + k * beside];
    bool dominated = false;
    u32 j = 0;
    for (; j < points && !dominated; j++) {
        const double* p = x + j * after;
        bool larger = false;
        u32 k = 0;
#pragma unroll 1
        for (; k < dimensions && p[k * beside] >= q[k]; k++) larger |= p[k * beside] > q[k];
        dominated = k == dimensions && larger;
    }
    tell((u32)i, j, dominated, counting, kept, count, comparisons);
}

extern "C" __global__ void skyline_row_major_local(
    u32 points, u32 dimensions, u32 counting, const double* x, u8* kept, u32* count,
    u64* comparisons)
{
    in_local_memory(points, dimensions, dimensions, 1, counting, x, kept, count, comparisons);
}

extern "C" __global__ void skyline_coalesced_local(
    u32 points, u32 dimensions, u32 counting, const double* x, u8* kept, u32* count,
    u64* comparisons)
{
    in_local_memory(points, dimensions, 1, points, counting, x, kept, count, comparisons);
}

#if WIDTH <= 32

// cuda/skyline/coalesced-registers: the same with unrolled loops, so that the own point stays in
// registers; at most 32 dimensions.
extern "C" __global__ void skyline_coalesced_registers(
    u32 points, u32 dimensions, u32 counting, const double* x, u8* kept, u32* count,
    u64* comparisons)
{
    const u64 i = thread_in_grid();
    if (i >= points) return;
    double q[WIDTH];
#pragma unroll
    for (u32 k = 0; k < WIDTH; k++) q[k] = k < dimensions ? x[(u64)k * points + i] : 0;
    bool dominated = false;
    u32 j = 0;
    for (; j < points && !dominated; j++) {
        bool larger = false, smaller = false;
#pragma unroll
        for (u32 k = 0; k < WIDTH; k++) {
            if (k == dimensions) break;
            const double p = x[(u64)k * points + j];
            smaller = p < q[k];
            if (smaller) break;
            larger |= p > q[k];
        }
        dominated = !smaller && larger;
    }
    tell((u32)i, j, dominated, counting, kept, count, comparisons);
}

#endif
