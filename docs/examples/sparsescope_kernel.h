/* The interface of a library with a kernel of SpMV, y = A x, SpMM, Y = A X, or symmetric Gauss-Seidel, or with a solver
   of A x = b, for `sparsescope bench --kernel-library`. Version 4. docs/kernel-library.md describes it. */

#ifndef SPARSESCOPE_KERNEL_H
#define SPARSESCOPE_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Libraries of version 1, whose struct sparsescope_kernel ends before `device`, of version 2, whose ends before
   `operation`, and of version 3, which had no solvers, still run. */
#define SPARSESCOPE_KERNEL_VERSION 4

/* Where a library computes: all arrays that it gets are in the memory of this device. */
#define SPARSESCOPE_CPU 0
#define SPARSESCOPE_CUDA 1

/* What a library computes. */
#define SPARSESCOPE_SPMV 0
#define SPARSESCOPE_SPMM 1
#define SPARSESCOPE_SYMGS 2
#define SPARSESCOPE_SOLVE 3

/* What sparsescope_solve returns if it did not reach the tolerance. */
#define SPARSESCOPE_NOT_CONVERGED 1

/* A in CSR. Columns are sorted in each row, from 0. The struct, which is in the memory of the CPU, and the arrays stay
   where they are until sparsescope_destroy, and must not be changed. */
struct sparsescope_csr {
    uint64_t rows;
    uint64_t cols;
    uint64_t nonzeros;
    const uint64_t *row_ptr; /* rows + 1 offsets */
    const uint32_t *col;     /* nonzeros columns */
    const double *val;       /* nonzeros values */
    uint64_t vectors;        /* k, the columns of X and Y; 1 if not SpMM */
};

struct sparsescope_kernel {
    uint32_t version;        /* SPARSESCOPE_KERNEL_VERSION */
    const char *name;        /* part of the kernel's id: user/FILE/NAME */
    const char *description; /* such as a version; may be null */
    uint32_t device;         /* SPARSESCOPE_CPU or SPARSESCOPE_CUDA */
    uint32_t operation;      /* SPARSESCOPE_SPMV, SPARSESCOPE_SPMM, SPARSESCOPE_SYMGS or SPARSESCOPE_SOLVE */
};

/* Returns a pointer to a static struct. */
const struct sparsescope_kernel *sparsescope_describe(void);

/* Prepares A for this number of threads, 1 for CUDA, and sets *handle. Timed apart from the products and solves. For
   CUDA the device's primary context is current. For SOLVE, A is symmetric and its diagonal positive. Returns 0, or
   another number to refuse A. */
int sparsescope_prepare(const struct sparsescope_csr *a, uint32_t threads, void **handle);

/* A library defines this function or, for SOLVE, the next one.
   Computes y = A x, or Y = A X for SpMM, where X and Y are stored by rows: element j of row i is x[i * k + j]. x has
   cols * k elements, which must not be changed, and y has rows * k elements, all of which must be written.
   For SYMGS, x has 2 * rows elements, which must not be changed: b, and then x before the sweep. y becomes x after one
   symmetric sweep: x_i = (b_i - sum of a_ij x_j over all j other than i) / a_ii for the rows in ascending order, and
   then in descending order.
   On the CPU, stream is null, and y must be complete when it returns. For CUDA, stream is a cudaStream_t: add all work
   to it; it need not be done when the function returns. Returns 0, or another number for an error. */
int sparsescope_apply(void *handle, const double *x, double *y, void *stream);

/* Solves A x = b from x0, until |b - A x| <= tolerance * |b| (2-norms), in at most max_iterations iterations. All
   vectors have rows elements; b and x0 must not be changed. x becomes the solution; before, it has no meaning.
   *iterations, which is in the memory of the CPU, becomes the number of iterations.
   stream is as for sparsescope_apply, but *iterations must be known when the function returns.
   Returns 0 if it reached the tolerance, SPARSESCOPE_NOT_CONVERGED if it did not, or another number for an error. */
int sparsescope_solve(void *handle, const double *b, const double *x0, double tolerance, uint64_t max_iterations,
                      double *x, uint64_t *iterations, void *stream);

/* Frees what sparsescope_prepare has allocated. */
void sparsescope_destroy(void *handle);

#ifdef __cplusplus
}
#endif

#endif
