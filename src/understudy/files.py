"""Read files with a bound on their size, and write them atomically."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy.errors import BadFile, InvalidInput

# One gigabyte: the largest animated characters in use are a tenth of that, and reading may need twice its size.
MAX_FILE_BYTES = 1 << 30
PART_PREFIX = ".understudy-"  # of temporary files; short, as names of 255 bytes are the longest that file systems take
MAX_SUFFIX_CHARACTERS = 16
STALE_PART_SECONDS = 3600.0  # encoders of films write every few seconds


def read_bytes(path: str | Path, largest: int = MAX_FILE_BYTES) -> bytes:
    """The content of a file of at most `largest` bytes; `BadFile` where it is missing, a folder or larger."""
    path = Path(path)
    try:
        if path.is_dir():
            raise BadFile(path, "is a folder, but a file was expected")
        size = path.stat().st_size
        if size > largest:
            raise BadFile(path, f"has {size:,} bytes, but at most {largest:,} are read")
        return path.read_bytes()
    except FileNotFoundError:
        raise BadFile(path, "there is no such file") from None
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror or error}") from None


def read_text(path: str | Path, largest: int = MAX_FILE_BYTES) -> str:
    """The content of a text file: UTF-8, with or without a byte-order mark, or Latin-1 where that does not decode."""
    data = read_bytes(path, largest)
    if b"\0" in data[:4096]:
        raise BadFile(path, "is a binary file, but text was expected")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


@contextmanager
def write_atomically(path: str | Path, flush: bool = True) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to `path` when the block succeeds and removed when it fails.

    A symbolic link is followed. `flush` writes the content to the disk before it is renamed, so that a power failure
    leaves the old file or the new one. Temporary files that a killed process has left in the folder are removed.

    with write_atomically("walk.glb") as temporary: temporary.write_bytes(data)
    """
    path = Path(path)
    target = path.resolve() if path.is_symlink() else path
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder, but the name of a file to write was expected")
    if not target.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: there is no folder {target.parent}")
    _remove_stale_parts(target.parent)
    # keeps the suffix, since encoders choose the container by it
    suffix = target.suffix if len(target.suffix) <= MAX_SUFFIX_CHARACTERS else ""
    try:
        handle, name = tempfile.mkstemp(prefix=PART_PREFIX, suffix=f".part{suffix}", dir=target.parent)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        if flush:
            flush_to_disk(temporary)
        temporary.replace(target)
    except OSError as error:  # such as a full disk: name the requested file
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def flush_to_disk(path: Path) -> None:
    """Wait until the content of a file is on the disk: some milliseconds."""
    with path.open("rb+") as handle:
        os.fsync(handle.fileno())


def _remove_stale_parts(folder: Path) -> None:
    """Remove temporary files that nothing has written to for an hour: their process was killed."""
    oldest = time.time() - STALE_PART_SECONDS
    for place in folder.glob(f"{PART_PREFIX}*.part*"):
        with suppress(OSError):  # it has gone meanwhile, or belongs to another user
            if place.stat().st_mtime < oldest:
                place.unlink()
