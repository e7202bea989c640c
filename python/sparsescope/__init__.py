"""See a sparse matrix, run its kernels on CPU and GPU, share the result as one file.

>>> import sparsescope as ss
>>> A = ss.read("gen:poisson2d?n=64")
>>> print(ss.info(A))                          # doctest: +SKIP
>>> ss.spy(A)                                  # doctest: +SKIP
>>> P = ss.Operator(A)
>>> y, Y = P @ x, P @ X                        # doctest: +SKIP
>>> s = ss.solve(A, b, precond="fsai")         # doctest: +SKIP
>>> ss.bench(A, kernels="cpu/csr/*").best()    # doctest: +SKIP

Shapes are rows x columns, times are in seconds, sizes in bytes. SciPy is imported where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._program import prepare as _prepare

_prepare()

from ._errors import CheckFailed, NotDefinite, ReadError  # noqa: E402
from ._info import Info, info  # noqa: E402
from ._native import __version__  # noqa: E402
from ._read import read  # noqa: E402
from ._spmv import spmm, spmv  # noqa: E402

if TYPE_CHECKING:
    from ._bench import bench
    from ._bundle import Bundle
    from ._bundle import open_bundle as open  # noqa: A004
    from ._operator import Fsai, Operator, fsai
    from ._skyline import Skyline, skyline
    from ._solve import Solution, solve
    from ._spy import Spy, spy

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
    "Spy",
    "__version__",
    "bench",
    "fsai",
    "info",
    "open",
    "read",
    "skyline",
    "solve",
    "spmm",
    "spmv",
    "spy",
]

#: What is imported when it is used: it takes long, or imports SciPy.
_LATER = {
    "Bundle": ("_bundle", "Bundle"),
    "Fsai": ("_operator", "Fsai"),
    "Operator": ("_operator", "Operator"),
    "Skyline": ("_skyline", "Skyline"),
    "Solution": ("_solve", "Solution"),
    "Spy": ("_spy", "Spy"),
    "bench": ("_bench", "bench"),
    "fsai": ("_operator", "fsai"),
    "open": ("_bundle", "open_bundle"),
    "skyline": ("_skyline", "skyline"),
    "solve": ("_solve", "solve"),
    "spy": ("_spy", "spy"),
}


if not TYPE_CHECKING:  # else every name would exist for a type checker

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module, attribute = _LATER[name]
        found = globals()[name] = getattr(import_module(f".{module}", __name__), attribute)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
