"""Solves A x = ones with SciPy's conjugate gradients: check_solve.py MATRIX PRECONDITIONER G X ITERATIONS

PRECONDITIONER is none, jacobi, symgs (a symmetric Gauss-Seidel sweep from zero) or fsai, whose factor is
in the file G. SciPy must take as many iterations to a relative residual of 1e-10: one more or less below
100, one in a hundred above, one in twenty where rounding limits the residual. X must solve the system.
"""

import sys

import numpy
import scipy.io
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg, spsolve_triangular

TOLERANCE = 1e-10


def read(path):
    return scipy.sparse.csr_array(scipy.sparse.coo_array(scipy.io.mmread(path)))


def preconditioner(a, name, path):
    diagonal = a.diagonal()
    if name == "none":
        apply = numpy.copy
    elif name == "jacobi":
        apply = lambda r: r / diagonal
    elif name == "symgs":
        lower, upper = scipy.sparse.tril(a, format="csr"), scipy.sparse.triu(a, format="csr")
        apply = lambda r: spsolve_triangular(
            upper, diagonal * spsolve_triangular(lower, r, lower=True), lower=False
        )
    else:
        g = read(path)
        apply = lambda r: g.T @ (g @ r)
    return LinearOperator(a.shape, matvec=apply)


def main(matrix, name, g, solution, iterations):
    a, iterations = read(matrix), int(iterations)
    b = numpy.ones(a.shape[0])
    counted = 0

    def count(_):
        nonlocal counted
        counted += 1

    m = preconditioner(a, name, g)
    expected, left = cg(a, b, rtol=TOLERANCE, atol=0.0, maxiter=100_000, M=m, callback=count)
    if left != 0:
        sys.exit(f"SciPy's conjugate gradients ended with {left}")
    x = numpy.asarray(scipy.io.mmread(solution)).reshape(-1)
    norm = numpy.linalg.norm(b)
    rounding = numpy.finfo(float).eps * numpy.linalg.norm(abs(a) @ abs(x)) / norm
    residual = numpy.linalg.norm(b - a @ x) / norm
    if not residual <= 1.1 * TOLERANCE + 10 * rounding:
        sys.exit(f"the relative residual is {residual:.3e}")
    share = 0.01 if rounding <= TOLERANCE / 100 else 0.05
    allowed = max(1, share * counted)
    if abs(iterations - counted) > allowed:
        sys.exit(f"{iterations} iterations, SciPy takes {counted}")


main(*sys.argv[1:])
