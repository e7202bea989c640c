/* A kernel library with the fault that FAULT names, for tests/tests/program/libraries.rs. OPERATION is what it
   computes, SpMV if not defined. */

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sparsescope_kernel.h"

#ifndef OPERATION
#define OPERATION SPARSESCOPE_SPMV
#endif

enum {
    RIGHT, ZEROS, PAST_Y, SLEEPS_ONCE, KEEPS_Y, WRITES_NOTHING, CHANGES_X, LATE, CRASHES, HANGS, REFUSES,
    OTHER_VERSION, OLD_VERSION, SECOND_VERSION, OTHER_DEVICE, OTHER_OPERATION, ON_CUDA, PRINTS, SLOW_TO_PREPARE,
    HANGS_LOADED, HANGS_PREPARING, ONE_COLUMN, ASCENDING_ONLY, UNCHANGED, LOOSE, COUNTS_WRONG, STARTS_AT_LAST,
    THIRD_VERSION, WRONG_IF_REPEATED, WRONG_ONCE
};

static const struct sparsescope_csr *a;
static const double *known_x;
static double *kept;
static uint64_t size_of_y, known_iterations;
static int samples, calls, last_calls;
static double last_x;

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Reports on standard error that it hangs, for a test that waits for that. */
static void hang(void)
{
    static const char text[] = "it hangs\n";
    if (write(2, text, sizeof text - 1) < 0) return;
    for (;;) sleep_ms(1000);
}

static void update(const double *b, double *x, uint64_t row)
{
    double sum = b[row], diagonal = 0;
    for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++) {
        if (a->col[k] == row) diagonal = a->val[k];
        else sum -= a->val[k] * x[a->col[k]];
    }
    x[row] = sum / diagonal;
}

static void sweep(const double *b, double *x)
{
    memcpy(x, b + a->rows, a->rows * sizeof *x);
    for (uint64_t row = 0; row < a->rows; row++) update(b, x, row);
    if (FAULT == ASCENDING_ONLY) return;
    for (uint64_t row = a->rows; row-- > 0;) update(b, x, row);
}

static void product(const double *x, double *y)
{
    if (OPERATION == SPARSESCOPE_SYMGS) {
        sweep(x, y);
        return;
    }
    const uint64_t vectors = a->vectors;
    for (uint64_t row = 0; row < a->rows; row++) {
        for (uint64_t j = 0; j < (FAULT == ONE_COLUMN ? 1 : vectors); j++) {
            double sum = 0;
            for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++)
                sum += a->val[k] * x[a->col[k] * vectors + j];
            y[row * vectors + j] = sum;
        }
    }
}

const struct sparsescope_kernel *sparsescope_describe(void)
{
    static struct sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "Product", "for tests", SPARSESCOPE_CPU, OPERATION};
    if (FAULT == OTHER_VERSION) kernel.version = 99;
    /* It had no device. */
    if (FAULT == OLD_VERSION) kernel.version = 1;
    if (FAULT == OLD_VERSION || FAULT == OTHER_DEVICE) kernel.device = 7;
    /* It had no operation. */
    if (FAULT == SECOND_VERSION) kernel.version = 2;
    if (FAULT == SECOND_VERSION || FAULT == OTHER_OPERATION) kernel.operation = 7;
    /* It had no solvers. */
    if (FAULT == THIRD_VERSION) kernel.version = 3;
    if (FAULT == ON_CUDA) kernel.device = SPARSESCOPE_CUDA;
    if (FAULT == HANGS_LOADED) hang();
    return &kernel;
}

int sparsescope_prepare(const struct sparsescope_csr *matrix, uint32_t threads, void **handle)
{
    (void)threads;
    if (FAULT == CRASHES) *(volatile int *)NULL = 1;
    if (FAULT == REFUSES) return 7;
    if (FAULT == HANGS_PREPARING) hang();
    if (FAULT == SLOW_TO_PREPARE) sleep_ms(50);
    a = matrix;
    size_of_y = matrix->rows * matrix->vectors;
    kept = malloc(size_of_y * sizeof *kept);
    *handle = kept;
    return kept == NULL;
}

