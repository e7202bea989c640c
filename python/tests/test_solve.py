"""Solves against SciPy, and skylines against the definition."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sparsescope as ss


def system(n: int) -> tuple[sp.csr_array, np.ndarray]:
    a = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    return a, np.sin(np.arange(n))


@pytest.mark.parametrize("precond", ["none", "jacobi", "symgs", "fsai"])
def test_the_solution_is_that_of_a_direct_solver(precond):
    a, b = system(500)
    s = ss.solve(a, b, precond=precond, tol=1e-12)
    assert s.converged and s.ended == "converged"
    assert np.allclose(s.x, spl.spsolve(a.tocsc(), b), rtol=1e-9, atol=1e-12)
    assert s.residuals.size == s.iterations + 1
    assert s.residuals[-1] <= 1e-12 < s.residuals[0]
    assert s.true_residual is not None and s.true_residual < 1e-11
    assert s.setup_seconds >= 0 and s.report["tolerance"] == 1e-12


def test_parameters_have_their_names_in_bundles():
    a, b = system(200)
    few, many = ss.solve(a, b, power=1), ss.solve(a, b, power=4)
    assert many.iterations < few.iterations
    with pytest.raises(ValueError, match="there is no parameter `colour`"):
        ss.solve(a, b, colour="red")
    with pytest.raises(ValueError, match="power"):
        ss.solve(a, b, power=1000)


def test_a_solve_that_ends_early_is_a_result():
    a, b = system(500)
    s = ss.solve(a, b, precond="none", max_iter=3)
    assert not s.converged and s.iterations == 3 and s.residuals.size == 4


def test_an_initial_guess_that_is_the_solution_needs_no_iteration():
    a, _ = system(50)
    assert ss.solve(a, a @ np.ones(50), x0=np.ones(50)).iterations == 0


def test_residuals_can_be_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    a, b = system(50)
    s = ss.solve(a, b)
    axes = s.plot()
    (line,) = axes.get_lines()
    assert np.array_equal(line.get_ydata(), s.residuals)


@pytest.mark.parametrize(
    ("a", "sentence"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], "need a symmetric matrix"),
        ([[1.0, 0.0], [0.0, -1.0]], "need a positive diagonal"),
        ([[1.0, -1.0], [-1.0, 1.0]], "not positive definite on the pattern of row 1"),
    ],
)
def test_matrices_that_cannot_be_solved_are_refused(a, sentence):
    with pytest.raises(ss.NotDefinite, match=sentence):
        ss.solve(np.array(a), np.ones(2))


@pytest.mark.parametrize("precond", ["none", "jacobi"])
def test_a_matrix_that_iterations_find_indefinite_is_refused(precond):
    a = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ss.NotDefinite, match="the matrix is not positive definite"):
        ss.solve(a, np.array([1.0, -1.0]), precond=precond)


@pytest.mark.parametrize(
    ("a", "sentence"),
    [
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "need a square matrix"),
        ([[1.0, 0.0], [0.0, np.nan]], "which is not finite"),
    ],
)
def test_other_wrong_matrices_say_nothing_of_definiteness(a, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        ss.solve(np.array(a), np.ones(2))
    assert type(caught.value) is ValueError


def test_a_right_hand_side_of_another_length_is_refused():
    with pytest.raises(ValueError, match="b has 3 elements, but the matrix has 2 rows"):
        ss.solve(np.eye(2), np.ones(3))


def dominated(points: np.ndarray) -> np.ndarray:
    """Whether another point is at least as large everywhere and larger somewhere."""
    least = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    return (least & (points[:, None, :] < points[None, :, :]).any(axis=2)).any(axis=1)


@settings(deadline=None, max_examples=50)
@given(hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(-5, 5)))
def test_the_skyline_is_what_no_point_dominates(points):
    k = ss.skyline(points)
    assert np.array_equal(k.mask, ~dominated(points))
    assert np.array_equal(k.rows, np.flatnonzero(k.mask)) and len(k) == k.mask.sum()
    least = ss.skyline(points, minimize=range(points.shape[1]))
    assert np.array_equal(least.mask, ~dominated(-points))


def test_columns_have_names():
    hotels = {"price": [100, 80, 120, 90], "stars": [4, 3, 4, 2]}
    k = ss.skyline(hotels, minimize=["price"], maximize=["stars"])
    assert k.rows.tolist() == [0, 1]
    with pytest.raises(ValueError, match="there is no column 'rooms'"):
        ss.skyline(hotels, minimize=["rooms"])
    with pytest.raises(ValueError, match="is NaN"):
        ss.skyline(np.array([[np.nan, 1.0]]))


def test_columns_of_frames_and_records():
    columns = {"price": [100, 80, 120, 90], "stars": [4, 3, 4, 2]}
    records = np.array(list(zip(*columns.values())), dtype=[("price", int), ("stars", int)])
    frames = [records]
    for library in ("pandas", "polars"):
        try:
            frames.append(importlib.import_module(library).DataFrame(columns))
        except ImportError:
            continue
    for points in frames:
        assert ss.skyline(points, minimize="price", maximize="stars").rows.tolist() == [0, 1]
        assert ss.skyline(points).rows.tolist() == [2]


def test_a_lazy_frame_is_refused():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="collect"):
        ss.skyline(polars.LazyFrame({"price": [1]}))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ([2**53, 2**53 + 1], "beyond 2\\^53"),
        ([-(2**60), 1], "beyond 2\\^53"),
        ([1j, 2], "found complex128"),
        (["1", "2"], "found <U1"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"), "found datetime64"),
        ([[1, 2], [3, 4]], "found an array of shape"),
    ],
)
def test_a_column_of_other_values_is_refused(column, text):
    with pytest.raises(ValueError, match=text):
        ss.skyline({"a": column})
    assert ss.skyline(np.array([[2**53 - 1], [2**53]])).rows.tolist() == [1]


def test_points_and_columns_of_another_shape_are_refused():
    for points in (None, "points", [1.0, 2.0], np.ones((2, 2, 2))):
        with pytest.raises(ValueError, match="expected a data frame, a mapping of columns or an N x D array"):
            ss.skyline(points)
    for columns in ([True], [None], ["price"], [2]):
        with pytest.raises(ValueError, match="there is no column"):
            ss.skyline(np.ones((2, 2)), maximize=columns)


def test_results_compare_by_identity():
    s, other = (ss.solve(np.eye(3), np.ones(3)) for _ in range(2))
    assert s == s and s != other and len({s, other}) == 2
    k, front = (ss.skyline(np.eye(3)) for _ in range(2))
    assert k != front and len({k, front}) == 2


def test_none_is_the_default_of_a_parameter():
    a = ss.read("gen:poisson2d?n=8")
    expected = ss.solve(a, np.ones(64))
    s = ss.solve(a, np.ones(64), precond=None, tol=None, max_iter=None, power=None, merge=None)
    assert s.iterations == expected.iterations and s.converged
