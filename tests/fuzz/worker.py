"""A process of its own that reads damaged files one after the other, and says what came out.

    python -m tests.fuzz.worker SEED_FOLDER CASE_FOLDER ENDING START STOP

Before each file its number is written to `progress`, so that the parent knows which one hung or crashed; the file
itself is left lying as `case<ENDING>`. At the end a line of JSON on standard output says how many were read, how many
refused, and what went wrong.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
from tests.fuzz.cases import damaged_file, read_seeds

from understudy.character.rig import DirectRig
from understudy.errors import UnderstudyError
from understudy.formats import read

SECONDS = 2.0  # of processor time, for one file
MEMORY = 1 << 30  # bytes that reading may add
SHORT = 4  # frames of an animation that are played


def use(path: Path) -> None:
    """Read a file, and pose what it holds: what a reader lets through must be sound enough to play."""
    asset = read(path)
    if not asset.characters:
        for animation in asset.animations[:1]:
            animation.sample(animation.start + np.linspace(0, animation.duration, SHORT))
    for character in asset.characters:
        rig = DirectRig(character)
        rows = rig.rest[None]
        for animation in asset.animations[:1]:
            if len(rig.unmatched_channels(animation.channels)) < len(animation.channels):
                rows = rig.pose(animation, animation.start + np.linspace(0, animation.duration, SHORT))
        rig.vertices(rows)


def virtual_memory() -> int:
    """Bytes of address space in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def resident_peak() -> int:
    """The most bytes of memory that were ever in use."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def kept(data: bytes, number: int, ending: str) -> Path:
    """Where a file that did harm was put aside, to be looked at after the test's own folder is gone."""
    folder = Path(tempfile.gettempdir()) / "understudy-fuzz"
    folder.mkdir(exist_ok=True)
    path = folder / f"wrong-{number}{ending}"
    path.write_bytes(data)
    return path


def main(seed_folder: Path, case_folder: Path, ending: str, start: int, stop: int) -> dict:
    """Read the files of a range of numbers."""
    warnings.simplefilter("ignore")  # overflow in the arithmetic of absurd numbers is no wrong
    seeds = read_seeds(seed_folder, ending)
    case, progress = case_folder / f"case{ending}", case_folder / "progress"
    for seed in seeds:  # imports and compiled kernels are not the file's fault
        case.write_bytes(seed)
        use(case)
    limit = virtual_memory() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    before = resident_peak()
    outcome: dict = {"read": 0, "refused": 0, "wrongs": [], "slowest": 0.0}
    for number in range(start, stop):
        data = damaged_file(seeds, ending, number)
        progress.write_text(str(number))
        case.write_bytes(data)
        began = time.process_time()
        wrong = None
        try:
            use(case)
            outcome["read"] += 1
        except UnderstudyError as error:
            outcome["refused"] += 1
            if not str(error).strip() or "\n" in str(error):
                wrong = f"a message that is not one sentence: {error!s}"
        except Exception:
            wrong = traceback.format_exc(limit=-4)
        spent = time.process_time() - began
        outcome["slowest"] = max(outcome["slowest"], spent)
        if wrong is None and spent > SECONDS:
            wrong = f"took {spent:.1f} s"
        if wrong is not None:
            outcome["wrongs"].append([number, str(kept(data, number, ending)), wrong])
    outcome["grown"] = resident_peak() - before
    return outcome


if __name__ == "__main__":
    arguments = sys.argv[1:]
    result = main(Path(arguments[0]), Path(arguments[1]), arguments[2], int(arguments[3]), int(arguments[4]))
    sys.stdout.write("\n" + json.dumps(result))
