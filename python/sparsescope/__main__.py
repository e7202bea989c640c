"""The command line: ``sparsescope`` and ``python -m sparsescope``."""

from __future__ import annotations

import sys

from . import _native
from ._program import script


def main() -> int:
    """Run the program with the arguments of this process; returns its exit code."""
    return _native.command(["sparsescope", *sys.argv[1:]], script())


if __name__ == "__main__":
    sys.exit(main())
