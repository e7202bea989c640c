// The values of a factorised sparse approximate inverse. A system is A restricted to some rows and
// columns; its factors L*D*L' serve all its members: the row of place p is row p of inv(L) over the
// root of d_p. Systems of up to 208 unknowns are gathered in shared memory and factored in
// registers, which hold the same amount again.

// The lower triangle of A: the first `low` nonzeros of each row, up to the diagonal, which is
// scaled.
struct Lower {
    const offset* row_ptr;
    const u32* low;
    const u32* col;
    const double* val;
    double on_diagonal;
};

// The rows of G that each system yields: without merging, system i yields row i.
struct Members {
    u32 merged;
    const u32* member_ptr;
    const u32* member;
    const u32* place;
    const u32* g_ptr;
    u32* g_col;
    double* g_val;
    u32* failed;

    __device__ u32 count(u32 system) const {
        return merged ? member_ptr[system + 1] - member_ptr[system] : 1;
    }
    __device__ u32 row(u32 system, u32 k) const {
        return merged ? member[member_ptr[system] + k] : system;
    }
    __device__ u32 place_in(u32 system, u32 k, u32 m) const {
        return merged ? place[member_ptr[system] + k] : m - 1;
    }
};

// Where row i of a packed lower triangle begins.
__device__ inline u64 packed(u64 i) { return i * (i + 1) / 2; }

// The smallest power of two that is not smaller.
__device__ inline u32 padded(u32 m) { return m <= 1 ? 1 : 1u << (WARP - __clz(m - 1)); }

// Gathers a system into a packed triangle of zeros. Eight lanes take a row of A, so that their
// loads are adjacent, and look its columns up among those of the system, which are padded to a
// power of two. Each lane has four nonzeros in flight, and the start of the next row.
__device__ inline void gather(
    const Lower& a, const u32* columns, u32 m, u32 room, u32 worker, u32 workers, double* triangle)
{
    const u32 apart = workers / 8;
    u32 p = worker / 8;
    u32 next_n = p < m ? a.low[columns[p]] : 0;
    offset next_begin = p < m ? a.row_ptr[columns[p]] : 0;
    for (; p < m; p += apart) {
        const u32 row = columns[p], n = next_n;
        const offset begin = next_begin;
        if (p + apart < m) {
            next_n = a.low[columns[p + apart]];
            next_begin = a.row_ptr[columns[p + apart]];
        }
        double* to = triangle + packed(p);
        for (u32 k = worker % 8; k < n; k += 32) {
            u32 c[4], at[4];
            double v[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const bool is_there = k + 8 * j < n;
                c[j] = is_there ? __ldg(a.col + begin + k + 8 * j) : NONE;
                v[j] = is_there ? __ldg(a.val + begin + k + 8 * j) : 0;
                at[j] = 0;
            }
            for (u32 step = room / 2; step > 0; step /= 2)
#pragma unroll
                for (int j = 0; j < 4; j++) at[j] += columns[at[j] + step - 1] < c[j] ? step : 0;
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (c[j] != NONE && columns[at[j]] == c[j])
                    to[at[j]] = c[j] == row ? v[j] * a.on_diagonal : v[j];
        }
    }
}

// Whether a number and its multiplier stay well within the range of f64: 2^-930 to 2^930.
__device__ inline bool is_usual(double d) {
    return ((u32)__double2hiint(d) >> 20 & 0x7ff) - 93 < 1860;
}

// Reciprocal of a number in that range, to within one ulp: the hardware's estimate has an error of
// about 2^-20, whose cube remains.
__device__ inline double reciprocal(double d) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    const double error = fma(-d, r, 1.0);
    return fma(r, fma(error, error, error), r);
}

