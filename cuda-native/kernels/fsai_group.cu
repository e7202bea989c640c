// Rows merged into groups that share one dense system (the thesis, section 6.1): a group's columns are
// the union of its rows' patterns.

// Columns that a union may have, and groups that a row is compared with.
const u32 CAP = 200, OPEN = 10;

__device__ inline int cube(int n) { return n * n * n; }

// A warp goes through blocks of rows one after the other, as groups close at a block's end: rows wait for
// those before them. Every column has a bit for each open group that holds it, all 0 before and after; each
// warp has columns of its own. A group is known by the row that opened it. Unions lie where the patterns
// of the block's rows do, for they have no more columns than these, each in the order of its growth.
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
        // Lane g has the g-th open group, the first opened first: its opener, its bit and its size.
        u32 group = NONE, bit = 0, size = 0;
        for (u32 row = (u32)first; row <= last; row++) {
            // What closes: the group of this place; all of them, one after the other, at the end.
            u32 closing = row == last ? 0 : NONE;
            if (row < last) {
                const u32* own = col + ptr[row];
                const u32 d = ptr[row + 1] - ptr[row];
                int common = 0;
                for (u32 k = lane; d <= CAP && k - lane < d; k += WARP) {
                    const u32 mark = k < d ? marks[own[k]] : 0;
                    for (u32 g = 0; g < open; g++) {
                        const u32 b = __shfl_sync(ALL_LANES, bit, g);
                        const int held = __popc(__ballot_sync(ALL_LANES, mark >> b & 1));
                        if (lane == g) common += held;
                    }
                }
                const int grown = (int)(size + d) - common;
                // Of groups that save as much the last opened counts.
                int best = lane < open && d <= CAP ? cube(size) + cube(d) - cube(grown) : -0x7fffffff;
                u32 at = lane;
                for (u32 distance = WARP / 2; distance > 0; distance /= 2) {
                    const int other = __shfl_xor_sync(ALL_LANES, best, distance);
                    const u32 there = __shfl_xor_sync(ALL_LANES, at, distance);
                    if (other > best || (other == best && there > at)) {
                        best = other;
                        at = there;
                    }
                }
                bool joins = open > 0 && d <= CAP;
                const int all = __shfl_sync(ALL_LANES, grown, at);
                const int had = __shfl_sync(ALL_LANES, (int)size, at);
                joins = joins && (double)cube(all) < alpha * (double)(cube(had) + cube(d))
                    && all <= (int)CAP;
                if (joins) {
                    const u32 b = __shfl_sync(ALL_LANES, bit, at), id = __shfl_sync(ALL_LANES, group, at);
                    u32 place = had;
                    for (u32 k = lane; k - lane < d; k += WARP) {
                        const u32 c = k < d ? own[k] : 0;
                        const u32 mark = k < d ? marks[c] : 0;
                        const bool joining = k < d && !(mark >> b & 1);
                        const u32 news = __ballot_sync(ALL_LANES, joining);
                        if (joining) {
                            marks[c] = mark | 1u << b;
                            columns[b][place + __popc(news & ((1u << lane) - 1))] = c;
                        }
                        place += __popc(news);
                    }
                    if (lane == at) size = all;
                    if (lane == 0) opener[row] = id;
                    if (all >= (int)CAP) closing = at;
                } else {
                    if (lane == 0) opener[row] = row;
                    if (d >= CAP) {
                        for (u32 k = lane; k < d; k += WARP) unions[out + k] = own[k];
                        if (lane == 0) {
                            begin[row] = out;
                            len[row] = d;
                        }
                        out += d;
                    } else if (open == OPEN) {
                        closing = 0;
                    }
                }
                __syncwarp();
            }
            const bool opens = row < last && opener[row] == row && ptr[row + 1] - ptr[row] < CAP;
            while (closing != NONE && open > 0) {
                const u32 b = __shfl_sync(ALL_LANES, bit, closing);
                const u32 n = __shfl_sync(ALL_LANES, size, closing);
                if (lane == closing) {
                    begin[group] = out;
                    len[group] = n;
                }
                for (u32 k = lane; k < n; k += WARP) {
                    const u32 c = columns[b][k];
                    unions[out + k] = c;
                    marks[c] &= ~(1u << b);
                }
                out += n;
                // Those opened later move up.
                const u32 next = min(lane + 1, WARP - 1);
                const u32 id = __shfl_sync(ALL_LANES, group, next), to = __shfl_sync(ALL_LANES, bit, next);
                const u32 its = __shfl_sync(ALL_LANES, size, next);
                if (lane >= closing) {
                    group = id;
                    bit = to;
                    size = its;
                }
                open--;
                if (row < last) closing = NONE;
                __syncwarp();
            }
            if (opens) {
                const u32 d = ptr[row + 1] - ptr[row];
                u32 taken = 0;
                for (u32 g = 0; g < open; g++) taken |= 1u << __shfl_sync(ALL_LANES, bit, g);
                const u32 b = __ffs(~taken) - 1;
                for (u32 k = lane; k < d; k += WARP) {
                    const u32 c = col[ptr[row] + k];
                    marks[c] |= 1u << b;
                    columns[b][k] = c;
                }
                if (lane == open) {
                    group = row;
                    bit = b;
                    size = d;
                }
                open++;
            }
            __syncwarp();
        }
    }
}

// Which rows open a group.
extern "C" __global__ void fsai_group_opens(u32 rows, const u32* opener, u32* opens) {
    const u64 row = thread_in_grid();
    if (row < rows) opens[row] = opener[row] == row;
}

// The number of each row's group, in the order in which they were opened, and the groups' unions.
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

// Puts the columns of unions into their order, a warp a union. Longer ones are one row's, in order.
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

// The place of each member's diagonal in its group's union, and with it the length of its row.
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
