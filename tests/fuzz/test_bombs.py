"""Small files that ask for a great deal are refused before memory or time is spent."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.data_folder import PROJECT
from tests.fuzz.bombs import MAY_BE_READ, bombs
from tests.fuzz.runner import PATIENCE, WARM_UP
from tests.fuzz.worker import MEMORY, SECONDS

BOMBS = dict(bombs())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """How each file ended, by name; all files of one ending in one process, so that a crash shows which kind it was."""
    folder = tmp_path_factory.mktemp("bombs")
    result = {}
    for ending in dict.fromkeys(name[name.rindex(".") :] for name in BOMBS):
        names = [name for name in BOMBS if name.endswith(ending)]
        for name in names:
            (folder / name).write_bytes(BOMBS[name])
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.bomb_worker", *(str(folder / name) for name in names)],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=WARM_UP + PATIENCE,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        ended = {"outcome": f"exit {done.returncode}", "message": done.stderr[-2000:], "seconds": 0, "grown": 0}
        result |= dict(zip(names, [*lines, *[ended] * (len(names) - len(lines))]))
    return result


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_no_harm(name, outcomes):
    outcome = outcomes[name]
    if "needs an optional part" in outcome["message"]:
        pytest.skip(outcome["message"].strip().splitlines()[-1])
    assert outcome["outcome"] in (("refused", "read") if name in MAY_BE_READ else ("refused",)), outcome["message"]
    assert outcome["seconds"] < SECONDS
    assert outcome["grown"] < MEMORY
