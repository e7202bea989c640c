// cuda/bsr/warp: y = A x, A in blocks of B x B, each row-major; one warp per block row. The warp
// handles as many columns at once as fit, B lanes each, so that a lane stays in one row. Zeros in
// blocks are multiplied.

// Columns that a lane loads before it waits for the first.
const u32 AHEAD = 4;

template <u32 B>
__device__ inline void product_of_block_row(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x,
    real* y)
{
    const u32 AT_ONCE = WARP / B;
    const u64 block_row = thread_in_grid() / WARP;
    if (block_row * B >= rows) return;
    const u32 lane = threadIdx.x % WARP, i = lane % B, share = lane / B;
    const u64 begin = row_ptr[block_row];
    const u64 columns = (row_ptr[block_row + 1] - begin) * B;
    real sum = 0;
    if (share < AT_ONCE) {
        for (u64 k = share; k < columns; k += AHEAD * AT_ONCE) {
            u64 c[AHEAD];
            real v[AHEAD];
#pragma unroll
            for (u32 n = 0; n < AHEAD; n++) {
                const u64 at = k + n * AT_ONCE, block = begin + at / B;
                const u32 j = at % B;
                c[n] = at < columns ? (u64)col[block] * B + j : cols;
                v[n] = at < columns ? __ldcs(&val[block * (B * B) + i * B + j]) : 0;
            }
            // The last block may extend past the last column.
#pragma unroll
            for (u32 n = 0; n < AHEAD; n++)
                if (c[n] < cols) sum += v[n] * __ldg(&x[c[n]]);
        }
    }
    // Tree reduction over the lanes of one row; their number need not be a power of two.
#pragma unroll
    for (u32 distance = 8; distance > 0; distance /= 2) {
        const real other = __shfl_down_sync(ALL_LANES, sum, distance * B % WARP);
        if (share < distance && share + distance < AT_ONCE) sum += other;
    }
    if (share == 0 && block_row * B + i < rows) put_row(y, block_row * B + i, sum);
}

extern "C" __global__ void bsr_warp_2(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<2>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_3(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<3>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_4(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<4>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_5(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<5>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_6(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<6>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_7(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<7>(rows, cols, row_ptr, col, val, x, y);
}

extern "C" __global__ void bsr_warp_8(
    u32 rows, u32 cols, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y)
{
    product_of_block_row<8>(rows, cols, row_ptr, col, val, x, y);
}
