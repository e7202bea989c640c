// CSR into column-major hacks: slot offsets[h] + j * hack_size + r holds nonzero j of the hack's
// row r. Padding has value 0 and the row's last column: 0 in empty rows and in those stored past
// the last.

// Slots of a row held in shared memory at a time.
const u32 WIDE = 8;

// A warp has 32 positions. It reads their rows side by side, 8 nonzeros of each at a time, so that
// the loads of four lanes are adjacent, and writes one slot of all of them at once.
extern "C" __global__ void __launch_bounds__(128) convert_hll(
    u32 in_hacks, u32 stored, u32 hack_size, u32 permuted, const u32* row_of, const offset* row_ptr,
    const u32* csr_col, const real* csr_val, const u64* offsets, const u32* max_nzr, u32* row_len,
    u32* col, real* val)
{
    __shared__ u32 cols[128 / WARP][WARP][WIDE + 1];
    __shared__ real vals[128 / WARP][WARP][WIDE + 1];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const u64 position = thread_in_grid();
    if (position - lane >= stored) return;
    u64 begin = 0;
    u32 length = 0, width = 0;
    u64 slot = 0;
    if (position < in_hacks) {
        const u32 row = permuted ? row_of[position] : position;
        begin = row_ptr[row];
        length = row_ptr[row + 1] - begin;
        row_len[position] = length;
    }
    if (position < stored) {
        width = max_nzr[position / hack_size];
        slot = offsets[position / hack_size] + position % hack_size;
    }
    const u32 last = length > 0 ? csr_col[begin + length - 1] : 0;
    const u32 most = warp_max(width);
    for (u32 first = 0; first < most; first += WIDE) {
        // Four rows at a time.
        for (u32 r = lane / WIDE; r < WARP; r += WARP / WIDE) {
            const u64 from = __shfl_sync(ALL_LANES, begin, r);
            const u32 entries = __shfl_sync(ALL_LANES, length, r), j = first + lane % WIDE;
            if (j < entries) {
                cols[warp][r][lane % WIDE] = __ldcs(&csr_col[from + j]);
                vals[warp][r][lane % WIDE] = __ldcs(&csr_val[from + j]);
            }
        }
        __syncwarp();
        for (u32 j = first; j < first + WIDE && j < width; j++) {
            const u64 at = slot + (u64)j * hack_size;
            col[at] = j < length ? cols[warp][lane][j - first] : last;
            val[at] = j < length ? vals[warp][lane][j - first] : 0;
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
