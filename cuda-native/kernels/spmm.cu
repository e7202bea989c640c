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

// Packs between two of a thread: 8 threads load 128 adjacent bytes if a pack has 16.
const u32 APART = 8;

// Adds every step-th of the nonzeros begin..end to the sums of PACKS packs. The packs of X begin at
// `from`.
template <u32 PACKS, u32 COUNT>
__device__ inline void add_products(
    Pack<COUNT> (&sums)[PACKS], offset begin, offset end, offset step, const u32* col,
    const value* val, const Pack<COUNT>* from, u32 packs)
{
#pragma unroll (4 / PACKS)
    for (offset e = begin; e < end; e += step) {
        const real v = val[e];
        const Pack<COUNT>* const row = &from[(u64)col[e] * packs];
        Pack<COUNT> of_x[PACKS];
#pragma unroll
        for (u32 p = 0; p < PACKS; p++) of_x[p] = row[p * APART];
#pragma unroll
        for (u32 p = 0; p < PACKS; p++) sums[p].add(v, of_x[p]);
    }
}

// The rows of X and Y in packs of COUNT columns, from the one with a thread on.
template <u32 COUNT>
__device__ inline const Pack<COUNT>* packs_from(const real* x, u64 pack) {
    return (const Pack<COUNT>*)x + pack;
}
template <u32 COUNT>
__device__ inline Pack<COUNT>* packs_from(real* y, u64 pack) {
    return (Pack<COUNT>*)y + pack;
}

// One thread per PACKS packs of COUNT columns of a row. `columns` is a multiple of COUNT, and of
// PACKS * APART packs if PACKS is not 1: every pack is aligned.
template <u32 COUNT, u32 PACKS>
__device__ inline void row_split(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    const u32 packs = columns / COUNT, threads = packs / PACKS;
    const u64 thread = thread_in_grid(), row = thread / threads;
    if (row >= rows) return;
    const u32 of_row = thread - row * threads;
    const u32 pack = of_row + (PACKS == 1 ? 0 : of_row / APART * APART * (PACKS - 1));
    Pack<COUNT> sums[PACKS] = {};
    add_products(
        sums, row_ptr[row], row_ptr[row + 1], 1, col, val, packs_from<COUNT>(x, pack), packs);
    Pack<COUNT>* const to = packs_from<COUNT>(y, row * packs + pack);
#pragma unroll
    for (u32 p = 0; p < PACKS; p++) to[p * APART] = sums[p];
}

// The same with one pack, whose thread loads ahead.
template <u32 COUNT>
__device__ inline void row_split_ahead(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    const u32 packs = columns / COUNT;
    const u64 thread = thread_in_grid(), row = thread / packs;
    if (row >= rows) return;
    const u64 pack = thread - row * packs;
    Pack<COUNT> sum = {};
    const auto add = [&](offset, real v, const Pack<COUNT>& of_x) { sum.add(v, of_x); };
    const Pack<COUNT>* const from = packs_from<COUNT>(x, pack);
    for_products<COUNT>(row_ptr[row], row_ptr[row + 1], col, val, from, packs, add);
    *packs_from<COUNT>(y, row * packs + pack) = sum;
}

