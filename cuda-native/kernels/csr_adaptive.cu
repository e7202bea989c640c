// cuda/csr/adaptive: y = A x, A in CSR, in tiles of about the same number of nonzeros, one block
// per tile. A tile holds whole rows, or a part of one row that is longer than a tile. Its products
// are computed side by side, regardless of their rows, and lie in shared memory until lanes of a
// warp add up each row. In the largest tile, the whole warp adds up those of rows that would take
// their lanes long. In a tile of 256 x 6, each thread adds up adjacent products instead, and passes
// the sum of a row that continues to the next.
//
// plan[t].x    first row of tile t
// plan[t].y    number of the part of that row, or NONE where the tile holds whole rows
// plan[t].z, w lower and upper half of the tile's first nonzero
// After the last tile the plan has the number of rows and of nonzeros.

// Products per lane above which a row of the largest tile is summed by the whole warp.
const u32 MOST_PER_LANE = 16;

// Replaces the last product of each row of a tile by the sum of the row. A thread adds ITEMS adjacent
// products; `ends` has a bit for each of them that is a row's last. It passes the sum of the products
// after its last end to the next threads.
template <u32 THREADS, u32 ITEMS>
__device__ inline void add_segments(real* products, u32 ends) {
    __shared__ real open_of_warp[THREADS / WARP];
    __shared__ u32 ending_of_warp[THREADS / WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    real* const own = products + threadIdx.x * ITEMS;
    real open = 0;
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
        open += own[i];
        if (ends >> i & 1) {
            own[i] = open;
            open = 0;
        }
    }
    // The sum since the last end, which is in lane `start` or, without one, in an earlier warp.
    const u32 ending = __ballot_sync(ALL_LANES, ends != 0);
    const u32 up_to_lane = ending & (ALL_LANES >> (WARP - 1 - lane));
    const u32 start = up_to_lane == 0 ? 0 : WARP - 1 - __clz(up_to_lane);
    for (u32 distance = 1; distance < WARP; distance *= 2) {
        const real before = __shfl_up_sync(ALL_LANES, open, distance);
        if (lane >= start + distance) open += before;
    }
    if (lane == WARP - 1) {
        open_of_warp[warp] = open;
        ending_of_warp[warp] = ending;
    }
    real carried = __shfl_up_sync(ALL_LANES, open, 1);
    if (lane == 0) carried = 0;
    __syncthreads();
    if (ends == 0) return;
    bool is_open = (ending & ((1u << lane) - 1)) == 0;
    for (u32 w = warp; is_open && w-- > 0;) {
        carried += open_of_warp[w];
        is_open = ending_of_warp[w] == 0;
    }
    own[__ffs(ends) - 1] += carried;
}

// Returns this thread's share of with . y, where `with` is given: each part of a split row counts
// in its own block. A solver's kernel loads its nonzeros, which no kernel writes, before it waits
// for the previous kernels, which write x; once the solve is over, all its threads return 0.
template <u32 THREADS, u32 ITEMS, bool OF_SOLVER>
__device__ inline real product_of_tile(
    const u32* tiles, const offset* row_ptr, const u32* col, const value* val, const real* x,
    real* y, real* part_sum, u32* arrived, const real* with, const u32* words)
{
    const uint4* plan = reinterpret_cast<const uint4*>(tiles);
    __shared__ real products[THREADS * ITEMS];
    __shared__ u32 before_this;
    const u32 tile = blockIdx.x;
    const uint4 here = plan[tile], next = plan[tile + 1];
    const u64 begin = here.z | (u64)here.w << 32;
    const u32 entries = next.z - here.z; // At most a tile's: the upper halves add nothing.
    col += begin;
    val += begin;

    // All loads of a thread are in flight before it waits for the first.
    u32 c[ITEMS];
    value v[ITEMS];
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
        const u32 k = i * THREADS + threadIdx.x;
        c[i] = k < entries ? __ldcs(&col[k]) : 0;
        v[i] = k < entries ? streamed(&val[k]) : value{};
    }
    if (OF_SOLVER) {
        after_others();
        if (words[OVER] != 0) return 0;
        let_next_begin();
    }

    if (here.y != NONE) {
        real sum = 0;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (i * THREADS + threadIdx.x < entries) sum += v[i] * element<OF_SOLVER>(x, c[i]);
        sum = block_sum(sum, products);
        const real own = with != nullptr && threadIdx.x == 0 ? with[here.x] * sum : 0;
        const u32 first = tile - here.y;
        const u64 length = row_ptr[here.x + 1] - row_ptr[here.x];
        const u32 parts = (length + THREADS * ITEMS - 1) / (THREADS * ITEMS);
        if (threadIdx.x == 0) {
            part_sum[tile] = sum;
            __threadfence();
            before_this = atomicAdd(&arrived[first], 1);
        }
        __syncthreads();
        // The last part to arrive adds all of them, always in the same order.
        if (before_this + 1 != parts) return own;
        __threadfence();
        sum = 0;
        for (u32 k = threadIdx.x; k < parts; k += THREADS) sum += __ldcg(&part_sum[first + k]);
        sum = block_sum(sum, products);
        if (threadIdx.x == 0) {
            put_row(y, here.x, sum);
            arrived[first] = 0;
        }
        return own;
    }

    const u32 rows = next.x - here.x;
    real own = 0;
    const auto put = [&](u32 row, real sum) {
        put_row(y, here.x + row, sum);
        if (with != nullptr) own += with[here.x + row] * sum;
    };
    if (THREADS == 256 && ITEMS == 6) {
        const u32 AT_ONCE = 2; // Rows of a thread whose ends are loaded before it waits.
        __shared__ u32 ends[THREADS];
        __shared__ u16 end_of[THREADS * ITEMS]; // As many as a tile may have rows.
        ends[threadIdx.x] = 0;
        __syncthreads();
        // An empty row ends where the row before it does.
        for (u32 first = threadIdx.x; first < rows; first += AT_ONCE * THREADS) {
            u32 to[AT_ONCE];
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++) {
                const u32 r = first + i * THREADS;
                to[i] = r < rows ? (u32)row_ptr[here.x + r + 1] - here.z : 0;
            }
#pragma unroll
            for (u32 i = 0; i < AT_ONCE; i++) {
                const u32 r = first + i * THREADS, last = to[i] - 1;
                if (r < rows) end_of[r] = to[i];
                if (to[i] != 0) atomicOr(&ends[last / ITEMS], 1u << last % ITEMS);
            }
        }
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            const u32 k = i * THREADS + threadIdx.x;
            if (k < entries) products[k] = v[i] * element<OF_SOLVER>(x, c[i]);
        }
        __syncthreads();
        add_segments<THREADS, ITEMS>(products, ends[threadIdx.x]);
        __syncthreads();
        for (u32 r = threadIdx.x; r < rows; r += THREADS) {
            const u32 from = r == 0 ? 0 : end_of[r - 1], end = end_of[r];
            put(r, end > from ? products[end - 1] : 0);
        }
        return own;
    }

    // As many lanes per row as there are threads for, up to a warp.
    u32 log_lanes = 0;
    while (log_lanes < 5 && rows << (log_lanes + 1) <= THREADS) log_lanes++;
    const u32 lane = threadIdx.x & ((1 << log_lanes) - 1);
    const u32 at_once = THREADS >> log_lanes;
    u32 r = threadIdx.x >> log_lanes;
    u32 from = 0, to = 0;
    if (r < rows) {
        from = row_ptr[here.x + r] - begin;
        to = row_ptr[here.x + r + 1] - begin;
    }

