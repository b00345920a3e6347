"""A trial reading in a child process, for files that could take this one down.

The library trusts binary layers (`.usdc`, and what `.usdz` packs): a damaged one can crash it, or keep it busy for
minutes. Such a file is first read in a child with bounds on processor time and memory. Only when the child comes
through is it read here, where the same happens again. Text layers are parsed strictly and need no trial.

Pixar's USD library: asked for only where it is needed, and kept from writing to standard error.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import BadFile, FileError, MissingExtra, Unsupported

TEXT_MAGIC = b"#usda"
# Starting takes half a second of processor time, a character of 3 MB less than another. Large files get more.
BASE_CPU_SECONDS, BYTES_PER_CPU_SECOND = 2, 2_000_000
BASE_MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 1 << 30, 8
WALL_SECONDS_PER_CPU_SECOND = (
    20  # wall-clock seconds for each second of processor time, on a machine that is busy with other work
)
REFUSED_EXIT_CODE = 3
# What the library says on standard error, past all its error handling, of values of kinds that it does not know.
COMPLAINTS = (b"No to_python", b"posix_madvise")
COMMAND = "from understudy.formats.usd import library as guard; guard.child()"


def is_text(path: Path) -> bool:
    """Whether a layer is plain text."""
    with path.open("rb") as file:
        return file.read(len(TEXT_MAGIC)) == TEXT_MAGIC


def seconds_for(path: Path) -> int:
    """The processor time that reading a file may take."""
    return BASE_CPU_SECONDS + path.stat().st_size // BYTES_PER_CPU_SECOND


def start(path: Path) -> subprocess.Popen[bytes]:
    """Begin a trial reading; `finish` waits for its end."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def finish(trial: subprocess.Popen[bytes], path: Path) -> None:
    """Return where the child read the file; raise what it raised, or that it did not come through."""
    try:
        output, complaints = trial.communicate(timeout=WALL_SECONDS_PER_CPU_SECOND * seconds_for(path))
    except subprocess.TimeoutExpired:
        output, complaints = b"", b""
    finally:
        if trial.poll() is None:
            trial.kill()
            trial.wait()
    if trial.returncode == 0 and not any(complaint in complaints for complaint in COMPLAINTS):
        return
    if trial.returncode == REFUSED_EXIT_CODE:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            said = json.loads(output)
            kind = Unsupported if said["kind"] == "Unsupported" else BadFile
            raise kind(path, str(said["reason"]), str(said["place"]))
    raise BadFile(path, "is damaged: the USD library cannot get through it")


def child() -> None:
    """The trial itself, in a process of its own: read, and say why where the file is refused."""
    path = Path(sys.argv[1])
    _limit(path)
    from pxr import Work

    from understudy.formats.usd import reader

    Work.SetConcurrencyLimit(1)
    try:
        reader.read_in_process(path)
    except FileError as error:
        said = {"kind": type(error).__name__, "reason": error.reason, "place": error.place}
        sys.stdout.write(json.dumps(said))
        sys.stdout.flush()
        os._exit(REFUSED_EXIT_CODE)
    os._exit(0)  # at once: there is nothing to tidy up in a process that ends


def _limit(path: Path) -> None:
    """Bounds that the system enforces; where it knows none, only the wall clock of `finish` bounds a trial."""
    try:
        import resource
    except ImportError:
        return
    memory = BASE_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * path.stat().st_size
    for kind, bound in (
        (resource.RLIMIT_CPU, seconds_for(path)),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))


def require(purpose: str) -> None:
    """Raise `MissingExtra` where the library is not installed."""
    try:
        found = importlib.util.find_spec("pxr.Usd") is not None
    except ImportError:
        found = False
    if not found:
        raise MissingExtra(purpose, "usd")


def check_name(path: str | Path) -> None:
    """Refuse the name of a file that the library cannot be told: it takes UTF-8 only, a file system any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise Unsupported(path, "the name is not UTF-8, which the USD library needs") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Collect and drop the library's diagnostics: what matters of them is said by our own notes and errors."""
    from pxr import UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        delegate.TakeUncoalescedDiagnostics()
        del delegate


def first_message(error: Exception) -> str:
    """The first sentence of a library error, without the C++ place it comes from."""
    try:
        said = str(error)
    except UnicodeDecodeError:  # the library quotes the file's own bytes
        return "it holds text that is not UTF-8"
    found = re.search(r": '(.+?)'\s*(?:\n|$)", said, re.DOTALL)
    text = " ".join((found.group(1) if found else said).split())
    place = re.search(r":(\d+):(\d+): (.*)", text)
    if place:
        what = "syntax error" if place.group(3).startswith("parse error") else place.group(3)
        text = f"line {place.group(1)}: {what}"
    return text[:200]
