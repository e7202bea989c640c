/* The interface of a library with an SpMV kernel, y = A x, for `sparsescope bench --kernel-library`. Version 1.
   docs/kernel-library.md describes it. */

#ifndef SPARSESCOPE_KERNEL_H
#define SPARSESCOPE_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPARSESCOPE_KERNEL_VERSION 1

/* A in CSR. Columns are sorted in each row, from 0. The arrays stay where they are until
   sparsescope_destroy, and must not be changed. */
struct sparsescope_csr {
    uint64_t rows;
    uint64_t cols;
    uint64_t nonzeros;
    const uint64_t *row_ptr; /* rows + 1 offsets */
    const uint32_t *col;     /* nonzeros columns */
    const double *val;       /* nonzeros values */
};

struct sparsescope_kernel {
    uint32_t version;        /* SPARSESCOPE_KERNEL_VERSION */
    const char *name;        /* part of the kernel's id: user/FILE/NAME */
    const char *description; /* such as a version; may be null */
};

/* Returns a pointer to a static struct. */
const struct sparsescope_kernel *sparsescope_describe(void);

/* Prepares A for this number of threads, and sets *handle. Timed apart from the products. Returns 0, or another
   number to refuse A. */
int sparsescope_prepare(const struct sparsescope_csr *a, uint32_t threads, void **handle);

/* Computes y = A x; y must be complete when it returns. x has cols elements, which must not be changed, and y has
   rows elements, all of which must be written. stream is null: libraries run on the CPU. Returns 0, or another number
   for an error. */
int sparsescope_apply(void *handle, const double *x, double *y, void *stream);

/* Frees what sparsescope_prepare has allocated. */
void sparsescope_destroy(void *handle);

#ifdef __cplusplus
}
#endif

#endif
