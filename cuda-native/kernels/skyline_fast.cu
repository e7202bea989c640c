// cuda/skyline/fast: compares points with tiles of 1024 others, all at once as bits. A point's own
// steps (see skyline_plan.cu) select a row of the tile's bits in each dimension; the intersection
// of all of these rows is a superset of the points that dominate it, and is compared coordinate by
// coordinate.

// Points per tile; dimensions whose rows every point reads; bytes per row of bits.
const u32 TILE = 1024, SOON = 16, ROW = 128;

// Maximum threads per block.
const u32 BLOCK = 256;

// Maximum thresholds per dimension.
const u32 MOST_STEPS = 64;

// Bins of keys.
const u32 KEY_BITS = 16;

// Slots that are probed for an equal point.
const u32 PATIENCE = 64;

// Relation of a point to another: neither, better, or equal.
const u32 NEITHER = 0, BETTER = 1, EQUAL = 2;

// Relation of p to q. The dimension in which the last point fell short is tried first: many points
// that differ in one dimension are decided there at once.
__device__ inline u32 against(const double* p, const double* q, u32 dimensions, u32& short_of) {
    if (p[short_of] < q[short_of]) return NEITHER;
    bool larger = false;
    for (u32 k = 0; k < dimensions; k++) {
        if (p[k] < q[k]) {
            short_of = k;
            return NEITHER;
        }
        larger |= p[k] > q[k];
    }
    return larger ? BETTER : EQUAL;
}

// Loads the thresholds of the chosen dimensions into shared memory, side by side.
__device__ inline void bring_thresholds(
    double* here, u32 used, u32 bits, const u32* chosen, const double* thresholds)
{
    for (u32 i = threadIdx.x; i < used << bits; i += blockDim.x)
        here[i] = thresholds[chosen[i >> bits] * MOST_STEPS + (i & ((1u << bits) - 1))];
    __syncthreads();
}

// Number of thresholds that a coordinate is not below; 2^bits - 1 are given.
__device__ inline u32 step_of(double x, const double* thresholds, u32 bits) {
    u32 step = 0;
    for (u32 half = 1u << bits >> 1; half > 0; half /= 2)
        if (thresholds[step + half - 1] <= x) step += half;
    return step;
}

// The steps of a point in a group of four of the chosen dimensions.
__device__ inline u32 steps_of(
    const double* x, u32 group, u32 used, u32 bits, const u32* chosen, const double* thresholds)
{
    u32 steps = 0;
    for (u32 j = 0; j < 4; j++) {
        const u32 d = 4 * group + j;
        if (d < used) steps |= step_of(x[chosen[d]], thresholds + (d << bits), bits) << 8 * j;
    }
    return steps;
}

// Each listed point's steps, its key, and a histogram of keys. The key's bits are the first bits of
// the steps in all dimensions, then the second, and so on, inverted: no point dominates one of a
// smaller key.
extern "C" __global__ void __launch_bounds__(256) skyline_fast_steps(
    u32 room, u32 dimensions, u32 used, u32 groups, u32 bits, u32 listed, const u32* count,
    const u32* list, const double* x, const u32* chosen, const double* thresholds, u32* steps,
    u32* key, u32* keys)
{
    __shared__ double here[512];
    bring_thresholds(here, used, bits, chosen, thresholds);
    const u64 i = thread_in_grid();
    const bool in = i < (listed ? *count : room);
    u32 own[8] = {};
#pragma unroll
    for (u32 g = 0; g < 8; g++)
        if (g < groups && in) {
            own[g] = steps_of(x + (u64)list[i] * dimensions, g, used, bits, chosen, here);
            steps[(u64)g * room + i] = own[g];
        }
    if (!listed) return;
    u32 code = 0, taken = 0;
    for (u32 level = bits; level > 0; level--)
#pragma unroll
        for (u32 d = 0; d < 32; d++)
            if (d < used && taken < KEY_BITS) {
                code = 2 * code + (own[d / 4] >> (8 * (d % 4) + level - 1) & 1);
                taken++;
            }
    const u32 mine = in ? (1u << KEY_BITS) - 1 - (code << (KEY_BITS - taken)) : NONE;
    if (in) key[i] = mine;
    // Many points may share a key, so those of a warp with the key of its first lane are handled
    // together.
    const u32 first = __shfl_sync(ALL_LANES, mine, 0);
    const u32 same = __ballot_sync(ALL_LANES, in && mine == first);
    if (threadIdx.x % WARP == 0 && same) atomicAdd(keys + first, __popc(same));
    if (in && mine != first) atomicAdd(keys + mine, 1);
}

