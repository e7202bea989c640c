// The pattern of a factorised sparse approximate inverse, whose rows are sorted: the prefiltered
// matrix, whose rows lie where those of A begin, and the columns reached from each row by steps
// along it.

// Marks a column of a list whose row can be skipped.
const u32 SKIPPED = 0x80000000u;

// Counts the nonzeros of each row up to the diagonal, and stores the diagonal times a factor, 0
// where it is not stored.
extern "C" __global__ void fsai_pattern_lower(
    u32 rows, double on_diagonal, const offset* row_ptr, const u32* col, const double* val, u32* low,
    double* diagonal)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const offset begin = row_ptr[row];
    u32 from = 0, to = (u32)(row_ptr[row + 1] - begin);
    while (from < to) {
        const u32 middle = from + (to - from) / 2;
        if (col[begin + middle] <= row) from = middle + 1;
        else to = middle;
    }
    low[row] = from;
    const bool stored = from > 0 && col[begin + from - 1] == row;
    diagonal[row] = stored ? val[begin + from - 1] * on_diagonal : 0;
}

// Nonzeros of each row that the prefilter keeps, eight lanes per row: their number and, on request,
// their columns.
extern "C" __global__ void fsai_pattern_kept(
    u32 rows, double delta, u32 write, const offset* row_ptr, const u32* col, const double* val,
    const double* diagonal, u32* len, u32* kept)
{
    const u64 row = thread_in_grid() / 8;
    const u32 lane = threadIdx.x % 8, shift = threadIdx.x % WARP / 8 * 8;
    offset begin = 0, end = 0;
    double own = 0;
    if (row < rows) {
        begin = row_ptr[row];
        end = row_ptr[row + 1];
        own = diagonal[row];
    }
    u32 count = 0;
    for (offset k = begin + lane; __any_sync(ALL_LANES, k < end); k += 8) {
        bool keep = false;
        u32 c = 0;
        if (k < end) {
            c = col[k];
            const double v = val[k];
            keep = c == row || (delta > 0 ? v * v > delta * own * diagonal[c] : v != 0);
        }
        const u32 keeping = __ballot_sync(ALL_LANES, keep) >> shift & 255;
        if (keep && write) kept[begin + count + __popc(keeping & ((1u << lane) - 1))] = c;
        count += __popc(keeping);
    }
    if (row < rows && lane == 0) len[row] = count;
}

// Whether each row has the same columns as the previous one, as the unknowns of a node do; eight
// lanes per row.
extern "C" __global__ void fsai_pattern_same(
    u32 rows, const offset* row_ptr, const u32* len, const u32* col, u8* same)
{
    const u64 row = thread_in_grid() / 8;
    const u32 lane = threadIdx.x % 8, shift = threadIdx.x % WARP / 8 * 8;
    offset own = 0, before = 0;
    u32 n = 0;
    bool differs = true;
    if (row > 0 && row < rows) {
        own = row_ptr[row];
        before = row_ptr[row - 1];
        n = len[row];
        differs = n != len[row - 1];
        if (differs) n = 0;
    }
    for (u32 k = lane; __any_sync(ALL_LANES, k < n); k += 8)
        differs = differs || (k < n && col[own + k] != col[before + k]);
    const u32 differing = __ballot_sync(ALL_LANES, differs) >> shift & 255;
    if (row < rows && lane == 0) same[row] = differing == 0;
}

// The columns of each row below it, and the row itself, eight lanes per row: their number or, on
// request, the columns.
extern "C" __global__ void fsai_pattern_first(
    u32 rows, u32 fill, const offset* row_ptr, const u32* len, const u32* col, const u32* ptr,
    u32* found, u32* out)
{
    const u64 row = thread_in_grid() / 8;
    const u32 lane = threadIdx.x % 8;
    if (row >= rows) return;
    const offset begin = row_ptr[row];
    u32 n = 0;
    if (fill) {
        n = ptr[row + 1] - ptr[row] - 1;
    } else {
        u32 to = len[row];
        while (n < to) {
            const u32 middle = n + (to - n) / 2;
            if (col[begin + middle] < row) n = middle + 1;
            else to = middle;
        }
        if (lane == 0) found[row] = n + 1;
        return;
    }
    u32* own = out + ptr[row];
    for (u32 k = lane; k < n; k += 8) own[k] = col[begin + k];
    if (lane == 0) own[n] = (u32)row;
}

