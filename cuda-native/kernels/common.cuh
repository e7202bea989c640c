// What every kernel shares: types chosen by the build options, the thread's place in the grid, and
// the sum over a warp.
//
// REAL         type of the values
// OFFSET_BITS  32 or 64: width of CSR's row offsets

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
