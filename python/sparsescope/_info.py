"""Describe matrices."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from . import _native
from ._convert import to_matrix
from ._shown import SVG_BYTES


class Info(Mapping[str, Any]):
    """Statistics of a matrix, by the names of ``sparsescope info --json``; prints as a table.

    Sizes of formats are in bytes; ``padding`` is slots per nonzero. A notebook shows the structure, too.
    """

    def __init__(self, native: _native.Structure) -> None:
        self._statistics: dict[str, Any] = json.loads(native.statistics())
        self._text = native.text()
        # The picture of a large matrix is made now, so that the matrix is not kept.
        self._svg = native.svg() if native.is_large else None
        self._native = None if native.is_large else native

    def __getitem__(self, name: str) -> Any:
        return self._statistics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._statistics)

    def __len__(self) -> int:
        return len(self._statistics)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # Notebooks show only the richest form, so the table is part of it.
        svg = (self._svg if self._native is None else self._native.svg()) or ""
        return {"text/plain": self._text, "text/html": f"<pre>{html.escape(self._text)}</pre>\n{svg}"}

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Info cannot be pickled: pickle to_dict()")

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics."""
        copy: dict[str, Any] = json.loads(json.dumps(self._statistics))
        return copy


def info(A: Any, *, name: str = "matrix") -> Info:
    """Compute the statistics of an m x n matrix, and the bytes and padding of each format.

    ``A`` is any matrix that :func:`spmv` takes. ``name`` is the first line of the table.
    """
    return Info(_native.Structure(to_matrix(A), name, SVG_BYTES, 0))
