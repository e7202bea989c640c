// The plan of cuda/skyline/fast: thresholds of each dimension, champions, the points in an order in
// which none dominates an earlier one, and for each tile of 1024 of them the bits of those at or
// above each threshold.
//
// A coordinate's step is the number of thresholds of its dimension that it is not below. Steps
// follow the order of coordinates, so a point that dominates another has no smaller step in any
// dimension. The steps of four dimensions are the bytes of a word; each point uses `groups` words.

// Points per sample and per tile.
const u32 SAMPLE = 1024, TILE = 1024;

// Maximum thresholds per dimension, and maximum dimensions with steps.
const u32 MOST_STEPS = 64, MOST_USED = 32;

// Bins of scores, and of keys.
const u32 SCORES = 4096, KEYS = 65536;

// Samples the points in one dimension, one block of 512 each: quantiles as thresholds, how many of
// these differ, and the range.
extern "C" __global__ void __launch_bounds__(512) skyline_plan_sample(
    u32 points, u32 dimensions, u32 listed, u32 bits, const u32* list, const u32* count,
    const double* x, double* thresholds, u32* distinct, double* range)
{
    __shared__ double sample[SAMPLE];
    __shared__ u32 different;
    const u32 n = listed ? *count : points, taken = min(n, SAMPLE), k = blockIdx.x;
    const double inf = __longlong_as_double(0x7ff0000000000000ll);
    if (n == 0) return;
    for (u32 i = threadIdx.x; i < SAMPLE; i += blockDim.x) {
        const u32 at = (u32)((u64)i * n / taken);
        sample[i] = i < taken ? x[(u64)(listed ? list[at] : at) * dimensions + k] : inf;
    }
    if (threadIdx.x == 0) different = 0;
    __syncthreads();
    for (u32 size = 2; size <= SAMPLE; size *= 2)
        for (u32 distance = size / 2; distance > 0; distance /= 2) {
            const u32 i = 2 * threadIdx.x - (threadIdx.x & (distance - 1)), j = i + distance;
            const double a = sample[i], b = sample[j];
            if ((a > b) == ((i & size) == 0)) {
                sample[i] = b;
                sample[j] = a;
            }
            __syncthreads();
        }
    const u32 steps = 1u << bits;
    if (threadIdx.x + 1 < steps) {
        const u32 at = (threadIdx.x + 1) * taken / steps, before = threadIdx.x * taken / steps;
        thresholds[k * MOST_STEPS + threadIdx.x] = sample[at];
        if (sample[at] > sample[before]) atomicAdd(&different, 1);
    }
    // There is one threshold fewer than steps; its place is copied with the others.
    if (threadIdx.x + 1 == steps) thresholds[k * MOST_STEPS + threadIdx.x] = inf;
    __syncthreads();
    if (threadIdx.x == 0) {
        distinct[k] = different;
        range[2 * k] = sample[0];
        range[2 * k + 1] = sample[taken - 1];
    }
}

// Chooses the dimensions with the most distinct thresholds, the first ones on ties; one block.
extern "C" __global__ void __launch_bounds__(1024) skyline_plan_choose(
    u32 dimensions, const u32* distinct, u32* chosen)
{
    for (u32 k = threadIdx.x; k < dimensions; k += blockDim.x) {
        u32 before = 0;
        for (u32 j = 0; j < dimensions; j++)
            before += distinct[j] > distinct[k] || (distinct[j] == distinct[k] && j < k);
        if (before < MOST_USED) chosen[before] = k;
    }
}

// Position of a coordinate in the range of its dimension, up to twice as far; quartering each keeps
// the differences finite.
__device__ inline float place(double x, double low, double high) {
    const double most = 1.7976931348623157e308;
    x = fmin(fmax(x, -most), most);
    low = fmin(fmax(low, -most), most);
    high = fmin(fmax(high, -most), most);
    if (!(low < high)) return 0;
    const double at = (0.25 * x - 0.25 * low) / (0.25 * high - 0.25 * low);
    return (float)fmin(fmax(at, 0.0), 2.0);
}

