// Counts entries and dense systems of a factorised sparse approximate inverse, and puts entries of
// the factor G in place.

__device__ inline u64 warp_sum_u64(u64 sum) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// The sum of numbers.
extern "C" __global__ void fsai_order_total(u32 n, const u32* numbers, u64* total) {
    u64 sum = 0;
    for (u64 i = thread_in_grid(); i < n; i += (u64)gridDim.x * blockDim.x) sum += numbers[i];
    sum = warp_sum_u64(sum);
    if (threadIdx.x % WARP == 0 && sum > 0) atomicAdd(total, sum);
}

// Computes the class of each system, the number of bounds below its size; and facts: the sums of m,
// m^2 and m^3, and the largest m.
extern "C" __global__ void fsai_order_class(
    u32 systems, u32 classes, const u32* sys_len, const u32* bounds, u32* key, u64* facts)
{
    u64 sum = 0, squares = 0, cubes = 0;
    u32 most = 0;
    const u64 whole = ((u64)systems + WARP - 1) / WARP * WARP;
    for (u64 i = thread_in_grid(); i < whole; i += (u64)gridDim.x * blockDim.x) {
        const u64 m = i < systems ? sys_len[i] : 0;
        u32 own = 0;
        for (u32 k = 0; k < classes; k++) own += bounds[k] < m;
        if (i < systems) key[i] = own;
        sum += m;
        squares += m * m;
        cubes += m * m * m;
        most = max(most, (u32)m);
    }
    sum = warp_sum_u64(sum);
    squares = warp_sum_u64(squares);
    cubes = warp_sum_u64(cubes);
    most = warp_max(most);
    if (threadIdx.x % WARP != 0) return;
    atomicAdd(facts, sum);
    atomicAdd(facts + 1, squares);
    atomicAdd(facts + 2, cubes);
    atomicMax(facts + 3, (u64)most);
}

// Copies the entries that are kept, eight lanes per row.
extern "C" __global__ void fsai_order_keep(
    u32 rows, const u32* g_ptr, const u32* g_col, const double* g_val, const u8* kept,
    const double* root, const u32* ptr, u32* out_col, double* out_val)
{
    const u64 row = thread_in_grid() / 8;
    const u32 lane = threadIdx.x % 8, shift = threadIdx.x % WARP / 8 * 8;
    u32 k = lane, end = 0, to = 0;
    double divisor = 1;
    if (row < rows) {
        k += g_ptr[row];
        end = g_ptr[row + 1];
        to = ptr[row];
        divisor = root[row];
    }
    for (; __any_sync(ALL_LANES, k < end); k += 8) {
        const bool keep = k < end && kept[k];
        const u32 keeping = __ballot_sync(ALL_LANES, keep) >> shift & 255;
        const u32 at = to + __popc(keeping & ((1u << lane) - 1));
        if (keep) {
            out_col[at] = g_col[k];
            out_val[at] = g_val[k] / divisor;
        }
        to += __popc(keeping);
    }
}

// Stores the row of each entry, eight lanes per row.
extern "C" __global__ void fsai_order_rows(u32 rows, const u32* g_ptr, u32* row_of) {
    const u64 row = thread_in_grid() / 8;
    if (row >= rows) return;
    for (u32 k = g_ptr[row] + threadIdx.x % 8; k < g_ptr[row + 1]; k += 8) row_of[k] = (u32)row;
}

// Puts entries in the order of the transpose.
extern "C" __global__ void fsai_order_transpose(
    u32 entries, const u32* order, const u32* row_of, const double* g_val, u32* out_col, double* out_val)
{
    const u64 t = thread_in_grid();
    if (t >= entries) return;
    const u32 from = order[t];
    out_col[t] = row_of[from];
    out_val[t] = g_val[from];
}
