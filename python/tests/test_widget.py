"""The live viewer's side in the kernel; tests/browser/notebook.mjs drives the other one in JupyterLab."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope import _bundle, _shown

pytest.importorskip("anywidget")
traitlets = pytest.importorskip("traitlets")
if not _shown.VIEWER.is_file():
    pytest.skip("the package was built without the viewer", allow_module_level=True)


@pytest.fixture
def view():
    return ss.spy(sp.eye_array(50), name="eye")


def fetched(widget, what):
    """What the kernel sends part by part, and the last message with it."""
    sent, content = [], b""
    widget.send = lambda message, buffers=None: sent.append((message, buffers))
    while not sent or len(content) < sent[-1][0]["total"]:
        widget._answer(widget, {"id": "1", "what": what, "from": len(content)}, [])
        message, buffers = sent[-1]
        assert message["id"] == "1" and "error" not in message
        content += buffers[0]
    return content, sent[-1][0]


def test_the_viewer_gets_its_program_its_page_and_the_matrix_in_messages(view):
    widget = view.widget
    program, _ = fetched(widget, "program")
    assert gzip.decompress(program)[:4] == b"\0asm"
    page, _ = fetched(widget, "page")
    assert b'id="canvas"' in gzip.decompress(page) and len(page) < 500_000
    data, message = fetched(widget, "data")
    assert message["name"] == "matrix.zip" and message["note"] == ""
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        assert any(name.endswith("/matrix.mtx") for name in bundle.namelist())


def test_what_is_synchronized_is_small_and_has_no_data(view):
    state = view.widget.get_state()
    assert sum(len(str(value)) for value in state.values()) < 100_000
    own = {name for name in state if not name.startswith("_") and name not in ("layout", "tabbable", "tooltip")}
    assert own == {"link"}


def test_a_large_matrix_is_cut_to_the_bytes_of_a_cell_and_that_is_said():
    n, nnz = 400_000, 800_000
    at = np.random.default_rng(1).integers(0, n, (2, nnz))
    a = sp.coo_array((np.ones(nnz), at), shape=(n, n))
    view = ss.spy(a)
    name, content, note = view._sent()
    assert name == "matrix.zip" and len(content) <= _shown.CELL_BYTES
    assert note.startswith("The whole matrix needs more than the 5 MB of a cell")
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        (record,) = (json.loads(bundle.read(name)) for name in bundle.namelist() if name.endswith("/matrix.json"))
    assert record["statistics"] == ss.info(a).to_dict()
    assert view._sent().content == content and view.svg(), "the matrix is not kept"


def test_a_large_bundle_is_sent_without_pictures_and_that_is_said(monkeypatch):
    r = ss.bench(ss.read("gen:poisson2d?n=200"), kernels="cpu/csr/serial", runs=2, in_process=True)
    whole = r._sent()
    assert whole.note == "" and b"spy.json" in whole.content
    monkeypatch.setattr(_bundle, "CELL_BYTES", len(whole.content) - 1)
    cut = r._sent()
    assert len(cut.content) < len(whole.content) and b"spy.json" not in cut.content
    assert cut.note.startswith("The whole bundle needs more than the 5 MB of a cell")
    monkeypatch.setattr(_bundle, "CELL_BYTES", 1_000)
    with pytest.raises(ValueError, match="more than the 5 MB of a cell"):
        r._sent()


@pytest.mark.parametrize("max_iter", [3, 1_000])
def test_the_viewer_of_a_solve_gets_its_residuals(max_iter):
    s = ss.solve(ss.read("gen:poisson2d?n=16"), np.ones(256), precond="jacobi", max_iter=max_iter)
    assert s.converged == (max_iter > 3)
    data, message = fetched(s.widget, "data")
    assert message["name"] == "solve.zip" and message["note"] == ""
    bundle = _bundle._of_bytes(data)
    assert len(bundle) == 1 and bundle.operations == ["solve"]
    svg = bundle._native.svg(s.widget.link, 60_000)
    assert "<title>Residual after each symmetric sweep or iteration" in svg and "Jacobi" in svg


def test_a_solution_without_residuals_has_no_viewer(monkeypatch):
    monkeypatch.setattr(_shown, "_is_live", lambda: True)
    a = ss.read("gen:poisson2d?n=4")
    s = ss.solve(a, np.ones(16))
    assert "application/vnd.jupyter.widget-view+json" in s._repr_mimebundle_()[0]
    copy = pickle.loads(pickle.dumps(s))
    for none in (copy, ss.solve(a, a @ np.ones(16), x0=np.ones(16))):
        assert set(none._repr_mimebundle_()) == {"text/plain"}
        with pytest.raises(ValueError, match="no residuals to show"):
            _ = none.widget


def test_an_unknown_question_is_answered_with_an_error(view):
    sent = []
    widget = view.widget
    widget.send = lambda message, buffers=None: sent.append(message)
    widget._answer(widget, {"id": "7", "what": "secrets", "from": 0}, [])
    assert sent[0]["id"] == "7" and "secrets" in sent[0]["error"]


def test_zoom_and_selection_follow_the_link_and_zoom_changes_it(view):
    widget = view.widget
    seen = []
    widget.observe(lambda change: seen.append(change.new), "zoom")
    widget.link = "v1;view=spy;at=10.5,20,5;matrix=00ff-real"
    assert widget.zoom == (10.5, 20.0, 5.0) and seen == [(10.5, 20.0, 5.0)]
    assert widget.selection == {"matrix": "00ff-real", "run": None}
    widget.zoom = (1, 2, 3)
    assert widget.link == "v1;view=spy;at=1,2,3;matrix=00ff-real"
    widget.zoom = None
    assert widget.link == "v1;view=spy;matrix=00ff-real"
    widget.link = "v1;view=spy;at=here;matrix=00ff-real"
    assert widget.zoom is None
    widget.zoom = (4, 5, 6)
    assert widget.link == "v1;view=spy;at=4,5,6;matrix=00ff-real"
    selected = []
    widget.observe(lambda change: selected.append(change.new), "selection")
    widget.link = "v1;view=runs;matrix=00ff-real;run=12ab-34cd"
    assert selected == [{"matrix": "00ff-real", "run": "12ab-34cd"}] and widget.zoom is None
    with pytest.raises(traitlets.TraitError):
        widget.selection = {}


def test_a_viewer_that_was_closed_is_free_and_replaced(view):
    by_front_end = view.widget
    by_front_end.comm.handle_close({})
    assert by_front_end.comm is None and view.widget is not by_front_end
    by_marimo = view.widget
    by_marimo.comm.close()
    assert view.widget is not by_marimo
    assert view.widget is view.widget


def test_without_a_front_end_there_is_no_widget(view):
    assert set(view._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


def test_with_a_front_end_the_picture_is_there_too(view, monkeypatch):
    monkeypatch.setattr(_shown, "_is_live", lambda: True)
    shown, _ = view._repr_mimebundle_()
    model = shown["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert model == view.widget.model_id
    assert shown["text/plain"] == "eye: 50 x 50, 50 nonzeros" and "image/svg+xml" in shown
