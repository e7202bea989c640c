// Symmetric Gauss-Seidel on CSR: one sweep per launch, old and new values in separate vectors, so
// that a row waits only for its columns before the diagonal (after it, backward). Sums are those of
// the serial loop: products rounded, subtracted in column order. Sweeps from zero read `below`,
// others `old`.

// A row's nonzeros `k` to `end`, its diagonal and where its sum starts, for sweeps from zero;
// `below` is the number of nonzeros before the diagonal.
__device__ inline void one_side(
    u32 row, u32 form, u32 backward, const u32* below, const real* val, offset& k, offset& end, real& d,
    real& sum)
{
    const offset diagonal = k + below[row];
    d = val[diagonal];
    if (backward) k = diagonal + 1;
    else end = diagonal;
    if (begins_with_product(form, backward)) sum *= d;
}

// cuda/symgs/sync-free, short rows: one thread per row in matrix order, two nonzeros at a time.
// Blocks take tickets, so that what a row waits for is always in a block that has started.
extern "C" __global__ void symgs_sync_free_thread(
    u32 rows, u32 backward, u32 form, const offset* row_ptr, const u32* below, const u32* col,
    const real* val, const real* rhs, const real* old, real* sums, real* out, u32* ticket, u32* stuck)
{
    const int K = 2;
    const bool smoother = form == SMOOTHER;
    __shared__ u32 block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    const u64 t = (u64)block * blockDim.x + threadIdx.x;
    bool active = t < rows;
    const u32 row = !active ? 0 : backward ? rows - 1 - (u32)t : (u32)t;
    offset k = 0, end = 0;
    real sum = 0, own = 0, d = 1;
    if (active) {
        k = row_ptr[row];
        end = row_ptr[row + 1];
        sum = rhs[row];
        if (smoother) own = old[row];
        if (from_zero(form)) one_side(row, form, backward, below, val, k, end, d, sum);
    }
    u32 c[K], turns = 0;
    real a[K], v[K];
    bool loaded = false;
    // The vote reconverges the lanes on every turn: a ready lane must not be left waiting for one
    // that waits for its result.
    while (__any_sync(ALL_LANES, active)) {
        bool wait = false;
        if (active) {
            if (!loaded) {
#pragma unroll
                for (int i = 0; i < K; i++) {
                    const bool in = k + i < end;
                    c[i] = in ? __ldcs(col + k + i) : row;
                    a[i] = in ? __ldcs(val + k + i) : 0;
                }
#pragma unroll
                for (int i = 0; i < K; i++) {
                    if (c[i] == row) v[i] = own;
                    else v[i] = made_before(backward, c[i], row) ? peek(out + c[i]) : old[c[i]];
                }
                loaded = true;
            } else {
#pragma unroll
                for (int i = 0; i < K; i++)
                    if (made_before(backward, c[i], row) && unset(v[i])) v[i] = peek(out + c[i]);
            }
#pragma unroll
            for (int i = 0; i < K; i++) wait |= made_before(backward, c[i], row) && unset(v[i]);
        }
        if (active && !wait) {
#pragma unroll
            for (int i = 0; i < K; i++)
                if (k + i < end) {
                    if (c[i] == row) d = a[i];
                    if (c[i] != row || smoother) sum -= a[i] * v[i];
                }
            k += K;
            loaded = false;
            if (k >= end) {
                if (smoother) sum += d * own;
                if (keeps_sums(form, backward)) sums[row] = sum;
                publish(out + row, sum / d);
                active = false;
            }
        } else if (active && give_up(turns, stuck)) {
            active = false;
        }
    }
}

