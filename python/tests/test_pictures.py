"""What notebooks show."""

from __future__ import annotations

import html
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


@pytest.mark.parametrize("nnz", [2_000, 90_000, 600_000])
def test_a_picture_that_is_hard_to_compress_is_small(nnz):
    a = scattered(3_000, nnz)
    spy = ss.spy(a)
    assert repr(spy) == f"matrix: 3000 x 3000, {a.nnz} nonzeros"
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
    assert "some" in texts and "cpu/csr/serial" in texts
