"""Reads files one after the other under the laws of the fuzz, and says how each ended.

    python -m tests.fuzz.bomb_worker FILE...

One line of JSON for each file: `outcome` (read, refused, or the name of another error), `message`, `seconds` of
processor time, and `grown`, the bytes of memory that it added.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz.seeds import make_seeds
from tests.fuzz.worker import MEMORY, resident_peak, use, virtual_memory

from understudy.errors import UnderstudyError


def trial(path: Path) -> dict[str, object]:
    """How one file ends."""
    before, began = resident_peak(), time.process_time()
    try:
        use(path)
        outcome, message = "read", ""
    except UnderstudyError as error:
        outcome, message = "refused", str(error)
    except Exception as error:
        outcome, message = type(error).__name__, traceback.format_exc(limit=-4)
    seconds, grown = time.process_time() - began, resident_peak() - before
    return {"outcome": outcome, "message": message, "seconds": seconds, "grown": grown}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    paths = [Path(argument) for argument in sys.argv[1:]]
    for ending in {path.suffix for path in paths}:  # imports and compiled kernels are not the file's fault
        for seed in make_seeds(paths[0].parent, ending):
            use(seed)
    resource.setrlimit(resource.RLIMIT_AS, (virtual_memory() + MEMORY, resource.RLIM_INFINITY))
    for path in paths:
        sys.stdout.write(json.dumps(trial(path)) + "\n")
        sys.stdout.flush()
