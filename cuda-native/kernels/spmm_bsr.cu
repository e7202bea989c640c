// Y = A X, where X has several columns and A is in blocks of WIDTH x WIDTH, each row-major; X and Y
// are stored by rows.

// Values of a row of a block that are loaded at once: rows of odd width are not aligned for more.
const u32 AT_ONCE = WIDTH % 2 == 0 ? 2 : 1;
struct alignas(AT_ONCE * sizeof(value)) Values {
    value of[AT_ONCE];
};

// One thread per COUNT columns of a block row: it keeps the sums of all rows, and loads a row of X
// once per column of a block. `columns` is a multiple of COUNT, so every pack is aligned.
template <u32 COUNT>
__device__ inline void block_row_split(
    u32 rows, u32 cols, u32 columns, const offset* row_ptr, const u32* col, const value* val,
    const real* x, real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), block_row = thread / packs;
    const u64 first_row = block_row * WIDTH;
    if (first_row >= rows) return;
    const u64 pack = thread - block_row * packs;
    const Pack<COUNT>* const from = (const Pack<COUNT>*)x + pack;
    Pack<COUNT> sums[WIDTH] = {};
    const offset end = row_ptr[block_row + 1];
    for (offset block = row_ptr[block_row]; block < end; block++) {
        const u64 first_col = (u64)col[block] * WIDTH;
        const value* const values = val + (u64)block * (WIDTH * WIDTH);
#pragma unroll
        for (u32 j = 0; j < WIDTH; j += AT_ONCE) {
            Pack<COUNT> of_x[AT_ONCE];
            // The last block may extend past the last column.
#pragma unroll
            for (u32 c = 0; c < AT_ONCE; c++) {
                const u64 at = first_col + j + c;
                of_x[c] = at < cols ? from[at * packs] : Pack<COUNT>{};
            }
#pragma unroll
            for (u32 i = 0; i < WIDTH; i++) {
                const Values v = *(const Values*)(values + i * WIDTH + j);
#pragma unroll
                for (u32 c = 0; c < AT_ONCE; c++) sums[i].add(v.of[c], of_x[c]);
            }
        }
    }
    Pack<COUNT>* const to = (Pack<COUNT>*)y + first_row * packs + pack;
#pragma unroll
    for (u32 i = 0; i < WIDTH; i++)
        if (first_row + i < rows) to[i * packs] = sums[i];
}

// cuda/spmm/bsr: adjacent threads on adjacent columns of X, block row after block row. Each takes
// 1, 2 or 4 columns. Zeros in blocks are multiplied.
extern "C" __global__ void __launch_bounds__(1024) spmm_bsr_1(
    u32 rows, u32 cols, u32 columns, const offset* row_ptr, const u32* col, const value* val,
    const real* x, real* y)
{
    block_row_split<1>(rows, cols, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_bsr_2(
    u32 rows, u32 cols, u32 columns, const offset* row_ptr, const u32* col, const value* val,
    const real* x, real* y)
{
    block_row_split<2>(rows, cols, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_bsr_4(
    u32 rows, u32 cols, u32 columns, const offset* row_ptr, const u32* col, const value* val,
    const real* x, real* y)
{
    block_row_split<4>(rows, cols, columns, row_ptr, col, val, x, y);
}
