"""Writing a run and its pictures: all of them, or none."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .run import Run, dumps, write_safely


class StoreError(Exception):
    """A folder that can't be written to; the message is one sentence for the user."""


def check_folder(folder: Path) -> None:
    """Create ``folder`` if need be and raise StoreError if a run can't be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        raise StoreError(f"The folder {folder} can't be written to ({getattr(error, 'strerror', None) or error}); choose another with --folder.") from error


def write(run: Run, pictures: dict[str, bytes], folder: Path) -> Path:
    """Write the pictures (by file name) and then the run into ``folder``; return the path of the run.

    Every file is first written whole under another name. Only when all are there do they take their places, the
    run last and no other process's among them, so that a full disk or an interruption leaves an existing run as it was. Raises StoreError.
    """
    path = folder / f"{run.name}.json"
    files = {**pictures, path.name: dumps(run).encode("utf-8")}
    # another process may be writing a run of this name
    waiting = {name: folder / f".{name}.{os.getpid()}.new" for name in files}
    _sweep(folder)
    try:
        for name, content in files.items():
            write_safely(waiting[name], content)
        with _alone(folder):
            for name, ready in waiting.items():
                os.replace(ready, folder / name)
    except OSError as error:
        raise StoreError(f"The run could not be written to {folder} ({error.strerror or error}).") from error
    finally:
        for ready in waiting.values():
            ready.unlink(missing_ok=True)
    return path


def _sweep(folder: Path) -> None:
    """Remove what a killed process left half written: hidden, and unchanged for an hour."""
    for part in folder.glob(".*.new*"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > 3600:
                part.unlink()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process puts files into ``folder``; where locks are not known, go on without."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network drives know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
