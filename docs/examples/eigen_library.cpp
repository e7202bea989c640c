// y = A x with Eigen, as a kernel library in C++.
// c++ -O3 -shared -fPIC -fopenmp -I/usr/include/eigen3 -o libeigen.so eigen_library.cpp

#include <algorithm>
#include <climits>

#include <Eigen/Sparse>

#include "sparsescope_kernel.h"

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

const sparsescope_kernel *sparsescope_describe(void)
{
    static const sparsescope_kernel kernel = {
        SPARSESCOPE_KERNEL_VERSION, "product", "Eigen, in C++", SPARSESCOPE_CPU, SPARSESCOPE_SPMV};
    return &kernel;
}

// An exception, such as that of too little memory, ends only this library's process.
int sparsescope_prepare(const sparsescope_csr *a, uint32_t threads, void **handle)
{
    // Eigen's indices are int unless another type is named.
    if (std::max({a->rows, a->cols, a->nonzeros}) > INT_MAX) return 1;
    Eigen::setNbThreads(static_cast<int>(threads));
    auto matrix = new Matrix(a->rows, a->cols);
    matrix->resizeNonZeros(a->nonzeros);
    std::copy_n(a->row_ptr, a->rows + 1, matrix->outerIndexPtr());
    std::copy_n(a->col, a->nonzeros, matrix->innerIndexPtr());
    std::copy_n(a->val, a->nonzeros, matrix->valuePtr());
    *handle = matrix;
    return 0;
}

int sparsescope_apply(void *handle, const double *x, double *y, void *)
{
    const Matrix &a = *static_cast<const Matrix *>(handle);
    Eigen::Map<Vector>(y, a.rows()).noalias() = a * Eigen::Map<const Vector>(x, a.cols());
    return 0;
}

void sparsescope_destroy(void *handle)
{
    delete static_cast<Matrix *>(handle);
}
