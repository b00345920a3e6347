"""Read files with a bound on their size, and write them atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import BadFile, InvalidInput

# One gigabyte: the largest animated characters in use are a tenth of that, and reading may need twice its size.
MAX_FILE_BYTES = 1 << 30


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
def write_atomically(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to `path` when the block succeeds and removed when it fails.

    with write_atomically("walk.glb") as temporary: temporary.write_bytes(data)
    """
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, but the name of a file to write was expected")
    if not path.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: there is no folder {path.parent}")
    try:
        # keeps the suffix, since encoders choose the container by it
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=f".part{path.suffix}", dir=path.parent)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:  # such as a full disk: name the requested file
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)
