"""Matrices of SciPy and others become ours and come back equal to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsescope as ss
from sparsescope import _convert, _native

FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@st.composite
def coordinates(draw: st.DrawFn) -> tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]:
    """A size and nonzeros in any order, some of them repeated: small integers, whose sums are exact."""
    rows, cols = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    place = st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1), st.integers(-8, 8))
    nonzeros = draw(st.lists(place, max_size=60))
    row, col, value = (np.array(part) for part in zip(*nonzeros)) if nonzeros else ([], [], [])
    return (rows, cols), np.asarray(row, int), np.asarray(col, int), np.asarray(value, float)


def back(matrix: _native.Matrix) -> sp.csr_array:
    return _convert.to_scipy(matrix.shape, matrix.arrays())


def same(ours: sp.csr_array, theirs: sp.sparray) -> None:
    """Equal structure and equal bits; explicit zeros stay."""
    expected = sp.csr_array(theirs, copy=True)
    expected.sum_duplicates()
    assert ours.shape == expected.shape
    assert ours.data.dtype == expected.data.dtype
    assert np.array_equal(ours.indptr, expected.indptr)
    assert np.array_equal(ours.indices, expected.indices)
    assert ours.data.tobytes() == expected.data.tobytes()


@settings(deadline=None)
@given(coordinates(), st.sampled_from(FORMATS), st.sampled_from(["f4", "f8"]), st.booleans())
def test_every_format_of_scipy_keeps_its_bits(made, form, dtype, is_array):
    size, row, col, value = made
    kind = sp.coo_array if is_array else sp.coo_matrix
    theirs = kind((value.astype(dtype), (row, col)), shape=size).asformat(form)
    same(back(_convert.to_matrix(theirs)), theirs)


@settings(deadline=None)
@given(coordinates(), st.sampled_from(["i4", "i8"]), st.randoms())
def test_unsorted_and_repeated_columns_are_as_scipy_has_them(made, index, random):
    size, row, col, value = made
    order = np.argsort(row, kind="stable")
    row, col, value = row[order], col[order], value[order]
    indptr = np.searchsorted(row, np.arange(size[0] + 1)).astype(index)
    theirs = sp.csr_array(size)
    theirs.indptr, theirs.indices, theirs.data = indptr, col.astype(index), value
    same(back(_convert.to_matrix(theirs)), theirs)


@settings(deadline=None)
@given(coordinates())
def test_a_dense_array_is_its_nonzeros(made):
    size, row, col, value = made
    dense = sp.coo_array((value, (row, col)), shape=size).toarray()
    same(back(_convert.to_matrix(dense)), sp.csr_array(dense))


def test_values_that_are_not_finite_stay():
    a = sp.csr_array(np.array([[np.inf, -0.0], [np.nan, 5e-324]]))
    same(back(_convert.to_matrix(a)), a)


def test_arrays_that_are_longer_than_the_matrix_are_cut():
    a = sp.csr_array(np.eye(3))
    a.indices, a.data = np.append(a.indices, [7, 7]), np.append(a.data, [9.0, 9.0])
    same(back(_convert.to_matrix(a)), sp.csr_array(np.eye(3)))


@pytest.mark.parametrize(
    ("indptr", "indices", "sentence"),
    [
        ([0, 1, 2], [0, 2], "column index 2 in row 1 is out of range for 2 columns"),
        ([0, 1, 2], [0, -1], r"indices\[1\] is -1, which is out of range"),
        ([0, 2, 1], [0], "indptr decreases at index 2"),
        ([1, 1, 2], [0, 1], "indptr must start at 0 and end at 2"),
        ([0, 2], [0, 1], "indptr has 2 elements, expected 3"),
    ],
)
def test_arrays_that_are_no_matrix_are_refused(indptr, indices, sentence):
    ptr, col = np.array(indptr), np.array(indices)
    with pytest.raises(ValueError, match=sentence):
        _native.Matrix(2, 2, ptr, col, np.ones(len(indices)))


def with_index(form: str, name: str, number: int) -> sp.sparray:
    """A matrix with one index replaced by a wrong one."""
    a = sp.kron(sp.eye_array(4), np.ones((2, 2)), format="coo").asformat(form)
    getattr(a, name)[0] = number
    return a


@pytest.mark.parametrize("number", [-50, 10**6])
@pytest.mark.parametrize(
    ("form", "name"),
    [("coo", "row"), ("coo", "col"), ("csc", "indices"), ("bsr", "indices"), ("csr", "indices")],
)
def test_indices_that_scipy_would_follow_out_of_its_arrays_are_refused(form, name, number):
    with pytest.raises(ValueError, match="out of range"):
        ss.info(with_index(form, name, number))


@pytest.mark.parametrize("form", ["csc", "bsr"])
def test_offsets_that_scipy_would_follow_out_of_its_arrays_are_refused(form):
    with pytest.raises(ValueError, match="indptr must start at 0 and not decrease"):
        ss.info(with_index(form, "indptr", 1))
    a = with_index(form, "indptr", 0)
    a.indptr[-1] = 10**6
    with pytest.raises(ValueError, match="but indptr ends at 1000000"):
        ss.info(a)


def test_indices_that_are_no_integers_are_refused():
    a = sp.csr_array(np.eye(2))
    a.indices = np.array([0.5, 1.5])
    with pytest.raises(TypeError, match="indices must be integers, found float64"):
        ss.info(a)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_np_matrix_and_other_byte_orders_are_taken_but_no_masks():
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    for a in (np.asmatrix(dense), dense.astype(">f8")):
        same(back(_convert.to_matrix(a)), sp.csr_array(dense))
    with pytest.raises(TypeError, match="a masked array has elements without a value"):
        ss.info(np.ma.masked_equal(dense, 2.0))


def test_every_kind_of_pydata_sparse_is_taken():
    sparse = pytest.importorskip("sparse", reason="there is no pydata/sparse")
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    for form in ("coo", "dok", "gcxs"):
        a = sparse.COO.from_numpy(dense).asformat(form)
        same(back(_convert.to_matrix(a)), sp.csr_array(dense))


@pytest.mark.parametrize("dtype", ["i8", "c16", "f2", "?"])
def test_other_values_are_refused_with_what_is_taken(dtype):
    with pytest.raises(TypeError, match="expected values in float64 or float32"):
        ss.info(sp.csr_array(np.eye(2), dtype=dtype) if dtype != "f2" else np.eye(2, dtype=dtype))


def test_other_objects_are_refused_with_what_is_taken():
    with pytest.raises(TypeError, match="scipy.sparse, CuPy, PyTorch .* found list"):
        ss.info([[1.0]])
    with pytest.raises(TypeError, match="found an array of 1 dimensions"):
        ss.info(np.ones(3))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
def test_tensors_of_pytorch_are_taken():
    torch = pytest.importorskip("torch")
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=torch.float64)
    for tensor in (dense.to_sparse_csr(), dense.to_sparse_coo()):
        same(back(_convert.to_matrix(tensor)), sp.csr_array(dense.numpy()))


def test_a_read_matrix_owns_what_was_read(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 1.5\n2 1 -2\n")
    a = ss.read(path)
    assert isinstance(a, sp.csr_array)
    assert np.array_equal(a.toarray(), [[0, 0, 1.5], [-2, 0, 0]])
    (_, arrays, _, _) = _native.read(str(path), None, False, False, None)
    made = _convert.to_scipy((2, 3), arrays)
    addresses = [array.__array_interface__["data"][0] for array in arrays]
    ours = [array.__array_interface__["data"][0] for array in (made.indptr, made.indices, made.data)]
    assert ours == addresses
    a.data *= 2  # it is the user's
    assert a[0, 2] == 3.0


def test_a_matrix_may_change_once_it_was_taken():
    a = sp.csr_array(np.eye(2))
    product = ss.Operator(a, "cpu/csr/serial")
    a.indices[:] = 1_000_000
    a.data[:] = 7
    assert np.array_equal(product @ np.array([1.0, 2.0]), [1.0, 2.0])
