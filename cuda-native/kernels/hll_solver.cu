// cuda/pcg/device: y = A x while a solve is not over, and with . y for it; A in column-major HLL. A
// hack's slots begin at offsets[hack]; slot j of its row r lies j * hack_size + r further. Where
// rows are few, 2, 4 or 8 lanes share one and each takes every 2nd, 4th or 8th slot. Where all
// columns are near their rows they are stored as 16-bit distances: in the first low[r] slots of row
// r from r + base, in the others from 65 536 further, one base per matrix.

// Slots of a row that a lane loads before it waits for the first.
const u32 IN_FLIGHT = 6;

// Number of distances that 16 bits can represent.
const u32 WINDOW = 65536;

// The column of a slot, stored as it is or as the distance from the start of its window.
__device__ inline u32 column(const u32* col, u64 at, u32) { return __ldcs(&col[at]); }
__device__ inline u32 column(const u16* distance, u64 at, u32 window) {
    return window + __ldcs(&distance[at]);
}

template <typename COLUMN>
__device__ inline void product_of_solver(
    u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, const u32* low,
    u32 base, const COLUMN* col, const real* val, const real* x, real* y, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    const u32 rows_a_warp = WARP / lanes, share = threadIdx.x % WARP / rows_a_warp;
    const u64 thread = thread_in_grid();
    const u64 row = thread / WARP * rows_a_warp + thread % rows_a_warp;
    const u32 length = row < rows ? row_len[row] : 0;
    const u64 first = row < rows ? offsets[row / hack_size] + row % hack_size : 0;
    const u32 lows = sizeof(COLUMN) == sizeof(u16) && row < rows ? low[row] : 0;
    const u32 window = (u32)row + base;

    u32 c[IN_FLIGHT];
    real v[IN_FLIGHT];
    const auto ask = [&](u32 j) {
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            const u32 slot = j + i * lanes;
            const u64 at = first + (u64)slot * hack_size;
            c[i] = slot < length ? column(col, at, slot < lows ? window : window + WINDOW) : 0;
            v[i] = slot < length ? __ldcs(&val[at]) : 0;
        }
    };
    // Load the first slots, which no kernel writes, before the kernels that write x have ended.
    ask(share);
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    const bool stores = row < rows && share == 0;
    const real factor = purpose != FOR_NOTHING && stores ? with[row] : 0;

    real of_row = 0;
    for (u32 j = share; j < length;) {
        real element[IN_FLIGHT], value[IN_FLIGHT];
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) {
            element[i] = j + i * lanes < length ? x[c[i]] : 0;
            value[i] = v[i];
        }
        j += IN_FLIGHT * lanes;
        if (j < length) ask(j);
#pragma unroll
        for (u32 i = 0; i < IN_FLIGHT; i++) of_row += value[i] * element[i];
    }
    for (u32 distance = WARP / 2; distance >= rows_a_warp; distance /= 2)
        of_row += __shfl_down_sync(ALL_LANES, of_row, distance);

    if (stores) y[row] = of_row;
    if (purpose != FOR_NOTHING) leave(purpose, factor * of_row, parts, counts, numbers);
}

// The columns are in `distance` if `near`, else in `col`.
extern "C" __global__ void __launch_bounds__(256, 4) hll_column_major_solver(
    u32 rows, u32 hack_size, u32 lanes, const u64* offsets, const u32* row_len, u32 near,
    const u32* low, u32 base, const u32* col, const u16* distance, const real* val, const real* x, real* y, u32 purpose,
    const real* with, real* parts, u32* counts, real* numbers, const u32* words)
{
    if (near)
        product_of_solver(
            rows, hack_size, lanes, offsets, row_len, low, base, distance, val, x, y, purpose, with, parts,
            counts, numbers, words);
    else
        product_of_solver(
            rows, hack_size, lanes, offsets, row_len, low, base, col, val, x, y, purpose, with, parts,
            counts, numbers, words);
}

// Distances of the columns from their rows, plus 2^32: the minimum goes to range[0], the maximum to
// range[1]; range[2] becomes 1 if a row's columns are not sorted. One thread per row.
extern "C" __global__ void hll_distance_range(
    u32 rows, u32 hack_size, const u64* offsets, const u32* row_len, const u32* col, u64* range)
{
    const u64 row = thread_in_grid();
    u64 least = ~0ull, greatest = 0;
    if (row < rows) {
        const u64 first = offsets[row / hack_size] + row % hack_size;
        bool ascend = true;
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

// The distances of sorted columns from the start of their window, and how many of a row's are in
// the low one; one thread per row. Padding is not stored.
extern "C" __global__ void hll_distances(
    u32 rows, u32 hack_size, const u64* offsets, const u32* row_len, u32 base, const u32* col,
    u32* low, u16* distance)
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
    low[row] = lows;
}
