// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first slots of row r from
// r + base, in the others from 65 536 further, one base per matrix. row_len then has the number of
// the former in its upper 16 bits, above the length. Where a matrix has few distinct values, val has
// these, and codes has the index of each slot's, in 8 or 16 bits. Where it has both and each lane has
// a row, four slots of a row are adjacent: slots 4 q to 4 q + 3 begin 4 (q * hack_size + r) further,
// as long as the hack has four more.

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

// The row of a lane, and the share of it that the lane has.
struct Lane {
    u64 row, begin;
    u32 share, rows_a_warp, in_hack, width, length, lows, window;

    __device__ Lane(
        u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, u32 near, u32 base)
    {
        rows_a_warp = WARP / lanes;
        share = threadIdx.x % WARP / rows_a_warp;
        const u64 thread = thread_in_grid();
        row = thread / WARP * rows_a_warp + thread % rows_a_warp;
        const u64 hack = row / hack_size;
        const u32 word = row < rows ? row_len[row] : 0;
        begin = row < rows ? offsets[hack] : 0;
        width = row < rows ? (u32)((offsets[hack + 1] - begin) / hack_size) : 0;
        in_hack = row % hack_size;
        length = near ? word % WINDOW : word;
        lows = near ? word / WINDOW : 0;
        window = (u32)row + base;
    }

    // Start of the window of a slot.
    __device__ u32 window_of(u32 slot) const { return slot < lows ? window : window + WINDOW; }
};

// Slots that are loaded one by one, `lanes` apart.
template <typename COLUMN, typename STORED> struct Single {
    // Slots of a row that a lane loads before it waits for the first.
    static constexpr u32 IN_FLIGHT = sizeof(STORED) < sizeof(real) ? 9 : 6;
    // Whether it loads the next ones before it adds these.
    static constexpr bool AHEAD = true;
    const COLUMN* col;
    const STORED* stored;
    u32 hack_size, lanes;
    u32 c[IN_FLIGHT];
    STORED v[IN_FLIGHT];

    __device__ void ask(const Lane& lane, u32 j) {
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            const u64 at = lane.begin + lane.in_hack + (u64)slot * hack_size;
            c[i] = slot < lane.length ? column(col, at, lane.window_of(slot)) : 0;
            v[i] = slot < lane.length ? __ldcs(&stored[at]) : 0;
        }
    }
    __device__ u32 column_of(const Lane&, u32, u32 i) const { return c[i]; }
    __device__ STORED stored_of(u32 i) const { return v[i]; }
};

// Distances and codes of which four are loaded at once, by one lane per row, in hacks of a
// warp.
template <typename CODE, typename FOUR> struct Fours {
    static constexpr u32 IN_FLIGHT = 8, lanes = 1;
    static constexpr bool AHEAD = false;
    const u16* distance;
    const CODE* codes;
    ushort4 d[IN_FLIGHT / 4];
    FOUR v[IN_FLIGHT / 4];

    __device__ void ask(const Lane& lane, u32 j) {
#pragma unroll
        for (u32 g = 0; g < IN_FLIGHT / 4; g++) {
            const u32 slot = j + 4 * g;
            const u64 at = lane.begin + (u64)slot * WARP;
            if (slot + 4 <= lane.width) {
                d[g] = __ldcs(reinterpret_cast<const ushort4*>(distance + at) + lane.in_hack);
                v[g] = __ldcs(reinterpret_cast<const FOUR*>(codes + at) + lane.in_hack);
                continue;
            }
            const u64 next = at + lane.in_hack;
            if (slot < lane.length) {
                d[g].x = __ldcs(&distance[next]);
                v[g].x = __ldcs(&codes[next]);
            }
            if (slot + 1 < lane.length) {
                d[g].y = __ldcs(&distance[next + WARP]);
                v[g].y = __ldcs(&codes[next + WARP]);
            }
            if (slot + 2 < lane.length) {
                d[g].z = __ldcs(&distance[next + 2 * WARP]);
                v[g].z = __ldcs(&codes[next + 2 * WARP]);
            }
        }
    }
    template <typename OF> static __device__ auto part(const OF& four, u32 k) {
        return k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w;
    }
    __device__ u32 column_of(const Lane& lane, u32 slot, u32 i) const {
        return lane.window_of(slot) + part(d[i / 4], i % 4);
    }
    __device__ CODE stored_of(u32 i) const { return part(v[i / 4], i % 4); }
};

