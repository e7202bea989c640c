/* y = A x in CSR, one row after another: the smallest kernel library.
   cc -O3 -shared -fPIC -o libcsr.so csr_library.c */

#include "sparsescope_kernel.h"

const struct sparsescope_kernel *sparsescope_describe(void)
{
    static const struct sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "rows", "row by row, 1.0", SPARSESCOPE_CPU, SPARSESCOPE_SPMV};
    return &kernel;
}

int sparsescope_prepare(const struct sparsescope_csr *a, uint32_t threads, void **handle)
{
    (void)threads; /* It has one. */
    *handle = (void *)a;
    return 0;
}

int sparsescope_apply(void *handle, const double *x, double *y, void *stream)
{
    const struct sparsescope_csr *a = handle;
    (void)stream;
    for (uint64_t row = 0; row < a->rows; row++) {
        double sum = 0;
        for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++) sum += a->val[k] * x[a->col[k]];
        y[row] = sum;
    }
    return 0;
}

void sparsescope_destroy(void *handle)
{
    (void)handle;
}
