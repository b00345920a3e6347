"""Rows of a benchmark: time ours, time the peer in its own environment, compare."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PEER_PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"


@dataclass(frozen=True)
class Row:
    """One measurement. `ratio` is how many times faster than the peer; `bar` the ratio that was asked for."""

    name: str
    value: float
    unit: str
    peer: str
    ratio: float | None
    bar: float | None

    @property
    def met(self) -> bool | None:
        return None if self.ratio is None or self.bar is None else bool(self.ratio >= self.bar)  # of NumPy too

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": round(float(self.value), 4),
            "unit": self.unit,
            "peer": self.peer,
            "ratio": None if self.ratio is None else round(float(self.ratio), 2),
            "bar": self.bar,
            "met": self.met,
        }


def median_ms(function: Callable[[], Any], repeats: int = 9) -> float:
    """Median time of a call in milliseconds, after one call that compiles and warms the caches."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times) * 1e3)


def peer(script: str, arguments: Path | str) -> dict[str, Any]:
    """What a peer's script prints as JSON, run in the peers' environment."""
    done = subprocess.run(
        [str(PEER_PYTHON), str(HERE / "peers" / script), str(arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the peer {script} failed: {done.stderr.strip().splitlines()[-1:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def assert_same(ours: float, theirs: float, what: str, tolerance: float = 1e-3) -> None:
    """Raise unless both sides computed the same thing, by a checksum: the mean absolute value of the result."""
    if abs(ours - theirs) > tolerance * max(1.0, abs(ours)):
        raise RuntimeError(f"{what}: the peer computed something else ({theirs:.6g}, ours {ours:.6g})")
