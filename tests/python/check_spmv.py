"""Compares products with SciPy's: check_spmv.py PRECISION MATRIX X Y...

PRECISION f64: every row of each Y must be within 1e-12 of sum |a_ij x_j| of SciPy's product. f32:
the matrix and x are rounded to single precision first, and a row of n entries must be within
2 n 2^-24 of that sum. Prints rows, columns and stored entries of the matrix as SciPy reads it.
"""

import sys

import numpy
import scipy.io
import scipy.sparse


def vector(path):
    return numpy.asarray(scipy.io.mmread(path)).reshape(-1)


def main(precision, matrix, x, *results):
    a = scipy.sparse.coo_array(scipy.io.mmread(matrix)).tocsr()
    a.sum_duplicates()
    x = vector(x)
    share = 1e-12
    if precision == "f32":
        a.data = a.data.astype(numpy.float32).astype(numpy.float64)
        x = x.astype(numpy.float32).astype(numpy.float64)
        share = 2 * numpy.diff(a.indptr) * 2.0**-24
    expected = a @ x
    allowed = share * (abs(a) @ abs(x))
    for result in results:
        y = vector(result)
        if y.shape != expected.shape:
            sys.exit(f"{result}: {y.shape} rows instead of {expected.shape}")
        wrong = numpy.flatnonzero(~(abs(y - expected) <= allowed))
        if wrong.size:
            i = wrong[0]
            sys.exit(f"{result}: row {i} is {y[i]!r} instead of {expected[i]!r}; {wrong.size} rows are wrong")
    print(a.shape[0], a.shape[1], a.nnz)


main(*sys.argv[1:])