// Some lanes of a warp per system, one row per lane, kept in registers: at most W unknowns. Each
// step passes its column to all lanes through shared memory.
template <u32 LANES, u32 W>
__device__ inline void solve_in_warp(
    u32 first, u32 systems, u32 gathered, const u32* queue, const u32* sys_begin, const u32* sys_len,
    const u32* sys_col, const Lower& a, const u64* dense_ptr, const double* dense, const Members& g)
{
    const u32 PER = 128 / LANES, ROOM = W > 16 ? 32 : W, TRIANGLE = W * (W + 1) / 2;
    __shared__ double triangles[PER][TRIANGLE];
    __shared__ __align__(16) double handed[PER][2][W];
    __shared__ u32 all_columns[PER][ROOM];
    const u32 own = threadIdx.x % LANES, slot = threadIdx.x / LANES;
    double* triangle = triangles[slot];
    u32* columns = all_columns[slot];
    const u64 index = (u64)blockIdx.x * PER + slot;
    u32 system = 0, m = 0, members = 0;
    if (index < systems) {
        system = queue[first + index];
        m = sys_len[system];
        members = g.count(system);
        for (u32 k = own; k < ROOM; k += LANES) columns[k] = k < m ? sys_col[sys_begin[system] + k] : NONE;
        for (u32 e = own; e < packed(m); e += LANES)
            triangle[e] = gathered ? dense[dense_ptr[index] + e] : 0;
    }
    __syncwarp();
    if (!gathered) gather(a, columns, m, ROOM, own, LANES, triangle);
    __syncwarp();

    // Pad with the identity beyond the system.
    double r[W];
#pragma unroll
    for (u32 j = 0; j < W; j++) {
        r[j] = own == j ? 1 : 0;
        if (own < m && j <= own) r[j] = triangle[packed(own) + j];
    }
    double pivot = 1, inverse = 1;
    u32 bad = NONE;
    const u32 most = warp_max(m);
#pragma unroll
    for (u32 k = 0; k < W; k++) {
        if (k < most) {
            // Double-buffered, so that no lane overwrites what others still read.
            double* column = handed[slot][k % 2];
            if (own < W) column[own] = r[k];
            __syncwarp();
            const double d = column[k], over = is_usual(d) ? reciprocal(d) : 1 / d;
            const double factor = own > k ? r[k] * over : 0;
            if (!is_pivot(d)) bad = min(bad, k);
            if (own == k) {
                pivot = d;
                inverse = over;
            }
            const double2* pairs = (const double2*)column;
#pragma unroll
            for (u32 j = (k + 1) / 2 * 2; j < W; j += 2) {
                const double2 pair = pairs[j / 2];
                if (j > k) r[j] -= factor * pair.x;
                r[j + 1] -= factor * pair.y;
            }
        }
    }
    if (own < m)
#pragma unroll
        for (u32 j = 0; j < W; j++)
            if (j < own) triangle[packed(own) + j] = r[j];
    __syncwarp();

    // Row p of inv(L), from the diagonal down: lane j sums the contributions of the elements after
    // its own.
    const u32 rounds = warp_max(members);
    for (u32 k = 0; k < rounds; k++) {
        const bool in = k < members;
        const u32 p = in ? g.place_in(system, k, m) : 0, last = warp_max(p);
        double sum = 0, h = 0;
        for (u32 i = last + 1; i-- > 0;) {
            const double mine = i == p ? 1 : -sum * inverse;
            const double element = __shfl_sync(ALL_LANES, mine, i, LANES);
            if (i <= p && own == i) h = element;
            if (i <= p && own < i && i < m) sum += triangle[packed(i) + own] * element;
        }
        const double scale = 1 / sqrt(__shfl_sync(ALL_LANES, pivot, p, LANES));
        if (!in) continue;
        const u32 row = g.row(system, k), to = g.g_ptr[row];
        if (p >= bad) {
            if (own == 0) atomicMin(g.failed, row);
        } else if (own <= p) {
            g.g_val[to + own] = h * scale;
            if (g.merged) g.g_col[to + own] = columns[own];
        }
    }
}

// Reciprocals of d and of the next pivot, for d, e below it and f: f becomes f - e * e / d. Both at
// once, where nothing overflows.
struct Pivots {
    double first, second, over_first, over_second;

    __device__ Pivots(double d, double e, double f) : first(d) {
        const double both = fma(d, f, -e * e);
        if (is_usual(d) && is_usual(both)) {
            over_first = reciprocal(d);
            over_second = d * reciprocal(both);
            second = both * over_first;
        } else {
            over_first = 1 / d;
            second = f - e * over_first * e;
            over_second = 1 / second;
        }
    }
};

