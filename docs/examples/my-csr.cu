// y = A x, A in CSR: a warp per row, as cuda/csr/warp-shuffle, but each lane has two sums, so that the loads of
// one need not wait for those of the other. docs/your-own-kernel.md explains the lines below.
//
// sparsescope kernel
// family: csr
// mapping: warp-per-row
// shared: 0
// block-sizes: 64, 128, 256

extern "C" __global__ void two_sums(
    u32 rows, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (row >= rows) return; // Whole warps leave: the grid is rounded up to blocks.
    const u64 end = row_ptr[row + 1];
    u64 k = (u64)row_ptr[row] + lane;
    real first = 0, second = 0;
    for (; k + WARP < end; k += 2 * WARP) {
        first += val[k] * x[col[k]];
        second += val[k + WARP] * x[col[k + WARP]];
    }
    if (k < end) first += val[k] * x[col[k]];
    const real sum = warp_sum(first + second);
    if (lane == 0) y[row] = sum;
}
