// Merges rows into groups that share one dense system (the thesis, section 6.1): a group's columns
// are the union of its rows' patterns.

// Maximum number of columns of a union, and of groups that a row is compared with.
const u32 CAP = 200, OPEN = 10;

// Columns of a row that each lane keeps.
const u32 PER_LANE = (CAP + WARP - 1) / WARP;

__device__ inline int cube(int n) { return n * n * n; }

// Sum and maximum over the warp, in all lanes.
__device__ inline u32 warp_total(u32 sum) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, sum);
#else
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    return sum;
#endif
}
__device__ inline int warp_greatest(int most) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL_LANES, most);
#else
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    return most;
#endif
}

// Loads a lane's columns of a row, NONE beyond its end; rows with more than CAP columns are never
// needed.
__device__ inline void ask_for_row(const u32* col, u32 from, u32 to, u32 (&own)[PER_LANE]) {
#pragma unroll
    for (u32 i = 0; i < PER_LANE; i++) {
        const u32 k = i * WARP + threadIdx.x;
        own[i] = k < to - from && to - from <= CAP ? __ldg(&col[from + k]) : NONE;
    }
}

// A warp processes blocks of rows one after the other; groups close at a block's end. Rows wait for
// earlier rows, and their columns are loaded meanwhile. Every column has a bit for each open group
// that holds it, all 0 before and after; each warp has its own columns. A group is identified by
// the row that opened it. Unions are stored where the patterns of the block's rows lie, since they
// have no more columns than these, each in insertion order.
extern "C" __global__ void __launch_bounds__(32) fsai_group_find(
    u32 rows, u32 block_rows, double alpha, const u32* ptr, const u32* col, u16* marks, u32* opener,
    u32* begin, u32* len, u32* unions)
{
    __shared__ u32 columns[OPEN][CAP + 1];
    const u32 lane = threadIdx.x;
    marks += (u64)blockIdx.x * rows;
    for (u64 first = (u64)blockIdx.x * block_rows; first < rows; first += (u64)gridDim.x * block_rows) {
        const u32 last = (u32)min(first + block_rows, (u64)rows);
        u32 out = ptr[first], open = 0;
        // Lane g has the g-th open group, in the order of opening: its opener, its bit and its
        // size.
        u32 group = NONE, bit = 0, size = 0;
        // For the current row and the next one: where they end, their columns, and the groups that
        // hold these.
        u32 from = out, to = ptr[first + 1], next_to = ptr[min((u32)first + 2, last)];
        u32 own[PER_LANE], next[PER_LANE], mark[PER_LANE];
        ask_for_row(col, from, to, own);

        // Closes the group at a place.
        const auto close = [&](u32 place) {
            const u32 b = __shfl_sync(ALL_LANES, bit, place);
            const u32 n = __shfl_sync(ALL_LANES, size, place);
            if (lane == place) {
                begin[group] = out;
                len[group] = n;
            }
            for (u32 k = lane; k < n; k += WARP) {
                const u32 c = columns[b][k];
                unions[out + k] = c;
                marks[c] &= ~(1u << b);
            }
#pragma unroll
            for (u32 i = 0; i < PER_LANE; i++) mark[i] &= ~(1u << b);
            out += n;
            // Groups opened later move up.
            const u32 above = min(lane + 1, WARP - 1);
            const u32 id = __shfl_sync(ALL_LANES, group, above), its_bit = __shfl_sync(ALL_LANES, bit, above);
            const u32 its_size = __shfl_sync(ALL_LANES, size, above);
            if (lane >= place) {
                group = id;
                bit = its_bit;
                size = its_size;
            }
            open--;
            __syncwarp();
        };
        // Appends the row's columns without that bit to the union of that bit.
        const auto take_in = [&](u32 b, u32 has) {
#pragma unroll
            for (u32 i = 0; i < PER_LANE; i++) {
                const bool joining = own[i] != NONE && !(mark[i] >> b & 1);
                const u32 news = __ballot_sync(ALL_LANES, joining);
                if (joining) {
                    mark[i] |= 1u << b;
                    marks[own[i]] = mark[i];
                    columns[b][has + __popc(news & ((1u << lane) - 1))] = own[i];
                }
                has += __popc(news);
            }
            __syncwarp();
        };

        for (u32 row = (u32)first; row < last; row++) {
            const u32 d = to - from;
#pragma unroll
            for (u32 i = 0; i < PER_LANE; i++) mark[i] = own[i] != NONE ? marks[own[i]] : 0;
            const u32 then = ptr[min(row + 3, last)];
            ask_for_row(col, to, next_to, next);

            // Number of the row's columns per bit: four bits per word, since there are at most 200.
            u32 held[3] = {0, 0, 0};
#pragma unroll
            for (u32 i = 0; i < PER_LANE; i++)
#pragma unroll
                for (u32 w = 0; w < 3; w++) held[w] += (mark[i] >> 4 * w & 15) * 0x00204081 & 0x01010101;
#pragma unroll
            for (u32 w = 0; w < 3; w++) held[w] = warp_total(held[w]);
            const u32 word = bit < 4 ? held[0] : bit < 8 ? held[1] : held[2];
            const int grown = (int)(size + d) - (int)(word >> 8 * (bit % 4) & 255);

            bool joins = open > 0 && d <= CAP;
            u32 at = 0;
            int all = 0;
            if (joins) {
                // Among groups that save the same amount, the last opened wins. A cube has at most
                // 26 bits.
                const int saved = cube(size) + cube(d) - cube(grown);
                at = warp_greatest(lane < open ? saved * 16 + (int)lane : -0x7fffffff) & 15;
                all = __shfl_sync(ALL_LANES, grown, at);
                const int had = __shfl_sync(ALL_LANES, (int)size, at);
                joins = all <= (int)CAP && (double)cube(all) < alpha * (double)(cube(had) + cube(d));
            }
            if (joins) {
                const u32 b = __shfl_sync(ALL_LANES, bit, at), had = __shfl_sync(ALL_LANES, size, at);
                if (lane == at) {
                    opener[row] = group;
                    size = all;
                }
                take_in(b, had);
                if (all >= (int)CAP) close(at);
            } else {
                if (lane == 0) opener[row] = row;
                if (d >= CAP) {
                    for (u32 k = lane; k < d; k += WARP) unions[out + k] = col[from + k];
                    if (lane == 0) {
                        begin[row] = out;
                        len[row] = d;
                    }
                    out += d;
                } else {
                    if (open == OPEN) close(0);
                    u32 taken = 0;
                    for (u32 g = 0; g < open; g++) taken |= 1u << __shfl_sync(ALL_LANES, bit, g);
                    const u32 b = __ffs(~taken) - 1;
                    take_in(b, 0);
                    if (lane == open) {
                        group = row;
                        bit = b;
                        size = d;
                    }
                    open++;
                }
            }
            from = to;
            to = next_to;
            next_to = then;
#pragma unroll
            for (u32 i = 0; i < PER_LANE; i++) own[i] = next[i];
        }
        while (open > 0) close(0);
    }
}

