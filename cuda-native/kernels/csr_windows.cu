// cuda/csr/adaptive where rows are long: y = A x, A in CSR. A block takes a group of rows between two
// columns, a window, and keeps that part of x in shared memory. A piece is the nonzeros of a row in
// a window, or a part of them; a warp or half a warp adds up one piece at a time. The last block of
// a group adds the sums of the pieces of each of its rows.
//
// blocks[b].x, y, z first column, first piece and group of block b
// pieces[p].x, y    lower and upper half of piece p's first nonzero
// pieces[p].z, w    its length, and where its sum goes: row by row
// groups[2 g]       first row of group g; then its number of blocks
// part_ptr[i]       first sum of row i
//
// After the last block and the last group, `blocks` and `groups` have the number of pieces and of
// rows.

// Nonzeros of a lane in flight, and lanes that add up the sums of a row.
const u32 IN_FLIGHT = 4, LANES_OF_ROW = 8;

// Sum over this many adjacent lanes, in the first of them. All lanes of the warp must take part.
template <u32 LANES>
__device__ inline real sum_over(real sum)
{
    for (u32 distance = LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

template <u32 THREADS, u32 LANES>
__device__ inline void product_of_windows(
    u32 width, u32 cols, const u32* blocks, const u32* pieces, const u32* groups,
    const u32* part_ptr, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    extern __shared__ real window[];
    const uint4* const all = reinterpret_cast<const uint4*>(pieces);
    const uint4* const plan = reinterpret_cast<const uint4*>(blocks);
    const uint4 here = plan[blockIdx.x];
    const u32 first = here.x, end = plan[blockIdx.x + 1].y;
    const u32 lane = threadIdx.x % LANES, at_once = THREADS / LANES;
    const uint4 none = make_uint4(0, 0, 0, 0);
    u32 own = here.y + threadIdx.x / LANES;
    uint4 next = own < end ? all[own] : none;

    const u32 kept = min(width, cols - first);
#pragma unroll 4
    for (u32 k = threadIdx.x; k < kept; k += THREADS) window[k] = __ldg(&x[first + k]);
    __syncthreads();

    for (u32 done = here.y; done < end; done += at_once) {
        const uint4 piece = next;
        own += at_once;
        next = own < end ? all[own] : none;
        const u64 begin = piece.x | (u64)piece.y << 32;
        const u32* const columns = col + begin;
        const value* const values = val + begin;
        real sum = 0;
        for (u32 k = lane; k < piece.z; k += IN_FLIGHT * LANES) {
            // All loads of a lane are in flight before it waits for the first.
            u32 c[IN_FLIGHT];
            value v[IN_FLIGHT];
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++) {
                const bool is_in = k + i * LANES < piece.z;
                c[i] = is_in ? __ldcs(&columns[k + i * LANES]) : first;
                v[i] = is_in ? streamed(&values[k + i * LANES]) : value{};
            }
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; i++)
                if (k + i * LANES < piece.z) sum += v[i] * window[c[i] - first];
        }
        sum = sum_over<LANES>(sum);
        if (lane == 0 && piece.z > 0) part_sum[piece.w] = sum;
    }

    // The last block of the group to arrive adds all sums, always in the same order.
    const u32 group = here.z;
    __threadfence();
    __syncthreads();
    const bool last =
        threadIdx.x == 0 && atomicAdd(&arrived[group], 1) + 1 == groups[2 * group + 1];
    if (!__syncthreads_or(last)) return;
    __threadfence();
    const u32 row = groups[2 * group], rows = groups[2 * group + 2] - row;
    const u32 share = threadIdx.x % LANES_OF_ROW;
    for (u32 done = 0; done < rows; done += THREADS / LANES_OF_ROW) {
        const u32 r = done + threadIdx.x / LANES_OF_ROW;
        real sum = 0;
        if (r < rows)
            for (u32 k = part_ptr[row + r] + share; k < part_ptr[row + r + 1]; k += LANES_OF_ROW)
                sum += __ldcg(&part_sum[k]);
        sum = sum_over<LANES_OF_ROW>(sum);
        if (share == 0 && r < rows) put_row(y, row + r, sum);
    }
    if (threadIdx.x == 0) arrived[group] = 0;
}

extern "C" __global__ void __launch_bounds__(512, 2) csr_adaptive_windows_512x32(
    u32 width, u32 cols, const u32* blocks, const u32* pieces, const u32* groups,
    const u32* part_ptr, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    product_of_windows<512, 32>(
        width, cols, blocks, pieces, groups, part_ptr, col, val, x, y, part_sum, arrived);
}

extern "C" __global__ void __launch_bounds__(1024) csr_adaptive_windows_1024x16(
    u32 width, u32 cols, const u32* blocks, const u32* pieces, const u32* groups,
    const u32* part_ptr, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    product_of_windows<1024, 16>(
        width, cols, blocks, pieces, groups, part_ptr, col, val, x, y, part_sum, arrived);
}
