"""Compares products with SciPy's: check_spmv.py MATRIX X Y...

Every row of each Y must be within 1e-12 of sum |a_ij x_j| of SciPy's product; prints rows,
columns and stored entries of the matrix as SciPy reads it.
"""

import sys

import numpy
import scipy.io
import scipy.sparse


def vector(path):
    return numpy.asarray(scipy.io.mmread(path)).reshape(-1)


def main(matrix, x, *results):
    a = scipy.sparse.coo_array(scipy.io.mmread(matrix)).tocsr()
    a.sum_duplicates()
    x = vector(x)
    expected = a @ x
    allowed = 1e-12 * (abs(a) @ abs(x))
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
