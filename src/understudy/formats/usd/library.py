"""Pixar's USD library: required only where needed, kept from writing to standard error, tried in a child process.

The library trusts binary layers (`.usdc`, and the content of `.usdz`): a damaged one can crash it, or keep it busy for
minutes. Such a file is first read in a child with bounds on processor time and memory (`start_trial`, `finish_trial`).
Only when the child succeeds is it read in this process, where the same happens again. Text layers are parsed strictly
and need no trial.
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
# Starting takes half a second of processor time, reading a character of 3 MB less than that. Large files get more.
BASE_CPU_SECONDS, BYTES_PER_CPU_SECOND = 2, 2_000_000
WALL_SECONDS_PER_CPU_SECOND = 20  # on a machine that is busy with other work
BASE_MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 1 << 30, 8
REFUSED_EXIT_CODE = 3  # of a child that has reported why it refuses the file
# Parts of messages that the library writes to standard error, not as errors, about values of unknown types.
DAMAGE_MESSAGES = (b"No to_python", b"posix_madvise")
TRIAL_COMMAND = "from understudy.formats.usd import library; library.run_trial()"


def require(purpose: str) -> None:
    """Raise `MissingExtra` where the library is not installed."""
    try:
        installed = importlib.util.find_spec("pxr.Usd") is not None
    except ImportError:
        installed = False
    if not installed:
        raise MissingExtra(purpose, "usd")


def check_name(path: str | Path) -> None:
    """Refuse a file name that is not UTF-8: a file system allows any bytes, the library does not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise Unsupported(path, "the name is not UTF-8, which the USD library needs") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Collect and drop the library's diagnostics; notes and errors of our own replace them."""
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
        full = str(error)
    except UnicodeDecodeError:  # the library quotes the file's own bytes
        return "it holds text that is not UTF-8"
    quoted = re.search(r": '(.+?)'\s*(?:\n|$)", full, re.DOTALL)
    text = " ".join((quoted.group(1) if quoted else full).split())
    place = re.search(r":(\d+):(\d+): (.*)", text)
    if place:
        what = "syntax error" if place.group(3).startswith("parse error") else place.group(3)
        text = f"line {place.group(1)}: {what}"
    return text[:200]


def is_text(path: Path) -> bool:
    """Whether a layer is plain text."""
    with path.open("rb") as file:
        return file.read(len(TEXT_MAGIC)) == TEXT_MAGIC


def start_trial(path: Path) -> subprocess.Popen[bytes]:
    """Begin a trial reading; `finish_trial` waits for its end."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.Popen(
        [sys.executable, "-c", TRIAL_COMMAND, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def finish_trial(trial: subprocess.Popen[bytes], path: Path) -> None:
    """Wait for the child; raise the error that it reported, or `BadFile` where it crashed or ran out of time."""
    try:
        output, messages = trial.communicate(timeout=WALL_SECONDS_PER_CPU_SECOND * cpu_seconds_for(path))
    except subprocess.TimeoutExpired:
        output, messages = b"", b""
    finally:
        if trial.poll() is None:
            trial.kill()
            trial.wait()
    if trial.returncode == 0 and not any(message in messages for message in DAMAGE_MESSAGES):
        return
    if trial.returncode == REFUSED_EXIT_CODE:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            report = json.loads(output)
            kind = Unsupported if report["kind"] == "Unsupported" else BadFile
            raise kind(path, str(report["reason"]), str(report["place"]))
    raise BadFile(path, "is damaged: the USD library cannot get through it")


def run_trial() -> None:
    """The trial itself, in the child: read the file, and print the error as JSON where it is refused."""
    path = Path(sys.argv[1])
    _limit_resources(path)
    from pxr import Work

    from understudy.formats.usd import reader

    Work.SetConcurrencyLimit(1)
    try:
        reader.read_in_process(path)
    except FileError as error:
        report = {"kind": type(error).__name__, "reason": error.reason, "place": error.place}
        sys.stdout.write(json.dumps(report))
        sys.stdout.flush()
        os._exit(REFUSED_EXIT_CODE)
    os._exit(0)  # at once, without clean-up


def cpu_seconds_for(path: Path) -> int:
    """The processor time that reading a file may take."""
    return BASE_CPU_SECONDS + path.stat().st_size // BYTES_PER_CPU_SECOND


def _limit_resources(path: Path) -> None:
    """Bounds that the system enforces; where it knows none, only the wall clock of `finish_trial` bounds a trial."""
    try:
        import resource
    except ImportError:
        return
    memory = BASE_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * path.stat().st_size
    for kind, bound in (
        (resource.RLIMIT_CPU, cpu_seconds_for(path)),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))
