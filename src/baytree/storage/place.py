"""Where a model file lies, and who writes it: one at a time, by a lock beside the file, which goes with its process."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

from ..errors import FileError, InputError
from ..text import HARMLESS
from .locking import KEEPS_NAME, lock


def place_of(path: str | os.PathLike[str]) -> Path:
    """Where a model file lies: what a symbolic link points to, for it shall stay one."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r} is no name of a model file; give a path")
    return Path(os.path.realpath(path) if os.path.islink(path) else path)


def partial_path(path: str | os.PathLike[str]) -> Path:
    """Where an unfinished model file lies."""
    return Path(f"{place_of(path)}.partial")


def require_free(path: str | os.PathLike[str]) -> None:
    """Raise FileError where somebody is writing a model file, or nobody can."""
    Lock(place_of(path)).release()


class Lock:
    """That of a model file: held from the beginning on, until it is released or its process is gone.

    It lies beside the file, as ``PATH.lock``, and says who holds it: to close a file that SQLite has open would give up
    SQLite's own locks. A killed process leaves the file behind, but not the lock.
    """

    def __init__(self, place: Path) -> None:
        self._path = Path(f"{place}.lock")
        self._file: int | None = self._taken(place)
        with suppress(OSError):  # where the disk is full it is held all the same, only nobody is told by whom
            os.truncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def _taken(self, place: Path) -> int:
        while True:
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
            except OSError as error:
                why = error.strerror
                raise FileError(f"{place}: cannot be written ({why}); check the folder and its permissions") from error
            try:
                lock(file)
            except OSError as error:
                os.lseek(file, 0, os.SEEK_SET)
                holder = os.read(file, 200).decode(errors="replace").translate(HARMLESS) or "another process"
                os.close(file)
                raise FileError(f"{place}: {holder} is writing it; wait until that ends, or end it") from error
            if self._is_there(file):
                return file
            os.close(file)  # its holder released it, and the file with it, since it was opened

    def _is_there(self, file: int) -> bool:
        """Whether the file that was opened is still the one that others find."""
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others write; a second time does nothing."""
        if self._file is not None:
            if KEEPS_NAME:
                os.close(self._file)
            with suppress(OSError):  # a folder that may no longer be written to keeps it, which does no harm
                self._path.unlink()
            if not KEEPS_NAME:
                os.close(self._file)
            self._file = None
