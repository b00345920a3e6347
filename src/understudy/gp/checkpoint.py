"""The state of a training run in a file: arrays and one line of JSON in an npz, never pickle, written whole.

A fingerprint of the data and settings goes with it, so that a run never goes on from another's state.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.files import written_whole

State = TypeVar("State")
VERSION = 1


def fingerprint(settings: dict[str, Any], *arrays: Array) -> str:
    """A word that stands for settings and data: another for any change of either."""
    digest = hashlib.sha256(json.dumps([VERSION, settings], sort_keys=True).encode())
    for value in arrays:
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def write(path: Path, mark: str, stage: int, state: Any) -> None:
    """Save an optimiser's state, which is a dataclass of arrays and numbers."""
    fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in fields.items() if name not in arrays}
    header = json.dumps({"version": VERSION, "fingerprint": mark, "stage": stage, "numbers": numbers}, default=float)
    with written_whole(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{"header": np.array(header), **arrays})  # type: ignore[arg-type]


def read(path: Path, mark: str, kind: type[State]) -> tuple[int, State]:
    """The stage and the state in a file that `write` made for the same data and settings."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        header = json.loads(str(content.pop("header")))
        stage, numbers, found = int(header["stage"]), dict(header["numbers"]), str(header["fingerprint"])
        if header["version"] == VERSION and found == mark:
            return stage, kind(**content, **numbers)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise BadFile(path, f"is not a checkpoint of a training run: {error}") from None
    raise InvalidInput(
        f"{path} is the checkpoint of a training run with other data or settings; remove it, or give another name"
    )
