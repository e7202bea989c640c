"""One checked product, with a vector or with several."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from . import _native
from ._convert import in_order_of, precision, to_block, to_matrix, to_vector


def spmv(
    A: Any,
    x: ArrayLike,
    *,
    kernel: str = "cpu/spmv/auto",
    threads: int | None = None,
    device: int = 0,
) -> NDArray[Any]:
    """Compute y = A·x once by a kernel, and check y against a reference.

    For one product after another, prepare an :class:`Operator`.

    Parameters
    ----------
    A
        An m x n matrix of scipy.sparse, CuPy, PyTorch or pydata/sparse, or a dense NumPy array, in float64 or
        float32. It is copied.
    x
        A vector of n elements on the host, converted to the precision of ``A``. An :class:`Operator` also takes
        vectors on a GPU.
    kernel
        The id of a kernel for the CPU or a GPU, as ``sparsescope kernels`` lists them.
    threads
        Threads of a parallel CPU kernel; all of the machine by default.
    device
        The number of the GPU, for a kernel that runs on one.

    Returns
    -------
    ndarray
        y, a vector of m elements in the precision of ``A``.

    Raises
    ------
    CheckFailed
        If y is wrong.
    ValueError
        If there is no such kernel, or it cannot run here or on this matrix.
    """
    matrix = to_matrix(A)
    return _native.spmv(matrix, to_vector(x, precision(matrix), "x"), kernel, threads, device)


def spmm(
    A: Any,
    X: ArrayLike,
    *,
    kernel: str = "cpu/spmm/simd",
    threads: int | None = None,
    device: int = 0,
) -> NDArray[Any]:
    """Compute Y = A·X once by a kernel, and check each column of Y against a reference.

    For one product after another, prepare an :class:`Operator`.

    Parameters
    ----------
    A
        An m x n matrix, as for :func:`spmv`. It is copied.
    X
        An n x k array on the host, where k is 1 to 1024, converted to the precision of ``A``. Kernels read it by rows:
        an array in another order than C is copied.
    kernel
        The id of a kernel of SpMM for the CPU or a GPU, as ``sparsescope kernels`` lists them.
    threads
        Threads of a parallel CPU kernel; all of the machine by default.
    device
        The number of the GPU, for a kernel that runs on one.

    Returns
    -------
    ndarray
        Y, an m x k array in the precision of ``A``, in Fortran order if X is, otherwise in C order.

    Raises
    ------
    CheckFailed
        If Y is wrong.
    ValueError
        If X does not fit, there is no such kernel, or it cannot run here or on this matrix.
    """
    matrix = to_matrix(A)
    block = to_block(X, precision(matrix), "X")
    (rows, cols), (found, k) = matrix.shape, block.shape
    if found != cols:
        raise ValueError(f"X has {found} rows, but the matrix has {cols} columns")
    y = _native.spmm(matrix, block.reshape(-1), k, kernel, threads, device)
    return in_order_of(X, y.reshape(rows, k))
