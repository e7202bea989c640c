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

// r = b, ||b|| and the residual to be reached.
extern "C" __global__ void pcg_begin(
    u32 n, u32 span, double tol, const real* b, real* r, real* parts, u32* counts, real* numbers)
{
    real sum[1] = {0};
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x) {
        r[i] = b[i];
        sum[0] += b[i] * b[i];
    }
    if (grid_sum(sum, parts, counts) && threadIdx.x == 0) {
        numbers[NORM_B] = sqrt(sum[0]);
        numbers[GOAL] = tol * sqrt(sum[0]);
    }
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

// r -= alpha q and ||r||; also r.z where K is applied here. Before the first iteration alpha is 1.
extern "C" __global__ void pcg_reduce(
    u32 n, u32 span, u32 is_first, u32 form, u32 most, const real* inverse, const real* q, real* r,
    real* parts, u32* counts, real* numbers, u32* words, real* told)
{
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    const real alpha = is_first ? 1 : numbers[ALPHA];
    real sums[2] = {0, 0};
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x) {
        const real left = r[i] - alpha * q[i];
        r[i] = left;
        sums[0] += left * left;
        if (form == DIAGONAL) sums[1] += inverse[i] * left * left;
    }
    if (!grid_sum(sums, parts, counts) || threadIdx.x != 0) return;
    conclude_residual(is_first, most, sums[0], numbers, words, told);
    if (form != ELSEWHERE && words[OVER] == 0)
        conclude(FOR_BETA, form == PLAIN ? sums[0] : sums[1], numbers, words, told);
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
