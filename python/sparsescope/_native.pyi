"""The native part. Arrays are contiguous; ``None`` for threads means all of the machine."""

from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Arrays: TypeAlias = tuple[NDArray[Any], NDArray[np.uint32], NDArray[Any]]

__version__: str

@final
class Matrix:
    def __new__(
        cls,
        rows: int,
        cols: int,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        data: NDArray[Any],
    ) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def is_single(self) -> bool: ...
    def arrays(self) -> _Arrays: ...

@final
class Product:
    def __new__(cls, matrix: Matrix, kernel: str, threads: int | None, device: int) -> Product: ...
    def __call__(self, x: NDArray[Any]) -> NDArray[Any]: ...
    def write(self, x: Any, y: int, stream: int) -> None: ...
    @property
    def kernel(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def setup_seconds(self) -> float: ...
    @property
    def why(self) -> str | None: ...

@final
class Fsai:
    def __new__(
        cls,
        matrix: Matrix,
        pattern: str,
        power: int,
        prefilter: float,
        postfilter: float,
        shift: float,
        merge: float | None,
    ) -> Fsai: ...
    def __call__(self, r: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @property
    def rows(self) -> int: ...
    @property
    def nnz(self) -> int: ...
    @property
    def setup_seconds(self) -> float: ...
    def factor(self) -> _Arrays: ...

@final
class Bundle:
    @staticmethod
    def open(path: str | PathLike[str]) -> Bundle: ...
    def to_bytes(self) -> bytes: ...
    def csv(self) -> bytes: ...
    def best(self, operation: str) -> list[list[str]]: ...
    @property
    def operations(self) -> list[str]: ...
    @property
    def label(self) -> str | None: ...
    @property
    def complete(self) -> bool: ...
    def __len__(self) -> int: ...

def command(args: list[str], program: str | PathLike[str]) -> int: ...
def measure(args: list[str]) -> int: ...
def info(matrix: Matrix, name: str) -> tuple[str, str]: ...
def read(
    source: str,
    base: int | None,
    undirected: bool,
    compress_ids: bool,
    variable: str | None,
) -> tuple[tuple[int, int], _Arrays, str, list[str]]: ...
def skyline(
    points: NDArray[np.float64],
    minimized: list[bool],
    kernel: str,
    threads: int | None,
    device: int,
) -> NDArray[np.uint32]: ...
def solve(
    matrix: Matrix,
    b: NDArray[Any],
    x0: NDArray[Any] | None,
    kernel: str,
    parameters: list[tuple[str, str]],
    threads: int | None,
    device: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float | None, str]: ...
def spmv(
    matrix: Matrix,
    x: NDArray[Any],
    kernel: str,
    threads: int | None,
    device: int,
) -> NDArray[Any]: ...
