// What the setup of a solver reads from a matrix in CSR: the plan of column-major hacks, and the
// reciprocals of the diagonal.

// Widths that a thread adds up at a time.
const u32 EACH = 8;

// The width of each hack, which is the length of its longest row, and its first slot; offsets[hacks]
// is the number of slots. One thread per row; `max_nzr` and `arrived` are 0 before. The last block
// to arrive adds up the widths of all hacks.
extern "C" __global__ void __launch_bounds__(1024) csr_setup_hacks(
    u32 rows, u32 hack_size, const offset* row_ptr, u32* max_nzr, u64* offsets, u32* arrived)
{
    __shared__ bool last;
    const u64 row = thread_in_grid();
    u32 most = row < rows ? (u32)(row_ptr[row + 1] - row_ptr[row]) : 0;
    // Hack sizes are powers of two.
    const u32 lanes = min(hack_size, WARP);
    for (u32 distance = lanes / 2; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    if (row < rows && row % lanes == 0) atomicMax(&max_nzr[row / hack_size], most);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1) + 1 == gridDim.x;
    __syncthreads();
    if (!last) return;
    __threadfence();

    const u64 hacks = ((u64)rows + hack_size - 1) / hack_size;
    u64 end = 0;
    for (u64 begin = 0; begin < hacks; begin += EACH * blockDim.x) {
        const u64 first = begin + EACH * threadIdx.x;
        u32 width[EACH];
        u64 own = 0, total;
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            width[k] = first + k < hacks ? __ldcg(&max_nzr[first + k]) : 0;
            own += width[k];
        }
        u64 before = end + before_in_block(own, total);
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            if (first + k < hacks) offsets[first + k] = before * hack_size;
            before += width[k];
        }
        end += total;
    }
    if (threadIdx.x == 0) offsets[hacks] = end * hack_size;
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
