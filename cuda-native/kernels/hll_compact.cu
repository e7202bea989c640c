// cuda/hll/compact: y = A x, A in compact HLL with hacks of one warp, its slots in groups of four.
// One warp per hack, one lane per row. A lane loads the distances of four columns with one load, and
// four codes or values with another, or two for f64; the bases are the same for all lanes.
//
// group_ptr[h]  first group of hack h
// base          four per group: the column from which the distances of a line of slots count
// low           slot j of lane r of group g at 4 (32 g + r) + j; NO_SLOT where there is no nonzero
// high          where base[4 g] is NONE the group has 32-bit columns: low has their lower halves, and
//               group base[4 g + 1] of high the upper ones
// val, codes    as low; values may have fewer bits than x, y and sums

const u32 NO_SLOT = 0xffff;

// Columns of four slots; NONE where there is no nonzero.
__device__ inline uint4 columns_of(const uint4& base, const ushort4& low, const ushort4* high) {
    if (base.x == NONE) {
        const ushort4 upper = __ldcs(&high[(u64)base.y * WARP + threadIdx.x % WARP]);
        return make_uint4(
            low.x | (u32)upper.x << 16, low.y | (u32)upper.y << 16, low.z | (u32)upper.z << 16,
            low.w | (u32)upper.w << 16);
    }
    return make_uint4(
        low.x == NO_SLOT ? NONE : base.x + low.x, low.y == NO_SLOT ? NONE : base.y + low.y,
        low.z == NO_SLOT ? NONE : base.z + low.z, low.w == NO_SLOT ? NONE : base.w + low.w);
}

// What one load of four values of so many bytes each takes: up to 16 bytes.
template <u32 BYTES>
struct Piece { typedef uint4 Of; };
template <>
struct Piece<2> { typedef uint2 Of; };

// Four values of a lane, uncompressed.
struct Plain {
    const value* val;
    typedef Piece<sizeof(value)>::Of Loaded;
    struct alignas(sizeof(Loaded)) Four { value x, y, z, w; };
    // Groups that a lane loads before it asks for x. A second one takes registers, and with them warps.
    static const u32 AHEAD = 1;
    __device__ inline Four load(u64 group) const {
        const u64 place = group * WARP + threadIdx.x % WARP;
        const Loaded* from = reinterpret_cast<const Loaded*>(val + 4 * place);
        Four four;
#pragma unroll
        for (u32 k = 0; k < sizeof(Four) / sizeof(Loaded); k++)
            reinterpret_cast<Loaded*>(&four)[k] = __ldcs(&from[k]);
        return four;
    }
    __device__ inline real x(const Four& of) const { return of.x; }
    __device__ inline real y(const Four& of) const { return of.y; }
    __device__ inline real z(const Four& of) const { return of.z; }
    __device__ inline real w(const Four& of) const { return of.w; }
};

// The same as codes into a dictionary.
template <typename Codes>
struct Coded {
    const Codes* codes;
    const real* values;
    typedef Codes Four;
    static const u32 AHEAD = 2;
    __device__ inline Four load(u64 group) const {
        return __ldcs(&codes[group * WARP + threadIdx.x % WARP]);
    }
    __device__ inline real x(const Four& of) const { return values[of.x]; }
    __device__ inline real y(const Four& of) const { return values[of.y]; }
    __device__ inline real z(const Four& of) const { return values[of.z]; }
    __device__ inline real w(const Four& of) const { return values[of.w]; }
};

template <typename Values>
__device__ inline real sum_of_four(
    real sum, const uint4& c, const typename Values::Four& v, const Values& values, const real* x)
{
    if (c.x != NONE) sum += values.x(v) * __ldg(&x[c.x]);
    if (c.y != NONE) sum += values.y(v) * __ldg(&x[c.y]);
    if (c.z != NONE) sum += values.z(v) * __ldg(&x[c.z]);
    if (c.w != NONE) sum += values.w(v) * __ldg(&x[c.w]);
    return sum;
}

template <typename Values>
__device__ inline void product_of_hack(
    u32 in_hacks, u32 permuted, const u32* row_of, const u32* group_ptr, const u32* bases,
    const u16* lows, const u16* highs, const Values& values, const real* x, real* y)
{
    const uint4* base = reinterpret_cast<const uint4*>(bases);
    const ushort4* low = reinterpret_cast<const ushort4*>(lows);
    const ushort4* high = reinterpret_cast<const ushort4*>(highs);
    const u64 position = thread_in_grid();
    const u64 hack = position / WARP;
    if (hack * WARP >= in_hacks) return;
    const u32 lane = threadIdx.x % WARP, end = group_ptr[hack + 1];
    u32 group = group_ptr[hack];
    real sum = 0;
    const u32 AHEAD = Values::AHEAD;
    for (; group + AHEAD <= end; group += AHEAD) {
        uint4 columns[AHEAD];
        ushort4 lows_of[AHEAD];
        typename Values::Four v[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) {
            columns[k] = __ldg(&base[group + k]);
            lows_of[k] = __ldcs(&low[(u64)(group + k) * WARP + lane]);
            v[k] = values.load(group + k);
        }
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) columns[k] = columns_of(columns[k], lows_of[k], high);
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) sum = sum_of_four(sum, columns[k], v[k], values, x);
    }
    if (AHEAD > 1 && group < end) {
        const uint4 last = __ldg(&base[group]);
        const ushort4 low_1 = __ldcs(&low[(u64)group * WARP + lane]);
        const typename Values::Four v_1 = values.load(group);
        sum = sum_of_four(sum, columns_of(last, low_1, high), v_1, values, x);
    }
    if (position < in_hacks) put_row(y, permuted ? row_of[position] : position, sum);
}

extern "C" __global__ void hll_compact_plain(
    u32 in_hacks, u32 permuted, const u32* row_of, const u32* group_ptr, const u32* base,
    const u16* low, const u16* high, const value* val, const real* x, real* y)
{
    const Plain values = {val};
    product_of_hack(in_hacks, permuted, row_of, group_ptr, base, low, high, values, x, y);
}

// The dictionary lies in shared memory.
extern "C" __global__ void hll_compact_byte(
    u32 in_hacks, u32 permuted, const u32* row_of, const u32* group_ptr, const u32* base,
    const u16* low, const u16* high, const u8* codes, u32 distinct, const real* dictionary,
    const real* x, real* y)
{
    __shared__ real values_here[256];
    for (u32 k = threadIdx.x; k < distinct; k += blockDim.x) values_here[k] = dictionary[k];
    __syncthreads();
    const Coded<uchar4> values = {reinterpret_cast<const uchar4*>(codes), values_here};
    product_of_hack(in_hacks, permuted, row_of, group_ptr, base, low, high, values, x, y);
}

// The dictionary is too large for shared memory and is read through the caches.
extern "C" __global__ void hll_compact_short(
    u32 in_hacks, u32 permuted, const u32* row_of, const u32* group_ptr, const u32* base,
    const u16* low, const u16* high, const u16* codes, const real* dictionary, const real* x,
    real* y)
{
    const Coded<ushort4> values = {reinterpret_cast<const ushort4*>(codes), dictionary};
    product_of_hack(in_hacks, permuted, row_of, group_ptr, base, low, high, values, x, y);
}
