"""Running an optimiser through its stages, with progress, and with a checkpoint that it goes on from."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp import checkpoint as saved
from understudy.maths.lbfgs import Function

Progress = Callable[[int, int], None]

SAVED_EVERY = 5.0
"""Seconds between checkpoints: little is lost when the power goes, and writing one takes milliseconds."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A function to minimise with so many iterations, or until one gains less than `tolerance` of its value.

    All stages work on the same vector; each begins where the one before it ended.
    """

    function: Function
    iterations: int
    tolerance: float


def run(
    optimiser: ModuleType,
    stages: Sequence[Stage],
    vector: Array,
    fingerprint: str,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> tuple[Array, float]:
    """The vector that minimises the last stage's function, and its value there.

    `optimiser` is `maths.lbfgs` or `maths.scg`. A run that is interrupted (by KeyboardInterrupt, which `progress` may
    raise as well, in a thread that gets none) leaves its state in `checkpoint` and goes on from it when called again
    with the same fingerprint, to the same result. A run that is done leaves its end there, and is not done again.
    """
    if checkpoint is not None and not checkpoint.parent.is_dir():
        raise InvalidInput(f"cannot write the checkpoint {checkpoint}: there is no folder {checkpoint.parent}")
    total = sum(stage.iterations for stage in stages)
    latest: tuple[int, Any] | None = None  # the stage and the optimiser's state in it
    if checkpoint is not None and checkpoint.exists():
        latest = saved.read(checkpoint, fingerprint, optimiser.State)
    last_saved = time.monotonic()
    try:
        for number in range(0 if latest is None else latest[0], len(stages)):
            stage, before = stages[number], sum(each.iterations for each in stages[:number])
            if latest is None or latest[0] != number:
                latest = number, optimiser.start(stage.function, vector)
            while latest[1].iteration < stage.iterations and not optimiser.ended(latest[1], stage.tolerance):
                latest = number, optimiser.step(stage.function, latest[1])
                if progress is not None:
                    progress(before + latest[1].iteration, total)
                if checkpoint is not None and time.monotonic() - last_saved > SAVED_EVERY:
                    saved.write(checkpoint, fingerprint, *latest)
                    last_saved = time.monotonic()
            vector, value = latest[1].x, float(latest[1].value)
    except KeyboardInterrupt:
        if checkpoint is not None and latest is not None:
            saved.write(checkpoint, fingerprint, *latest)
        raise
    if progress is not None:
        progress(total, total)
    if checkpoint is not None and latest is not None:
        saved.write(checkpoint, fingerprint, *latest)
    return vector, value
