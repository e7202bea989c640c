"""Prepared products and preconditioners as linear operators of SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from . import _native
from ._convert import in_order_of, precision, to_block, to_matrix, to_scipy, to_vector
from ._errors import CheckFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Operator(LinearOperator):
    """y = A·x by a kernel that is prepared and checked once: ``P @ x``.

    It keeps a copy of ``A``, so that later changes of ``A`` do not matter, and is a
    ``scipy.sparse.linalg.LinearOperator``.

    ``P @ X`` with an n x k array X is an m x k array, in Fortran order if X is, otherwise in C order. On the CPU its
    columns are computed together, by a kernel of SpMM that is prepared and checked at the first such product; an X in
    another order than C is copied, and a Y in Fortran order, too. With a kernel of CUDA, the columns of an X on the
    host are computed one by one.

    ``P.T`` is an ``Operator`` with the same kernel on the transpose of ``A``, which is made and prepared at the first
    use of ``P.T``, ``P.rmatvec`` or ``y @ P``.

    ``P @ x`` is an array of the library of x: NumPy, CuPy or PyTorch. With a kernel of CUDA, x may be a vector of
    CuPy or PyTorch on the same GPU and in the precision of ``A``. It is not copied to the host: y is computed in the
    order of the current stream of x's library. An x on the host is copied to the GPU, and y back.

    So may an n x k array X of at most 1024 columns, which must be contiguous in C order. Its columns are computed
    together, by a kernel of SpMM that is prepared and checked for k columns, and again when k changes. The last one is
    freed once the next is ready, or before, if the next cannot be prepared beside it: both may not fit on the GPU.

    Parameters
    ----------
    A
        An m x n matrix, as for :func:`spmv`. It is converted on the host, also for a GPU.
    kernel
        The id of a kernel for the CPU or CUDA; ``cpu/spmv/auto`` and ``cuda/spmv/auto`` try several formats and
        keep the fastest.
    threads
        Threads of a parallel CPU kernel; all of the machine by default.
    device
        The number of the GPU, for a kernel that runs on one.
    spmm
        The id of a kernel of SpMM, for an X of several columns: of the CPU if ``kernel`` is, by default
        ``cpu/spmm/simd``, or of CUDA, by default ``cuda/spmm/row-split``.
    """

    def __init__(
        self,
        A: Any,
        kernel: str = "cpu/spmv/auto",
        *,
        threads: int | None = None,
        device: int = 0,
        spmm: str | None = None,
    ) -> None:
        matrix = to_matrix(A)
        self._product = _native.Product(matrix, kernel, threads, device)
        self._matrix, self._asked = matrix, (kernel, threads, device, spmm)
        # With the number of columns that a kernel of CUDA is prepared for.
        self._several: tuple[int, _native.Product] | None = None
        self._transposed: Operator | None = None
        self._precision = precision(matrix)
        # What each product needs, at hand.
        self._gpu, self._name = self._product.gpu, self._precision.name
        super().__init__(self._precision, matrix.shape)

    @property
    def kernel(self) -> str:
        """Id of the kernel that runs; of one that chooses, the chosen one."""
        return self._product.kernel

    @property
    def why(self) -> str | None:
        """Why it was chosen, in a sentence."""
        return self._product.why

    @property
    def bytes(self) -> int:
        """Bytes of the matrix in the kernel's format."""
        return self._product.bytes

    @property
    def setup_seconds(self) -> float:
        """Seconds of the preparation."""
        return self._product.setup_seconds

    def __matmul__(self, x: Any) -> Any:
        # The usual way through LinearOperator takes longer than a small product.
        if type(x) is np.ndarray and x.ndim == 1 and x.dtype == self._precision and x.flags.c_contiguous:
            return self._product(x)
        library = type(x).__module__.partition(".")[0]
        if library == "cupy":
            return self._times_cupy(x)
        if library == "torch":
            return self._times_torch(x)
        shape = np.shape(x)
        if shape and shape[0] != self.shape[1]:
            what = "elements" if len(shape) == 1 else "rows"
            raise ValueError(f"x has {shape[0]} {what}, but the matrix has {self.shape[1]} columns")
        return super().__matmul__(x)

    def _times_cupy(self, x: Any) -> Any:
        import cupy

        steps = None if x.flags.c_contiguous else [step // x.itemsize for step in x.strides]
        self._check_there(x.device.id, x.shape, x.dtype == self._precision, steps)
        with x.device:
            x, y = cupy.ascontiguousarray(x), cupy.empty((self.shape[0], *x.shape[1:]), x.dtype)
            self._write(x.shape, x.data.ptr, y.data.ptr, cupy.cuda.get_current_stream().ptr)
        return y

    def _times_torch(self, x: Any) -> Any:
        import torch

        if x.requires_grad:
            raise ValueError("x requires its gradient, which an Operator does not compute: pass x.detach()")
        if not x.is_cuda:
            return torch.from_numpy(self @ x.numpy())
        steps = None if x.is_contiguous() else x.stride()
        self._check_there(x.device.index, x.shape, x.dtype is getattr(torch, self._name), steps)
        x, y = x.resolve_neg().contiguous(), x.new_empty((self.shape[0], *x.shape[1:]))
        self._write(x.shape, x.data_ptr(), y.data_ptr(), torch.cuda.current_stream(x.device).cuda_stream)
        return y

    def _write(self, shape: Any, x: int, y: int, stream: int) -> None:
        """Write A·x to y: addresses of contiguous arrays on the GPU, x of this shape."""
        if len(shape) == 1:
            self._product.write(x, y, stream)
        elif shape[1]:
            self._of_columns(shape[1]).write(x, y, stream)

    def _check_there(self, device: int, shape: Any, has_precision: bool, steps: Any = None) -> None:
        """Refuse an array on a GPU that the kernel cannot read: it gets only an address.

        ``steps`` are the strides in elements of an array that is not contiguous; a vector will be copied then.
        """
        if device != self._gpu:
            place = "the CPU" if self._gpu is None else f"GPU {self._gpu}"
            raise ValueError(f"x is on another device than the matrix, which is on {place}")
        if len(shape) not in (1, 2):
            raise ValueError(f"x must have one or two dimensions, found {len(shape)}")
        what, parts = ("a vector", "elements") if len(shape) == 1 else ("an array", "rows")
        if not has_precision:
            raise TypeError(f"x must be {what} of {self._name}")
        if shape[0] != self.shape[1]:
            raise ValueError(f"x has {shape[0]} {parts}, but the matrix has {self.shape[1]} columns")
        if len(shape) == 2 and steps is not None:
            found = f"strides of {steps[0]} and {steps[1]} elements"
            raise ValueError(f"x must be contiguous in C order, found {found}: pass a contiguous copy")
        if len(shape) == 2 and shape[1] > 1024:
            # Before the kernel for another k is dropped to make room.
            raise ValueError(f"X has {shape[1]} columns, expected a whole number from 1 to 1024")

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._product(to_vector(np.ravel(x), self._precision, "x"))

    def _matmat(self, X: NDArray[Any]) -> NDArray[Any]:
        block = to_block(X, self._precision, "x")
        rows, k = self.shape[0], block.shape[1]
        if k == 0:
            return np.empty((rows, 0), self._precision)
        if self._gpu is not None:
            y = np.stack([self._product(np.ascontiguousarray(x)) for x in block.T], axis=1)
            return in_order_of(X, y)
        return in_order_of(X, self._of_columns(k).block(block.reshape(-1), k).reshape(rows, k))

    def _of_columns(self, k: int) -> _native.Product:
        """Prepare the kernel of SpMM: on the CPU once for any number of columns, on a GPU for each k."""
        several = self._several
        if several is None or (self._gpu is not None and several[0] != k):
            made: _native.Product | None = None
            try:
                made = self._prepared(k)
            except (MemoryError, ValueError) as error:
                if several is None or isinstance(error, CheckFailed):
                    raise
            if made is None:
                # There may be no room for both.
                self._several = several = None
                made = self._prepared(k)
            self._several = several = k, made
        # Not what another thread may have stored meanwhile, of another k.
        return several[1]

    def _prepared(self, k: int) -> _native.Product:
        _, threads, _, kernel = self._asked
        kernel = kernel or ("cpu/spmm/simd" if self._gpu is None else "cuda/spmm/row-split")
        return self._product.several(self._matrix, kernel, threads, k)

    def _transpose(self) -> Operator:
        if self._transposed is None:
            kernel, threads, device, spmm = self._asked
            a = self._matrix.transposed()
            self._transposed = Operator(a, kernel, threads=threads, device=device, spmm=spmm)
        return self._transposed

    def _adjoint(self) -> Operator:
        return self._transpose()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Operator cannot be pickled: pickle the matrix and prepare it there")


class Fsai(LinearOperator):
    """z = Gᵀ·(G·r), an approximation of A⁻¹·r; made by :func:`fsai`."""

    def __init__(self, native: _native.Fsai) -> None:
        self._native = native
        super().__init__(np.dtype(np.float64), (native.rows, native.rows))

    @property
    def nnz(self) -> int:
        """Number of nonzeros of G."""
        return self._native.nnz

    @property
    def setup_seconds(self) -> float:
        """Seconds of the setup of G."""
        return self._native.setup_seconds

    def factor(self) -> csr_array:
        """Return a copy of G, an n x n lower triangular matrix."""
        rows = self._native.rows
        return to_scipy((rows, rows), self._native.factor())

    def _matvec(self, r: NDArray[Any]) -> NDArray[np.float64]:
        return self._native(to_vector(np.ravel(r), np.dtype(np.float64), "r"))

    def _rmatvec(self, r: NDArray[Any]) -> NDArray[np.float64]:
        return self._matvec(r)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Fsai cannot be pickled: pickle the matrix and set it up there, or pickle factor()")


def fsai(
    A: Any,
    *,
    power: int = 2,
    pattern: str = "recursive",
    prefilter: float = 0.0,
    postfilter: float = 0.0,
    shift: float = 0.0,
    merge: float | None = None,
) -> Fsai:
    """Set up a factorised sparse approximate inverse of a symmetric positive definite matrix.

    ``scipy.sparse.linalg.cg(A, b, M=ss.fsai(A))`` uses it as a preconditioner.

    Parameters
    ----------
    A
        An n x n matrix; its lower triangle is read.
    power
        The power of A whose lower triangle is the pattern of G.
    pattern
        ``"recursive"``, ``"power"`` or ``"adaptive"``, which grows each row where that helps most.
    prefilter, postfilter
        Nonzeros of A below the first, relative to the diagonal, are left out of the pattern; nonzeros of G below
        the second, relative to their row, are dropped.
    shift
        What is added to the diagonals of the dense systems, relative to them.
    merge
        How much more one system may cost than two, at least 1, for rows to share it; ``None`` merges no rows.

    Raises
    ------
    NotDefinite
        If A is not positive definite on the pattern of a row.
    """
    return Fsai(_native.Fsai(to_matrix(A), pattern, power, prefilter, postfilter, shift, merge))
