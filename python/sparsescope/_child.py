"""The program in a child process, which ends with its parent."""

from __future__ import annotations

import os
import sys
import threading

from .__main__ import main


def _end_with_parent() -> None:
    """End this process once nobody holds the other end of its standard input: not even a killed parent does."""
    pipe = os.dup(0)
    # Nobody else reads from the pipe.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def wait() -> None:
        while os.read(pipe, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    _end_with_parent()
    sys.exit(main())