// A point that is compared: where the rows of its first steps are in a tile's bits, for the column
// that its thread starts with, its other steps, and the dimension in which the last point fell
// short of it.
struct Asked {
    u32 row[SOON];
    u32* later;
    u32 short_of;
};

// Byte offset of a row of bits.
__device__ inline u32 row_at(u32 d, u32 steps, u32 bits, u32 turn) {
    return ((d << bits) + (steps >> 8 * (d % 4) & 255)) * ROW + turn;
}

// Adds a group of steps.
__device__ inline void ask(Asked& asked, u32 g, u32 steps, u32 bits) {
    if (g >= SOON / 4) {
        asked.later[(g - SOON / 4) * BLOCK] = steps;
        return;
    }
#pragma unroll
    for (u32 d = 0; d < SOON; d++)
        if (d / 4 == g) asked.row[d] = row_at(d, steps, bits, threadIdx.x % 8 * 16);
}

__device__ inline uint4 row_of(const uint4* bits, u32 byte) {
    return *(const uint4*)((const char*)bits + byte);
}

__device__ inline void narrow(uint4& a, uint4 b) {
    a.x &= b.x;
    a.y &= b.y;
    a.z &= b.z;
    a.w &= b.w;
}

// Relation to q of the first point of the tile that is better, or equal where that is enough. Eight
// adjacent threads read eight different columns of 128 points, so that their rows always lie in
// different banks.
__device__ inline u32 found_in_tile(
    const uint4* tile, Asked& asked, bool or_equal, u32 bits, u32 groups, u32 q, u32 dimensions,
    const u32* members, const double* x)
{
    const u32 lane = threadIdx.x % 8;
    for (u32 s = 0; s < 8; s++) {
        uint4 a = make_uint4(~0u, ~0u, ~0u, ~0u);
#pragma unroll
        for (u32 g = 0; g < SOON / 4; g++)
            if (g < groups) {
#pragma unroll
                for (u32 j = 0; j < 4; j++) narrow(a, row_of(tile, asked.row[4 * g + j] ^ s * 16));
            }
        if (!(a.x | a.y | a.z | a.w)) continue;
        const u32 column = lane ^ s;
        for (u32 g = SOON / 4; g < groups; g++) {
            const u32 steps = asked.later[(g - SOON / 4) * BLOCK];
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                narrow(a, row_of(tile, row_at(4 * g + j, steps, bits, column * 16)));
        }
        u64 half = (u64)a.y << 32 | a.x;
        for (u32 first = column * 128, part = 0; part < 2; part++, first += 64) {
            while (half) {
                const u32 p = members[first + __ffsll((long long)half) - 1];
                half &= half - 1;
                if (p == q) continue;
                const double* other = x + (u64)p * dimensions;
                const u32 is = against(other, x + (u64)q * dimensions, dimensions, asked.short_of);
                if (is == BETTER || (or_equal && is == EQUAL)) return is;
            }
            half = (u64)a.w << 32 | a.z;
        }
    }
    return NEITHER;
}

__device__ inline void bring_tile(uint4* here, const uint4* tile, u32 rows) {
#pragma unroll 8
    for (u32 i = threadIdx.x; i < rows * 8; i += blockDim.x) here[i] = tile[i];
}

// Adds up the comparisons of a warp's threads.
__device__ inline void add_comparisons(u64 own, u64* comparisons) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        own += __shfl_down_sync(ALL_LANES, own, distance);
    if (threadIdx.x % WARP == 0 && own) atomicAdd(comparisons, own);
}

