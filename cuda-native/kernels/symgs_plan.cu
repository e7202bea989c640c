// The structure analysis that sweeps need, on the device: levels and colours before the first
// sweep, or, during it, which rows are ready.

// A bijective 64-bit hash (Stafford's mix 13).
__device__ inline u64 mixed(u64 z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ inline u64 warp_sum_u64(u64 sum) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// Counts the nonzeros before the diagonal of each row, eight lanes per row, and lists the rows
// without any. Facts: two hash sums that are equal if the structure is symmetric, and otherwise
// only by chance; the nonzeros before and after the diagonal; the longest row; and the maximum
// nonzeros of a row on either side.
extern "C" __global__ void symgs_plan_rows(
    u32 rows, const offset* row_ptr, const u32* col, u64 seed, u32* below, u32* pending, u32* first,
    u32* firsts, u64* facts)
{
    const u32 lane = threadIdx.x % 8, own = threadIdx.x % WARP;
    u64 hash_below = 0, hash_above = 0, all_below = 0, all_above = 0;
    u32 longest = 0, most_below = 0, most_above = 0;
    const u64 whole = ((u64)rows + 3) / 4 * 4;
    const u64 stride = (u64)gridDim.x * blockDim.x / 8;
    for (u64 t = thread_in_grid() / 8; t < whole; t += stride) {
        const bool in = t < rows;
        const u32 row = (u32)t;
        offset k = 0, end = 0;
        u32 low = 0, high = 0;
        if (in) {
            k = row_ptr[row];
            end = row_ptr[row + 1];
            longest = max(longest, (u32)(end - k));
        }
        for (k += lane; k < end; k += 32) {
            u32 c[4];
#pragma unroll
            for (int j = 0; j < 4; j++) c[j] = k + j * 8 < end ? __ldcs(col + k + j * 8) : row;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                if (c[j] == row) continue;
                const u64 hash = mixed(((u64)max(c[j], row) << 32 | min(c[j], row)) ^ seed);
                if (c[j] < row) {
                    low++;
                    hash_below += hash;
                } else {
                    high++;
                    hash_above += hash;
                }
            }
        }
        all_below += low;
        all_above += high;
#pragma unroll
        for (int j = 1; j < 8; j *= 2) {
            low += __shfl_xor_sync(ALL_LANES, low, j, 8);
            high += __shfl_xor_sync(ALL_LANES, high, j, 8);
        }
        most_below = max(most_below, low);
        most_above = max(most_above, high);
        const bool opens = in && lane == 0 && low == 0;
        if (in && lane == 0) {
            below[row] = low;
            pending[row] = low;
        }
        const u32 opening = __ballot_sync(ALL_LANES, opens);
        u32 place = 0;
        if (own == 0 && opening) place = atomicAdd(firsts, __popc(opening));
        place = __shfl_sync(ALL_LANES, place, 0);
        if (opens) first[place + __popc(opening & ((1u << own) - 1))] = row;
    }
    hash_below = warp_sum_u64(hash_below);
    hash_above = warp_sum_u64(hash_above);
    all_below = warp_sum_u64(all_below);
    all_above = warp_sum_u64(all_above);
    longest = warp_max(longest);
    most_below = warp_max(most_below);
    most_above = warp_max(most_above);
    if (own == 0) {
        atomicAdd(facts, hash_below);
        atomicAdd(facts + 1, hash_above);
        atomicAdd(facts + 2, all_below);
        atomicAdd(facts + 3, all_above);
        atomicMax(facts + 4, (u64)longest);
        atomicMax(facts + 5, (u64)most_below);
        atomicMax(facts + 6, (u64)most_above);
    }
}