#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
        const u32 k = i * THREADS + threadIdx.x;
        if (k < entries) products[k] = v[i] * element<OF_SOLVER>(x, c[i]);
    }
    __syncthreads();

    for (u32 done = 0; done < rows; done += at_once) {
        const bool is_long =
            THREADS == 512 && log_lanes < 5 && to - from > MOST_PER_LANE << log_lanes;
        u32 left = THREADS == 512 ? __ballot_sync(ALL_LANES, is_long && lane == 0) : 0;
        for (; left != 0; left &= left - 1) {
            const u32 of = __ffs(left) - 1, number = threadIdx.x % WARP;
            const u32 first = __shfl_sync(ALL_LANES, from, of);
            const u32 end = __shfl_sync(ALL_LANES, to, of), row = __shfl_sync(ALL_LANES, r, of);
            real sum = 0;
            for (u32 k = first + number; k < end; k += WARP) sum += products[k];
            sum = warp_sum(sum);
            if (number == 0) put(row, sum);
        }
        if (is_long) to = from;
        real sum = 0;
        for (u32 k = from + lane; k < to; k += 1 << log_lanes) sum += products[k];
        for (u32 distance = 1 << log_lanes >> 1; distance > 0; distance >>= 1)
            sum += __shfl_down_sync(ALL_LANES, sum, distance);
        if (lane == 0 && r < rows && !is_long) put(r, sum);
        r += at_once;
        from = to = 0;
        if (r < rows) {
            from = row_ptr[here.x + r] - begin;
            to = row_ptr[here.x + r + 1] - begin;
        }
    }
    return own;
}

// The same while a solve is not over, and with . y for it.
template <u32 THREADS, u32 ITEMS>
__device__ inline void product_of_solver(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    const real sum = product_of_tile<THREADS, ITEMS, true>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose == FOR_NOTHING ? nullptr : with,
        words);
    if (words[OVER] != 0 || purpose == FOR_NOTHING) return;
    leave(purpose, sum, parts, counts, numbers);
}

// As many blocks as a multiprocessor has threads for, where register use allows it.
extern "C" __global__ void __launch_bounds__(128, 16) csr_adaptive_128x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived)
{
    product_of_tile<128, 4, false>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(128) csr_adaptive_128x6(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived)
{
    product_of_tile<128, 6, false>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(256, 8) csr_adaptive_256x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived)
{
    product_of_tile<256, 4, false>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(256, 6) csr_adaptive_256x6(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived)
{
    product_of_tile<256, 6, false>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(512, 4) csr_adaptive_512x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived)
{
    product_of_tile<512, 4, false>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(128, 12) csr_adaptive_solver_128x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    product_of_solver<128, 4>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose, with, parts, counts, numbers,
        words);
}

extern "C" __global__ void __launch_bounds__(128) csr_adaptive_solver_128x6(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    product_of_solver<128, 6>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose, with, parts, counts, numbers,
        words);
}

extern "C" __global__ void __launch_bounds__(256, 6) csr_adaptive_solver_256x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    product_of_solver<256, 4>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose, with, parts, counts, numbers,
        words);
}

extern "C" __global__ void __launch_bounds__(256, 6) csr_adaptive_solver_256x6(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    product_of_solver<256, 6>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose, with, parts, counts, numbers,
        words);
}

extern "C" __global__ void __launch_bounds__(512, 3) csr_adaptive_solver_512x4(
    const u32* plan, const offset* row_ptr, const u32* col, const value* val, const real* x, real* y,
    real* part_sum, u32* arrived, u32 purpose, const real* with, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    product_of_solver<512, 4>(
        plan, row_ptr, col, val, x, y, part_sum, arrived, purpose, with, parts, counts, numbers,
        words);
}
