"""Learning beside the stage: in a process of its own, which the stage does not feel and a cancel ends at once.

What is finished is kept in the project, so that learning which was cancelled, or whose server was killed, goes on from
there when it is asked for again.
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
from understudy.perform.model_character import MODEL_SUFFIX
from understudy.studio.document import ModelEntry
from understudy.studio.jobs import JobCancelled
from understudy.studio.messages.message import to_plain
from understudy.studio.perform.learner import LearningTask
from understudy.studio.perform.models import entry_of, new_id
from understudy.studio.project import PROJECT_VERSION, SavedProject

if TYPE_CHECKING:
    from understudy.studio.document import CharacterEntry
    from understudy.studio.session import Session

LEARNING_FOLDER = "learning"  # below the project: what is finished of models that are not
POLL_SECONDS = 0.1  # seconds between two looks whether it was cancelled
KILL_DELAY_SECONDS = 5.0  # seconds that a child has to end before it is killed

Progress = Callable[[float, float], None]


def learning_task(
    session: Session, entry: CharacterEntry, labels: tuple[str, ...], iterations: int | None = None
) -> LearningTask:
    """All that a child needs to learn a character of the project."""
    if not entry.clips:
        raise InvalidInput(f"{entry.name} has no clips to learn from; drop some onto the page")
    saved = SavedProject(PROJECT_VERSION, session.document, session.project.origins)
    target = session.project.place("models", f"{new_id()}{MODEL_SUFFIX}")
    kept = session.folder / LEARNING_FOLDER / entry.id
    return LearningTask(str(session.folder), to_plain(saved), entry.id, labels, str(target), str(kept), iterations)


def fit_in_process(task: LearningTask, name: str, progress: Progress, cancelled: Callable[[], bool]) -> ModelEntry:
    """Run the child to its end; the model is in the project then, and this is its entry. It blocks."""
    from understudy.perform import PoseModel

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
        raise InvalidInput(error or f"learning {name} ended before it was done; try it again, it goes on from there")
    shutil.rmtree(task.kept, ignore_errors=True)
    target = Path(task.target)
    return entry_of(PoseModel.load(target), target.stem, name, task.character, target.name)


def _relay_progress(child: subprocess.Popen[str], progress: Progress, cancelled: Callable[[], bool]) -> str:
    """Pass on what the child says until it ends or is to end; returns its complaint, if it has one."""
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
        told = json.loads(line)
        error = told.get("error", error)
        if "done" in told:
            progress(told["done"], told["total"])
    return error


def _end_child(child: subprocess.Popen[str]) -> None:
    """Whatever happened, nothing is left running."""
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
            except BrokenPipeError:  # what was not yet read when it ended
                continue
