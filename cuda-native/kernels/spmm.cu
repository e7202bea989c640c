// Y = A X, where X has several columns; X and Y are stored by rows.

// Adjacent columns that a thread loads and stores at once.
template <u32 COUNT>
struct alignas(COUNT * sizeof(real)) Pack {
    real of[COUNT];
};

// One thread per COUNT columns of a row. `columns` is a multiple of COUNT, so that every pack is
// aligned.
template <u32 COUNT>
__device__ inline void row_split(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const real* val, const real* x,
    real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), row = thread / packs;
    if (row >= rows) return;
    const u64 pack = thread - row * packs;
    const Pack<COUNT>* const from = (const Pack<COUNT>*)x + pack;
    Pack<COUNT> sums = {};
    const offset end = row_ptr[row + 1];
#pragma unroll 4
    for (offset e = row_ptr[row]; e < end; e++) {
        const real v = val[e];
        const Pack<COUNT> add = from[(u64)col[e] * packs];
#pragma unroll
        for (u32 c = 0; c < COUNT; c++) sums.of[c] += v * add.of[c];
    }
    ((Pack<COUNT>*)y)[row * packs + pack] = sums;
}

// cuda/spmm/row-split: adjacent threads on adjacent columns of X, row after row. Each takes 1, 2 or
// 4 columns.
extern "C" __global__ void spmm_row_split_1(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const real* val, const real* x,
    real* y)
{
    row_split<1>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_2(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const real* val, const real* x,
    real* y)
{
    row_split<2>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_4(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const real* val, const real* x,
    real* y)
{
    row_split<4>(rows, columns, row_ptr, col, val, x, y);
}
