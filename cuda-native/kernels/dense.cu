// Many small dense systems A_s x_s = b_s, A_s symmetric, n rows stored in full and row-major, in
// f64: the thesis's elimination, and a check of which systems a library found not to be positive
// definite. All right-hand sides are e_n unless they are given.

// cuda/dense/gauss-shared: one block per system. [A|b] lies in shared memory by columns, `stride`
// apart; the thread of column ty and row tx advances in steps of `down` rows and `across` columns.
// Each row is divided by its pivot, then subtracted from those below; back substitution is done in
// b's column.
extern "C" __global__ void dense_gauss_shared(u32 systems, u32 n, u32 given, u32 stride, u32 down,
        u32 across, const double* a, const double* b, double* x, u8* flagged)
{
    extern __shared__ double shared[];
    const u64 system = blockIdx.x;
    const u32 tx = threadIdx.x % down, ty = threadIdx.x / down;
    const double* from = a + system * n * n;
    // Excess threads have no column and only wait with the others.
    const u32 first = ty < across ? ty : n + 1;
    if (system >= systems) return;
    for (u32 j = first; j <= n; j += across) {
        for (u32 i = tx; i < n; i += down) {
            const double unit = i + 1 == n ? 1.0 : 0.0;
            const double right = given ? b[system * n + min(i, n - 1)] : unit;
            // Columns and rows are interchangeable: the matrix is symmetric.
            shared[j * stride + i] = j < n ? from[(u64)j * n + i] : right;
        }
    }
    bool definite = true;
    for (u32 k = 0; k < n; ++k) {
        __syncthreads();
        const double pivot = shared[k * stride + k];
        // Uniform over all threads.
        definite = is_pivot(pivot);
        if (!definite) break;
        const double inverse = __drcp_rn(pivot);
        for (u32 j = first; j <= n; j += across)
            if (tx == 0 && j > k) shared[j * stride + k] *= inverse;
        __syncthreads();
        for (u32 j = first; j <= n; j += across) {
            if (j <= k) continue;
            const double above = shared[j * stride + k];
            for (u32 i = k + 1 + tx; i < n; i += down)
                shared[j * stride + i] -= shared[k * stride + i] * above;
        }
    }
    double* solution = shared + (u64)n * stride;
    for (u32 k = n; definite && k-- > 1;) {
        __syncthreads();
        for (u32 i = threadIdx.x; i < k; i += blockDim.x)
            solution[i] -= shared[k * stride + i] * solution[k];
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n; i += blockDim.x)
        x[system * n + i] = definite ? solution[i] : no_solution();
    if (threadIdx.x == 0) flagged[system] = !definite;
}

// After a library's batch, one thread per system: flags those whose factorisation the library
// reports as failed, and where `signs` those with a pivot that is not positive, since an LU
// factorisation completes with any pivot. x is then NaN.
extern "C" __global__ void dense_library_flags(u32 systems, u32 n, u32 signs, const u32* info,
        const double* factors, double* x, u8* flagged)
{
    const u64 system = thread_in_grid();
    if (system >= systems) return;
    bool definite = info[system] == 0;
    for (u32 i = 0; signs && i < n; ++i)
        definite = definite && is_pivot(factors[(system * n + i) * n + i]);
    for (u32 i = 0; !definite && i < n; ++i) x[system * n + i] = no_solution();
    flagged[system] = !definite;
}