// Levels, and first-fit colours, of a symmetric structure: level * 64 + colour. All blocks are
// resident, one queue each; the block that counts the last dependency of a row enqueues it. Eight
// lanes per row: they count down the rows after it, then visit those before it, which have counted
// it down and so are in progress or done. Colour 63 stands for all above 62.
extern "C" __global__ void __launch_bounds__(1024, 2) symgs_plan_wave(
    u32 rows, u32 room, const offset* row_ptr, const u32* col, u32* pending, u32* packed,
    u32* tails, u32* queue, u32* deepest, u32* stuck)
{
    const u32 queues = gridDim.x, q = blockIdx.x, lane = threadIdx.x % 8;
    const u32 mine = rows / queues + (q < rows % queues);
    u32 i = threadIdx.x / 8, turns = 0, deep = 0;
    bool gone = false;
    while (__any_sync(ALL_LANES, i < mine)) {
        u32 row = i < mine ? peek(queue + (u64)q * room + i) : NONE;
        // The eight lanes must agree: the first lane's value is used.
        row = __shfl_sync(ALL_LANES, row, 0, 8);
        offset k = 0, end = 0;
        u32 level = 0;
        u64 used = 0;
        if (row != NONE) {
            k = row_ptr[row];
            end = row_ptr[row + 1];
        }
        for (k += lane; __any_sync(ALL_LANES, k < end); k += 32) {
            u32 c[4], was[4];
#pragma unroll
            for (int j = 0; j < 4; j++) c[j] = k + 8 * j < end ? __ldg(col + k + 8 * j) : row;
#pragma unroll
            for (int j = 0; j < 4; j++)
                was[j] = row != NONE && c[j] > row ? atomicSub(pending + c[j], 1) : 0;
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (was[j] == 1) {
                    const u32 to = c[j] % queues, at = atomicAdd(tails + to, 1);
                    publish(queue + (u64)to * room + at, c[j]);
                }
#pragma unroll
            for (int j = 0; j < 4; j++) was[j] = c[j] < row && k < end ? peek(packed + c[j]) : NONE;
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (row != NONE && c[j] < row) {
                    while (was[j] == NONE && !gone) {
                        was[j] = peek(packed + c[j]);
                        gone = give_up(turns, stuck);
                    }
                    level = max(level, was[j] / 64 + 1);
                    used |= 1ull << (was[j] % 64);
                }
        }
        __syncwarp();
#pragma unroll
        for (int j = 1; j < 8; j *= 2) {
            level = max(level, __shfl_xor_sync(ALL_LANES, level, j, 8));
            used |= __shfl_xor_sync(ALL_LANES, used, j, 8);
        }
        if (row != NONE) {
            const u32 color = min(63, __ffsll(~(used & ~(1ull << 63))) - 1);
            if (lane == 0) publish(packed + row, level * 64 + color);
            deep = max(deep, level);
            i += blockDim.x / 8;
            turns = 0;
        } else if (i < mine) {
            gone = give_up(turns, stuck);
        }
        if (__any_sync(ALL_LANES, gone)) return;
    }
    deep = warp_max(deep);
    if (threadIdx.x % WARP == 0) atomicMax(deepest, deep);
}

// Counts the nonzeros above each row in its column that lie after a diagonal.
extern "C" __global__ void symgs_plan_above(
    u32 rows, const offset* row_ptr, const u32* col, u32* pending)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    for (offset k = row_ptr[row]; k < row_ptr[row + 1]; k++)
        if (col[k] > row) atomicAdd(pending + col[k], 1);
}

