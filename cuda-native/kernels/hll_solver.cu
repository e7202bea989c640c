// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first slots of row r from
// r + base, in the others from 65 536 further, one base per matrix. row_len then has the number of
// the former in its upper 16 bits, above the length. Where a matrix has few distinct values, val has
// these, and codes has the index of each slot's, in 8 or 16 bits. Where it has distances and codes, a
// lane has a row, and four slots of a row are adjacent: slots 4 q to 4 q + 3 begin
// 4 (q * hack_size + r) further, as long as the hack has four more. Hacks have the size of a warp.

// The column of a slot, stored as it is or as the distance from the start of its window.
__device__ inline u32 column(const u32* col, u64 at, u32) { return __ldcs(&col[at]); }
__device__ inline u32 column(const u16* distance, u64 at, u32 window) {
    return window + __ldcs(&distance[at]);
}

// The value of a slot, stored as it is, as an index into shared memory, or as one into `val`.
__device__ inline real value_of(real stored, const real*, const real*) { return stored; }
__device__ inline real value_of(u8 code, const real* few, const real*) { return few[code]; }
__device__ inline real value_of(u16 code, const real*, const real* val) { return __ldg(&val[code]); }

// Slots of a row that a lane loads before it waits for the first.
const u32 IN_FLIGHT = 6;

// The slots of a row that a lane has: every `lanes`th one. `near` says that columns are distances.
template <typename COLUMN, typename STORED> struct Slots {
    u32 row, begin, length, lows, share;
    u32 c[IN_FLIGHT];
    STORED v[IN_FLIGHT];

    // The rows of a warp, and their first slots.
    __device__ void start(
        u64 warp, u32 rows, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base,
        const COLUMN* col, const STORED* stored)
    {
        const u32 of_warp = WARP / lanes, lane = threadIdx.x % WARP;
        share = lane / of_warp;
        row = (u32)(warp * of_warp) + lane % of_warp;
        const u32 word = row < rows ? __ldcs(&row_len[row]) : 0;
        begin = row < rows ? (u32)(offsets[row / WARP] / WARP) : 0;
        length = near ? word % WINDOW : word;
        lows = near ? word / WINDOW : 0;
        ask(share, lanes, base, col, stored);
    }

    __device__ void ask(u32 j, u32 lanes, u32 base, const COLUMN* col, const STORED* stored) {
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            const u64 at = (u64)(begin + slot) * WARP + row % WARP;
            const u32 window = slot < lows ? row + base : row + base + WINDOW;
            c[i] = slot < length ? column(col, at, window) : 0;
            v[i] = slot < length ? __ldcs(&stored[at]) : 0;
        }
    }
};

// A warp takes the rows of every n-th warp, where n is the number of warps in the grid, so that a
// block leaves one sum for all of its rows.
template <typename COLUMN, typename STORED>
__device__ inline void product_of_rows(
    const COLUMN* col, const STORED* stored, u32 rows, u32 lanes, const u64* offsets, const u32* row_len,
    u32 near, u32 base, u32 distinct, const real* val, const real* x, real* y, u32 purpose,
    const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    __shared__ real few[OF_BYTE];
    const u64 step = (u64)gridDim.x * blockDim.x / WARP;
    const u64 end = ((u64)rows + WARP / lanes - 1) / (WARP / lanes);
    u64 warp = thread_in_grid() / WARP;
    // Load the first slots, which no kernel writes, before the kernels that write x have ended.
    Slots<COLUMN, STORED> slots;
    slots.start(warp, rows, lanes, offsets, row_len, near, base, col, stored);
    if (sizeof(STORED) == 1) {
        for (u32 k = threadIdx.x; k < distinct; k += blockDim.x) few[k] = val[k];
        __syncthreads();
    }
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();

    real own = 0;
    while (warp < end) {
        const bool stores = slots.row < rows && slots.share == 0;
        const real factor = purpose != FOR_NOTHING && stores ? with[slots.row] : 0;
        real of_row = 0;
        for (u32 j = slots.share; j < slots.length; j += IN_FLIGHT * lanes) {
            real element[IN_FLIGHT];
            STORED asked[IN_FLIGHT];
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++) {
                element[i] = j + i * lanes < slots.length ? x[slots.c[i]] : 0;
                asked[i] = slots.v[i];
            }
            if (j + IN_FLIGHT * lanes < slots.length)
                slots.ask(j + IN_FLIGHT * lanes, lanes, base, col, stored);
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++)
                if (j + i * lanes < slots.length) of_row += value_of(asked[i], few, val) * element[i];
        }
        for (u32 distance = WARP / 2; distance >= WARP / lanes; distance /= 2)
            of_row += __shfl_down_sync(ALL_LANES, of_row, distance);
        if (stores) y[slots.row] = of_row;
        own += factor * of_row;
        warp += step;
        if (warp < end) slots.start(warp, rows, lanes, offsets, row_len, near, base, col, stored);
    }
    if (purpose != FOR_NOTHING) leave(purpose, own, parts, counts, numbers);
}

// Whichever of four.
template <typename FOUR> __device__ inline auto part(const FOUR& four, u32 k) {
    return k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w;
}

