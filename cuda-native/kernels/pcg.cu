// cuda/pcg/device: the vectors and scalars of conjugate gradients. Each block takes `span` elements. Once a
// solve is over its kernels return at once, so that iterations can be asked for ahead. x lags behind by
// one iteration: what that adds to it is added as the next one reads p anyway, or at the end.

// What is applied to the residual here: nothing, the reciprocals of the diagonal, or, elsewhere, K^-1.
const u32 PLAIN = 0, DIAGONAL = 1, ELSEWHERE = 2;

// z = K^-1 r at an element, as far as it is applied here.
__device__ inline real scaled(u32 form, const real* inverse, const real* z, u64 i) {
    return form == DIAGONAL ? inverse[i] * z[i] : z[i];
}

// Elements of this block: from the first on, before the end.
__device__ inline u64 first_of_block(u32 span) { return (u64)blockIdx.x * span + threadIdx.x; }
__device__ inline u64 end_of_block(u32 n, u32 span) {
    return min((u64)n, ((u64)blockIdx.x + 1) * span);
}

// r = b; answers whether this block's first thread has b.b.
__device__ inline bool begin(
    u32 n, u32 span, const real* b, real* r, real* parts, u32* counts, real (&sum)[1])
{
    sum[0] = 0;
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x) {
        r[i] = b[i];
        sum[0] += b[i] * b[i];
    }
    return grid_sum(sum, parts, counts) && threadIdx.x == 0;
}

// ||b|| and the residual to be reached.
__device__ inline void conclude_begin(double tol, real square, real* numbers) {
    numbers[NORM_B] = sqrt(square);
    numbers[GOAL] = tol * sqrt(square);
}

// r = b, ||b|| and the residual to be reached.
extern "C" __global__ void pcg_begin(
    u32 n, u32 span, double tol, const real* b, real* r, real* parts, u32* counts, real* numbers)
{
    real sum[1];
    if (begin(n, span, b, r, parts, counts, sum)) conclude_begin(tol, sum[0], numbers);
}

// What follows from ||r||, of an iteration or before the first.
__device__ inline void conclude_residual(
    bool is_first, u32 most, real square, real* numbers, u32* words, real* told)
{
    const real norm = sqrt(square), norm_b = numbers[NORM_B];
    const real relative = norm_b == 0 ? 0 : norm / norm_b;
    const u32 done = is_first ? 0 : words[DONE] + 1;
    words[DONE] = done;
    words[REACHED] = __float_as_uint((float)relative);
    numbers[NORM_R] = norm;
    told[3 * (u64)done] = relative;
    if (!(relative <= REAL_MAX)) {
        numbers[BROKEN] = relative;
        words[OVER] = BAD_RESIDUAL;
    } else if (norm <= numbers[GOAL] || norm_b == 0) {
        words[OVER] = CONVERGED;
    } else if (done == most) {
        words[OVER] = SPENT;
    }
}

// r -= alpha q; answers whether this block's first thread has r.r, and r.z where K is applied here. Before
// the first iteration alpha is 1.
__device__ inline bool reduce(
    u32 n, u32 span, u32 is_first, u32 form, const real* inverse, const real* q, real* r, real* parts,
    u32* counts, const real* numbers, real (&sums)[2])
{
    const real alpha = is_first ? 1 : numbers[ALPHA];
    sums[0] = sums[1] = 0;
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x) {
        const real left = r[i] - alpha * q[i];
        r[i] = left;
        sums[0] += left * left;
        if (form == DIAGONAL) sums[1] += inverse[i] * left * left;
    }
    return grid_sum(sums, parts, counts) && threadIdx.x == 0;
}

// What follows from r.r and, where K is applied here, from r.z.
__device__ inline void conclude_reduce(
    bool is_first, u32 form, u32 most, const real* sums, real* numbers, u32* words, real* told)
{
    conclude_residual(is_first, most, sums[0], numbers, words, told);
    if (form != ELSEWHERE && words[OVER] == 0)
        conclude(FOR_BETA, form == PLAIN ? sums[0] : sums[1], numbers, words, told);
}

