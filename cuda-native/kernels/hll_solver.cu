// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first slots of row r from
// r + base, in the others from 65 536 further, one base per matrix. row_len then has the number of
// the former in its upper 16 bits, above the length. Where a matrix has few distinct values, val has
// these, and codes has the index of each slot's, in 8 or 16 bits. Where it has distances and codes, a
// lane has a row, and four slots of a row are adjacent: slots 4 q to 4 q + 3 begin
// 4 (q * hack_size + r) further, as long as the hack has four more. Hacks have the size of a warp.

// Number of distances that 16 bits can represent.
const u32 WINDOW = 65536;

// Number of values that 8 bits can represent.
const u32 OF_BYTE = 256;

// Where slot j of row r of a hack of this width is, from the hack's first slot on.
__device__ inline u64 place_in_hack(u32 fours, u32 hack_size, u32 width, u32 r, u32 j) {
    const bool is_adjacent = fours && j < width - width % 4;
    return is_adjacent ? 4 * ((u64)(j / 4) * hack_size + r) + j % 4 : (u64)j * hack_size + r;
}

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

// The first place where a value may be in a table of `capacity` bit patterns, a power of two; the
// others follow. The upper bits of a product depend on all bits of its factors.
__device__ inline u32 place_of(u64 bits, u32 capacity) {
    return (u32)__umul64hi(bits * 0x9e3779b97f4a7c15ull, capacity);
}

// No bit pattern yet: that of a NaN.
const u64 NO_BITS = ~0ull;

// The distinct values of some slots, up to half as many as `keys` has places. A value is numbered
// where it is found first; `count` is larger if there are more.
extern "C" __global__ void hll_distinct(
    u64 slots, const real* val, u32 capacity, u64* keys, u32* index, real* distinct, u32* count)
{
    volatile u32* const found = count;
    for (u64 at = thread_in_grid(); at < slots; at += (u64)gridDim.x * blockDim.x) {
        const real value = __ldcs(&val[at]);
        const u64 bits = __double_as_longlong(value);
        u32 place = place_of(bits, capacity), tried = 0;
        while (keys[place] != bits || bits == NO_BITS) {
            // A full table may be seen before its values are counted.
            if (*found > capacity / 2 || bits == NO_BITS || tried++ == capacity) {
                *found = capacity;
                return;
            }
            const u64 there = atomicCAS(&keys[place], NO_BITS, bits);
            if (there == bits) break;
            if (there != NO_BITS) {
                place = (place + 1) & (capacity - 1);
                continue;
            }
            const u32 number = atomicAdd(count, 1);
            if (number >= capacity / 2) return;
            index[place] = number;
            distinct[number] = value;
            break;
        }
    }
}

// The codes of the slots, whose values are all in the table: 8 bits each if `distinct` fit, else 16.
// One thread per row. Padding has no code.
extern "C" __global__ void hll_codes(
    u32 rows, u32 hack_size, u32 fours, const u64* offsets, const u32* row_len, const real* val,
    u32 capacity, const u64* keys, const u32* index, u32 distinct, u8* codes)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 hack = row / hack_size, begin = offsets[hack];
    const u32 width = (u32)((offsets[hack + 1] - begin) / hack_size), r = row % hack_size;
    for (u32 j = 0; j < row_len[row]; j++) {
        const u64 bits = __double_as_longlong(__ldcs(&val[begin + (u64)j * hack_size + r]));
        u32 place = place_of(bits, capacity);
        while (keys[place] != bits) place = (place + 1) & (capacity - 1);
        const u64 at = begin + place_in_hack(fours, hack_size, width, r, j);
        if (distinct <= OF_BYTE) codes[at] = (u8)index[place];
        else reinterpret_cast<u16*>(codes)[at] = (u16)index[place];
    }
}

// Distances of the columns from their rows, plus 2^32: the minimum goes to range[0], the maximum to
// range[1]; range[2] becomes 1 if the length of a row has more than 16 bits. Columns ascend in each
// row, so that its first and its last tell. Any number of blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256) hll_distance_range(
    u32 rows, u32 hack_size, const u64* offsets, const u32* row_len, const u32* col, u64* range)
{
    __shared__ u64 low[256 / WARP], high[256 / WARP];
    const u64 apart = 1ull << 32;
    u64 least = ~0ull, greatest = 0;
    for (u64 row = thread_in_grid(); row < rows; row += (u64)gridDim.x * blockDim.x) {
        const u64 first = offsets[row / hack_size] + row % hack_size;
        const u32 length = row_len[row];
        if (length >= WINDOW) range[2] = 1;
        if (length == 0) continue;
        least = min(least, apart + col[first] - row);
        greatest = max(greatest, apart + col[first + (u64)(length - 1) * hack_size] - row);
    }
    for (u32 lane = WARP / 2; lane > 0; lane /= 2) {
        least = min(least, __shfl_down_sync(ALL_LANES, least, lane));
        greatest = max(greatest, __shfl_down_sync(ALL_LANES, greatest, lane));
    }
    if (threadIdx.x % WARP == 0) {
        low[threadIdx.x / WARP] = least;
        high[threadIdx.x / WARP] = greatest;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (u32 warp = 1; warp < blockDim.x / WARP; warp++) {
        least = min(least, low[warp]);
        greatest = max(greatest, high[warp]);
    }
    atomicMin(&range[0], least);
    atomicMax(&range[1], greatest);
}

// The distances of sorted columns from the start of their window; adds to a row's length how many
// are in the low one. One thread per row. Padding is not stored.
extern "C" __global__ void hll_distances(
    u32 rows, u32 hack_size, u32 fours, const u64* offsets, u32* row_len, u32 base, const u32* col,
    u16* distance)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 hack = row / hack_size, begin = offsets[hack];
    const u32 width = (u32)((offsets[hack + 1] - begin) / hack_size), r = row % hack_size;
    u32 lows = 0;
    for (u32 j = 0; j < row_len[row]; j++) {
        const u32 apart = col[begin + (u64)j * hack_size + r] - (u32)row - base;
        lows += apart < WINDOW;
        distance[begin + place_in_hack(fours, hack_size, width, r, j)] = (u16)apart;
    }
    row_len[row] += lows * WINDOW;
}
