"""What notebooks show."""

from __future__ import annotations

import dataclasses
import html
import pickle
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 60_000


def checked(shown: dict[str, str]) -> ET.Element:
    """The picture, which any reader of SVG can show, and which runs nothing."""
    svg = shown["image/svg+xml"]
    assert len(svg.encode()) <= MOST_BYTES
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    for element in root.iter():
        assert element.tag not in (f"{SVG}script", f"{SVG}foreignObject", f"{SVG}a")
        assert not [name for name in element.attrib if name.lower().startswith("on")]
        assert element.get("href", "data:image/png;").startswith("data:image/png;")
    return root


def title(root: ET.Element) -> str:
    text = root.findtext(f"{SVG}title")
    assert text is not None
    return text.replace("\u202f", "")


def scattered(n: int, nnz: int) -> sp.csr_array:
    random = np.random.default_rng(1)
    return sp.csr_array(sp.coo_array((np.ones(nnz), random.integers(0, n, (2, nnz))), shape=(n, n)))


def test_the_structure_of_a_matrix_is_a_picture_with_its_numbers():
    a = sp.csr_array(sp.eye_array(300, 200))
    shown = ss.spy(a, name='<b>"a"')._repr_mimebundle_()
    assert shown["text/plain"] == '<b>"a": 300 x 200, 200 nonzeros'
    assert title(checked(shown)).startswith('Structure of <b>"a": 300 × 200, 200 nonzeros')


@pytest.mark.parametrize(("n", "nnz"), [(3_000, 2_000), (3_000, 90_000), (3_000, 600_000), (20_000, 100_000)])
def test_a_picture_that_is_hard_to_compress_is_small(n, nnz):
    a = scattered(n, nnz)
    spy = ss.spy(a)
    assert repr(spy) == f"matrix: {n} x {n}, {a.nnz} nonzeros"
    root = checked(spy._repr_mimebundle_())
    assert root.find(f"{SVG}image") is not None


@pytest.mark.parametrize("shape", [(1, 1), (1, 5_000), (5_000, 1), (70, 70)])
def test_any_shape_has_a_picture(shape):
    for nnz in (0, 1):
        at = np.zeros(nnz, dtype=np.int32)
        a = sp.coo_array((np.ones(nnz), (at, at)), shape=shape)
        checked(ss.spy(a)._repr_mimebundle_())


def test_a_matrix_without_rows_has_only_a_text():
    shown = ss.spy(sp.csr_array((0, 3)))._repr_mimebundle_()
    assert shown == {"text/plain": "matrix: 0 x 3, 0 nonzeros"}


def test_a_description_is_a_table_and_a_picture():
    info = ss.info(sp.eye_array(64), name="eye")
    shown = info._repr_mimebundle_()
    assert shown["text/plain"] == str(info)
    table, svg = shown["text/html"].split("</pre>\n")
    assert html.unescape(table.removeprefix("<pre>")) == str(info)
    assert title(checked({"image/svg+xml": svg})).startswith("Structure of eye: 64 × 64, 64 nonzeros")


def test_a_measurement_shows_its_best_kernels():
    bundle = ss.bench(scattered(100, 500), kernels="cpu/csr/serial", runs=2, name="some", in_process=True)
    shown = bundle._repr_mimebundle_()
    assert shown["text/plain"] == repr(bundle)
    texts = "".join(checked(shown).itertext())
    assert "csr/serial is fastest on some" in texts


def words(root: ET.Element) -> str:
    return "".join(root.itertext()).replace("\u202f", "")


def test_a_solve_shows_its_residuals():
    a = ss.read("gen:poisson2d?n=16")
    s = ss.solve(a, np.ones(256), precond="jacobi")
    shown = s._repr_mimebundle_()
    assert shown["text/plain"] == repr(s) and repr(s).startswith(f"Solution(iterations={s.iterations}, ")
    root = checked(shown)
    assert title(root).startswith("Residual after each symmetric sweep or iteration")
    for text in ("Convergence: 256 x 256, 1216 nonzeros", "Jacobi", "relative residual", "iterations"):
        assert text in words(root), text
    lines = [line.get("points", "").split() for line in root.iter(f"{SVG}polyline")]
    assert max(map(len, lines)) > s.iterations, "a corner of a line for each residual"
    assert "unfinished" not in words(root)
    assert not root.findtext(f"{SVG}desc"), "it is of no file and has no time"


@pytest.mark.parametrize("max_iter", [3, 2_000])
def test_a_solve_that_does_not_converge_is_drawn_too(max_iter):
    a = sp.diags_array(np.logspace(0, 10, 5_000)).tocsr()
    s = ss.solve(a, np.ones(5_000), precond="none", max_iter=max_iter)
    assert not s.converged and s.iterations == max_iter
    assert "no preconditioner" in words(checked(s._repr_mimebundle_()))


def test_a_solve_without_an_iteration_has_only_a_text():
    a = ss.read("gen:poisson2d?n=4")
    s = ss.solve(a, a @ np.ones(16), x0=np.ones(16))
    assert s.iterations == 0 and set(s._repr_mimebundle_()) == {"text/plain"}


HOTELS = {"price": [100, 80, 120, 90], "stars": [4, 3, 4, 2]}


def test_a_skyline_shows_its_points_with_the_names_and_values_of_their_columns():
    root = checked(ss.skyline(HOTELS, minimize="price", maximize="stars")._repr_mimebundle_())
    assert title(root) == "Skyline: 2 of 4 points"
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    for text in ("price, stars: 4 points, 2 dimensions", "price: smaller is better", "stars: larger is better"):
        assert text in texts
    assert "100" in texts and not [text for text in texts if text.startswith("-")]
    places = {element.text: float(element.get("x", "nan")) for element in root.iter(f"{SVG}text")}
    assert places["80"] > places["120"], "better values are to the right"
    assert len(list(root.iter(f"{SVG}circle"))) >= 2, "the dominated points"


def test_the_picture_of_a_skyline_shows_the_points_as_they_were():
    points = np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 0.5]])
    expected = ss.skyline(points.copy()).svg()
    k = ss.skyline(points)
    points[:] = 9.0
    assert k.svg() == expected and k.svg() == expected, "made when it is first drawn, of a copy"


@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (300, 2), (5_000, 2), (150_000, 3), (40, 20)])
def test_the_picture_of_any_number_of_points_is_small(shape):
    points = np.random.default_rng(1).normal(size=shape)
    root = checked(ss.skyline(points)._repr_mimebundle_())
    assert title(root).endswith(f" of {shape[0]} points")
    assert "column 0: larger is better" in words(root)
    assert (root.find(f"{SVG}image") is not None) == (shape[0] > 300)


def test_no_points_have_only_a_text():
    assert set(ss.skyline(np.ones((0, 2)))._repr_mimebundle_()) == {"text/plain"}


def test_results_are_copied_without_their_pictures():
    s = ss.solve(np.eye(3), np.ones(3))
    k = ss.skyline(HOTELS)
    for result in (s, k):
        assert result.svg() is not None
        copy = pickle.loads(pickle.dumps(result))
        assert repr(copy) == repr(result) and copy.svg() is None
        assert set(dataclasses.asdict(result)) == {field.name for field in dataclasses.fields(result)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        s.iterations = 7
