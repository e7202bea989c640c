"""Solve systems by preconditioned conjugate gradients."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._convert import to_matrix, to_vector
from ._shown import CELL_BYTES, Drawn, Sent, Shown, now


@dataclass(frozen=True, eq=False)
class Solution(Drawn["_native.Convergence"], Shown):
    """The solution of A·x = b, and how it was reached. Residuals are relative to the norm of b.

    A notebook shows the residuals over the iterations, unless there was none; ``svg()`` returns that picture. With
    anywidget, a click on it starts the live viewer.
    """

    #: The solution, n elements in float64.
    x: NDArray[np.float64] = field(repr=False)
    #: Iterations done.
    iterations: int
    #: Whether the residual reached the tolerance.
    converged: bool
    #: How the solve ended, in words.
    ended: str
    #: The residual before the first iteration and after each.
    residuals: NDArray[np.float64] = field(repr=False)
    #: The residual computed from x; ``None`` if it is not finite.
    true_residual: float | None
    #: Seconds to set up the preconditioner.
    setup_seconds: float
    #: Seconds of the iterations; ``None`` if they were not timed.
    solve_seconds: float | None
    #: Ritz values of the preconditioned matrix, ascending; empty if unknown.
    ritz: NDArray[np.float64] = field(repr=False)
    #: Everything that a bundle records of the solve.
    report: dict[str, Any] = field(repr=False)

    def _has_viewer(self) -> bool:
        return self._drawing is not None

    def _convergence(self) -> _native.Convergence:
        if self._drawing is None:
            raise ValueError("there are no residuals to show: no iteration was done, or this is a copy of a solution")
        return self._drawing

    def _link(self) -> str:
        return self._convergence().link

    def _sent(self) -> Sent:
        content = self._convergence().bundle(now())
        if len(content) > CELL_BYTES:
            raise ValueError("The residuals need more than the 5 MB of a cell.")
        return Sent("solve.zip", content, "")

    def plot(self, ax: Any = None) -> Any:
        """Draw the residuals over the iterations with matplotlib; returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure().add_subplot()
        ax.semilogy(np.arange(self.residuals.size), self.residuals)
        ax.set_xlabel("iteration")
        ax.set_ylabel("relative residual")
        return ax


def solve(
    A: Any,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    precond: str | None = "fsai",
    tol: float | None = 1e-10,
    max_iter: int | None = 10_000,
    kernel: str = "cpu/pcg/threads",
    threads: int | None = None,
    device: int = 0,
    **parameters: Any,
) -> Solution:
    """Solve A·x = b for a symmetric positive definite matrix by conjugate gradients, in float64.

    Ctrl-C, or the notebook's stop button, ends the iterations and returns the x that they reached.

    Parameters
    ----------
    A
        An n x n matrix, as for :func:`spmv`.
    b
        The right-hand side, n elements.
    x0
        The initial guess, n elements; zero by default.
    precond
        ``"none"``, ``"jacobi"``, ``"symgs"`` (a symmetric Gauss–Seidel sweep) or ``"fsai"`` (a factorised sparse
        approximate inverse).
    tol
        The relative residual at which to stop.
    max_iter
        The most iterations.
    kernel
        The id of a solver, as ``sparsescope kernels`` lists them.
    threads
        Threads; all of the machine by default.
    device
        The number of the GPU, for a solver that runs on one.
    **parameters
        Other parameters of the solver, as they are called in bundles: ``power``, ``pattern``, ``prefilter``,
        ``postfilter``, ``shift``, ``merge``, ``format_a``, ``format_g``, … ``None`` means the default.

    Returns
    -------
    Solution
        Also if the tolerance was not reached: see ``converged`` and ``ended``.

    Raises
    ------
    NotDefinite
        If A is not symmetric with a positive diagonal.
    CheckFailed
        If the solver says that it converged, but the residual computed from x says otherwise.
    """
    matrix = to_matrix(A)
    double = np.dtype(np.float64)
    start = None if x0 is None else to_vector(x0, double, "x0")
    given = {"precond": precond, "tol": tol, "max_iter": max_iter, **parameters}
    texts = [(name, _text(value)) for name, value in given.items() if value is not None]
    right = to_vector(b, double, "b")
    solved = _native.solve(matrix, right, start, kernel, texts, threads, device)
    x, residuals, ritz, seconds, report, convergence = solved
    told: dict[str, Any] = json.loads(report)
    solution = Solution(
        x=x,
        iterations=told["iterations"],
        converged=told["converged"],
        ended=told["ended"],
        residuals=residuals,
        true_residual=told.get("true_residual"),
        setup_seconds=told["setup_s"],
        solve_seconds=seconds,
        ritz=ritz,
        report=told,
    )
    if solution.iterations > 0:
        object.__setattr__(solution, "_drawing", convergence)
    return solution


def _text(value: Any) -> str:
    """A value as it is written in bundles."""
    match value:
        case False:
            return "off"
        case True:
            return "on"
        case _:
            return str(value)
