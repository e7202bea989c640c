// y = A x, A in hacked ELLPACK with column-major hacks. A hack's slots begin at offsets[hack]; slot
// j of its row r lies j * hack_size + r further. The hack size is a power of two. Adjacent lanes
// have adjacent rows; where rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th
// or 8th slot. Rows end at their own length: padding is not multiplied.

// Slots of a row that a lane loads before it waits for the first.
const u32 IN_FLIGHT = 3;

// Sum over the slots of the row at a position, in the first of its lanes.
__device__ inline real sum_of_row(
    u64 position, bool exists, u32 lanes, u32 hack_size, const u64* offsets, const u32* row_len,
    const u32* col, const real* val, const real* x)
{
    const u32 rows_a_warp = WARP / lanes, share = threadIdx.x % WARP / rows_a_warp;
    u32 length = 0;
    u64 first = 0;
    if (exists) {
        length = row_len[position];
        first = offsets[position / hack_size] + position % hack_size;
    }
    real sum = 0;
    for (u32 j = share; j < length; j += IN_FLIGHT * lanes) {
        u32 c[IN_FLIGHT];
        real v[IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            const u64 at = first + (u64)slot * hack_size;
            c[i] = slot < length ? __ldcs(&col[at]) : 0;
            v[i] = slot < length ? __ldcs(&val[at]) : 0;
        }
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++)
            if (j + i * lanes < length) sum += v[i] * __ldg(&x[c[i]]);
    }
    for (u32 distance = WARP / 2; distance >= rows_a_warp; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// The row of this thread when `lanes` lanes share one.
__device__ inline u64 row_of_thread(u64 thread, u32 lanes) {
    const u32 rows_a_warp = WARP / lanes;
    return thread / WARP * rows_a_warp + thread % rows_a_warp;
}

// cuda/hll/column-major: rows in their own order.
extern "C" __global__ void hll_column_major(
    u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, const u32* col,
    const real* val, const real* x, real* y)
{
    const u64 row = row_of_thread(thread_in_grid(), lanes);
    const real sum =
        sum_of_row(row, row < rows, lanes, hack_size, offsets, row_len, col, val, x);
    if (row < rows && threadIdx.x % WARP < WARP / lanes) put_row(y, row, sum);
}

// cuda/hll/sigma: rows sorted by length within windows, row_of maps positions to rows; the first
// blocks take the rows kept apart, one each, in CSR.
extern "C" __global__ void hll_sigma(
    u32 in_hacks, u32 apart, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len,
    const u32* row_of, const u32* col, const real* val, const u64* tail_ptr, const u32* tail_col,
    const real* tail_val, const real* x, real* y)
{
    extern __shared__ real partial[];
    if (blockIdx.x < apart) {
        real sum = 0;
        const u64 end = tail_ptr[blockIdx.x + 1];
        for (u64 k = tail_ptr[blockIdx.x] + threadIdx.x; k < end; k += IN_FLIGHT * blockDim.x) {
            u32 c[IN_FLIGHT];
            real v[IN_FLIGHT];
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++) {
                const u64 at = k + i * blockDim.x;
                c[i] = at < end ? __ldcs(&tail_col[at]) : 0;
                v[i] = at < end ? __ldcs(&tail_val[at]) : 0;
            }
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++)
                if (k + i * blockDim.x < end) sum += v[i] * __ldg(&x[c[i]]);
        }
        sum = warp_sum(sum);
        if (threadIdx.x % WARP == 0) partial[threadIdx.x / WARP] = sum;
        __syncthreads();
        if (threadIdx.x >= WARP) return;
        sum = warp_sum(threadIdx.x < blockDim.x / WARP ? partial[threadIdx.x] : 0);
        if (threadIdx.x == 0) put_row(y, row_of[in_hacks + blockIdx.x], sum);
        return;
    }
    const u64 thread = (u64)(blockIdx.x - apart) * blockDim.x + threadIdx.x;
    const u64 position = row_of_thread(thread, lanes);
    const bool exists = position < in_hacks;
    const u32 row = exists ? row_of[position] : 0;
    const real sum =
        sum_of_row(position, exists, lanes, hack_size, offsets, row_len, col, val, x);
    if (exists && threadIdx.x % WARP < WARP / lanes) put_row(y, row, sum);
}
