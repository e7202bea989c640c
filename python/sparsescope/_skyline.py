"""The skyline (Pareto front) of points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native


@dataclass(frozen=True)
class Skyline:
    """The points that no other point dominates."""

    #: Whether each of the N points belongs to the skyline.
    mask: NDArray[np.bool_]
    #: The positions of those that do, ascending, from 0.
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.rows.size)


def skyline(
    points: Any,
    *,
    minimize: Iterable[Any] | None = None,
    maximize: Iterable[Any] | None = None,
    kernel: str = "cpu/skyline/fast",
    threads: int | None = None,
    device: int = 0,
) -> Skyline:
    """Find the skyline of N points in D dimensions; the result is certified.

    Parameters
    ----------
    points
        A data frame, a mapping of columns, or an N x D array.
    minimize, maximize
        The columns to compare, by name, or by number in an array: smaller is better in the first, larger in the
        second. Without both, all columns of ``points``, where larger is better.
    kernel, threads, device
        As for :func:`spmv`.

    Raises
    ------
    ValueError
        If a coordinate is NaN or a column does not exist.
    """
    low, high = list(minimize or ()), list(maximize or ())
    if not low and not high:
        high = list(points.keys()) if hasattr(points, "keys") else list(range(np.shape(points)[1]))
    columns = [_column(points, name) for name in [*low, *high]]
    if not columns:
        raise ValueError("expected at least one column of points, found none")
    table = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)
    minimized = [True] * len(low) + [False] * len(high)
    found = _native.skyline(table, minimized, kernel, threads, device).astype(np.int64)
    mask = np.zeros(table.shape[0], dtype=np.bool_)
    mask[found] = True
    return Skyline(mask, found)


def _column(points: Any, name: Any) -> NDArray[Any]:
    try:
        column = points[name] if hasattr(points, "keys") else np.asarray(points)[:, name]
    except (KeyError, IndexError) as error:
        raise ValueError(f"there is no column {name!r} of points") from error
    return np.asarray(column, dtype=np.float64)
