"""Describe matrices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native
from ._convert import to_matrix


class Info(Mapping[str, Any]):
    """Statistics of a matrix, by the names of ``sparsescope info --json``; prints as a table.

    Sizes of formats are in bytes; ``padding`` is slots per nonzero.
    """

    def __init__(self, statistics: dict[str, Any], text: str) -> None:
        self._statistics = statistics
        self._text = text

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

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics."""
        copy: dict[str, Any] = json.loads(json.dumps(self._statistics))
        return copy


def info(A: Any, *, name: str = "matrix") -> Info:
    """Compute the statistics of an m x n matrix, and the bytes and padding of each format.

    ``A`` is any matrix that :func:`spmv` takes. ``name`` is the first line of the table.
    """
    statistics, text = _native.info(to_matrix(A), name)
    return Info(json.loads(statistics), text)
