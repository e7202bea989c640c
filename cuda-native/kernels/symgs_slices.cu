// Symmetric Gauss-Seidel on slices: rows of a group (a level, a colour) are stored side by side, 32
// per slice, the last slice of a group padded with places that hold no row. Nonzeros before the
// diagonal in the matrix, the diagonal and nonzeros after it are stored separately. Slot k of a
// slice that begins at slot s lies at (s + k) * 32 + lane; its column is a place, or none: then its
// value is +0, which leaves every sum unchanged.

const int CHUNK = 9;

// `sum` minus the products of a slice's part, in order, several loaded at once. Values computed in
// the same launch are read where all blocks see them.
template <bool FRESH>
__device__ inline real less(
    real sum, u32 slice, const u32* ptr, const u32* col, const real* val, const real* x)
{
    const u32 lane = threadIdx.x % WARP, begin = __ldg(ptr + slice);
    const u32 width = __ldg(ptr + slice + 1) - begin;
    for (u32 first = 0; first < width; first += CHUNK) {
        u32 c[CHUNK];
        real a[CHUNK], v[CHUNK];
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            const u64 i = (u64)(begin + first + k) * WARP + lane;
            const bool in = first + k < width;
            c[k] = in ? __ldcs(col + i) : NONE;
            a[k] = in ? __ldcs(val + i) : 0;
        }
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            v[k] = 0;
            if (c[k] != NONE) v[k] = FRESH ? peek(x + c[k]) : x[c[k]];
        }
#pragma unroll
        for (int k = 0; k < CHUNK; k++) sum -= a[k] * v[k];
    }
    return sum;
}

// Barrier over all blocks; `goal` arrivals end it. Returns false if it was given up.
__device__ inline bool all_blocks(u32* arrived, u32 goal, u32* stuck) {
    __shared__ u32 gone;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        u32 seen, turns = 0;
        gone = 0;
        while (true) {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
            if ((int)(seen - goal) >= 0) break;
            if (give_up(turns, stuck)) {
                gone = 1;
                break;
            }
        }
    }
    __syncthreads();
    return gone == 0;
}

// Blocks per multiprocessor.
const int LEVEL_BLOCKS = sizeof(real) == 8 ? 9 : 12;

// cuda/symgs/levels: the levels of steps `first` to `last`, one after the other; with more than
// one, all blocks are resident and synchronise after each. Warp w of block b takes slices from b +
// w * blocks on, so that narrow levels spread over the device.
extern "C" __global__ void __launch_bounds__(128, LEVEL_BLOCKS) symgs_levels(
    u32 first, u32 last, u32 levels, u32 backward, u32 form, const u32* level_ptr,
    const u32* before_ptr, const u32* before_col, const real* before_val, const u32* after_ptr,
    const u32* after_col, const real* after_val, const real* diagonal, const real* rhs,
    const real* old, real* sums, real* out, u32* arrived, u32* stuck)
{
    const bool smoother = form == SMOOTHER, both = !from_zero(form);
    const u32 lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    const u32 own = blockIdx.x + gridDim.x * (threadIdx.x / WARP);
    for (u32 step = first; step < last; step++) {
        const u32 level = backward ? levels - 1 - step : step;
        const u32 end = level_ptr[level + 1];
        for (u32 slice = level_ptr[level] + own; slice < end; slice += warps) {
            const u64 at = (u64)slice * WARP + lane;
            const real d = __ldcs(diagonal + at), mine = smoother ? old[at] : 0;
            real sum = rhs[at];
            if (begins_with_product(form, backward)) sum *= d;
            if (!backward) sum = less<true>(sum, slice, before_ptr, before_col, before_val, out);
            else if (both) sum = less<false>(sum, slice, before_ptr, before_col, before_val, old);
            if (smoother) sum -= d * mine;
            if (keeps_sums(form, backward)) sums[at] = sum;
            if (backward) sum = less<true>(sum, slice, after_ptr, after_col, after_val, out);
            else if (both) sum = less<false>(sum, slice, after_ptr, after_col, after_val, old);
            if (smoother) sum += d * mine;
            if (d != 0) publish(out + at, sum / d);
        }
        if (step + 1 < last && !all_blocks(arrived, gridDim.x * (step + 1 - first), stuck)) return;
    }
}

// cuda/symgs/colored: the slices of one colour, in place. No row of a colour reads another's
// element. In sweeps from zero the sides are by place, otherwise by column.
extern "C" __global__ void __launch_bounds__(128) symgs_colored(
    u32 begin, u32 end, u32 backward, u32 form, const u32* before_ptr, const u32* before_col,
    const real* before_val, const u32* after_ptr, const u32* after_col, const real* after_val,
    const real* diagonal, const real* rhs, real* sums, real* x)
{
    const bool smoother = form == SMOOTHER, both = !from_zero(form);
    const u64 slice = begin + thread_in_grid() / WARP;
    if (slice >= end) return;
    const u64 at = slice * WARP + threadIdx.x % WARP;
    const real d = __ldcs(diagonal + at), mine = smoother ? x[at] : 0;
    real sum = smoother ? mine : __ldcs(rhs + at);
    if (begins_with_product(form, backward)) sum *= d;
    if (both || !backward) sum = less<false>(sum, (u32)slice, before_ptr, before_col, before_val, x);
    if (smoother) sum -= d * mine;
    if (keeps_sums(form, backward)) sums[at] = sum;
    if (both || backward) sum = less<false>(sum, (u32)slice, after_ptr, after_col, after_val, x);
    if (smoother) sum += d * mine;
    if (d != 0) x[at] = sum / d;
}

// Reorders a vector from rows to places; 0 where there is no row.
extern "C" __global__ void symgs_to_places(
    u64 places, const u32* row_at, const real* x, real* by_place)
{
    const u64 i = thread_in_grid();
    if (i >= places) return;
    const u32 row = row_at[i];
    by_place[i] = row == NONE ? 0 : x[row];
}

// Reorders a vector from places to rows.
extern "C" __global__ void symgs_from_places(
    u32 rows, const u32* place_of, const real* by_place, real* x)
{
    const u64 i = thread_in_grid();
    if (i < rows) x[i] = by_place[place_of[i]];
}
