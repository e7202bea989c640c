// y = A x in CSR, one thread per row, as a kernel library in CUDA.
// nvcc -O3 -shared -Xcompiler -fPIC -o libcuda_rows.so cuda_library.cu

#include "sparsescope_kernel.h"

// The arrays are in the memory of the GPU.
static __global__ void rows(sparsescope_csr a, const double *x, double *y)
{
    const uint64_t row = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    double sum = 0;
    for (uint64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; k++) sum += a.val[k] * x[a.col[k]];
    y[row] = sum;
}

const sparsescope_kernel *sparsescope_describe(void)
{
    static const sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "rows", "one thread per row, in CUDA", SPARSESCOPE_CUDA, SPARSESCOPE_SPMV};
    return &kernel;
}

int sparsescope_prepare(const sparsescope_csr *a, uint32_t, void **handle)
{
    *handle = const_cast<sparsescope_csr *>(a);
    return 0;
}

int sparsescope_apply(void *handle, const double *x, double *y, void *stream)
{
    const sparsescope_csr &a = *static_cast<const sparsescope_csr *>(handle);
    if (a.rows == 0) return 0;
    rows<<<unsigned((a.rows + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(a, x, y);
    return cudaGetLastError();
}

void sparsescope_destroy(void *) {}