// Compares all points with the champions and lists the survivors. A point equal to a champion
// survives at once: equal points are merged later.
extern "C" __global__ void __launch_bounds__(256) skyline_fast_filter(
    u32 points, u32 dimensions, u32 used, u32 groups, u32 bits, u32 champions, const double* x,
    const u32* chosen, const double* thresholds, const u32* champion, const uint4* tiles,
    u32* survivor, u32* survivors, u64* comparisons)
{
    extern __shared__ uint4 tile[];
    __shared__ double here[512];
    __shared__ u32 later[4 * BLOCK], places[9];
    bring_thresholds(here, used, bits, chosen, thresholds);
    const u64 i = thread_in_grid();
    const u32 rows = 4 * groups << bits;
    bool alive = i < points, open = alive;
    u64 compared = 0;
    Asked asked;
    asked.later = later + threadIdx.x;
    asked.short_of = 0;
#pragma unroll
    for (u32 g = 0; g < 8; g++)
        if (g < groups) {
            const double* q = x + i * dimensions;
            ask(asked, g, alive ? steps_of(q, g, used, bits, chosen, here) : 0, bits);
        }
    for (u32 first = 0; first < champions; first += TILE) {
        if (!__syncthreads_or(open)) break;
        bring_tile(tile, tiles + (u64)(first / TILE) * rows * 8, rows);
        __syncthreads();
        if (!open) continue;
        compared += min(TILE, champions - first);
        const u32 found = found_in_tile(
            tile, asked, true, bits, groups, (u32)i, dimensions, champion + first, x);
        alive = found != BETTER;
        open = found == NEITHER;
    }
    // Reserves places for the block's survivors, warp by warp.
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u32 living = __ballot_sync(ALL_LANES, alive);
    if (lane == 0) places[warp] = __popc(living);
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 sum = 0;
        for (u32 w = 0; w < 8; w++) {
            const u32 own = places[w];
            places[w] = sum;
            sum += own;
        }
        places[8] = sum ? atomicAdd(survivors, sum) : 0;
    }
    __syncthreads();
    if (alive) survivor[places[8] + places[warp] + __popc(living & ((1u << lane) - 1))] = (u32)i;
    add_comparisons(compared, comparisons);
}

// The bits of a coordinate; -0 counts as +0.
__device__ inline u64 bits_of(double x) { return (u64)__double_as_longlong(x + 0.0); }

// Finds for each survivor a representative equal to it, the same for all equal points, and lists
// the representatives. A point that finds its slots full represents itself.
extern "C" __global__ void skyline_fast_equals(
    u32 dimensions, u32 used, u32 slots, const u32* chosen, const double* x, const u32* survivors,
    const u32* survivor, u32* slot, u32* equal, u32* single, u32* singles)
{
    const u64 i = thread_in_grid();
    const bool in = i < *survivors;
    bool first = in;
    u32 own = 0;
    if (in) {
        own = survivor[i];
        const double* q = x + (u64)own * dimensions;
        u64 hash = 0;
        for (u32 j = 0; j < used; j++) {
            hash = (hash ^ bits_of(q[chosen[j]])) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 29;
        }
        u32 at = (u32)(hash >> 16), same = own;
        for (u32 tries = 0; tries < PATIENCE; tries++, at++) {
            u32 found = slot[at & (slots - 1)];
            if (found == NONE) found = atomicCAS(slot + (at & (slots - 1)), NONE, own);
            if (found == NONE) break;
            const double* p = x + (u64)found * dimensions;
            u32 k = 0;
            while (k < dimensions && p[k] == q[k]) k++;
            if (k < dimensions) continue;
            same = found;
            first = false;
            break;
        }
        equal[i] = same;
    }
    const u32 lane = threadIdx.x % WARP, taking = __ballot_sync(ALL_LANES, first);
    u32 place = 0;
    if (lane == 0 && taking) place = atomicAdd(singles, __popc(taking));
    place = __shfl_sync(ALL_LANES, place, 0) + __popc(taking & ((1u << lane) - 1));
    if (first) single[place] = own;
}

// Whether no step of one box is below the other's.
__device__ inline bool reaches(const u32* greatest, const u32* least, u32 groups) {
    u32 g = 0;
    while (g < groups && __vcmpgeu4(greatest[g], least[g]) == ALL_LANES) g++;
    return g == groups;
}

