// The postfilter of the factor G of an approximate inverse.

// Drops the entries of G that are small relative to their row, except the diagonal; one warp per
// row. With d the dropped part of a row, g*A*g' = 1 becomes 1 + d*A*d', because (A*g')_j = 0
// wherever d has entries: `root` is the number by which to divide the row.
extern "C" __global__ void fsai_filter_drop(
    u32 rows, double tau, double on_diagonal, const u32* g_ptr, const u32* g_col, const double* g_val,
    const offset* row_ptr, const u32* low, const u32* col, const double* val, u8* kept, u32* len,
    double* root)
{
    const u64 row = thread_in_grid() / WARP;
    if (row >= rows) return;
    const u32 lane = threadIdx.x % WARP, begin = g_ptr[row], n = g_ptr[row + 1] - begin;
    const u32* columns = g_col + begin;
    const double* values = g_val + begin;
    double most = 0;
    for (u32 k = lane; k < n; k += WARP) most = fmax(most, fabs(values[k]));
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        most = fmax(most, __shfl_xor_sync(ALL_LANES, most, distance));
    // A power of two, so that squares neither overflow nor lose bits.
    const long long exponent = 0x7ffll << 52, least = 1ll << 52;
    const double scale = __longlong_as_double(max(__double_as_longlong(most) & exponent, least));
    double sum = 0;
    for (u32 k = lane; k < n; k += WARP) sum += (values[k] / scale) * (values[k] / scale);
    const double bound = tau * __shfl_sync(ALL_LANES, warp_sum(sum), 0);
    u32 count = 0;
    for (u32 first = 0; first < n; first += WARP) {
        const u32 k = first + lane;
        bool keep = false;
        if (k < n) {
            const double v = values[k] / scale;
            keep = v * v > bound || k == n - 1;
            kept[begin + k] = keep;
        }
        count += __popc(__ballot_sync(ALL_LANES, keep));
    }
    __syncwarp();
    double energy = 0;
    for (u32 k = 0; k < n && count < n; k++) {
        if (kept[begin + k]) continue;
        const u32 j = columns[k];
        double product = 0;
        for (u32 e = lane; e < low[j]; e += WARP) {
            const u32 c = col[row_ptr[j] + e];
            u32 from = 0, to = k;
            while (from < to) {
                const u32 middle = from + (to - from) / 2;
                if (columns[middle] < c) from = middle + 1;
                else to = middle;
            }
            if (columns[from] != c || kept[begin + from]) continue;
            const double times = c == j ? on_diagonal : 2;
            product += times * val[row_ptr[j] + e] * values[from];
        }
        energy += values[k] * product;
    }
    energy = warp_sum(energy);
    if (lane == 0) {
        len[row] = count;
        root[row] = sqrt(1 + energy);
    }
}
