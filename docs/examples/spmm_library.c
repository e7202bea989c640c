/* Y = A X in CSR, one row after another, for X of k columns, as a kernel library.
   cc -O3 -shared -fPIC -o libspmm.so spmm_library.c */

#include "sparsescope_kernel.h"

const struct sparsescope_kernel *sparsescope_describe(void)
{
    static const struct sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "rows", "row by row, 1.0", SPARSESCOPE_CPU, SPARSESCOPE_SPMM};
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
    const uint64_t k = a->vectors;
    (void)stream;
    for (uint64_t row = 0; row < a->rows; row++) {
        double *sums = y + row * k;
        for (uint64_t j = 0; j < k; j++) sums[j] = 0;
        for (uint64_t entry = a->row_ptr[row]; entry < a->row_ptr[row + 1]; entry++) {
            const double *factors = x + a->col[entry] * k;
            for (uint64_t j = 0; j < k; j++) sums[j] += a->val[entry] * factors[j];
        }
    }
    return 0;
}

void sparsescope_destroy(void *handle)
{
    (void)handle;
}