// cuda/symgs/sync-free, rows of any length: eight lanes per row, each with four nonzeros at a time.
// The lanes form the products, and all of them subtract these one after the other. Rows come in
// `order`, any in which no row precedes one that it waits for; backward from its end.
extern "C" __global__ void symgs_sync_free_rows(
    u32 rows, const u32* order, u32 backward, u32 form, const offset* row_ptr, const u32* below,
    const u32* col, const real* val, const real* rhs, const real* old, real* sums, real* out,
    u32* ticket, u32* stuck)
{
    const int G = 8, E = 4;
    const bool smoother = form == SMOOTHER;
    __shared__ u32 block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    const u32 lane = threadIdx.x % G, base = threadIdx.x % WARP / G * G;
    const u32 group = ((1u << G) - 1) << base;
    const u64 t = (u64)block * (blockDim.x / G) + threadIdx.x / G;
    bool active = t < rows, loaded = false;
    u32 row = 0, c[E], turns = 0;
    offset k = 0, end = 0;
    real a[E], v[E], sum = 0, own = 0, d = 1;
    if (active) {
        row = order[backward ? rows - 1 - (u32)t : (u32)t];
        k = row_ptr[row];
        end = row_ptr[row + 1];
        sum = rhs[row];
        if (smoother) own = old[row];
        if (from_zero(form)) one_side(row, form, backward, below, val, k, end, d, sum);
    }
    while (__any_sync(ALL_LANES, active)) {
        bool wait = false;
        if (active) {
            if (!loaded) {
#pragma unroll
                for (int e = 0; e < E; e++) {
                    const offset i = k + e * G + lane;
                    const bool in = i < end;
                    c[e] = in ? __ldcs(col + i) : row;
                    a[e] = in ? __ldcs(val + i) : 0;
                }
#pragma unroll
                for (int e = 0; e < E; e++) {
                    if (c[e] == row) v[e] = own;
                    else v[e] = made_before(backward, c[e], row) ? peek(out + c[e]) : old[c[e]];
                }
                loaded = true;
            } else {
#pragma unroll
                for (int e = 0; e < E; e++)
                    if (made_before(backward, c[e], row) && unset(v[e])) v[e] = peek(out + c[e]);
            }
#pragma unroll
            for (int e = 0; e < E; e++) wait |= made_before(backward, c[e], row) && unset(v[e]);
        }
        // By all lanes of the warp, active or not: no lane may skip a ballot.
        const u32 waiting = __ballot_sync(ALL_LANES, wait) & group;
        const bool ready = active && !waiting;
        if (__any_sync(ALL_LANES, ready)) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                const bool in = ready && k + e * G + lane < end;
                const bool on = in && c[e] == row;
                const u32 take = __ballot_sync(ALL_LANES, in && (smoother || !on)) >> base;
                const u32 diagonal = (__ballot_sync(ALL_LANES, on) & group) >> base;
                const real product = a[e] * v[e];
                const real there = __shfl_sync(ALL_LANES, a[e], diagonal ? __ffs(diagonal) - 1 : 0, G);
                if (diagonal) d = there;
#pragma unroll
                for (int j = 0; j < G; j++) {
                    const real one = __shfl_sync(ALL_LANES, product, j, G);
                    if (take >> j & 1) sum -= one;
                }
            }
            if (ready) {
                k += G * E;
                loaded = false;
                if (k >= end) {
                    if (smoother) sum += d * own;
                    if (lane == 0 && keeps_sums(form, backward)) sums[row] = sum;
                    if (lane == 0) publish(out + row, sum / d);
                    active = false;
                }
            }
        }
        const bool gone = active && !ready && give_up(turns, stuck);
        if (__ballot_sync(ALL_LANES, gone) & group) active = false;
    }
}

// Processes a row with a block, whose threads stride through it. Lane 0 of each warp sums its
// lanes, thread 0 the warps.
__device__ inline void do_row(
    u32 row, u32 backward, u32 smoother, const offset* row_ptr, const u32* col, const real* val,
    const real* rhs, const real* old, real* out)
{
    __shared__ real partial[WARP], diagonal;
    real sum = 0;
    for (offset k = row_ptr[row] + threadIdx.x; k < row_ptr[row + 1]; k += blockDim.x) {
        const u32 c = col[k];
        if (c == row) diagonal = val[k];
        if (c != row || smoother) sum += val[k] * (made_before(backward, c, row) ? out[c] : old[c]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) partial[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 warp = 1; warp < blockDim.x / WARP; warp++) sum += partial[warp];
        real rest = rhs[row] - sum;
        if (smoother) rest += diagonal * old[row];
        out[row] = rest / diagonal;
    }
}

