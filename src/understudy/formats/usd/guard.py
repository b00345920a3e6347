"""A trial reading in a child process, for files that could take this one down.

The library trusts binary layers (`.usdc`, and what `.usdz` packs): a damaged one can crash it, or keep it busy for
minutes. Such a file is first read in a child with bounds on processor time and memory. Only when the child comes
through is it read here, where the same happens again. Text layers are parsed strictly and need no trial.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from understudy.errors import BadFile, FileError, Unsupported

TEXT = b"#usda"
# Starting takes half a second of processor time, a character of 3 MB less than another. Large files get more.
SECONDS, BYTES_A_SECOND = 2, 2_000_000
MEMORY, MEMORY_PER_BYTE = 1 << 30, 8
PATIENCE = 20  # wall-clock seconds for each second of processor time, on a machine that is busy with other work
REFUSED = 3
# What the library says on standard error, past all its error handling, of values of kinds that it does not know.
COMPLAINTS = (b"No to_python", b"posix_madvise")
COMMAND = "from understudy.formats.usd import guard; guard.child()"


def is_text(path: Path) -> bool:
    """Whether a layer is plain text."""
    with path.open("rb") as file:
        return file.read(len(TEXT)) == TEXT


def seconds_for(path: Path) -> int:
    """The processor time that reading a file may take."""
    return SECONDS + path.stat().st_size // BYTES_A_SECOND


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
        output, complaints = trial.communicate(timeout=PATIENCE * seconds_for(path))
    except subprocess.TimeoutExpired:
        output, complaints = b"", b""
    finally:
        if trial.poll() is None:
            trial.kill()
            trial.wait()
    if trial.returncode == 0 and not any(complaint in complaints for complaint in COMPLAINTS):
        return
    if trial.returncode == REFUSED:
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

    from understudy.formats.usd import opening

    Work.SetConcurrencyLimit(1)
    try:
        opening.read_here(path)
    except FileError as error:
        said = {"kind": type(error).__name__, "reason": error.reason, "place": error.place}
        sys.stdout.write(json.dumps(said))
        sys.stdout.flush()
        os._exit(REFUSED)
    os._exit(0)  # at once: there is nothing to tidy up in a process that ends


def _limit(path: Path) -> None:
    """Bounds that the system enforces; where it knows none, only the wall clock of `finish` bounds a trial."""
    try:
        import resource
    except ImportError:
        return
    memory = MEMORY + MEMORY_PER_BYTE * path.stat().st_size
    for kind, bound in (
        (resource.RLIMIT_CPU, seconds_for(path)),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))