// cuda/spmm/row-split: adjacent threads on adjacent columns of X, row after row. Each takes a pack of
// 1, 2 or 4 columns, or as a function below does; the host chooses by the matrix and k.
extern "C" __global__ void spmm_row_split_1(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<1, 1>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_2(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<2, 1>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void spmm_row_split_4(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<4, 1>(rows, columns, row_ptr, col, val, x, y);
}

// The same for rows with few threads, which load ahead.
extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_ahead_2(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split_ahead<2>(rows, columns, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_ahead_4(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split_ahead<4>(rows, columns, row_ptr, col, val, x, y);
}

// The columns that 16 bytes hold: those of a thread's pack in the kernels below.
const u32 WIDEST = 16 / sizeof(real);
typedef Pack<WIDEST> Wide;

// A thread takes two packs of a row, so that half as many threads load a nonzero.
extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_two_packs(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    row_split<WIDEST, 2>(rows, columns, row_ptr, col, val, x, y);
}

// TEAMS teams of threads per row, of which each takes every so many-th nonzero; a team has a thread
// per pack. Together they have 2, 4, 8, 16 or 32 threads, so that a warp has all teams of its rows.
template <u32 TEAMS>
__device__ inline void in_teams(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    const u32 packs = columns / WIDEST, threads = TEAMS * packs;
    const u64 thread = thread_in_grid(), row = thread / threads;
    const u32 of_row = thread - row * threads, team = of_row / packs, pack = of_row - team * packs;
    Wide sums[1] = {};
    if (row < rows)
        add_products(
            sums, row_ptr[row] + team, row_ptr[row + 1], TEAMS, col, val,
            packs_from<WIDEST>(x, pack), packs);
    for (u32 distance = packs; distance < threads; distance *= 2) {
#pragma unroll
        for (u32 c = 0; c < WIDEST; c++)
            sums[0].of[c] += __shfl_xor_sync(ALL_LANES, sums[0].of[c], distance);
    }
    if (row < rows && team == 0) *packs_from<WIDEST>(y, row * packs + pack) = sums[0];
}

// For rows of very different lengths.
extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_halves(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    in_teams<2>(rows, columns, row_ptr, col, val, x, y);
}

// For long rows with few threads.
extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_quarters(
    u32 rows, u32 columns, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y)
{
    in_teams<4>(rows, columns, row_ptr, col, val, x, y);
}

// The threads of a block load the nonzeros of its rows together, `at_once` at a time: for short
// rows with few threads. Shared memory has room for them; `at_once` is even.
extern "C" __global__ void __launch_bounds__(1024, 2) spmm_row_split_staged(
    u32 rows, u32 columns, u32 at_once, const offset* row_ptr, const u32* col, const value* val,
    const real* x, real* y)
{
    extern __shared__ uint4 staged[];
    value* const staged_val = (value*)staged;
    u32* const staged_col = (u32*)(staged_val + at_once);
    const u32 packs = columns / WIDEST, own = threadIdx.x / packs, pack = threadIdx.x - own * packs;
    const u32 of_block = blockDim.x / packs;
    const u64 first = (u64)blockIdx.x * of_block, last = min(first + of_block, (u64)rows);
    const u64 row = first + own;
    const bool works = own < of_block && row < last;
    const offset all = row_ptr[last];
    const offset begin = works ? row_ptr[row] : all, end = works ? row_ptr[row + 1] : all;
    Wide sums[1] = {};
    for (offset at = row_ptr[first], count; at < all; at += count) {
        count = min((offset)at_once, all - at);
        for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
            stage(&staged_val[i], &val[at + i]);
            stage(&staged_col[i], &col[at + i]);
        }
        after_staged();
        __syncthreads();
        const u32 since = min(max(begin, at) - at, count), to = min(max(end, at) - at, count);
        add_products(
            sums, since, to, 1, staged_col, staged_val, packs_from<WIDEST>(x, pack), packs);
        __syncthreads();
    }
    if (works) *packs_from<WIDEST>(y, row * packs + pack) = sums[0];
}

// One thread per pack of up to ROWS adjacent rows with the same columns, so that it loads a row of
// X once for all of them. Group g has the rows from first_row[g] to the next group's first one.
template <u32 ROWS>
__device__ inline void equal_rows(
    u32 groups, u32 columns, const u32* first_row, const offset* row_ptr, const u32* col,
    const value* val, const real* x, real* y)
{
    const u32 packs = columns / WIDEST;
    const u64 thread = thread_in_grid(), group = thread / packs;
    if (group >= groups) return;
    const u64 pack = thread - group * packs;
    const u32 row = first_row[group], others = first_row[group + 1] - row - 1;
    const offset begin = row_ptr[row], length = row_ptr[row + 1] - begin;
    const Wide* const from = packs_from<WIDEST>(x, pack);
    // A row that the group lacks has the values of its last one.
    offset of_row[ROWS];
#pragma unroll
    for (u32 r = 0; r < ROWS; r++) of_row[r] = begin + min(r, others) * length;
    Wide sums[ROWS] = {};
#pragma unroll 4
    for (offset e = 0; e < length; e++) {
        real v[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) v[r] = val[of_row[r] + e];
        const Wide of_x = from[(u64)col[begin + e] * packs];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) sums[r].add(v[r], of_x);
    }
    Wide* const to = packs_from<WIDEST>(y, (u64)row * packs + pack);
#pragma unroll
    for (u32 r = 0; r < ROWS; r++)
        if (r <= others) to[(u64)r * packs] = sums[r];
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_equal_2(
    u32 groups, u32 columns, const u32* first_row, const offset* row_ptr, const u32* col,
    const value* val, const real* x, real* y)
{
    equal_rows<2>(groups, columns, first_row, row_ptr, col, val, x, y);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_equal_3(
    u32 groups, u32 columns, const u32* first_row, const offset* row_ptr, const u32* col,
    const value* val, const real* x, real* y)
{
    equal_rows<3>(groups, columns, first_row, row_ptr, col, val, x, y);
}

// Rows of more than `longest` nonzeros in parts of `of_part` nonzeros, by a block for each part and
// `width` packs of X; the other rows as in row_split, by the blocks after these. A block for a part
// has teams of `width` threads, and with n teams each takes every n-th nonzero. The last block of a
// row to arrive adds the parts in a fixed order.
//
// plan[3 p]  the row of part p, its first part, and the number of its parts; rows with several parts
//            are first
// carry      the sums of their parts, `columns` per part
// arrived    finished parts of a row, per block of its first part; 0 before and after
template <u32 COUNT>
__device__ inline void with_long_rows(
    u32 rows, u32 columns, u32 longest, u32 of_part, u32 parts, u32 width, const u32* plan,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry,
    u32* arrived)
{
    extern __shared__ uint4 room[];
    __shared__ bool is_last;
    const u32 packs = columns / COUNT, slices = (packs + width - 1) / width;
    const u32 before = parts * slices;
    Pack<COUNT> sums[1] = {};
    if (blockIdx.x >= before) {
        const u64 thread = (u64)(blockIdx.x - before) * blockDim.x + threadIdx.x;
        const u64 row = thread / packs;
        if (row >= rows) return;
        const u64 pack = thread - row * packs;
        const offset begin = row_ptr[row], end = row_ptr[row + 1];
        if (end - begin > longest) return;
        add_products(sums, begin, end, 1, col, val, packs_from<COUNT>(x, pack), packs);
        *packs_from<COUNT>(y, row * packs + pack) = sums[0];
        return;
    }
    const u32 part = blockIdx.x / slices, slice = blockIdx.x - part * slices;
    const u32 teams = blockDim.x / width, team = threadIdx.x / width;
    const u32 pack = slice * width + threadIdx.x - team * width;
    const bool works = team < teams && pack < packs, writes = works && team == 0;
    const u32 row = plan[3 * part], first = plan[3 * part + 1], count = plan[3 * part + 2];
    // The sum over the teams, in the first one.
    Pack<COUNT>* const own = (Pack<COUNT>*)room + threadIdx.x;
    const auto over_teams = [&] {
        *own = sums[0];
        for (u32 left = teams; left > 1; left = (left + 1) / 2) {
            __syncthreads();
            if (team < left / 2) own->add(1, own[(left + 1) / 2 * width]);
        }
        return *own;
    };
    if (works) {
        const offset begin = row_ptr[row] + (offset)(part - first) * of_part;
        const offset end = begin + min((offset)of_part, row_ptr[row + 1] - begin);
        add_products(
            sums, begin + team, end, teams, col, val, packs_from<COUNT>(x, pack), packs);
    }
    Pack<COUNT> sum = over_teams();
    Pack<COUNT>* const to = packs_from<COUNT>(y, (u64)row * packs + pack);
    if (count == 1) {
        if (writes) *to = sum;
        return;
    }
    Pack<COUNT>* const carries = packs_from<COUNT>(carry, (u64)first * packs + pack);
    if (writes) {
        carries[(u64)(part - first) * packs] = sum;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u32* const done = &arrived[(u64)first * slices + slice];
        is_last = atomicAdd(done, 1) + 1 == count;
        if (is_last) *done = 0;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    sums[0] = {};
    for (u32 k = team; works && k < count; k += teams) {
        const Pack<COUNT>& other = carries[(u64)k * packs];
#pragma unroll
        for (u32 c = 0; c < COUNT; c++) sums[0].of[c] += __ldcg(&other.of[c]);
    }
    sum = over_teams();
    if (writes) *to = sum;
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_long_1(
    u32 rows, u32 columns, u32 longest, u32 of_part, u32 parts, u32 width, const u32* plan,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry,
    u32* arrived)
{
    with_long_rows<1>(
        rows, columns, longest, of_part, parts, width, plan, row_ptr, col, val, x, y, carry,
        arrived);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_long_2(
    u32 rows, u32 columns, u32 longest, u32 of_part, u32 parts, u32 width, const u32* plan,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry,
    u32* arrived)
{
    with_long_rows<2>(
        rows, columns, longest, of_part, parts, width, plan, row_ptr, col, val, x, y, carry,
        arrived);
}

extern "C" __global__ void __launch_bounds__(1024) spmm_row_split_long_4(
    u32 rows, u32 columns, u32 longest, u32 of_part, u32 parts, u32 width, const u32* plan,
    const offset* row_ptr, const u32* col, const value* val, const real* x, real* y, real* carry,
    u32* arrived)
{
    with_long_rows<4>(
        rows, columns, longest, of_part, parts, width, plan, row_ptr, col, val, x, y, carry,
        arrived);
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
