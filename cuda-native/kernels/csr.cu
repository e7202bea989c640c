// y = A x, A in CSR: the papers' kernels. Pointers carry no __restrict__, so that only the warp-ldg
// kernel loads through the read-only path.

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
