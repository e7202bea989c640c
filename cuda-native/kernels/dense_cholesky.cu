// Many small dense systems A_s x_s = b_s, A_s symmetric, n rows stored in full and row-major, in
// f64: root-free Cholesky factorisation W·D^-1·W^T with the lower triangle in registers. All
// right-hand sides are e_n unless they are given; given ones are eliminated as one more row.
//
// A square of SIDE × SIDE threads has one system. Thread (ti, tj) keeps the elements (ti + SIDE·p,
// tj + SIDE·q), q <= p < TILES, so that all stay busy while the rest of the matrix shrinks. In step
// k the threads of column k write it to shared memory, and each thread reads the elements of its
// rows and of its columns: 2·t numbers for t·(t + 1)/2 multiplications, where t tiles are left.
// Shared-memory bandwidth bounds such kernels, so the squares are small and the tiles many: 2 × 2
// threads up to 8 rows, 4 × 4 up to 48, 8 × 8 up to 96 and 16 × 16 up to 208, where a thread runs
// out of registers. Squares within a warp need no block barrier. Each column has its own place,
// rows packed one after the other: one barrier per step suffices, 16 rows of a column lie in 16
// different banks, since triangular numbers differ modulo powers of two, and the factor is ready
// for back substitution, where adjacent threads read adjacent numbers. When A is read, SIDE
// adjacent threads read adjacent numbers of a row up to the diagonal: from 4 on, whole sectors.

// Where row i of the packed triangle begins.
__device__ inline u32 packed_row(u32 i) { return i * (i + 1) / 2; }

template <u32 SIDE>
__device__ inline void meet() {
    if (SIDE * SIDE <= WARP) __syncwarp();
    else __syncthreads();
}

template <u32 SIDE, u32 TILES>
__device__ inline void solve(u32 systems, u32 n, u32 given, const double* a, const double* b,
        double* x, u8* flagged)
{
    extern __shared__ double shared[];
    constexpr u32 THREADS = SIDE * SIDE;
    const u32 t = threadIdx.x % THREADS, ti = t / SIDE, tj = t % SIDE;
    const u64 own = (u64)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    // Beyond the last system, threads only take part in barriers and write nothing.
    const u64 system = min(own, (u64)systems - 1);
    const u32 rows = n + (given ? 1 : 0);
    double* w = shared + threadIdx.x / THREADS * packed_row(rows);

    double c[TILES][TILES];
#pragma unroll
    for (u32 p = 0; p < TILES; ++p) {
        const u32 i = ti + SIDE * p;
        const double* row = i < n ? a + (system * n + i) * n : b + system * n;
        const u32 end = i < rows ? min(i + 1, n) : 0;
#pragma unroll
        for (u32 q = 0; q <= p; ++q) {
            const u32 j = tj + SIDE * q;
            c[p][q] = j < end ? row[j] : 0.0;
        }
    }

    bool definite = true;
#pragma unroll
    for (u32 kept = 0; kept < TILES; ++kept) {
        for (u32 kk = 0; kk < SIDE; ++kk) {
            const u32 k = kept * SIDE + kk;
            if (k >= n) break;
            if (tj == kk) {
#pragma unroll
                for (u32 p = kept; p < TILES; ++p) {
                    const u32 i = ti + SIDE * p;
                    if (i >= k && i < rows) w[packed_row(i) + k] = c[p][kept];
                }
            }
            meet<SIDE>();
            const double pivot = w[packed_row(k) + k];
            definite = definite && is_pivot(pivot);
            const double inverse = __drcp_rn(pivot);
            // Rows up to k and beyond the last are read like the others; their results are never
            // used.
            double factor[TILES];
#pragma unroll
            for (u32 p = kept; p < TILES; ++p)
                factor[p] = w[packed_row(min(ti + SIDE * p, rows - 1)) + k] * inverse;
#pragma unroll
            for (u32 q = kept; q < TILES; ++q) {
                const double above = w[packed_row(min(tj + SIDE * q, rows - 1)) + k];
#pragma unroll
                for (u32 p = q; p < TILES; ++p) c[p][q] -= factor[p] * above;
            }
        }
    }

    // D^-1·W^T·x = D^-1·y from the last element to the first, by at most one warp.
    constexpr u32 LANES = THREADS < WARP ? THREADS : WARP;
    constexpr u32 PARTS = (SIDE * TILES + LANES - 1) / LANES;
    if (t >= LANES) return;
    double left[PARTS], inverse[PARTS];
#pragma unroll
    for (u32 m = 0; m < PARTS; ++m) {
        const u32 i = t + LANES * m;
        const double unit = i + 1 == n ? 1.0 : 0.0;
        left[m] = i >= n ? 0.0 : given ? w[packed_row(n) + i] : unit;
        inverse[m] = i < n ? __drcp_rn(w[packed_row(i) + i]) : 0.0;
    }
#pragma unroll
    for (u32 m = PARTS; m-- > 0;) {
        const u32 first = LANES * m;
        for (u32 lane = first < n ? min(LANES, n - first) : 0; lane-- > 0;) {
            const u32 k = first + lane;
            const double found = __shfl_sync(ALL_LANES, left[m] * inverse[m], lane, LANES);
#pragma unroll
            for (u32 before = 0; before <= m; ++before) {
                const u32 i = t + LANES * before;
                if (i < k) left[before] -= w[packed_row(k) + i] * found;
            }
        }
    }
    if (own >= systems) return;
#pragma unroll
    for (u32 m = 0; m < PARTS; ++m) {
        const u32 i = t + LANES * m;
        if (i < n) x[system * n + i] = definite ? left[m] * inverse[m] : no_solution();
    }
    if (t == 0) flagged[system] = !definite;
}

// cuda/dense/cholesky: a square of threads per system, by the maximum number of rows.
extern "C" __global__ void __launch_bounds__(64) dense_cholesky_4(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<2, 2>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_8(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<2, 4>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_12(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 3>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_16(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 4>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_20(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 5>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_24(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 6>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_28(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 7>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_32(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 8>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_40(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 10>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_48(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<4, 12>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_56(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<8, 7>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_64(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<8, 8>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_72(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<8, 9>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_80(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<8, 10>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(64) dense_cholesky_96(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<8, 12>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(256) dense_cholesky_112(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<16, 7>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(256) dense_cholesky_128(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<16, 8>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(256) dense_cholesky_160(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<16, 10>(systems, n, given, a, b, x, flagged);
}

extern "C" __global__ void __launch_bounds__(256) dense_cholesky_208(u32 systems, u32 n, u32 given,
        const double* a, const double* b, double* x, u8* flagged)
{
    solve<16, 13>(systems, n, given, a, b, x, flagged);
}