// Slot of a column, or an empty one, in a hash table with room for it.
template <u32 TABLE>
__device__ inline u32 slot_of(const u32* table, u32 c) {
    u32 slot = c * 0x9e3779b1u >> 16 & (TABLE - 1);
    while (table[slot] != c && table[slot] != NONE) slot = (slot + 1) & (TABLE - 1);
    return slot;
}

// Inserts a column into the table; returns whether it was new.
template <u32 TABLE>
__device__ inline bool insert(u32* table, u32 c) {
    u32 slot = c * 0x9e3779b1u >> 16 & (TABLE - 1);
    while (true) {
        const u32 was = atomicCAS(table + slot, NONE, c);
        if (was == NONE) return true;
        if (was == c) return false;
        slot = (slot + 1) & (TABLE - 1);
    }
}

// The columns reached from each row in `power` steps, one warp per row: their number or, on
// request, the columns. A hash table in shared memory holds the columns already reached. They are
// found in any order and sorted at the end, so that results are the same in every run. Rows that
// reach more than half of the table are left to another kernel.
template <u32 TABLE, u32 WARPS>
__device__ inline void reach(
    u32 rows, u32 listed, u32 power, u32 climbing, u32 fill, const u32* list, const offset* row_ptr,
    const u32* len, const u32* col, const u8* same, const u32* ptr, u32* found, u32* out, u32* left,
    u32* lefts)
{
    const u32 ROOM = TABLE / 2;
    __shared__ u32 tables[WARPS][TABLE];
    __shared__ __align__(16) u32 columns[WARPS][ROOM];
    __shared__ u32 counts[WARPS];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    u32 *table = tables[warp], *reached = columns[warp], *count = counts + warp;
    for (u64 t = thread_in_grid() / WARP; t < rows; t += (u64)gridDim.x * WARPS) {
        const u32 row = listed ? list[t] : (u32)t, top = climbing ? NONE - 1 : row;
        for (u32 s = lane; s < TABLE; s += WARP) table[s] = NONE;
        __syncwarp();
        if (lane == 0) {
            insert<TABLE>(table, row);
            reached[0] = row;
            *count = 1;
        }
        __syncwarp();
        u32 from = 0, end = 1;
        bool over = false;
        for (u32 step = 0; step < power && from < end && !over; step++) {
            // Of consecutive rows with the same columns only one is visited. Check which were
            // reached before this step reaches more.
            for (u32 e = from + lane; e < end; e += WARP) {
                const u32 c = reached[e];
                if (same[c] && table[slot_of<TABLE>(table, c - 1)] == c - 1) reached[e] = c | SKIPPED;
            }
            __syncwarp();
            for (u32 first = from; first < end && !over; first += WARP) {
                const u32 own = first + lane < end ? reached[first + lane] : SKIPPED;
                offset begin = 0;
                u32 entries = 0;
                if (!(own & SKIPPED)) {
                    begin = row_ptr[own];
                    entries = len[own];
                }
                for (u32 e = 0; e < min(WARP, end - first) && !over; e++) {
                    const offset at = __shfl_sync(ALL_LANES, begin, e);
                    const u32 n = __shfl_sync(ALL_LANES, entries, e);
                    for (u32 k = lane; k - lane < n; k += WARP) {
                        const u32 c = k < n ? __ldg(col + at + k) : NONE;
                        if (c <= top && insert<TABLE>(table, c)) {
                            const u32 place = atomicAdd(count, 1);
                            if (place < ROOM) reached[place] = c;
                        }
                        __syncwarp();
                        over = *count > ROOM;
                        // Columns are sorted: nothing follows once they exceed the row.
                        if (__any_sync(ALL_LANES, c > top) || over) break;
                    }
                }
            }
            __syncwarp();
            from = end;
            end = min(*count, ROOM);
            __syncwarp();
        }
        if (over) {
            if (!fill && lane == 0) left[atomicAdd(lefts, 1)] = row;
            __syncwarp();
            continue;
        }
        u32 own = 0;
        for (u32 e = lane; e < (end + 3) / 4 * 4; e += WARP) {
            const u32 c = e < end ? reached[e] & ~SKIPPED : NONE;
            own += c <= row;
            reached[e] = c <= row ? c : NONE;
        }
        for (u32 distance = WARP / 2; distance > 0; distance /= 2)
            own += __shfl_xor_sync(ALL_LANES, own, distance);
        if (!fill) {
            if (lane == 0) found[row] = own;
            continue;
        }
        __syncwarp();
        const uint4* fours = (const uint4*)reached;
        for (u32 e = lane; e < end; e += WARP) {
            const u32 c = reached[e];
            u32 place = 0;
            for (u32 f = 0; f < (end + 3) / 4; f++) {
                const uint4 other = fours[f];
                place += (other.x < c) + (other.y < c) + (other.z < c) + (other.w < c);
            }
            if (c != NONE) out[ptr[row] + place] = c;
        }
        __syncwarp();
    }
}

