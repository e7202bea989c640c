// cuda/pcg/device: the vectors and scalars of conjugate gradients. Each block takes `span`
// elements. Sums are left in parts, one per block, and all blocks of the kernel that needs a sum
// add up its parts, so that no block waits for others: pcg_reduce adds alpha's, pcg_advance beta's
// and the one that decides whether the solve is over. Once it is, its kernels return at once, so
// that iterations can be enqueued ahead. x lags one iteration behind: its update is added when p is
// read anyway, or at the end.

// The preconditioner applied to the residual here: none, the reciprocals of the diagonal, or,
// elsewhere, K^-1.
const u32 PLAIN = 0, DIAGONAL = 1, ELSEWHERE = 2;

// Elements of this block: first and end.
__device__ inline u64 first_of_block(u32 span) { return (u64)blockIdx.x * span + threadIdx.x; }
__device__ inline u64 end_of_block(u32 n, u32 span) {
    return min((u64)n, ((u64)blockIdx.x + 1) * span);
}

// r = b; returns whether this block's first thread has b.b.
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

// ||b|| and the residual to reach.
__device__ inline void conclude_begin(double tol, real square, real* numbers) {
    numbers[NORM_B] = sqrt(square);
    numbers[GOAL] = tol * sqrt(square);
}

// r = b, ||b|| and the residual to reach.
extern "C" __global__ void pcg_begin(
    u32 n, u32 span, double tol, const real* b, real* r, real* parts, u32* counts, real* numbers)
{
    real sum[1];
    if (begin(n, span, b, r, parts, counts, sum)) conclude_begin(tol, sum[0], numbers);
}

// Why a solve cannot continue with a sum that is not finite, or not positive; 0 where it can.
__device__ inline u32 broken_by(real sum, u32 bad, u32 none) {
    return !(fabs(sum) <= REAL_MAX) ? bad : sum <= 0 ? none : 0;
}

// The state of a solve left by earlier kernels, loaded at once.
struct Known {
    real norm_b, goal, rz, rz_before, alpha, beta;
    u32 over, done;

    __device__ Known(const real* numbers, const u32* words)
        : norm_b(numbers[NORM_B]), goal(numbers[GOAL]), rz(numbers[RZ]), rz_before(numbers[RZ_BEFORE]),
          alpha(numbers[ALPHA]), beta(numbers[BETA]), over(words[OVER]), done(words[DONE]) {}
};

// What follows from p.q in iteration `done`, for which `told` has three elements: the previous
// ||r||, its alpha, and the beta that led to it.
struct Step {
    real pq, alpha;
    u32 over;

    __device__ Step(real pq, const Known& known)
        : pq(pq), alpha(known.rz / pq), over(broken_by(pq, BAD_PRODUCT, NO_PRODUCT)) {}

    // One thread.
    __device__ void conclude(const Known& known, real* numbers, u32* words, real* told) const {
        numbers[ALPHA] = over == 0 ? alpha : 0;
        if (over != 0) {
            words[OVER] = over;
            numbers[BROKEN] = pq;
            return;
        }
        numbers[RZ_BEFORE] = known.rz;
        told[3 * (u64)known.done + 1] = alpha;
        words[DONE] = known.done + 1;
    }
};

// The progress of a solve by r.r and r.z after completed iterations, or before the first.
struct Standing {
    real rz, norm, relative, beta;
    u32 over;

    __device__ Standing(real square, real rz, u32 most, const Known& known)
        : rz(rz), norm(sqrt(square)), relative(known.norm_b == 0 ? 0 : norm / known.norm_b),
          beta(known.rz_before == 0 ? 0 : rz / known.rz_before)
    {
        if (!(relative <= REAL_MAX)) over = BAD_RESIDUAL;
        else if (norm <= known.goal || known.norm_b == 0) over = CONVERGED;
        else if (known.done == most) over = SPENT;
        else over = broken_by(rz, BAD_SCALED, NO_SCALED);
    }

    // One thread.
    __device__ void conclude(const Known& known, real* numbers, u32* words, real* told) const {
        words[REACHED] = __float_as_uint((float)relative);
        words[OVER] = over;
        numbers[NORM_R] = norm;
        told[3 * (u64)known.done] = relative;
        if (over == 0) {
            numbers[RZ] = rz;
            numbers[BETA] = beta;
            told[3 * (u64)known.done + 2] = beta;
        } else {
            numbers[BROKEN] = over == BAD_RESIDUAL ? relative : rz;
        }
    }
};

// Elements of each vector that a thread loads at once.
const u32 AT_ONCE = 2;

// Some elements of this thread, from the i-th on, one block's threads apart.
struct Some {
    real of[AT_ONCE];

    __device__ void load(const real* from, u64 i, u64 end) {
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++, i += blockDim.x) of[k] = i < end ? from[i] : 0;
    }
};

// r -= alpha q; this thread's shares of r.r and, where K is a diagonal, of r.z. The first elements
// are already loaded.
__device__ inline void reduce(
    u32 n, u32 span, u32 form, const real* inverse, real alpha, const real* q, real* r, Some of_q,
    Some of_r, real (&sums)[2])
{
    const u64 end = end_of_block(n, span);
    sums[0] = sums[1] = 0;
    for (u64 first = first_of_block(span); first < end;) {
        u64 i = first;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++, i += blockDim.x) {
            if (i >= end) break;
            const real left = of_r.of[k] - alpha * of_q.of[k];
            r[i] = left;
            sums[0] += left * left;
            if (form == DIAGONAL) sums[1] += inverse[i] * left * left;
        }
        first += AT_ONCE * blockDim.x;
        of_q.load(q, first, end);
        of_r.load(r, first, end);
    }
}

