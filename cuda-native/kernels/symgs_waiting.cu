// cuda/symgs/sync-free on slices (see symgs_slices.cu) in level order, for rows with at most WIDTH
// nonzeros on either side of the diagonal. All blocks are resident; their warps process the slices
// in that order, each waiting for the elements that its rows need.
//
// WIDTH        maximum nonzeros of a row on a side of the diagonal

// Blocks per multiprocessor: what they keep in registers must not spill.
#define BLOCKS (WIDTH > 13 ? 2 : 4)

__device__ inline u32 top(double v) { return (u32)__double2hiint(v); }
__device__ inline u32 top(float v) { return __float_as_uint(v); }
__device__ inline double unset_value(double) { return __longlong_as_double(-1); }
__device__ inline float unset_value(float) { return __int_as_float(-1); }

// Reloads an element that was not ready.
__device__ inline void look_again(double& v, const double* p) {
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %2, -1; @q ld.relaxed.gpu.global.f64 %0, [%1]; }"
        : "+d"(v) : "l"(p), "r"(top(v)));
}
__device__ inline void look_again(float& v, const float* p) {
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %2, -1; @q ld.relaxed.gpu.global.f32 %0, [%1]; }"
        : "+f"(v) : "l"(p), "r"(top(v)));
}

// The elements that a row waits for are `made`; the others, which sweeps from zero do not read,
// `found`. A slice has a gate: an element to wait for before polling the others, since it is
// computed shortly before these.
template <bool FORWARD>
__device__ inline void sweep(
    u32 slices, u32 form, const u32* made_ptr, const u32* made_col, const real* made_val,
    const u32* found_ptr, const u32* found_col, const real* found_val, const real* diagonal,
    const real* rhs, const real* old, real* sums, real* out, const u32* gates, u32* stuck)
{
    const bool smoother = form == SMOOTHER;
    const u32 lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    for (u32 s = blockIdx.x + gridDim.x * (threadIdx.x / WARP); s < slices; s += warps) {
        const u32 slice = FORWARD ? s : slices - 1 - s;
        const u64 at = (u64)slice * WARP + lane;
        const u32 made_begin = __ldg(made_ptr + slice);
        const u32 made = __ldg(made_ptr + slice + 1) - made_begin;
        const u32 found_begin = __ldg(found_ptr + slice);
        const u32 found = from_zero(form) ? 0 : __ldg(found_ptr + slice + 1) - found_begin;
        const u32 gate = __ldg(gates + slice);
        real sum = rhs[at];
        const real d = __ldcs(diagonal + at), mine = smoother ? old[at] : 0;
        real products[WIDTH], a[WIDTH], v[WIDTH];
        u32 c[WIDTH];
        {
            u32 others[WIDTH];
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                others[k] = k < found ? __ldcs(found_col + (u64)(found_begin + k) * WARP + lane) : NONE;
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                products[k] = k < found ? __ldcs(found_val + (u64)(found_begin + k) * WARP + lane) : 0;
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                c[k] = k < made ? __ldcs(made_col + (u64)(made_begin + k) * WARP + lane) : NONE;
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                a[k] = k < made ? __ldcs(made_val + (u64)(made_begin + k) * WARP + lane) : 0;
            real x[WIDTH];
#pragma unroll
            for (int k = 0; k < WIDTH; k++) x[k] = others[k] != NONE ? __ldg(old + others[k]) : 0;
#pragma unroll
            for (int k = 0; k < WIDTH; k++) products[k] *= x[k];
        }
        if (begins_with_product(form, !FORWARD)) sum *= d;
        if (!FORWARD) {
#pragma unroll
            for (int k = 0; k < WIDTH; k++) sum -= products[k];
            if (smoother) sum -= d * mine;
        }
#pragma unroll
        for (int k = 0; k < WIDTH; k++) v[k] = c[k] == NONE ? 0 : unset_value((real)0);
        u32 turns = 0;
        if (gate != NONE)
            while (unset(peek(out + gate)))
                if (give_up(turns, stuck)) break;
        u32 highest;
        do {
#pragma unroll
            for (int k = 0; k < WIDTH; k++) look_again(v[k], out + c[k]);
            highest = 0;
#pragma unroll
            for (int k = 0; k < WIDTH; k++) highest = max(highest, top(v[k]));
            // All lanes give up or none: they may not see the flag at the same time.
            if (__any_sync(ALL_LANES, give_up(turns, stuck))) return;
        } while (__any_sync(ALL_LANES, highest == NONE));
#pragma unroll
        for (int k = 0; k < WIDTH; k++) sum -= a[k] * v[k];
        if (keeps_sums(form, !FORWARD)) sums[at] = sum;
        if (FORWARD) {
            if (smoother) sum -= d * mine;
#pragma unroll
            for (int k = 0; k < WIDTH; k++) sum -= products[k];
        }
        if (smoother) sum += d * mine;
        if (d != 0) publish(out + at, sum / d);
    }
}

// cuda/symgs/sync-free: rows ascending.
extern "C" __global__ void __launch_bounds__(128, BLOCKS) symgs_sync_free_forward(
    u32 slices, u32 form, const u32* made_ptr, const u32* made_col, const real* made_val,
    const u32* found_ptr, const u32* found_col, const real* found_val, const real* diagonal,
    const real* rhs, const real* old, real* sums, real* out, const u32* gates, u32* stuck)
{
    sweep<true>(slices, form, made_ptr, made_col, made_val, found_ptr, found_col, found_val,
        diagonal, rhs, old, sums, out, gates, stuck);
}

// The same, descending.
extern "C" __global__ void __launch_bounds__(128, BLOCKS) symgs_sync_free_backward(
    u32 slices, u32 form, const u32* made_ptr, const u32* made_col, const real* made_val,
    const u32* found_ptr, const u32* found_col, const real* found_val, const real* diagonal,
    const real* rhs, const real* old, real* sums, real* out, const u32* gates, u32* stuck)
{
    sweep<false>(slices, form, made_ptr, made_col, made_val, found_ptr, found_col, found_val,
        diagonal, rhs, old, sums, out, gates, stuck);
}
