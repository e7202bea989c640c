// y = A x, A in CSR: the papers' kernels, and one of ours. Pointers carry no __restrict__, so that
// of the papers' kernels only warp-ldg loads through the read-only path.

// cuda/csr/thread-per-row: one thread per row.
extern "C" __global__ void csr_thread_per_row(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    real sum = 0;
    for (offset k = row_ptr[row]; k < row_ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    put_row(y, row, sum);
}

// cuda/csr/warp-shuffle: one warp per row, the lanes' sums added by shuffles.
extern "C" __global__ void csr_warp_shuffle(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    const u64 row = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (row >= rows) return;
    const offset end = row_ptr[row + 1];
    real sum = 0;
    for (u64 k = (u64)row_ptr[row] + lane; k < end; k += WARP) sum += val[k] * x[col[k]];
    sum = warp_sum(sum);
    if (lane == 0) put_row(y, row, sum);
}

// cuda/csr/warp-shared: one warp per row, the lanes' sums added in shared memory.
extern "C" __global__ void csr_warp_shared(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    extern __shared__ real partial[];
    const u64 row = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (row >= rows) return; // Whole warps return; the others synchronise per warp.
    const offset end = row_ptr[row + 1];
    real sum = 0;
    for (u64 k = (u64)row_ptr[row] + lane; k < end; k += WARP) sum += val[k] * x[col[k]];
    partial[threadIdx.x] = sum;
    sum = warp_sum_shared(partial);
    if (lane == 0) put_row(y, row, sum);
}

// cuda/csr/warp-ldg: one warp per row, every load through the read-only path.
extern "C" __global__ void csr_warp_ldg(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    const u64 row = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (row >= rows) return;
    const offset end = __ldg(&row_ptr[row + 1]);
    real sum = 0;
    for (u64 k = (u64)__ldg(&row_ptr[row]) + lane; k < end; k += WARP)
        sum += read_only(&val[k]) * __ldg(&x[__ldg(&col[k])]);
    sum = warp_sum(sum);
    if (lane == 0) put_row(y, row, sum);
}

// cuda/csr/vector-mining: one warp per row, each lane accumulating in shared memory.
extern "C" __global__ void csr_vector_mining(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    extern __shared__ real partial[];
    volatile real* sums = partial; // Volatile: the sums must stay in shared memory.
    const u64 row = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (row >= rows) return;
    const offset end = row_ptr[row + 1];
    sums[threadIdx.x] = 0;
    for (u64 k = (u64)row_ptr[row] + lane; k < end; k += WARP)
        sums[threadIdx.x] += val[k] * x[col[k]];
    const real sum = warp_sum_shared(sums);
    if (lane == 0) put_row(y, row, sum);
}

// cuda/csr/lanes: 2 to 32 adjacent lanes share a row. Each has up to IN_FLIGHT of every LANES-th
// nonzero in flight, before it adds their products in this order; then the lanes' sums are added.
template <u32 LANES, u32 IN_FLIGHT>
__device__ inline void product_by_lanes(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    const u64 row = thread_in_grid() / LANES;
    const u32 lane = threadIdx.x % LANES;
    offset begin = 0, end = 0;
    if (row < rows) {
        begin = row_ptr[row];
        end = row_ptr[row + 1];
    }
    real sum = 0;
    for (offset k = begin + lane; k < end; k += LANES * IN_FLIGHT) {
        u32 c[IN_FLIGHT];
        value v[IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const offset at = k + i * LANES;
            c[i] = at < end ? __ldcs(&col[at]) : 0;
            v[i] = at < end ? streamed(&val[at]) : value{};
        }
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++)
            if (k + i * LANES < end) sum += v[i] * __ldg(&x[c[i]]);
    }
    for (u32 distance = LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance, LANES);
    if (lane == 0 && row < rows) put_row(y, row, sum);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_lanes_2x4(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    product_by_lanes<2, 4>(rows, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_lanes_4x4(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    product_by_lanes<4, 4>(rows, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_lanes_8x6(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    product_by_lanes<8, 6>(rows, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_lanes_16x6(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    product_by_lanes<16, 6>(rows, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_lanes_32x6(
    u32 rows, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y)
{
    product_by_lanes<32, 6>(rows, row_ptr, col, val, x, y);
}
