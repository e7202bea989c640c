"""Pictures of matrices."""

from __future__ import annotations

from typing import Any

from . import _native
from ._convert import to_matrix
from ._shown import SVG_BYTES, pictured


class Spy:
    """Where the nonzeros of a matrix are, and how long its rows. A notebook shows it as a picture."""

    def __init__(self, native: _native.Structure) -> None:
        self._native = native

    def svg(self) -> str | None:
        """Return the picture as SVG of at most 60 kB; ``None`` for a matrix without rows or columns."""
        return self._native.svg(SVG_BYTES)

    def __repr__(self) -> str:
        rows, cols, nnz = self._native.size
        return f"{self._native.name}: {rows} x {cols}, {nnz} nonzeros"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return pictured(self.svg(), repr(self))


def spy(A: Any, *, name: str = "matrix") -> Spy:
    """Draw the structure of an m x n matrix.

    ``A`` is any matrix that :func:`spmv` takes. ``name`` is the title. Cells are darker where they have more
    nonzeros; the numbers of rows, columns and nonzeros are those of ``A``, with repeated ones counted once.
    """
    return Spy(_native.Structure(to_matrix(A), name, SVG_BYTES, 0))
