// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first slots of row r from
// r + base, in the others from 65 536 further, one base per matrix. row_len then has the number of
// the former in its upper 16 bits, above the length. Where a matrix has few distinct values, val has
// these, and codes has the index of each slot's, in 8 or 16 bits. Where it has distances and codes, a
// lane has a row, the slots of every hack are a multiple of four per row, and four of a row are
// adjacent: slots 4 q to 4 q + 3 begin 4 (q * hack_size + r) further. There are no lengths: padding has
// the row's own column and the value 0, which is the first. That changes no sum, since these begin with
// +0, except that it may make +0 of the -0 that an underflow leaves, and unless the row's own element
// of x is infinite or NaN; rows with a nonzero on the diagonal then are too. One base counts for both
// windows; where there are two, the top bit of a slot's code is bit 16 of its distance. Hacks have the
// size of a warp.

// The column of a slot, stored as it is or as the distance from the start of its window.
__device__ inline u32 column(const u32* col, u64 at, u32) { return __ldcs(&col[at]); }
__device__ inline u32 column(const u16* distance, u64 at, u32 window) {
    return window + __ldcs(&distance[at]);
}

// The value of a slot, stored as it is, as an index into shared memory, or as one into `val`.
__device__ inline real value_of(real stored, const real*, const real*) { return stored; }
__device__ inline real value_of(u8 code, const real* few, const real*) { return few[code]; }
__device__ inline real value_of(u16 code, const real*, const real* val) { return __ldg(&val[code]); }

// Slots of a hack of which each row has four.
const u32 FOURS = 4 * WARP;

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

// Number i of four adjacent ones, of 8 or 16 bits, and the word that has it.
__device__ inline u32 number_of(u32 four, u32 i) { return __byte_perm(four, 0, 0x4440 + i); }
__device__ inline u32 number_of(uint2 four, u32 i) {
    return __byte_perm(i < 2 ? four.x : four.y, 0, i % 2 == 0 ? 0x4410 : 0x4432);
}
__device__ inline u32 word_of(u32 four, u32) { return four; }
__device__ inline u32 word_of(uint2 four, u32 i) { return i < 2 ? four.x : four.y; }

// Whether the top bit of number i is set: WINDOW or 0.
template <typename FOUR> __device__ inline u32 window_of(FOUR four, u32 i) {
    const u32 bits = 2 * sizeof(FOUR), top = bits - 1 + bits * i % 32, word = word_of(four, i);
    return (top < 16 ? word << (16 - top) : word >> (top - 16)) & WINDOW;
}

// Elements of x and of shared memory. Written like this, an address is one instruction, and the four
// elements of a turn are loaded before any is used; compilers take several, and wait in between.
__device__ inline real element_at(const real* here, u32 i) {
    real element;
    asm volatile("{ .reg .u64 at; mad.wide.u32 at, %2, %3, %1; ld.global.f64 %0, [at]; }"
        : "=d"(element) : "l"(here), "r"(i), "n"(sizeof(real)));
    return element;
}
__device__ inline real shared_at(u32 here, u32 i) {
    real element;
    asm volatile("{ .reg .u32 at; mad.lo.u32 at, %2, %3, %1; ld.shared.f64 %0, [at]; }"
        : "=d"(element) : "r"(here), "r"(i), "n"(sizeof(real)));
    return element;
}

// Makes a compiler keep what it would compute again.
__device__ inline void keep(const real*& p) { asm volatile("" : "+l"(p)); }
__device__ inline void keep(u32& n) { asm volatile("" : "+r"(n)); }

// One lane per row of hacks of a warp, whose distances and codes are loaded four at once; FOUR has
// the codes. A warp takes every n-th hack. Distances have 17 bits if TWO windows hold them: the last
// is a code's top bit.
template <bool TWO, typename FOUR>
__device__ inline void product_of_fours(
    u32 rows, const u64* offsets, u32 base, const uint2* distance, u32 distinct, const FOUR* codes,
    const real* val, real* few, const real* x, real* y, u32 purpose, const real* with, real* parts,
    u32* counts, real* numbers, const u32* words)
{
    const u32 bits = 2 * sizeof(FOUR), mask = (1u << (TWO ? bits - 1 : bits)) - 1;
    if (bits == 8)
        for (u32 k = threadIdx.x; k < OF_BYTE; k += blockDim.x)
            if ((k & mask) < distinct) few[k] = val[k & mask];
    __syncthreads();
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();

    u32 lane = threadIdx.x % WARP, table = (u32)__cvta_generic_to_shared(few);
    keep(lane);
    keep(table);
    const u32 hacks = (rows + WARP - 1) / WARP, step = gridDim.x * (blockDim.x / WARP);
    real own = 0;
    for (u32 hack = thread_in_grid() / WARP; hack < hacks; hack += step) {
        const u32 row = hack * WARP + lane;
        // Lanes past the last row have padding only, from the last row on.
        const real* here = x + (int)(min(row, rows - 1) + base);
        keep(here);
        const real factor = purpose != FOR_NOTHING && row < rows ? with[row] : 0;
        const u32 begin = (u32)(offsets[hack] / FOURS), end = (u32)(offsets[hack + 1] / FOURS);
        real of_row = 0;
        // Compared like this, the loop is not unrolled.
        for (u32 four = begin; four + 1 <= end; four++) {
            const u32 at = four * WARP + lane;
            const uint2 d = __ldcs(&distance[at]);
            const FOUR c = __ldcs(&codes[at]);
            real element[4];
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                element[i] = element_at(here, number_of(d, i) | (TWO ? window_of(c, i) : 0));
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                const u32 code = number_of(c, i);
                of_row += (bits == 8 ? shared_at(table, code) : __ldg(&val[code & mask])) * element[i];
            }
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

// The same with distances and codes of which four of a row are adjacent, and a row per lane; `near` is
// the number of windows. There are fewer than 2^31 rows and 2^34 slots.
extern "C" __global__ void __launch_bounds__(256, 8) hll_fours_solver(
    u32 rows, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base, const u32* col,
    const u16* distance, u32 distinct, const u8* codes, const real* val, const real* x, real* y,
    u32 purpose, const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    __shared__ real few[OF_BYTE];
    const uint2* const fours = reinterpret_cast<const uint2*>(distance);
    const u32* const bytes = reinterpret_cast<const u32*>(codes);
    const uint2* const halves = reinterpret_cast<const uint2*>(codes);
    const bool has_bytes = are_bytes(near, distinct);
    if (has_bytes && near == 1)
        product_of_fours<false>(
            rows, offsets, base, fours, distinct, bytes, val, few, x, y, purpose, with, parts, counts,
            numbers, words);
    else if (has_bytes)
        product_of_fours<true>(
            rows, offsets, base, fours, distinct, bytes, val, few, x, y, purpose, with, parts, counts,
            numbers, words);
    else
        product_of_fours<true>(
            rows, offsets, base, fours, distinct, halves, val, few, x, y, purpose, with, parts, counts,
            numbers, words);
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
