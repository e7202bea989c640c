// Y = A X, where X has several columns and A is in hacked ELLPACK with column-major hacks; X and Y
// are stored by rows. A hack's slots begin at offsets[hack]; slot j of its row r lies
// j * hack_size + r further. Rows end at their own length: padding is not multiplied. If rows are
// sorted, row_of maps positions to rows.

// One thread per COUNT columns of the row at a position. `columns` is a multiple of COUNT, so every
// pack is aligned.
template <u32 COUNT>
__device__ inline void hack_split(
    u32 rows, u32 columns, u32 hack_size, u32 permuted, const u64* offsets, const u32* row_len,
    const u32* row_of, const u32* col, const real* val, const real* x, real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), position = thread / packs;
    if (position >= rows) return;
    const u64 pack = thread - position * packs;
    const Pack<COUNT>* const from = (const Pack<COUNT>*)x + pack;
    const u64 first = offsets[position / hack_size] + position % hack_size;
    const u32 length = row_len[position];
    Pack<COUNT> sum = {};
#pragma unroll 4
    for (u32 j = 0; j < length; j++) {
        const u64 at = first + (u64)j * hack_size;
        const real v = val[at];
        const Pack<COUNT> of_x = from[(u64)col[at] * packs];
        sum.add(v, of_x);
    }
    const u64 row = permuted ? row_of[position] : position;
    ((Pack<COUNT>*)y)[row * packs + pack] = sum;
}

// cuda/spmm/hll: adjacent threads on adjacent columns of X, row after row in the order of hacks. Each
// takes 1, 2 or 4 columns.
extern "C" __global__ void spmm_hll_1(
    u32 rows, u32 columns, u32 hack_size, u32 permuted, const u64* offsets, const u32* row_len,
    const u32* row_of, const u32* col, const real* val, const real* x, real* y)
{
    hack_split<1>(
        rows, columns, hack_size, permuted, offsets, row_len, row_of, col, val, x, y);
}

extern "C" __global__ void spmm_hll_2(
    u32 rows, u32 columns, u32 hack_size, u32 permuted, const u64* offsets, const u32* row_len,
    const u32* row_of, const u32* col, const real* val, const real* x, real* y)
{
    hack_split<2>(
        rows, columns, hack_size, permuted, offsets, row_len, row_of, col, val, x, y);
}

extern "C" __global__ void spmm_hll_4(
    u32 rows, u32 columns, u32 hack_size, u32 permuted, const u64* offsets, const u32* row_len,
    const u32* row_of, const u32* col, const real* val, const real* x, real* y)
{
    hack_split<4>(
        rows, columns, hack_size, permuted, offsets, row_len, row_of, col, val, x, y);
}
