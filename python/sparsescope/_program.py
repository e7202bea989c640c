"""The program in child processes, and where it finds the viewer and NVIDIA's libraries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

_WINDOWS = sys.platform == "win32"


def script() -> str:
    """The script that starts the program; the window measures with it."""
    name = "sparsescope.exe" if _WINDOWS else "sparsescope"
    return str(Path(sysconfig.get_path("scripts")) / name)


def prepare() -> None:
    """Name the viewer of this package, and NVIDIA's libraries of this environment, for the native part."""
    viewer = Path(__file__).parent / "web"
    if (viewer / "index.html").is_file():
        os.environ.setdefault("SPARSESCOPE_WEB", str(viewer))
    site = Path(sysconfig.get_path("platlib")) / "nvidia"
    if site.is_dir():
        folders = (site.glob("*/bin") if _WINDOWS else site.glob("*/lib"))
        if found := os.pathsep.join(sorted(str(folder) for folder in folders)):
            os.environ.setdefault("SPARSESCOPE_CUDA_LIBRARIES", found)


def child(args: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the program in a process of its own, which Ctrl-C in the terminal does not reach."""
    if _WINDOWS:
        options["creationflags"] = 0x00000200  # CREATE_NEW_PROCESS_GROUP
    else:
        options["start_new_session"] = True
    # The child imports this package, wherever it was imported from here.
    package = str(Path(__file__).parent.parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "sparsescope", *args]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, text=True, encoding="utf-8", errors="replace", env=environment, **options
    )


def stop(process: subprocess.Popen[str]) -> None:
    """Ask a child to stop, as Ctrl-C does."""
    if process.poll() is None:
        event: int = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT)
        process.send_signal(event)
