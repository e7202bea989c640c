// A kernel library for CUDA with the fault that FAULT names, for cuda-native/tests/gpu/libraries.rs.

#include "sparsescope_kernel.h"

enum {
    RIGHT, ZEROS, PAST_Y, KEEPS_Y, WRITES_NOTHING, CHANGES_X, OWN_STREAM, WAITS_FOR_OWN_STREAM, DEFAULT_STREAM, GOES_ON,
    BREAKS, REFUSES
};

static sparsescope_csr a;
static double *kept;
static bool is_kept;
static cudaStream_t own;

static __global__ void product(sparsescope_csr a, const double *x, double *y)
{
    const uint64_t row = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    double sum = 0;
    for (uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; k++) sum += a.val[k] * x[a.col[k]];
    y[row] = sum;
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

static void start_product(const double *x, double *y, cudaStream_t stream)
{
    product<<<unsigned((a.rows + 255) / 256), 256, 0, stream>>>(a, x, y);
}

extern "C" {

const sparsescope_kernel *sparsescope_describe(void)
{
    static const sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "Product", "for tests", SPARSESCOPE_CUDA, SPARSESCOPE_SPMV};
    return &kernel;
}

int sparsescope_prepare(const sparsescope_csr *matrix, uint32_t, void **)
{
    if (FAULT == REFUSES) return 7;
    a = *matrix;
    if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) return 1;
    return cudaMalloc(&kept, a.rows * sizeof *kept);
}

int sparsescope_apply(void *, const double *x, double *y, void *given)
{
    const cudaStream_t stream = static_cast<cudaStream_t>(given);
    switch (FAULT) {
    case ZEROS: cudaMemsetAsync(y, 0, a.rows * sizeof *y, stream); break;
    case WRITES_NOTHING: break;
    case KEEPS_Y:
        if (!is_kept) start_product(x, kept, stream);
        is_kept = true;
        cudaMemcpyAsync(y, kept, a.rows * sizeof *y, cudaMemcpyDeviceToDevice, stream);
        break;
    case OWN_STREAM: start_product(x, y, own); break;
    case WAITS_FOR_OWN_STREAM:
        start_product(x, y, own);
        cudaStreamSynchronize(own);
        break;
    case DEFAULT_STREAM: start_product(x, y, nullptr); break;
    default: start_product(x, y, stream);
    }
    if (FAULT == PAST_Y) set<<<1, 1, 0, stream>>>(y + a.rows);
    if (FAULT == CHANGES_X) set<<<1, 1, 0, stream>>>(const_cast<double *>(x));
    if (FAULT == BREAKS) set<<<1, 1, 0, stream>>>(reinterpret_cast<double *>(8));
    if (FAULT == GOES_ON) spin<<<1, 1, 0, own>>>();
    return cudaGetLastError();
}

void sparsescope_destroy(void *)
{
}

}