// A block of SIDE x SIDE threads per system of at most SIDE * T unknowns. Thread (y, x) keeps the
// elements whose row is y and whose column is x modulo SIDE, so that all have work until the last
// columns; two columns are eliminated at a time. Shared memory: the packed triangle, the columns
// being passed, and the columns' numbers.
template <u32 SIDE, u32 T>
__device__ inline void solve_in_block(
    u32 first, u32 gathered, const u32* queue, const u32* sys_begin, const u32* sys_len,
    const u32* sys_col, const Lower& a, const u64* dense_ptr, const double* dense, const Members& g)
{
    const u32 W = SIDE * T, PARTS = (W + WARP - 1) / WARP, THREADS = SIDE * SIDE;
    extern __shared__ double space[];
    __shared__ double handed[2][2][W], pivots[W], inverses[W];
    __shared__ u32 columns[W > 128 ? 256 : W > 64 ? 128 : 64], bad;
    double* triangle = space;
    const u32 x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const u32 system = queue[first + blockIdx.x], m = sys_len[system], room = padded(m);
    for (u32 k = threadIdx.x; k < room; k += THREADS)
        columns[k] = k < m ? sys_col[sys_begin[system] + k] : NONE;
    for (u32 e = threadIdx.x; e < packed(m); e += THREADS)
        triangle[e] = gathered ? dense[dense_ptr[blockIdx.x] + e] : 0;
    if (threadIdx.x == 0) bad = NONE;
    __syncthreads();
    if (!gathered) gather(a, columns, m, room, threadIdx.x, THREADS, triangle);
    __syncthreads();

    double r[T][T];
#pragma unroll
    for (u32 s = 0; s < T; s++)
#pragma unroll
        for (u32 t = 0; t <= s; t++) {
            const u32 i = s * SIDE + y, j = t * SIDE + x;
            // Pad with the identity beyond the system.
            r[s][t] = i < m && j <= i ? triangle[packed(i) + j] : i == j ? 1 : 0;
        }
#pragma unroll
    for (u32 b = 0; b < T; b++) {
        if (b * SIDE >= m) continue;
        const u32 steps = min(SIDE, m - b * SIDE);
        // Unrolled, as compilers do it for sm_120, it takes a minute to compile.
#pragma unroll 1
        for (u32 q = 0; q < steps; q += 2) {
            // Double-buffered, so that no thread overwrites what others still read.
            const u32 k = b * SIDE + q;
            double(*column)[W] = handed[k / 2 % 2];
            if (x == q || x == q + 1)
#pragma unroll
                for (u32 s = b; s < T; s++) column[x - q][s * SIDE + y] = r[s][b];
            // The warp that holds both pivots.
            if (threadIdx.x / WARP == q * SIDE / WARP) {
                const double d = __shfl_sync(ALL_LANES, r[b][b], (q * SIDE + q) % WARP);
                const double e = __shfl_sync(ALL_LANES, r[b][b], ((q + 1) * SIDE + q) % WARP);
                const double f = __shfl_sync(ALL_LANES, r[b][b], ((q + 1) * SIDE + q + 1) % WARP);
                const Pivots next(d, e, f);
                if (threadIdx.x % WARP == 0) {
                    pivots[k] = next.first;
                    pivots[k + 1] = next.second;
                    inverses[k] = next.over_first;
                    inverses[k + 1] = next.over_second;
                }
            }
            __syncthreads();
            const double over = inverses[k], over_second = inverses[k + 1], ratio = column[0][k + 1] * over;
            double of_row[T], of_row_second[T];
#pragma unroll
            for (u32 s = b; s < T; s++) {
                of_row[s] = column[0][s * SIDE + y];
                of_row_second[s] = column[1][s * SIDE + y] - ratio * of_row[s];
            }
#pragma unroll
            for (u32 t = b; t < T; t++) {
                if (t * SIDE >= m) continue;
                // Finished columns of this part stay unchanged.
                const double c = column[0][t * SIDE + x], c_second = column[1][t * SIDE + x] - ratio * c;
                const double factor = t > b || x > q ? c * over : 0;
                const double factor_second = t > b || x > q + 1 ? c_second * over_second : 0;
#pragma unroll
                for (u32 s = t; s < T; s++) {
                    r[s][t] -= of_row[s] * factor;
                    r[s][t] -= of_row_second[s] * factor_second;
                }
            }
        }
    }
#pragma unroll
    for (u32 s = 0; s < T; s++)
#pragma unroll
        for (u32 t = 0; t <= s; t++) {
            const u32 i = s * SIDE + y, j = t * SIDE + x;
            if (i < m && j < i) triangle[packed(i) + j] = r[s][t];
        }
    for (u32 k = threadIdx.x; k < m; k += THREADS)
        if (!is_pivot(pivots[k])) atomicMin(&bad, k);
    __syncthreads();

    // Row p of inv(L), from the diagonal down, one warp per member.
    const u32 lane = threadIdx.x % WARP, members = g.count(system);
    for (u32 k = threadIdx.x / WARP; k < members; k += THREADS / WARP) {
        const u32 p = g.place_in(system, k, m), row = g.row(system, k), to = g.g_ptr[row];
        if (p >= bad) {
            if (lane == 0) atomicMin(g.failed, row);
            continue;
        }
        const double scale = 1 / sqrt(pivots[p]);
        double sum[PARTS];
#pragma unroll
        for (u32 t = 0; t < PARTS; t++) sum[t] = 0;
#pragma unroll
        for (u32 b = PARTS; b-- > 0;) {
            if (b * WARP > p) continue;
            const u32 j = b * WARP + lane;
            const double inverse = j < m ? inverses[j] : 1;
            double h = 0;
            for (u32 q = min(WARP - 1, p - b * WARP) + 1; q-- > 0;) {
                const u32 i = b * WARP + q;
                const double mine = i == p ? 1 : -sum[b] * inverse;
                const double element = __shfl_sync(ALL_LANES, mine, q);
                const double* line = triangle + packed(i);
                if (lane == q) h = element;
                if (lane < q) sum[b] += line[j] * element;
#pragma unroll
                for (u32 t = 0; t < PARTS; t++)
                    if (t < b) sum[t] += line[t * WARP + lane] * element;
            }
            if (j <= p) {
                g.g_val[to + j] = h * scale;
                if (g.merged) g.g_col[to + j] = columns[j];
            }
        }
    }
}