static const double *late_x;
static double *late_y;

static void *later(void *nothing)
{
    (void)nothing;
    sleep_ms(5);
    product(late_x, late_y);
    return NULL;
}

/* Counts the samples, each with another x, and their calls. */
static void count(const double *x)
{
    if (x[0] != last_x) {
        samples++;
        last_calls = calls;
        calls = 0;
        last_x = x[0];
    }
    calls++;
}

int sparsescope_apply(void *handle, const double *x, double *y, void *stream)
{
    (void)handle;
    (void)stream;
    count(x);
    if (FAULT == HANGS) hang();
    if (FAULT == WRITES_NOTHING) return 0;
    /* Right where a sample is one call, as in the first check and the last; or in all samples but two, of which
     * one may be repeated. */
    if (FAULT == ZEROS || (FAULT == WRONG_IF_REPEATED && calls > 1) || (FAULT == WRONG_ONCE && (samples == 10 || samples == 15))) {
        memset(y, 0, size_of_y * sizeof *y);
        return 0;
    }
    if (FAULT == LATE) {
        pthread_t thread;
        late_x = x;
        late_y = y;
        if (pthread_create(&thread, NULL, later, NULL) != 0) return 1;
        return pthread_detach(thread);
    }
    if (FAULT == KEEPS_Y) {
        if (x != known_x) product(x, kept);
        known_x = x;
        memcpy(y, kept, size_of_y * sizeof *y);
        return 0;
    }
    product(x, y);
    if (FAULT == PAST_Y) y[size_of_y] = 1;
    if (FAULT == CHANGES_X) ((double *)(uintptr_t)x)[0] += 1;
    /* In the last call of a sample, which is timed; those before may be for warming up. */
    if (FAULT == SLEEPS_ONCE && samples == 10 && calls == last_calls) sleep_ms(200);
    if (FAULT == PRINTS) {
        static const char text[] = "a line without an end";
        if (write(1, text, sizeof text - 1) < 0) return 1;
    }
    return 0;
}

/* The square of |b - A x|. */
static double squares(const double *b, const double *x)
{
    double squares = 0;
    for (uint64_t row = 0; row < a->rows; row++) {
        double rest = b[row];
        for (uint64_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; k++) rest -= a->val[k] * x[a->col[k]];
        squares += rest * rest;
    }
    return squares;
}

/* By Gauss-Seidel sweeps. */
int sparsescope_solve(void *handle, const double *b, const double *x0, double tolerance, uint64_t max_iterations,
                      double *x, uint64_t *iterations, void *stream)
{
    const uint64_t bytes = a->rows * sizeof *x;
    double goal = 0;
    (void)handle;
    (void)stream;
    count(b);
    *iterations = FAULT == KEEPS_Y ? known_iterations : 0;
    if (FAULT == WRITES_NOTHING) return 0;
    if (FAULT == WRONG_ONCE && (samples == 10 || samples == 15)) {
        *iterations = known_iterations;
        memcpy(x, x0, bytes);
        return 0;
    }
    memcpy(x, (FAULT == KEEPS_Y || FAULT == STARTS_AT_LAST) && known_x == b ? kept : x0, bytes);
    if (FAULT == UNCHANGED || (FAULT == KEEPS_Y && known_x == b)) return 0;
    if (FAULT == LOOSE) tolerance *= 100;
    for (uint64_t row = 0; row < a->rows; row++) goal += tolerance * b[row] * tolerance * b[row];
    for (; squares(b, x) > goal; ++*iterations) {
        if (*iterations == max_iterations) return SPARSESCOPE_NOT_CONVERGED;
        for (uint64_t row = 0; row < a->rows; row++) update(b, x, row);
    }
    known_x = b;
    known_iterations = *iterations;
    if (kept) memcpy(kept, x, bytes);
    if (FAULT == PAST_Y) x[size_of_y] = 1;
    if (FAULT == CHANGES_X) ((double *)(uintptr_t)b)[0] += 1;
    if (FAULT == COUNTS_WRONG) *iterations = max_iterations + 1;
    return 0;
}

void sparsescope_destroy(void *handle)
{
    free(handle);
}
