// A kernel library for CUDA with the fault that FAULT names, for cuda-native/tests/gpu/libraries.rs. OPERATION is what
// it computes, SpMV if not defined.

#include "sparsescope_kernel.h"

#ifndef OPERATION
#define OPERATION SPARSESCOPE_SPMV
#endif

enum {
    RIGHT, ZEROS, PAST_Y, KEEPS_Y, WRITES_NOTHING, CHANGES_X, OWN_STREAM, WAITS_FOR_OWN_STREAM, DEFAULT_STREAM, GOES_ON,
    BREAKS, REFUSES
};

static sparsescope_csr a;
static double *kept;
static bool is_kept;
static uint64_t *done;
static cudaStream_t own;

// One thread per row; SpMM has a row of blocks for each column of X.
static __global__ void product(sparsescope_csr a, const double *x, double *y)
{
    const uint64_t row = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (row >= a.rows) return;
    double sum = 0;
    for (uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; k++) sum += a.val[k] * x[a.col[k] * a.vectors + j];
    y[row * a.vectors + j] = sum;
}

static __device__ void update(const sparsescope_csr &a, const double *b, double *x, uint64_t row)
{
    double sum = b[row], diagonal = 0;
    for (uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; k++) {
        if (a.col[k] == row) diagonal = a.val[k];
        else sum -= a.val[k] * x[a.col[k]];
    }
    x[row] = sum / diagonal;
}

// One thread, for small matrices. b has x before the sweep behind it.
static __global__ void sweep(sparsescope_csr a, const double *b, double *x)
{
    for (uint64_t row = 0; row < a.rows; row++) x[row] = b[a.rows + row];
    for (uint64_t row = 0; row < a.rows; row++) update(a, b, x, row);
    for (uint64_t row = a.rows; row-- > 0;) update(a, b, x, row);
}

// Gauss-Seidel sweeps of one thread, until |b - A x| <= tolerance * |b|.
static __global__ void iterate(sparsescope_csr a, const double *b, const double *x0, double tolerance, uint64_t most,
                               double *x, uint64_t *done)
{
    double goal = 0;
    for (uint64_t row = 0; row < a.rows; row++) {
        goal += tolerance * b[row] * tolerance * b[row];
        x[row] = x0[row];
    }
    for (*done = 0; *done < most; ++*done) {
        double squares = 0;
        for (uint64_t row = 0; row < a.rows; row++) {
            double rest = b[row];
            for (uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; k++) rest -= a.val[k] * x[a.col[k]];
            squares += rest * rest;
        }
        if (squares <= goal) return;
        for (uint64_t row = 0; row < a.rows; row++) update(a, b, x, row);
    }
}

static __global__ void set(double *to)
{
    *to = 1;
}

// Tens of milliseconds.
static __global__ void spin(void)
{
    const long long start = clock64();
    while (clock64() - start < 50000000) {}
}

static size_t bytes_of_y(void)
{
    return a.rows * a.vectors * sizeof(double);
}

static void start(const double *x, double *y, cudaStream_t stream)
{
    if (a.rows == 0) return;
    const dim3 grid(unsigned((a.rows + 255) / 256), unsigned(a.vectors));
    if (OPERATION == SPARSESCOPE_SYMGS) sweep<<<1, 1, 0, stream>>>(a, x, y);
    else product<<<grid, 256, 0, stream>>>(a, x, y);
}

extern "C" {

const sparsescope_kernel *sparsescope_describe(void)
{
    static const sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "Product", "for tests", SPARSESCOPE_CUDA, OPERATION};
    return &kernel;
}

int sparsescope_prepare(const sparsescope_csr *matrix, uint32_t, void **)
{
    if (FAULT == REFUSES) return 7;
    a = *matrix;
    if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) return 1;
    if (cudaMalloc(&done, sizeof *done) != cudaSuccess) return 2;
    return cudaMalloc(&kept, bytes_of_y());
}

int sparsescope_apply(void *, const double *x, double *y, void *given)
{
    const cudaStream_t stream = static_cast<cudaStream_t>(given);
    switch (FAULT) {
    case ZEROS: cudaMemsetAsync(y, 0, bytes_of_y(), stream); break;
    case WRITES_NOTHING: break;
    case KEEPS_Y:
        if (!is_kept) start(x, kept, stream);
        is_kept = true;
        cudaMemcpyAsync(y, kept, bytes_of_y(), cudaMemcpyDeviceToDevice, stream);
        break;
    case OWN_STREAM: start(x, y, own); break;
    case WAITS_FOR_OWN_STREAM:
        start(x, y, own);
        cudaStreamSynchronize(own);
        break;
    case DEFAULT_STREAM: start(x, y, nullptr); break;
    default: start(x, y, stream);
    }
    if (FAULT == PAST_Y) set<<<1, 1, 0, stream>>>(y + a.rows * a.vectors);
    if (FAULT == CHANGES_X) set<<<1, 1, 0, stream>>>(const_cast<double *>(x));
    if (FAULT == BREAKS) set<<<1, 1, 0, stream>>>(reinterpret_cast<double *>(8));
    if (FAULT == GOES_ON) spin<<<1, 1, 0, own>>>();
    return cudaGetLastError();
}

int sparsescope_solve(void *, const double *b, const double *x0, double tolerance, uint64_t max_iterations, double *x,
                      uint64_t *iterations, void *given)
{
    const cudaStream_t stream = FAULT == OWN_STREAM ? own : static_cast<cudaStream_t>(given);
    // Its own stream does not wait for b, so sweeps there may never end.
    const uint64_t most = FAULT == OWN_STREAM ? 20 : max_iterations;
    if (FAULT == ZEROS) return cudaMemsetAsync(x, 0, bytes_of_y(), stream);
    iterate<<<1, 1, 0, stream>>>(a, b, x0, tolerance, most, x, done);
    if (FAULT == PAST_Y) set<<<1, 1, 0, stream>>>(x + a.rows);
    cudaMemcpyAsync(iterations, done, sizeof *iterations, cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 2;
    return *iterations < max_iterations ? 0 : SPARSESCOPE_NOT_CONVERGED;
}

void sparsescope_destroy(void *)
{
}

}