// alpha from p.q, and r -= alpha q; leaves parts of r.r and, where K is a diagonal, of r.z. Before
// the first iteration alpha is 1.
extern "C" __global__ void pcg_reduce(
    u32 n, u32 span, u32 is_first, u32 form, const real* inverse, const real* q, real* r,
    u32 product_parts, const real* product, real* residual, u32* residual_counts, real* scaled,
    u32* scaled_counts, real* numbers, u32* words, real* told)
{
    after_others();
    let_next_begin();
    const Known known(numbers, words);
    const u64 first = first_of_block(span), end = end_of_block(n, span);
    Some of_q, of_r;
    of_q.load(q, first, end);
    of_r.load(r, first, end);
    real alpha = 1;
    if (!is_first) {
        const Left left[1] = {{product_parts, product}};
        real pq[1];
        add_up(left, pq);
        if (known.over != 0) return;
        const Step step(pq[0], known);
        if (blockIdx.x == 0 && threadIdx.x == 0) step.conclude(known, numbers, words, told);
        if (step.over != 0) return;
        alpha = step.alpha;
    }
    real sums[2];
    reduce(n, span, form, inverse, alpha, q, r, of_q, of_r, sums);
    leave_sum(sums[0], residual, residual_counts);
    if (form == DIAGONAL) leave_sum(sums[1], scaled, scaled_counts);
}

// ||r||, and beta from r.z, where their parts are given; then, unless the solve is over, x += alpha
// p and p = z + beta p.
extern "C" __global__ void pcg_advance(
    u32 n, u32 span, u32 form, u32 most, const real* inverse, const real* z, real* x, real* p,
    u32 residual_parts, const real* residual, u32 scaled_parts, const real* scaled, real* numbers,
    u32* words, real* told)
{
    after_others();
    let_next_begin();
    const Known known(numbers, words);
    const u64 end = end_of_block(n, span);
    u64 first = first_of_block(span);
    Some of_x, of_p, of_z;
    const auto load = [&] {
        of_x.load(x, first, end);
        of_p.load(p, first, end);
        of_z.load(z, first, end);
    };
    load();
    real beta = known.beta;
    if (residual_parts != 0) {
        const Left left[2] = {{residual_parts, residual}, {scaled_parts, scaled}};
        real sums[2];
        add_up(left, sums);
        if (known.over != 0) return;
        const Standing standing(sums[0], sums[1], most, known);
        if (blockIdx.x == 0 && threadIdx.x == 0) standing.conclude(known, numbers, words, told);
        if (standing.over != 0) return;
        beta = standing.beta;
    } else if (known.over != 0) {
        return;
    }
    while (first < end) {
        u64 i = first;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++, i += blockDim.x) {
            if (i >= end) break;
            x[i] = of_x.of[k] + known.alpha * of_p.of[k];
            p[i] = (form == DIAGONAL ? inverse[i] * of_z.of[k] : of_z.of[k]) + beta * of_p.of[k];
        }
        first += AT_ONCE * blockDim.x;
        load();
    }
}

// a.b, in parts or as a share.
extern "C" __global__ void pcg_dot(
    u32 n, u32 span, u32 purpose, const real* a, const real* b, real* parts, u32* counts,
    real* numbers, const u32* words)
{
    after_others();
    if (words[OVER] != 0) return;
    let_next_begin();
    real sum = 0;
    for (u64 i = first_of_block(span); i < end_of_block(n, span); i += blockDim.x)
        sum += a[i] * b[i];
    leave(purpose, sum, parts, counts, numbers);
}

// Adds the last update to x, or sets x = 0 where b is 0.
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

// nccl/pcg/halo-overlap: the same on several GPUs. Each has a share of every sum: two of p.q, for
// rows without halo and for the others, then of r.r and of r.z, and last of the number of GPUs that
// want to stop. Between the kernels that produce shares and the one that concludes, NCCL sums them
// into totals, the same bits on every GPU.
const u32 SHARE_PQ = 0, SHARE_RR = 2, SHARE_RZ = 3, SHARE_STOP = 4;
const u32 AT_BEGIN = 0, AT_PRODUCT = 1, AT_RESIDUAL = 2;

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
    const u64 first = first_of_block(span), end = end_of_block(n, span);
    Some of_q, of_r;
    of_q.load(q, first, end);
    of_r.load(r, first, end);
    real sums[2];
    reduce(n, span, form, inverse, is_first ? 1 : numbers[ALPHA], q, r, of_q, of_r, sums);
    if (!grid_sum(sums, parts, counts) || threadIdx.x != 0) return;
    shares[SHARE_RR] = sums[0];
    shares[SHARE_RZ] = form == PLAIN ? sums[0] : sums[1];
}

// What follows from the totals, the same on every GPU. One thread.
extern "C" __global__ void pcg_conclude(
    u32 at, u32 most, double tol, const real* totals, real* numbers, u32* words, real* told)
{
    if (at == AT_BEGIN) return conclude_begin(tol, totals[SHARE_RR], numbers);
    const Known known(numbers, words);
    if (known.over != 0) return;
    if (at == AT_PRODUCT)
        Step(totals[SHARE_PQ] + totals[SHARE_PQ + 1], known).conclude(known, numbers, words, told);
    else {
        Standing standing(totals[SHARE_RR], totals[SHARE_RZ], most, known);
        if (standing.over == 0 && totals[SHARE_STOP] > 0) standing.over = STOPPED;
        standing.conclude(known, numbers, words, told);
    }
}
