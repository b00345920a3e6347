"""The training process: `python -m understudy.studio.perform.learner`, with its task as a line of JSON on standard
input.

It reads the characters and clips of the project itself, so only plain text is exchanged, and writes a line of JSON for
each progress report. It exits when the parent process closes its standard input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.perform.library import ClipLibrary

NICE_INCREMENT = 5  # lower priority than the stage


@dataclass(frozen=True)
class LearningTask:
    """The task of the process. `saved` is the project as in `project.json`; `kept` is the folder of checkpoints."""

    folder: str
    saved: dict[str, Any]
    character: str
    labels: tuple[str, ...]
    target: str
    kept: str
    iterations: int | None = None

    def line(self) -> str:
        """The task as one line of JSON."""
        return json.dumps(asdict(self)) + "\n"


def library_of(task: LearningTask) -> ClipLibrary:
    """The clips of a character with the document's labels, prepared for training."""
    from understudy.character import Asset, Clip, Curves
    from understudy.perform.library import ClipLibrary
    from understudy.perform.pose_model import prepare_library
    from understudy.studio.assets import Assets
    from understudy.studio.messages.message import read_plain
    from understudy.studio.project import Project, SavedProject

    project = Project(task.folder)
    saved: SavedProject = read_plain(SavedProject, dict(task.saved), "project")
    project.origins = dict(saved.origins)
    assets = Assets(project)
    entry = saved.document.character(task.character)
    character = assets.get(task.character).character
    clips = assets.animations(saved.document, task.character)
    dense = [clip for clip in clips if isinstance(clip, Clip)]
    keyed = [clip for clip in clips if isinstance(clip, Curves)]
    name = "" if entry is None else entry.cast or entry.name
    return prepare_library(ClipLibrary.from_asset(Asset([character], dense, keyed), source=name), task.labels)


def learn(task: LearningTask, out: TextIO) -> None:
    """Train and save the model; progress is written to `out`."""
    from understudy.perform.pose_model import fit_model
    from understudy.perform.training import FitSettings

    def progress(done: int, total: int) -> None:
        write_line(out, {"done": done, "total": total})

    library = library_of(task)
    kept = Path(task.kept)
    kept.mkdir(parents=True, exist_ok=True)
    model = fit_model(library, FitSettings(iterations=task.iterations), progress, kept=kept)
    model.save(task.target)


def write_line(out: TextIO, what: dict[str, Any]) -> None:
    """Write one line of JSON."""
    out.write(json.dumps(what) + "\n")
    out.flush()


def main() -> int:
    """Run the task of the first line of standard input; the end of that stream ends the process."""
    if hasattr(os, "nice"):
        os.nice(NICE_INCREMENT)
    task = json.loads(sys.stdin.readline())
    task["labels"] = tuple(task["labels"])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        learn(LearningTask(**task), sys.stdout)
    except UnderstudyError as error:
        write_line(sys.stdout, {"error": str(error)})
        return 1
    return 0


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(2)


if __name__ == "__main__":
    sys.exit(main())
