"""The exceptions of the package. All are ``ValueError``, and their text is the program's sentence."""

from __future__ import annotations

import errno
import os


class ReadError(ValueError):
    """A file that cannot be read.

    ``path`` is the file and ``line`` the line where it is wrong, from 1; each is ``None`` where it is not known.
    """

    path: str | None
    line: int | None

    def __init__(
        self,
        message: str,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.path = None if path is None else os.fspath(path)
        self.line = line


class FileMissing(ReadError, FileNotFoundError):
    """A file that does not exist; a ``FileNotFoundError``, too."""

    def __init__(
        self,
        message: str,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, path, line)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), self.path

    def __str__(self) -> str:
        # Not that of an OSError, which is made of its number and file name.
        return str(self.args[0])


class CheckFailed(ValueError):
    """A kernel computed a wrong result, which is a bug, or one that rounding alone makes uncertain."""


class NotDefinite(ValueError):
    """A matrix that is not symmetric positive definite, where it has to be."""


for _error in (ReadError, CheckFailed, NotDefinite):
    _error.__module__ = "sparsescope"  # where users find them
