"""See a sparse matrix, run its kernels on CPU and GPU, share the result as one file.

>>> import sparsescope as ss
>>> A = ss.read("gen:poisson2d?n=64")
>>> print(ss.info(A))                          # doctest: +SKIP
>>> P = ss.Operator(A)
>>> y = P @ x                                  # doctest: +SKIP
>>> s = ss.solve(A, b, precond="fsai")         # doctest: +SKIP
>>> ss.bench(A, kernels="cpu/csr/*").best()    # doctest: +SKIP

Shapes are rows x columns, times are in seconds, sizes in bytes. SciPy is imported where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._program import prepare as _prepare

_prepare()

from ._bench import bench  # noqa: E402
from ._bundle import Bundle  # noqa: E402
from ._bundle import open_bundle as open  # noqa: A004, E402
from ._errors import CheckFailed, NotDefinite, ReadError  # noqa: E402
from ._info import Info, info  # noqa: E402
from ._native import __version__  # noqa: E402
from ._read import read  # noqa: E402
from ._skyline import Skyline, skyline  # noqa: E402
from ._solve import Solution, solve  # noqa: E402
from ._spmv import spmv  # noqa: E402

if TYPE_CHECKING:
    from ._operator import Fsai, Operator, fsai

__all__ = [
    "Bundle",
    "CheckFailed",
    "Fsai",
    "Info",
    "NotDefinite",
    "Operator",
    "ReadError",
    "Skyline",
    "Solution",
    "__version__",
    "bench",
    "fsai",
    "info",
    "open",
    "read",
    "skyline",
    "solve",
    "spmv",
]


def __getattr__(name: str) -> Any:
    # Operators are classes of SciPy's, which takes long to import.
    if name in ("Fsai", "Operator", "fsai"):
        from . import _operator

        return getattr(_operator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
