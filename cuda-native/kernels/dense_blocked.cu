// The same for more rows than registers hold: root-free Cholesky factorisation in panels of 32
// columns. A block of 256 threads takes one system after another. In global memory it has space for
// its factor W, rows of n numbers, followed by the inverse pivots. A panel is computed from the
// top, 64 rows at a time: the update by earlier panels is summed in registers, from 64 × 32 pieces
// of W that all threads load into shared memory; then one warp factors the 32 rows of the diagonal,
// one row per lane, and for the rows below one thread per row goes through the 32 columns. b, where
// given, is one more row.

const u32 PANEL = 32, TALL = 64, THREADS = 256;
// Rows of shared arrays are one element longer, so that a column's elements lie in different banks.
const u32 PADDED = PANEL + 1;

// Loads a piece of W: `tall` rows from row i0, the columns from c0 on; zeros beyond the last row.
__device__ inline void bring(double (*piece)[PADDED], u32 tall, const double* w, u32 n, u32 rows, u32 i0,
        u32 c0)
{
    for (u32 e = threadIdx.x; e < tall * PANEL; e += THREADS) {
        const u32 r = e / PANEL, c = e % PANEL;
        piece[r][c] = i0 + r < rows ? w[(u64)(i0 + r) * n + c0 + c] : 0.0;
    }
}

// Factors the first 32 rows of `tile`, one row per lane; columns of W also go to `diagonal`.
// Returns false if a pivot among the first `width` is not valid.
__device__ inline bool factor_diagonal(double (*tile)[PADDED], double (*diagonal)[PADDED],
        double* inverse, u32 width)
{
    const u32 lane = threadIdx.x;
    bool definite = true;
    double row[PANEL];
#pragma unroll
    for (u32 j = 0; j < PANEL; ++j) row[j] = tile[lane][j];
#pragma unroll
    for (u32 k = 0; k < PANEL; ++k) {
        if (k >= width) break;
        diagonal[lane][k] = row[k];
        tile[lane][k] = row[k];
        __syncwarp();
        const double pivot = diagonal[k][k];
        definite = definite && is_pivot(pivot);
        const double own = __drcp_rn(pivot);
        if (lane == k) inverse[k] = own;
        const double factor = row[k] * own;
#pragma unroll
        for (u32 j = k + 1; j < PANEL; ++j) row[j] -= factor * diagonal[j][k];
        // The next column is written while the previous one is still read.
    }
    return definite;
}

// Computes a row of `tile` below the diagonal.
__device__ inline void finish_row(double* tile_row, double (*diagonal)[PADDED], const double* inverse,
        u32 width)
{
    double row[PANEL];
#pragma unroll
    for (u32 j = 0; j < PANEL; ++j) row[j] = tile_row[j];
#pragma unroll
    for (u32 k = 0; k < PANEL; ++k) {
        if (k >= width) break;
        const double factor = row[k] * inverse[k];
#pragma unroll
        for (u32 j = k + 1; j < PANEL; ++j) row[j] -= factor * diagonal[j][k];
        tile_row[k] = row[k];
    }
}

// cuda/dense/cholesky
extern "C" __global__ void __launch_bounds__(256) dense_cholesky_blocked(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* workspace, double* x, u8* flagged)
{
    __shared__ double left[TALL][PADDED], right[PANEL][PADDED], diagonal[PANEL][PADDED];
    __shared__ double inverse[PANEL], found[PANEL];
    __shared__ u32 failed;
    const u32 t = threadIdx.x, tr = t / 16, tc = t % 16, rows = n + (given ? 1 : 0);
    double* w = workspace + blockIdx.x * ((u64)rows * n + n);
    double* inverses = w + (u64)rows * n;
    for (u64 system = blockIdx.x; system < systems; system += gridDim.x) {
        const double* from = a + system * n * n;
        double* y = x + system * n;
        __syncthreads();
        if (t == 0) failed = 0;
        for (u32 k0 = 0; k0 < n; k0 += PANEL) {
            const u32 width = min(PANEL, n - k0);
            for (u32 i0 = k0; i0 < rows; i0 += TALL) {
                double sum[4][2];
                for (u32 p = 0; p < 4; ++p) {
                    const u32 i = i0 + tr + 16 * p;
                    const double* row = i < n ? from + (u64)i * n : b + system * n;
                    const u32 end = i < rows ? min(i + 1, n) : 0;
                    for (u32 q = 0; q < 2; ++q) {
                        const u32 j = k0 + tc + 16 * q;
                        sum[p][q] = j < end ? row[j] : 0.0;
                    }
                }
                for (u32 c0 = 0; c0 < k0; c0 += PANEL) {
                    __syncthreads();
                    bring(left, TALL, w, n, rows, i0, c0);
                    bring(right, PANEL, w, n, n, k0, c0);
                    if (t < PANEL) found[t] = inverses[c0 + t];
                    __syncthreads();
#pragma unroll 8
                    for (u32 c = 0; c < PANEL; ++c) {
                        const double of_c = found[c];
                        const double above[2] = {right[tc][c] * of_c, right[tc + 16][c] * of_c};
                        for (u32 p = 0; p < 4; ++p)
                            for (u32 q = 0; q < 2; ++q)
                                sum[p][q] -= left[tr + 16 * p][c] * above[q];
                    }
                }
                __syncthreads();
                for (u32 p = 0; p < 4; ++p)
                    for (u32 q = 0; q < 2; ++q) left[tr + 16 * p][tc + 16 * q] = sum[p][q];
                __syncthreads();
                if (i0 == k0) {
                    if (t < WARP && !factor_diagonal(left, diagonal, inverse, width) && t == 0)
                        failed = 1;
                    __syncthreads();
                    if (t < width) inverses[k0 + t] = inverse[t];
                }
                if (t < TALL && (t >= PANEL || i0 > k0))
                    finish_row(left[t], diagonal, inverse, width);
                __syncthreads();
                for (u32 e = t; e < TALL * PANEL; e += THREADS) {
                    const u32 r = e / PANEL, c = e % PANEL;
                    if (i0 + r < rows && c < width) w[(u64)(i0 + r) * n + k0 + c] = left[r][c];
                }
            }
        }
        __syncthreads();
        // Back substitution in the place of x: panels from the last to the first, each by one warp,
        // and then subtracted from all before it.
        for (u32 i = t; i < n; i += THREADS) y[i] = given ? w[(u64)n * n + i] : i + 1 == n ? 1.0 : 0.0;
        for (u32 k0 = (n - 1) / PANEL * PANEL;; k0 -= PANEL) {
            const u32 width = min(PANEL, n - k0);
            __syncthreads();
            if (t < WARP) {
                const u32 i = min(k0 + t, n - 1);
                const double own = inverses[i];
                double value = y[i];
                for (u32 k = width; k-- > 0;) {
                    const double of_k = __shfl_sync(ALL_LANES, value * own, k);
                    if (t < k) value -= w[(u64)(k0 + k) * n + i] * of_k;
                }
                found[t] = value * own;
                if (t < width) y[k0 + t] = value * own;
            }
            __syncthreads();
            for (u32 i = t; i < k0; i += THREADS) {
                double value = y[i];
                for (u32 k = 0; k < width; ++k) value -= w[(u64)(k0 + k) * n + i] * found[k];
                y[i] = value;
            }
            if (k0 == 0) break;
        }
        __syncthreads();
        for (u32 i = t; failed && i < n; i += THREADS) y[i] = no_solution();
        if (t == 0) flagged[system] = failed != 0;
    }
}
