/* A x = b by conjugate gradients with the Jacobi preconditioner, as a kernel library.
   cc -O3 -shared -fPIC -o libcg.so cg_library.c */

#include <stdlib.h>
#include <string.h>

#include "sparsescope_kernel.h"

struct solver {
    struct sparsescope_csr a;
    double *inverse; /* of the diagonal */
    double *r, *p, *q;
};

const struct sparsescope_kernel *sparsescope_describe(void)
{
    static const struct sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "jacobi", "conjugate gradients, 1.0", SPARSESCOPE_CPU, SPARSESCOPE_SOLVE};
    return &kernel;
}

int sparsescope_prepare(const struct sparsescope_csr *a, uint32_t threads, void **handle)
{
    (void)threads; /* It has one. */
    struct solver *s = malloc(sizeof *s);
    double *vectors = malloc(4 * a->rows * sizeof *vectors);
    if (s == NULL || vectors == NULL) {
        free(vectors);
        free(s);
        return 1;
    }
    *s = (struct solver){*a, vectors, vectors + a->rows, vectors + 2 * a->rows, vectors + 3 * a->rows};
    for (uint64_t row = 0; row < a->rows; row++) {
        for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++)
            if (a->col[k] == row) s->inverse[row] = 1 / a->val[k];
    }
    *handle = s;
    return 0;
}

static void multiply(const struct sparsescope_csr *a, const double *x, double *y)
{
    for (uint64_t row = 0; row < a->rows; row++) {
        double sum = 0;
        for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++) sum += a->val[k] * x[a->col[k]];
        y[row] = sum;
    }
}

static double dot(const double *v, const double *w, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += v[i] * w[i];
    return sum;
}

int sparsescope_solve(void *handle, const double *b, const double *x0, double tolerance, uint64_t max_iterations,
                      double *x, uint64_t *iterations, void *stream)
{
    struct solver *s = handle;
    const uint64_t n = s->a.rows;
    const double goal = tolerance * tolerance * dot(b, b, n);
    double before = 0;
    (void)stream;
    memcpy(x, x0, n * sizeof *x);
    multiply(&s->a, x, s->q);
    for (uint64_t i = 0; i < n; i++) {
        s->r[i] = b[i] - s->q[i];
        s->p[i] = 0;
    }
    for (*iterations = 0; dot(s->r, s->r, n) > goal; ++*iterations) {
        if (*iterations == max_iterations) return SPARSESCOPE_NOT_CONVERGED;
        /* p = z + beta p, where z = r / diagonal */
        double now = 0;
        for (uint64_t i = 0; i < n; i++) now += s->r[i] * s->inverse[i] * s->r[i];
        const double beta = *iterations == 0 ? 0 : now / before;
        for (uint64_t i = 0; i < n; i++) s->p[i] = s->inverse[i] * s->r[i] + beta * s->p[i];
        multiply(&s->a, s->p, s->q);
        const double alpha = now / dot(s->p, s->q, n);
        for (uint64_t i = 0; i < n; i++) {
            x[i] += alpha * s->p[i];
            s->r[i] -= alpha * s->q[i];
        }
        before = now;
    }
    return 0;
}

void sparsescope_destroy(void *handle)
{
    struct solver *s = handle;
    free(s->inverse);
    free(s);
}
