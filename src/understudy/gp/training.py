"""Run an optimiser through its stages, with progress and a checkpoint from which an interrupted run continues.

A checkpoint is the state of a run in a file: arrays and one line of JSON in an npz, never pickle, written atomically. A
fingerprint of the data and settings goes with it, so that a run never continues from another run's state.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.files import write_atomically
from understudy.maths import lbfgs, scg
from understudy.maths.lbfgs import Function

CHECKPOINT_VERSION = 1
CHECKPOINT_INTERVAL_SECONDS = 5.0  # little is lost in a power cut, and writing one takes milliseconds

State = TypeVar("State")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class TrainingStage:
    """A function to minimise with `iterations` steps, or until a step gains less than `tolerance` of its value.

    All stages work on the same vector; each begins where the one before it ended.
    """

    function: Function
    iterations: int
    tolerance: float


def run_stages(
    optimiser: ModuleType,
    stages: Sequence[TrainingStage],
    vector: Array,
    fingerprint: str,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> tuple[Array, float]:
    """The vector that minimises the last stage's function, and its value there.

    `optimiser` is `maths.lbfgs` or `maths.scg`. An interrupted run (by KeyboardInterrupt, which `progress` may raise as
    well, in a thread that gets none) leaves its state in `checkpoint` and continues from it when called again with the
    same fingerprint, to the same result. A finished run leaves its end there, and is not repeated.
    """
    if checkpoint is not None and not checkpoint.parent.is_dir():
        raise InvalidInput(f"cannot write the checkpoint {checkpoint}: there is no folder {checkpoint.parent}")
    total = sum(stage.iterations for stage in stages)
    latest: tuple[int, Any] | None = None  # the stage and the optimiser's state in it
    if checkpoint is not None and checkpoint.exists():
        latest = read_checkpoint(checkpoint, fingerprint, scg.ScgState if optimiser is scg else lbfgs.LbfgsState)
    last_saved = time.monotonic()
    try:
        for number in range(0 if latest is None else latest[0], len(stages)):
            stage, before = stages[number], sum(earlier.iterations for earlier in stages[:number])
            if latest is None or latest[0] != number:
                latest = number, optimiser.start(stage.function, vector)
            while latest[1].iteration < stage.iterations and not optimiser.has_converged(latest[1], stage.tolerance):
                latest = number, optimiser.step(stage.function, latest[1])
                if progress is not None:
                    progress(before + latest[1].iteration, total)
                if checkpoint is not None and time.monotonic() - last_saved > CHECKPOINT_INTERVAL_SECONDS:
                    write_checkpoint(checkpoint, fingerprint, *latest)
                    last_saved = time.monotonic()
            vector, value = latest[1].x, float(latest[1].value)
    except KeyboardInterrupt:
        if checkpoint is not None and latest is not None:
            write_checkpoint(checkpoint, fingerprint, *latest)
        raise
    if progress is not None:
        progress(total, total)
    if checkpoint is not None and latest is not None:
        write_checkpoint(checkpoint, fingerprint, *latest)
    return vector, value


def fingerprint(settings: dict[str, Any], *arrays: Array) -> str:
    """A digest of settings and data."""
    digest = hashlib.sha256(json.dumps([CHECKPOINT_VERSION, settings], sort_keys=True).encode())
    for value in arrays:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def write_checkpoint(path: Path, mark: str, stage: int, state: Any) -> None:
    """Save an optimiser's state, which is a dataclass of arrays and numbers."""
    fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in fields.items() if name not in arrays}
    header = json.dumps(
        {"version": CHECKPOINT_VERSION, "fingerprint": mark, "stage": stage, "numbers": numbers}, default=float
    )
    with write_atomically(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{"header": np.array(header), **arrays})  # type: ignore[arg-type]


def read_checkpoint(path: Path, mark: str, kind: type[State]) -> tuple[int, State]:
    """The stage and the state in a file that `write_checkpoint` made for the same data and settings."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        header = json.loads(str(content.pop("header")))
        stage, numbers, file_mark = int(header["stage"]), dict(header["numbers"]), str(header["fingerprint"])
        if header["version"] == CHECKPOINT_VERSION and file_mark == mark:
            return stage, kind(**content, **numbers)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise BadFile(path, f"is not a checkpoint of a training run: {error}") from None
    raise InvalidInput(
        f"{path} is the checkpoint of a training run with other data or settings; remove it, or give another name"
    )