// Each point's score, the sum of its positions in the chosen dimensions, and a histogram of scores.
extern "C" __global__ void __launch_bounds__(256) skyline_plan_score(
    u32 points, u32 dimensions, u32 used, const double* x, const u32* chosen, const double* range,
    u32* score, u32* scores)
{
    __shared__ u32 bins[SCORES];
    for (u32 i = threadIdx.x; i < SCORES; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (u64 i = thread_in_grid(); i < points; i += (u64)gridDim.x * blockDim.x) {
        float sum = 0;
        for (u32 j = 0; j < used; j++) {
            const u32 k = chosen[j];
            sum += place(x[i * dimensions + k], range[2 * k], range[2 * k + 1]);
        }
        const u32 bin = min((u32)(sum / (2 * used) * SCORES), SCORES - 1);
        score[i] = bin;
        atomicAdd(bins + bin, 1);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < SCORES; i += blockDim.x)
        if (bins[i]) atomicAdd(scores + i, bins[i]);
}

// The score of the last of the requested number of points, best first, and how many are better; one
// block.
extern "C" __global__ void __launch_bounds__(1024) skyline_plan_cut(
    u32 champions, const u32* scores, u32* cut)
{
    const u32 each = SCORES / 1024, last = SCORES - 1 - threadIdx.x * each;
    u32 own = 0, total;
    for (u32 j = 0; j < each; j++) own += scores[last - j];
    u32 before = before_in_block(own, total);
    for (u32 j = 0; j < each; j++) {
        const u32 here = scores[last - j];
        if (before < champions && before + here >= champions) {
            cut[0] = last - j;
            cut[1] = before;
        }
        before += here;
    }
}

// Reserves a place for each thread of the warp that takes one.
__device__ inline u32 take_place(bool takes, u32* tail) {
    const u32 taking = __ballot_sync(ALL_LANES, takes), lane = threadIdx.x % WARP;
    u32 first = 0;
    if (lane == 0 && taking) first = atomicAdd(tail, __popc(taking));
    return __shfl_sync(ALL_LANES, first, 0) + __popc(taking & ((1u << lane) - 1));
}

// Lists those points, and some of those with the last score.
extern "C" __global__ void skyline_plan_champions(
    u32 points, u32 champions, const u32* score, const u32* cut, u32* tails, u32* champion)
{
    const u64 i = thread_in_grid();
    const u32 last = cut[0], better = cut[1], own = i < points ? score[i] : 0;
    const bool above = i < points && own > last, level = i < points && own == last;
    const u32 at = take_place(above, tails);
    if (above) champion[at] = (u32)i;
    const u32 then = better + take_place(level, tails + 1);
    if (level && then < champions) champion[then] = (u32)i;
}

// Where the points of each key begin; one block.
extern "C" __global__ void __launch_bounds__(1024) skyline_plan_starts(const u32* keys, u32* starts) {
    const u32 each = KEYS / 1024 / 4;
    const uint4* own = (const uint4*)keys + threadIdx.x * each;
    uint4* out = (uint4*)starts + threadIdx.x * each;
    u32 sum = 0, total;
#pragma unroll 8
    for (u32 j = 0; j < each; j++) sum += own[j].x + own[j].y + own[j].z + own[j].w;
    u32 before = before_in_block(sum, total);
#pragma unroll 8
    for (u32 j = 0; j < each; j++) {
        const uint4 in = own[j];
        const uint4 start
            = make_uint4(before, before + in.x, before + in.x + in.y, before + in.x + in.y + in.z);
        out[j] = start;
        before = start.w + in.w;
    }
}

// Moves points, keys and steps to their places.
extern "C" __global__ void skyline_plan_order(
    u32 room, u32 groups, const u32* count, const u32* list, const u32* key, const u32* steps,
    u32* starts, u32* order, u32* key_out, u32* steps_out)
{
    const u64 i = thread_in_grid();
    const bool in = i < *count;
    const u32 own = in ? key[i] : NONE, lane = threadIdx.x % WARP;
    u32 at = 0;
    // Many points may share a key, so those of a warp with the key of its first lane are handled
    // together.
    const u32 first = __shfl_sync(ALL_LANES, own, 0);
    const u32 same = __ballot_sync(ALL_LANES, in && own == first);
    if (lane == 0 && same) at = atomicAdd(starts + first, __popc(same));
    at = __shfl_sync(ALL_LANES, at, 0) + __popc(same & ((1u << lane) - 1));
    if (!in) return;
    if (own != first) at = atomicAdd(starts + own, 1);
    order[at] = list[i];
    key_out[at] = own;
    for (u32 g = 0; g < groups; g++) steps_out[(u64)g * room + at] = steps[(u64)g * room + i];
}

// The bits of a tile, a block of 256 each: row d·2^bits + t has those of the points whose step in
// dimension d is at least t, and zeros for places after the last point. Also the greatest step of
// each dimension.
extern "C" __global__ void __launch_bounds__(256) skyline_plan_tiles(
    u32 room, u32 groups, u32 bits, u32 listed, const u32* count, const u32* steps, uint4* tiles,
    u32* boxes)
{
    __shared__ u32 greatest[8];
    const u32 n = listed ? *count : room, lane = threadIdx.x % WARP, column = threadIdx.x / WARP;
    if ((u64)blockIdx.x * TILE >= n) return;
    if (threadIdx.x < 8) greatest[threadIdx.x] = 0;
    __syncthreads();
    const u32 levels = 1u << bits;
    const u64 rows = (u64)4 * groups * levels;
    uint4* tile = tiles + blockIdx.x * rows * 8 + column;
    for (u32 g = 0; g < groups; g++) {
        u32 own[4], valid[4], most = 0;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u64 at = (u64)blockIdx.x * TILE + column * 128 + j * WARP + lane;
            own[j] = at < n ? steps[g * (u64)room + at] : 0;
            valid[j] = __ballot_sync(ALL_LANES, at < n);
            most = __vmaxu4(most, own[j]);
        }
        for (u32 d = 0; d < 4; d++)
            for (u32 first = 0; first < levels; first += WARP) {
                uint4 row = make_uint4(0, 0, 0, 0);
                for (u32 t = 0; t < min(levels, WARP); t++) {
                    u32 word[4];
#pragma unroll
                    for (u32 j = 0; j < 4; j++)
                        word[j] = valid[j]
                            & __ballot_sync(ALL_LANES, (own[j] >> 8 * d & 255) >= first + t);
                    if (lane == t) row = make_uint4(word[0], word[1], word[2], word[3]);
                }
                if (lane < min(levels, WARP))
                    tile[((4 * g + d) * levels + first + lane) * (u64)8] = row;
            }
        for (u32 distance = WARP / 2; distance > 0; distance /= 2)
            most = __vmaxu4(most, __shfl_xor_sync(ALL_LANES, most, distance));
        if (lane == 0)
            for (u32 seen = greatest[g], next; (next = __vmaxu4(seen, most)) != seen;) {
                const u32 found = atomicCAS(greatest + g, seen, next);
                seen = found == seen ? next : found;
            }
    }
    __syncthreads();
    if (threadIdx.x < groups) boxes[blockIdx.x * 8 + threadIdx.x] = greatest[threadIdx.x];
}

// Result for each survivor: it is kept if its representative is.
extern "C" __global__ void skyline_plan_keep(
    const u32* count, const u32* survivor, const u32* equal, const u8* dominated, u8* kept,
    u32* keeps)
{
    const u64 i = thread_in_grid();
    const bool in = i < *count;
    const bool keep = in && !dominated[equal[i]];
    if (keep) kept[survivor[i]] = 1;
    take_place(keep, keeps);
}
