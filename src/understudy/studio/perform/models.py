"""The models of a project, opened on first use: with the stage's rig, a performer, and their map.

A performer is ready for all commands only after seconds (graphs, densities, compiled code) and has no mutable state, so
each model has one for all performances. A performance starts before that: it is shown from its first frame on, and
prepared meanwhile (`LiveSource.prepare`).
"""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from understudy import files
from understudy.errors import BadFile, FileError, InvalidInput
from understudy.perform.pose_model import MODEL_SUFFIX, ModelWithCharacter, is_model
from understudy.studio.document import Document, ModelEntry
from understudy.studio.perform.live_source import LIVE_RATE_HZ, LiveSource

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel
    from understudy.perform.runtime.performer import Performer
    from understudy.studio.session import Session

CALM_LABEL_NAMES = ("neutral", "idle", "calm", "rest", "stand")  # usual names of the label to start in
# Invisible difference between two matches, relative to the average difference of a pose from the mean.
POSE_MATCH_TOLERANCE = 0.15
MAX_MODEL_BYTES = 2 << 30
_OF_SESSION: WeakKeyDictionary[Session, SessionModels] = WeakKeyDictionary()


class SessionModels:
    """The opened models of one session. Its methods block: call them in a thread."""

    def __init__(self, session: Session) -> None:
        self._assets, self._project = session.assets, session.project
        self._opened: dict[str, ModelWithCharacter] = {}
        self._performers: dict[str, Performer] = {}
        self._maps: dict[str, bytes] = {}
        self._gaps: dict[tuple[str, str], dict[str, float]] = {}  # of a model and a pose, by label
        self._lock = threading.RLock()

    def open_model(self, document: Document, id: str) -> ModelWithCharacter:
        """The model of an id, with the rig of the stage."""
        from understudy.perform.model import PerformanceModel, check_character

        entry = find_model(document, id)
        with self._lock:
            if id not in self._opened:
                rig = self._assets.get(entry.character).rig
                try:
                    model = PerformanceModel.load(self._project.place("models", entry.file))
                except FileError as error:
                    raise type(error)(f"the model {entry.name!r}", error.reason, error.place) from None
                check_character(model, rig.channels, rig.character.name)
                self._opened[id] = ModelWithCharacter(entry.name, model, rig)
            return self._opened[id]

    def performer(self, document: Document, id: str) -> Performer:
        """The performer of a model at the rate of the stage."""
        with self._lock:
            opened = self.open_model(document, id)
            if id not in self._performers:
                self._performers[id] = opened.performer(LIVE_RATE_HZ, prepared=False)
            return self._performers[id]

    def live(self, document: Document, id: str, seed: int = 0, label: str | None = None) -> LiveSource:
        """A new performance of a model."""
        performer, opened = self.performer(document, id), self.open_model(document, id)
        return LiveSource(opened, LIVE_RATE_HZ, seed, label or calm_label(opened.model), performer)

    def map(self, document: Document, id: str) -> bytes:
        """The latent map of a model as the page reads it."""
        from understudy.studio.perform.latent_map import map_bytes

        with self._lock:
            if id not in self._maps:
                stages = self.performer(document, id).planner.runtimes
                densities = {label: stage.density for label, stage in stages.items()}
                self._maps[id] = map_bytes(self.open_model(document, id).model, densities)
            return self._maps[id]

    def label_of_pose(self, document: Document, id: str, pose: str, current: str) -> str | None:
        """The label in which to show a named pose; None if there is no such pose."""
        model = self.open_model(document, id).model
        if pose not in model.poses:
            return None
        with self._lock:
            if (id, pose) not in self._gaps:
                self._gaps[id, pose] = pose_gaps(model, pose)
            return label_for(pose, self._gaps[id, pose], current)

    def forget(self, kept: set[str]) -> None:
        """Drop every model except these ids."""
        with self._lock:
            for known in (self._opened, self._performers, self._maps):
                for id in set(known) - kept:
                    del known[id]
            self._gaps = {key: gaps for key, gaps in self._gaps.items() if key[0] in kept}


def models_of(session: Session) -> SessionModels:
    """The opened models of a session."""
    if session not in _OF_SESSION:
        _OF_SESSION[session] = SessionModels(session)
    return _OF_SESSION[session]


def find_model(document: Document, id: str) -> ModelEntry:
    """The entry of a model; an unknown id raises `InvalidInput`."""
    entry = document.model(id)
    if entry is None:
        raise InvalidInput(f"there is no model {id!r}")
    return entry


def calm_label(model: PerformanceModel) -> str:
    """The label in which a performance begins: one of `CALM_LABEL_NAMES`, else the first."""
    calm = (label for word in CALM_LABEL_NAMES for label in model.labels if word in label.lower())
    return next(calm, model.labels[0])


def pose_gaps(model: PerformanceModel, pose: str) -> dict[str, float]:
    """The difference between a named pose and each label's best match; 1 is the average of a pose from the mean."""
    wanted = model.poses[pose]
    gaps = {}
    for label, space in model.spaces.items():
        latent, _ = space.latent_of(wanted[None])
        gaps[label] = float(model.difference(space.features_of(latent)[0], wanted))
    return gaps


def label_for(pose: str, gaps: Mapping[str, float], current: str) -> str:
    """The label in which to show a pose: the one in its name, else one that shows it nearly as well as the best.

    Of those the current one is preferred, else the first.
    """
    named = next((label for label in gaps if label.lower() in pose.lower()), None)
    if named is not None:
        return named
    similar = [label for label, gap in gaps.items() if gap <= min(gaps.values()) + POSE_MATCH_TOLERANCE]
    return current if current in similar else similar[0]


def entry_of(model: PerformanceModel, id: str, name: str, character: str, file: str) -> ModelEntry:
    """The document's entry of a model."""
    clips = tuple(segment.clip for space in model.spaces.values() for segment in space.segments)
    frames = sum(map(len, model.spaces.values()))
    return ModelEntry(
        id, name, character, file, model.labels, tuple(model.poses), tuple(dict.fromkeys(clips)), frames, model.notes
    )


def new_id() -> str:
    """An id that no other model, take or script has."""
    return secrets.token_hex(6)


def copy_into_project(session: Session, path: str | Path, character: str, name: str = "") -> ModelEntry:
    """Copy a model file into the project, for an open character with its channels. It blocks.

    The caller then adds the entry to the document (`with_model`).
    """
    from understudy.perform.model import PerformanceModel, check_character

    path = Path(path)
    if not is_model(path):
        raise BadFile(path.name, f"is not a model: files of `understudy learn` end in {MODEL_SUFFIX}")
    if path.is_file() and path.stat().st_size > MAX_MODEL_BYTES:
        raise BadFile(path.name, f"is larger than {MAX_MODEL_BYTES >> 30} GB, the limit for a model")
    try:
        model = PerformanceModel.load(path)
    except FileError as error:
        raise type(error)(path.name, error.reason, error.place) from None
    rig = session.assets.get(character).rig
    check_character(model, rig.channels, rig.character.name)
    id = new_id()
    with files.write_atomically(session.project.place("models", f"{id}{MODEL_SUFFIX}")) as temporary:
        shutil.copyfile(path, temporary)
    return entry_of(model, id, name or path.stem, character, f"{id}{MODEL_SUFFIX}")


def with_model(document: Document, entry: ModelEntry) -> Document:
    """The document with one more model, which replaces one of its id."""
    return replace(document, models=(*(model for model in document.models if model.id != entry.id), entry))
