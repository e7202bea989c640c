// Y = A X, where X has several columns; X and Y are stored by rows.

// Nonzeros that are loaded at once by for_products.
const u32 AT_ONCE = 4;

// Calls add(e, value, its row of X) for the nonzeros begin..end one after the other, whatever rows
// of A they are in. The packs of X begin at `from`. Several nonzeros and their rows of X are loaded
// at once, and the next nonzeros before these are used.
template <u32 COUNT, typename ADD>
__device__ inline void for_products(
    offset begin, offset end, const u32* col, const value* val, const Pack<COUNT>* from, u32 packs,
    ADD add)
{
    u32 next_col[AT_ONCE];
    value next_val[AT_ONCE];
    const auto load = [&](offset at) {
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; j++) {
            const offset e = min(at + j, end - 1);
            next_col[j] = col[e];
            next_val[j] = val[e];
        }
    };
    if (begin < end) load(begin);
    for (offset at = begin; at < end; at += AT_ONCE) {
        real v[AT_ONCE];
        Pack<COUNT> of_x[AT_ONCE];
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; j++) {
            v[j] = next_val[j];
            of_x[j] = from[(u64)next_col[j] * packs];
        }
        if (at + AT_ONCE < end) load(at + AT_ONCE);
#pragma unroll
        for (u32 j = 0; j < AT_ONCE && at + j < end; j++) add(at + j, v[j], of_x[j]);
    }
}

// One thread per COUNT columns of a row. `columns` is a multiple of COUNT: every pack is aligned.
template <u32 COUNT, bool AHEAD>
__device__ inline void row_split(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), row = thread / packs;
    if (row >= rows) return;
    const u64 pack = thread - row * packs;
    const Pack<COUNT>* const from = (const Pack<COUNT>*)x + pack;
    const offset begin = row_ptr[row], end = row_ptr[row + 1];
    Pack<COUNT> sum = {};
    if (AHEAD) {
        const auto add = [&](offset, real v, const Pack<COUNT>& of_x) { sum.add(v, of_x); };
        for_products<COUNT>(begin, end, col, val, from, packs, add);
    } else {
#pragma unroll 4
        for (offset e = begin; e < end; e++) {
            const real v = val[e];
            const Pack<COUNT> of_x = from[(u64)col[e] * packs];
            sum.add(v, of_x);
        }
    }
    ((Pack<COUNT>*)y)[row * packs + pack] = sum;
}

