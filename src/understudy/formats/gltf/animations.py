"""Animations: channels and samplers to curves.

A file has thousands of channels where it has dozens of nodes, so this is where reading time goes: arrays are checked
here, and the curves are made of them as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import LINEAR, STEP
from understudy.character.curves import natural_rate
from understudy.checks import Array, freeze
from understudy.formats.gltf.accessors import FLOAT, Accessors
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.entry import Entry, shown
from understudy.formats.gltf.graph import OFF_UNIT, unique

PATHS = {"translation": ("VEC3", 3), "rotation": ("VEC4", 4), "scale": ("VEC3", 3), "weights": ("SCALAR", 1)}
OUTPUTS = (FLOAT, 5120, 5121, 5122, 5123)
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(frozen=True, slots=True)
class Track:
    """One channel of an animation, its references checked but its arrays not yet read."""

    node: int
    path: str
    interpolation: str
    input: int
    output: int
    place: Entry  # of the sampler


@dataclass(frozen=True)
class Animation:
    """One animation of the file."""

    entry: Entry
    name: str
    tracks: list[Track]


def read_animations(document: Document) -> list[Animation]:
    """Every animation with the channels that move something this program knows."""
    entries = document.list("animations")
    names = unique(entry.text("name") or f"clip_{i}" for i, entry in enumerate(entries))
    return [Animation(entry, name, _tracks(document, entry)) for entry, name in zip(entries, names)]


def _tracks(document: Document, entry: Entry) -> list[Track]:
    nodes, accessors = len(document.list("nodes")), len(document.list("accessors"))
    samplers = entry.children("samplers")
    parsed: dict[int, tuple[str, int, int]] = {}
    tracks: dict[tuple[int, str], Track] = {}
    for channel in entry.children("channels"):
        number = channel.integer("sampler", below=len(samplers))
        target = channel.child("target")
        path, node = target.text("path", default=None), target.integer("node", default=None, below=nodes)
        if path not in PATHS or node is None:
            if path in ("pointer", *PATHS):
                document.count("animation channels without a node (KHR_animation_pointer) were left out ({})")
                continue
            raise target.bad("path", f"is {shown(path)}, but should be one of {', '.join(PATHS)}")
        sampler = samplers[number]
        if number not in parsed:
            interpolation = sampler.text("interpolation", "LINEAR")
            if interpolation not in INTERPOLATIONS:
                raise sampler.bad(
                    "interpolation", f"is {shown(interpolation)}, but should be LINEAR, STEP or CUBICSPLINE"
                )
            times, values = (sampler.integer(key, below=accessors) for key in ("input", "output"))
            parsed[number] = (interpolation, times, values)
        if (node, path) in tracks:
            document.count("animation channels on a target that another channel moves were left out ({})")
            continue
        tracks[node, path] = Track(node, path, *parsed[number], sampler)
    return list(tracks.values())


class CurveMaker:
    """Makes curves of tracks. Key times, shared by many channels, and channels, shared by many clips, are made once."""

    def __init__(
        self, document: Document, accessors: Accessors, channel_of: Callable[[int, str], Channel | None]
    ) -> None:
        self.document, self.accessors, self.channel_of = document, accessors, channel_of
        self._times: dict[int, tuple[Array, Array | None]] = {}
        self._channels: dict[tuple[int, str], Channel | None] = {}

    def curves(self, animation: Animation) -> Curves | None:
        """One animation, or None where nothing of it is left."""
        made, times = [], {}
        for track in animation.tracks:
            key = (track.node, track.path)
            if key not in self._channels:
                self._channels[key] = self.channel_of(*key)
            channel = self._channels[key]
            if channel is None:
                self.document.count("animation channels on nodes that are not part of a character were left out ({})")
                continue
            made.append(self._curve(track, channel))
            times[track.input] = made[-1].times
        if not made:
            self.document.note(f"animation {shown(animation.name)} moves nothing that was read and was left out")
            return None
        extras = animation.entry.value.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        labels = [label for label in _list(extras.get("labels")) if isinstance(label, str)]
        rate = extras.get("rate")
        if not isinstance(rate, (int, float)) or not 0 < rate < 1e6:
            rate = natural_rate(times.values())
        return Curves(animation.name, made, labels, rate)

    def _curve(self, track: Track, channel: Channel) -> Curve:
        times, kept = self._key_times(track)
        kind, columns = PATHS[track.path]
        place = (*track.place.place, "output")
        cubic = track.interpolation == "CUBICSPLINE"
        flat = self.accessors.floats(track.output, (kind,), place, OUTPUTS, np.float64)
        width, rows = len(channel), len(times) if kept is None else len(kept)
        expected = rows * (3 if cubic else 1) * (width // columns)
        if len(flat) != expected:
            raise track.place.bad("output", f"holds {len(flat)} elements, but {expected} are needed for {rows} keys")
        values = flat.reshape(rows, 3, width) if cubic else flat.reshape(rows, width)
        if kept is not None:
            values = values[kept]
        if track.path == "rotation":
            self._check_rotations(values[:, 1] if cubic else values, track, change=not cubic)
        if cubic:
            self.document.take(5 * values.nbytes, place)  # each key has two tangents of two numbers, some of them twice
            return Curve.hermite(channel, times, values[:, 1], values[:, 0], values[:, 2])
        return Curve.trusted(channel, times, freeze(values), STEP if track.interpolation == "STEP" else LINEAR)

    def _key_times(self, track: Track) -> tuple[Array, Array | None]:
        """The increasing key times, and which keys were kept (a mask) where some shared their time with the next."""
        if track.input not in self._times:
            place = (*track.place.place, "input")
            times = self.accessors.floats(track.input, ("SCALAR",), place, dtype=np.float64)[:, 0]
            steps = np.diff(times)
            kept = None
            if steps.size and steps.min() <= 0:
                if steps.min() < 0:
                    k = int(np.argmin(steps))
                    raise self.accessors.entries[track.input].bad(
                        "", f"holds key times that should increase, but {times[k + 1]:g} s follows {times[k]:g} s"
                    )
                kept = np.append(steps > 0, True)
                self.document.count("keys at the time of the key after them were left out ({})", int(np.sum(~kept)))
                times = times[kept]
            self._times[track.input] = freeze(times), kept
        return self._times[track.input]

    def _check_rotations(self, values: Array, track: Track, change: bool) -> None:
        """Refuse quaternions of no length; make the rest unit length, in place, where interpolation asks for it."""
        square = np.einsum("ki,ki->k", values, values)
        if square.min() < 1e-16:
            key = int(np.argmin(square))
            raise track.place.bad("output", f"should hold unit quaternions, but that of key {key} has length 0")
        if change and max(square.max() - 1, 1 - square.min()) > 2 * OFF_UNIT:
            self.document.count("rotation channels that were not of unit length were normalised ({})")
            values /= np.sqrt(square)[:, None]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