// r -= alpha q and ||r||; also r.z where K is applied here.
extern "C" __global__ void pcg_reduce(
    u32 n, u32 span, u32 is_first, u32 form, u32 most, const real* inverse, const real* q, real* r,
    real* parts, u32* counts, real* numbers, u32* words, real* told)
{
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    real sums[2];
    if (reduce(n, span, is_first, form, inverse, q, r, parts, counts, numbers, sums))
        conclude_reduce(is_first, form, most, sums, numbers, words, told);
}

// x += alpha p, p = z + beta p.
extern "C" __global__ void pcg_advance(
    u32 n, u32 span, u32 form, const real* inverse, const real* z, real* x, real* p,
    const real* numbers, const u32* words)
{
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    const real alpha = numbers[ALPHA], beta = numbers[BETA];
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x) {
        const real before = p[i];
        x[i] += alpha * before;
        p[i] = scaled(form, inverse, z, i) + beta * before;
    }
}

// a.b, for alpha or beta.
extern "C" __global__ void pcg_dot(
    u32 n, u32 span, u32 purpose, const real* a, const real* b, real* parts, u32* counts,
    real* numbers, u32* words, real* told)
{
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    real sum[1] = {0};
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x)
        sum[0] += a[i] * b[i];
    if (grid_sum(sum, parts, counts) && threadIdx.x == 0)
        conclude(purpose, sum[0], numbers, words, told);
}

// What x still lacks, or x = 0 where b is.
extern "C" __global__ void pcg_finish(
    u32 n, u32 span, const real* p, real* x, const real* numbers)
{
    const bool is_zero = numbers[NORM_B] == 0;
    const real alpha = numbers[ALPHA];
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x)
        x[i] = is_zero ? 0 : x[i] + alpha * p[i];
}

// z = K^-1 r by the reciprocals of the diagonal, for the vendor's solver.
extern "C" __global__ void pcg_scale(u32 n, u32 span, const real* inverse, const real* r, real* z) {
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x)
        z[i] = inverse[i] * r[i];
}

// nccl/pcg/halo-overlap: the same on several GPUs. Each has a share of every sum: of p.q two, that of rows
// without halo and that of the others, then of r.r and of r.z. Between the kernels that give shares and the
// one that concludes, NCCL makes totals of them, the same bits on every GPU.
const u32 SHARE_PQ = 0, SHARE_RR = 2, SHARE_RZ = 3;
const u32 AT_BEGIN = 0, AT_PRODUCT = 1, AT_FIRST_RESIDUAL = 2, AT_RESIDUAL = 3;

// r = b and this GPU's share of b.b.
extern "C" __global__ void pcg_share_begin(
    u32 n, u32 span, const real* b, real* r, real* parts, u32* counts, real* shares)
{
    real sum[1];
    if (begin(n, span, b, r, parts, counts, sum)) shares[SHARE_RR] = sum[0];
}

// r -= alpha q and this GPU's shares of r.r and r.z.
extern "C" __global__ void pcg_share_reduce(
    u32 n, u32 span, u32 is_first, u32 form, const real* inverse, const real* q, real* r, real* parts,
    u32* counts, const real* numbers, const u32* words, real* shares)
{
    if (words[OVER] != 0) return;
    real sums[2];
    if (!reduce(n, span, is_first, form, inverse, q, r, parts, counts, numbers, sums)) return;
    shares[SHARE_RR] = sums[0];
    shares[SHARE_RZ] = sums[1];
}

// What follows from totals, on every GPU alike. One thread.
extern "C" __global__ void pcg_conclude(
    u32 at, u32 form, u32 most, double tol, const real* totals, real* numbers, u32* words, real* told)
{
    if (at == AT_BEGIN) return conclude_begin(tol, totals[SHARE_RR], numbers);
    if (words[OVER] != 0) return;
    if (at == AT_PRODUCT)
        return conclude(FOR_ALPHA, totals[SHARE_PQ] + totals[SHARE_PQ + 1], numbers, words, told);
    conclude_reduce(at == AT_FIRST_RESIDUAL, form, most, totals + SHARE_RR, numbers, words, told);
}
