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

// cuda/csr/adaptive where A is rectangular and rows near each other have nonzeros in nearby columns. A
// block takes a band of rows and keeps their part of x in shared memory: up to two ranges of columns. A
// warp takes a tile of whole rows at a time. Rows longer than a tile are apart, in parts shared by all
// blocks; the last part to arrive adds their sums in order.
//
// bands[8 b]       first column and length of both ranges; then first tile and end, first part and end
// tiles[4 t]       first nonzero, nonzeros, first row and rows of tile t
// parts[8 p]       first nonzero, nonzeros and row of part p; first part of that row, and their number
// near[k]          place of nonzero k's element of x among those that its block keeps
// ends[i]          end of row i in its tile

// Copies `count` elements, at addresses that are multiples of 16 bytes. They are there after
// `after_kept` and a barrier.
__device__ inline void keep(real* to, const real* from, u32 count)
{
    u32 done = 0;
#if __CUDA_ARCH__ >= 800
    const u32 each = 16 / sizeof(real);
    for (u32 k = threadIdx.x; k < count / each; k += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
            "r"((u32)__cvta_generic_to_shared(to + k * each)), "l"(from + k * each) : "memory");
    done = count / each * each;
#endif
    for (u32 k = done + threadIdx.x; k < count; k += blockDim.x) to[k] = __ldg(&from[k]);
}
__device__ inline void after_kept()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// A lane's share of up to 32 ITEMS nonzeros; all loads are in flight before it waits for the first.
template <u32 ITEMS, typename COLUMN>
__device__ inline void load_share(
    u32 first, u32 entries, const COLUMN* columns, const value* val, u32 (&c)[ITEMS],
    value (&v)[ITEMS])
{
#pragma unroll
    for (u32 i = 0; i < ITEMS; i++) {
        const u32 k = i * WARP + threadIdx.x % WARP;
        c[i] = k < entries ? __ldcs(&columns[first + k]) : 0;
        v[i] = k < entries ? streamed(&val[first + k]) : value{};
    }
}

template <u32 THREADS, u32 ITEMS>
__device__ inline void product_of_band(
    u32 width, const u32* bands, const u32* tiles, const u32* parts, const u16* near,
    const u16* ends, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    extern __shared__ __align__(16) real kept[];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = THREADS / WARP;
    real* const products = kept + width + warp * WARP * ITEMS;
    const uint4* const band = reinterpret_cast<const uint4*>(bands) + 2 * blockIdx.x;
    const uint4* const all = reinterpret_cast<const uint4*>(tiles);
    const uint4 columns = band[0], share = band[1];
    const uint4 none = make_uint4(0, 0, 0, 0);
    keep(kept, x + columns.x, columns.y);
    keep(kept + columns.y, x + columns.z, columns.w);
    u32 c[ITEMS];
    value v[ITEMS];

    u32 t = share.x + warp;
    uint4 next = t < share.y ? all[t] : none;
    load_share<ITEMS>(next.x, next.y, near, val, c, v);
    after_kept();
    __syncthreads();
    while (t < share.y) {
        const uint4 tile = next;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (i * WARP + lane < tile.y) products[i * WARP + lane] = v[i] * kept[c[i]];
        t += warps;
        next = t < share.y ? all[t] : none;

        // As many lanes per row as there are lanes for.
        u32 log_lanes = 0;
        while (log_lanes < 5 && tile.w << (log_lanes + 1) <= WARP) log_lanes++;
        const u32 in_row = lane & ((1 << log_lanes) - 1), at_once = WARP >> log_lanes;
        u32 r = lane >> log_lanes, from = 0, to = 0;
        if (r < tile.w) {
            from = r > 0 ? ends[tile.z + r - 1] : 0;
            to = ends[tile.z + r];
        }
        load_share<ITEMS>(next.x, next.y, near, val, c, v);
        __syncwarp();
        for (u32 done = 0; done < tile.w; done += at_once) {
            real sum = 0;
            for (u32 k = from + in_row; k < to; k += 1 << log_lanes) sum += products[k];
            for (u32 distance = 1 << log_lanes >> 1; distance > 0; distance >>= 1)
                sum += __shfl_down_sync(ALL_LANES, sum, distance);
            if (in_row == 0 && r < tile.w) put_row(y, tile.z + r, sum);
            r += at_once;
            from = to = 0;
            if (r < tile.w) {
                from = ends[tile.z + r - 1];
                to = ends[tile.z + r];
            }
        }
        __syncwarp();
    }

    for (u32 p = share.z + warp; p < share.w; p += warps) {
        const uint4 part = reinterpret_cast<const uint4*>(parts)[2 * p];
        const u32 count = parts[8 * p + 4];
        load_share<ITEMS>(part.x, part.y, col, val, c, v);
        real sum = 0;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++)
            if (i * WARP + lane < part.y) sum += v[i] * __ldg(&x[c[i]]);
        sum = warp_sum(sum);
        u32 before_this = 0;
        if (lane == 0) {
            part_sum[p] = sum;
            __threadfence();
            before_this = atomicAdd(&arrived[part.w], 1);
        }
        if (__shfl_sync(ALL_LANES, before_this, 0) + 1 != count) continue;
        __threadfence();
        sum = 0;
        for (u32 k = lane; k < count; k += WARP) sum += __ldcg(&part_sum[part.w + k]);
        sum = warp_sum(sum);
        if (lane == 0) {
            put_row(y, part.z, sum);
            arrived[part.w] = 0;
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024) csr_adaptive_bands_1024x4(
    u32 width, const u32* bands, const u32* tiles, const u32* parts, const u16* near,
    const u16* ends, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    product_of_band<1024, 4>(
        width, bands, tiles, parts, near, ends, col, val, x, y, part_sum, arrived);
}

extern "C" __global__ void __launch_bounds__(1024) csr_adaptive_bands_1024x8(
    u32 width, const u32* bands, const u32* tiles, const u32* parts, const u16* near,
    const u16* ends, const u32* col, const value* val, const real* x, real* y, real* part_sum,
    u32* arrived)
{
    product_of_band<1024, 8>(
        width, bands, tiles, parts, near, ends, col, val, x, y, part_sum, arrived);
}
