// Systems of a factorised sparse approximate inverse that do not fit into shared memory: one block
// each, in its own memory, factored in panels of 32 columns.

// Columns of a panel, and edge of the tiles that a panel's update is subtracted from.
const u32 PANEL = 32, TILE = 64;

// Where row i of a packed lower triangle begins.
__device__ inline u64 packed(u64 i) { return i * (i + 1) / 2; }

// Factors the diagonal block of a panel: its pivots, their reciprocals, and the first invalid one.
// One row per lane.
__device__ inline void factor_panel(
    u32 k0, u32 width, double block[PANEL][PANEL + 1], double* pivots, double* inverses, u32* bad)
{
    const u32 own = threadIdx.x;
    for (u32 k = 0; k < width; k++) {
        const double d = block[k][k], over = 1 / d, factor = block[own][k] * over;
        if (own == k) {
            pivots[k0 + k] = d;
            inverses[k0 + k] = over;
            if (*bad == NONE && !is_pivot(d)) *bad = k0 + k;
        }
        for (u32 j = k + 1; j <= own; j++) block[own][j] -= factor * block[j][k];
        __syncwarp();
    }
}

// Factors a packed triangle as L*D*L'; L*D stays in it below the diagonal.
__device__ inline void factor(
    u32 m, double block[PANEL][PANEL + 1], double* triangle, double* pivots, double* inverses, u32* bad)
{
    __shared__ double left[PANEL][TILE + 1], right[PANEL][TILE + 1];
    for (u32 k0 = 0; k0 < m; k0 += PANEL) {
        const u32 width = min(PANEL, m - k0), rest = k0 + PANEL;
        for (u32 e = threadIdx.x; e < PANEL * PANEL; e += blockDim.x) {
            const u32 i = e / PANEL, j = e % PANEL;
            block[i][j] = i < width && j <= i ? triangle[packed(k0 + i) + k0 + j] : i == j;
        }
        __syncthreads();
        if (threadIdx.x < WARP) factor_panel(k0, width, block, pivots, inverses, bad);
        __syncthreads();
        for (u32 e = threadIdx.x; e < PANEL * PANEL; e += blockDim.x) {
            const u32 i = e / PANEL, j = e % PANEL;
            if (i < width && j < i) triangle[packed(k0 + i) + k0 + j] = block[i][j];
        }
        // The rows below, one thread each.
        for (u32 i = rest + threadIdx.x; i < m; i += blockDim.x) {
            double* line = triangle + packed(i) + k0;
            double own[PANEL];
#pragma unroll
            for (u32 j = 0; j < PANEL; j++) own[j] = line[j];
#pragma unroll
            for (u32 k = 0; k < PANEL; k++) {
                const double factor = own[k] * inverses[k0 + k];
#pragma unroll
                for (u32 j = k + 1; j < PANEL; j++) own[j] -= factor * block[j][k];
                // Load later columns later: they do not all fit into registers.
                asm volatile("" ::: "memory");
            }
#pragma unroll
            for (u32 j = 0; j < PANEL; j++) line[j] = own[j];
        }
        __syncthreads();
        // The trailing matrix, tile by tile, 4 x 4 elements per thread.
        const u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
        for (u32 i0 = rest; i0 < m; i0 += TILE)
            for (u32 j0 = rest; j0 <= i0; j0 += TILE) {
                for (u32 e = threadIdx.x; e < PANEL * TILE; e += blockDim.x) {
                    const u32 k = e % PANEL, t = e / PANEL;
                    left[k][t] = i0 + t < m ? triangle[packed(i0 + t) + k0 + k] : 0;
                    right[k][t]
                        = j0 + t < m ? triangle[packed(j0 + t) + k0 + k] * inverses[k0 + k] : 0;
                }
                __syncthreads();
                double sum[4][4] = {};
                for (u32 k = 0; k < PANEL; k++)
#pragma unroll
                    for (u32 s = 0; s < 4; s++)
#pragma unroll
                        for (u32 t = 0; t < 4; t++)
                            sum[s][t] += left[k][y + 16 * s] * right[k][x + 16 * t];
#pragma unroll
                for (u32 s = 0; s < 4; s++)
#pragma unroll
                    for (u32 t = 0; t < 4; t++) {
                        const u32 i = i0 + y + 16 * s, j = j0 + x + 16 * t;
                        if (i < m && j <= i) triangle[packed(i) + j] -= sum[s][t];
                    }
                __syncthreads();
            }
    }
}

