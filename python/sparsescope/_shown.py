"""What notebooks show of a result."""

from __future__ import annotations

from typing import Any

#: The most bytes of a picture: a notebook's file has every one.
SVG_BYTES = 60_000


def pictured(svg: str | None, text: str) -> dict[str, Any]:
    """A result as text, and as a picture if there is one: what ``_repr_mimebundle_`` returns."""
    shown = {"text/plain": text}
    if svg is not None:
        shown["image/svg+xml"] = svg
    return shown
