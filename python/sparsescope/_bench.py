"""Measure kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._bundle import Bundle, open_bundle
from ._convert import signed, to_matrix
from ._errors import FileMissing, ReadError
from ._program import child, stop

#: The program's exit codes.
_CHECK_FAILED, _INTERRUPTED = 3, 130
#: Options that the package sets itself, or that only print.
_REFUSED = frozenset("all force help json no_report no_summary plan quiet verbose".split())
#: A name that is a file name everywhere, too.
_NAME = re.compile(r"\w[\w .,=+()-]{0,59}")


def bench(
    A: Any,
    *,
    kernels: str | Iterable[str] | None = None,
    threads: int | Iterable[int] | None = None,
    operation: str = "spmv",
    runs: int | None = None,
    name: str = "matrix",
    in_process: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Bundle:
    """Measure kernels on matrices; every result is checked.

    Ctrl-C, or the notebook's stop button, ends the measurement and returns what was measured: then
    ``Bundle.complete`` is false. Before the first result it raises ``KeyboardInterrupt``. What the program remarks,
    such as a matrix that repeats, is a warning.

    Parameters
    ----------
    A
        An m x n matrix, as for :func:`spmv`; a file, ``gen:KIND?key=value&...`` or ``suite:NAME``; or a list of
        these.
    kernels
        Ids or patterns such as ``"cpu/csr/*"``; all that run here by default.
    threads
        Thread counts of parallel CPU kernels; 1, 2, 4, … and all of the machine by default.
    operation
        What to compute, as ``sparsescope bench --help`` lists it.
    runs
        Timed samples per run; 20 by default.
    name
        The name of a matrix that is not a file: up to 60 letters, digits, spaces and ``.,=+()-_``; the first is a
        letter or a digit.
    in_process
        Whether to measure in this process, not in a child: for small things, as a fault of a GPU would end it.
    progress
        Whether to show a bar, with tqdm; by default where tqdm is installed and somebody may look.
    **options
        Other options of ``sparsescope bench --help``, with ``_`` for ``-``: ``cold=True``, ``until="1%"``,
        ``precision="f32"``, …

    Raises
    ------
    ReadError
        If no matrix can be read; also a ``FileNotFoundError`` if the first does not exist.
    ValueError
        With the program's sentence, if nothing was measured for another reason.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        expected = "a name of 1 to 60 letters, digits, spaces and .,=+()-_ that begins with a letter or digit"
        raise ValueError(f"expected {expected}, found {name!r}")
    for option in sorted(_REFUSED & options.keys()):
        raise ValueError(f"`{option}` is an option of the command only: bench() returns the bundle and prints nothing")
    with tempfile.TemporaryDirectory(prefix="sparsescope-") as folder:
        sources, is_single = _sources(A, name, Path(folder))
        output = Path(folder) / ".result.zip"
        if is_single:
            options.setdefault("precision", "f32")
        given = {"kernels": kernels, "threads": threads, "operation": operation, "runs": runs, **options}
        flags = [word for option, value in given.items() for word in _flag(option, value)]
        args = ["bench", *sources, *flags, "-o", str(output), "--no-report", "--no-summary"]
        code, lines = _measured_here(args) if in_process else _measured(args, progress)
        if not output.is_file():
            if code == _INTERRUPTED:
                raise KeyboardInterrupt
            raise _failure(lines, code, sources)
        bundle = open_bundle(output)
    if code != _INTERRUPTED:
        for line in filter(None, map(_sentence, lines)):
            warnings.warn(line, stacklevel=2)
    if code == _CHECK_FAILED:
        warnings.warn("a run failed its check: see the column `check`", stacklevel=2)
    return bundle


