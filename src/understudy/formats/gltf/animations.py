"""Reading animations: channels and samplers to curves.

A file has thousands of channels and dozens of nodes, so reading spends its time here: arrays are checked once, and the
curves take them without another check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import LINEAR, STEP
from understudy.character.curves import natural_rate
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.checks import NEAR_UNIT, Array, freeze
from understudy.errors import BadFile
from understudy.formats.conventions import number_duplicates
from understudy.formats.gltf.accessors import FLOAT_COMPONENT, Accessors
from understudy.formats.gltf.document import GltfDocument
from understudy.formats.gltf.json_object import JsonObject, format_place, format_value, printable

TYPE_PER_PATH = {"translation": ("VEC3", 3), "rotation": ("VEC4", 4), "scale": ("VEC3", 3), "weights": ("SCALAR", 1)}
OUTPUT_COMPONENTS = (FLOAT_COMPONENT, 5120, 5121, 5122, 5123)
UNREADABLE_CHANNELS = "animation channels"
INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(slots=True, eq=False)
class SamplerTrack:
    """One channel of an animation, its references checked but its arrays not yet read."""

    node: int
    path: str
    interpolation: str
    input: int
    output: int
    place: JsonObject  # of the sampler


@dataclass(frozen=True)
class Animation:
    """One animation of the file."""

    entry: JsonObject
    name: str
    tracks: list[SamplerTrack]


def read_animations(document: GltfDocument) -> list[Animation]:
    """Every animation with the channels that move a node's transform or its morph weights."""
    entries = document.list("animations")
    wanted = [entry.text("name") or f"clip_{i}" for i, entry in enumerate(entries)]
    names = number_duplicates(wanted)
    repeated = sum(name != new for name, new in zip(wanted, names))
    if repeated:
        document.count("animations that shared their name with another were numbered ({})", repeated)
    return [Animation(entry, name, _tracks(document, entry)) for entry, name in zip(entries, names)]


def _tracks(document: GltfDocument, entry: JsonObject) -> list[SamplerTrack]:
    nodes = len(document.list("nodes"))
    samplers = entry.children("samplers")
    tracks: dict[tuple[int, str], SamplerTrack] = {}
    for channel in entry.children("channels"):
        try:
            track = _track(document, channel, samplers, nodes)
        except BadFile as error:
            document.leave_out(UNREADABLE_CHANNELS, error)
            continue
        if track is None:
            document.count("animation channels without a node (KHR_animation_pointer) were left out ({})")
        elif (track.node, track.path) in tracks:
            document.count("animation channels on a target that another channel moves were left out ({})")
        else:
            tracks[track.node, track.path] = track
    return list(tracks.values())


def _track(document: GltfDocument, channel: JsonObject, samplers: list[JsonObject], nodes: int) -> SamplerTrack | None:
    """One channel with its sampler; None where it moves no node."""
    target = channel.value.get("target")
    if type(target) is not dict:
        target = channel.child("target").value
    # the usual case without a call; everything else is read with all checks
    number, node, path = channel.value.get("sampler"), target.get("node"), target.get("path")
    if type(number) is not int or not 0 <= number < len(samplers):
        number = channel.integer("sampler", below=len(samplers))
    if type(node) is not int or not 0 <= node < nodes:
        node = channel.child("target").integer("node", default=None, below=nodes)
    if type(path) is not str or path not in TYPE_PER_PATH or node is None:
        if path in ("pointer", *TYPE_PER_PATH):
            return None
        raise channel.bad(
            ("target", "path"), f"is {format_value(path)}, but should be one of {', '.join(TYPE_PER_PATH)}"
        )
    sampler, below = samplers[number], len(document.list("accessors"))
    interpolation = sampler.value.get("interpolation", "LINEAR")
    times, values = sampler.value.get("input"), sampler.value.get("output")
    if type(interpolation) is not str or interpolation not in INTERPOLATIONS:
        raise sampler.bad(
            "interpolation", f"is {format_value(interpolation)}, but should be LINEAR, STEP or CUBICSPLINE"
        )
    if type(times) is not int or not 0 <= times < below:
        times = sampler.integer("input", below=below)
    if type(values) is not int or not 0 <= values < below:
        values = sampler.integer("output", below=below)
    return SamplerTrack(node, path, interpolation, times, values, sampler)


