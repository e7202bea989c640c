"""The skyline (Pareto front) of points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._shown import Drawn


@dataclass(frozen=True, eq=False)
class Skyline(Drawn["_native.Front"]):
    """The points that no other point dominates.

    A notebook shows the points in the first two columns compared, better values to the right and at the top; of more
    than 100 000 points a sample and the density. ``svg()`` returns that picture. Until it is first drawn, the result
    keeps a copy of the points.
    """

    #: Whether each of the N points belongs to the skyline.
    mask: NDArray[np.bool_]
    #: The positions of those that do, ascending, from 0.
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.rows.size)


def skyline(
    points: Any,
    *,
    minimize: str | Iterable[Any] | None = None,
    maximize: str | Iterable[Any] | None = None,
    kernel: str = "cpu/skyline/fast",
    threads: int | None = None,
    device: int = 0,
) -> Skyline:
    """Find the skyline of N points in D dimensions; the result is certified.

    Parameters
    ----------
    points
        A data frame, a mapping of columns, or an N x D array; of floats, truth values, or integers up to 2⁵³.
    minimize, maximize
        The columns to compare, by name, or by number in an array: smaller is better in the first, larger in the
        second. Without both, all columns of ``points``, where larger is better.
    kernel, threads, device
        As for :func:`spmv`.

    Raises
    ------
    ValueError
        If a coordinate is NaN, or a column does not exist or has other values.
    """
    names = _names(points)
    if names is None:
        points = np.asarray(points)
        if points.ndim != 2:
            raise ValueError(f"expected a data frame, a mapping of columns or an N x D array, found {points.ndim}-D")
    low, high = ([one] if isinstance(one, str) else [] if one is None else list(one) for one in (minimize, maximize))
    if not low and not high:
        high = list(range(points.shape[1])) if names is None else names
    columns = [_column(points, names, name) for name in [*low, *high]]
    if not columns:
        raise ValueError("expected at least one column of points, found none")
    table = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)
    titles = [str(name) if names is not None else f"column {name}" for name in [*low, *high]]
    described = [(title, at < len(low)) for at, title in enumerate(titles)]
    found, front = _native.skyline(table, described, kernel, threads, device)
    rows = found.astype(np.int64)
    mask = np.zeros(table.shape[0], dtype=np.bool_)
    mask[rows] = True
    result = Skyline(mask, rows)
    object.__setattr__(result, "_drawing", front)
    return result


def _names(points: Any) -> list[Any] | None:
    """The names of the columns, if they have names: of a frame, a mapping or an array of records."""
    if hasattr(points, "collect"):
        raise ValueError("points is a lazy frame: call its collect() first")
    fields = getattr(getattr(points, "dtype", None), "names", None)
    named = fields or getattr(points, "columns", None)
    if named is None and hasattr(points, "keys"):
        named = points.keys()
    return None if named is None else list(named)


def _column(points: Any, names: list[Any] | None, name: Any) -> NDArray[np.float64]:
    is_known = (isinstance(name, (int, np.integer)) and not isinstance(name, bool)) if names is None else name in names
    try:
        if not is_known:
            raise KeyError(name)
        column = np.asarray(points[name] if names is not None else points[:, name])
    except (KeyError, IndexError) as error:
        raise ValueError(f"there is no column {name!r} of points") from error
    if column.ndim != 1:
        raise ValueError(f"expected one column {name!r} of points, found an array of shape {column.shape}")
    if column.dtype.kind not in "fiub":
        raise ValueError(f"column {name!r} of points: expected numbers, found {column.dtype}")
    if column.dtype.kind in "iu" and column.size and (column.max() > 2**53 or column.min() < -(2**53)):
        raise ValueError(f"column {name!r} of points has an integer beyond 2^53, which float64 may round")
    return column.astype(np.float64)
