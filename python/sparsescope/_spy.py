"""Pictures of matrices."""

from __future__ import annotations

from typing import Any, NoReturn

from . import _native
from ._convert import to_matrix
from ._shown import CELL_BYTES, SVG_BYTES, Sent, Shown, now

_CUT = (
    "The whole matrix needs more than the 5 MB of a cell: the viewer has the counts of its nonzeros per group of rows "
    "and columns, and no values."
)


class Spy(Shown):
    """Where the nonzeros of a matrix are, and how long its rows.

    It keeps a copy of the matrix for the live viewer; of a matrix that does not fit into a cell, until the viewer has
    been started.
    """

    def __init__(self, native: _native.Structure) -> None:
        self._native = native
        self._created = now()

    def svg(self) -> str | None:
        """Return the picture as SVG of at most 60 kB; ``None`` for a matrix without rows or columns."""
        return self._native.svg()

    def _link(self) -> str:
        return "v1;view=spy"

    def _sent(self) -> Sent:
        content, is_whole = self._native.bundle(self._created)
        return Sent("matrix.zip", content, "" if is_whole else _CUT)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Spy cannot be pickled: pickle the matrix and draw it there, or pickle svg()")

    def __repr__(self) -> str:
        rows, cols, nnz = self._native.size
        return f"{self._native.name}: {rows} x {cols}, {nnz} nonzeros"


def spy(A: Any, *, name: str = "matrix") -> Spy:
    """Draw the structure of an m x n matrix. In a notebook with anywidget, a click starts the live viewer.

    ``A`` is any matrix that :func:`spmv` takes. ``name`` is the title. Cells are darker where they have more
    nonzeros; the numbers of rows, columns and nonzeros are those of ``A``, with repeated ones counted once.
    """
    return Spy(_native.Structure(to_matrix(A), name, SVG_BYTES, CELL_BYTES))
