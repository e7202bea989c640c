// cuda/symgs/nodes: the iteration of the serial loops with reassociated sums. A node is up to NODE
// consecutive rows with the same columns. The elements that a half sweep finds are subtracted first,
// for all rows at once; then each node waits only for the elements that are made before its own.

// Maximum rows of a node.
const u32 NODE = 8;

// rhs minus the product of A's strict upper triangle (backward: lower) with `old`: eight lanes per row.
extern "C" __global__ void symgs_nodes_rest(
    u32 rows, u32 backward, const offset* row_ptr, const u32* col, const real* val, const real* rhs,
    const real* old, real* sums)
{
    const u32 G = 8, lane = threadIdx.x % G;
    const u64 row = thread_in_grid() / G;
    real sum = 0;
    if (row < rows)
        for (u64 k = row_ptr[row] + (u64)lane; k < row_ptr[row + 1]; k += G) {
            const u32 c = __ldcs(col + k);
            if (made_before(!backward, c, (u32)row)) sum += __ldcs(val + k) * old[c];
        }
    for (u32 distance = G / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    if (row < rows && lane == 0) sums[row] = rhs[row] - sum;
}

// One warp per node, in `order`, any in which no node precedes one that it waits for; backward from
// its end. Blocks take tickets, so that what a node waits for is always in a block that has started.
// The lanes take the columns of all rows at once, then each row of the node is solved by a lane.
extern "C" __global__ void __launch_bounds__(128) symgs_nodes(
    u32 nodes, const u32* node_ptr, const u32* order, u32 backward, const offset* row_ptr,
    const u32* col, const real* val, const real* sums, real* out, u32* ticket, u32* stuck)
{
    __shared__ real inside[128 / WARP][NODE][NODE];
    __shared__ u32 block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u64 t = (u64)block * (blockDim.x / WARP) + warp;
    if (t >= nodes) return;
    const u32 node = order[backward ? nodes - 1 - (u32)t : (u32)t];
    const u32 first = node_ptr[node], size = node_ptr[node + 1] - first;
    const u64 begin = row_ptr[first];
    const u32 length = (u32)(row_ptr[first + 1] - begin);
    for (u32 i = lane; i < NODE * NODE; i += WARP) inside[warp][i / NODE][i % NODE] = 0;
    __syncwarp();

    real sum = lane < size ? sums[first + lane] : 0, part[NODE];
#pragma unroll
    for (u32 r = 0; r < NODE; r++) part[r] = 0;
    u32 turns = 0;
    bool gone = false;
    for (u32 k = lane; k < length && !gone; k += WARP) {
        const u32 c = __ldcs(col + begin + k);
        real a[NODE];
#pragma unroll
        for (u32 r = 0; r < NODE; r++)
            a[r] = r < size ? __ldcs(val + begin + (u64)r * length + k) : 0;
        if (c - first < size) {
#pragma unroll
            for (u32 r = 0; r < NODE; r++) inside[warp][r][c - first] = a[r];
        } else if (made_before(backward, c, first)) {
            real v = peek(out + c);
            while (unset(v) && !gone) {
                gone = give_up(turns, stuck);
                v = peek(out + c);
            }
#pragma unroll
            for (u32 r = 0; r < NODE; r++) part[r] += a[r] * v;
        }
    }
    if (__any_sync(ALL_LANES, gone)) return;
    __syncwarp();
#pragma unroll
    for (u32 r = 0; r < NODE; r++) {
        if (r >= size) break;
        for (u32 distance = WARP / 2; distance > 0; distance /= 2)
            part[r] += __shfl_xor_sync(ALL_LANES, part[r], distance);
        if (lane == r) sum -= part[r];
    }
    for (u32 step = 0; step < size; step++) {
        const u32 k = backward ? size - 1 - step : step;
        const real x = __shfl_sync(ALL_LANES, lane == k ? sum / inside[warp][k][k] : 0, k);
        if (lane == k) publish(out + first + k, x);
        if (lane < size && made_before(backward, k, lane)) sum -= inside[warp][lane][k] * x;
    }
}
