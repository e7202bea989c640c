// What the setup of a solver reads from a matrix in CSR: the plan of column-major hacks, and the
// reciprocals of the diagonal.

// Widths that a thread adds up.
const u32 EACH = 8;

// The width of each hack, which is the length of its longest row, and the sum over each block. One
// thread per row, in blocks of 1024, which have whole hacks.
extern "C" __global__ void __launch_bounds__(1024) csr_setup_widths(
    u32 rows, u32 hack_size, const offset* row_ptr, u32* max_nzr, u64* sums, u64* offsets)
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
    const u32 own = longest[threadIdx.x], hacks = blockDim.x / hack_size;
    const u64 hack = (u64)blockIdx.x * hacks + threadIdx.x;
    if (threadIdx.x < hacks && hack * hack_size < rows) max_nzr[hack] = own;
    u64 total;
    before_in_block((u64)own, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// The first slot of each hack; offsets[hacks] is the number of slots. A block has EACH hacks per
// thread, and adds up the sums of the blocks of 1024 rows before them.
extern "C" __global__ void __launch_bounds__(1024) csr_setup_offsets(
    u32 rows, u32 hack_size, const offset* row_ptr, u32* max_nzr, u64* sums, u64* offsets)
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
