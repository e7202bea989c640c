// CSR into column-major hacks: slot offsets[h] + j * hack_size + r holds nonzero j of the hack's
// row r. Padding has value 0 and the row's last column: 0 in empty rows and in those stored past
// the last.

// Slots of a row that a warp holds in shared memory at a time, and the room it needs for them.
const u32 WIDE = 8, APART = WIDE + 1, ROOM_OF_WARP = WARP * APART;

// Place of nonzero i in shared memory: lanes whose rows have 32 nonzeros each meet different banks.
__device__ inline u32 skewed(u32 i) { return i + i / WARP; }

// A block has 32 positions. Where their rows are in order, their nonzeros are adjacent: if there is
// `room`, they are copied to shared memory as they lie, and each warp writes every fourth slot of
// all rows. Otherwise a warp reads the rows side by side, 8 nonzeros of each at a time, so that the
// loads of eight lanes are adjacent, and writes one slot of all rows at once. `room` is at least
// that of four warps.
extern "C" __global__ void __launch_bounds__(128) convert_hll(
    u32 in_hacks, u32 stored, u32 hack_size, u32 permuted, u32 room, const u32* row_of,
    const offset* row_ptr, const u32* csr_col, const real* csr_val, const u64* offsets,
    const u32* max_nzr, u32* row_len, u32* col, real* val)
{
    extern __shared__ real vals[];
    u32* const cols = reinterpret_cast<u32*>(vals + room);
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    const u64 position = (u64)blockIdx.x * WARP + lane;
    // Positions past the last row's begin where that ends.
    u64 begin = permuted ? 0 : row_ptr[in_hacks];
    u32 length = 0, width = 0;
    u64 slot = 0;
    if (position < in_hacks) {
        const u32 row = permuted ? row_of[position] : position;
        begin = row_ptr[row];
        length = row_ptr[row + 1] - begin;
        if (warp == 0) row_len[position] = length;
    }
    if (position < stored) {
        width = max_nzr[position / hack_size];
        slot = offsets[position / hack_size] + position % hack_size;
    }
    const u64 before = __shfl_sync(ALL_LANES, begin, 0);
    const u64 entries = __shfl_sync(ALL_LANES, begin + length, WARP - 1) - before;
    if (!permuted && entries + entries / WARP <= room) {
        for (u32 i = threadIdx.x; i < entries; i += blockDim.x) {
            stage(&cols[skewed(i)], &csr_col[before + i]);
            stage(&vals[skewed(i)], &csr_val[before + i]);
        }
        after_staged();
        __syncthreads();
        const u32 own = (u32)(begin - before);
        const u32 last = length > 0 ? cols[skewed(own + length - 1)] : 0;
        for (u32 j = warp; j < width; j += warps) {
            const u64 at = slot + (u64)j * hack_size;
            col[at] = j < length ? cols[skewed(own + j)] : last;
            val[at] = j < length ? vals[skewed(own + j)] : 0;
        }
        return;
    }

    u32* const some_cols = cols + warp * ROOM_OF_WARP;
    real* const some_vals = vals + warp * ROOM_OF_WARP;
    const u32 last = length > 0 ? csr_col[begin + length - 1] : 0;
    const u32 most = warp_max(width);
    for (u32 first = WIDE * warp; first < most; first += WIDE * warps) {
        // Four rows at a time.
        for (u32 r = lane / WIDE; r < WARP; r += WARP / WIDE) {
            const u64 from = __shfl_sync(ALL_LANES, begin, r);
            const u32 of_row = __shfl_sync(ALL_LANES, length, r), j = first + lane % WIDE;
            if (j < of_row) {
                some_cols[r * APART + lane % WIDE] = __ldcs(&csr_col[from + j]);
                some_vals[r * APART + lane % WIDE] = __ldcs(&csr_val[from + j]);
            }
        }
        __syncwarp();
        for (u32 j = first; j < first + WIDE && j < width; j++) {
            const u64 at = slot + (u64)j * hack_size;
            col[at] = j < length ? some_cols[lane * APART + j - first] : last;
            val[at] = j < length ? some_vals[lane * APART + j - first] : 0;
        }
        __syncwarp();
    }
}

// CSR transposed: nonzero t of the transpose is nonzero order[t], which lies in the last row that
// does not begin after it. One thread per nonzero.
extern "C" __global__ void convert_transposed(
    u32 entries, u32 rows, const offset* row_ptr, const u32* order, const real* csr_val, u32* col,
    real* val)
{
    const u64 t = thread_in_grid();
    if (t >= entries) return;
    const u32 from = order[t];
    u32 row = 0, past = rows;
    // row_ptr[row] <= from < row_ptr[past].
    while (past - row > 1) {
        const u32 middle = row + (past - row) / 2;
        if (row_ptr[middle] <= from) row = middle;
        else past = middle;
    }
    col[t] = row;
    val[t] = csr_val[from];
}
