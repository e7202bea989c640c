"""Products and preconditioners against SciPy."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsescope as ss

KERNELS = ["cpu/csr/serial", "cpu/csr/nnz", "cpu/csr/simd", "cpu/hll/guided", "cpu/spmv/auto"]


def integers(rows: int, cols: int, density: float, seed: int) -> sp.csr_array:
    """A matrix of small integers, whose sums are exact in any order."""
    random = np.random.default_rng(seed)
    dense = random.integers(1, 6, (rows, cols)) * (random.random((rows, cols)) < density)
    return sp.csr_array(dense.astype(float))


def poisson(n: int) -> sp.csr_array:
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_is_that_of_scipy(kernel, dtype):
    a = integers(50, 30, 0.2, 1).astype(dtype)
    x = np.arange(30, dtype=dtype)
    y = ss.spmv(a, x, kernel=kernel)
    assert y.dtype == dtype
    assert np.array_equal(y, a @ x)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 20), st.integers(1, 20), st.floats(0, 1), st.integers(0, 99))
def test_any_size_is_computed(rows, cols, density, seed):
    a, x = integers(rows, cols, density, seed), np.arange(cols, dtype=float)
    assert np.array_equal(ss.spmv(a, x, kernel="cpu/csr/nnz"), a @ x)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("threads", [1, 2])
def test_an_operator_computes_one_product_after_another(kernel, threads):
    a = integers(50, 30, 0.2, 2)
    product = ss.Operator(a, kernel, threads=threads)
    assert isinstance(product, spl.LinearOperator)
    assert product.shape == (50, 30) and product.dtype == np.float64
    for seed in range(3):
        x = np.random.default_rng(seed).integers(-9, 9, 30).astype(float)
        assert np.array_equal(product @ x, a @ x)
        assert np.array_equal(product @ x[::-1], a @ x[::-1])
        assert np.array_equal(product @ x.reshape(-1, 1), a @ x.reshape(-1, 1))
    assert np.array_equal(product @ np.ones(30, dtype=int), a @ np.ones(30))
    assert np.array_equal(product @ np.eye(30), a.toarray())


SEVERAL = [f"cpu/spmm/{how}" for how in ("serial", "rows", "nnz", "simd", "hll", "columns")]

#: Rows, columns and density: tall, wide, with empty rows, without nonzeros, one dense column.
SHAPES = [(50, 30, 0.2), (7, 90, 0.3), (60, 40, 0.01), (9, 4, 0.0), (40, 1, 1.0)]


def columns(rows: int, k: int) -> np.ndarray:
    return np.random.default_rng(k).integers(-9, 9, (rows, k)).astype(float)


@pytest.mark.parametrize("kernel", SEVERAL)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_with_several_vectors_is_that_of_scipy(kernel, shape):
    a = integers(*shape, 1)
    for k in (1, 2, 5, 8, 33):
        x = columns(a.shape[1], k)
        for dtype in (np.float64, np.float32):
            y = ss.spmm(a.astype(dtype), x, kernel=kernel)
            assert y.dtype == dtype and y.flags.c_contiguous
            assert np.array_equal(y, a @ x)


def test_several_vectors_may_be_stored_in_any_order_and_type():
    a, x = integers(50, 30, 0.2, 2), columns(60, 10)
    product = ss.Operator(a)
    for some in (x[::2], x[::-2, 3:8], x[:30].copy("F"), x[:30].astype(int), x[:30, ::3], x[:30].tolist()):
        expected, by_columns = a @ np.asarray(some), np.asarray(some).flags.fnc
        for y in (ss.spmm(a, some), product @ some):
            assert np.array_equal(y, expected)
            assert y.flags.f_contiguous if by_columns else y.flags.c_contiguous


@pytest.mark.parametrize("kernel", SEVERAL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_operator_multiplies_by_any_number_of_vectors(kernel, dtype):
    for shape in SHAPES:
        a = integers(*shape, 3).astype(dtype)
        product = ss.Operator(a, "cpu/csr/nnz", threads=2, spmm=kernel)
        for k in (2, 1, 19, 7, 0, 1500):
            x = columns(a.shape[1], k).astype(dtype)
            y = product @ x
            assert y.dtype == dtype and y.shape == (a.shape[0], k)
            assert np.array_equal(y, a @ x)
            assert np.array_equal(product.matmat(x), a @ x)


def test_several_vectors_that_do_not_fit_are_refused():
    a = integers(5, 3, 0.9, 3)
    with pytest.raises(ValueError, match="X has 4 rows, but the matrix has 3 columns"):
        ss.spmm(a, np.ones((4, 2)))
    for x, found in ((np.ones(3), 1), (np.ones((3, 2, 2)), 3), (1.0, 0)):
        with pytest.raises(ValueError, match=f"X must have two dimensions, found {found}"):
            ss.spmm(a, x)
    for k in (0, 1025):
        with pytest.raises(ValueError, match=f"X has {k} columns, expected a whole number from 1 to 1024"):
            ss.spmm(a, np.ones((3, k)))
    with pytest.raises(TypeError, match="X must be real numbers, found complex128"):
        ss.spmm(a, np.ones((3, 2), dtype=complex))
    with pytest.raises(ValueError, match="`cpu/csr/serial` computes spmv, not spmm"):
        ss.spmm(a, np.ones((3, 2)), kernel="cpu/csr/serial")
    product = ss.Operator(a, "cpu/csr/serial", spmm="cuda/spmm/row-split")
    with pytest.raises(ValueError, match="this Operator takes kernels of the CPU for several vectors"):
        product @ np.ones((3, 2))
    with pytest.raises(TypeError, match="x must be real numbers, found complex128"):
        product @ np.ones((3, 2), dtype=complex)


def test_a_kernel_for_k_columns_on_a_gpu_stays_until_that_for_another_k_is_ready():
    product = ss.Operator(np.eye(3), "cpu/csr/serial")
    outcomes = ["first", KeyboardInterrupt(), ss.CheckFailed("wrong"), ValueError("no room"), "second"]
    kept = []

    def several(matrix, kernel, threads, k):
        kept.append(product._several)
        outcome = outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    product._gpu, product._product = 0, SimpleNamespace(several=several)
    assert product._of_columns(2) == "first"
    first = product._several
    for error in (KeyboardInterrupt, ss.CheckFailed):
        with pytest.raises(error):
            product._of_columns(3)
    assert product._of_columns(2) == "first"
    # Where both do not fit, the first makes room.
    assert product._of_columns(3) == "second"
    assert kept == [None, first, first, first, None]
    outcomes += [ValueError("no room"), MemoryError("none"), "third"]
    with pytest.raises(MemoryError):
        product._of_columns(4)
    assert product._several is None
    assert product._of_columns(3) == "third"


def test_columns_that_are_not_finite_leave_the_others_alone():
    a, x = integers(50, 30, 0.2, 4), columns(30, 9)
    x[3, 2], x[7, 5] = np.inf, np.nan
    for kernel in SEVERAL:
        y = ss.Operator(a, "cpu/csr/serial", spmm=kernel) @ x
        assert np.array_equal(y, a @ x, equal_nan=True)


def test_an_operator_says_what_it_runs():
    product = ss.Operator(poisson(20))
    assert product.kernel.startswith("cpu/") and product.kernel != "cpu/spmv/auto"
    assert product.why and product.bytes > 0 and product.setup_seconds > 0


def test_vectors_that_do_not_fit_are_refused():
    a = integers(5, 3, 0.9, 3)
    with pytest.raises(ValueError, match="x has 4 elements, but the matrix has 3 columns"):
        ss.spmv(a, np.ones(4))
    product = ss.Operator(a, "cpu/csr/serial")
    for x in (np.ones(4), [1.0, 2.0, 3.0, 4.0], np.ones(4, dtype=int)):
        with pytest.raises(ValueError, match="x has 4 elements, but the matrix has 3 columns"):
            product @ x
    with pytest.raises(ValueError, match="x has 4 rows, but the matrix has 3 columns"):
        product @ np.ones((4, 2))
    with pytest.raises(TypeError, match="x must be real numbers, found complex128"):
        ss.spmv(a, np.ones(3, dtype=complex))
    with pytest.raises(ValueError, match="x must have one dimension, found 2"):
        ss.spmv(a, np.ones((3, 1)))


def test_a_kernel_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="there is no kernel `cpu/none`"):
        ss.spmv(np.eye(2), [1.0, 2.0], kernel="cpu/none")
    with pytest.raises(ValueError, match="computes solve, not spmv"):
        ss.Operator(np.eye(2), "cpu/pcg/threads")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_transpose_is_that_of_scipy(kernel, dtype):
    for shape in SHAPES:
        a = integers(*shape, 5).astype(dtype)
        product = ss.Operator(a, kernel, threads=2)
        y, several = np.arange(a.shape[0], dtype=dtype), columns(a.shape[0], 3).astype(dtype)
        assert isinstance(product.T, ss.Operator) and product.T.shape == a.T.shape
        assert (product.T @ y).dtype == dtype
        for found in (product.T @ y, product.H @ y, y @ product, product.rmatvec(y)):
            assert np.array_equal(found, a.T @ y)
        for found in (product.T @ several, product.rmatmat(several)):
            assert np.array_equal(found, a.T @ several)
        assert np.array_equal(several.T @ product, several.T @ a)


def test_a_transpose_is_prepared_once_with_the_same_kernel():
    a = integers(5, 3, 0.9, 3)
    product = ss.Operator(a, "cpu/csr/nnz")
    assert np.array_equal(product.T.T @ np.ones(3), a @ np.ones(3))
    assert product.T is product.T and product.H is product.T
    assert product.T.kernel == "cpu/csr/nnz"
    with pytest.raises(ValueError, match="x has 3 elements, but the matrix has 5 columns"):
        product.T @ np.ones(3)


def test_a_solver_of_scipy_uses_the_transpose():
    a = sp.csr_array(sp.vstack([poisson(6), sp.eye_array(36)]))
    x = np.arange(36.0)
    found = spl.lsqr(ss.Operator(a), a @ x, atol=1e-12, btol=1e-12)[0]
    assert np.allclose(found, x, rtol=1e-8)


def test_what_is_prepared_cannot_be_pickled_and_says_what_can():
    a = poisson(4)
    with pytest.raises(TypeError, match="pickle the matrix and prepare it there"):
        pickle.dumps(ss.Operator(a, "cpu/csr/serial"))
    with pytest.raises(TypeError, match="pickle the matrix and set it up there"):
        pickle.dumps(ss.fsai(a))


@pytest.mark.parametrize("number", [-1, 0, 2.5, 2**40])
def test_numbers_out_of_range_are_named_with_their_range(number):
    a, x = poisson(4), np.ones(16)
    expected = f"threads is {number}, expected a whole number from 1 to 4294967295"
    for work in (
        lambda: ss.spmv(a, x, kernel="cpu/csr/serial", threads=number),
        lambda: ss.Operator(a, threads=number),
        lambda: ss.solve(a, x, threads=number),
    ):
        with pytest.raises(ValueError, match=expected):
            work()
    with pytest.raises(ValueError, match=f"power is {number}, expected a whole number from 1 to"):
        ss.fsai(a, power=number)


def test_numbers_below_zero_are_refused():
    with pytest.raises(ValueError, match="device is -1, expected a whole number from 0 to"):
        ss.Operator(poisson(4), device=-1)
    with pytest.raises(ValueError, match="base is -1, expected a whole number from 0 to"):
        ss.read("none.txt", base=-1)


@pytest.mark.parametrize("merge", [0, 0.5, float("inf"), float("nan")])
def test_a_merge_out_of_range_is_called_as_the_argument(merge):
    with pytest.raises(ValueError, match="merge is .*, expected a finite number of at least 1"):
        ss.fsai(poisson(4), merge=merge)


def test_fsai_preconditions_a_solver_of_scipy():
    a = poisson(30)
    b = np.ones(a.shape[0])
    steps = {}
    for name, m in [("none", None), ("fsai", ss.fsai(a, power=2))]:
        count: list[int] = []
        x, status = spl.cg(a, b, M=m, rtol=1e-8, callback=lambda _, count=count: count.append(1))
        assert status == 0
        assert np.linalg.norm(b - a @ x) <= 2e-8 * np.linalg.norm(b)
        steps[name] = len(count)
    assert steps["fsai"] < 0.7 * steps["none"]


def test_fsai_is_its_factor_twice():
    a = poisson(8)
    m = ss.fsai(a)
    g = m.factor()
    assert sp.triu(g, 1).nnz == 0 and m.nnz == g.nnz
    # Kolotilina and Yeremin: the diagonal of G·A·Gᵀ is 1.
    assert np.allclose((g @ a @ g.T).diagonal(), 1.0, rtol=1e-12)
    r = np.arange(64.0)
    assert np.allclose(m @ r, g.T @ (g @ r), rtol=1e-13)
    assert np.allclose(m.rmatvec(r), m @ r)


def test_a_matrix_that_is_not_definite_has_no_fsai():
    with pytest.raises(ss.NotDefinite, match="not positive definite on the pattern of row 1"):
        ss.fsai(np.array([[1.0, 2.0], [2.0, 1.0]]))