// Rows that reach at most 256 columns.
extern "C" __global__ void __launch_bounds__(128) fsai_pattern_reach(
    u32 rows, u32 listed, u32 power, u32 climbing, u32 fill, const u32* list, const offset* row_ptr,
    const u32* len, const u32* col, const u8* same, const u32* ptr, u32* found, u32* out, u32* left,
    u32* lefts)
{
    reach<512, 4>(
        rows, listed, power, climbing, fill, list, row_ptr, len, col, same, ptr, found, out, left, lefts);
}

// Rows that reach at most 2048 columns.
extern "C" __global__ void __launch_bounds__(32) fsai_pattern_reach_wide(
    u32 rows, u32 listed, u32 power, u32 climbing, u32 fill, const u32* list, const offset* row_ptr,
    const u32* len, const u32* col, const u8* same, const u32* ptr, u32* found, u32* out, u32* left,
    u32* lefts)
{
    reach<4096, 1>(
        rows, listed, power, climbing, fill, list, row_ptr, len, col, same, ptr, found, out, left, lefts);
}

// Rows that reach any number of columns, one block of 256 threads per row: one bit per column, all
// 0 before and after, and the list of columns reached; each block has its own.
extern "C" __global__ void __launch_bounds__(256) fsai_pattern_reach_long(
    u32 rows, u32 longs, u32 power, u32 climbing, u32 fill, const u32* list, const offset* row_ptr,
    const u32* len, const u32* col, const u32* ptr, u32* found, u32* out, u32* bits, u32* reached)
{
    __shared__ u32 count, sums[8];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    bits += (u64)blockIdx.x * (rows / WARP + 1);
    reached += (u64)blockIdx.x * rows;
    for (u32 t = blockIdx.x; t < longs; t += gridDim.x) {
        const u32 row = list[t], top = climbing ? NONE - 1 : row;
        if (threadIdx.x == 0) {
            reached[0] = row;
            bits[row / WARP] = 1u << row % WARP;
            count = 1;
        }
        __syncthreads();
        u32 from = 0, end = 1;
        for (u32 step = 0; step < power && from < end; step++) {
            for (u32 e = from + warp; e < end; e += 8) {
                const u32 c = reached[e];
                for (u32 k = lane; k < len[c]; k += WARP) {
                    const u32 to = col[row_ptr[c] + k], bit = 1u << to % WARP;
                    if (to <= top && !(atomicOr(bits + to / WARP, bit) & bit))
                        reached[atomicAdd(&count, 1)] = to;
                }
            }
            __syncthreads();
            from = end;
            end = count;
            __syncthreads();
        }
        u32 before = 0;
        for (u32 first = 0; first <= row / WARP; first += 256) {
            const u32 word = first + threadIdx.x;
            u32 own = word <= row / WARP ? bits[word] : 0;
            if (word == row / WARP) own &= 0xffffffffu >> (WARP - 1 - row % WARP);
            u32 sum = __popc(own);
            for (u32 j = 1; j < WARP; j *= 2) {
                const u32 other = __shfl_up_sync(ALL_LANES, sum, j);
                if (lane >= j) sum += other;
            }
            if (lane == WARP - 1) sums[warp] = sum;
            __syncthreads();
            u32 place = before + sum - __popc(own);
            for (u32 j = 0; j < 8; j++) {
                if (j < warp) place += sums[j];
                before += sums[j];
            }
            if (fill)
                for (; own; own &= own - 1) out[ptr[row] + place++] = word * WARP + __ffs(own) - 1;
            __syncthreads();
        }
        if (!fill && threadIdx.x == 0) found[row] = before;
        for (u32 e = threadIdx.x; e < end; e += 256) bits[reached[e] / WARP] = 0;
        __syncthreads();
    }
}