template <typename SLOTS>
__device__ inline void product_of_solver(
    SLOTS slots, const Lane& lane, u32 distinct, const real* val, real* few, u32 rows, const real* x,
    real* y, u32 purpose, const real* with, real* parts, u32* counts, real* numbers,
    const u32* words)
{
    constexpr u32 IN_FLIGHT = SLOTS::IN_FLIGHT;
    // Load the first slots, which no kernel writes, before the kernels that write x have ended.
    slots.ask(lane, lane.share);
    if (distinct != 0 && distinct <= OF_BYTE) {
        for (u32 k = threadIdx.x; k < distinct; k += blockDim.x) few[k] = val[k];
        __syncthreads();
    }
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    const bool stores = lane.row < rows && lane.share == 0;
    const real factor = purpose != FOR_NOTHING && stores ? with[lane.row] : 0;

    real of_row = 0;
    for (u32 j = lane.share; j < lane.length;) {
        const u32 begin = j, lanes = slots.lanes;
        const SLOTS asked = slots;
        real element[IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            element[i] = slot < lane.length ? x[asked.column_of(lane, slot, i)] : 0;
        }
        j += IN_FLIGHT * lanes;
        if (SLOTS::AHEAD && j < lane.length) slots.ask(lane, j);
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++)
            if (begin + i * lanes < lane.length)
                of_row += value_of(asked.stored_of(i), few, val) * element[i];
        if (!SLOTS::AHEAD && j < lane.length) slots.ask(lane, j);
    }
    for (u32 distance = WARP / 2; distance >= lane.rows_a_warp; distance /= 2)
        of_row += __shfl_down_sync(ALL_LANES, of_row, distance);

    if (stores) y[lane.row] = of_row;
    if (purpose != FOR_NOTHING) leave(purpose, factor * of_row, parts, counts, numbers);
}

template <typename COLUMN, typename... REST>
__device__ inline void product_of_columns(
    const COLUMN* col, u32 hack_size, u32 lanes, const u8* codes, const Lane& lane, u32 distinct,
    const real* val, REST... rest)
{
    const u16* const words = reinterpret_cast<const u16*>(codes);
    if (distinct == 0)
        product_of_solver(
            Single<COLUMN, real>{col, val, hack_size, lanes}, lane, distinct, val, rest...);
    else if (distinct <= OF_BYTE)
        product_of_solver(
            Single<COLUMN, u8>{col, codes, hack_size, lanes}, lane, distinct, val, rest...);
    else
        product_of_solver(
            Single<COLUMN, u16>{col, words, hack_size, lanes}, lane, distinct, val, rest...);
}

// The columns are in `distance` if `near`, else in `col`; the values are in `val` if `distinct` is 0,
// else that many are there, and the slots have codes.
extern "C" __global__ void __launch_bounds__(256, 4) hll_column_major_solver(
    u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, u32 near,
    u32 base, u32 fours, const u32* col, const u16* distance, u32 distinct, const u8* codes,
    const real* val, const real* x, real* y, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    __shared__ real few[OF_BYTE];
    const Lane lane(rows, hack_size, lanes, offsets, row_len, near, base);
    if (fours && distinct <= OF_BYTE)
        product_of_solver(
            Fours<u8, uchar4>{distance, codes}, lane, distinct, val, few, rows, x, y,
            purpose, with, parts, counts, numbers, words);
    else if (fours)
        product_of_solver(
            Fours<u16, ushort4>{distance, reinterpret_cast<const u16*>(codes)}, lane,
            distinct, val, few, rows, x, y, purpose, with, parts, counts, numbers, words);
    else if (near)
        product_of_columns(
            distance, hack_size, lanes, codes, lane, distinct, val, few, rows, x, y, purpose, with,
            parts, counts, numbers, words);
    else
        product_of_columns(
            col, hack_size, lanes, codes, lane, distinct, val, few, rows, x, y, purpose, with, parts,
            counts, numbers, words);
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
// range[1]; range[2] becomes 1 if a row's columns are not sorted or its length has more than 16
// bits. One thread per row.
extern "C" __global__ void hll_distance_range(
    u32 rows, u32 hack_size, const u64* offsets, const u32* row_len, const u32* col, u64* range)
{
    const u64 row = thread_in_grid();
    u64 least = ~0ull, greatest = 0;
    if (row < rows) {
        const u64 first = offsets[row / hack_size] + row % hack_size;
        bool ascend = row_len[row] < WINDOW;
        for (u32 j = 0; j < row_len[row]; j++) {
            const u64 apart = (1ull << 32) + col[first + (u64)j * hack_size] - row;
            ascend &= j == 0 || apart > greatest;
            least = min(least, apart);
            greatest = max(greatest, apart);
        }
        if (!ascend) range[2] = 1;
    }
    for (u32 lane = WARP / 2; lane > 0; lane /= 2) {
        least = min(least, __shfl_down_sync(ALL_LANES, least, lane));
        greatest = max(greatest, __shfl_down_sync(ALL_LANES, greatest, lane));
    }
    if (threadIdx.x % WARP != 0 || least > greatest) return;
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
