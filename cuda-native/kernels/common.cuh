// Shared by all kernels: types chosen by the build options, the thread's index in the grid, and
// warp sums.
//
// REAL         type of vectors and sums
// VALUE        type of the stored values of a matrix in CSR: REAL, or one with fewer bits
// OFFSET_BITS  32 or 64: width of CSR's row offsets
// SCALE_ALPHA  alpha of y = alpha A x + beta y; 1 if it is not defined
// SCALE_BETA   beta; 0 if it is not defined

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef REAL real;

// bfloat16, and binary16 of IEEE 754: both are widened as they are used.
struct bf16 {
    u16 bits;
    __device__ inline operator float() const { return __uint_as_float((u32)bits << 16); }
};
struct f16 {
    u16 bits;
    __device__ inline operator float() const {
        float wide;
        asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
        return wide;
    }
};
typedef VALUE value;

// A stored value through the read-only path, and one that is not loaded again.
template <typename T>
__device__ inline T read_only(const T* p) { return __ldg(p); }
__device__ inline bf16 read_only(const bf16* p) { return {__ldg(&p->bits)}; }
__device__ inline f16 read_only(const f16* p) { return {__ldg(&p->bits)}; }
template <typename T>
__device__ inline T streamed(const T* p) { return __ldcs(p); }
__device__ inline bf16 streamed(const bf16* p) { return {__ldcs(&p->bits)}; }
__device__ inline f16 streamed(const f16* p) { return {__ldcs(&p->bits)}; }

// Copies an element to shared memory; it is there after `after_staged` and a barrier.
template <typename T>
__device__ inline void stage(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
    // The least that is copied without registers has 4 bytes.
    if constexpr (sizeof(T) >= 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::
            "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(T)) : "memory");
    else
#endif
        *to = streamed(from);
}
__device__ inline void after_staged() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#if OFFSET_BITS == 64
typedef u64 offset;
#else
typedef u32 offset;
#endif

const u32 WARP = 32;
const u32 ALL_LANES = 0xffffffffu;

// Largest finite value.
const real REAL_MAX = sizeof(real) == 8 ? (real)1.7976931348623157e308 : (real)3.4028234663852886e38;

// No row, place or number yet.
const u32 NONE = 0xffffffffu;

// What solvers' hacks are stored in: the number of distances that 16 bits can represent, and the
// number of values that 8 bits can represent.
const u32 WINDOW = 65536, OF_BYTE = 256;

// Whether codes of this many values have 8 bits, one of which tells between two windows.
__device__ inline bool are_bytes(u32 windows, u32 distinct) {
    return (windows == 2 ? 2 : 1) * distinct <= OF_BYTE;
}

// Index of this thread in the whole grid; 64-bit, since one warp per row soon exceeds 2^32.
__device__ inline u64 thread_in_grid() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

// alpha times the sum of a row.
__device__ inline real times_alpha(real sum) {
#ifdef SCALE_ALPHA
    return (real)(SCALE_ALPHA) * sum;
#else
    return sum;
#endif
}

// Stores alpha times the sum of a row; with a beta, plus beta times what y holds.
__device__ inline void put_row(real* y, u64 row, real sum) {
#ifdef SCALE_BETA
    y[row] = times_alpha(sum) + (real)(SCALE_BETA) * y[row];
#else
    y[row] = times_alpha(sum);
#endif
}

// Adjacent numbers that a thread loads or stores at once, if it copies them; their address is a
// multiple of their size.
template <u32 COUNT>
struct alignas(COUNT * sizeof(real)) Pack {
    real of[COUNT];

    // Adds v times another one.
    __device__ inline void add(real v, const Pack& other) {
#pragma unroll
        for (u32 c = 0; c < COUNT; c++) of[c] += v * other.of[c];
    }
};

// Sum over the warp, in lane 0: distances 16, 8, 4, 2, 1. All lanes must take part.
__device__ inline real warp_sum(real sum) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// The same through shared memory: `partial` holds one element per thread of the block.
__device__ inline real warp_sum_shared(volatile real* partial) {
    const u32 lane = threadIdx.x % WARP;
    for (u32 distance = WARP / 2; distance > 0; distance /= 2) {
        __syncwarp();
        if (lane < distance) partial[threadIdx.x] += partial[threadIdx.x + distance];
    }
    __syncwarp();
    return partial[threadIdx.x - lane];
}

// Maximum over the warp, in all lanes.
__device__ inline u32 warp_max(u32 most) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    return most;
}

// Exclusive prefix sum over 1024 threads, and the total.
template <typename NUMBER>
__device__ inline NUMBER before_in_block(NUMBER own, NUMBER& total) {
    __shared__ NUMBER sums[WARP + 1];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    NUMBER sum = own;
    for (u32 j = 1; j < WARP; j *= 2) {
        const NUMBER other = __shfl_up_sync(ALL_LANES, sum, j);
        if (lane >= j) sum += other;
    }
    if (lane == WARP - 1) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const NUMBER of_warp = sums[lane];
        NUMBER up_to = of_warp;
        for (u32 j = 1; j < WARP; j *= 2) {
            const NUMBER other = __shfl_up_sync(ALL_LANES, up_to, j);
            if (lane >= j) up_to += other;
        }
        sums[lane] = up_to - of_warp;
        if (lane == WARP - 1) sums[WARP] = up_to;
    }
    __syncthreads();
    total = sums[WARP];
    const NUMBER before = sum - own + sums[warp];
    __syncthreads();
    return before;
}

