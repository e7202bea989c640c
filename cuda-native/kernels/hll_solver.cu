// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first slots of row r from
// r + base, in the others from 65 536 further, one base per matrix. row_len then has the number of
// the former in its upper 16 bits, above the length. Where a matrix has few distinct values, val has these, and codes has the index of each slot's, in 8 or 16 bits.

// Number of distances that 16 bits can represent.
const u32 WINDOW = 65536;

// Number of values that 8 bits can represent.
const u32 OF_BYTE = 256;

// The column of a slot, stored as it is or as the distance from the start of its window.
__device__ inline u32 column(const u32* col, u64 at, u32) { return __ldcs(&col[at]); }
__device__ inline u32 column(const u16* distance, u64 at, u32 window) {
    return window + __ldcs(&distance[at]);
}

// The value of a slot, stored as it is, as an index into shared memory, or as one into `val`.
__device__ inline real value_of(real stored, const real*, const real*) { return stored; }
__device__ inline real value_of(u8 code, const real* few, const real*) { return few[code]; }
__device__ inline real value_of(u16 code, const real*, const real* val) { return __ldg(&val[code]); }

template <typename COLUMN, typename STORED>
__device__ inline void product_of_solver(
    const COLUMN* col, const STORED* stored, u32 distinct, const real* val, real* few, u32 rows,
    u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, u32 base, const real* x,
    real* y, u32 purpose, const real* with, real* parts, u32* counts, real* numbers,
    const u32* words)
{
    // Slots of a row that a lane loads before it waits for the first.
    constexpr u32 IN_FLIGHT = sizeof(STORED) < sizeof(real) ? 9 : 6;
    const u32 rows_a_warp = WARP / lanes, share = threadIdx.x % WARP / rows_a_warp;
    const u64 thread = thread_in_grid();
    const u64 row = thread / WARP * rows_a_warp + thread % rows_a_warp;
    constexpr bool NEAR = sizeof(COLUMN) == sizeof(u16);
    const u32 word = row < rows ? row_len[row] : 0;
    const u32 length = NEAR ? word % WINDOW : word, lows = NEAR ? word / WINDOW : 0;
    const u64 first = row < rows ? offsets[row / hack_size] + row % hack_size : 0;
    const u32 window = (u32)row + base;

    u32 c[IN_FLIGHT];
    STORED v[IN_FLIGHT];
    const auto ask = [&](u32 j) {
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            const u64 at = first + (u64)slot * hack_size;
            c[i] = slot < length ? column(col, at, slot < lows ? window : window + WINDOW) : 0;
            v[i] = slot < length ? __ldcs(&stored[at]) : 0;
        }
    };
    // Load the first slots, which no kernel writes, before the kernels that write x have ended.
    ask(share);
    if (sizeof(STORED) == sizeof(u8)) {
        for (u32 k = threadIdx.x; k < distinct; k += blockDim.x) few[k] = val[k];
        __syncthreads();
    }
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    const bool stores = row < rows && share == 0;
    const real factor = purpose != FOR_NOTHING && stores ? with[row] : 0;

    real of_row = 0;
    for (u32 j = share; j < length;) {
        const u32 begin = j;
        real element[IN_FLIGHT];
        STORED value[IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            element[i] = j + i * lanes < length ? x[c[i]] : 0;
            value[i] = v[i];
        }
        j += IN_FLIGHT * lanes;
        if (j < length) ask(j);
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++)
            if (begin + i * lanes < length) of_row += value_of(value[i], few, val) * element[i];
    }
    for (u32 distance = WARP / 2; distance >= rows_a_warp; distance /= 2)
        of_row += __shfl_down_sync(ALL_LANES, of_row, distance);

    if (stores) y[row] = of_row;
    if (purpose != FOR_NOTHING) leave(purpose, factor * of_row, parts, counts, numbers);
}

template <typename COLUMN, typename... REST>
__device__ inline void product_of_columns(
    const COLUMN* col, const u8* codes, u32 distinct, const real* val, REST... rest)
{
    if (distinct == 0) product_of_solver(col, val, distinct, val, rest...);
    else if (distinct <= OF_BYTE) product_of_solver(col, codes, distinct, val, rest...);
    else product_of_solver(col, reinterpret_cast<const u16*>(codes), distinct, val, rest...);
}

// The columns are in `distance` if `near`, else in `col`; the values are in `val` if `distinct` is 0,
// else that many are there, and the slots have codes.
extern "C" __global__ void __launch_bounds__(256, 4) hll_column_major_solver(
    u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, u32 near,
    u32 base, const u32* col, const u16* distance, u32 distinct, const u8* codes, const real* val,
    const real* x, real* y, u32 purpose, const real* with, real* parts, u32* counts, real* numbers,
    const u32* words)
{
    __shared__ real few[OF_BYTE];
    if (near)
        product_of_columns(
            distance, codes, distinct, val, few, rows, hack_size, lanes, offsets, row_len, base, x, y,
            purpose, with, parts, counts, numbers, words);
    else
        product_of_columns(
            col, codes, distinct, val, few, rows, hack_size, lanes, offsets, row_len, base, x, y,
            purpose, with, parts, counts, numbers, words);
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
extern "C" __global__ void hll_codes(
    u64 slots, const real* val, u32 capacity, const u64* keys, const u32* index, u32 distinct,
    u8* codes)
{
    const u64 at = thread_in_grid();
    if (at >= slots) return;
    const u64 bits = __double_as_longlong(__ldcs(&val[at]));
    u32 place = place_of(bits, capacity);
    while (keys[place] != bits) place = (place + 1) & (capacity - 1);
    if (distinct <= OF_BYTE) codes[at] = (u8)index[place];
    else reinterpret_cast<u16*>(codes)[at] = (u16)index[place];
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
    u32 rows, u32 hack_size, const u64* offsets, u32* row_len, u32 base, const u32* col,
    u16* distance)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u64 first = offsets[row / hack_size] + row % hack_size;
    u32 lows = 0;
    for (u32 j = 0; j < row_len[row]; j++) {
        const u64 at = first + (u64)j * hack_size;
        const u32 apart = col[at] - (u32)row - base;
        lows += apart < WINDOW;
        distance[at] = (u16)apart;
    }
    row_len[row] += lows * WINDOW;
}
