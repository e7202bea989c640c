// What the setup of a solver makes from a matrix in CSR: column-major hacks, as `hll_solver.cu`
// reads them, and the reciprocals of the diagonal.

// Widths that a thread adds up.
const u32 EACH = 8;

// Values that a thread loads before it looks for the first.
const u32 AT_ONCE = 4;

// Nonzeros that a lane loads before it uses the first, and slots of a row that it writes at a time.
const u32 WIDE = 8;

// The width of each hack, which is the length of its longest row, rounded up to a multiple, and the
// sum over each block. One thread per row, in blocks of 1024, which have whole hacks.
extern "C" __global__ void __launch_bounds__(1024) csr_setup_widths(
    u32 rows, u32 hack_size, u32 multiple, const offset* row_ptr, u32* max_nzr, u64* sums, u64* offsets)
{
    __shared__ u32 longest[1024];
    const u64 row = thread_in_grid();
    longest[threadIdx.x] = 0;
    u32 most = row < rows ? (u32)(row_ptr[row + 1] - row_ptr[row]) : 0;
    // Hack sizes are powers of two.
    const u32 lanes = min(hack_size, WARP);
    for (u32 distance = lanes / 2; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    __syncthreads();
    if (threadIdx.x % lanes == 0) atomicMax(&longest[threadIdx.x / hack_size], most);
    __syncthreads();
    const u32 own = (longest[threadIdx.x] + multiple - 1) / multiple * multiple;
    const u32 hacks = blockDim.x / hack_size;
    const u64 hack = (u64)blockIdx.x * hacks + threadIdx.x;
    if (threadIdx.x < hacks && hack * hack_size < rows) max_nzr[hack] = own;
    u64 total;
    before_in_block((u64)own, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// The first slot of each hack; offsets[hacks] is the number of slots. A block has EACH hacks per
// thread, and adds up the sums of the blocks of 1024 rows before them.
extern "C" __global__ void __launch_bounds__(1024) csr_setup_offsets(
    u32 rows, u32 hack_size, u32 multiple, const offset* row_ptr, u32* max_nzr, u64* sums, u64* offsets)
{
    const u64 hacks = ((u64)rows + hack_size - 1) / hack_size;
    const u64 of_block = (u64)EACH * blockDim.x, first = blockIdx.x * of_block + EACH * threadIdx.x;
    u64 part = 0, base, total;
    for (u64 b = threadIdx.x; b < blockIdx.x * of_block * hack_size / 1024; b += blockDim.x)
        part += sums[b];
    before_in_block(part, base);
    u32 width[EACH];
    u64 own = 0;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        width[k] = first + k < hacks ? max_nzr[first + k] : 0;
        own += width[k];
    }
    u64 before = base + before_in_block(own, total);
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        // The last one is the end.
        if (first + k <= hacks) offsets[first + k] = before * hack_size;
        before += width[k];
    }
}

// Distances of the columns from their rows, plus 2^32: the minimum goes to range[0], the maximum to
// range[1]; range[2] becomes 1 if the length of a row has more than 16 bits. The matrix's rows before
// these are `before`. Columns ascend in each row, so that its first and its last tell. Any number of
// blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256) csr_setup_range(
    u32 rows, u32 before, const offset* row_ptr, const u32* col, u64* range)
{
    __shared__ u64 low[256 / WARP], high[256 / WARP];
    const u64 apart = (1ull << 32) - before;
    u64 least = ~0ull, greatest = 0;
    for (u64 row = thread_in_grid(); row < rows; row += (u64)gridDim.x * blockDim.x) {
        const u64 begin = row_ptr[row], end = row_ptr[row + 1];
        if (end - begin >= WINDOW) range[2] = 1;
        if (begin == end) continue;
        least = min(least, apart + col[begin] - row);
        greatest = max(greatest, apart + col[end - 1] - row);
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

// The first place where a value may be in a table of `capacity` bit patterns, a power of two; the
// others follow. The upper bits of a product depend on all bits of its factors.
__device__ inline u32 place_of(u64 bits, u32 capacity) {
    return (u32)__umul64hi(bits * 0x9e3779b97f4a7c15ull, capacity);
}

// No bit pattern yet: that of a NaN.
const u64 NO_BITS = ~0ull;

// Adds a value to the table and numbers it if it is new; returns false if the table has too many. The
// table contains 0 from the start; `count` excludes it.
__device__ inline bool is_added(
    u64 bits, u32 capacity, u64* keys, u32* index, real* distinct, u32* count)
{
    volatile u32* const found = count;
    u32 place = place_of(bits, capacity), tried = 0;
    while (keys[place] != bits || bits == NO_BITS) {
        // A full table may be seen before its values are counted.
        if (*found > capacity / 2 || bits == NO_BITS || tried++ == capacity) {
            *found = capacity;
            return false;
        }
        const u64 there = atomicCAS(&keys[place], NO_BITS, bits);
        if (there == bits) break;
        if (there != NO_BITS) {
            place = (place + 1) & (capacity - 1);
            continue;
        }
        const u32 number = 1 + atomicAdd(count, 1);
        if (number >= capacity / 2) return false;
        index[place] = number;
        distinct[number] = __longlong_as_double(bits);
        break;
    }
    return true;
}

// The distinct values of a matrix, up to half as many as `keys` has places. A value is numbered
// where it is found first; `count` is larger if there are more. A block of 256 threads takes 1024
// adjacent values, the next block those that begin `apart` further.
extern "C" __global__ void __launch_bounds__(256) csr_setup_distinct(
    u32 rows, u64 apart, const offset* row_ptr, const real* val, u32 capacity, u64* keys, u32* index,
    real* distinct, u32* count)
{
    const u64 end = row_ptr[rows];
    // Found by this thread before.
    u64 recent = NO_BITS, earlier = NO_BITS;
    for (u64 at = blockIdx.x * apart + threadIdx.x; at < end; at += gridDim.x * apart) {
        u64 bits[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const u64 next = at + k * blockDim.x;
            bits[k] = __double_as_longlong(__ldcs(&val[next < end ? next : at]));
        }
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (bits[k] != NO_BITS && (bits[k] == recent || bits[k] == earlier)) continue;
            if (!is_added(bits[k], capacity, keys, index, distinct, count)) return;
            earlier = recent;
            recent = bits[k];
        }
    }
}

// The code of a value, from a table; sets `misses` if the table does not have it.
__device__ inline u32 code_of(
    real value, u32 capacity, const u64* keys, const u32* index, bool& misses)
{
    const u64 bits = __double_as_longlong(value);
    u32 place = place_of(bits, capacity);
    u64 there;
    while ((there = keys[place]) != bits && there != NO_BITS) place = (place + 1) & (capacity - 1);
    if (there != NO_BITS) return index[place];
    misses = true;
    return 0;
}

// CSR into hacks of a warp, with columns in `distance` if `near`, else in `col`, and with codes of
// the values if there are `distinct` ones, else values. `near` is the number of windows. Where it is
// not 0 and values are coded, four slots of a row are adjacent, and widths are multiples of four.
// `missing` becomes 1 if a value is not in the table. A warp copies the nonzeros of its hack
// to shared memory as they lie, with codes instead of values. There is `room` for that many; lanes read
// the rows of larger hacks from global memory.
extern "C" __global__ void __launch_bounds__(128, 7) csr_setup_hacks(
    u32 rows, u32 room, const offset* row_ptr, const u32* csr_col, const real* csr_val,
    const u64* offsets, u32 near, u32 base, u32 capacity, const u64* keys, const u32* index,
    u32 distinct, u32* missing, u32* row_len, u32* col, u16* distance, u8* codes, real* val)
{
    // The columns of all warps, then their codes or values.
    extern __shared__ u64 held[];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    u32* const cols = reinterpret_cast<u32*>(held) + warp * room;
    u64* const others = held + 2 * room;
    u16* const some = reinterpret_cast<u16*>(others) + warp * room;
    real* const vals = reinterpret_cast<real*>(others) + warp * room;
    const u64 row = thread_in_grid(), hack = row / WARP;
    if (hack * WARP >= rows) return;
    const u64 begin = row_ptr[min(row, (u64)rows)], end = row_ptr[min(row + 1, (u64)rows)];
    const u64 slot = offsets[hack];
    const u32 length = (u32)(end - begin), width = (u32)((offsets[hack + 1] - slot) / WARP);
    // Once a value is missing the result is not used.
    if (__any_sync(ALL_LANES, *(const volatile u32*)missing != 0)) return;
    const u64 before = __shfl_sync(ALL_LANES, begin, 0);
    const u64 all = __shfl_sync(ALL_LANES, end, WARP - 1) - before;
    const u32 count = all <= room ? (u32)all : 0, window = (u32)row + base;
    const bool has_fours = near && distinct > 0, has_bytes = are_bytes(near, distinct);
    bool misses = false;
    for (u32 i = lane; i < count; i += WIDE * WARP) {
        u32 c[WIDE];
        real v[WIDE];
#pragma unroll
        for (u32 k = 0; k < WIDE; k++) {
            const u32 at = i + k * WARP;
            if (at >= count) continue;
            c[k] = __ldcs(&csr_col[before + at]);
            v[k] = __ldcs(&csr_val[before + at]);
        }
#pragma unroll
        for (u32 k = 0; k < WIDE; k++) {
            const u32 at = i + k * WARP;
            if (at >= count) continue;
            cols[at] = c[k];
            if (distinct == 0) vals[at] = v[k];
            else some[at] = (u16)code_of(v[k], capacity, keys, index, misses);
        }
    }
    __syncwarp();
    const u32 own = (u32)(begin - before);
    u32 lows = 0;
    for (u32 first = 0; first < width; first += WIDE) {
        // Padding has the row's own distance, or column 0, and the value 0.
        u32 c[WIDE], code[WIDE];
        real v[WIDE];
#pragma unroll
        for (u32 k = 0; k < WIDE; k++) {
            const u32 j = first + k;
            const bool is_own = j < length;
            c[k] = !is_own ? (near ? (u32)row : 0) : count > 0 ? cols[own + j] : csr_col[begin + j];
            v[k] = !is_own || (count > 0 && distinct > 0) ? 0 :
                count > 0 ? vals[own + j] : csr_val[begin + j];
            code[k] = is_own && count > 0 && distinct > 0 ? some[own + j] : 0;
        }
#pragma unroll
        for (u32 k = 0; k < WIDE; k++) {
            const bool is_own = first + k < length;
            if (is_own && count == 0 && distinct > 0)
                code[k] = code_of(v[k], capacity, keys, index, misses);
            if (!near) continue;
            c[k] -= window;
            lows += is_own && c[k] < WINDOW;
            if (c[k] >= WINDOW) code[k] |= has_bytes ? 0x80 : 0x8000;
        }
#pragma unroll
        for (u32 q = 0; q < WIDE; q += 4) {
            const u64 at = slot + (u64)(first + q) * WARP;
            if (has_fours && first + q < width) {
                reinterpret_cast<ushort4*>(distance + at)[lane] = {
                    (u16)c[q], (u16)c[q + 1], (u16)c[q + 2], (u16)c[q + 3]};
                if (has_bytes)
                    reinterpret_cast<uchar4*>(codes + at)[lane] = {
                        (u8)code[q], (u8)code[q + 1], (u8)code[q + 2], (u8)code[q + 3]};
                else
                    reinterpret_cast<ushort4*>(codes)[at / 4 + lane] = {
                        (u16)code[q], (u16)code[q + 1], (u16)code[q + 2], (u16)code[q + 3]};
                continue;
            }
#pragma unroll
            for (u32 k = q; k < q + 4; k++) {
                if (has_fours || first + k >= width) break;
                const u64 to = slot + (u64)(first + k) * WARP + lane;
                if (near) distance[to] = (u16)c[k];
                else col[to] = c[k];
                if (distinct == 0) val[to] = v[k];
                else if (has_bytes) codes[to] = (u8)code[k];
                else reinterpret_cast<u16*>(codes)[to] = (u16)code[k];
            }
        }
    }
    if (row < rows && !has_fours) row_len[row] = length + lows * WINDOW;
    if (misses) *missing = 1;
}

// 1 / a_ii of each row, whose columns are sorted and include its own. One thread per row.
extern "C" __global__ void csr_setup_reciprocals(
    u32 rows, const offset* row_ptr, const u32* col, const real* val, real* inverse)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    u64 at = row_ptr[row], past = row_ptr[row + 1];
    // Between them, with col[at] up to the row's own.
    while (at + 1 < past) {
        const u64 middle = at + (past - at) / 2;
        if (col[middle] <= row) at = middle;
        else past = middle;
    }
    inverse[row] = 1 / (at < past ? val[at] : 0);
}