// Levels of A + A' for any structure, one thread per row in matrix order: a row waits for the
// levels of its columns before the diagonal, and for the earlier rows that have it after theirs,
// which push their level (`pending` counts them). Or, where nothing lies after a diagonal,
// first-fit colours, 63 for all above 62: the columns before it are then all earlier neighbours of
// a row. Blocks take tickets.
extern "C" __global__ void symgs_plan_levels(
    u32 rows, u32 colors, const offset* row_ptr, const u32* col, u32* pending, u32* pushed, u32* key,
    u32* highest, u32* ticket, u32* stuck)
{
    __shared__ u32 block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    const u64 t = (u64)block * blockDim.x + threadIdx.x;
    const u32 row = (u32)t;
    bool active = t < rows;
    offset k = 0, end = 0;
    u32 own = 0, turns = 0;
    u64 used = 0;
    if (active) {
        k = row_ptr[row];
        end = row_ptr[row + 1];
    }
    while (__any_sync(ALL_LANES, active)) {
        bool wait = false;
        while (active && k < end && !wait) {
            const u32 c = col[k];
            if (c < row) {
                const u32 seen = peek(key + c);
                wait = seen == NONE;
                if (!wait && colors) used |= 1ull << seen;
                else if (!wait) own = max(own, seen + 1);
            }
            if (!wait) k++;
        }
        if (active && k == end && peek(pending + row) == 0) {
            __threadfence();
            own = max(own, peek(pushed + row));
            if (colors) own = min(63, __ffsll(~(used & ~(1ull << 63))) - 1);
            publish(key + row, own);
            for (offset j = row_ptr[row]; j < end; j++)
                if (col[j] > row) atomicMax(pushed + col[j], own + 1);
            __threadfence();
            for (offset j = row_ptr[row]; j < end; j++)
                if (col[j] > row) atomicSub(pending + col[j], 1);
            active = false;
        } else if (active && give_up(turns, stuck)) {
            active = false;
        }
    }
    own = warp_max(own);
    if (threadIdx.x % WARP == 0) atomicMax(highest, own);
}

// Counts the nonzeros of each row in columns whose rows have a lower level or colour, eight lanes
// per row.
extern "C" __global__ void symgs_plan_earlier(
    u32 rows, const offset* row_ptr, const u32* col, const u32* key, u32* earlier)
{
    const u64 row = thread_in_grid() / 8;
    const u32 lane = threadIdx.x % 8;
    u32 count = 0;
    if (row < rows) {
        const u32 own = key[row];
        for (offset k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += 8) count += key[col[k]] < own;
    }
    for (u32 distance = 4; distance > 0; distance /= 2)
        count += __shfl_down_sync(ALL_LANES, count, distance, 8);
    if (row < rows && lane == 0) earlier[row] = count;
}

// Slots of each slice before and after the diagonal: those of its longest row.
extern "C" __global__ void symgs_plan_widths(
    u32 slices, const u32* row_at, const offset* row_ptr, const u32* below, u32* before, u32* after)
{
    const u64 slice = thread_in_grid() / WARP;
    if (slice >= slices) return;
    const u32 lane = threadIdx.x % WARP, row = row_at[slice * WARP + lane];
    u32 low = 0, high = 0;
    if (row != NONE) {
        low = below[row];
        high = (u32)(row_ptr[row + 1] - row_ptr[row]) - low - 1;
    }
    low = warp_max(low);
    high = warp_max(high);
    if (lane == 0) {
        before[slice] = low;
        after[slice] = high;
    }
}

// Whether everything that a row waits for is done.
__device__ inline bool is_ready(
    u32 backward, u32 row, const offset* row_ptr, const u32* col, const u8* done)
{
    for (offset k = row_ptr[row]; k < row_ptr[row + 1]; k++)
        if (made_before(backward, col[k], row) && !done[col[k]]) return false;
    return true;
}

// cuda/symgs/ready-done, the pass's first half: one thread per row checks whether it is ready.
extern "C" __global__ void symgs_ready(
    u32 rows, u32 backward, const offset* row_ptr, const u32* col, const u8* done, u8* ready)
{
    const u64 row = thread_in_grid();
    if (row >= rows || done[row]) return;
    ready[row] = is_ready(backward, (u32)row, row_ptr, col, done);
}

// cuda/symgs/ready-compact, the first half: one thread per row; lists the rows that are ready.
extern "C" __global__ void symgs_ready_list(
    u32 rows, u32 backward, const offset* row_ptr, const u32* col, const u8* done, u32* list,
    u32* count)
{
    const u64 row = thread_in_grid();
    const u32 lane = threadIdx.x % WARP;
    const bool add = row < rows && !done[row] && is_ready(backward, (u32)row, row_ptr, col, done);
    const u32 adding = __ballot_sync(ALL_LANES, add);
    u32 first = 0;
    if (lane == 0 && adding) first = atomicAdd(count, __popc(adding));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (add) list[first + __popc(adding & ((1u << lane) - 1))] = (u32)row;
}
