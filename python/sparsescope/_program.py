"""The program in child processes, and where it finds the viewer and NVIDIA's libraries."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

_WINDOWS = sys.platform == "win32"
_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def script() -> str:
    """The script that starts the program; the window measures with it."""
    import sysconfig

    name = "sparsescope.exe" if _WINDOWS else "sparsescope"
    return os.path.join(sysconfig.get_path("scripts"), name)


def prepare() -> None:
    """Name the viewer of this package, and NVIDIA's libraries of this environment, for the native part."""
    viewer = os.path.join(_PACKAGE, "web")
    if os.path.isfile(os.path.join(viewer, "index.html")):
        os.environ.setdefault("SPARSESCOPE_WEB", viewer)
    nvidia = os.path.join(os.path.dirname(_PACKAGE), "nvidia")
    if os.path.isdir(nvidia):
        folders = [os.path.join(nvidia, one, "bin" if _WINDOWS else "lib") for one in sorted(os.listdir(nvidia))]
        found = os.pathsep.join(folder for folder in folders if os.path.isdir(folder))
        os.environ.setdefault("SPARSESCOPE_CUDA_LIBRARIES", found)


def child(args: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the program in a process of its own, which Ctrl-C in the terminal does not reach.

    It ends when its ``stdin`` is closed, which the system does when this process ends, also if it is killed.
    """
    import subprocess

    if _WINDOWS:
        options["creationflags"] = 0x00000200  # CREATE_NEW_PROCESS_GROUP
    else:
        options["start_new_session"] = True
    environment = dict(os.environ)
    root = os.path.dirname(_PACKAGE)
    if os.path.basename(root) not in ("site-packages", "dist-packages"):
        # The child imports this package from where it was imported here.
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    command = [sys.executable, "-m", "sparsescope._child", *args]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", env=environment, **options
    )


def stop(process: subprocess.Popen[str]) -> None:
    """Ask a child to stop, as Ctrl-C does."""
    import signal

    if process.poll() is None:
        event: int = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT)
        process.send_signal(event)
