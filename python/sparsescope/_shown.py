"""What notebooks show of a result."""

from __future__ import annotations

import importlib.util
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from . import _native
    from ._widget import Viewer

#: The most bytes of a picture: a notebook's file has every one.
SVG_BYTES = 60_000

#: The most bytes that a live viewer gets of a result.
CELL_BYTES = 5_000_000

#: A native part that draws.
_Drawing = TypeVar("_Drawing", bound="_native.Convergence | _native.Front")

#: The viewer as one file, unless the package was built without it.
VIEWER = Path(__file__).parent / "web" / "standalone.html"


class Sent(NamedTuple):
    """What a live viewer opens: a file, and a sentence if that is not everything."""

    name: str
    content: bytes
    note: str


class Pictured:
    """A result that notebooks show as a picture."""

    def svg(self) -> str | None:
        """Return the picture as SVG of at most 60 kB; ``None`` if there is none."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        still = {"text/plain": repr(self)}
        svg = self.svg()
        if svg is not None:
            still["image/svg+xml"] = svg
        return still


class Drawn(Pictured, Generic[_Drawing]):
    """A result of plain values with a picture from the native part. Copies, also through pickle, have no picture."""

    _drawing: _Drawing | None = None

    def svg(self) -> str | None:
        """Return the picture as SVG of at most 60 kB; ``None`` if there is none."""
        return None if self._drawing is None else self._drawing.svg(SVG_BYTES)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_drawing", "_viewer")}


class Shown(Pictured):
    """A result that notebooks show as a picture, and with anywidget as a live viewer."""

    _viewer: Viewer | None = None

    def _has_viewer(self) -> bool:
        """Whether there is anything that the viewer can show."""
        return True

    def _link(self) -> str:
        """What the viewer shows first, as in the page's addresses."""
        raise NotImplementedError

    def _sent(self) -> Sent:
        """What the viewer opens."""
        raise NotImplementedError

    @property
    def widget(self) -> Viewer:
        """The live viewer, a widget of anywidget: ``widget.observe`` tells what is selected and zoomed to."""
        from ._widget import Viewer

        viewer = self._viewer
        if viewer is None or not viewer.is_open:
            viewer = Viewer(self)
            object.__setattr__(self, "_viewer", viewer)  # also of a frozen data class
        return viewer

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        still = super()._repr_mimebundle_(include, exclude)
        if not self._has_viewer() or not _is_live():
            return still
        shown, details = self.widget._repr_mimebundle_() or ({}, {})
        return {**shown, **still}, details


def now() -> str:
    """The time as bundles have it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_live() -> bool:
    """Whether somebody looks at a notebook that can have widgets.

    Programs that only run notebooks, such as nbconvert, would keep an empty widget in place of the picture. They do
    not say which cell they run; JupyterLab, Notebook and VS Code do.
    """
    if importlib.util.find_spec("anywidget") is None or not VIEWER.is_file():
        return False
    if "google.colab" in sys.modules:
        return True
    ipython = sys.modules.get("IPython")
    kernel = getattr(ipython.get_ipython(), "kernel", None) if ipython is not None else None
    request = kernel.get_parent() if kernel is not None else None
    return "cellId" in ((request or {}).get("metadata") or {})
