"""Training in a process of its own, which does not slow the stage down and ends at once when cancelled.

Finished parts are kept in the project, so that training which was cancelled or killed continues from there.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from understudy.errors import InvalidInput, UnderstudyError
from understudy.perform.pose_model import MODEL_SUFFIX
from understudy.studio.document import ModelEntry
from understudy.studio.jobs import JobCancelled
from understudy.studio.messages.message import to_plain
from understudy.studio.perform.models import entry_of, new_id
from understudy.studio.project import PROJECT_VERSION, SavedProject

if TYPE_CHECKING:
    from understudy.perform.library import ClipLibrary
    from understudy.studio.document import CharacterEntry
    from understudy.studio.session import Session

LEARNING_FOLDER = "learning"  # below the project: finished parts of unfinished models
POLL_SECONDS = 0.1  # seconds between two checks for a cancel
KILL_DELAY_SECONDS = 5.0  # seconds between terminate and kill

Progress = Callable[[float, float], None]
NICE_INCREMENT = 5  # lower priority than the stage


def learning_task(
    session: Session, entry: CharacterEntry, labels: tuple[str, ...], iterations: int | None = None
) -> LearningTask:
    """The task to train a model of a character of the project."""
    if not entry.clips:
        raise InvalidInput(f"{entry.name} has no clips to learn from; drop some onto the page")
    saved = SavedProject(PROJECT_VERSION, session.document, session.project.origins)
    target = session.project.place("models", f"{new_id()}{MODEL_SUFFIX}")
    kept = session.folder / LEARNING_FOLDER / entry.id
    return LearningTask(str(session.folder), to_plain(saved), entry.id, labels, str(target), str(kept), iterations)


def fit_draft(task: LearningTask, name: str, cancelled: Callable[[], bool]) -> ModelEntry:
    """The same model with spaces that are not learned: it plays and changes, within seconds. It blocks."""
    draft = replace(task, iterations=0, kept=f"{task.kept}-draft")
    return fit_in_process(draft, name, lambda *_: None, cancelled)


def fit_in_process(task: LearningTask, name: str, progress: Progress, cancelled: Callable[[], bool]) -> ModelEntry:
    """Run the process to its end; returns the entry of the model, which is in the project. It blocks."""
    from understudy.perform.model import PerformanceModel

    child = subprocess.Popen(
        [sys.executable, "-m", "understudy.studio.perform.learning"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert child.stdin is not None
        child.stdin.write(task.line())
        child.stdin.flush()
        error = _relay_progress(child, progress, cancelled)
    finally:
        _end_child(child)
    if cancelled():
        raise JobCancelled
    if error or child.returncode:
        raise InvalidInput(error or f"learning {name} ended early; try again, it continues from there")
    shutil.rmtree(task.kept, ignore_errors=True)
    target = Path(task.target)
    return entry_of(PerformanceModel.load(target), target.stem, name, task.character, target.name)


def _relay_progress(child: subprocess.Popen[str], progress: Progress, cancelled: Callable[[], bool]) -> str:
    """Relay the progress of the process until it ends or is cancelled; returns its error, if any."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    error = ""
    while not cancelled():
        try:
            line = lines.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        if line is None:
            child.wait()
            break
        report = json.loads(line)
        error = report.get("error", error)
        if "done" in report:
            progress(report["done"], report["total"])
    return error


def _end_child(child: subprocess.Popen[str]) -> None:
    """End the process and close its pipes."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(KILL_DELAY_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:  # it ended before it had read everything
                continue


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