// A block's work: tiles against the points of one block, in parts of `span` tiles. Two blocks of
// points share a column of parts, one from either end, so that all columns have the same length.
struct Parts {
    u32 blocks, tiles, span, pairs, length;
    u64 items;
    __device__ u32 tiles_of(u32 b) const {
        return min((b * blockDim.x + blockDim.x - 1) / TILE + 1, tiles);
    }
    __device__ u32 parts_of(u32 b) const { return (tiles_of(b) + span - 1) / span; }
    __device__ Parts(u32 n) {
        blocks = (n + blockDim.x - 1) / blockDim.x;
        tiles = (n + TILE - 1) / TILE;
        span = min(max((u32)((u64)blocks * tiles / (gridDim.x * 16)), 1u), WARP);
        pairs = (blocks + 1) / 2;
        length = n ? (tiles + 2) / span + 2 : 0;
        items = (u64)pairs * length;
    }
};

// cuda/skyline/fast: points in order against their own tile and those before it.
extern "C" __global__ void __launch_bounds__(256) skyline_fast(
    u32 room, u32 dimensions, u32 groups, u32 bits, const u32* count, const double* x,
    const u32* order, const u32* key, const u32* steps, const uint4* tiles, const u32* boxes,
    u8* dominated, u32* next, u64* comparisons)
{
    extern __shared__ uint4 tile[];
    __shared__ u32 wanted, upcoming, later[4 * BLOCK], least[BLOCK / WARP][8];
    const u32 n = *count, rows = 4 * groups << bits, lane = threadIdx.x % WARP;
    const Parts parts(n);
    u64 compared = 0;
    if (threadIdx.x == 0) upcoming = atomicAdd(next, 1);
    for (;;) {
        __syncthreads();
        const u64 item = upcoming;
        if (item >= parts.items) break;
        __syncthreads();
        if (threadIdx.x == 0) upcoming = atomicAdd(next, 1);
        const u32 pair = (u32)(item % parts.pairs);
        u32 part = (u32)(item / parts.pairs), block = parts.blocks - 1 - pair;
        if (part >= parts.parts_of(block)) {
            part -= parts.parts_of(block);
            if (pair == block || part >= parts.parts_of(pair)) continue;
            block = pair;
        }
        const u64 at = (u64)block * blockDim.x + threadIdx.x;
        const u32 q = at < n ? order[at] : NONE;
        bool alive = at < n && !((volatile u8*)dominated)[q];
        const bool asks = alive;
        if (!__syncthreads_or(alive)) continue;
        Asked asked;
        asked.later = later + threadIdx.x;
        asked.short_of = 0;
#pragma unroll
        for (u32 g = 0; g < 8; g++)
            if (g < groups) {
                const u32 own = at < n ? steps[(u64)g * room + at] : 0;
                ask(asked, g, own, bits);
                u32 of_warp = alive ? own : ALL_LANES;
                for (u32 distance = WARP / 2; distance > 0; distance /= 2)
                    of_warp = __vminu4(of_warp, __shfl_xor_sync(ALL_LANES, of_warp, distance));
                if (lane == 0) least[threadIdx.x / WARP][g] = of_warp;
            }
        __syncwarp();
        // Tiles that start with a key greater than the block's greatest hold no dominators.
        const u32 last_key = key[min((block + 1) * blockDim.x, n) - 1];
        const bool last_part = part + 1 == parts.parts_of(block);
        const u32 begin = part * parts.span;
        const u32 end = last_part ? parts.tiles : min(begin + parts.span, parts.tiles);
        for (u32 base = begin; base < end && key[base * TILE] <= last_key; base += WARP) {
            const u32 t = base + lane;
            const bool wants = t < end && key[t * TILE] <= last_key
                && reaches(boxes + t * 8, least[threadIdx.x / WARP], groups);
            const u32 mine = __any_sync(ALL_LANES, alive) ? __ballot_sync(ALL_LANES, wants) : 0;
            if (threadIdx.x == 0) wanted = 0;
            __syncthreads();
            if (lane == 0 && mine) atomicOr(&wanted, mine);
            __syncthreads();
            for (u32 left = wanted; left; left &= left - 1) {
                const u32 bit = __ffs(left) - 1, number = base + bit;
                bring_tile(tile, tiles + (u64)number * rows * 8, rows);
                __syncthreads();
                if (alive && (mine >> bit & 1)) {
                    compared += min(TILE, n - number * TILE);
                    alive = found_in_tile(tile, asked, false, bits, groups, q, dimensions,
                                order + number * TILE, x)
                        != BETTER;
                }
                __syncthreads();
            }
        }
        if (asks && !alive) dominated[q] = 1;
    }
    add_comparisons(compared, comparisons);
}