// Computes row p of inv(L) in `sums`, from the diagonal down, a panel of rows at a time: one warp
// computes its elements, then all threads add their contributions to the columns before.
__device__ inline void invert_row(
    u32 p, double block[PANEL][PANEL + 1], const double* triangle, const double* inverses, double* sums)
{
    __shared__ double elements[PANEL];
    for (u32 j = threadIdx.x; j <= p; j += blockDim.x) sums[j] = 0;
    for (u32 b = p / PANEL + 1; b-- > 0;) {
        const u32 k0 = b * PANEL, width = min(PANEL, p + 1 - k0);
        __syncthreads();
        for (u32 e = threadIdx.x; e < PANEL * PANEL; e += blockDim.x) {
            const u32 i = e / PANEL, j = e % PANEL;
            block[i][j] = i < width && j < i ? triangle[packed(k0 + i) + k0 + j] : 0;
        }
        __syncthreads();
        if (threadIdx.x < WARP) {
            const u32 own = threadIdx.x;
            const double inverse = own < width ? inverses[k0 + own] : 1;
            double sum = own < width ? sums[k0 + own] : 0, h = 0;
            for (u32 i = width; i-- > 0;) {
                const double mine = k0 + i == p ? 1 : -sum * inverse;
                const double element = __shfl_sync(ALL_LANES, mine, i);
                if (own == i) h = element;
                sum += block[i][own] * element;
            }
            elements[own] = h;
            if (own < width) sums[k0 + own] = h;
        }
        __syncthreads();
        for (u32 j = threadIdx.x; j < k0; j += blockDim.x) {
            double sum = sums[j];
            for (u32 i = 0; i < width; i++) sum += triangle[packed(k0 + i) + j] * elements[i];
            sums[j] = sum;
        }
    }
    __syncthreads();
}

// Blocks of 256 threads take systems one after the other, each in its own `stride` numbers: the
// triangle, the pivots, their reciprocals, and a row.
extern "C" __global__ void __launch_bounds__(256) fsai_long_solve(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed,
    double* space, u64 stride)
{
    __shared__ double block[PANEL][PANEL + 1];
    __shared__ u32 bad;
    double* triangle = space + blockIdx.x * stride;
    for (u64 index = blockIdx.x; index < systems; index += gridDim.x) {
        const u32 system = queue[first + index], m = sys_len[system];
        const u32* columns = sys_col + sys_begin[system];
        double *pivots = triangle + packed(m), *inverses = pivots + m, *sums = inverses + m;
        for (u64 e = threadIdx.x; e < packed(m); e += blockDim.x)
            triangle[e] = gathered ? dense[dense_ptr[index] + e] : 0;
        if (threadIdx.x == 0) bad = NONE;
        __syncthreads();
        for (u32 p = threadIdx.x / 8; p < m && !gathered; p += blockDim.x / 8) {
            const u32 row = columns[p];
            for (u32 k = threadIdx.x % 8; k < low[row]; k += 8) {
                const offset at = row_ptr[row] + k;
                const u32 c = col[at];
                u32 from = 0, to = p;
                while (from < to) {
                    const u32 middle = from + (to - from) / 2;
                    if (columns[middle] < c) from = middle + 1;
                    else to = middle;
                }
                if (columns[from] == c)
                    triangle[packed(p) + from] = c == row ? val[at] * on_diagonal : val[at];
            }
        }
        __syncthreads();
        factor(m, block, triangle, pivots, inverses, &bad);
        const u32 members = merged ? member_ptr[system + 1] - member_ptr[system] : 1;
        for (u32 k = 0; k < members; k++) {
            const u32 row = merged ? member[member_ptr[system] + k] : system;
            const u32 p = merged ? place[member_ptr[system] + k] : m - 1;
            if (p >= bad) {
                if (threadIdx.x == 0) atomicMin(failed, row);
                continue;
            }
            invert_row(p, block, triangle, inverses, sums);
            const double scale = 1 / sqrt(pivots[p]);
            for (u32 j = threadIdx.x; j <= p; j += blockDim.x) {
                g_val[g_ptr[row] + j] = sums[j] * scale;
                if (merged) g_col[g_ptr[row] + j] = columns[j];
            }
            __syncthreads();
        }
        __syncthreads();
    }
}
