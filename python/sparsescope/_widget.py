"""The live viewer in a cell of a notebook."""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import traitlets

from ._shown import VIEWER, Sent, Shown

#: The bytes of one message.
_PART = 1_000_000


class _Page(NamedTuple):
    program: bytes
    page: bytes
    version: str


@lru_cache(maxsize=1)
def _page() -> _Page:
    """The page as one file, divided into its compressed program and everything else."""
    try:
        whole = VIEWER.read_bytes()
    except FileNotFoundError as error:
        raise RuntimeError("this installation of sparsescope was built without the viewer") from error
    before, rest = whole.split(b'<script type="text/plain" id="program">', 1)
    program, after = rest.split(b"</script>", 1)
    version = hashlib.sha256(whole).hexdigest()[:16]
    return _Page(base64.b64decode(program), gzip.compress(before + after, mtime=0), version)


class Viewer(anywidget.AnyWidget):
    """A result as a picture that is a viewer once it is clicked.

    ``link`` is what the viewer shows, as in the part after ``#`` of the page's addresses. Setting it changes the view.
    ``zoom`` is the part of the matrix in view: its middle row and column, and the number of rows; ``None`` for all of
    it. ``selection`` is the key of the selected matrix and that of the selected run, or ``None``.
    """

    _esm = Path(__file__).with_name("viewer.js")

    link = traitlets.Unicode().tag(sync=True)
    zoom = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True
    )
    selection = traitlets.Dict(read_only=True)
    _picture = traitlets.Unicode().tag(sync=True)
    _text = traitlets.Unicode().tag(sync=True)
    _version = traitlets.Unicode().tag(sync=True)

    def __init__(self, source: Shown) -> None:
        version = _page().version
        super().__init__(link=source._link(), _picture=source.svg() or "", _text=repr(source), _version=version)
        self._source = source
        self._kept: Sent | None = None
        self.on_msg(self._answer)
        # A front end that closes it frees it, as `close()` does.
        self.comm.on_close(lambda _message: self.close())

    @property
    def is_open(self) -> bool:
        """Whether front ends can show it. Marimo closes the comm alone, when the cell runs again."""
        return self.comm is not None and not getattr(self.comm, "_closed", False)

    def _answer(self, _widget: Any, question: dict[str, Any], _buffers: Any) -> None:
        """Send one part of what the viewer asks for."""
        answer: dict[str, Any] = {"id": question.get("id"), "version": self._version}
        try:
            what, begin = question["what"], int(question["from"])
            if what == "data":
                if self._kept is None or begin == 0:
                    self._kept = self._source._sent()
                content = self._kept.content
                answer.update(name=self._kept.name, note=self._kept.note)
            else:
                content = {"program": _page().program, "page": _page().page}[what]
            end = min(begin + _PART, len(content))
            if what == "data" and end == len(content):
                self._kept = None
        except Exception as error:
            self.send({**answer, "error": str(error) or type(error).__name__})
            return
        self.send({**answer, "total": len(content)}, [content[begin:end]])

    @traitlets.observe("link")
    def _linked(self, _change: Any) -> None:
        state = _fields(self.link)
        self.zoom = _zoom(state)
        self.set_trait("selection", {"matrix": state.get("matrix"), "run": state.get("run")})

    @traitlets.observe("zoom")
    def _zoomed(self, _change: Any) -> None:
        state = _fields(self.link)
        at = None if self.zoom is None else ",".join(f"{number:.17g}" for number in self.zoom)
        if at is None:
            state.pop("at", None)
        elif _zoom(state) != self.zoom:
            state["at"] = at
        link = ";".join(["v1", *(f"{key}={value}" for key, value in state.items())])
        if _fields(self.link) != state:
            self.link = link


def _fields(link: str) -> dict[str, str]:
    """The settings in a link, as they are written there."""
    return dict(part.split("=", 1) for part in link.split(";") if "=" in part)


def _zoom(state: dict[str, str]) -> tuple[float, float, float] | None:
    """The part of the matrix that a link names; ``None`` if it names none, or not in this form."""
    try:
        row, col, rows = (float(number) for number in state.get("at", "").split(","))
    except ValueError:
        return None
    return row, col, rows
