// Orders rows by their groups (levels, colours) and into slices, on the device.

// Puts the rows without dependencies into the queues: row r into queue r mod `queues`.
extern "C" __global__ void symgs_order_open(
    u32 rows, const u32* first, const u32* firsts, u32 queues, u32 room, u32* tails, u32* queue)
{
    const u64 i = thread_in_grid();
    if (i >= rows || i >= *firsts) return;
    const u32 row = first[i], q = row % queues;
    queue[(u64)q * room + atomicAdd(tails + q, 1)] = row;
}

// The level or the colour of each row, and the highest of them.
extern "C" __global__ void symgs_order_unpack(
    u32 rows, u32 colors, const u32* packed, u32* key, u32* highest)
{
    const u64 i = thread_in_grid();
    u32 own = 0;
    if (i < rows) {
        own = colors ? packed[i] % 64 : packed[i] / 64;
        key[i] = own;
    }
    own = warp_max(own);
    if (threadIdx.x % WARP == 0) atomicMax(highest, own);
}

// Counts the rows with each number.
extern "C" __global__ void symgs_order_count(u32 rows, const u32* key, u32* counts) {
    __shared__ u32 few[4096];
    for (u32 i = threadIdx.x; i < 4096; i += blockDim.x) few[i] = 0;
    __syncthreads();
    for (u64 i = thread_in_grid(); i < rows; i += (u64)gridDim.x * blockDim.x) {
        const u32 number = key[i];
        if (number < 4096) atomicAdd(few + number, 1);
        else atomicAdd(counts + number, 1);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < 4096; i += blockDim.x)
        if (few[i]) atomicAdd(counts + i, few[i]);
}

// The sum of 8192 numbers per block.
extern "C" __global__ void __launch_bounds__(1024) symgs_order_sums(u32 n, const u32* from, u32* sums) {
    u32 sum = 0, total;
    for (u32 j = 0; j < 8; j++) {
        const u64 i = (u64)blockIdx.x * 8192 + j * 1024 + threadIdx.x;
        if (i < n) sum += from[i];
    }
    before_in_block(sum, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Where the blocks' sums begin; one block.
extern "C" __global__ void __launch_bounds__(1024) symgs_order_starts(u32 n, u32* sums) {
    u32 carry = 0;
    for (u64 begin = 0; begin < n; begin += 1024) {
        const u64 i = begin + threadIdx.x;
        u32 total;
        const u32 before = before_in_block(i < n ? sums[i] : 0, total);
        if (i < n) sums[i] = carry + before;
        carry += total;
    }
}

// Exclusive prefix sum, with the total as number n. `out` may be `from`.
extern "C" __global__ void __launch_bounds__(1024) symgs_order_scan(
    u32 n, const u32* from, const u32* sums, u32* out)
{
    u32 carry = sums[blockIdx.x];
    for (u32 j = 0; j < 8; j++) {
        const u64 i = (u64)blockIdx.x * 8192 + j * 1024 + threadIdx.x;
        const u32 own = i < n ? from[i] : 0;
        u32 total;
        const u32 before = before_in_block(own, total);
        if (i < n) out[i] = carry + before;
        carry += total;
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) out[n] = carry;
}

// Stable radix sort by eight bits: histogram of each 4096 numbers.
extern "C" __global__ void __launch_bounds__(256) symgs_order_digits(
    u32 n, const u32* key, u32 shift, u32* table)
{
    __shared__ u32 digits[256];
    digits[threadIdx.x] = 0;
    __syncthreads();
    for (u32 j = 0; j < 16; j++) {
        const u64 i = (u64)blockIdx.x * 4096 + j * 256 + threadIdx.x;
        if (i < n) atomicAdd(digits + (key[i] >> shift & 255), 1);
    }
    __syncthreads();
    table[(u64)threadIdx.x * gridDim.x + blockIdx.x] = digits[threadIdx.x];
}

// The same: moves numbers and rows to their places, which begin where the table says. Without rows,
// row i has number i.
extern "C" __global__ void __launch_bounds__(256) symgs_order_sort(
    u32 n, u32 shift, u32 numbered, const u32* key, const u32* from, const u32* table, u32* key_out,
    u32* out)
{
    __shared__ u32 counts[8][256];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u64 begin = (u64)blockIdx.x * 4096 + warp * 512 + lane;
    for (u32 j = 0; j < 8; j++) counts[j][threadIdx.x] = 0;
    __syncthreads();
    u32 own[16], rank[16];
#pragma unroll
    for (int j = 0; j < 16; j++) own[j] = begin + j * 32 < n ? key[begin + j * 32] : 0;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        const u32 digit = begin + j * 32 < n ? own[j] >> shift & 255 : 256;
        const u32 same = __match_any_sync(ALL_LANES, digit);
        const u32 before = __popc(same & ((1u << lane) - 1));
        u32 place = 0;
        if (digit < 256) place = counts[warp][digit];
        rank[j] = place + before;
        __syncwarp();
        if (digit < 256 && before == 0) counts[warp][digit] = place + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    u32 start = table[(u64)threadIdx.x * gridDim.x + blockIdx.x];
    for (u32 j = 0; j < 8; j++) {
        const u32 count = counts[j][threadIdx.x];
        counts[j][threadIdx.x] = start;
        start += count;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) {
        const u64 i = begin + j * 32;
        if (i >= n) continue;
        const u32 place = counts[warp][own[j] >> shift & 255] + rank[j];
        out[place] = numbered ? from[i] : (u32)i;
        key_out[place] = own[j];
    }
}

// Counts the slices of each group.
extern "C" __global__ void symgs_order_slices(u32 groups, const u32* group_ptr, u32* slices) {
    const u64 g = thread_in_grid();
    if (g < groups) slices[g] = (group_ptr[g + 1] - group_ptr[g] + WARP - 1) / WARP;
}

// The row of each place, and the place of each row.
extern "C" __global__ void symgs_order_places(
    u32 rows, const u32* sorted, const u32* key, const u32* group_ptr, const u32* slice_ptr,
    u32* row_at, u32* place_of)
{
    const u64 i = thread_in_grid();
    if (i >= rows) return;
    const u32 row = sorted[i], group = key[row];
    const u32 place = slice_ptr[group] * WARP + ((u32)i - group_ptr[group]);
    row_at[place] = row;
    place_of[row] = place;
}

// The gate of each slice in either sweep: the place of the row computed last in the level `back`
// levels before its own.
extern "C" __global__ void symgs_order_gates(
    u32 levels, u32 back, const u32* level_ptr, const u32* slice_ptr, u32* forward, u32* backward)
{
    for (u32 l = blockIdx.x; l < levels; l += gridDim.x) {
        u32 ahead = NONE, behind = NONE;
        if (l >= back) {
            const u32 rows = level_ptr[l - back + 1] - level_ptr[l - back];
            ahead = slice_ptr[l - back] * WARP + rows - 1;
        }
        if (levels - l > back) behind = slice_ptr[l + back] * WARP;
        for (u32 s = slice_ptr[l] + threadIdx.x; s < slice_ptr[l + 1]; s += blockDim.x) {
            forward[s] = ahead;
            backward[s] = behind;
        }
    }
}