@dataclass(frozen=True, eq=False)
class KeyTimes:
    """The increasing key times of an accessor."""

    times: Array  # (K,) seconds
    kept: Array | None  # (K,) the stored keys that these are; None: all of them, in order
    stored: int  # number of stored keys


class CurveMaker:
    """Makes curves of tracks. Key times, shared by many channels, and channels, shared by many clips, are made once."""

    def __init__(
        self, document: GltfDocument, accessors: Accessors, channel_of: Callable[[int, str], Channel | None]
    ) -> None:
        self.document, self.accessors, self.channel_of = document, accessors, channel_of
        self._times: dict[int, KeyTimes] = {}
        self._rates: dict[frozenset[int], float] = {}
        self._channels: dict[tuple[int, str], Channel | None] = {}

    def curves(self, animation: Animation) -> Curves | None:
        """One animation, or None where nothing of it is left."""
        tracks = self._resolve_channels(animation.tracks)
        values = self._values(tracks)
        keyed = [(track, self._curve(track, values[track])) for track in tracks if track in values]
        if not any(curve for _, curve in keyed):
            self.document.note(f"animation {format_value(animation.name)} moves nothing that was read and was left out")
            return None
        extras = animation.entry.value.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        tracks = [track for track, curve in keyed if curve is not None]
        curves = [_mark_fitted(curve, extras) for _, curve in keyed if curve is not None]
        labels = [printable(label) for label in _list(extras.get("labels")) if isinstance(label, str)]
        rate = extras.get("rate")
        if not isinstance(rate, (int, float)) or not 0 < rate < 1e6:
            rate = self._rate(frozenset(track.input for track in tracks))
        about, moments = extras.get("about"), extras.get("moments")
        about = printable(about) if isinstance(about, str) else ""
        moments = _moments(moments if isinstance(moments, dict) else {})
        return Curves(animation.name, curves, labels, rate, about, moments)

    def _rate(self, inputs: frozenset[int]) -> float:
        """The natural rate of some sets of key times, which clips often share."""
        if inputs not in self._rates:
            self._rates[inputs] = natural_rate(self._times[number].times for number in inputs)
        return self._rates[inputs]

    def _resolve_channels(self, tracks: list[SamplerTrack]) -> list[SamplerTrack]:
        """The tracks that move something that was read."""
        for track in tracks:
            if (track.node, track.path) not in self._channels:
                self._channels[track.node, track.path] = self.channel_of(track.node, track.path)
        known = [track for track in tracks if self._channels[track.node, track.path] is not None]
        if len(known) < len(tracks):
            lost = len(tracks) - len(known)
            self.document.count("animation channels on nodes that are not part of a character were left out ({})", lost)
        return known

    def _values(self, tracks: list[SamplerTrack]) -> dict[SamplerTrack, Array]:
        """The outputs of all tracks as slices of one checked array: a hundred small checks cost more than one."""
        # rotations whose length is checked come first
        ordered = sorted(tracks, key=lambda track: track.path != "rotation" or track.interpolation == "CUBICSPLINE")
        blocks: dict[SamplerTrack, Array] = {}
        for track in ordered:
            try:
                blocks[track] = self._output(track)
            except BadFile as error:
                self.document.leave_out(UNREADABLE_CHANNELS, error)
        if not blocks:
            return {}
        ends = np.cumsum([block.size for block in blocks.values()]).tolist()
        self.document.take(12 * ends[-1], tracks[0].place.place)
        flat = np.concatenate([block.reshape(-1) for block in blocks.values()], dtype=np.float64)
        self._normalise_rotations(flat, list(blocks), ends)
        freeze(flat)
        starts = [0, *ends]
        return {track: flat[start:end] for track, start, end in zip(blocks, starts, ends)}

    def _output(self, track: SamplerTrack) -> Array:
        """The stored output of one track: floats as they are in the file, integers as fractions."""
        kind, columns = TYPE_PER_PATH[track.path]
        channel = self._channels[track.node, track.path]
        assert channel is not None  # see `_resolve_channels`
        place = (*track.place.place, "output")
        data, normalised = self.accessors.raw(track.output, (kind,), OUTPUT_COMPONENTS, place)
        keys = self._key_times(track).stored
        expected = keys * (3 if track.interpolation == "CUBICSPLINE" else 1) * (len(channel) // columns)
        if len(data) != expected:
            raise track.place.bad("output", f"holds {len(data)} elements, but {expected} are needed for {keys} keys")
        return self.accessors.fractions(data, track.output) if normalised else data

    def _normalise_rotations(self, flat: Array, ordered: list[SamplerTrack], ends: list[int]) -> None:
        """Make quaternions that are not near unit length unit, in place; those without length become NaN."""
        count = sum(track.path == "rotation" and track.interpolation != "CUBICSPLINE" for track in ordered)
        if not count:
            return
        keys = flat[: ends[count - 1]].reshape(-1, 4)
        square = np.einsum("ki,ki->k", keys, keys)
        off = np.abs(square - 1) > 2 * NEAR_UNIT
        if off.any():
            empty = square < 1e-16
            keys[empty] = np.nan
            off &= ~empty
            self.document.count("rotation keys that were not of unit length were normalised ({})", int(off.sum()))
            keys[off] /= np.sqrt(square[off])[:, None]

    def _curve(self, track: SamplerTrack, flat: Array) -> Curve | None:
        """The curve of a track without its keys that are no numbers; None where no key is left."""
        channel = self._channels[track.node, track.path]
        assert channel is not None  # see `_resolve_channels`
        keys = self._key_times(track)
        times, kept = keys.times, keys.kept
        if not np.isfinite(flat).all():
            sound = np.logical_and.reduce(np.isfinite(flat.reshape(keys.stored, -1)), axis=1)
            place = format_place(self.accessors.entries[track.output].place)
            self.document.count(
                f"keys of {place} that are no numbers or no rotations were left out ({{}})", int((~sound).sum())
            )
            kept = np.arange(keys.stored) if kept is None else kept
            times, kept = freeze(times[sound[kept]]), kept[sound[kept]]
            if not len(times):
                return None
        if track.interpolation == "CUBICSPLINE":
            values = flat.reshape(-1, 3, len(channel))
            values = values if kept is None else values[kept]
            self.document.take(5 * values.nbytes, track.place.place)  # two tangents of two numbers each, and copies
            return Curve.hermite(channel, times, values[:, 1], values[:, 0], values[:, 2])
        plain = flat.reshape(-1, len(channel))
        plain = plain if kept is None else freeze(plain[kept])
        return Curve.from_checked_arrays(channel, times, plain, STEP if track.interpolation == "STEP" else LINEAR)

    def _key_times(self, track: SamplerTrack) -> KeyTimes:
        """The key times of a track, in order. Of keys at one time the last is kept, of keys without a time none."""
        if track.input not in self._times:
            place = (*track.place.place, "input")
            stored = self.accessors.loose_floats(track.input, ("SCALAR",), place, (FLOAT_COMPONENT,), np.float64)[:, 0]
            times, kept = stored, None
            if not (np.diff(stored) > 0).all() or not np.isfinite(stored).all():
                entry = format_place(self.accessors.entries[track.input].place)
                kept = np.flatnonzero(np.isfinite(stored))
                self.document.count(f"keys of {entry} without a time were left out ({{}})", len(stored) - len(kept))
                if not kept.size:
                    raise self.accessors.entries[track.input].bad("", "holds no time that is a number")
                if (np.diff(stored[kept]) < 0).any():
                    self.document.note(f"keys of {entry} were put into the order of their times")
                    kept = kept[np.argsort(stored[kept], kind="stable")]
                last = np.append(np.diff(stored[kept]) > 0, True)
                self.document.count("keys at the time of the key after them were left out ({})", int(np.sum(~last)))
                kept = kept[last]
                times = stored[kept]
            self._times[track.input] = KeyTimes(freeze(times), kept, len(stored))
        return self._times[track.input]


def _mark_fitted(curve: Curve, extras: dict[str, Any]) -> Curve:
    """The curve with its keys marked as those of a fitter, but for those at the times of `posed`."""
    if extras.get("fitted") is not True:
        return curve
    posed = [time for time in _list(extras.get("posed")) if type(time) in (int, float)]
    near = np.isclose(curve.times[:, None], np.array(posed, float), rtol=1e-6, atol=KEY_TIME_TOLERANCE_SECONDS)
    return replace(curve, fitted=~near.any(axis=1))


def _moments(given: dict[str, Any]) -> dict[str, float]:
    """Name -> seconds, of the entries that are finite numbers."""
    numbers = {printable(name): value for name, value in given.items() if name and type(value) in (int, float)}
    return {name: float(value) for name, value in numbers.items() if -1e9 < value < 1e9}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