// Whether a factorisation may divide by this pivot: the matrix is positive definite so far.
__device__ inline bool is_pivot(double d) { return d > 0.0 && d <= 1.7976931348623157e308; }

// The solution stored for a system that is not positive definite.
__device__ inline double no_solution() { return __longlong_as_double(0x7ff8000000000000); }

// Sum over a block of up to 32 warps, in thread 0; `room` has one element per warp.
__device__ inline real block_sum(real sum, real* room) {
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) room[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x < WARP) sum = warp_sum(threadIdx.x < blockDim.x / WARP ? room[threadIdx.x] : 0);
    __syncthreads();
    return sum;
}

// Number of blocks in a group, whose sums one block adds up.
const u32 GROUP = 256;

// Puts a block's sums into `to`. Returns true in the last of `expected` blocks to arrive, counted
// at `count`; its threads then hold shares of the sums that all of these blocks stored from `from`
// on.
template <u32 COUNT>
__device__ inline bool is_last(
    real (&sums)[COUNT], real* to, const real* from, u32* count, u32 expected)
{
    __shared__ real room[WARP];
    __shared__ bool last;
    for (u32 k = 0; k < COUNT; k++) sums[k] = block_sum(sums[k], room);
    if (threadIdx.x == 0) {
        for (u32 k = 0; k < COUNT; k++) to[k] = sums[k];
        __threadfence();
        last = atomicAdd(count, 1) + 1 == expected;
        if (last) *count = 0;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    for (u32 k = 0; k < COUNT; k++) {
        sums[k] = 0;
        for (u32 i = threadIdx.x; i < expected; i += blockDim.x)
            sums[k] += __ldcg(&from[COUNT * i + k]);
    }
    __syncthreads();
    return true;
}

// The group of this block, the number of groups, and the number of blocks in this group.
__device__ inline u32 own_group() { return blockIdx.x / GROUP; }
__device__ inline u32 group_count() { return (gridDim.x + GROUP - 1) / GROUP; }
__device__ inline u32 blocks_of_group() { return min(GROUP, gridDim.x - own_group() * GROUP); }

// Sums over the grid, whose bits depend only on its shape. The last block of every GROUP adds what
// they put into `parts`, and the last of these blocks adds the group sums: it returns true, and its
// thread 0 has the totals. `parts` has COUNT elements per block and COUNT per group; `arrived` has
// one per group and one more, all 0 before and after.
template <u32 COUNT>
__device__ inline bool grid_sum(real (&sums)[COUNT], real* parts, u32* arrived) {
    __shared__ real room[WARP];
    const u32 group = own_group(), groups = group_count();
    real* const of_groups = parts + (u64)COUNT * gridDim.x;
    if (!is_last(
            sums, parts + (u64)COUNT * blockIdx.x, parts + (u64)COUNT * group * GROUP,
            &arrived[group], blocks_of_group()) ||
        !is_last(sums, of_groups + COUNT * group, of_groups, &arrived[groups], groups))
        return false;
    for (u32 k = 0; k < COUNT; k++) sums[k] = block_sum(sums[k], room);
    return true;
}

// Maximum number of parts that are left for the reader to add up: up to this many blocks leave one
// each.
const u32 MOST_PARTS = 4096;

// Leaves the sum over the grid to later kernels, as one part per block, or, where these would be
// too many, as one per group, added up by its last block. `parts` has one element per block and one
// per group; `arrived` has one per group, 0 before and after.
__device__ inline void leave_sum(real sum, real* parts, u32* arrived) {
    __shared__ real room[WARP];
    real sums[1] = {sum};
    const bool grouped = gridDim.x > MOST_PARTS;
    if (grouped) {
        real* const of_blocks = parts + group_count();
        if (!is_last(
                sums, of_blocks + blockIdx.x, of_blocks + own_group() * GROUP, &arrived[own_group()],
                blocks_of_group()))
            return;
    }
    sums[0] = block_sum(sums[0], room);
    if (threadIdx.x == 0) parts[grouped ? own_group() : blockIdx.x] = sums[0];
}

// A sum that earlier kernels have left in this many parts.
struct Left {
    u32 count;
    const real* parts;
};

// Parts that a thread loads before it waits for the first.
const u32 PARTS_IN_FLIGHT = 8;

// Their sum, in all threads of a block; the same bits in all blocks with the same number of
// threads.
template <u32 COUNT>
__device__ inline void add_up(const Left (&left)[COUNT], real (&sums)[COUNT]) {
    __shared__ real room[COUNT][WARP];
    for (u32 k = 0; k < COUNT; k++) {
        real sum = 0;
        for (u32 i = threadIdx.x; i < left[k].count; i += PARTS_IN_FLIGHT * blockDim.x) {
            real part[PARTS_IN_FLIGHT];
#pragma unroll
            for (u32 j = 0; j < PARTS_IN_FLIGHT; j++) {
                const u32 at = i + j * blockDim.x;
                part[j] = at < left[k].count ? __ldcg(&left[k].parts[at]) : 0;
            }
#pragma unroll
            for (u32 j = 0; j < PARTS_IN_FLIGHT; j++) sum += part[j];
        }
        sums[k] = sum;
    }
    for (u32 k = 0; k < COUNT; k++) {
        const real sum = warp_sum(sums[k]);
        if (threadIdx.x % WARP == 0) room[k][threadIdx.x / WARP] = sum;
    }
    __syncthreads();
    for (u32 k = 0; k < COUNT; k++) {
        sums[k] = 0;
        for (u32 warp = 0; warp < blockDim.x / WARP; warp++) sums[k] += room[k][warp];
    }
}

// A kernel may be launched before the previous one has ended (programmatic dependent launch). It
// must access what others write only after this call, which waits until they have ended.
__device__ inline void after_others() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// From here on the next kernel may be launched: its blocks start as those of this one end.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// An element of x, which a solver's kernels may not load as read-only: the previous kernel may
// still write it.
template <bool OF_SOLVER>
__device__ inline real element(const real* x, u32 i) {
    return OF_SOLVER ? x[i] : __ldg(&x[i]);
}

// The numbers of conjugate gradients, passed from kernel to kernel.
const u32 NORM_B = 0, GOAL = 1, RZ = 2, BETA = 3, ALPHA = 4, NORM_R = 5, BROKEN = 6,
          RZ_BEFORE = 7;

// And the words: why it stopped, 0 while it continues; iterations done; ||r|| / ||b|| as a float's
// bits.
const u32 OVER = 0, DONE = 1, REACHED = 2;
const u32 CONVERGED = 1, SPENT = 2, BAD_PRODUCT = 3, NO_PRODUCT = 4, BAD_RESIDUAL = 5, BAD_SCALED = 6,
          NO_SCALED = 7, STOPPED = 8;

// What happens to the sum computed with an SpMV: there is none, its parts are left to later
// kernels, or the whole sum is one GPU's share of a sum over several GPUs.
const u32 FOR_NOTHING = 0, FOR_PARTS = 1, FOR_SHARE = 2;

// The same for a kernel's own sum; a share is stored in the first of the numbers.
__device__ inline void leave(u32 purpose, real sum, real* parts, u32* counts, real* numbers) {
    if (purpose == FOR_PARTS) return leave_sum(sum, parts, counts);
    real sums[1] = {sum};
    if (grid_sum(sums, parts, counts) && threadIdx.x == 0) numbers[0] = sums[0];
}

// What sweeps compute: an iteration in either mode, or z = M^-1 r from zero in either form. Those
// from zero process the nonzeros of each row on one side of the diagonal: those whose elements the
// sweep computes before the row's. The first sweep of the exact form stores its sums, from which
// the second one starts; the second sweep of the other form starts from the diagonal times the
// result of the first.
const u32 STANDARD = 0, SMOOTHER = 1, ZERO_EXACT = 2, ZERO_HALF = 3;

__device__ inline bool from_zero(u32 form) { return form >= ZERO_EXACT; }
__device__ inline bool keeps_sums(u32 form, u32 backward) { return form == ZERO_EXACT && !backward; }
__device__ inline bool begins_with_product(u32 form, u32 backward) {
    return form == ZERO_HALF && backward;
}

// Whether the sweep computes the element of column c before that of the row.
__device__ inline bool made_before(u32 backward, u32 c, u32 row) {
    return backward ? c > row : c < row;
}

#if __CUDA_ARCH__ >= 700

// Loads and stores that are visible to other blocks of the same launch.
__device__ inline double peek(const double* p) {
    double v;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p));
    return v;
}
__device__ inline float peek(const float* p) {
    float v;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
__device__ inline u32 peek(const u32* p) {
    u32 v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
__device__ inline void publish(u32* p, u32 v) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" :: "l"(p), "r"(v));
}

// Values that are their own flags: a vector to be written is preset to 0xff bytes, which are a NaN;
// a result that is NaN is stored as another NaN.
__device__ inline bool unset(double v) { return __double2hiint(v) == -1; }
__device__ inline bool unset(float v) { return __float_as_int(v) == -1; }
__device__ inline void publish(double* p, double v) {
    if (v != v) v = __hiloint2double(0x7ff80000, 0);
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" :: "l"(p), "d"(v));
}
__device__ inline void publish(float* p, float v) {
    if (v != v) v = __int_as_float(0x7fc00000);
    asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" :: "l"(p), "f"(v));
}

// Number of turns after which a wait is given up: this takes seconds.
const u32 MOST_TURNS = 1u << 24;

// Whether to give up a wait after this many turns; all other threads and the host are notified.
__device__ inline bool give_up(u32& turns, u32* stuck) {
    if (++turns % 4096 != 0) return false;
    if (turns >= MOST_TURNS) publish(stuck, 1);
    return peek(stuck) != 0;
}

#endif