// Marks the rows that open a group.
extern "C" __global__ void fsai_group_opens(u32 rows, const u32* opener, u32* opens) {
    const u64 row = thread_in_grid();
    if (row < rows) opens[row] = opener[row] == row;
}

// Numbers each row's group in the order of opening, and stores the groups' unions.
extern "C" __global__ void fsai_group_number(
    u32 rows, const u32* opener, const u32* rank, const u32* begin, const u32* len, u32* group,
    u32* sys_begin, u32* sys_len)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    const u32 number = rank[opener[row]];
    group[row] = number;
    if (opener[row] == row) {
        sys_begin[number] = begin[row];
        sys_len[number] = len[row];
    }
}

// Sorts the columns of unions, one warp per union. Longer unions are those of one row and already
// sorted.
extern "C" __global__ void __launch_bounds__(128) fsai_group_sort(
    u32 groups, const u32* sys_begin, const u32* sys_len, u32* unions)
{
    __shared__ u32 columns[4][CAP];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const u64 group = thread_in_grid() / WARP;
    if (group >= groups || sys_len[group] > CAP) return;
    const u32 n = sys_len[group];
    u32* own = unions + sys_begin[group];
    for (u32 k = lane; k < n; k += WARP) columns[warp][k] = own[k];
    __syncwarp();
    for (u32 k = lane; k < n; k += WARP) {
        const u32 c = columns[warp][k];
        u32 place = 0;
        for (u32 j = 0; j < n; j++) place += columns[warp][j] < c;
        own[place] = c;
    }
}

// Finds the place of each member's diagonal in its group's union, which also gives the length of
// its row.
extern "C" __global__ void fsai_group_place(
    u32 rows, const u32* member, const u32* group, const u32* sys_begin, const u32* sys_len,
    const u32* unions, u32* place, u32* lengths)
{
    const u64 i = thread_in_grid();
    if (i >= rows) return;
    const u32 row = member[i], number = group[row];
    const u32* own = unions + sys_begin[number];
    u32 from = 0, to = sys_len[number];
    while (from < to) {
        const u32 middle = from + (to - from) / 2;
        if (own[middle] < row) from = middle + 1;
        else to = middle;
    }
    place[i] = from;
    lengths[row] = from + 1;
}
