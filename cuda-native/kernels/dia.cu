// cuda/dia/thread-per-row: y = A x, A in diagonals, one thread per row. Slot i of diagonal d lies
// at d * rows + i and belongs to column i + offsets[d], modulo 2^64; zeros are multiplied.

// Diagonals that a thread loads before it waits for the first.
const u32 AHEAD = 8;

extern "C" __global__ void dia_thread_per_row(
    u32 rows, u64 cols, u32 diagonals, const u64* offsets, const real* val, const real* x, real* y)
{
    const u64 row = thread_in_grid();
    if (row >= rows) return;
    real sum = 0;
    for (u32 first = 0; first < diagonals; first += AHEAD) {
        u64 c[AHEAD];
        real v[AHEAD];
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            const u32 d = first + n;
            c[n] = d < diagonals ? row + __ldg(&offsets[d]) : cols;
            v[n] = c[n] < cols ? __ldcs(&val[(u64)d * rows + row]) : 0;
        }
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++)
            if (c[n] < cols) sum += v[n] * __ldg(&x[c[n]]);
    }
    put_row(y, row, sum);
}
