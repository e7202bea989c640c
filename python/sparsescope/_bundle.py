"""Result bundles."""

from __future__ import annotations

import atexit
import csv
import io
import os
import subprocess
import tempfile
import webbrowser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _native
from ._program import child, stop
from ._shown import CELL_BYTES, SVG_BYTES, Sent, Shown

_WHOLE = ("rows", "cols", "nnz", "threads", "block", "runs")
_TRUTHS = ("stand_in", "hot")
_TEXTS = frozenset(
    "matrix source op kernel origin backend device check precision params metric unit".split()
)
_CUT = (
    "The whole bundle needs more than the 5 MB of a cell: the viewer has its measurements, and no pictures of matrices "
    "or points. show() opens all of it in the browser."
)
_NUMBERS_OF_BEST = ("size", "rate", "pct_copy", "lead", "over", "k")


class Bundle(Shown):
    """Everything that one or more measurements found, as in a ``.zip`` of the program."""

    def __init__(self, native: _native.Bundle) -> None:
        self._native = native
        self._served: tuple[subprocess.Popen[str], str] | None = None

    @property
    def label(self) -> str | None:
        """The name that the user gave it."""
        return self._native.label

    @property
    def complete(self) -> bool:
        """Whether everything that was planned was measured."""
        return self._native.complete

    @property
    def operations(self) -> list[str]:
        """The operations of its runs."""
        return self._native.operations

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._native)

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"<sparsescope.Bundle of {len(self)} runs{state}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # As the content of its file; a copy has no viewer yet.
        return _of_bytes, (self._native.to_bytes(),)

    def svg(self) -> str | None:
        """Return the view "Best" as SVG of at most 60 kB, or the structure of its largest matrix.

        ``None`` if it has neither, or if the view needs more.
        """
        for link in self._links():
            drawn = self._native.svg(link, SVG_BYTES)
            if drawn is not None:
                return drawn
        return None

    def _links(self) -> list[str]:
        """Links to what a notebook shows of it, the first of which is drawn if it is small enough."""
        links = [f"v1;view=best;as={form};operation={one}" for one in self.operations[:1] for form in ("auto", "rates")]
        return [*links, "v1;view=spy"] if self._native.has_picture else links

    def _link(self) -> str:
        return self._links()[0] if self._links() else "v1;view=matrix"

    def _sent(self) -> Sent:
        content, is_whole = self._native.within(CELL_BYTES)
        if len(content) > CELL_BYTES:
            raise ValueError("The measurements need more than the 5 MB of a cell: show() opens them in the browser.")
        return Sent("result.zip", content, "" if is_whole else _CUT)

    def best(self, operation: str | None = None) -> list[dict[str, Any]]:
        """Return the fastest kernel on each matrix, as the view "Best" shows it: checked runs with warm caches.

        ``rate`` is in ``unit``; ``pct_copy`` is the share of the measured memory bandwidth in percent, ``lead`` the
        speed-up over the second, ``over`` over the reference. For SpMM, the runs compared are those with the number of
        columns of X, ``k``, that most runs have, or the largest such number on a tie. ``operation`` is the first one of
        the bundle by default; one that the bundle lacks is a ``ValueError``.
        """
        if operation is None:
            if not self.operations:
                return []
            operation = self.operations[0]
        elif operation not in self.operations:
            found = ", ".join(self.operations) or "none"
            raise ValueError(f"there are no runs of {operation!r}; the operations of the bundle: {found}")
        header, *lines = self._native.best(operation) or [[]]
        return [
            {name: _number(text) if name in _NUMBERS_OF_BEST else text for name, text in zip(header, line)}
            for line in lines
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of ``results.csv``, one element per run; ``None`` where a run has no value.

        Times (``median_s``, …) are in seconds, ``gflops`` in 10⁹ operations and ``gbs`` in 10⁹ bytes per second.
        """
        text = self._native.csv().decode()
        header, *lines = csv.reader(io.StringIO(text))
        return {name: [_cell(name, line[at]) for line in lines] for at, name in enumerate(header)}

    def to_pandas(self) -> Any:
        """Return the same as a data frame of pandas."""
        import pandas

        frame = pandas.DataFrame(self.to_dict())
        return frame.astype(_kinds(frame.columns, "Int64", "float64"))

    def to_polars(self) -> Any:
        """Return the same as a data frame of Polars."""
        import polars

        columns = self.to_dict()
        return polars.DataFrame(columns, schema_overrides=_kinds(columns, polars.Int64, polars.Float64))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the bundle to a file; fails with ``FileExistsError`` if it exists, unless ``overwrite`` is set."""
        content = self._native.to_bytes()
        with Path(path).open("wb" if overwrite else "xb") as file:
            file.write(content)

    def show(self) -> str:
        """Show the bundle in the web viewer, in the browser of this machine; returns the address.

        The viewer is served on 127.0.0.1 until the interpreter ends, once for each bundle.
        """
        if self._served is not None and self._served[0].poll() is None:
            webbrowser.open(self._served[1])
            return self._served[1]
        folder = Path(tempfile.mkdtemp(prefix="sparsescope-"))
        path = folder / "result.zip"
        self.save(path)
        served = child(["serve", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(_end, served, path)
        line = served.stdout.readline().strip() if served.stdout is not None else ""
        if not line:
            raise RuntimeError("the web viewer cannot be served; `sparsescope serve` says why")
        self._served = (served, line)
        webbrowser.open(line)
        return line


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open a result bundle. Exported as ``sparsescope.open``.

    Raises :class:`ReadError` if it is none; also a ``FileNotFoundError`` if it does not exist.
    """
    return Bundle(_native.Bundle.open(path))


def _of_bytes(content: bytes) -> Bundle:
    return Bundle(_native.Bundle.of_bytes(content))


def _end(served: subprocess.Popen[str], path: Path) -> None:
    stop(served)
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def _cell(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text
    if name in _TRUTHS:
        return text == "true"
    if not text:
        return None
    return int(text) if name in _WHOLE else float(text)


def _kinds(names: Iterable[str], whole: Any, real: Any) -> dict[str, Any]:
    """The types of the columns of numbers, also of one without a value."""
    return {name: whole if name in _WHOLE else real for name in names if name not in (*_TEXTS, *_TRUTHS)}


def _number(text: str) -> float | None:
    return float(text) if text else None
