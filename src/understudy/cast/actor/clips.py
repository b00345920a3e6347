"""The actor's six emotions, from the dope sheets in `sheets/actor`: keys of `controls`, and steps.

Sheets are keyed at 24 frames a second; the clips have twice as many, because what is thrown and what lands is faster
than a key. A clip is dense: the legs of every frame are placed exactly.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from understudy.cast import keying, reading
from understudy.cast.actor import steps
from understudy.cast.actor.controls import actor_controls, vocabulary
from understudy.cast.actor.performing import performed
from understudy.cast.actor.skeleton import skeleton
from understudy.cast.keys import Pose, Sheet
from understudy.character import Channel, Channels, Clip, Skeleton
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput

EMOTIONS = ("anger", "disgust", "fear", "happiness", "sadness", "surprise")
FINER = 2  # frames of a clip for one of its sheet


@lru_cache(maxsize=1)
def poses() -> dict[str, Pose]:
    """Poses of groups that all sheets share."""
    return reading.parse(_text("poses"), "actor/poses.txt", vocabulary()).poses


def sheet(text: str, path: str) -> Sheet:
    """The sheet that a text describes; `path` is named in errors."""
    try:
        written = steps.expanded(text)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None
    return reading.parse(written, path, vocabulary(), poses())


def sheets() -> list[Sheet]:
    """The dope sheets of all emotions."""
    return [sheet(_text(name), f"actor/{name}.txt") for name in EMOTIONS]


def clips(of: Skeleton | None = None) -> tuple[Clip, ...]:
    """The six emotions, each a clip of rotations and of the hips' place."""
    return tuple(clip(each, of) for each in sheets())


def values(own: Sheet) -> dict[str, Array]:
    """Control -> (F,) over the frames of a clip; what the sheet does not key rests."""
    frames = np.arange(round(own.frames * FINER) + 1) / FINER
    controls = actor_controls()
    result = {name: np.full(len(frames), rest) for name, rest in zip(controls.names, controls.rest)}
    curves = keying.control_curves(own, vocabulary())
    for curve in curves.curves:
        result[curve.channel.target] = curve.sample(frames / own.rate)[:, 0]
    return result


def clip(own: Sheet, of: Skeleton | None = None) -> Clip:
    """The performance that a sheet describes."""
    body = skeleton() if of is None else of
    rate = own.rate * FINER
    found = performed(values(own), body, rate)
    moving = np.flatnonzero((np.abs(found.rotations[..., :3]) > 1e-12).any(axis=(0, 2)))
    channels = Channels([Channel(body.names[0], "translation"), *(Channel(body.names[j], "rotation") for j in moving)])
    rows = np.concatenate([found.places, found.rotations[:, moving].reshape(len(found.places), -1)], axis=1)
    moments = {name: frame / own.rate for name, frame in own.moments.items()}
    return Clip(own.name, channels, rows, rate, labels=own.labels, about=own.about, moments=moments)


def _text(name: str) -> str:
    return (resources.files("understudy.cast") / "sheets" / "actor" / f"{name}.txt").read_text(encoding="utf-8")
