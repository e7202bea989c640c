// What every kernel shares: types chosen by the build options, the thread's place in the grid, and
// the sum over a warp.
//
// REAL         type of the values
// OFFSET_BITS  32 or 64: width of CSR's row offsets

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef REAL real;

#if OFFSET_BITS == 64
typedef u64 offset;
#else
typedef u32 offset;
#endif

const u32 WARP = 32;
const u32 ALL_LANES = 0xffffffffu;

// Greatest finite value.
const real REAL_MAX = sizeof(real) == 8 ? (real)1.7976931348623157e308 : (real)3.4028234663852886e38;

// No row, no place, no number yet.
const u32 NONE = 0xffffffffu;

// Number of this thread in the whole grid; 64-bit, since a warp a row passes 2^32 early.
__device__ inline u64 thread_in_grid() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

// Sum over the warp, in lane 0: distances 16, 8, 4, 2, 1. All lanes must take part.
__device__ inline real warp_sum(real sum) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

// The same through shared memory: `partial` holds one element a thread of the block.
__device__ inline real warp_sum_shared(volatile real* partial) {
    const u32 lane = threadIdx.x % WARP;
    for (u32 distance = WARP / 2; distance > 0; distance /= 2) {
        __syncwarp();
        if (lane < distance) partial[threadIdx.x] += partial[threadIdx.x + distance];
    }
    __syncwarp();
    return partial[threadIdx.x - lane];
}

// Greatest number of the warp, in all lanes.
__device__ inline u32 warp_max(u32 most) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(ALL_LANES, most, distance));
    return most;
}

// Whether a factorisation may divide by this pivot, and the matrix so far is positive definite.
__device__ inline bool is_pivot(double d) { return d > 0.0 && d <= 1.7976931348623157e308; }

// What stands for the solution of a system that is not.
__device__ inline double no_solution() { return __longlong_as_double(0x7ff8000000000000); }

// Sum over a block of up to 32 warps, in thread 0; `room` has an element a warp.
__device__ inline real block_sum(real sum, real* room) {
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) room[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x < WARP) sum = warp_sum(threadIdx.x < blockDim.x / WARP ? room[threadIdx.x] : 0);
    __syncthreads();
    return sum;
}

// Blocks whose sums one of them adds up.
const u32 GROUP = 256;

// Puts a block's sums into `to`. The last of `expected` blocks, which count at `count`, is told so, and its
// threads have shares of the sums that all of these blocks have put from `from` on.
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

// The group of this block, how many there are, and this one's blocks.
__device__ inline u32 own_group() { return blockIdx.x / GROUP; }
__device__ inline u32 group_count() { return (gridDim.x + GROUP - 1) / GROUP; }
__device__ inline u32 blocks_of_group() { return min(GROUP, gridDim.x - own_group() * GROUP); }

// Sums over the grid, whose bits depend on its shape alone. Of every GROUP blocks the last one adds what
// they have put into `parts`, the last of these blocks adds their sums: it is told so, and its thread 0
// has the totals. `parts` has COUNT elements a block and COUNT a group, `arrived` one a group and one
// more, which are 0 before and after.
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

// Parts of a sum that are left to who reads them: those of all blocks, where these are no more.
const u32 MOST_PARTS = 4096;

// Leaves the sum over the grid to the kernels after this one, in a part a block, or where these would be
// too many in one a group, which its last block adds up. `parts` has an element a block and one a group,
// `arrived` one a group, which is 0 before and after.
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

// A sum that kernels before this one have left in so many parts.
struct Left {
    u32 count;
    const real* parts;
};

// Parts that a thread asks for before it waits for the first.
const u32 PARTS_IN_FLIGHT = 8;

// What they add up to, in all threads of a block; the same bits in all blocks of equally many threads.
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

// A kernel may be launched before the one before it has ended (programmatic dependent launch): what
// others write it reads and writes after this, which waits until they have ended.
__device__ inline void after_others() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The kernel after this one may be launched from now on: its blocks begin as those of this one end.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// An element of x, which a solver's kernels may not take as what nobody writes: the one before may still do.
template <bool OF_SOLVER>
__device__ inline real element(const real* x, u32 i) {
    return OF_SOLVER ? x[i] : __ldg(&x[i]);
}

// The numbers of conjugate gradients, which kernels hand to those after them.
const u32 NORM_B = 0, GOAL = 1, RZ = 2, BETA = 3, ALPHA = 4, NORM_R = 5, BROKEN = 6,
          RZ_BEFORE = 7;

// And the words: why it is over, 0 while it goes on; iterations done; ||r|| / ||b|| as a float's bits.
const u32 OVER = 0, DONE = 1, REACHED = 2;
const u32 CONVERGED = 1, SPENT = 2, BAD_PRODUCT = 3, NO_PRODUCT = 4, BAD_RESIDUAL = 5, BAD_SCALED = 6,
          NO_SCALED = 7, STOPPED = 8;

// What becomes of a sum that a product is multiplied for: there is none, its parts are left to kernels
// after it, or the whole of it is a GPU's share of one that several add up.
const u32 FOR_NOTHING = 0, FOR_PARTS = 1, FOR_SHARE = 2;

// The same of a kernel's own sum; a share is put into the first of the numbers.
__device__ inline void leave(u32 purpose, real sum, real* parts, u32* counts, real* numbers) {
    if (purpose == FOR_PARTS) return leave_sum(sum, parts, counts);
    real sums[1] = {sum};
    if (grid_sum(sums, parts, counts) && threadIdx.x == 0) numbers[0] = sums[0];
}

// What sweeps compute: an iteration in either mode, or z = M^-1 r from zero in either form. Those from
// zero go over the entries of each row that lie on one side of the diagonal: those of the elements that
// the sweep makes before the row's. The first one of the exact form keeps its sums, with which the
// second one begins; that of the other begins with the diagonal times what the first has made.
const u32 STANDARD = 0, SMOOTHER = 1, ZERO_EXACT = 2, ZERO_HALF = 3;

__device__ inline bool from_zero(u32 form) { return form >= ZERO_EXACT; }
__device__ inline bool keeps_sums(u32 form, u32 backward) { return form == ZERO_EXACT && !backward; }
__device__ inline bool begins_with_product(u32 form, u32 backward) {
    return form == ZERO_HALF && backward;
}

// Whether the element of column c is one that the sweep makes before that of the row.
__device__ inline bool made_before(u32 backward, u32 c, u32 row) {
    return backward ? c > row : c < row;
}

#if __CUDA_ARCH__ >= 700

// Loads and stores that other blocks of the same launch see.
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

// Values that are their own flags: a vector to be written is preset to bytes of ones, which are a
// NaN; a result that is NaN is stored as another NaN.
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

// Turns after which a wait is given up: seconds.
const u32 MOST_TURNS = 1u << 24;

// Whether a wait is to be given up after so many turns: it is told to all others, and to the host.
__device__ inline bool give_up(u32& turns, u32* stuck) {
    if (++turns % 4096 != 0) return false;
    if (turns >= MOST_TURNS) publish(stuck, 1);
    return peek(stuck) != 0;
}

#endif
