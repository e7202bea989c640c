// y = A x, A in ELLPACK of one width for all rows.

// cuda/ell/thread-per-row: one thread per row, slots row-major, padding multiplied.
extern "C" __global__ void ell_thread_per_row(
    u32 rows, u32 width, const u32* col, const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    real sum = 0;
    for (u32 j = 0; j < width; j++) {
        const u64 slot = row * width + j;
        sum += val[slot] * x[col[slot]];
    }
    put_row(y, row, sum);
}

// One thread per row, slots column-major, so that a warp's loads are adjacent; stops at the row's
// length.
__device__ inline void product_of_row(
    u32 rows, const u32* row_len, const u32* col, const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u32 length = row_len[row];
    real sum = 0;
    for (u32 j = 0; j < length; j++) {
        const u64 slot = (u64)j * rows + row;
        sum += val[slot] * x[col[slot]];
    }
    put_row(y, row, sum);
}

// cuda/ell/column-major; also the first part of cuda/hyb/ell-coo.
extern "C" __global__ void ell_column_major(
    u32 rows, const u32* row_len, const u32* col, const real* val, const real* x, real* y)
{
    product_of_row(rows, row_len, col, val, x, y);
}

// The same while a solve is not over.
extern "C" __global__ void ell_column_major_solver(
    u32 rows, const u32* row_len, const u32* col, const real* val, const real* x, real* y,
    const u32* words)
{
    if (words[OVER] == 0) product_of_row(rows, row_len, col, val, x, y);
}
