// y = A x, A in COO, nonzeros sorted by row (cuda/coo/segmented); also the second part of
// cuda/hyb/ell-coo. y must be zero, or hold what the sums are added to.
//
// Each warp takes `span` consecutive nonzeros, 32 at a time, and sums equal rows by a segmented
// scan. Only a row continued from the previous span may be shared: its sum is carried to
// `carry_row` and `carry_sum` and added by coo_carry in the order of spans, so that the result is
// the same in every run.

const u32 NO_ROW = 0xffffffffu;

__device__ inline void sums_of_span(
    u64 entries, u64 span, const u32* row, const u32* col, const real* val, const real* x, real* y,
    u32* carry_row, real* carry_sum)
{
    const u64 warp = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    const u64 begin = warp * span;
    if (begin >= entries) return;
    const u64 end = begin + span < entries ? begin + span : entries;
    const u32 shared_row = begin > 0 && row[begin - 1] == row[begin] ? row[begin] : NO_ROW;
    if (lane == 0) carry_row[warp] = shared_row;

    u32 open_row = NO_ROW; // The row continued from the previous step, and its sum so far.
    real open_sum = 0;
    for (u64 step = begin; step < end; step += WARP) {
        const u64 k = step + lane;
        const u32 r = k < end ? row[k] : NO_ROW;
        real sum = k < end ? val[k] * x[col[k]] : 0;
        if (lane == 0) {
            if (r == open_row) sum += open_sum;
            else if (open_row == shared_row && open_row != NO_ROW) carry_sum[warp] = open_sum;
            else if (open_row != NO_ROW) y[open_row] += times_alpha(open_sum);
        }
        // Lanes of the same row are adjacent: the last one ends up with the row's sum.
        for (u32 distance = 1; distance < WARP; distance *= 2) {
            const real before = __shfl_up_sync(ALL_LANES, sum, distance);
            const u32 row_before = __shfl_up_sync(ALL_LANES, r, distance);
            if (lane >= distance && row_before == r) sum += before;
        }
        const u32 next = __shfl_down_sync(ALL_LANES, r, 1);
        if (lane < WARP - 1 && r != next && r != NO_ROW) {
            if (r == shared_row) carry_sum[warp] = sum;
            else y[r] += times_alpha(sum);
        }
        open_row = __shfl_sync(ALL_LANES, r, WARP - 1);
        open_sum = __shfl_sync(ALL_LANES, sum, WARP - 1);
    }
    if (lane == 0 && open_row != NO_ROW) {
        if (open_row == shared_row) carry_sum[warp] = open_sum;
        else y[open_row] += times_alpha(open_sum);
    }
}

// Adds the carried sums of spans to their rows: one warp per span; the first of the spans that
// share a row adds for all of them.
__device__ inline void add_carried(
    u64 spans, const u32* carry_row, const real* carry_sum, real* y)
{
    const u64 span = thread_in_grid() / WARP;
    const u32 lane = threadIdx.x % WARP;
    if (span >= spans) return;
    const u32 row = carry_row[span];
    if (row == NO_ROW || (span > 0 && carry_row[span - 1] == row)) return;
    real sum = 0;
    for (u64 k = span + lane; k < spans && carry_row[k] == row; k += WARP) sum += carry_sum[k];
    sum = warp_sum(sum);
    if (lane == 0) y[row] += times_alpha(sum);
}

// y = beta y, to which the sums are added.
extern "C" __global__ void coo_begin(u32 rows, real* y) {
    const u64 row = thread_in_grid();
    if (row < rows) put_row(y, row, 0);
}

extern "C" __global__ void coo_segmented(
    u64 entries, u64 span, const u32* row, const u32* col, const real* val, const real* x, real* y,
    u32* carry_row, real* carry_sum)
{
    sums_of_span(entries, span, row, col, val, x, y, carry_row, carry_sum);
}

extern "C" __global__ void coo_carry(
    u64 spans, const u32* carry_row, const real* carry_sum, real* y)
{
    add_carried(spans, carry_row, carry_sum, y);
}

// Both, while a solve is not over.
extern "C" __global__ void coo_segmented_solver(
    u64 entries, u64 span, const u32* row, const u32* col, const real* val, const real* x, real* y,
    u32* carry_row, real* carry_sum, const u32* words)
{
    if (words[OVER] == 0) sums_of_span(entries, span, row, col, val, x, y, carry_row, carry_sum);
}

extern "C" __global__ void coo_carry_solver(
    u64 spans, const u32* carry_row, const real* carry_sum, real* y, const u32* words)
{
    if (words[OVER] == 0) add_carried(spans, carry_row, carry_sum, y);
}
