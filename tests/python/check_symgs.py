"""Compares Gauss-Seidel sweeps: check_symgs.py WITH PRECISION MATRIX B X0 ORDER,SWEEPS,X...

WITH scipy: a symmetric sweep in standard mode is solved as two systems with triangles of A. pyamg: its
gauss_seidel sweeps. ORDER natural takes the rows as they come, colors takes them colour by colour, each
row's colour the smallest that no neighbour before it has. Every element of each X must be within a
share of the largest element of the result: 1e-12, or 1e-5 in f32.
"""

import sys

import numpy
import scipy.io
import scipy.sparse
from scipy.sparse.linalg import spsolve_triangular


def vector(path):
    return numpy.asarray(scipy.io.mmread(path)).reshape(-1)


def by_color(a):
    # Entries that are stored as 0 are neighbours too.
    pattern = scipy.sparse.csr_array((numpy.ones(a.nnz), a.indices, a.indptr), shape=a.shape)
    pattern = scipy.sparse.csr_array(pattern + pattern.T)
    color = numpy.full(a.shape[0], -1)
    for i in range(a.shape[0]):
        taken = set(color[pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]])
        color[i] = next(c for c in range(len(taken) + 1) if c not in taken)
    return numpy.argsort(color, kind="stable")


def by_scipy(a, b, x, sweeps):
    lower, upper = scipy.sparse.tril(a, format="csr"), scipy.sparse.triu(a, format="csr")
    above, below = scipy.sparse.triu(a, 1, format="csr"), scipy.sparse.tril(a, -1, format="csr")
    for _ in range(sweeps):
        x = spsolve_triangular(lower, b - above @ x, lower=True)
        x = spsolve_triangular(upper, b - below @ x, lower=False)
    return x


def by_pyamg(a, b, x, sweeps):
    from pyamg.relaxation.relaxation import gauss_seidel

    gauss_seidel(scipy.sparse.csr_array(a), x, b, iterations=sweeps, sweep="symmetric")
    return x


def main(program, precision, matrix, b, x0, *results):
    dtype = {"f64": numpy.float64, "f32": numpy.float32}[precision]
    a = scipy.sparse.csr_array(scipy.sparse.coo_array(scipy.io.mmread(matrix)))
    a.sum_duplicates()
    a, b, x0 = a.astype(dtype), vector(b).astype(dtype), vector(x0).astype(dtype)
    for result in results:
        order, sweeps, path = result.split(",")
        rows = numpy.arange(a.shape[0]) if order == "natural" else by_color(a)
        ordered = scipy.sparse.csr_array(a[rows][:, rows])
        ordered.sort_indices()
        sweep = {"scipy": by_scipy, "pyamg": by_pyamg}[program]
        expected = numpy.empty_like(x0)
        expected[rows] = sweep(ordered, b[rows], x0[rows], int(sweeps))
        found = vector(path)
        if found.shape != expected.shape:
            sys.exit(f"{path}: {found.shape} rows instead of {expected.shape}")
        differences = abs(found - expected) / abs(expected).max()
        wrong = numpy.flatnonzero(~(differences <= {"f64": 1e-12, "f32": 1e-5}[precision]))
        if wrong.size:
            i = wrong[0]
            sys.exit(
                f"{path}: row {i} is {found[i]!r} instead of {expected[i]!r}; {wrong.size} rows are wrong,"
                f" the worst by {differences.max():.1e} of the largest element"
            )


main(*sys.argv[1:])