// cuda/symgs/ready-done, the second half: one block per row, for all rows; those that are ready and
// not done are processed.
extern "C" __global__ void symgs_ready_done(
    u32 rows, u32 backward, u32 smoother, const offset* row_ptr, const u32* col, const real* val,
    const real* rhs, const real* old, real* out, const u8* ready, u8* done, u32* count)
{
    const u32 row = blockIdx.x;
    if (row >= rows || done[row] || !ready[row]) return;
    do_row(row, backward, smoother, row_ptr, col, val, rhs, old, out);
    if (threadIdx.x == 0) {
        done[row] = 1;
        atomicAdd(count, 1);
    }
}

// cuda/symgs/ready-compact, the second half: one block per row of the list.
extern "C" __global__ void symgs_ready_compact(
    u32 listed, const u32* list, u32 backward, u32 smoother, const offset* row_ptr, const u32* col,
    const real* val, const real* rhs, const real* old, real* out, u8* done)
{
    if (blockIdx.x >= listed) return;
    const u32 row = list[blockIdx.x];
    do_row(row, backward, smoother, row_ptr, col, val, rhs, old, out);
    if (threadIdx.x == 0) done[row] = 1;
}

// Fills the slices, one warp each. Rows of at most 32 nonzeros are read by all lanes and transposed
// in shared memory; in slices with a longer row each lane reads its own. A nonzero is before the
// diagonal where its column is, or, by places, where that column's place is before the row's.
extern "C" __global__ void __launch_bounds__(64) symgs_fill(
    u32 slices, u32 by_place, const u32* row_at, const u32* place_of, const offset* row_ptr,
    const u32* below, const u32* col, const real* val, const u32* before_ptr, const u32* after_ptr,
    u32* before_col, real* before_val, u32* after_col, real* after_val, real* diagonal)
{
    __shared__ real values[2][32 * 33];
    __shared__ u32 places[2][32 * 33];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u64 slice = thread_in_grid() / WARP;
    if (slice >= slices) return; // Whole warps return; the others synchronise per warp.
    const u32 row = row_at[slice * WARP + lane];
    offset start = 0;
    u32 length = 0, low = 0;
    if (row != NONE) {
        start = row_ptr[row];
        length = (u32)(row_ptr[row + 1] - start);
        low = below[row];
    }
    const bool turned = warp_max(length) <= WARP;
    if (turned) {
        for (u32 first = 0; first < WARP; first += 8) {
            u32 c[8];
            real a[8];
            bool in[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const offset begin = __shfl_sync(ALL_LANES, start, first + j);
                in[j] = lane < __shfl_sync(ALL_LANES, length, first + j);
                c[j] = in[j] ? __ldcs(col + begin + lane) : 0;
                a[j] = in[j] ? __ldcs(val + begin + lane) : 0;
            }
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (in[j]) {
                    values[warp][(first + j) * 33 + lane] = a[j];
                    places[warp][(first + j) * 33 + lane] = __ldg(place_of + c[j]);
                }
        }
        __syncwarp();
    }
    const auto value = [&](u32 e) { return turned ? values[warp][lane * 33 + e] : val[start + e]; };
    const auto place = [&](u32 e) {
        return turned ? places[warp][lane * 33 + e] : place_of[col[start + e]];
    };
    const u64 at = slice * WARP + lane;
    diagonal[at] = row == NONE ? 0 : value(low);
    const u32 end = by_place ? length : low;
    u32 e = 0;
    const u32 before = before_ptr[slice], before_end = before_ptr[slice + 1];
    for (u32 k = 0; before + k < before_end; k++, e++) {
        const u64 i = (u64)(before + k) * WARP + lane;
        while (by_place && e < end && place(e) >= at) e++;
        const bool in = e < end;
        __stcs(before_val + i, in ? value(e) : 0);
        __stcs(before_col + i, in ? place(e) : NONE);
    }
    e = by_place ? 0 : low + 1;
    const u32 after = after_ptr[slice], after_end = after_ptr[slice + 1];
    for (u32 k = 0; after + k < after_end; k++, e++) {
        const u64 i = (u64)(after + k) * WARP + lane;
        while (by_place && e < length && place(e) <= at) e++;
        const bool in = e < length;
        __stcs(after_val + i, in ? value(e) : 0);
        __stcs(after_col + i, in ? place(e) : NONE);
    }
}
