"""Read matrices from files and recipes."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from . import _native
from ._convert import to_scipy

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def read(
    source: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    *,
    base: int | None = None,
    undirected: bool = False,
    compress_ids: bool = False,
    variable: str | None = None,
) -> csr_array:
    """Read a matrix, or generate one.

    Parameters
    ----------
    source
        A file in any form that ``sparsescope info`` reads (Matrix Market, edge lists, METIS, MATLAB, PETSc,
        Harwell- and Rutherford-Boeing, NumPy, SciPy, …), compressed or not; or ``gen:KIND?key=value&...`` or
        ``suite:NAME``.
    base
        The number of the first vertex of an edge list, 0 or 1; from the file by default.
    undirected
        Whether to add the opposite of each edge of an edge list.
    compress_ids
        Whether to number the vertices of an edge list without gaps.
    variable
        The variable of a MATLAB or HDF5 file, or a path in it: ``"Problem.A"``, ``"layers/counts"``.

    Returns
    -------
    csr_array
        An m x n matrix in float64. Its arrays are the ones that were read, not copies. Columns ascend in each
        row, and duplicates of the file are summed.

    Raises
    ------
    ReadError
        With ``path`` and ``line``, if the file is not a real matrix; also a ``FileNotFoundError`` if it does not exist.
    """
    shape, arrays, _, remarks = _native.read(os.fsdecode(source), base, undirected, compress_ids, variable)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return to_scipy(shape, arrays)