def _measured_here(args: list[str]) -> tuple[int, list[str]]:
    """Measure in this process; returns the exit code and the lines of standard error."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        kept, said = os.dup(2), ""
        os.dup2(file.fileno(), 2)
        try:
            code = _native.measure(["sparsescope", *args, "--quiet"])
        except KeyboardInterrupt:
            code = _INTERRUPTED
        except ValueError as error:
            code, said = 1, f"error: {error}"
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return code, [*file, *said.splitlines()]


def _measured(args: list[str], progress: bool | None) -> tuple[int, list[str]]:
    """Measure in a child process; returns its exit code and its lines on standard error, less its progress."""
    process = child([*args, "--progress", "json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    bar = _bar(progress)
    lines: list[str] = []
    is_stopped = False
    assert process.stdin is not None and process.stderr is not None
    try:
        while True:
            try:
                for line in process.stderr:
                    share = _share(line)
                    if share is None:
                        lines.append(line)
                    elif bar is not None:
                        bar.n = round(100 * share)
                        bar.refresh()
                code = process.wait()
                # A child that was stopped while it was being loaded has another code.
                return (_INTERRUPTED if is_stopped and code != _CHECK_FAILED else code), lines
            except KeyboardInterrupt:
                # It writes what was measured and ends; asked again, it ends at once.
                is_stopped = True
                stop(process)
    finally:
        if bar is not None:
            bar.close()
        process.stdin.close()
        process.stderr.close()


def _sentence(line: str) -> str:
    return re.sub("^(error: )+", "", line.strip())


def _failure(lines: list[str], code: int, sources: list[str]) -> ValueError:
    """Why nothing was measured: the lines from the first error to an empty one, or a file that cannot be read."""
    first = next((at for at, line in enumerate(lines) if line.startswith("error: ")), 0)
    told = [_sentence(line) for line in lines[first:]]
    if not any(told):
        return ValueError(f"the measurement ended with exit code {code}")
    for source in sources:
        if told[0].startswith(f"{source}: "):
            kind = ReadError if os.path.exists(source) else FileMissing
            number = re.match(r"line (\d+)", told[0].removeprefix(f"{source}: "))
            return kind(told[0], source, int(number[1]) if number else None)
    return ValueError("\n".join(told[: told.index("")] if "" in told else told))


def _share(line: str) -> float | None:
    """The share that is done, if the line says it."""
    if not line.startswith("{"):
        return None
    try:
        return float(json.loads(line)["share"])
    except (ValueError, KeyError, TypeError):
        return None


def _bar(progress: bool | None) -> Any:
    if progress is False or (progress is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules)):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise
        return None
    return tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed} left {remaining}")


def _sources(a: Any, name: str, folder: Path) -> tuple[list[str], bool]:
    """The matrices as the program names them, and whether all that are not files are in float32."""
    several = a if isinstance(a, (list, tuple)) else [a]
    words: list[str] = []
    singles: list[bool] = []
    for at, one in enumerate(several):
        if isinstance(one, (str, os.PathLike)):
            words.append(os.fspath(one))
            continue
        matrix = to_matrix(one)
        stem = name if len(several) == 1 else f"{name}-{at + 1}"
        path = folder / stem
        _write(matrix, path)
        words.append(str(path))
        singles.append(matrix.is_single)
    return words, bool(singles) and all(singles)


def _write(matrix: _native.Matrix, path: Path) -> None:
    """Write a matrix as SciPy's ``save_npz`` does."""
    indptr, indices, data = signed(matrix.shape, matrix.arrays())
    shape = np.array(matrix.shape, dtype=np.int64)
    # Through a file: to a path, NumPy appends `.npz`, and the name of the file is that of the matrix.
    with path.open("wb") as file:
        np.savez(file, indices=indices, indptr=indptr, format=np.array(b"csr"), shape=shape, data=data)


def _flag(option: str, value: Any) -> list[str]:
    word = "--" + option.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [word]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        value = ",".join(str(one) for one in value)
    if value == "":
        raise ValueError(f"`{option}` is empty; leave it out for the default")
    return [f"{word}={value}"]