// One lane per row of hacks of a warp, whose distances and codes are loaded four at once. A warp takes
// every n-th hack.
template <typename CODE, typename FOUR>
__device__ inline void product_of_fours(
    u32 rows, const u64* offsets, const u32* row_len, u32 base, const u16* distance, u32 distinct,
    const CODE* codes, const real* val, const real* x, real* y, u32 purpose, const real* with,
    real* parts, u32* counts, real* numbers, const u32* words)
{
    __shared__ real few[OF_BYTE];
    if (distinct <= OF_BYTE)
        for (u32 k = threadIdx.x; k < distinct; k += blockDim.x) few[k] = val[k];
    __syncthreads();
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();

    const u32 in_hack = threadIdx.x % WARP, step = gridDim.x * (blockDim.x / WARP);
    real own = 0;
    for (u32 hack = thread_in_grid() / WARP; hack < (rows + WARP - 1) / WARP; hack += step) {
        const u32 row = hack * WARP + in_hack;
        // In lines of a warp's slots.
        const u32 begin = (u32)(offsets[hack] / WARP), width = (u32)(offsets[hack + 1] / WARP) - begin;
        const u32 word = row < rows ? __ldcs(&row_len[row]) : 0;
        const u32 length = word % WINDOW, lows = word / WINDOW, window = row + base;
        const real factor = purpose != FOR_NOTHING && row < rows ? with[row] : 0;
        real of_row = 0;
        for (u32 j = 0; j < length; j += 4) {
            const u64 at = (u64)(begin + j) * WARP;
            ushort4 d;
            FOUR v;
            if (j + 4 <= width) {
                d = __ldcs(reinterpret_cast<const ushort4*>(distance + at) + in_hack);
                v = __ldcs(reinterpret_cast<const FOUR*>(codes + at) + in_hack);
            } else {
                const u64 next = at + in_hack;
                if (j < width) d.x = __ldcs(&distance[next]), v.x = __ldcs(&codes[next]);
                if (j + 1 < width)
                    d.y = __ldcs(&distance[next + WARP]), v.y = __ldcs(&codes[next + WARP]);
                if (j + 2 < width)
                    d.z = __ldcs(&distance[next + 2 * WARP]), v.z = __ldcs(&codes[next + 2 * WARP]);
            }
            real element[4];
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                const u32 from = j + i < lows ? window : window + WINDOW;
                element[i] = j + i < length ? x[from + part(d, i)] : 0;
            }
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                if (j + i < length) of_row += value_of((CODE)part(v, i), few, val) * element[i];
        }
        if (row < rows) y[row] = of_row;
        own += factor * of_row;
    }
    if (purpose != FOR_NOTHING) leave(purpose, own, parts, counts, numbers);
}

// The columns are in `distance` if `near`, else in `col`; the values are in `val`.
extern "C" __global__ void __launch_bounds__(256, 4) hll_column_major_solver(
    u32 rows, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base, const u32* col,
    const u16* distance, u32 distinct, const u8* codes, const real* val, const real* x, real* y,
    u32 purpose, const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    if (near)
        product_of_rows(
            distance, val, rows, lanes, offsets, row_len, near, base, distinct, val, x, y, purpose, with,
            parts, counts, numbers, words);
    else
        product_of_rows(
            col, val, rows, lanes, offsets, row_len, near, base, distinct, val, x, y, purpose, with, parts,
            counts, numbers, words);
}

// The same with columns in `col` and codes of the values.
extern "C" __global__ void __launch_bounds__(256, 4) hll_coded_solver(
    u32 rows, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base, const u32* col,
    const u16* distance, u32 distinct, const u8* codes, const real* val, const real* x, real* y,
    u32 purpose, const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    if (distinct <= OF_BYTE)
        product_of_rows(
            col, codes, rows, lanes, offsets, row_len, near, base, distinct, val, x, y, purpose, with, parts,
            counts, numbers, words);
    else
        product_of_rows(
            col, reinterpret_cast<const u16*>(codes), rows, lanes, offsets, row_len, near, base, distinct, val,
            x, y, purpose, with, parts, counts, numbers, words);
}

// The same with distances and codes of which four of a row are adjacent, and a row per lane.
extern "C" __global__ void __launch_bounds__(256, 8) hll_fours_solver(
    u32 rows, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base, const u32* col,
    const u16* distance, u32 distinct, const u8* codes, const real* val, const real* x, real* y,
    u32 purpose, const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    if (distinct <= OF_BYTE)
        product_of_fours<u8, uchar4>(
            rows, offsets, row_len, base, distance, distinct, codes, val, x, y, purpose, with, parts,
            counts, numbers, words);
    else
        product_of_fours<u16, ushort4>(
            rows, offsets, row_len, base, distance, distinct, reinterpret_cast<const u16*>(codes), val, x,
            y, purpose, with, parts, counts, numbers, words);
}

// The distances of sorted columns from the start of their window; adds to a row's length how many
// are in the low one. One thread per row. Padding is not stored.
extern "C" __global__ void hll_distances(
    u32 rows, const u64* offsets, u32* row_len, u32 base, const u32* col, u16* distance)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 begin = offsets[row / WARP] + row % WARP;
    const u32 length = row_len[row];
    u32 lows = 0;
    for (u32 j = 0; j < length; j++) {
        const u64 at = begin + (u64)j * WARP;
        const u32 apart = col[at] - (u32)row - base;
        lows += apart < WINDOW;
        distance[at] = (u16)apart;
    }
    row_len[row] = length + lows * WINDOW;
}