// Systems of at most 8 unknowns, 8 lanes each.
extern "C" __global__ void __launch_bounds__(128) fsai_solve_8(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    solve_in_warp<8, 8>(
        first, systems, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 16 unknowns, 16 lanes each.
extern "C" __global__ void __launch_bounds__(128) fsai_solve_16(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    solve_in_warp<16, 16>(
        first, systems, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 24 unknowns, 32 lanes each.
extern "C" __global__ void __launch_bounds__(128) fsai_solve_24(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    solve_in_warp<32, 24>(
        first, systems, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 32 unknowns, 32 lanes each.
extern "C" __global__ void __launch_bounds__(128) fsai_solve_32(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    solve_in_warp<32, 32>(
        first, systems, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 48 unknowns, a block of 64 each.
extern "C" __global__ void __launch_bounds__(64) fsai_solve_48(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<8, 6>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 64 unknowns, a block of 64 each.
extern "C" __global__ void __launch_bounds__(64) fsai_solve_64(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<8, 8>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 96 unknowns, a block of 256 each.
extern "C" __global__ void __launch_bounds__(256) fsai_solve_96(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<16, 6>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 112 unknowns, a block of 256 each.
extern "C" __global__ void __launch_bounds__(256) fsai_solve_112(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<16, 7>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 128 unknowns, a block of 256 each.
extern "C" __global__ void __launch_bounds__(256) fsai_solve_128(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<16, 8>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 160 unknowns, a block of 256 each.
extern "C" __global__ void __launch_bounds__(256) fsai_solve_160(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<16, 10>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}

// Systems of at most 208 unknowns, a block of 256 each.
extern "C" __global__ void __launch_bounds__(256) fsai_solve_208(
    u32 first, u32 systems, u32 gathered, double on_diagonal, const u32* queue, const u32* sys_begin,
    const u32* sys_len, const u32* sys_col, const offset* row_ptr, const u32* low, const u32* col,
    const double* val, const u64* dense_ptr, const double* dense, u32 merged, const u32* member_ptr,
    const u32* member, const u32* place, const u32* g_ptr, u32* g_col, double* g_val, u32* failed)
{
    const Lower a = {row_ptr, low, col, val, on_diagonal};
    const Members g = {merged, member_ptr, member, place, g_ptr, g_col, g_val, failed};
    if (blockIdx.x < systems)
        solve_in_block<16, 13>(
            first, gathered, queue, sys_begin, sys_len, sys_col, a, dense_ptr, dense, g);
}