// cuda/spmm/row-split: adjacent threads on adjacent columns of X, row after row. Each takes 1, 2 or
// 4 columns.
extern "C" __global__ void spmm_row_split_1(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<1, false>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_2(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<2, false>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_4(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<4, false>(rows, columns, row_ptr, col, val, x, y);
}

// The same for rows with few threads, which load ahead.
extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_ahead_2(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<2, true>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_ahead_4(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<4, true>(rows, columns, row_ptr, col, val, x, y);
}

// cuda/spmm/merge: the path along all nonzeros and row ends (Merrill and Garland, SC 2016), in
// pieces of `steps` steps. `width` adjacent threads take a piece, COUNT columns each, and a block
// takes adjacent pieces. The parts of a row that is cut are added in the order of pieces: within a
// block in shared memory; if the row continues in the next block, its sum so far is left in `carry`
// and added by spmm_merge_carry.
//
// first_row[p] is the row that piece p begins in, at nonzero p * steps - first_row[p]. After the
// last piece it has the number of rows.

// The piece that a row begins in.
__device__ inline u64 first_piece(const offset* row_ptr, u32 row, u32 steps) {
    return ((u64)row_ptr[row] + row) / steps;
}

template <u32 COUNT>
__device__ inline void merge(
    u32 rows, u32 columns, u32 width, u32 steps, u64 pieces, const u32* first_row,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry)
{
    extern __shared__ uint4 room[];
    Pack<COUNT>* const unfinished = (Pack<COUNT>*)room; // one per thread
    const u32 packs = columns / COUNT, slices = (packs + width - 1) / width;
    const u32 at_once = blockDim.x / width, own = threadIdx.x / width, lane = threadIdx.x % width;
    const u64 block = blockIdx.x / slices, first = block * at_once, piece = first + own;
    const u32 pack = blockIdx.x % slices * width + lane;
    const bool works = own < at_once && piece < pieces && pack < packs;
    Pack<COUNT>* const to = (Pack<COUNT>*)y + pack;
    // The first row of the piece, the row that continues after it, and whether the first began
    // earlier and ends here.
    u32 begin_row = 0, end_row = 0;
    bool is_cut = false;
    if (works) {
        const Pack<COUNT>* const from = (const Pack<COUNT>*)x + pack;
        begin_row = first_row[piece];
        end_row = first_row[piece + 1];
        const offset begin = piece * steps - begin_row;
        const offset end = end_row < rows ? (piece + 1) * steps - end_row : row_ptr[rows];
        is_cut = begin_row < end_row && row_ptr[begin_row] < begin;
        // The nonzero at which a row of the piece ends; none has the number `end`.
        const auto end_of = [&](u32 row) { return row < end_row ? row_ptr[row + 1] : end; };
        u32 row = begin_row;
        offset row_end = end_of(row);
        Pack<COUNT> sum = {};
        const auto finish_row = [&] {
            to[(u64)row * packs] = sum;
            sum = {};
            row_end = end_of(++row);
        };
        // If a thread waited at the end of each short row, it would mostly wait.
        const auto add = [&](offset e, real v, const Pack<COUNT>& of_x) {
            while (row_end == e) finish_row();
            sum.add(v, of_x);
        };
        for_products<COUNT>(begin, end, col, val, from, packs, add);
        while (row < end_row) finish_row();
        if (end_row < rows) unfinished[threadIdx.x] = sum;
    }
    __syncthreads();
    if (!works) return;
    // The sum of what the block's pieces before `end` have of a row.
    const auto sum_before = [&](u32 row, u32 end) {
        const u64 began = first_piece(row_ptr, row, steps);
        Pack<COUNT> sum = {};
        for (u32 k = began > first ? began - first : 0; k < end; k++)
            sum.add(1, unfinished[k * width + lane]);
        return sum;
    };
    if (is_cut) {
        Pack<COUNT>* const last_part = to + (u64)begin_row * packs;
        Pack<COUNT> sum = sum_before(begin_row, own);
        sum.add(1, *last_part);
        *last_part = sum;
    }
    if (own == at_once - 1 && end_row < rows)
        ((Pack<COUNT>*)carry)[block * packs + pack] = sum_before(end_row, at_once);
}

// Adds the carries of a row to what the block that it ends in has of it: one thread per block of
// spmm_merge, of `at_once` pieces, and COUNT columns.
template <u32 COUNT>
__device__ inline void merge_carry(
    u32 columns, u32 at_once, u32 steps, u64 pieces, const u32* first_row, const offset* row_ptr,
    const real* carry, real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), block = thread / packs, first = block * at_once;
    if (first >= pieces) return;
    const u64 pack = thread - block * packs;
    const u32 row = first_row[first];
    const u64 began = first_piece(row_ptr, row, steps) / at_once;
    if (began == block || first_row[min(first + at_once, pieces)] == row) return;
    const Pack<COUNT>* const carries = (const Pack<COUNT>*)carry + pack;
    Pack<COUNT> sum = {};
#pragma unroll 16
    for (u64 k = began; k < block; k++) sum.add(1, carries[k * packs]);
    Pack<COUNT>* const to = (Pack<COUNT>*)y + (u64)row * packs + pack;
    sum.add(1, *to);
    *to = sum;
}

extern "C" __global__ void __launch_bounds__(1024) spmm_merge_1(
    u32 rows, u32 columns, u32 width, u32 steps, u64 pieces, const u32* first_row,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry)
{
    merge<1>(
        rows, columns, width, steps, pieces, first_row, row_ptr, col, val, x, y, carry);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_merge_2(
    u32 rows, u32 columns, u32 width, u32 steps, u64 pieces, const u32* first_row,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry)
{
    merge<2>(
        rows, columns, width, steps, pieces, first_row, row_ptr, col, val, x, y, carry);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_merge_4(
    u32 rows, u32 columns, u32 width, u32 steps, u64 pieces, const u32* first_row,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry)
{
    merge<4>(
        rows, columns, width, steps, pieces, first_row, row_ptr, col, val, x, y, carry);
}

extern "C" __global__ void __launch_bounds__(256) spmm_merge_carry_1(
    u32 columns, u32 at_once, u32 steps, u64 pieces, const u32* first_row, const offset* row_ptr,
    const real* carry, real* y)
{
    merge_carry<1>(columns, at_once, steps, pieces, first_row, row_ptr, carry, y);
}

extern "C" __global__ void __launch_bounds__(256) spmm_merge_carry_2(
    u32 columns, u32 at_once, u32 steps, u64 pieces, const u32* first_row, const offset* row_ptr,
    const real* carry, real* y)
{
    merge_carry<2>(columns, at_once, steps, pieces, first_row, row_ptr, carry, y);
}

extern "C" __global__ void __launch_bounds__(256) spmm_merge_carry_4(
    u32 columns, u32 at_once, u32 steps, u64 pieces, const u32* first_row, const offset* row_ptr,
    const real* carry, real* y)
{
    merge_carry<4>(columns, at_once, steps, pieces, first_row, row_ptr, carry, y);
}
