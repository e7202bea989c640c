"""Matrices and vectors of other libraries to ours, and back to SciPy."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_TAKEN = (
    "a matrix of scipy.sparse, CuPy, PyTorch (CSR or COO) or pydata/sparse, or a NumPy array of two "
    "dimensions, with float64 or float32 values"
)


def to_matrix(a: Any) -> _native.Matrix:
    """Copy a matrix of another library and validate it.

    Its indices may be int32 or int64, unsorted and repeated; values of repeated ones are summed, as SciPy does.
    A matrix on a GPU is copied to the host, with a warning.
    """
    if isinstance(a, _native.Matrix):
        return a
    held = getattr(a, "_sparsescope_matrix", None)
    if isinstance(held, _native.Matrix):
        return held
    if isinstance(a, np.ndarray):
        return _of_dense(a)
    library = type(a).__module__.partition(".")[0]
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(a):
        return _of_scipy(a)
    if library == "cupyx" and hasattr(a, "tocsr"):
        _say_copied("CuPy")
        return _of_scipy(a.tocsr().get())
    if library == "torch" and hasattr(a, "layout"):
        return _of_torch(a)
    if library == "sparse" and hasattr(a, "to_coo"):
        a = a.to_coo()
    if library == "sparse" and hasattr(a, "to_scipy_sparse"):
        return _of_scipy(a.to_scipy_sparse())
    raise TypeError(f"expected {_TAKEN}, found {_named(a)}")


def to_vector(x: Any, dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """Return a contiguous vector of real numbers in this precision, copied only if it has to be."""
    return _reals(x, dtype, what, 1)


def to_block(x: Any, dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """Return an array of two dimensions, stored by rows, in this precision, copied only if it has to be."""
    return _reals(x, dtype, what, 2)


def in_order_of(x: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Return y in Fortran order if x is, otherwise as it is."""
    return np.asfortranarray(y) if np.asarray(x).flags.fnc else y


def _reals(x: Any, dtype: np.dtype[Any], what: str, ndim: int) -> NDArray[Any]:
    found = np.asarray(x)
    if found.ndim != ndim:
        expected = "one dimension" if ndim == 1 else "two dimensions"
        raise ValueError(f"{what} must have {expected}, found {found.ndim}")
    if found.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be real numbers, found {found.dtype}")
    return np.ascontiguousarray(found, dtype=dtype)


def precision(matrix: _native.Matrix) -> np.dtype[Any]:
    """The dtype that kernels compute with."""
    return np.dtype(np.float32 if matrix.is_single else np.float64)


def to_scipy(
    shape: tuple[int, int], arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
) -> csr_array:
    """Wrap unsigned arrays in a ``csr_array``, without a copy unless SciPy needs wider indices."""
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ImportError("matrices are returned as scipy.sparse.csr_array: install scipy") from error
    indptr, indices, data = signed(shape, arrays)
    made = csr_array((data, indices, indptr), shape=shape, copy=False)
    # Readers and `Matrix` leave neither unsorted nor repeated columns.
    made.has_canonical_format = True
    return made


def signed(
    shape: tuple[int, int], arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The same arrays with signed indices, as SciPy has them."""
    indptr, indices, data = arrays
    # Offsets of 32 bits are below 2^31; columns reach 2^32.
    indptr = indptr.view(np.int32 if indptr.itemsize == 4 else np.int64)
    is_narrow = shape[1] <= np.iinfo(np.int32).max
    indices = indices.view(np.int32) if is_narrow else indices.astype(np.int64)
    return indptr, indices, data


def _of_scipy(a: Any) -> _native.Matrix:
    if a.ndim != 2:
        raise TypeError(f"expected {_TAKEN}, found one of {a.ndim} dimensions")
    _check_dtype(a.dtype)
    _check_indices(a)
    csr = a.tocsr()
    return _of_csr(csr.shape, csr.indptr, csr.indices, csr.data)


def _check_indices(a: Any) -> None:
    """Refuse indices that SciPy would follow out of its arrays when it converts to CSR."""
    rows, cols = a.shape
    match a.format:
        case "coo":
            _check_range(a.row, "row", rows, len(a.data))
            _check_range(a.col, "col", cols, len(a.data))
        case "csc":
            _check_compressed(a, cols, rows)
        case "bsr":
            high, wide = a.data.shape[1:]
            _check_compressed(a, rows // high, cols // wide)


def _check_compressed(a: Any, major: int, minor: int) -> None:
    offsets = _index(a.indptr)
    if offsets.size != major + 1:
        raise ValueError(f"indptr has {offsets.size} elements, expected {major + 1}")
    if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("indptr must start at 0 and not decrease")
    nnz = int(offsets[-1])
    if nnz > len(a.data):
        raise ValueError(f"data has {len(a.data)} elements, but indptr ends at {nnz}")
    _check_range(a.indices[:nnz], "indices", minor, nnz)


def _check_range(indices: Any, what: str, end: int, expected: int) -> None:
    found = _index(indices)
    if found.size != expected:
        raise ValueError(f"{what} has {found.size} elements, expected {expected}")
    if found.size:
        for number in (found.min(), found.max()):
            if not 0 <= number < end:
                raise ValueError(f"{what} has the index {number}, which is out of range for {end}")


def _of_csr(shape: Any, indptr: Any, indices: Any, data: Any) -> _native.Matrix:
    rows, cols = (int(size) for size in shape)
    _check_dtype(data.dtype)
    offsets, columns = _index(indptr), _index(indices)
    values = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("="))
    # SciPy allows arrays that are longer than the matrix.
    nnz = int(offsets[-1]) if offsets.size else 0
    if nnz >= 0:
        columns, values = columns[:nnz], values[:nnz]
    return _native.Matrix(rows, cols, offsets, columns, values)


def _of_dense(a: NDArray[Any]) -> _native.Matrix:
    if a.ndim != 2:
        raise TypeError(f"expected {_TAKEN}, found an array of {a.ndim} dimensions")
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError("a masked array has elements without a value: fill them, as a.filled(0) does")
    _check_dtype(a.dtype)
    a = np.asarray(a)  # of a np.matrix
    row, col = np.nonzero(a)
    indptr = np.zeros(a.shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=a.shape[0]), out=indptr[1:])
    return _of_csr(a.shape, indptr, col, a[row, col])


def _of_torch(a: Any) -> _native.Matrix:
    if a.device.type != "cpu":
        _say_copied("PyTorch")
    host = a.detach().cpu()
    layout = str(host.layout)
    if layout == "torch.sparse_coo":
        # Repeated indices are summed here, sorted by row.
        host = host.coalesce().to_sparse_csr()
    elif layout != "torch.sparse_csr":
        raise TypeError(f"expected {_TAKEN}, found a tensor of layout {layout}")
    parts = (host.crow_indices(), host.col_indices(), host.values())
    indptr, indices, data = (part.numpy() for part in parts)
    return _of_csr(tuple(host.shape), indptr, indices, data)


def _index(array: Any) -> NDArray[Any]:
    found = np.asarray(array)
    if found.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, found {found.dtype}")
    if found.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        found = found.astype(np.int64)
    return np.ascontiguousarray(found)


def _check_dtype(dtype: Any) -> None:
    if dtype.newbyteorder("=") not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise TypeError(f"expected values in float64 or float32, found {dtype}: convert with astype(float)")


def _say_copied(library: str) -> None:
    warnings.warn(f"the matrix of {library} was copied to the host", stacklevel=4)


def _named(a: object) -> str:
    kind = type(a)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
