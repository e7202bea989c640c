"""Reorders the pattern of A + A^T with SciPy's reverse Cuthill-McKee: check_rcm.py MATRIX.

Prints the lower and the upper bandwidth of A, then the larger one and the profile of the reordered
A.
"""

import sys

import numpy
import scipy.io
import scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee


def main(matrix):
    a = scipy.sparse.coo_array(scipy.io.mmread(matrix))
    ones = scipy.sparse.csr_array((numpy.ones(a.nnz), (a.row, a.col)), shape=a.shape)
    order = reverse_cuthill_mckee(scipy.sparse.csr_matrix(ones + ones.T), symmetric_mode=True)
    number = numpy.empty_like(order)
    number[order] = numpy.arange(order.size, dtype=order.dtype)
    row, col = number[a.row].astype(int), number[a.col].astype(int)
    first = numpy.arange(order.size)
    numpy.minimum.at(first, row, col)
    profile = int((numpy.arange(order.size) - first).sum())
    lower = max(int((a.row.astype(int) - a.col).max()), 0)
    upper = max(int((a.col.astype(int) - a.row).max()), 0)
    print(lower, upper, int(abs(row - col).max()), profile)


main(*sys.argv[1:])
