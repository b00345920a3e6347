"""Training in a process of its own, which does not slow the stage down and ends at once when cancelled.

Finished parts are kept in the project, so that training which was cancelled or killed continues from there.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput
from understudy.perform.pose_model import MODEL_SUFFIX
from understudy.studio.document import ModelEntry
from understudy.studio.jobs import JobCancelled
from understudy.studio.messages.message import to_plain
from understudy.studio.perform.learner import LearningTask
from understudy.studio.perform.models import entry_of, new_id
from understudy.studio.project import PROJECT_VERSION, SavedProject

if TYPE_CHECKING:
    from understudy.studio.document import CharacterEntry
    from understudy.studio.session import Session

LEARNING_FOLDER = "learning"  # below the project: finished parts of unfinished models
POLL_SECONDS = 0.1  # seconds between two checks for a cancel
KILL_DELAY_SECONDS = 5.0  # seconds between terminate and kill

Progress = Callable[[float, float], None]


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


def fit_in_process(task: LearningTask, name: str, progress: Progress, cancelled: Callable[[], bool]) -> ModelEntry:
    """Run the process to its end; returns the entry of the model, which is in the project. It blocks."""
    from understudy.perform.model import PerformanceModel

    child = subprocess.Popen(
        [sys.executable, "-m", "understudy.studio.perform.learner"],
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
